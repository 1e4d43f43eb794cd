//! What the agent can be told to do, a file for each, and what they share.

pub(crate) mod call;
pub(crate) mod calls;
pub(crate) mod diff;
pub(crate) mod tools;
pub(crate) mod watch;

use crate::agent::session::Failure;
use crate::support::{json_line, write_line};
use serde::Serialize;
use std::io::ErrorKind;

/// Whether the exit status is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Good,
    Bad,
}

/// Writes a line to standard output; false if nobody reads it any more, which is no failure: `agent tools | head -1`
/// has got what it wants.
pub(crate) fn print(line: &str) -> Result<bool, Failure> {
    match write_line(line) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(format!("standard output cannot be written: {error}")),
    }
}

/// The same for a value, as a line of JSON.
pub(crate) fn print_json<T: Serialize>(value: &T) -> Result<bool, Failure> {
    print(&json_line(value).map_err(|error| error.to_string())?)
}
