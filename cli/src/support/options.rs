//! Parts of a command line that have the same meaning in every command.

use crate::support::help::{Help, Value};
use crate::support::nearest::did_you_mean;
use lexopt::Error;
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

/// Returns the message about a wrong command line: one line, with the nearest option if one is misspelled,
/// and with a reference to the help.
pub(crate) fn usage_error(command: &str, help: Help, error: &Error) -> String {
    let problem = match error {
        Error::UnexpectedOption(name) => {
            let names: Vec<&str> = help.options().flat_map(|option| option.names).collect();
            format!("there is no option {name}{}", did_you_mean(name, names))
        }
        Error::MissingValue { option: Some(name) } => format!("{name} needs a value{}", value_of(help, name)),
        Error::UnexpectedValue { option, value } => {
            format!("{option} takes no value, but {value:?} was given")
        }
        other => other.to_string(),
    };
    format!("{problem}; see `{command} --help`")
}

/// Returns the value of an option as the help writes it, for the end of a sentence.
fn value_of(help: Help, name: &str) -> String {
    let option = help.options().find(|option| option.names.contains(&name));
    match option.and_then(|option| option.value) {
        Some(Value::Choices(choices)) => format!(": {}", choices.join(", ")),
        Some(Value::File) => ": a file".into(),
        Some(Value::Folder) => ": a directory".into(),
        Some(Value::Port) => ": a port".into(),
        Some(Value::Tool) => ": a tool".into(),
        Some(Value::Other(value)) => format!(": {value}"),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lexopt::Arg;

    const HELP: Help = Help(
        "\
Do something.

  --lock FILE  the lock file
  --cwd DIR    the directory
  -n, --port N
  --side left|right
  --json",
    );

    #[test]
    fn wrong_option_error_names_the_remedy() {
        // Takes each option of the help, as the commands do.
        let parse = |words: &[&str]| {
            let mut parser = lexopt::Parser::from_args(words);
            while let Some(argument) = parser.next()? {
                match argument {
                    Arg::Long("lock" | "cwd" | "port" | "side") | Arg::Short('n') => drop(parser.value()?),
                    Arg::Long("json") => {}
                    other => return Err(other.unexpected()),
                }
            }
            Ok(())
        };
        let rows: &[(&str, &[&str], &str)] = &[
            ("a misspelled option", &["--prot", "1"], "there is no option --prot (did you mean --port?)"),
            ("an unknown option", &["--verbose"], "there is no option --verbose"),
            ("an unknown letter", &["-x"], "there is no option -x"),
            ("a missing file", &["--lock"], "--lock needs a value: a file"),
            ("a missing directory", &["--json", "--cwd"], "--cwd needs a value: a directory"),
            ("a missing number", &["--port"], "--port needs a value: N"),
            ("a missing number of a letter", &["-n"], "-n needs a value: N"),
            ("a missing choice", &["--side"], "--side needs a value: left, right"),
            ("a value too many", &["--json=yes"], "--json takes no value, but \"yes\" was given"),
            ("a word too many", &["x"], "unexpected argument \"x\""),
        ];
        for (name, words, expected) in rows {
            let message = usage_error("ide-mcp some", HELP, &parse(words).unwrap_err());
            assert_eq!(message, format!("{expected}; see `ide-mcp some --help`"), "{name}");
        }
    }

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
