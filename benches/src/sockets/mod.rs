//! Measurements over loopback: one load generator on one thread and core, and each server in its own process.
//! The servers take turns round by round.
//!
//! With many messages in flight, the server runs on the other core. With one message in flight, both ends
//! share a core: one of them always waits, and on two cores we would mostly measure how long the other
//! core takes to wake, which depends on the computer.

pub mod adapters;
pub mod calls;
pub mod echo;
pub mod idle;
pub mod languages;
pub mod load;
pub mod memory;
mod race;
mod running;
pub mod turns;

/// The two modes of a server process.
pub const SERVE: &str = "--serve";
pub const SERVE_CALLS: &str = "--serve-calls";

/// The core of the load, and of a server with one message in flight.
pub const LOAD_CORE: usize = 1;
/// The core of the other servers.
pub const OTHER_CORE: usize = 0;
