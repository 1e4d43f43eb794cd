//! The table of calls in memory: a call of each size by each contestant, and the goals.

use super::calls::{SIZES, open_diff};
use super::{hand_written, ours};
use crate::data::Goal;
use crate::measure::{Contestant, race};
use crate::table::{OURS, Table};

/// This crate with the WebSocket and the dialect.
pub const OUR_FRAMES: &str = "ide-mcp, frames";
/// The contestant to which the goals are relative.
pub const RMCP_PARSE: &str = "rmcp, parsing alone";

/// Measures the nanoseconds of a call.
pub fn calls(rounds: usize) -> Vec<Table> {
    let mut table = Table::new("tools/call".into());
    for (size, bytes) in SIZES {
        let text = open_diff(7, bytes);
        ours::prove(&text, 7);
        hand_written::prove(&text, 7);
        let contestants = vec![
            Contestant::new("serde_json, typed", hand_written::texts(text.clone())),
            Contestant::new(OURS, ours::session(text.clone())),
            Contestant::new(OUR_FRAMES, ours::frames(&text)),
            #[cfg(feature = "peers")]
            Contestant::new("tungstenite + serde, frames", hand_written::frames(&text)),
            #[cfg(feature = "peers")]
            Contestant::new(RMCP_PARSE, super::rmcp::parse(text.clone())),
        ];
        #[cfg(feature = "check")]
        let contestants = count_allocations(size, contestants);
        table.add(size, race(contestants, rounds));
    }
    vec![table]
}

/// Prints how many allocations each contestant makes for a call. The counter slows all contestants
/// down, so times are measured without it.
#[cfg(feature = "check")]
fn count_allocations(size: &str, mut contestants: Vec<Contestant>) -> Vec<Contestant> {
    const TIMES: usize = 16;
    println!("\nallocations for a call, {size}");
    for contestant in &mut contestants {
        (contestant.run)(TIMES);
        let heap = allocation_counter::measure(|| (contestant.run)(TIMES));
        println!("{:<32}{:>8.1}", contestant.name, heap.count_total as f64 / TIMES as f64);
    }
    contestants
}

/// Returns the goals whose cells the table has.
pub fn goals(table: &Table) -> Vec<Goal> {
    let mut goals = Vec::new();
    for contestant in [OURS, OUR_FRAMES] {
        for (size, most) in [("100 B", 0.6), ("64 KiB", 0.45)] {
            let (Some(ours), Some(theirs)) = (table.cell(contestant, size), table.cell(RMCP_PARSE, size))
            else {
                continue;
            };
            let what = format!("tools/call in memory, {size}: time of {RMCP_PARSE}, {contestant}");
            goals.push(Goal::at_most(what, ours / theirs, most, "×"));
        }
    }
    goals
}
