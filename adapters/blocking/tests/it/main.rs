//! Tests over real sockets and threads.
#![allow(clippy::unwrap_used, clippy::wildcard_enum_match_arm, reason = "a test states what it expects")]

mod flow;
mod sockets;
#[cfg(target_os = "linux")]
mod wakes;
