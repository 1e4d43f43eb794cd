//! A whole editor and all who attach to it, simulated: one seed is one life, and the same seed is the same life.
//!
//! Several agents and one host on a network that cuts, delays, stalls and loses, on clocks that jump, beside peers that keep
//! to no rule, under an oracle. Nothing of it knows the machines from inside: it drives them as a loop does, reads what goes
//! over the wires, and keeps books. From the top:
//!
//! - [`run`]: a seed from its beginning to its end, and the report;
//! - [`script`]: what happens, step by step; [`world`]: how everything moves;
//! - [`plan`]: what the seed decides beforehand; [`network`]: cables, ends and clocks;
//! - [`agent`], [`hostile`], [`editor`]: those who live in it;
//! - [`oracle`]: the rules, by name; [`ledger`]: the books of a connection; [`tap`]: what is read off a wire;
//! - [`plant`]: faults that the oracle must find; [`must_hit`]: what a run of many seeds must have come across.

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

pub use crate::support::{frames, said};
