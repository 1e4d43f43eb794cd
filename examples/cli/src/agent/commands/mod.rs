//! The commands of the agent, one file each, and the code that they share.

pub(crate) mod call;
pub(crate) mod calls;
pub(crate) mod diff;
pub(crate) mod tools;
pub(crate) mod watch;

use crate::agent::session::Failure;
use crate::support::{json_line, write_line};
use serde::Serialize;
use std::io::ErrorKind;

/// The outcome of a command: exit status 0 if `Good`, 1 if `Bad`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Good,
    Bad,
}

/// Writes a line to standard output. Returns false if the reader has closed the pipe, which is no
/// failure: `agent tools | head -1` has the line that it needs.
pub(crate) fn print(line: &str) -> Result<bool, Failure> {
    match write_line(line) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(format!("standard output cannot be written: {error}")),
    }
}

/// Writes a value to standard output as a line of JSON, like [`print()`].
pub(crate) fn print_json<T: Serialize>(value: &T) -> Result<bool, Failure> {
    print(&json_line(value).map_err(|error| error.to_string())?)
}
