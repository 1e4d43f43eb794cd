//! Tests over real sockets in a `Poll`.
#![allow(clippy::unwrap_used, clippy::wildcard_enum_match_arm, reason = "a test states what it expects")]
#![allow(dead_code, reason = "these tests use a part of the code of the common tests")]

mod agent;
mod conn;
mod pressure;
mod resume;
mod server;

#[path = "../../../tests/adapter.rs"]
mod adapter;
#[path = "../../../tests/over_mio.rs"]
mod over_mio;
#[path = "../../../tests/plain.rs"]
mod plain;
#[path = "../../../tests/support.rs"]
mod support;
