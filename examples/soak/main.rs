//! A soak of the editor: many agents that misbehave, a person in a hurry, and a close look at what comes of it.
//!
//! `soak --help` says what has to hold, and what its exit status means.

#![allow(
    clippy::wildcard_enum_match_arm,
    clippy::indexing_slicing,
    reason = "a program takes the events that concern it, and picks from lists by numbers below their length"
)]

mod arrivals;
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
mod shared;
mod totals;

use editor::{Editor, Home};
use ide_mcp_examples::{NOT_BEGUN, Program, say};
use options::Options;
use std::env;
use std::process::ExitCode;

const PROGRAM: Program = Program::new("soak", options::USAGE);

fn main() -> ExitCode {
    PROGRAM.main(Options::parse, soak)
}

fn soak(options: Options) -> ExitCode {
    let beside = || env::current_exe().ok().map(|own| own.with_file_name("editor"));
    let Some(program) = options.editor.clone().or_else(beside) else {
        return PROGRAM
            .end(NOT_BEGUN, "where this program lies is not known; --editor says where the editor does");
    };
    let home = match Home::new() {
        Ok(home) => home,
        Err(error) => return PROGRAM.end(NOT_BEGUN, &format!("the directory for temporary files: {error}")),
    };
    let (editor, output) = match Editor::start(&program, &home) {
        Ok(started) => started,
        Err(problem) => return PROGRAM.end(NOT_BEGUN, &problem),
    };
    let done = run::run(&options, &home, &editor, output);
    PROGRAM.done(done.map(|told| {
        // Where nobody reads this, the exit status tells.
        say(&format!("passed: {told}"));
    }))
}
