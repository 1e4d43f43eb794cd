//! The editor's side and the agent's side of the protocol by which a coding agent's command line attaches to an
//! editor: sans-IO state machines that any event loop can drive.
#![no_std]
#![warn(clippy::std_instead_of_core, clippy::std_instead_of_alloc, clippy::alloc_instead_of_core)]

extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

mod buf;
mod machine;
mod time;

#[cfg(feature = "ide")]
pub mod ide;
#[cfg(feature = "mcp")]
pub mod mcp;
#[cfg(feature = "mcp")]
pub mod rpc;
pub mod ws;

pub use buf::Outbox;
pub use machine::{Machine, Wire};
#[cfg(feature = "std")]
pub use time::Clock;
pub use time::Time;
