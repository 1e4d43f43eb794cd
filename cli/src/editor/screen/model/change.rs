//! The rows of a proposed change, for a unified and for a side-by-side diff.

use crate::editor::screen::review::{self as review, Review};
use std::ops::Range;
use unicode_width::UnicodeWidthChar as _;

pub(crate) use review::LineKind as Kind;

/// How many lines before and after a change are shown with it.
const CONTEXT: usize = 3;

#[derive(Clone, Debug, Default)]
pub(crate) struct Changes {
    pub(crate) rows: Vec<Row>,
    pub(crate) pairs: Vec<Pair>,
    pub(crate) added: usize,
    pub(crate) removed: usize,
}

/// A row of a unified diff.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Row {
    /// A number of equal lines that are not shown.
    Hidden(usize),
    Line(Line),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) kind: Kind,
    /// The index of the hunk of the line.
    pub(crate) hunk: Option<usize>,
    /// The numbers of the line in the old text and in the new text, from 1.
    pub(crate) old: Option<usize>,
    pub(crate) new: Option<usize>,
    /// The text of the line without its end.
    pub(crate) text: String,
    /// The bytes that differ from the line on the other side.
    pub(crate) changed: Vec<Range<usize>>,
    /// True if the changed bytes are emphasized, because they are at most two thirds of the line.
    pub(crate) is_strong: bool,
    /// True if it is the last line and has no line end.
    pub(crate) unended: bool,
}

/// A row of a side-by-side diff: the rows of the unified diff that stand there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pair {
    pub(crate) old: Option<usize>,
    pub(crate) new: Option<usize>,
}

impl Changes {
    pub(crate) fn of(review: &Review) -> Self {
        // If both texts have the same kind of line ends, the line ends need not be visible.
        let (old, new) = (review.base(), review.target());
        let hide_returns = has_returns(old) == has_returns(new) || old.is_empty();
        let row = |row: review::Row| match row {
            review::Row::Hidden(count) => Row::Hidden(count),
            review::Row::Line(of_review) => Row::Line(line(review, of_review, hide_returns)),
        };
        let rows: Vec<Row> = review.rows(CONTEXT).into_iter().map(row).collect();
        let added = review.hunks().iter().map(|hunk| hunk.target.len()).sum();
        let removed = review.hunks().iter().map(|hunk| hunk.base.len()).sum();
        Self { pairs: pairs(&rows), rows, added, removed }
    }

    /// Returns the hunk of a row.
    pub(crate) fn hunk_of(&self, row: usize) -> Option<usize> {
        match self.rows.get(row)? {
            Row::Line(line) => line.hunk,
            Row::Hidden(_) => None,
        }
    }

    /// Returns the first row of a hunk, or the number of rows if there is no such hunk.
    pub(crate) fn begin(&self, hunk: usize) -> usize {
        let is_there = |row: &usize| self.hunk_of(*row) == Some(hunk);
        (0..self.rows.len()).find(is_there).unwrap_or(self.rows.len())
    }

    /// Returns the pair that contains a row.
    pub(crate) fn pair_of(&self, row: usize) -> usize {
        self.pairs.iter().position(|pair| pair.old == Some(row) || pair.new == Some(row)).unwrap_or_default()
    }

    /// Returns the first row of a pair.
    pub(crate) fn row_of(&self, pair: usize) -> usize {
        self.pairs.get(pair).and_then(|pair| pair.old.or(pair.new)).unwrap_or_default()
    }
}

