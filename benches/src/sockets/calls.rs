//! Calls over loopback: CPU time of the server per call, compared with rmcp and a server written by hand.

use super::SERVE_CALLS;
use super::load::Load;
use super::race::{grid, one_by_one};
use crate::data::Section;
use crate::serve::calls::{BARE, MIO};
#[cfg(feature = "peers")]
use crate::serve::calls::{HAND_WRITTEN, RMCP};

/// All servers of calls.
const SERVERS: &[&str] = &[
    MIO,
    BARE,
    #[cfg(feature = "peers")]
    HAND_WRITTEN,
    #[cfg(feature = "peers")]
    RMCP,
];

/// The size of the arguments, the calls in flight, and the calls in a round.
const LOADS: [(&str, usize, usize, usize); 4] = [
    ("100 B", 100, 1, 2_000),
    ("100 B", 100, 16, 16_000),
    ("64 KiB", 64 * 1024, 1, 1_000),
    ("64 KiB", 64 * 1024, 16, 1_000),
];

/// Measures the CPU time of each server.
pub fn calls(rounds: usize) -> Section {
    let mut section = Section::default();
    for (size, bytes, depth, times) in LOADS {
        let connect = |_: &str, port| Load::calls(port, bytes, depth);
        let lanes = one_by_one(SERVERS, BARE, SERVE_CALLS, connect, (depth, times), rounds);
        let name = format!("tools/call over loopback, {size}, {depth} in flight");
        section.grids.push(grid(&name, &lanes, BARE));
    }
    section
}
