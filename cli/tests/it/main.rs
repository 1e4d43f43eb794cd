//! Runs the commands as processes: with each other, with peers by other authors, and in terminals. Each test has its own
//! home directory.
#![cfg_attr(windows, allow(dead_code, unused_imports, reason = "only a part of the tests runs on Windows"))]
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

// On Windows only the tests of the commands with each other run. The other tests need Unix: modes and owners of files,
// symbolic links, signals, a POSIX shell, or tmux. tests/lab/platforms/windows_program.sh has the rest for Windows.
#[cfg(unix)]
mod agent;
mod attach;
mod bridge;
mod completions;
#[cfg(unix)]
mod config;
mod context;
#[cfg(unix)]
mod demo;
#[cfg(unix)]
mod doctor;
#[cfg(unix)]
mod edits;
#[cfg(unix)]
mod endings;
#[cfg(unix)]
mod files;
#[cfg(unix)]
mod forms;
#[cfg(unix)]
mod help;
#[cfg(unix)]
mod hidden;
#[cfg(target_os = "linux")]
mod hostile;
mod impostor;
#[cfg(unix)]
mod launch;
mod lines;
#[cfg(unix)]
mod mcp_config;
mod messages;
#[cfg(unix)]
mod own_tools;
// Its editor accepts a token from an earlier run, which needs a system that reports the owner of a client.
#[cfg(target_os = "linux")]
mod peers;
#[cfg(unix)]
mod plugin;
#[cfg(unix)]
mod screen;
mod sidecar;
#[cfg(unix)]
mod soak;
mod support;
#[cfg(unix)]
mod systems;
#[cfg(unix)]
mod tap;
#[cfg(unix)]
mod terminals;
#[cfg(unix)]
mod words;
#[cfg(unix)]
mod writes;

/// Returns a command of the program.
fn program(name: &str) -> std::process::Command {
    let mut command = std::process::Command::new(executable());
    command.arg(name);
    command
}

/// Returns the path of the program: the one that Cargo gives or, if something else has built the tests, the one
/// beside their folder.
fn executable() -> &'static str {
    static BESIDE: std::sync::OnceLock<String> = std::sync::OnceLock::new();
    let beside = || {
        let tests = std::env::current_exe().unwrap();
        let program =
            tests.ancestors().nth(2).unwrap().join(format!("ide-mcp{}", std::env::consts::EXE_SUFFIX));
        program.to_str().unwrap().to_owned()
    };
    option_env!("CARGO_BIN_EXE_ide-mcp").unwrap_or_else(|| BESIDE.get_or_init(beside))
}
