//! Compares two texts by lines.

use super::hunk::{Hunk, Verdict};
use super::lines::Lines;
use similar::{Algorithm, DiffOp, capture_diff_slices};

/// The maximum number of lines that are compared, counted in both texts together, without the lines that both begin or
/// end with. With more lines, all of them are one hunk. Two random texts of this size are the hardest that we found; at
/// optimization level 1 they take 0.2 s, so an editor is not blocked.
pub(crate) const MAX_COMPARED_LINES: usize = 40_000;

/// Returns the hunks between two texts, all undecided.
pub(crate) fn compare(base: &Lines, target: &Lines) -> Vec<Hunk> {
    let (base_lines, target_lines): (Vec<&str>, Vec<&str>) =
        (base.iter(0..base.len()).collect(), target.iter(0..target.len()).collect());
    let both = || base_lines.iter().zip(&target_lines);
    let before = both().take_while(|(old, new)| old == new).count();
    let shorter = base_lines.len().min(target_lines.len()).saturating_sub(before);
    let from_the_end = base_lines.iter().rev().zip(target_lines.iter().rev()).take(shorter);
    let after = from_the_end.take_while(|(old, new)| old == new).count();
    let ends = (base_lines.len().saturating_sub(after), target_lines.len().saturating_sub(after));
    let (old, new) = (base_lines.get(before..ends.0), target_lines.get(before..ends.1));
    let (Some(old), Some(new)) = (old, new) else { return Vec::new() };
    if old.is_empty() && new.is_empty() {
        return Vec::new();
    }
    if old.len().saturating_add(new.len()) > MAX_COMPARED_LINES {
        return vec![Hunk { base: before..ends.0, target: before..ends.1, verdict: Verdict::Undecided }];
    }
    // Myers' algorithm in Git's form, whose search is bounded.
    joined(&capture_diff_slices(Algorithm::Myers, old, new), before)
}

/// Turns operations into hunks, and joins those that touch. `offset` is added to their line numbers.
fn joined(ops: &[DiffOp], offset: usize) -> Vec<Hunk> {
    let mut hunks: Vec<Hunk> = Vec::new();
    for op in ops.iter().filter(|op| !matches!(op, DiffOp::Equal { .. })) {
        let (old, new) = (op.old_range(), op.new_range());
        let shifted = |at: usize| at.saturating_add(offset);
        let (base, target) = (shifted(old.start)..shifted(old.end), shifted(new.start)..shifted(new.end));
        match hunks.last_mut() {
            Some(last) if last.base.end == base.start && last.target.end == target.start => {
                (last.base.end, last.target.end) = (base.end, target.end);
            }
            _ => hunks.push(Hunk { base, target, verdict: Verdict::Undecided }),
        }
    }
    hunks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hunks(base: &str, target: &str) -> Vec<(std::ops::Range<usize>, std::ops::Range<usize>)> {
        let hunks = compare(&Lines::new(base.into()), &Lines::new(target.into()));
        hunks.into_iter().map(|hunk| (hunk.base, hunk.target)).collect()
    }

    #[test]
    fn hunks_are_runs_of_different_lines() {
        let cases = [
            ("equal", "a\nb", "a\nb", vec![]),
            ("both empty", "", "", vec![]),
            ("an empty base", "", "a\nb\n", vec![(0..0, 0..2)]),
            ("an empty target", "a\n", "", vec![(0..1, 0..0)]),
            ("added and removed", "a\nb\nc\n", "a\nc\nd\n", vec![(1..2, 1..1), (3..3, 2..3)]),
            ("a missing line end at the end", "a\nb", "a\nb\n", vec![(1..2, 1..2)]),
            ("a carriage return", "a\r\nb\n", "a\nb\n", vec![(0..1, 0..1)]),
            ("a lone carriage return", "a\rb\n", "a\rc\n", vec![(0..1, 0..1)]),
            ("a repeated line", "a\na\n", "a\na\na\n", vec![(2..2, 2..3)]),
        ];
        for (name, base, target, expected) in cases {
            assert_eq!(hunks(base, target), expected, "{name}");
        }
    }

    #[test]
    fn touching_operations_are_one_hunk() {
        let ops = [
            DiffOp::Equal { old_index: 0, new_index: 0, len: 1 },
            DiffOp::Delete { old_index: 1, old_len: 2, new_index: 1 },
            DiffOp::Insert { old_index: 3, new_index: 1, new_len: 1 },
            DiffOp::Equal { old_index: 3, new_index: 2, len: 1 },
            DiffOp::Delete { old_index: 4, old_len: 1, new_index: 3 },
        ];
        let places = joined(&ops, 10).into_iter().map(|hunk| (hunk.base, hunk.target)).collect::<Vec<_>>();
        assert_eq!(places, [(11..13, 11..12), (14..15, 13..13)]);
    }

    #[test]
    fn too_many_lines_are_one_hunk() {
        // The first and the last line differ, and half of the others are equal.
        let text = |mark: &str, lines: usize| -> String {
            let lines =
                (0..lines).map(|n| if n % 2 == 0 { format!("{mark}{n}\n") } else { format!("{n}\n") });
            lines.collect::<String>() + mark + "end\n"
        };
        let half = MAX_COMPARED_LINES / 2;
        let within = hunks(&text("a", half - 1), &text("b", half - 1));
        assert_eq!(within.len(), half / 2, "the maximum number of lines");
        let beyond = hunks(&text("a", half - 1), &text("b", half));
        assert_eq!(beyond, [(0..half, 0..half + 1)], "one line more");
        let shared = "same\n".repeat(MAX_COMPARED_LINES);
        let in_between = |line: &str| format!("{shared}{line}{shared}");
        assert_eq!(
            hunks(&in_between("a\n"), &in_between("b\n")),
            [(MAX_COMPARED_LINES..MAX_COMPARED_LINES + 1, MAX_COMPARED_LINES..MAX_COMPARED_LINES + 1)],
            "equal lines at the ends do not count"
        );
    }
}
