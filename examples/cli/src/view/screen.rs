//! The screen of the rows: its width, and its colors.

use crate::support::has_colors;
use crate::support::transcript::Side;
use crossterm::terminal;
use std::borrow::Cow;
use std::io::{self, IsTerminal as _};
use unicode_width::UnicodeWidthChar as _;

/// Standard output as the place of the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Screen {
    /// The width in columns; `None` for a pipe or a file, whose rows are not cut.
    pub(crate) columns: Option<usize>,
    pub(crate) has_colors: bool,
}

impl Screen {
    /// Returns the screen of standard output, with its present width.
    pub(crate) fn of_stdout() -> Self {
        if !io::stdout().is_terminal() {
            return Self { columns: None, has_colors: false };
        }
        let columns = terminal::size().map_or(80, |(columns, _)| usize::from(columns));
        Self { columns: Some(columns), has_colors: has_colors() }
    }

    /// Returns the text, or its beginning and an ellipsis if it is wider than the screen.
    pub(crate) fn cut<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let Some(columns) = self.columns else { return text.into() };
        // The end of the longest beginning that leaves a column for the ellipsis.
        let (mut width, mut end) = (0_usize, 0);
        for (at, character) in text.char_indices() {
            if width < columns {
                end = at;
            }
            width = width.saturating_add(character.width().unwrap_or_default());
            if width > columns {
                return format!("{}…", text.get(..end).unwrap_or_default()).into();
            }
        }
        text.into()
    }

    /// Returns the text in the color of its sender; errors are red.
    pub(crate) fn paint(&self, text: Cow<'_, str>, from: Option<Side>, is_error: bool) -> String {
        let color = match from {
            _ if !self.has_colors => return text.into_owned(),
            _ if is_error => 31,
            Some(Side::Agent) => 36,
            Some(Side::Editor) => 32,
            None => return text.into_owned(),
        };
        format!("\u{1b}[{color}m{text}\u{1b}[m")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_cut_by_columns() {
        let cases = [
            ("short", 5, "abc", "abc"),
            ("exactly as wide", 3, "abc", "abc"),
            ("one too wide", 3, "abcd", "ab…"),
            ("wide characters", 5, "日本語", "日本…"),
            ("wide, with an odd column", 4, "日本語", "日…"),
            ("wide characters that fit", 6, "日本語", "日本語"),
            ("a combining character at the end", 3, "abce\u{301}", "ab…"),
            ("no room", 0, "a", "…"),
            ("nothing", 0, "", ""),
        ];
        for (name, columns, text, expected) in cases {
            let screen = Screen { columns: Some(columns), has_colors: false };
            assert_eq!(screen.cut(text), expected, "{name}");
        }
        let pipe = Screen { columns: None, has_colors: false };
        assert_eq!(pipe.cut(&"x".repeat(1000)).len(), 1000);
    }

    #[test]
    fn colors_show_sender_or_error() {
        let painted = |has_colors, from, is_error| {
            Screen { columns: None, has_colors }.paint("x".into(), from, is_error)
        };
        assert_eq!(painted(true, Some(Side::Agent), false), "\u{1b}[36mx\u{1b}[m");
        assert_eq!(painted(true, Some(Side::Editor), false), "\u{1b}[32mx\u{1b}[m");
        assert_eq!(painted(true, Some(Side::Editor), true), "\u{1b}[31mx\u{1b}[m");
        assert_eq!(painted(true, None, false), "x");
        assert_eq!(painted(false, Some(Side::Agent), true), "x");
    }
}
