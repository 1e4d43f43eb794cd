//! The view of a text that is edited: line numbers, problems, selection, cursor.

use super::frame::Frame;
use super::palette::Ink;
use crate::editor::screen::model::buffer::Buffer;
use crate::support::columns::{column_of, width};
use ratatui::layout::Rect;
use std::ops::Range;

pub(crate) fn draw(
    buffer: &Buffer,
    has_problem: impl Fn(usize) -> bool,
    has_focus: bool,
    area: Rect,
    frame: &mut Frame,
) {
    let text = buffer.text();
    let gutter = gutter(buffer);
    let selection = buffer.selection();
    let current = text.line_of(buffer.cursor());
    // The matches in the line of the row.
    let mut marked: Option<(usize, Vec<Range<usize>>)> = None;
    for (y, row) in (area.y..area.y.saturating_add(area.height)).zip(buffer.shown_rows()) {
        let (line, number) = (Rect { y, height: 1, ..area }, row.line);
        let is_current = has_focus && number == current && selection.is_empty();
        let paper = if is_current { Ink::CurrentLine } else { Ink::Text };
        frame.fill(line, paper);
        let digits = gutter.saturating_sub(3);
        let shown = format!(" {:>digits$} ", number.saturating_add(1));
        let ink = if number == current { Ink::CurrentNumber } else { Ink::Number };
        let shown = if row.is_first { shown } else { String::new() };
        let after = frame.write(line, &shown, ink);
        if has_problem(number) && row.is_first {
            frame.write(rest(line, after), "●", Ink::Problem);
        }
        let content = text.get(row.bytes.clone());
        let body = rest(line, line.x.saturating_add(u16::try_from(gutter).unwrap_or(u16::MAX)));
        if marked.as_ref().is_none_or(|(line, _)| *line != number) {
            marked =
                buffer.highlight.as_ref().map(|needle| (number, needle.matches(text.line(number)).collect()));
        }
        let start = text.range_of(number).start;
        let is_found =
            |at: usize| marked.iter().flat_map(|(_, found)| found).any(|found| found.contains(&at));
        let ink = |byte: usize| {
            let at = row.bytes.start.saturating_add(byte);
            match () {
                () if selection.contains(&at) => Ink::Selected,
                () if is_found(at.saturating_sub(start)) => Ink::Found,
                () => paper,
            }
        };
        let end = if buffer.is_wrapped() {
            frame.write_from(body, 0, content, ink)
        } else {
            frame.write_cut(body, buffer.left(), content, ink, Ink::Number)
        };
        // A selected line end is visible too.
        if row.is_last && selection.contains(&row.bytes.end) {
            frame.write(Rect { width: 1, ..rest(body, end) }, " ", Ink::Selected);
        }
        if has_focus && buffer.has_cursor(&row) {
            let column = column_of(content, buffer.cursor().saturating_sub(row.bytes.start));
            let column = column.checked_sub(buffer.left()).filter(|column| *column < body.width.into());
            frame.cursor =
                column.and_then(|column| Some((body.x.checked_add(u16::try_from(column).ok()?)?, y)));
        }
    }
}

/// Returns the number of columns for line numbers and problems.
pub(crate) fn gutter(buffer: &Buffer) -> usize {
    let digits = buffer.text().lines().to_string().len().max(3);
    digits.saturating_add(3)
}

/// Returns the number of columns for the text of each line. One more is for the cursor after the text.
pub(crate) fn columns(buffer: &Buffer, area: Rect) -> usize {
    usize::from(area.width).saturating_sub(gutter(buffer)).saturating_sub(1).max(1)
}

/// Returns the part of a row from a column on.
pub(crate) const fn rest(line: Rect, x: u16) -> Rect {
    let used = x.saturating_sub(line.x);
    Rect { x, width: line.width.saturating_sub(used), ..line }
}

pub(super) fn right_aligned(frame: &mut Frame, area: Rect, text: &str, ink: Ink) {
    let Some(free) = usize::from(area.width).checked_sub(width(text)) else { return };
    let x = area.x.saturating_add(u16::try_from(free).unwrap_or(u16::MAX));
    frame.write(rest(area, x), text, ink);
}
