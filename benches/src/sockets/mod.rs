//! The measurements over loopback: one load generator on one thread and core, and each server in a
//! separate process on the other core. The servers take turns round by round.

pub mod adapters;
pub mod calls;
pub mod echo;
pub mod idle;
pub mod load;
pub mod memory;
mod race;
mod running;
pub mod turns;

/// The two modes of a server process.
pub const SERVE: &str = "--serve";
pub const SERVE_CALLS: &str = "--serve-calls";
