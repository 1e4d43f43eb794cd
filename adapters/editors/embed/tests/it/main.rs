//! What editors in other languages write and read: the table, each command and event, and the limits.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::wildcard_enum_match_arm,
    reason = "a test states what it expects"
)]

mod calls;
mod commands;
mod config;
mod corpus;
mod events;
#[cfg(all(feature = "listen", unix))]
mod files;
mod gap;
mod gate;
#[cfg(feature = "listen")]
mod listening;
mod page;
mod random;
mod support;
mod turns;
mod vault;
