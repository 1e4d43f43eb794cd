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
mod screen;
mod workspace;

use ide_mcp_examples::{complain, usage_error, write_line};
use options::{Face, Options};
use std::error::Error;
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
    match options.face() {
        Ok(Face::Screen) => finish(screen::Editor::start(&options), |(editor, poll)| editor.run(poll)),
        Ok(Face::Headless) => finish(headless::Editor::start(&options), |(editor, poll)| editor.run(poll)),
        Err(problem) => end(NOT_BEGUN, &problem),
    }
}

fn finish<T>(
    started: Result<T, Box<dyn Error>>,
    run: impl FnOnce(T) -> Result<(), Box<dyn Error>>,
) -> ExitCode {
    let started = match started {
        Ok(started) => started,
        Err(problem) => return end(NOT_BEGUN, &problem.to_string()),
    };
    match run(started) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => end(FAILED, &problem.to_string()),
    }
}

fn end(status: u8, problem: &str) -> ExitCode {
    complain("editor", problem);
    ExitCode::from(status)
}
