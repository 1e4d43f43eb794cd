//! The parts of the replay that need no process: each has its tests at its end.
#![allow(
    dead_code,
    clippy::wildcard_enum_match_arm,
    reason = "only the tests of the parts are of interest here, and they are as in the program"
)]

#[path = "../replay/compare.rs"]
mod compare;
#[path = "../replay/options.rs"]
mod options;
#[path = "../replay/units.rs"]
mod units;
