//! The shared helpers of the tests of the commands.

#[cfg(target_os = "linux")]
pub mod other_user;
mod process;
#[cfg(unix)]
pub mod terminal;
#[cfg(unix)]
pub mod tmux;

/// The commands in the order of the help, but `help` itself.
pub const COMMANDS: [&str; 12] = [
    "demo",
    "editor",
    "agent",
    "doctor",
    "tap",
    "replay",
    "bridge",
    "mcp-config",
    "sidecar",
    "plugin",
    "completions",
    "man",
];

pub use process::skip::{FOREIGN, ignores_hangup};
pub use process::{
    Editor, Place, Process, accept, await_port, dead, ended, lasting_port, quoted, rewrite, skip,
};
