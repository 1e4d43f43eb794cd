//! Finds the differences within lines.

use similar::{ChangeTag, DiffOp, InlineChangeOptions, TextDiff};
use std::ops::Range;

/// The maximum number of bytes that one call of [`Review::rows`](super::Review::rows) compares by words, in both texts
/// together. At optimization level 1, so many bytes of random words take 0.2 s, so the editor is not blocked. Beyond
/// this, a line has one range, from its first to its last difference.
pub(crate) const MAX_COMPARED_BYTES: usize = 64 * 1024;

/// The maximum number of lines of a hunk that are compared by words. A larger block was rewritten, and its words
/// would be found in lines that have nothing to do with them.
pub(crate) const MAX_BLOCK_LINES: usize = 50;

/// How many more bytes may be compared by words.
#[derive(Debug)]
pub(crate) struct Budget(usize);

impl Default for Budget {
    fn default() -> Self {
        Self(MAX_COMPARED_BYTES)
    }
}

/// The differing ranges of each line of one side.
pub(crate) type Ranges = Vec<Vec<Range<usize>>>;

/// Returns the ranges of the lines of a hunk, in the base and in the target.
pub(crate) fn inner_ranges(old: &[&str], new: &[&str], budget: &mut Budget) -> (Ranges, Ranges) {
    let (mut of_old, mut of_new) = (vec![Vec::new(); old.len()], vec![Vec::new(); new.len()]);
    if old.len() != new.len() {
        return (of_old, of_new);
    }
    let bytes = old.iter().chain(new).map(|line| line.len()).sum();
    if let Some(rest) = budget.0.checked_sub(bytes).filter(|_| old.len() <= MAX_BLOCK_LINES) {
        budget.0 = rest;
        by_words(old, new, (&mut of_old, &mut of_new));
    }
    for ((old, new), ranges) in old.iter().zip(new).zip(of_old.iter_mut().zip(&mut of_new)) {
        let (old, new) = (content(old), content(new));
        if old == new {
            continue;
        }
        let (before, after) = common(old, new);
        for (ranges, line) in [(ranges.0, old), (ranges.1, new)] {
            // Words that differ can share letters at the ends of the line, so the ranges leave out what both lines
            // begin and end with.
            let end = line.len().saturating_sub(after);
            ranges.iter_mut().for_each(|range| *range = range.start.max(before)..range.end.min(end));
            ranges.retain(|range| range.start < range.end);
            // No range is left if the lines have too little in common to be compared by words, or if all words of this
            // line are in the other one: then mark the place of the difference.
            if ranges.is_empty() {
                ranges.push(before..end);
            }
        }
    }
    (of_old, of_new)
}

/// Adds the words that differ.
fn by_words(old: &[&str], new: &[&str], (of_old, of_new): (&mut Ranges, &mut Ranges)) {
    let diff = TextDiff::from_slices(old, new);
    let all = DiffOp::Replace { old_index: 0, old_len: old.len(), new_index: 0, new_len: new.len() };
    let mut options = InlineChangeOptions::new();
    options.semantic_cleanup(true);
    for change in diff.iter_inline_changes_with_options(&all, options) {
        let (side, number) = match change.tag() {
            ChangeTag::Insert => (&mut *of_new, change.new_index()),
            ChangeTag::Delete | ChangeTag::Equal => (&mut *of_old, change.old_index()),
        };
        let Some(ranges) = number.and_then(|number| side.get_mut(number)) else { continue };
        let mut at = 0_usize;
        for (is_changed, piece) in change.values() {
            let end = at.saturating_add(piece.len());
            if *is_changed {
                ranges.push(at..end);
            }
            at = end;
        }
    }
}

/// Returns a line without its end.
fn content(line: &str) -> &str {
    line.strip_suffix('\n').unwrap_or(line)
}

