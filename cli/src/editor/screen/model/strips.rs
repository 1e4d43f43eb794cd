//! The rows of the screen for a diff. Long lines continue in further rows, and parts of a long line far from its
//! change are folded, so that the change in a line is always visible.

use super::change::{Changes, Kind, Line, Row};
use crate::support::columns::glyphs;

/// The minimum number of columns for a line: there is room for the widest character, a tab. A narrower screen shows the
/// beginnings of the rows.
const NARROWEST: usize = 8;

/// The form of a diff on the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Form {
    /// True if the diff is side by side.
    pub(crate) wide: bool,
    /// The columns of the text of a line, on either side.
    pub(crate) columns: usize,
}

/// A row of the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Strip {
    /// The index of the row of the diff, or of the pair.
    pub(crate) at: usize,
    /// The pieces of the old line and of the new line, or of the one line of a unified diff.
    pub(crate) pieces: [Option<Piece>; 2],
}

/// A part of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// The part that begins at this column.
    From(usize),
    /// A number of rows that are not shown.
    Folded(usize),
}

/// Returns the rows of the screen.
pub(crate) fn strips(changes: &Changes, form: Form) -> Vec<Strip> {
    let of_row = |row: Option<usize>| match row.and_then(|row| changes.rows.get(row)) {
        Some(Row::Line(line)) => pieces(line, form.columns),
        Some(Row::Hidden(_)) => vec![Piece::From(0)],
        None => Vec::new(),
    };
    let strips = |at: usize, old: &[Piece], new: &[Piece]| -> Vec<Strip> {
        let piece = |pieces: &[Piece], nth: usize| pieces.get(nth).copied();
        let both = 0..old.len().max(new.len());
        both.map(|nth| Strip { at, pieces: [piece(old, nth), piece(new, nth)] }).collect()
    };
    if form.wide {
        let pairs = changes.pairs.iter().enumerate();
        let strips = pairs.flat_map(|(at, pair)| strips(at, &of_row(pair.old), &of_row(pair.new)));
        strips.collect()
    } else {
        (0..changes.rows.len()).flat_map(|at| strips(at, &of_row(Some(at)), &[])).collect()
    }
}

/// Returns the shown pieces of a line: all of them if no part is known to be the same; otherwise its beginning, and
/// the pieces with a change and their neighbors.
fn pieces(line: &Line, columns: usize) -> Vec<Piece> {
    let (bytes, starts) = starts(&line.text, columns.max(NARROWEST));
    let mut is_kept = vec![line.kind != Kind::Same && line.changed.is_empty(); starts.len()];
    let piece_of = |byte: usize| bytes.partition_point(|start| *start <= byte).saturating_sub(1);
    let changed = line.changed.iter().map(|range| piece_of(range.start)..=piece_of(range.end));
    let near = changed.map(|pieces| pieces.start().saturating_sub(1)..=pieces.end().saturating_add(1));
    let last = starts.len().saturating_sub(1);
    for piece in near.flatten().chain([0]).chain(line.unended.then_some(last)) {
        if let Some(is_kept) = is_kept.get_mut(piece) {
            *is_kept = true;
        }
    }
    let mut pieces = Vec::new();
    let mut nth = 0_usize;
    for run in is_kept.chunk_by(|one, next| one == next) {
        // A fold takes a row itself.
        if run.len() > 1 && run.first() == Some(&false) {
            pieces.push(Piece::Folded(run.len()));
        } else {
            pieces.extend(starts.iter().skip(nth).take(run.len()).map(|start| Piece::From(*start)));
        }
        nth = nth.saturating_add(run.len());
    }
    pieces
}

/// Returns the first byte and the first column of each piece.
fn starts(text: &str, columns: usize) -> (Vec<usize>, Vec<usize>) {
    let (mut bytes, mut starts, mut start) = (vec![0], vec![0], 0_usize);
    let mut cluster = (0, 0_usize);
    for glyph in glyphs(text) {
        if glyph.starts {
            cluster = (glyph.byte, glyph.column);
        }
        let end = glyph.column.saturating_add(glyph.width);
        if end.saturating_sub(start) > columns && cluster.1 > start {
            start = cluster.1;
            bytes.push(cluster.0);
            starts.push(start);
        }
    }
    (bytes, starts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::editor::screen::review::Review;

    fn shown(old: &str, new: &str, wide: bool) -> Vec<String> {
        let changes = Changes::of(&Review::new(old, new));
        let piece = |piece: Option<Piece>| match piece {
            Some(Piece::From(column)) => column.to_string(),
            Some(Piece::Folded(count)) => format!("…{count}"),
            None => String::new(),
        };
        let strip =
            |strip: &Strip| format!("{}:{} {}", strip.at, piece(strip.pieces[0]), piece(strip.pieces[1]));
        strips(&changes, Form { wide, columns: 10 })
            .iter()
            .map(|this| strip(this).trim_end().into())
            .collect()
    }

    #[test]
    fn long_lines_continue_and_fold() {
        let long = "0123456789".repeat(6);
        let changed = |text: &str| format!("{long}{text}{long}\n");
        let cases: &[(&str, &str, &str, bool, &str)] = &[
            ("as long as the row", "0123456789\n", "", false, "0:0"),
            ("one column more", "0123456789a\n", "", false, "0:0|0:10"),
            ("a wide character", "012345678\u{6f22}\n", "", false, "0:0|0:9"),
            ("a combining mark", "0123456789\u{301}\n", "", false, "0:0"),
            (
                "a change in the middle",
                &changed("a"),
                &changed("b"),
                false,
                "0:0|0:…4|0:50|0:60|0:70|0:…5|1:0|1:…4|1:50|1:60|1:70|1:…5",
            ),
            (
                "side by side",
                &changed("a"),
                &changed("b"),
                true,
                "0:0 0|0:…4 …4|0:50 50|0:60 60|0:70 70|0:…5 …5",
            ),
            (
                "a change at the beginning",
                &format!("a{long}\n"),
                &format!("b{long}\n"),
                true,
                "0:0 0|0:10 10|0:…5 …5",
            ),
            ("a long line that stays", &changed(""), &format!("{}x\n", changed("")), false, "0:0|0:…11|1:0"),
            (
                "a line end is gone",
                &format!("a{long}\n"),
                &format!("b{long}"),
                true,
                "0:0 0|0:10 10|0:…5 …4|0: 60",
            ),
            ("no counterpart", "", &format!("{long}\n"), true, "0: 0|0: 10|0: 20|0: 30|0: 40|0: 50"),
        ];
        for (name, old, new, wide, expected) in cases {
            assert_eq!(shown(old, new, *wide).join("|"), *expected, "{name}");
        }
    }
}
