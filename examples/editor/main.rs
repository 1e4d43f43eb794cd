//! An editor that coding agents attach to: one thread, one loop.
//!
//! `editor --help` says how it is used, and what its exit status means.
#![allow(clippy::wildcard_enum_match_arm, reason = "a program takes the events that concern it")]

mod diagnostics;
mod diffs;
mod folders;
mod headless;
mod listen;
mod options;
mod read;
mod workspace;

use ide_mcp_examples::{complain, usage_error, write_line};
use options::Options;
use std::process::ExitCode;

/// It began and could not go on.
const FAILED: u8 = 1;
/// It could not begin.
const NOT_BEGUN: u8 = 2;

fn main() -> ExitCode {
    let options = match Options::parse() {
        Ok(Some(options)) => options,
        Ok(None) => {
            let told = write_line(options::USAGE);
            return if told.is_ok() { ExitCode::SUCCESS } else { ExitCode::from(FAILED) };
        }
        Err(problem) => return end(NOT_BEGUN, &usage_error("editor", &problem.to_string())),
    };
    let (editor, poll) = match headless::Editor::start(&options) {
        Ok(started) => started,
        Err(problem) => return end(NOT_BEGUN, &problem.to_string()),
    };
    match editor.run(poll) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => end(FAILED, &problem.to_string()),
    }
}

fn end(status: u8, problem: &str) -> ExitCode {
    complain("editor", problem);
    ExitCode::from(status)
}
