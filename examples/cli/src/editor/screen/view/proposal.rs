//! The view of a proposed change: a diff, unified or side by side, or its text during an edit.

use super::canvas::{Canvas, Ink, fitted};
use super::text;
use crate::editor::screen::layout::Rect;
use crate::editor::screen::model::change::{Kind, Line, Row};
use crate::editor::screen::model::proposal::Proposed;

pub(crate) fn draw(open: &Proposed, wide: bool, area: Rect, canvas: &mut Canvas) {
    canvas.fill(area, Ink::Text);
    if let Some(buffer) = &open.editing {
        return text::draw(buffer, |_| false, true, area, canvas);
    }
    let mut area = area;
    for notice in &open.notices {
        if area.height > 1 {
            let line = Rect { height: 1, ..area };
            canvas.fill(line, Ink::Notice);
            canvas.write(line, &fitted(&format!(" {notice}"), area.width.into()), Ink::Notice);
            area = Rect { y: area.y.saturating_add(1), height: area.height.saturating_sub(1), ..area };
        }
    }
    if open.changes.rows.is_empty() {
        canvas.write(area, " the same text as before", Ink::Dim);
        return;
    }
    let digits = digits(open);
    if wide {
        side_by_side(open, digits, area, canvas);
    } else {
        unified(open, digits, area, canvas);
    }
}

fn unified(open: &Proposed, digits: usize, area: Rect, canvas: &mut Canvas) {
    let rows = open.changes.rows.iter().skip(open.top);
    for (y, row) in (area.y..area.y.saturating_add(area.height)).zip(rows) {
        let line = Rect { y, height: 1, ..area };
        match row {
            Row::Hidden(count) => hidden(*count, line, canvas),
            Row::Line(change) => {
                let number =
                    |number: Option<usize>| number.map_or_else(String::new, |number| number.to_string());
                let numbers = format!(" {:>digits$} {:>digits$} ", number(change.old), number(change.new));
                one(change, &numbers, open.left, line, canvas);
            }
        }
    }
}

fn side_by_side(open: &Proposed, digits: usize, area: Rect, canvas: &mut Canvas) {
    let half = area.width.saturating_sub(1) / 2;
    let line_of = |row: Option<usize>| match row.and_then(|row| open.changes.rows.get(row)) {
        Some(Row::Line(line)) => Some(line),
        _ => None,
    };
    let pairs = open.changes.pairs.iter().skip(open.top);
    for (y, pair) in (area.y..area.y.saturating_add(area.height)).zip(pairs) {
        let line = Rect { y, height: 1, ..area };
        if let Some(Row::Hidden(count)) = pair.old.and_then(|row| open.changes.rows.get(row)) {
            hidden(*count, line, canvas);
            continue;
        }
        let right = half.saturating_add(1);
        let sides = [
            (line_of(pair.old), Rect { width: half, ..line }, false),
            (
                line_of(pair.new),
                Rect { x: area.x.saturating_add(right), width: area.width.saturating_sub(right), ..line },
                true,
            ),
        ];
        for (change, side, is_new) in sides {
            let Some(change) = change else {
                canvas.fill(side, Ink::Gap);
                continue;
            };
            let number = if is_new { change.new } else { change.old };
            one(change, &format!(" {:>digits$} ", number.unwrap_or_default()), open.left, side, canvas);
        }
        canvas.write(Rect { x: area.x.saturating_add(half), width: 1, ..line }, "│", Ink::Rule);
    }
}

/// Draws a line of a diff, with these numbers before it.
fn one(change: &Line, numbers: &str, left: usize, line: Rect, canvas: &mut Canvas) {
    let (sign, ink, strong, number) = match change.kind {
        Kind::Same => ("  ", Ink::Text, Ink::Text, Ink::Number),
        Kind::Removed => ("- ", Ink::Removed, Ink::RemovedStrong, Ink::RemovedNumber),
        Kind::Added => ("+ ", Ink::Added, Ink::AddedStrong, Ink::AddedNumber),
    };
    canvas.fill(line, ink);
    let behind = canvas.write(line, numbers, number);
    let behind = canvas.write(text::rest(line, behind), sign, ink);
    let body = text::rest(line, behind);
    let is_strong = |byte: usize| change.strong.iter().any(|range| range.contains(&byte));
    let ink_of = |byte: usize| if is_strong(byte) { strong } else { ink };
    let end = canvas.write_cut(body, left, &change.text, ink_of, number);
    if change.unended {
        canvas.write(text::rest(line, end.saturating_add(1)), "(no line end)", number);
    }
}

fn hidden(count: usize, line: Rect, canvas: &mut Canvas) {
    let lines = if count == 1 { "1 line".to_owned() } else { format!("{count} lines") };
    canvas.fill(line, Ink::Hidden);
    canvas.write(line, &format!("   ⋯ {lines} the same"), Ink::Hidden);
}

/// Returns the number of digits of the line numbers.
fn digits(open: &Proposed) -> usize {
    let number = |row: &Row| match row {
        Row::Line(line) => line.old.max(line.new).unwrap_or_default(),
        Row::Hidden(_) => 0,
    };
    let largest = open.changes.rows.iter().rev().map(number).max().unwrap_or_default();
    largest.to_string().len().max(3)
}
