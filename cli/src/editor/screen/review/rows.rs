//! The rows of a view.

use super::hunk::Hunk;
use super::inner::{Budget, Ranges, inner_ranges};
use super::lines::Lines;
use std::ops::Range;

/// A row of a view of the hunks, as in a unified diff.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "a view draws both kinds")]
pub(crate) enum Row {
    /// A number of equal lines that are too far from a hunk to be shown.
    Hidden(usize),
    /// A line of the base, of the target, or of both.
    Line(Line),
}

/// A line of the base, of the target, or of both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    /// The texts that have the line.
    pub(crate) kind: LineKind,
    /// The number of the line in the base, from 0; `None` for an added line.
    pub(crate) base: Option<usize>,
    /// The number of the line in the target, from 0; `None` for a removed line.
    pub(crate) target: Option<usize>,
    /// The index of the hunk of a removed or added line.
    pub(crate) hunk: Option<usize>,
    /// The bytes that differ from this line's counterpart in the other text, without the line ends. The ranges are in
    /// order, do not overlap, and begin and end at characters. An empty range is where the counterpart has more text.
    /// A hunk with different numbers of base and target lines has no ranges, because its lines have no counterparts.
    pub(crate) changed: Vec<Range<usize>>,
}

/// The texts that have a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "a line is in one text or in both")]
pub(crate) enum LineKind {
    /// Both texts.
    Same,
    /// Only the base.
    Removed,
    /// Only the target.
    Added,
}

pub(crate) fn rows(base: &Lines, target: &Lines, hunks: &[Hunk], context: usize) -> Vec<Row> {
    let mut rows = Rows::default();
    let mut budget = Budget::default();
    let mut indexed = hunks.iter().enumerate();
    for group in groups(hunks, context) {
        let around = around(group, context, base.len());
        rows.hide_to(around.start);
        for (index, hunk) in indexed.by_ref().take(group.len()) {
            rows.same_to(hunk.base.start);
            let (old, new): (Vec<&str>, Vec<&str>) =
                (base.iter(hunk.base.clone()).collect(), target.iter(hunk.target.clone()).collect());
            rows.change(index, hunk, inner_ranges(&old, &new, &mut budget));
        }
        rows.same_to(around.end);
    }
    if !hunks.is_empty() {
        rows.hide_to(base.len());
    }
    rows.rows
}

/// Returns the hunks in groups whose context touches or overlaps.
pub(crate) fn groups(hunks: &[Hunk], context: usize) -> impl Iterator<Item = &[Hunk]> {
    let gap = context.saturating_mul(2);
    hunks.chunk_by(move |hunk, next| next.base.start.saturating_sub(hunk.base.end) <= gap)
}

/// Returns the lines of the base that a group covers with its context.
pub(crate) fn around(group: &[Hunk], context: usize, length: usize) -> Range<usize> {
    let start = group.first().map_or(0, |hunk| hunk.base.start);
    let end = group.last().map_or(0, |hunk| hunk.base.end);
    start.saturating_sub(context)..end.saturating_add(context).min(length)
}

/// The rows of the lines so far.
#[derive(Default)]
struct Rows {
    rows: Vec<Row>,
    /// The next line of the base, and of the target.
    base: usize,
    target: usize,
}

impl Rows {
    fn hide_to(&mut self, line: usize) {
        let count = line.saturating_sub(self.base);
        if count > 0 {
            self.rows.push(Row::Hidden(count));
        }
        self.go(count, count);
    }

    fn same_to(&mut self, line: usize) {
        while self.base < line {
            let (base, target) = (Some(self.base), Some(self.target));
            self.push(Line { kind: LineKind::Same, base, target, hunk: None, changed: Vec::new() });
            self.go(1, 1);
        }
    }

    fn change(&mut self, index: usize, hunk: &Hunk, (old, new): (Ranges, Ranges)) {
        let hunk_index = Some(index);
        for (number, changed) in hunk.base.clone().zip(old) {
            let base = Some(number);
            self.push(Line { kind: LineKind::Removed, base, target: None, hunk: hunk_index, changed });
        }
        for (number, changed) in hunk.target.clone().zip(new) {
            let target = Some(number);
            self.push(Line { kind: LineKind::Added, base: None, target, hunk: hunk_index, changed });
        }
        self.go(hunk.base.len(), hunk.target.len());
    }

    fn push(&mut self, line: Line) {
        self.rows.push(Row::Line(line));
    }

    fn go(&mut self, base: usize, target: usize) {
        self.base = self.base.saturating_add(base);
        self.target = self.target.saturating_add(target);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::editor::screen::review::Review;

    /// Returns the rows in the form of a unified diff, with the ranges.
    fn shown(base: &str, target: &str, context: usize) -> Vec<String> {
        let review = Review::new(base, target);
        let line = |line: &Line| {
            let (sign, text) = match (line.kind, line.base, line.target) {
                (LineKind::Same, Some(base), Some(_)) => (' ', review.base_lines(base..base + 1)),
                (LineKind::Removed, Some(base), None) => ('-', review.base_lines(base..base + 1)),
                (LineKind::Added, None, Some(target)) => ('+', review.target_lines(target..target + 1)),
                other => panic!("{other:?}"),
            };
            let changed: String =
                line.changed.iter().map(|range| format!(" [{}]", text.get(range.clone()).unwrap())).collect();
            format!("{sign}{}{changed}", text.trim_end_matches('\n'))
        };
        let row = |row: &Row| match row {
            Row::Hidden(count) => format!("… {count}"),
            Row::Line(this) => line(this),
        };
        review.rows(context).iter().map(row).collect()
    }

    #[test]
    fn hunks_are_shown_with_context() {
        let numbers = |changed: &[usize]| -> String {
            (1..=12).map(|n| if changed.contains(&n) { "x\n".into() } else { format!("{n}\n") }).collect()
        };
        let cases: &[(&str, &[usize], usize, &str)] = &[
            ("nothing", &[], 3, ""),
            ("one line", &[6], 1, "… 4| 5|-6 [6]|+x [x]| 7|… 5"),
            ("the first line", &[1], 1, "-1 [1]|+x [x]| 2|… 10"),
            ("the last line", &[12], 1, "… 10| 11|-12 [12]|+x [x]"),
            ("context that touches", &[4, 7], 1, "… 2| 3|-4 [4]|+x [x]| 5| 6|-7 [7]|+x [x]| 8|… 4"),
            ("one hidden line in between", &[4, 8], 1, "… 2| 3|-4 [4]|+x [x]| 5|… 1| 7|-8 [8]|+x [x]| 9|… 3"),
            ("no context", &[6], 0, "… 5|-6 [6]|+x [x]|… 6"),
        ];
        for (name, changed, context, expected) in cases {
            assert_eq!(shown(&numbers(&[]), &numbers(changed), *context).join("|"), *expected, "{name}");
        }
    }

    #[test]
    fn whole_texts_are_rows_too() {
        let cases = [
            ("a new file", "", "a\nb", "+a|+b"),
            ("an emptied file", "a\nb", "", "-a|-b"),
            ("the last line end", "a", "a\n", "-a|+a"),
            ("carriage returns", "a\r\n", "a\n", "-a\r [\r]|+a []"),
        ];
        for (name, base, target, expected) in cases {
            assert_eq!(shown(base, target, 3).join("|"), expected, "{name}");
        }
    }
}