/// Returns the numbers of bytes that two lines begin and end with, cut at characters, without an overlap.
fn common(old: &str, new: &str) -> (usize, usize) {
    fn equal(pairs: impl Iterator<Item = (char, char)>) -> usize {
        pairs.take_while(|(old, new)| old == new).map(|(old, _)| old.len_utf8()).sum()
    }
    let before = equal(old.chars().zip(new.chars()));
    let rest = |line| str::get(line, before..).unwrap_or_default();
    (before, equal(rest(old).chars().rev().zip(rest(new).chars().rev())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranges(old: &[&str], new: &[&str]) -> (Vec<Vec<String>>, Vec<Vec<String>>) {
        let (of_old, of_new) = inner_ranges(old, new, &mut Budget::default());
        let text = |lines: &[&str], ranges: Ranges| {
            let line = |(line, ranges): (&&str, Vec<Range<usize>>)| {
                ranges.into_iter().map(|range| line.get(range).unwrap().to_owned()).collect()
            };
            lines.iter().zip(ranges).map(line).collect()
        };
        (text(old, of_old), text(new, of_new))
    }

    #[test]
    fn differing_words_are_found() {
        let cases: &[(&str, &str, &str, &[&str], &[&str])] = &[
            ("a word", "let x = 1;\n", "let x = 2;\n", &["1"], &["2"]),
            ("two words", "a big dog ran far\n", "a red dog ran off\n", &["big", "far"], &["red", "off"]),
            ("an added word", "the dog ran\n", "the big dog ran\n", &[""], &["big "]),
            ("nothing in common", "abc", "xyz", &["abc"], &["xyz"]),
            ("an edge of a word", "(a, b) c1 d2\n", "(x, b) c1 d3\n", &["a,", "d2"], &["x,", "d3"]),
            ("a letter of a line with one word", "abcdef", "abXdef", &["c"], &["X"]),
            ("a line end", "a", "a\n", &[], &[]),
            ("a repeated letter", "aa", "aaa", &[""], &["a"]),
            ("characters of several bytes", "\u{e9}\u{e8}", "\u{e9}\u{e7}", &["\u{e8}"], &["\u{e7}"]),
        ];
        for (name, old, new, of_old, of_new) in cases {
            let (old, new) = ranges(&[old], &[new]);
            assert_eq!(
                (old[0].as_slice(), new[0].as_slice()),
                (strings(of_old).as_slice(), strings(of_new).as_slice()),
                "{name}"
            );
        }
    }

    fn strings(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn blocks_of_other_lengths_have_no_ranges() {
        assert_eq!(ranges(&["a b\n"], &["a c\n", "d\n"]), (vec![vec![]], vec![vec![], vec![]]));
    }

    #[test]
    fn comparison_by_words_has_bounds() {
        // Two words differ, so a comparison by words has two ranges, and any other has one.
        let block = |a: &str, lines: usize| vec![format!("{a} same same same {a}\n"); lines];
        let count = |old: &[String], new: &[String], budget: usize| {
            let (old, new): (Vec<&str>, Vec<&str>) =
                (old.iter().map(String::as_str).collect(), new.iter().map(String::as_str).collect());
            let mut budget = Budget(budget);
            (inner_ranges(&old, &new, &mut budget).0[0].len(), budget.0)
        };
        let (old, new) = (block("a", MAX_BLOCK_LINES), block("b", MAX_BLOCK_LINES));
        let bytes: usize = old.iter().chain(&new).map(String::len).sum();
        assert_eq!(count(&old, &new, bytes), (2, 0), "the maximum number of lines and bytes");
        assert_eq!(count(&old, &new, bytes - 1), (1, bytes - 1), "one byte more");
        let (old, new) = (block("a", MAX_BLOCK_LINES + 1), block("b", MAX_BLOCK_LINES + 1));
        assert_eq!(count(&old, &new, MAX_COMPARED_BYTES), (1, MAX_COMPARED_BYTES), "one line more");
    }
}
