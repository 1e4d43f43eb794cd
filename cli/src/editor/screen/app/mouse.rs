//! The mouse: it points, selects and scrolls.

use super::App;
use crate::editor::screen::layout::{places, shown};
use crate::editor::screen::model::Focus;
use crate::editor::screen::model::act::Action;
use crate::editor::screen::model::request::Request;
use crate::editor::screen::model::tree::RowKind;
use crate::editor::screen::view::byte_in_text;
use crossterm::event::{KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::{Position, Rect};

impl App {
    pub(super) fn mouse(&mut self, mouse: MouseEvent) -> Option<Request> {
        let MouseEvent { kind, column, row, modifiers } = mouse;
        match kind {
            MouseEventKind::ScrollUp => self.model.scroll(-3, shown(&self.model)),
            MouseEventKind::ScrollDown => self.model.scroll(3, shown(&self.model)),
            MouseEventKind::Down(MouseButton::Left) => {
                // A click does not answer a question.
                self.model.close_prompt();
                return self.press(Position { x: column, y: row }, modifiers.contains(KeyModifiers::SHIFT));
            }
            MouseEventKind::Drag(MouseButton::Left) => {
                let byte = byte_in_text(&self.model, column, row)?;
                self.model.text()?.point_at(byte, true);
            }
            _ => {}
        }
        None
    }

    fn press(&mut self, place: Position, extend: bool) -> Option<Request> {
        let places = places(&self.model);
        let is_in = |area: Option<Rect>| area.filter(|area| area.contains(place));
        if is_in(places.banner).is_some() {
            return self.model.act(Action::ShowProposal, shown(&self.model));
        }
        if let Some(area) = is_in(places.files) {
            let at = self.model.tree.top.saturating_add(place.y.saturating_sub(area.y).into());
            self.model.focus = Focus::Files;
            let kind = self.model.tree.rows.get(at)?.kind;
            self.model.tree.cursor = at;
            let shown = shown(&self.model);
            return (kind != RowKind::Note).then(|| self.model.act(Action::Open, shown)).flatten();
        }
        is_in(places.main)?;
        if self.model.focus == Focus::Files {
            self.model.focus = if self.model.active.is_some() { Focus::Text } else { Focus::Files };
        }
        let byte = byte_in_text(&self.model, place.x, place.y)?;
        self.model.text()?.point_at(byte, extend);
        None
    }
}

/// Returns true for the mouse wheel.
pub(super) const fn is_wheel(kind: MouseEventKind) -> bool {
    matches!(kind, MouseEventKind::ScrollUp | MouseEventKind::ScrollDown)
}
