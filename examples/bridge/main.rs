//! Gives the tools of a running editor to any MCP client: an MCP server over standard input and output, and an agent
//! attached to the editor, joined by raw forwarding both ways.
//!
//! `bridge --help` says how it is used, and what its exit status means.

#![allow(clippy::wildcard_enum_match_arm, reason = "a program takes the events that concern it")]

mod attachment;
mod options;
mod pipes;
mod routes;
mod run;

use ide_mcp_examples::{complain, find, usage_error, write_line};
use options::Options;
use run::{Bridge, Failure};
use std::process::ExitCode;

/// It began and could not go on.
const FAILED: u8 = 1;
/// There is no editor, or the command line is wrong.
const NOT_BEGUN: u8 = 2;

fn main() -> ExitCode {
    let options = match Options::parse(lexopt::Parser::from_env()) {
        Ok(Some(options)) => options,
        Ok(None) => {
            let told = write_line(options::USAGE);
            return if told.is_ok() { ExitCode::SUCCESS } else { ExitCode::from(FAILED) };
        }
        Err(problem) => return end(NOT_BEGUN, &usage_error("bridge", &problem.to_string())),
    };
    // Before anybody is greeted: whoever starts it is to hear at once that there is no editor.
    let editor = match find::editor(&options.editor) {
        Ok(editor) => editor,
        Err(nothing) => return end(NOT_BEGUN, &nothing.to_string()),
    };
    match Bridge::new(options.editor, editor)
        .map_err(|error| Failure(error.to_string()))
        .and_then(Bridge::run)
    {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure(why)) => end(FAILED, &why),
    }
}

fn end(status: u8, problem: &str) -> ExitCode {
    complain("bridge", problem);
    ExitCode::from(status)
}
