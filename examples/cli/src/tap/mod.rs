//! Sits between coding agents and an editor, and writes down what is said.
//!
//! ```text
//!  agent ──bytes──▶ head ──▶ record ──▶ editor       a thread for each arrow; a line of the transcript is written
//!  agent ◀─────────────────── record ◀──bytes── editor   before its bytes go on
//! ```
//! It is written by a thread of its own, and where nobody takes it the bytes go on all the same: the lines wait, and from
//! 16 MiB on the transcript ends.
//!
//! It works on bytes and not on messages: frames, masks, pings, fragments, and where a read ended are what `replay` needs
//! to feed the core what it was fed, and nothing of them could be changed by a tap that does not look at them. Frames are
//! looked at for one thing alone, the tokens that must not be written down.
//!
//! `ide-mcp tap --help` says how it is used, and what its exit status means.

mod conversation;
mod head;
mod options;
mod pipe;
mod record;
mod redact;
mod request_line;
mod run;
mod secrets;

use crate::support::{FAILED, NOT_BEGUN, Program};
use lexopt::Parser;
use options::Options;
use run::Tap;
use std::process::ExitCode;

const PROGRAM: Program = Program::new("tap", options::USAGE);

pub(crate) fn main(parser: Parser) -> ExitCode {
    PROGRAM.main(parser, Options::parse, |options| match Tap::start(&options) {
        Ok(tap) => ExitCode::from(if tap.run() { 0 } else { FAILED }),
        Err(problem) => PROGRAM.end(NOT_BEGUN, &problem.to_string()),
    })
}
