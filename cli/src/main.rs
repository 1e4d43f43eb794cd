//! `ide-mcp`: an editor for coding agents, an agent that attaches to editors, and tools that
//! examine both.
//!
//! Each command is a module with its own options, and a feature of the package. [`command_line`] puts them together,
//! and [`support`] has the code that the commands share.

#![allow(clippy::wildcard_enum_match_arm, reason = "a command takes the events that concern it")]

#[cfg(feature = "agent")]
mod agent;
#[cfg(feature = "bridge")]
mod bridge;
#[cfg(feature = "clap")]
mod command_line;
#[cfg(feature = "completions")]
mod completions;
#[cfg(feature = "demo")]
mod demo;
#[cfg(feature = "doctor")]
mod doctor;
#[cfg(feature = "editor")]
mod editor;
#[cfg(feature = "man")]
mod man;
#[cfg(feature = "mcp-config")]
mod mcp_config;
#[cfg(feature = "plugin")]
mod plugin;
#[cfg(feature = "replay")]
mod replay;
#[cfg(feature = "sidecar")]
mod sidecar;
#[cfg_attr(
    not(all(
        feature = "agent",
        feature = "bridge",
        feature = "completions",
        feature = "doctor",
        feature = "tap"
    )),
    allow(dead_code, unused_imports, reason = "one command alone uses only part of the shared code")
)]
mod support;
#[cfg(feature = "tap")]
mod tap;
#[cfg(feature = "clap")]
mod topics;
#[cfg(any(feature = "agent", feature = "replay", feature = "tap"))]
#[cfg_attr(
    not(any(feature = "replay", feature = "tap")),
    allow(dead_code, unused_imports, reason = "the agent shows rows, and has no `--only`")
)]
mod view;

#[cfg(not(any(feature = "clap", feature = "sidecar")))]
compile_error!("each command is a feature of the package: choose at least one");

use std::process::ExitCode;

fn main() -> ExitCode {
    #[cfg(feature = "clap")]
    return command_line::main();
    #[cfg(not(feature = "clap"))]
    return sidecar::alone();
}
