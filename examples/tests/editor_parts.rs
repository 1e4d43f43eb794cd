//! The parts of the editor that need no process: each has its tests at its end. Cargo runs the tests of an example only
//! instead of building the example, which the other tests need.
#![allow(
    clippy::wildcard_enum_match_arm,
    dead_code,
    unreachable_pub,
    reason = "only the tests of the parts are of interest here"
)]

#[path = "../editor/headless/command.rs"]
mod command;
#[path = "../editor/diagnostics.rs"]
mod diagnostics;
#[path = "../editor/diffs.rs"]
mod diffs;
#[path = "../editor/folders.rs"]
mod folders;
#[path = "../editor/read.rs"]
mod read;
#[path = "../editor/workspace.rs"]
mod workspace;
