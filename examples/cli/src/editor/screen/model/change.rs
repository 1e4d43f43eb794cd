//! The rows of a proposed change, for a unified and for a side-by-side diff.

use similar::{ChangeTag, DiffOp, InlineChangeOptions, TextDiff};
use std::ops::Range;
use std::time::Duration;

/// The number of lines around a change that are shown with it.
const CONTEXT: usize = 3;
/// The time limit of the search for the shortest diff. After it, a longer diff is accepted, because
/// the loop waits.
const PATIENCE: Duration = Duration::from_millis(200);
/// The limits of the comparison by words, so that an agent cannot keep the loop busy: the bytes in
/// all changes, the lines of a block, and its bytes per line, old and new together.
const BY_WORD: usize = 128 * 1024;
const LARGEST_BLOCK: usize = 50;
const LONGEST_LINE: usize = 1000;

#[derive(Clone, Debug, Default)]
pub(crate) struct Changes {
    pub(crate) rows: Vec<Row>,
    pub(crate) pairs: Vec<Pair>,
    pub(crate) added: usize,
    pub(crate) removed: usize,
    /// The number of bytes that can still be compared by words.
    by_word: usize,
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
    /// The numbers of the line in the old text and in the new text, from 1.
    pub(crate) old: Option<usize>,
    pub(crate) new: Option<usize>,
    /// The text of the line without its end.
    pub(crate) text: String,
    /// The bytes that differ from the line on the other side.
    pub(crate) strong: Vec<Range<usize>>,
    /// True if it is the last line and has no line end.
    pub(crate) unended: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Same,
    Removed,
    Added,
}

/// A row of a side-by-side diff: the rows of the unified diff that stand there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pair {
    pub(crate) old: Option<usize>,
    pub(crate) new: Option<usize>,
}

impl Changes {
    pub(crate) fn between(old: &str, new: &str) -> Self {
        let diff = TextDiff::configure().timeout(PATIENCE).diff_lines(old, new);
        // If both texts have the same kind of line ends, the line ends need not be visible.
        let hide_returns = has_returns(old) == has_returns(new) || old.is_empty();
        let mut changes = Self { by_word: BY_WORD, ..Self::default() };
        let mut seen = 0_usize;
        for group in diff.grouped_ops(CONTEXT) {
            let begins = group.first().map_or(seen, |op| op.old_range().start);
            changes.hide(begins.saturating_sub(seen));
            seen = group.last().map_or(seen, |op| op.old_range().end);
            for op in &group {
                changes.add(&diff, op, hide_returns);
            }
        }
        if !changes.rows.is_empty() {
            changes.hide(diff.old_len().saturating_sub(seen));
        }
        changes.pairs = pairs(&changes.rows);
        changes
    }

