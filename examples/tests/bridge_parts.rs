//! The parts of the bridge that need no process: each has its tests at its end.
#![allow(dead_code, reason = "only the tests of the parts are of interest here")]

#[path = "../bridge/options.rs"]
mod options;
