//! What the targets share with the behaviour tests, under the same paths.
#![allow(dead_code, reason = "the tests use the rest")]

#[path = "../../tests/support/calls.rs"]
pub mod calls;
#[path = "../../tests/support/editors.rs"]
pub mod editors;
#[path = "../../tests/support/frames.rs"]
pub mod frames;
#[path = "../../tests/support/hosts.rs"]
pub mod hosts;
#[path = "../../tests/support/law.rs"]
pub mod law;
#[path = "../../tests/support/run.rs"]
pub mod run;
#[path = "../../tests/support/said.rs"]
pub mod said;
#[path = "../../tests/support/sockets.rs"]
pub mod sockets;
#[path = "../../tests/support/subject.rs"]
pub mod subject;

/// What of the laws can be asserted in a single run.
pub mod laws {
    pub use super::law::{Law, broken};
    pub use super::subject::{Calls, EventOf, Record, Subject};
}
