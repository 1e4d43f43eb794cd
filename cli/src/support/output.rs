//! Writes lines to standard output.

use ide_mcp::ide::kit::is_display_unsafe as is_unsafe;
use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::Formatter;
use std::io::{self, Write};

/// Writes a value as one line of JSON to standard output at once.
///
/// # Errors
/// The errors of [`json_line`] and of [`write_line`].
pub(crate) fn print_json<T: Serialize + ?Sized>(value: &T) -> io::Result<()> {
    write_line(&json_line(value)?)
}

/// One of the errors that Windows reports for a pipe whose reader has gone (`ERROR_PIPE_NOT_CONNECTED`). The standard
/// library has a kind for the two others.
const NOT_CONNECTED: i32 = 233;

/// Returns the kind of the error of a write: [`io::ErrorKind::BrokenPipe`] if no process reads any more.
pub(crate) fn kind_of_write(error: &io::Error) -> io::ErrorKind {
    if cfg!(windows) && error.raw_os_error() == Some(NOT_CONNECTED) {
        io::ErrorKind::BrokenPipe
    } else {
        error.kind()
    }
}

/// Writes a line to standard output at once.
///
/// # Errors
/// The error of the system; [`io::ErrorKind::BrokenPipe`] if no process reads standard output any more.
pub(crate) fn write_line(line: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let written = writeln!(out, "{line}").and_then(|()| out.flush());
    written.map_err(|error| io::Error::new(kind_of_write(&error), error))
}

/// Returns a value as one line of JSON that is safe to display. Characters that would control a
/// terminal become escapes, also in a [`RawValue`](serde_json::value::RawValue). A parser reads the
/// escapes as those characters.
///
/// # Errors
/// [`io::ErrorKind::InvalidData`] if the value cannot be written as JSON.
pub(crate) fn json_line<T: Serialize + ?Sized>(value: &T) -> io::Result<String> {
    let mut line = Vec::new();
    value.serialize(&mut Serializer::with_formatter(&mut line, Plain))?;
    String::from_utf8(line).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

struct Plain;

impl Formatter for Plain {
    fn write_string_fragment<W: ?Sized + Write>(&mut self, out: &mut W, fragment: &str) -> io::Result<()> {
        escape(out, fragment)
    }

    /// Writes raw JSON, which can have line breaks and tabs between its tokens.
    fn write_raw_fragment<W: ?Sized + Write>(&mut self, out: &mut W, fragment: &str) -> io::Result<()> {
        escape(out, &fragment.replace(['\n', '\r', '\t'], " "))
    }
}

fn escape<W: ?Sized + Write>(out: &mut W, text: &str) -> io::Result<()> {
    for piece in text.split_inclusive(is_unsafe) {
        let unsafe_one = piece.chars().next_back().filter(|last| is_unsafe(*last));
        let safe = unsafe_one.and_then(|last| piece.strip_suffix(last)).unwrap_or(piece);
        out.write_all(safe.as_bytes())?;
        // All unsafe characters are below U+10000, so one escape is enough.
        unsafe_one.map_or(Ok(()), |last| write!(out, "\\u{:04x}", u32::from(last)))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;
    use serde_json::value::RawValue;

    #[test]
    fn json_line_is_safe_and_equal() {
        let cases = [
            ("plain", r#"{"a":[1,"✻ ü 😀"]}"#),
            ("escapes", r#"{"a":"\n\\\"\u001b"}"#),
            ("control and direction characters", "{\"\u{9b}2J\":\"a\u{7f}\u{202e}b\u{85}\"}"),
            ("several lines", "{\n\t\"a\":\r\n1e999 }"),
        ];
        for (name, text) in cases {
            let raw: Box<RawValue> = serde_json::from_str(text).unwrap();
            let line = json_line(&[&raw]).unwrap();
            assert!(!line.contains(is_unsafe), "{name}: {line}");
            // A number out of range is valid JSON, but no `Value`.
            let Ok(value) = serde_json::from_str::<Value>(text) else { continue };
            assert_eq!(serde_json::from_str::<Value>(&line).unwrap()[0], value, "{name}: {line}");
            assert_eq!(json_line(&value).unwrap(), line.trim_matches(['[', ']']), "{name}");
        }
    }
}