fn line(review: &Review, line: review::Line, hide_returns: bool) -> Line {
    let one = |number: usize| number..number.saturating_add(1);
    let whole = match (line.base, line.target) {
        (Some(number), _) => review.base_lines(one(number)),
        (None, number) => number.map_or("", |number| review.target_lines(one(number))),
    };
    let text = whole.strip_suffix('\n').unwrap_or(whole);
    let text = if hide_returns { text.strip_suffix('\r').unwrap_or(text) } else { text };
    let changed: Vec<Range<usize>> = line.changed.iter().map(|range| at_glyphs(text, range)).collect();
    // If most of a line would be emphasized, nothing is.
    let letters = |text: &str| text.chars().filter(|character| !character.is_whitespace()).count();
    let of_changed = changed.iter().map(|range| letters(text.get(range.clone()).unwrap_or_default()));
    let (of_changed, all) = (of_changed.sum::<usize>(), letters(text));
    let is_strong = of_changed.saturating_mul(3) <= all.saturating_mul(2) && of_changed != all;
    let number = |number: Option<usize>| number.map(|number| number.saturating_add(1));
    Line {
        kind: line.kind,
        hunk: line.hunk,
        old: number(line.base),
        new: number(line.target),
        text: text.to_owned(),
        changed,
        is_strong,
        unended: !whole.ends_with('\n'),
    }
}

/// Returns a range in a text, without the line end. If the range begins with a combining character, it is widened to
/// the character that this one belongs to.
fn at_glyphs(text: &str, range: &Range<usize>) -> Range<usize> {
    let end = range.end.min(text.len());
    let mut start = range.start.min(end);
    let is_mark =
        |at: usize| text.get(at..).and_then(|rest| rest.chars().next()).is_some_and(|c| c.width() == Some(0));
    while start > 0 && is_mark(start) {
        start =
            text.get(..start).and_then(|before| before.char_indices().next_back()).map_or(0, |(at, _)| at);
    }
    start..end
}

fn has_returns(text: &str) -> bool {
    text.contains("\r\n")
}

