//! Simulates a whole editor and all programs that attach to it. One seed is one run, and the same seed gives the same
//! run.
//!
//! Several agents and one server share a network that cuts, delays, stalls and loses bytes. Their clocks jump, other
//! peers break rules, and an oracle checks it all. The simulation does not use the internals of the machines: it
//! drives them like a loop, reads the bytes on the wires, and keeps ledgers. From the top:
//!
//! - [`run`]: a seed from its beginning to its end, and the report;
//! - [`script`]: the events of a run, step by step; [`world`]: the movement of bytes and time;
//! - [`plan`]: the decisions of the seed before the run; [`network`]: cables, ends and clocks;
//! - [`agent`], [`hostile`], [`editor`]: the participants;
//! - [`oracle`]: the rules, by name; [`ledger`]: the record of a connection; [`tap`]: the frames on a wire. The answer
//!   that a request requires is in `tests/model`;
//! - [`plant`]: faults that the oracle must find; [`must_hit`]: the events that a run of many seeds must reach.

pub mod agent;
pub mod editor;
pub mod hostile;
pub mod ledger;
pub mod must_hit;
pub mod network;
pub mod oracle;
pub mod plan;
pub mod plant;
pub mod run;
pub mod script;
pub mod tap;
pub mod world;

pub use crate::support::{client_messages, frames};
