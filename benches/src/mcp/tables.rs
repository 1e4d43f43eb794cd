//! The table of calls in memory: a call of each size by each contestant.

use super::calls::{SIZES, open_diff};
use super::{hand_written, ours};
use crate::measure::{Contestant, race};
use crate::table::{OURS, Table};

/// This crate with the WebSocket and the dialect, in this build.
const OUR_FRAMES: &str = if cfg!(feature = "simd") { "ide-mcp, frames, simd" } else { "ide-mcp, frames" };
#[cfg(feature = "peers")]
const RMCP_PARSE: &str = "rmcp, parsing alone";

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

/// Prints how many allocations each contestant makes for a call. The counter slows all of them down, so
/// times are measured without it.
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
