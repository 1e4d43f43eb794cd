//! What the tests share: the eleven laws as one test, the machines to run it on, and two joined machines.

#[cfg(feature = "ide")]
pub mod agents;
pub mod bug;
#[cfg(feature = "ide")]
pub mod calls;
#[cfg(feature = "ide")]
pub mod client_messages;
pub mod cost;
pub mod cuts;
#[cfg(feature = "ide")]
pub mod editors;
pub mod frames;
#[cfg(feature = "ide")]
pub mod ide;
pub mod joined;
pub mod law;
pub mod laws;
pub mod line;
pub mod mutant;
#[cfg(feature = "ide")]
pub mod passes;
pub mod plan;
pub mod run;
#[cfg(feature = "ide")]
pub mod servers;
pub mod sockets;
pub mod source;
pub mod subject;
pub mod toy;

/// The time that an application has for a call by default, in ms.
#[cfg(feature = "mcp")]
pub const CALL: u64 = ide_mcp::mcp::Timeout::CALL.as_secs() * 1000;
