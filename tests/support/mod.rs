//! What the behaviour tests share: the ten laws as one test, machines to run it on, and two machines joined.
#![allow(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    clippy::string_slice,
    clippy::wildcard_enum_match_arm,
    reason = "each test program uses a part of this, and a test states its expectations"
)]

#[cfg(feature = "ide")]
pub mod agents;
pub mod bug;
#[cfg(feature = "ide")]
pub mod calls;
pub mod cost;
pub mod cuts;
#[cfg(feature = "ide")]
pub mod editors;
pub mod frames;
#[cfg(feature = "ide")]
pub mod hosts;
pub mod law;
pub mod laws;
pub mod mutant;
pub mod plan;
pub mod run;
#[cfg(feature = "ide")]
pub mod said;
pub mod sockets;
pub mod source;
pub mod subject;
pub mod toy;
