//! Tests of links, of connections, and of the server that every adapter has.
#![allow(clippy::unwrap_used, clippy::wildcard_enum_match_arm, reason = "a test states what it expects")]

mod conn;
mod link;
mod steps;
mod support;
mod tape;
mod turns;
