//! Colors on standard output.

use anstream::{AutoStream, ColorChoice};
use std::io;

/// Returns true if standard output shows colors: by `--color`, `NO_COLOR`, `CLICOLOR`, `CLICOLOR_FORCE`, and the
/// terminal.
pub(crate) fn has_colors() -> bool {
    AutoStream::choice(&io::stdout()) != ColorChoice::Never
}

/// Returns true if the person wants no colors on a screen: by `--color never`, by every value of `NO_COLOR` but the
/// empty one (<https://no-color.org>), and by a terminal of the type `dumb`.
#[cfg(feature = "editor")]
pub(crate) fn refuses_colors(variable: impl Fn(&str) -> Option<String>) -> bool {
    match ColorChoice::global() {
        ColorChoice::Never => true,
        ColorChoice::Always | ColorChoice::AlwaysAnsi => false,
        ColorChoice::Auto => {
            variable("NO_COLOR").is_some_and(|value| !value.is_empty())
                || variable("TERM").is_some_and(|value| value == "dumb")
        }
    }
}

#[cfg(all(test, feature = "editor"))]
mod tests {
    use super::*;

    #[test]
    fn no_color_and_dumb_terminals_count() {
        let cases = [
            ("nothing", "", "", false),
            ("a terminal", "TERM", "xterm", false),
            ("a dumb terminal", "TERM", "dumb", true),
            ("no color", "NO_COLOR", "0", true),
            ("an empty variable", "NO_COLOR", "", false),
        ];
        for (row, name, value, expected) in cases {
            let variable = |asked: &str| (asked == name).then(|| value.to_owned());
            assert_eq!(refuses_colors(variable), expected, "{row}");
        }
    }
}
