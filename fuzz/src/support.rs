//! Helpers that the targets share with the behavior tests, under the same paths.
#![allow(dead_code, reason = "only the tests use some of them")]

#[path = "../../tests/it/support/agents.rs"]
pub mod agents;
#[path = "../../tests/it/support/calls.rs"]
pub mod calls;
#[path = "../../tests/it/support/client_messages.rs"]
pub mod client_messages;
#[path = "../../tests/it/support/editors.rs"]
pub mod editors;
#[path = "../../tests/it/support/frames.rs"]
pub mod frames;
#[path = "../../tests/it/support/law.rs"]
pub mod law;
#[path = "../../tests/it/support/run.rs"]
pub mod run;
#[path = "../../tests/it/support/servers.rs"]
pub mod servers;
#[path = "../../tests/it/support/sockets.rs"]
pub mod sockets;
#[path = "../../tests/it/support/subject.rs"]
pub mod subject;

/// The laws that can be checked in a single run.
pub mod laws {
    pub use super::law::{Law, broken};
    pub use super::subject::{Calls, EventOf, Record, Subject};
}
