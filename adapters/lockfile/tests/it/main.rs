//! Tests of lock files on a real disk.
#![allow(clippy::unwrap_used, clippy::wildcard_enum_match_arm, reason = "a test states what it expects")]

mod environment;
mod folders;
mod guard;
mod guard_thread;
#[cfg(any(unix, windows))]
mod leftovers;
#[cfg(unix)]
mod planted;
#[cfg(unix)]
mod private;
mod publish;
#[cfg(unix)]
mod resolve;
#[cfg(windows)]
mod resolve_windows;
mod scan;
#[cfg(target_os = "linux")]
mod scopes;
mod support;
