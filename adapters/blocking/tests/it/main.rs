//! Tests over real sockets and threads.
#![allow(clippy::unwrap_used, clippy::wildcard_enum_match_arm, reason = "a test states what it expects")]
#![allow(dead_code, reason = "the tools of the common tests serve these tests too")]

mod flow;
mod sockets;
mod spawn;
#[cfg(target_os = "linux")]
mod wakes;

#[path = "../../../tests/plain.rs"]
mod plain;
