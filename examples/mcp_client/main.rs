//! A client of any MCP server: makes its requests, prints what comes of each, and ends.
//!
//! `mcp_client --help` says how it is used, and what its exit status means.

#![allow(clippy::wildcard_enum_match_arm, reason = "a program takes the events that concern it")]

mod options;
mod report;
mod stdio;
mod ws;

use ide_mcp_examples::Program;
use options::{Options, Peer};
use std::process::ExitCode;

const PROGRAM: Program = Program::new("mcp_client", options::USAGE);

fn main() -> ExitCode {
    PROGRAM.main(Options::parse, |options| {
        PROGRAM.done(match &options.peer {
            Peer::Child(command) => stdio::run(command, &options),
            Peer::Port(port) => ws::run(*port, &options),
        })
    })
}
