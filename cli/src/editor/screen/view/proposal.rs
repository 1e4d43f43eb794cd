//! The view of a proposed change: a diff, unified or side by side, or its text during an edit.

use super::frame::Frame;
use super::palette::Ink;
use super::text;
use crate::editor::screen::model::change::{Kind, Line, Row};
use crate::editor::screen::model::proposal::Proposed;
use crate::editor::screen::model::strips::{Form, Piece, Strip};
use crate::editor::screen::review::Verdict;
use crate::support::columns::{cut, width};
use ratatui::layout::Rect;

/// The columns of the sign of a line and the space after it.
const SIGN: u16 = 2;

pub(crate) fn draw(open: &Proposed, wide: bool, area: Rect, frame: &mut Frame) {
    frame.fill(area, Ink::Text);
    if let Some(buffer) = &open.editing {
        return text::draw(buffer, |_| false, true, area, frame);
    }
    let mut area = area;
    for notice in open.notices() {
        if area.height > 1 {
            let line = Rect { height: 1, ..area };
            frame.fill(line, Ink::Notice);
            frame.write(line, &cut(&format!(" {notice}"), area.width.into()), Ink::Notice);
            area = Rect { y: area.y.saturating_add(1), height: area.height.saturating_sub(1), ..area };
        }
    }
    if open.changes.rows.is_empty() {
        frame.write(area, " the same text as before", Ink::Dim);
        return;
    }
    let digits = digits(open);
    let strips = open.strips.iter().skip(open.top);
    for (y, strip) in (area.y..area.y.saturating_add(area.height)).zip(strips) {
        let line = Rect { y, height: 1, ..area };
        if wide {
            side_by_side(open, strip, digits, line, frame);
        } else {
            unified(open, strip, digits, line, frame);
        }
    }
}

/// Returns the form of a diff on a screen of this width.
pub(crate) fn form(open: &Proposed, wide: bool, width: u16) -> Form {
    let digits = u16::try_from(digits(open)).unwrap_or(u16::MAX);
    let text = |width: u16, numbers: u16| {
        let before = numbers.saturating_mul(digits.saturating_add(1)).saturating_add(1).saturating_add(SIGN);
        usize::from(width.saturating_sub(before))
    };
    let (left, right) = halves(width);
    // Both sides are broken at equal columns, so that equal parts are side by side.
    let columns = if wide { text(left.min(right), 1) } else { text(width, 2) };
    Form { wide, columns }
}

/// Returns the widths of the sides, which have a line between them.
const fn halves(width: u16) -> (u16, u16) {
    let left = width.saturating_sub(1) / 2;
    (left, width.saturating_sub(left).saturating_sub(1))
}

fn unified(open: &Proposed, strip: &Strip, digits: usize, line: Rect, frame: &mut Frame) {
    match (open.changes.rows.get(strip.at), strip.pieces[0]) {
        (Some(Row::Hidden(count)), _) => hidden(*count, line, frame),
        (Some(Row::Line(change)), Some(piece)) => {
            let number = |number: Option<usize>| number.map_or_else(String::new, |number| number.to_string());
            let numbers = format!(" {:>digits$} {:>digits$} ", number(change.old), number(change.new));
            one(open, change, piece, &numbers, line, frame);
            mark(open, change.hunk, piece, line, frame);
        }
        _ => {}
    }
}

fn side_by_side(open: &Proposed, strip: &Strip, digits: usize, line: Rect, frame: &mut Frame) {
    let Some(pair) = open.changes.pairs.get(strip.at) else { return };
    let row = |row: Option<usize>| row.and_then(|row| open.changes.rows.get(row));
    if let Some(Row::Hidden(count)) = row(pair.old) {
        return hidden(*count, line, frame);
    }
    let (left, right) = halves(line.width);
    let middle = line.x.saturating_add(left);
    let sides = [
        (row(pair.old), strip.pieces[0], Rect { width: left, ..line }),
        (row(pair.new), strip.pieces[1], Rect { x: middle.saturating_add(1), width: right, ..line }),
    ];
    for (is_new, (row, piece, side)) in [false, true].into_iter().zip(sides) {
        let (Some(Row::Line(change)), Some(piece)) = (row, piece) else {
            frame.fill(side, Ink::Gap);
            continue;
        };
        let number = if is_new { change.new } else { change.old };
        one(open, change, piece, &format!(" {:>digits$} ", number.unwrap_or_default()), side, frame);
        mark(open, change.hunk, piece, side, frame);
    }
    frame.write(Rect { x: middle, width: 1, ..line }, "│", Ink::Rule);
}

/// Draws a piece of a line of a diff, with these numbers before its first piece.
fn one(open: &Proposed, change: &Line, piece: Piece, numbers: &str, line: Rect, frame: &mut Frame) {
    let (sign, ink, strong, number) = match (open.verdict(change.hunk), change.kind) {
        (_, Kind::Same) => ("  ", Ink::Text, Ink::Text, Ink::Number),
        (Verdict::Rejected, Kind::Removed) => ("- ", Ink::Dim, Ink::Dim, Ink::Number),
        (Verdict::Rejected, Kind::Added) => ("+ ", Ink::Dim, Ink::Dim, Ink::Number),
        (_, Kind::Removed) => ("- ", Ink::Removed, Ink::RemovedStrong, Ink::RemovedNumber),
        (_, Kind::Added) => ("+ ", Ink::Added, Ink::AddedStrong, Ink::AddedNumber),
    };
    frame.fill(line, ink);
    let is_first = piece == Piece::From(0);
    let blank = " ".repeat(numbers.chars().count());
    let after = frame.write(line, if is_first { numbers } else { &blank }, number);
    let after = frame.write(text::rest(line, after), sign, ink);
    let body = text::rest(line, after);
    let columns = open.form.map_or(usize::MAX, |form| form.columns);
    let body = Rect { width: body.width.min(u16::try_from(columns).unwrap_or(u16::MAX)), ..body };
    let left = match piece {
        Piece::From(column) => column,
        Piece::Folded(count) => {
            frame.write(body, &format!("⋯ {count} rows of the line"), number);
            return;
        }
    };
    let is_changed = |byte: usize| change.changed.iter().any(|range| range.contains(&byte));
    let ink_of = |byte: usize| if change.is_strong && is_changed(byte) { strong } else { ink };
    let end = frame.write_from(body, left, &change.text, ink_of);
    let is_last = || width(&change.text) <= left.saturating_add(body.width.into());
    if change.unended && is_last() {
        frame.write(text::rest(line, end.saturating_add(1)), "(no line end)", number);
    }
}

/// Marks the verdict about a hunk, and the hunk that keys act on.
fn mark(open: &Proposed, hunk: Option<usize>, piece: Piece, line: Rect, frame: &mut Frame) {
    let is_first = piece == Piece::From(0);
    let sign = match open.verdict(hunk) {
        Verdict::Accepted if is_first => "✓",
        Verdict::Rejected if is_first => "✗",
        _ => " ",
    };
    if hunk.is_some() {
        let ink = if hunk == Some(open.hunk) { Ink::Row } else { Ink::Number };
        frame.write(Rect { width: line.width.min(1), ..line }, sign, ink);
    }
}

fn hidden(count: usize, line: Rect, frame: &mut Frame) {
    let lines = if count == 1 { "1 line".to_owned() } else { format!("{count} lines") };
    frame.fill(line, Ink::Hidden);
    frame.write(line, &format!("   ⋯ {lines} the same"), Ink::Hidden);
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
