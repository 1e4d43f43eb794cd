//! The parts of the soak that need no process: each has its tests at its end.
#![allow(
    dead_code,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "only the tests of the parts are of interest here, and they are as in the program"
)]

#[path = "../soak/arrivals.rs"]
mod arrivals;
#[path = "../soak/ledger.rs"]
mod ledger;
#[path = "../soak/memory.rs"]
mod memory;
#[path = "../soak/options.rs"]
mod options;
