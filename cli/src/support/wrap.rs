//! Soft wrap: breaks a line into rows.

use super::columns::glyphs;
use std::ops::Range;

/// Returns the rows of a line as byte ranges. Together and in order they are the whole line; there is at least one.
///
/// A row has at most `columns` columns, and may have one space more: the column that is kept free for the cursor after
/// the last character. A row ends after a space unless this would leave more than half of it empty. A character that is
/// wider than a row has a row of its own. Columns count from 0 in each row, also for tabs.
pub(crate) fn rows(line: &str, columns: usize) -> Vec<Range<usize>> {
    let (mut rows, mut start) = (Vec::new(), 0_usize);
    while let Some(length) = line.get(start..).and_then(|rest| first(rest, columns.max(1))) {
        rows.push(start..start.saturating_add(length));
        start = start.saturating_add(length);
    }
    rows.push(start..line.len());
    rows
}

/// Returns the length of the first row if another row follows.
fn first(rest: &str, columns: usize) -> Option<usize> {
    let (mut after_space, mut start) = (None, 0);
    for glyph in glyphs(rest) {
        // A combining mark stays with the space before it, and other joined characters with the first of them.
        if !glyph.starts && after_space == Some(glyph.byte) {
            let mark = rest.get(glyph.byte..).and_then(|rest| rest.chars().next());
            after_space = mark.and_then(|mark| glyph.byte.checked_add(mark.len_utf8()));
        }
        if glyph.starts {
            start = glyph.byte;
        }
        let after = glyph.column.saturating_add(glyph.width);
        let space = rest.as_bytes().get(glyph.byte).filter(|byte| matches!(byte, b' ' | b'\t'));
        let room = if space == Some(&b' ') { columns.saturating_add(1) } else { columns };
        if after > room && start > 0 && glyph.width > 0 {
            return Some(after_space.unwrap_or(start));
        }
        if space.is_some() && after > columns / 2 {
            after_space = glyph.byte.checked_add(1);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::support::columns::width;

    fn shown(line: &str, columns: usize) -> Vec<&str> {
        rows(line, columns).into_iter().map(|row| line.get(row).unwrap()).collect()
    }

    #[test]
    fn lines_wrap_at_words_and_columns() {
        let cases: &[(&str, &str, usize, &[&str])] = &[
            ("empty", "", 4, &[""]),
            ("fits", "abcd", 4, &["abcd"]),
            ("one column too many", "abcde", 4, &["abcd", "e"]),
            ("at a word", "ab cd ef", 6, &["ab cd ", "ef"]),
            ("a word that fills its row", "abcd ef", 4, &["abcd ", "ef"]),
            ("several spaces", "abcd   ef", 4, &["abcd ", "  ef"]),
            ("a long word after an indentation", "  abcdefgh", 6, &["  abcd", "efgh"]),
            ("wide", "\u{6f22}\u{6f22}\u{6f22}", 5, &["\u{6f22}\u{6f22}", "\u{6f22}"]),
            ("wider than a row", "\u{6f22}\u{6f22}", 1, &["\u{6f22}", "\u{6f22}"]),
            ("a tab", "abc\tdef", 6, &["abc\t", "def"]),
            ("a tab that does not fit", "abcde\tf", 6, &["abcde", "\tf"]),
            (
                "combining marks stay with their letter",
                "abcde\u{301}\u{301}f",
                5,
                &["abcde\u{301}\u{301}", "f"],
            ),
            ("no columns", "ab", 0, &["a", "b"]),
        ];
        for (name, line, columns, expected) in cases {
            assert_eq!(shown(line, *columns), *expected, "{name}");
        }
    }

    #[test]
    fn any_rows_joined_are_the_line() {
        arbtest::arbtest(|u| {
            let alphabet = ["a", "b", " ", "\t", "\u{6f22}", "\u{301}", "\u{1b}", "\u{1f980}"];
            let mut line = String::new();
            for _ in 0..u.int_in_range(0..=60)? {
                line.push_str(u.choose(&alphabet)?);
            }
            let columns = u.int_in_range(2..=12)?;
            let rows = shown(&line, columns);
            assert_eq!(rows.concat(), line);
            for (at, row) in rows.iter().enumerate() {
                let is_spaced = row.trim_end_matches('\u{301}').ends_with(' ');
                let room = if is_spaced { columns + 1 } else { columns.max(4) };
                assert!(width(row) <= room, "{columns}: {row:?} in {rows:?}");
                assert!(!row.is_empty() || line.is_empty(), "{rows:?}");
                assert!(at == 0 || !row.starts_with('\u{301}'), "{rows:?}");
            }
            Ok(())
        });
    }
}
