//! Tests of links and connections.
#![allow(clippy::unwrap_used, clippy::wildcard_enum_match_arm, reason = "a test states what it expects")]

mod conn;
mod link;
mod support;
mod tape;
