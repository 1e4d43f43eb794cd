//! Calls over loopback: CPU time of the server per call, beside rmcp and a server written by hand.

use super::SERVE_CALLS;
use super::load::Load;
use super::race::{cpu, find, grid, one_by_one};
use crate::data::{Goal, Section};
use crate::serve::calls::{BARE, HAND_WRITTEN, MIO, RMCP};

/// All servers of calls.
const SERVERS: &[&str] = &[
    MIO,
    BARE,
    #[cfg(feature = "peers")]
    HAND_WRITTEN,
    #[cfg(feature = "peers")]
    RMCP,
];

/// The size of the arguments, the calls in flight, and the calls of a round.
const LOADS: [(&str, usize, usize, usize); 4] = [
    ("100 B", 100, 1, 2_000),
    ("100 B", 100, 16, 16_000),
    ("64 KiB", 64 * 1024, 1, 1_000),
    ("64 KiB", 64 * 1024, 16, 1_000),
];

/// Measures the CPU time of each server, and the goals.
pub fn calls(rounds: usize) -> Section {
    let mut section = Section::new("call-sockets");
    for (size, bytes, depth, times) in LOADS {
        let connect = |_: &str, port| Load::calls(port, bytes, depth);
        let lanes = one_by_one(SERVERS, BARE, SERVE_CALLS, connect, (depth, times), rounds);
        let name = format!("tools/call over loopback, {size}, {depth} in flight");
        section.grids.push(grid(&name, &lanes, BARE));
        for ours in [MIO, BARE] {
            for (theirs, most) in [(RMCP, if bytes == 100 { 0.3 } else { 0.75 }), (HAND_WRITTEN, 1.1)] {
                let (Some(one), Some(other)) = (find(&lanes, ours), find(&lanes, theirs)) else { continue };
                let what = format!("{name}: CPU of {theirs}, {ours}");
                section.goals.push(Goal::at_most(what, one.median_ratio(other, cpu), most, "×"));
            }
        }
    }
    section
}
