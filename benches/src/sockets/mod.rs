//! What is measured over loopback: one load generator on one thread and core, the server in a process of its own on the
//! other core. The servers take turns round by round.

pub mod adapters;
pub mod calls;
pub mod echo;
pub mod idle;
pub mod load;
pub mod memory;
mod race;
mod running;
pub mod turns;

/// The two ways to say what a server has to do.
pub const SERVE: &str = "--serve";
pub const SERVE_CALLS: &str = "--serve-calls";
