//! The parts of the agent that need no process: each has its tests at its end. Cargo runs the tests of an example only
//! instead of building the example, which the other tests need.
#![allow(dead_code, reason = "only the tests of the parts are of interest here")]

#[path = "../agent/options.rs"]
mod options;
#[path = "../agent/request.rs"]
mod request;
#[path = "../agent/script/parse.rs"]
mod script_parse;
#[path = "../agent/script/pattern.rs"]
mod script_pattern;
