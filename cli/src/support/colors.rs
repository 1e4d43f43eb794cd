//! Colors on standard output.

use std::env;
use std::io::{self, IsTerminal as _};

/// Returns true if standard output shows colors: it is a terminal, and the person wants colors.
pub(crate) fn has_colors() -> bool {
    let variable = |name: &str| env::var_os(name).map(|value| value.to_string_lossy().into_owned());
    io::stdout().is_terminal() && !refuses_colors(variable)
}

/// Returns true if the person wants no colors. Every value of `NO_COLOR` counts except the empty one
/// (<https://no-color.org>), and a terminal of the type `dumb` has no colors.
pub(crate) fn refuses_colors(variable: impl Fn(&str) -> Option<String>) -> bool {
    variable("NO_COLOR").is_some_and(|value| !value.is_empty())
        || variable("TERM").is_some_and(|value| value == "dumb")
}

#[cfg(test)]
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
