//! Tests over real sockets in a `Poll`.
#![allow(clippy::unwrap_used, clippy::wildcard_enum_match_arm, reason = "a test states what it expects")]

mod conn;
mod pressure;
mod resume;
mod server;
