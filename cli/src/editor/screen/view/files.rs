//! The view of the list of files.

use super::frame::Frame;
use super::palette::Ink;
use super::text::rest;
use crate::editor::screen::model::tree::{Row, RowKind};
use crate::editor::screen::model::{Focus, Model};
use crate::support::columns::{cut, width};
use ratatui::layout::Rect;

/// The mark of a file that agents do not receive: the sign of a pause.
const HIDDEN: &str = " ‖";

pub(crate) fn draw(model: &Model, area: Rect, frame: &mut Frame) {
    frame.fill(area, Ink::Text);
    let rows = model.tree.rows.iter().enumerate().skip(model.tree.top);
    for (y, (at, row)) in (area.y..area.y.saturating_add(area.height)).zip(rows) {
        let line = Rect { y, height: 1, ..area };
        let ink = match (at == model.tree.cursor, model.focus, row.kind) {
            (true, Focus::Files, _) => Ink::Row,
            (true, _, _) => Ink::RowUnfocused,
            (_, _, RowKind::Folder { .. }) => Ink::Folder,
            (_, _, RowKind::Note) => Ink::Dim,
            (_, _, RowKind::File) => file_ink(model, row),
        };
        frame.fill(line, ink);
        let sign = match row.kind {
            RowKind::Folder { unfolded: true } => "▾",
            RowKind::Folder { unfolded: false } => "▸",
            RowKind::File if is_dirty(model, row) => "●",
            RowKind::File | RowKind::Note => " ",
        };
        let shown = format!(" {}{sign} {}", "  ".repeat(row.depth), row.name);
        // The mark stays if a long name is cut.
        let mark = if row.is_hidden { HIDDEN } else { "" };
        let room = usize::from(line.width).saturating_sub(width(mark));
        let end = frame.write(line, &cut(&shown, room), ink);
        frame.write(rest(line, end), mark, ink);
    }
    // The rule between the panes.
    if area.x.saturating_add(area.width) < model.size.0 {
        for y in area.y..area.y.saturating_add(area.height) {
            frame.write(
                Rect { x: area.x.saturating_add(area.width), y, width: 1, height: 1 },
                "│",
                Ink::Rule,
            );
        }
    }
}

fn file_ink(model: &Model, row: &Row) -> Ink {
    let is_shown = model.document().is_some_and(|document| document.path == row.path.to_string_lossy());
    if is_shown { Ink::OpenFile } else { Ink::Text }
}

fn is_dirty(model: &Model, row: &Row) -> bool {
    let path = row.path.to_string_lossy();
    model.documents.iter().any(|document| document.path == path && document.buffer.is_dirty())
}
