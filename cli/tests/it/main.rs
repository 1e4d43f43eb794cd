//! The commands as processes, each test with its own home directory: the commands with each other,
//! with peers of other authors, and in terminals.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    clippy::wildcard_enum_match_arm,
    clippy::result_large_err,
    clippy::print_stderr,
    clippy::print_stdout,
    unreachable_pub,
    reason = "a test states what it expects, and waits for real processes"
)]

mod agent;
mod attach;
mod bridge;
mod completions;
mod config;
mod context;
mod demo;
mod doctor;
mod edits;
mod endings;
mod files;
mod forms;
mod help;
mod hidden;
#[cfg(target_os = "linux")]
mod hostile;
mod impostor;
mod launch;
mod lines;
mod mcp_config;
mod messages;
mod own_tools;
mod peers;
mod plugin;
mod screen;
mod sidecar;
mod soak;
mod support;
mod systems;
mod tap;
mod terminals;
mod words;
mod writes;

/// Returns a command of the program.
fn program(name: &str) -> std::process::Command {
    let mut command = std::process::Command::new(executable());
    command.arg(name);
    command
}

/// Returns the path of the program. Cargo gives it where the tests are run, and not where they are
/// only checked for another system.
fn executable() -> &'static str {
    option_env!("CARGO_BIN_EXE_ide-mcp").unwrap_or_else(|| panic!("Cargo gives no path of the program"))
}
