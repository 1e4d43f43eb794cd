//! Echo servers compared: messages per second, and CPU time per message.

use super::SERVE;
use super::load::{Load, TEXT};
use super::race::{grid, one_by_one};
use crate::data::Section;
use crate::serve::{RAW, SERVERS};

/// The messages in flight, and the messages in a round.
const DEPTHS: [(usize, usize); 2] = [(1, 3_000), (64, 50_000)];

/// Measures messages per second and CPU time.
pub fn echo(rounds: usize) -> Section {
    let mut section = Section::default();
    for (depth, messages) in DEPTHS {
        let connect = |name: &str, port| Load::echo(port, depth, name == RAW);
        let lanes = one_by_one(SERVERS, RAW, SERVE, connect, (depth, messages), rounds);
        section.grids.push(grid(&format!("echo, {TEXT} B, {depth} in flight"), &lanes, RAW));
    }
    section
}
