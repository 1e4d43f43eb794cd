//! Echo servers compared: messages per second, and CPU time per message.

use super::SERVE;
use super::load::{Load, TEXT};
use super::race::{Lane, cpu, find, grid, one_by_one, per_second};
use crate::data::{Goal, Section};
use crate::serve::{BARE, MIO, RAW, SERVERS};

/// The messages in flight, and the messages of a round.
const DEPTHS: [(usize, usize); 2] = [(1, 3_000), (64, 50_000)];

/// Measures messages per second and CPU time, and the goals.
pub fn echo(rounds: usize) -> Section {
    let mut section = Section::new("echo");
    for (depth, messages) in DEPTHS {
        let connect = |name: &str, port| Load::echo(port, depth, name == RAW);
        let lanes = one_by_one(SERVERS, RAW, SERVE, connect, (depth, messages), rounds);
        section.grids.push(grid(&format!("echo, {TEXT} B, {depth} in flight"), &lanes, RAW));
        section.goals.extend(goals(depth, &lanes));
    }
    section
}

fn goals(depth: usize, lanes: &[Lane]) -> Vec<Goal> {
    let peers = || lanes.iter().filter(|lane| lane.name != RAW && !lane.name.starts_with("ide-mcp"));
    match (depth, find(lanes, BARE), find(lanes, MIO), find(lanes, RAW)) {
        (1, Some(bare), _, Some(raw)) => {
            vec![Goal::at_most(
                "echo, 1 in flight: CPU of raw TCP, blocking",
                bare.median_ratio(raw, cpu),
                1.12,
                "×",
            )]
        }
        (64, _, Some(mio), _) if peers().count() > 0 => {
            let fastest =
                peers().map(|peer| mio.median_ratio(peer, per_second)).fold(f64::INFINITY, f64::min);
            let frugal = peers().map(|peer| mio.median_ratio(peer, cpu)).fold(0.0, f64::max);
            vec![
                Goal::new("echo, 64 in flight: messages/s of the best peer, mio", fastest, 12.0, true, "×"),
                Goal::at_most("echo, 64 in flight: CPU of the best peer, mio", frugal, 0.06, "×"),
            ]
        }
        _ => Vec::new(),
    }
}
