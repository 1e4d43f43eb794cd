//! A soak of the editor: many agents that misbehave, a person in a hurry, and a close look at what comes of it.
//!
//! `soak --help` says what has to hold, and what its exit status means.

#![allow(
    clippy::wildcard_enum_match_arm,
    clippy::indexing_slicing,
    reason = "a program takes the events that concern it, and picks from lists by numbers below their length"
)]

mod asks;
mod client;
mod desk;
mod editor;
mod endings;
mod ledger;
mod life;
mod memory;
mod options;
mod person;
mod run;
mod soak;
mod totals;

use editor::{Editor, Home};
use ide_mcp_examples::{complain, say, usage_error};
use options::Options;
use std::env;
use std::process::ExitCode;

/// Something did not hold.
const FAILED: u8 = 1;
/// It cannot begin.
const NOT_BEGUN: u8 = 2;

fn main() -> ExitCode {
    let options = match Options::parse(env::args_os().skip(1)) {
        Ok(Some(options)) => options,
        Ok(None) => return if say(options::USAGE) { ExitCode::SUCCESS } else { ExitCode::from(FAILED) },
        Err(problem) => return end(NOT_BEGUN, &usage_error("soak", &problem.to_string())),
    };
    let beside = || env::current_exe().ok().map(|own| own.with_file_name("editor"));
    let Some(program) = options.editor.clone().or_else(beside) else {
        return end(NOT_BEGUN, "where this program lies is not known; --editor says where the editor does");
    };
    let home = match Home::new() {
        Ok(home) => home,
        Err(error) => return end(NOT_BEGUN, &format!("the directory for temporary files: {error}")),
    };
    let (editor, output) = match Editor::start(&program, &home) {
        Ok(started) => started,
        Err(problem) => return end(NOT_BEGUN, &problem),
    };
    match run::run(&options, &home, &editor, output) {
        Ok(told) => {
            say(&format!("passed: {told}"));
            ExitCode::SUCCESS
        }
        Err(found) => end(FAILED, &found),
    }
}

fn end(status: u8, problem: &str) -> ExitCode {
    complain("soak", problem);
    ExitCode::from(status)
}
