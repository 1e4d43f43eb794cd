//! The screen that rows are for: its width, and its colors.

use crate::support::transcript::Side;
use crate::support::{columns, has_colors, wrap};
use anstyle::AnsiColor;
use std::borrow::Cow;

/// The indentation of wrapped rows: below the number of the connection.
const INDENT: &str = "          ";

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
        Self { columns: columns::of_stdout(), has_colors: has_colors() }
    }

    /// Returns the text, or its beginning and an ellipsis if it is wider than the screen.
    pub(crate) fn cut<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.columns.map_or_else(|| text.into(), |columns| columns::cut(text, columns))
    }

    /// Returns the text in as many rows as it needs; rows after the first are indented.
    pub(crate) fn wrap<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let Some(columns) = self.columns.filter(|columns| columns::width(text) > *columns) else {
            return text.into();
        };
        let rows = wrap::rows(text, columns.saturating_sub(INDENT.len()));
        let rows: Vec<&str> = rows.into_iter().filter_map(|row| text.get(row)).map(str::trim_end).collect();
        rows.join(&format!("\n{INDENT}")).into()
    }

    /// Returns the text in the color of its sender; errors are red.
    pub(crate) fn paint(&self, text: Cow<'_, str>, from: Option<Side>, is_error: bool) -> String {
        let color = match from {
            _ if !self.has_colors => return text.into_owned(),
            _ if is_error => AnsiColor::Red,
            Some(Side::Agent) => AnsiColor::Cyan,
            Some(Side::Editor) => AnsiColor::Green,
            None => return text.into_owned(),
        };
        let style = color.on_default();
        format!("{style}{text}{style:#}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_cut_only_at_a_terminal() {
        let screen = |columns| Screen { columns, has_colors: false };
        assert_eq!(screen(Some(3)).cut("abcd"), "ab…");
        assert_eq!(screen(None).cut(&"x".repeat(1000)).len(), 1000);
    }

    #[test]
    fn colors_show_sender_or_error() {
        let painted = |has_colors, from, is_error| {
            Screen { columns: None, has_colors }.paint("x".into(), from, is_error)
        };
        assert_eq!(painted(true, Some(Side::Agent), false), "\u{1b}[36mx\u{1b}[0m");
        assert_eq!(painted(true, Some(Side::Editor), false), "\u{1b}[32mx\u{1b}[0m");
        assert_eq!(painted(true, Some(Side::Editor), true), "\u{1b}[31mx\u{1b}[0m");
        assert_eq!(painted(true, None, false), "x");
        assert_eq!(painted(false, Some(Side::Agent), true), "x");
    }
}
