//! Tests over real sockets and threads.
#![allow(clippy::unwrap_used, clippy::wildcard_enum_match_arm, reason = "a test states what it expects")]
#![allow(dead_code, reason = "these tests use a part of the code of the common tests")]

mod sockets;
mod spawn;
mod wakes;

#[path = "../../../tests/plain.rs"]
mod plain;
