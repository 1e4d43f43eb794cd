//! Compares the adapters: what each costs per message, compared with a bare loop that blocks in its reads.

use super::load::{Load, TEXT};
use super::race::{Lane, grid, one_by_one, together};
use super::{SERVE, SERVE_CALLS};
use crate::data::Section;
use crate::serve;
use crate::serve::calls as serve_calls;

/// How many connections, messages in flight on each connection, and messages in a round.
const SHAPES: [(usize, usize, usize); 4] =
    [(1, 1, 2_000), (1, 64, 8_000), (100, 1, 4_000), (100, 64, 12_800)];

/// Measures calls and echoes of every shape through each adapter.
pub fn adapters(rounds: usize) -> Section {
    let mut section = Section::default();
    for (connections, depth, messages) in SHAPES {
        let shape =
            format!("{connections} connection{}, {depth} in flight{}", s(connections), each(connections));
        let name = format!("tools/call of 100 B, {shape}");
        let calls = |_: &str, port| Load::calls(port, 100, depth);
        let servers = serve_calls::ADAPTERS;
        let lanes =
            run(servers, serve_calls::BARE, SERVE_CALLS, calls, (connections, depth, messages), rounds);
        section.grids.push(grid(&name, &lanes, serve_calls::BARE));
        let echo = |_: &str, port| Load::echo(port, depth, false);
        let lanes =
            run(serve::ADAPTERS, serve::BLOCKING, SERVE, echo, (connections, depth, 2 * messages), rounds);
        section.grids.push(grid(&format!("echo of {TEXT} B, {shape}"), &lanes, serve::BLOCKING));
    }
    section
}

fn run(
    servers: &[&'static str],
    base: &'static str,
    mode: &str,
    connect: impl Fn(&str, u16) -> Load,
    (connections, depth, messages): (usize, usize, usize),
    rounds: usize,
) -> Vec<Lane> {
    match connections {
        1 => one_by_one(servers, base, mode, connect, (depth, messages), rounds),
        _ => {
            let waves = messages.div_ceil(connections * depth);
            together(servers, mode, connect, (connections, depth, waves), rounds)
        }
    }
}

fn s(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}

fn each(connections: usize) -> &'static str {
    if connections == 1 { "" } else { " on each" }
}
