//! The examples as processes: an agent attaches to each editor and gets answers, and each editor
//! removes its lock file.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    clippy::wildcard_enum_match_arm,
    unreachable_pub,
    reason = "a test states what it expects, and waits for real processes"
)]

mod agent;
mod editors;
mod pages;

#[allow(dead_code, reason = "the tests of the commands use the rest of it")]
#[path = "../../cli/tests/it/support/process.rs"]
mod process;
mod std_loop;
mod stdio;
#[allow(dead_code, reason = "a test uses the tools of the example")]
#[path = "../stdio_server.rs"]
mod stdio_server;
mod tracer;

use std::env;
use std::path::Path;
use std::process::Command;

/// Returns a command for the example of this name, which Cargo builds for the tests of its package.
fn program(name: &str) -> Command {
    // The test program is in target/*/deps, and the examples are in target/*/examples.
    let test = env::current_exe().unwrap();
    Command::new(test.parent().and_then(Path::parent).unwrap().join("examples").join(name))
}
