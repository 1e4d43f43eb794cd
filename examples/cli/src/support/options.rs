//! Parts of a command line that have the same meaning in every command.

use std::ffi::OsStr;

/// Parses the value of `--port`, which has to be at least `lowest`.
///
/// # Errors
/// A message for the person if it is no port.
pub(crate) fn parse_port(value: &OsStr, lowest: u16) -> Result<u16, String> {
    let port = value.to_str().and_then(|digits| digits.parse().ok());
    port.filter(|port| *port >= lowest)
        .ok_or_else(|| format!("--port takes a number from {lowest} to 65535, not {value:?}"))
}

/// Returns the message about a wrong command line: one line, with a reference to the help.
pub(crate) fn usage_error(command: &str, problem: &str) -> String {
    format!("{problem}; see `{command} --help`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn port_outside_range_is_refused() {
        let cases = [
            ("0", 0, Some(0)),
            ("0", 1, None),
            ("1", 1, Some(1)),
            ("65535", 1, Some(65535)),
            ("65536", 1, None),
            ("-1", 0, None),
            ("http", 0, None),
            ("", 0, None),
        ];
        for (text, lowest, expected) in cases {
            let port = parse_port(OsStr::new(text), lowest);
            assert_eq!(port.as_ref().ok().copied(), expected, "{text:?} from {lowest}");
            if let Err(message) = port {
                assert!(message.contains(&format!("{lowest} to 65535, not {text:?}")), "{message}");
            }
        }
    }
}
