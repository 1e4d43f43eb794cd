//! The mouse: it points, selects and scrolls.

use super::App;
use crate::editor::screen::keys::{Mouse, MouseKind};
use crate::editor::screen::layout::{layout, shown};
use crate::editor::screen::model::Focus;
use crate::editor::screen::model::act::Action;
use crate::editor::screen::model::request::Request;
use crate::editor::screen::model::tree::RowKind;
use crate::editor::screen::view::byte_in_text;

impl App {
    pub(super) fn mouse(&mut self, mouse: Mouse) -> Option<Request> {
        let Mouse { what, column, row, shift } = mouse;
        let places = layout(&self.model);
        match what {
            MouseKind::WheelUp => self.model.scroll(-3, shown(&self.model)),
            MouseKind::WheelDown => self.model.scroll(3, shown(&self.model)),
            MouseKind::Release => {}
            // A click is no answer to a question.
            MouseKind::Press if self.model.prompt.is_some() => {
                self.model.close_prompt();
                return self.mouse(mouse);
            }
            MouseKind::Press if places.banner.is_some_and(|area| area.contains(column, row)) => {
                let shown = shown(&self.model);
                return self.model.act(Action::ShowProposal, shown);
            }
            MouseKind::Press if places.files.is_some_and(|area| area.contains(column, row)) => {
                let offset = places.files.map_or(0, |area| row.saturating_sub(area.y));
                let at = self.model.tree.top.saturating_add(offset.into());
                self.model.focus = Focus::Files;
                let kind = self.model.tree.rows.get(at)?.kind;
                self.model.tree.cursor = at;
                let shown = shown(&self.model);
                return (kind != RowKind::Note).then(|| self.model.act(Action::Open, shown)).flatten();
            }
            MouseKind::Press | MouseKind::Drag => {
                let is_inside = places.main.is_some_and(|area| area.contains(column, row));
                if what == MouseKind::Press && is_inside && self.model.focus == Focus::Files {
                    self.model.focus = if self.model.active.is_some() { Focus::Text } else { Focus::Files };
                }
                let byte = byte_in_text(&self.model, column, row)?;
                if is_inside || what == MouseKind::Drag {
                    self.model.text()?.point_at(byte, shift || what == MouseKind::Drag);
                }
            }
        }
        None
    }
}