/// Returns the pairs: removed lines beside the lines that were added in their place.
fn pairs(rows: &[Row]) -> Vec<Pair> {
    let kind = |at: usize| match rows.get(at) {
        Some(Row::Line(line)) => Some(line.kind),
        _ => None,
    };
    let mut pairs = Vec::new();
    let mut at = 0_usize;
    while at < rows.len() {
        let run = |from: usize, wanted: Kind| {
            from.saturating_add((from..rows.len()).take_while(|row| kind(*row) == Some(wanted)).count())
        };
        let removed = run(at, Kind::Removed);
        let added = run(removed, Kind::Added);
        if added == at {
            pairs.push(Pair { old: Some(at), new: Some(at) });
            at = at.saturating_add(1);
            continue;
        }
        let (olds, news) = (at..removed, removed..added);
        let both = 0..olds.len().max(news.len());
        pairs.extend(both.map(|nth| Pair { old: olds.clone().nth(nth), new: news.clone().nth(nth) }));
        at = added;
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unified(old: &str, new: &str) -> Vec<String> {
        let shown = |row: &Row| match row {
            Row::Hidden(lines) => format!("… {lines}"),
            Row::Line(line) => {
                let sign = match line.kind {
                    Kind::Same => ' ',
                    Kind::Removed => '-',
                    Kind::Added => '+',
                };
                let strong = line.changed.iter().filter(|range| line.is_strong && !range.is_empty());
                let strong: Vec<&str> = strong.map(|range| line.text.get(range.clone()).unwrap()).collect();
                let end = if line.unended { "\\" } else { "" };
                let strong = if strong.is_empty() { String::new() } else { format!(" {strong:?}") };
                format!("{sign}{}{end}{strong}", line.text)
            }
        };
        Changes::of(&Review::new(old, new)).rows.iter().map(shown).collect()
    }

    #[test]
    fn changes_are_shown_with_their_context() {
        let many = |changed: &[usize]| -> String {
            (1..=20)
                .map(|n| if changed.contains(&n) { format!("{n}!\n") } else { format!("{n}\n") })
                .collect()
        };
        let cases: &[(&str, &str, &str, &[&str])] = &[
            ("the same", "a\n", "a\n", &[]),
            ("nothing to something", "", "a\nb\n", &["+a", "+b"]),
            ("something to nothing", "a\n", "", &["-a"]),
            ("a word", "let x = 1;\n", "let x = 2;\n", &["-let x = 1; [\"1\"]", "+let x = 2; [\"2\"]"]),
            ("a whole line", "abc\n", "xyz\n", &["-abc", "+xyz"]),
            ("the end of the last line", "a", "a\n", &["-a\\", "+a"]),
            ("line ends", "a\r\nb\r\n", "a\nb\n", &["-a\r [\"\\r\"]", "-b\r [\"\\r\"]", "+a", "+b"]),
            ("line ends that stay", "a\r\nb\r\n", "a\r\nc\r\n", &[" a", "-b", "+c"]),
            (
                "lines far from a change are hidden",
                &many(&[]),
                &many(&[10]),
                &["… 6", " 7", " 8", " 9", "-10", "+10! [\"!\"]", " 11", " 12", " 13", "… 7"],
            ),
        ];
        for (name, old, new, expected) in cases {
            assert_eq!(unified(old, new), *expected, "{name}");
        }
    }

    #[test]
    fn rows_cover_both_texts() {
        arbtest::arbtest(|u| {
            let lines = ["a\n", "b\n", "c\r\n", "\n", "d", "\r"];
            let mut text = || -> arbitrary::Result<String> {
                (0..u.int_in_range(0..=12)?).map(|_| u.choose(&lines).copied()).collect()
            };
            let (old, new) = (text()?, text()?);
            let changes = Changes::of(&Review::new(old.as_str(), new.as_str()));
            let count = |which: fn(&Line) -> Option<usize>| -> usize {
                let of = |row: &Row| match row {
                    Row::Hidden(lines) => *lines,
                    Row::Line(line) => usize::from(which(line).is_some()),
                };
                changes.rows.iter().map(of).sum()
            };
            if !changes.rows.is_empty() {
                let lines = |text: &str| text.split_inclusive('\n').count();
                assert_eq!(count(|line| line.old), lines(&old), "{old:?} {new:?}");
                assert_eq!(count(|line| line.new), lines(&new), "{old:?} {new:?}");
            } else {
                assert_eq!(old, new);
            }
            let mut shown: Vec<usize> =
                changes.pairs.iter().flat_map(|pair| [pair.old, pair.new]).flatten().collect();
            shown.sort_unstable();
            shown.dedup();
            assert_eq!(shown, (0..changes.rows.len()).collect::<Vec<_>>(), "every row has its pair");
            Ok(())
        });
    }

    #[test]
    fn removed_lines_stand_beside_added_lines() {
        let changes = Changes::of(&Review::new("a\nb\nc\n", "x\nb\ny\nz\n"));
        let pairs: Vec<_> = changes.pairs.iter().map(|pair| (pair.old, pair.new)).collect();
        assert_eq!(pairs, [(Some(0), Some(1)), (Some(2), Some(2)), (Some(3), Some(4)), (None, Some(5))]);
        assert_eq!((changes.added, changes.removed), (3, 2));
        assert_eq!((changes.begin(0), changes.begin(1), changes.hunk_of(4)), (0, 3, Some(1)));
        assert_eq!((changes.pair_of(4), changes.row_of(3)), (2, 5));
    }

    #[test]
    fn emphasis_begins_at_a_whole_character() {
        let changes = Changes::of(&Review::new("a same same e\u{301}\n", "a same same e\u{300}\n"));
        let text = "a same same e\u{301}";
        let of_mark = text.len() - "\u{301}".len()..text.len();
        assert_eq!(at_glyphs(text, &of_mark), of_mark.start - 1..text.len());
        assert_eq!(at_glyphs(text, &(0..99)), 0..text.len(), "a line end that is not shown");
        assert_eq!(at_glyphs("\u{301}", &(0..2)), 0..2);
        assert_eq!(changes.rows.len(), 2);
    }
}
