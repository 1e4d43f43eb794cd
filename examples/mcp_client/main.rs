//! A client of any MCP server: makes its requests, prints what comes of each, and ends.
//!
//! `mcp_client [--timeout MS] [--request "METHOD PARAMS"]… stdio COMMAND [ARG…]` starts a server as its child and speaks
//! with it in lines; `… ws PORT` speaks with one on a WebSocket of this machine. All requests are sent once the session
//! is open, so they are served side by side. Each event is a line of JSON. It exits with 1 where no session came about
//! or it ended too early.

#![allow(clippy::wildcard_enum_match_arm, reason = "a program takes the events that concern it")]

mod options;
mod report;
mod stdio;
mod ws;

use ide_mcp_examples::complain;
use options::{Options, Peer};
use std::error::Error;
use std::process::ExitCode;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain("mcp_client", &error.to_string());
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let options = Options::parse()?;
    match &options.peer {
        Peer::Child(command) => stdio::run(command, &options),
        Peer::Port(port) => ws::run(*port, &options),
    }
}
