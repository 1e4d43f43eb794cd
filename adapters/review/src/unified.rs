//! The text of a unified diff, in the format of GNU diff.

use crate::hunk::Hunk;
use crate::lines::Lines;
use crate::rows::{around, groups};

/// Returns the unified diff that applies these hunks to the base.
pub(crate) fn unified_diff(
    base: &Lines,
    target: &Lines,
    (old_name, new_name): (&str, &str),
    hunks: &[Hunk],
    context: usize,
) -> String {
    if hunks.is_empty() {
        return String::new();
    }
    let mut text = format!("--- {old_name}\n+++ {new_name}\n");
    // The lines that the previous groups have added and removed.
    let (mut added, mut removed) = (0_usize, 0_usize);
    for group in groups(hunks, context) {
        let around = around(group, context, base.len());
        let new_start = around.start.saturating_add(added).saturating_sub(removed);
        let more: usize = group.iter().map(|hunk| hunk.target.len()).sum();
        let fewer: usize = group.iter().map(|hunk| hunk.base.len()).sum();
        let new_length = around.len().saturating_add(more).saturating_sub(fewer);
        let (old, new) = (place(around.start, around.len()), place(new_start, new_length));
        text.push_str(&format!("@@ -{old} +{new} @@\n"));
        let mut at = around.start;
        for hunk in group {
            base.iter(at..hunk.base.start).for_each(|line| push(' ', line, &mut text));
            base.iter(hunk.base.clone()).for_each(|line| push('-', line, &mut text));
            target.iter(hunk.target.clone()).for_each(|line| push('+', line, &mut text));
            at = hunk.base.end;
        }
        base.iter(at..around.end).for_each(|line| push(' ', line, &mut text));
        (added, removed) = (added.saturating_add(more), removed.saturating_add(fewer));
    }
    text
}

/// Returns lines as the head of a group has them: numbers from 1, and the line before an empty place.
fn place(start: usize, length: usize) -> String {
    match length {
        0 => format!("{start},0"),
        1 => start.saturating_add(1).to_string(),
        _ => format!("{},{length}", start.saturating_add(1)),
    }
}

fn push(sign: char, line: &str, text: &mut String) {
    text.push(sign);
    text.push_str(line);
    if !line.ends_with('\n') {
        text.push_str("\n\\ No newline at end of file\n");
    }
}

#[cfg(test)]
mod tests {
    use crate::Review;

    #[test]
    fn unified_diffs_have_the_format_of_diff() {
        let cases = [
            ("equal texts", "a\n", "a\n", ""),
            ("a new file", "", "a\nb\n", "@@ -0,0 +1,2 @@\n+a\n+b\n"),
            ("an emptied file", "a\n", "", "@@ -1 +0,0 @@\n-a\n"),
            (
                "no line end",
                "a\nb",
                "a\nc",
                "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n\\ No newline at end of file\n",
            ),
            ("a gap of twice the context", "1\n2\n3\n4\n", "2\n3\n", "@@ -1,4 +1,2 @@\n-1\n 2\n 3\n-4\n"),
            (
                "two groups",
                "1\n2\n3\n4\n5\n6\n",
                "2\n3\n4\n5\n6\n7\n",
                "@@ -1,2 +1 @@\n-1\n 2\n@@ -6 +5,2 @@\n 6\n+7\n",
            ),
        ];
        for (name, base, target, expected) in cases {
            let diff = Review::new(base, target).unified_diff(("a/x", "b/x"), 1, |_, _| true);
            let expected =
                if expected.is_empty() { String::new() } else { format!("--- a/x\n+++ b/x\n{expected}") };
            assert_eq!(diff, expected, "{name}");
        }
    }
}