    /// Returns the rows at which changes begin.
    pub(crate) fn begins(&self) -> impl Iterator<Item = usize> + '_ {
        let is_change = |row: Option<&Row>| matches!(row, Some(Row::Line(line)) if line.kind != Kind::Same);
        (0..self.rows.len()).filter(move |at| {
            is_change(self.rows.get(*at))
                && !at.checked_sub(1).is_some_and(|before| is_change(self.rows.get(before)))
        })
    }

    /// Returns the pair that contains a row.
    pub(crate) fn pair_of(&self, row: usize) -> usize {
        self.pairs.iter().position(|pair| pair.old == Some(row) || pair.new == Some(row)).unwrap_or_default()
    }

    /// Returns the first row of a pair.
    pub(crate) fn row_of(&self, pair: usize) -> usize {
        self.pairs.get(pair).and_then(|pair| pair.old.or(pair.new)).unwrap_or_default()
    }

    fn hide(&mut self, lines: usize) {
        if lines > 0 {
            self.rows.push(Row::Hidden(lines));
        }
    }

    fn add(&mut self, diff: &TextDiff<'_, '_, str>, op: &DiffOp, hide_returns: bool) {
        let old: usize = op.old_range().map(|at| diff.old_slice(at).map_or(0, str::len)).sum();
        let new: usize = op.new_range().map(|at| diff.new_slice(at).map_or(0, str::len)).sum();
        let (lines, bytes) = (op.new_range().len(), old.saturating_add(new));
        // The comparison is line by line; a block that has more or fewer lines than before was
        // written anew.
        let by_word = matches!(op, DiffOp::Replace { .. })
            && op.old_range().len() == lines
            && lines <= LARGEST_BLOCK
            && bytes <= lines.saturating_mul(LONGEST_LINE).min(self.by_word);
        if by_word {
            self.by_word = self.by_word.saturating_sub(bytes);
            let mut options = InlineChangeOptions::new();
            for change in diff.iter_inline_changes_with_options(op, *options.semantic_cleanup(true)) {
                let (mut text, mut strong) = (String::new(), Vec::new());
                for (is_strong, piece) in change.values() {
                    let from = text.len();
                    text.push_str(piece);
                    if *is_strong {
                        strong.push(from..text.len());
                    }
                }
                let numbers = (change.old_index(), change.new_index());
                self.push(change.tag(), numbers, &text, strong, change.missing_newline(), hide_returns);
            }
        } else {
            for change in diff.iter_changes(op) {
                let numbers = (change.old_index(), change.new_index());
                self.push(
                    change.tag(),
                    numbers,
                    change.value(),
                    Vec::new(),
                    change.missing_newline(),
                    hide_returns,
                );
            }
        }
    }

    fn push(
        &mut self,
        tag: ChangeTag,
        (old, new): (Option<usize>, Option<usize>),
        text: &str,
        mut strong: Vec<Range<usize>>,
        unended: bool,
        hide_returns: bool,
    ) {
        let line = text.strip_suffix('\n').unwrap_or(text);
        let line = if hide_returns { line.strip_suffix('\r').unwrap_or(line) } else { line };
        let kind = match tag {
            ChangeTag::Equal => Kind::Same,
            ChangeTag::Delete => Kind::Removed,
            ChangeTag::Insert => Kind::Added,
        };
        match kind {
            Kind::Same => {}
            Kind::Removed => self.removed = self.removed.saturating_add(1),
            Kind::Added => self.added = self.added.saturating_add(1),
        }
        // If most of a line would be emphasized, nothing is.
        let letters = |text: &str| text.chars().filter(|character| !character.is_whitespace()).count();
        let strong_ones: usize =
            strong.iter().map(|range| letters(text.get(range.clone()).unwrap_or_default())).sum();
        if strong_ones.saturating_mul(3) > letters(text).saturating_mul(2) || strong_ones == letters(text) {
            strong.clear();
        }
        let number = |index: Option<usize>| index.map(|index| index.saturating_add(1));
        let (old, new) = (number(old), number(new));
        self.rows.push(Row::Line(Line { kind, old, new, text: line.to_owned(), strong, unended }));
    }
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
                let strong: Vec<&str> =
                    line.strong.iter().map(|range| line.text.get(range.clone()).unwrap()).collect();
                let end = if line.unended { "\\" } else { "" };
                let strong = if strong.is_empty() { String::new() } else { format!(" {strong:?}") };
                format!("{sign}{}{end}{strong}", line.text)
            }
        };
        Changes::between(old, new).rows.iter().map(shown).collect()
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
            ("a word", "let x = 1;\n", "let x = 2;\n", &["-let x = 1; [\"1;\"]", "+let x = 2; [\"2;\"]"]),
            ("all of a line", "abc\n", "xyz\n", &["-abc", "+xyz"]),
            ("the end of the last line", "a", "a\n", &["-a\\", "+a"]),
            ("line ends", "a\r\nb\r\n", "a\nb\n", &["-a\r", "-b\r", "+a", "+b"]),
            ("line ends that stay", "a\r\nb\r\n", "a\r\nc\r\n", &[" a", "-b", "+c"]),
            (
                "what is far is hidden",
                &many(&[]),
                &many(&[10]),
                &["… 6", " 7", " 8", " 9", "-10", "+10!", " 11", " 12", " 13", "… 7"],
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
            let changes = Changes::between(&old, &new);
            let count = |which: fn(&Line) -> Option<usize>| -> usize {
                let of = |row: &Row| match row {
                    Row::Hidden(lines) => *lines,
                    Row::Line(line) => usize::from(which(line).is_some()),
                };
                changes.rows.iter().map(of).sum()
            };
            if !changes.rows.is_empty() {
                assert_eq!(
                    count(|line| line.old),
                    TextDiff::from_lines(&old, &old).old_len(),
                    "{old:?} {new:?}"
                );
                assert_eq!(
                    count(|line| line.new),
                    TextDiff::from_lines(&new, &new).old_len(),
                    "{old:?} {new:?}"
                );
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
        let changes = Changes::between("a\nb\nc\n", "x\nb\ny\nz\n");
        let pairs: Vec<_> = changes.pairs.iter().map(|pair| (pair.old, pair.new)).collect();
        assert_eq!(pairs, [(Some(0), Some(1)), (Some(2), Some(2)), (Some(3), Some(4)), (None, Some(5))]);
        assert_eq!((changes.added, changes.removed), (3, 2));
        assert_eq!(changes.begins().collect::<Vec<_>>(), [0, 3]);
        assert_eq!((changes.pair_of(4), changes.row_of(3)), (2, 5));
    }

    #[test]
    fn word_comparison_of_large_texts_is_limited() {
        let old = "a b c d\n".repeat(20_000);
        let new: String = (0..40_000).map(|n| format!("{n}\n")).collect();
        assert_eq!(Changes::between(&old, &new).added, 40_000);
        let long = "x ".repeat(100_000);
        assert_eq!(Changes::between(&format!("{long}1"), &format!("{long}2")).rows.len(), 2);
        // Many lines that could be compared by words.
        let pieces = |word: &str| -> String {
            (0..20_000).map(|n| format!("{n}\n{}{word}\n", "x ".repeat(50))).collect()
        };
        let changes = Changes::between(&pieces("a"), &pieces("b"));
        let strong = |row: &&Row| matches!(row, Row::Line(line) if !line.strong.is_empty());
        assert!((100..3000).contains(&changes.rows.iter().filter(strong).count()));
    }
}
