//! Sits between coding agents and an editor, and records their messages.
//!
//! ```text
//!  agent ──bytes──▶ head ──▶ record ──▶ editor   one thread per arrow, which records
//!  agent ◀─────────────────── record ◀──bytes── editor   the bytes before it forwards them
//! ```
//! The record goes to its sinks, the transcript and the live view, each with its own thread. If nobody reads a sink,
//! the tap still forwards the bytes: the lines wait in a queue, and the sink ends at 16 MiB of them. The live view
//! parses the lines of the transcript on its thread.
//!
//! The tap works on bytes and not on messages. `replay` feeds the library the same frames, masks, pings, fragments
//! and read boundaries as in the recording, and a tap that does not parse them cannot change them. It parses frames
//! only to find the tokens, which it does not record.
//!
//! `ide-mcp tap --help` explains the use and the exit status.

mod conversation;
mod head;
mod live;
mod options;
mod pipe;
mod record;
mod redact;
mod request_line;
mod run;
mod secrets;
mod sink;

use crate::support::{FAILED, NOT_BEGUN, Program};
pub(crate) use options::Options;
use run::Tap;
use std::process::ExitCode;

const PROGRAM: Program = Program("tap");

/// Runs the command. The error is a wrong command line.
pub(crate) fn main(options: Options) -> Result<ExitCode, String> {
    options.check()?;
    let json = options.json;
    Ok(match Tap::start(options) {
        Ok(tap) => ExitCode::from(if tap.run() { 0 } else { FAILED }),
        Err(problem) => PROGRAM.end_with(json, NOT_BEGUN, &problem.to_string()),
    })
}
