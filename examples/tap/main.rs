//! Sits between coding agents and an editor, and writes down what is said.
//!
//! ```text
//!  agent ──bytes──▶ head ──▶ record ──▶ editor       a thread for each arrow; a line of the transcript is written
//!  agent ◀─────────────────── record ◀──bytes── editor   before its bytes go on
//! ```
//!
//! It works on bytes and not on messages: frames, masks, pings, fragments, and where a read ended are what `replay` needs
//! to feed the core what it was fed, and nothing of them could be changed by a tap that does not look at them. Frames are
//! looked at for one thing alone, the tokens that must not be written down.
//!
//! `tap --help` says how it is used, and what its exit status means.

mod conversation;
mod head;
mod options;
mod pipe;
mod record;
mod redact;
mod run;

use ide_mcp_examples::{complain, usage_error, write_line};
use options::Options;
use run::Tap;
use std::process::ExitCode;

/// It began, and not all went well.
const FAILED: u8 = 1;
/// It could not begin.
const NOT_BEGUN: u8 = 2;

fn main() -> ExitCode {
    let options = match Options::parse(lexopt::Parser::from_env()) {
        Ok(Some(options)) => options,
        Ok(None) => {
            let told = write_line(options::USAGE);
            return if told.is_ok() { ExitCode::SUCCESS } else { ExitCode::from(FAILED) };
        }
        Err(problem) => return not_begun(&usage_error("tap", &problem.to_string())),
    };
    match Tap::start(&options) {
        Ok(tap) => {
            if tap.run() {
                ExitCode::SUCCESS
            } else {
                ExitCode::from(FAILED)
            }
        }
        Err(problem) => not_begun(&problem.to_string()),
    }
}

fn not_begun(problem: &str) -> ExitCode {
    complain("tap", problem);
    ExitCode::from(NOT_BEGUN)
}
