//! Colors on standard output.

use anstream::{AutoStream, ColorChoice};
use std::env;
use std::io::{self, IsTerminal as _};

/// Turns colors on or off for the whole program, by `--color` or else by the environment variables.
pub(crate) fn choose_colors(choice: ColorChoice) {
    let variable = |name: &str| env::var(name).ok();
    let is_off = choice == ColorChoice::Auto && is_unforced(variable, io::stdout().is_terminal());
    if is_off { ColorChoice::Never } else { choice }.write_global();
}

/// Returns true if colors must be off although `CLICOLOR_FORCE` is set: 0 does not force them
/// (<https://bixense.com/clicolors>), but anstream takes every value except the empty one as a yes.
fn is_unforced(variable: impl Fn(&str) -> Option<String>, is_terminal: bool) -> bool {
    let is = |name: &str, value: &str| variable(name).is_some_and(|found| found == value);
    let shows_none = !is_terminal || is("CLICOLOR", "0") || variable("TERM").is_none() || is("TERM", "dumb");
    is("CLICOLOR_FORCE", "0") && shows_none
}

/// Returns true if standard output shows colors: by `--color`, `NO_COLOR`, `CLICOLOR`, `CLICOLOR_FORCE`, and the
/// terminal.
pub(crate) fn has_colors() -> bool {
    AutoStream::choice(&io::stdout()) != ColorChoice::Never
}

/// Returns true if the user wants no colors on a screen: by `--color never`, by any nonempty value of `NO_COLOR`
/// (<https://no-color.org>), or by a terminal of the type `dumb`.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clicolor_force_0_does_not_force_colors() {
        let rows: [(&str, &[(&str, &str)], bool, bool); 8] = [
            ("not set, in a pipe", &[("TERM", "xterm")], false, false),
            ("1, in a pipe", &[("CLICOLOR_FORCE", "1"), ("TERM", "xterm")], false, false),
            ("empty, in a pipe", &[("CLICOLOR_FORCE", ""), ("TERM", "xterm")], false, false),
            ("0, in a pipe", &[("CLICOLOR_FORCE", "0"), ("TERM", "xterm")], false, true),
            ("0, at a terminal", &[("CLICOLOR_FORCE", "0"), ("TERM", "xterm")], true, false),
            ("0, at a dumb terminal", &[("CLICOLOR_FORCE", "0"), ("TERM", "dumb")], true, true),
            ("0, without TERM", &[("CLICOLOR_FORCE", "0")], true, true),
            (
                "0, with CLICOLOR=0",
                &[("CLICOLOR_FORCE", "0"), ("CLICOLOR", "0"), ("TERM", "xterm")],
                true,
                true,
            ),
        ];
        for (name, variables, is_terminal, expected) in rows {
            let variable = |wanted: &str| {
                variables.iter().find(|(name, _)| *name == wanted).map(|(_, value)| (*value).to_owned())
            };
            assert_eq!(is_unforced(variable, is_terminal), expected, "{name}");
        }
    }

    #[cfg(feature = "editor")]
    #[test]
    fn no_color_and_dumb_terminals_count() {
        let cases = [
            ("nothing", "", "", false),
            ("a terminal", "TERM", "xterm", false),
            ("a dumb terminal", "TERM", "dumb", true),
            ("NO_COLOR", "NO_COLOR", "0", true),
            ("an empty NO_COLOR", "NO_COLOR", "", false),
        ];
        for (row, name, value, expected) in cases {
            let variable = |wanted: &str| (wanted == name).then(|| value.to_owned());
            assert_eq!(refuses_colors(variable), expected, "{row}");
        }
    }
}
