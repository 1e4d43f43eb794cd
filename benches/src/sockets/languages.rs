//! Calls in editors that are not written in Rust: their CPU time through the sidecar over loopback, and
//! their instructions through the C library.

use super::SERVE_CALLS;
use super::load::Load;
use super::race::{grid, one_by_one};
use crate::data::{Grid, Section};
use crate::program;
use crate::serve::calls::{MIO, SIDECAR};
use std::process::Command;

/// The size of the arguments, and the calls of a round.
const LOADS: [(&str, usize, usize); 2] = [("100 B", 100, 2_000), ("64 KiB", 64 * 1024, 500)];

/// The script that counts the instructions of a call through the C library.
const COST: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/lab/capi/cost.sh");

/// Measures the CPU time of a call through the sidecar, and the instructions of a call in C.
pub fn languages(rounds: usize) -> Section {
    program::build();
    let mut section = Section::default();
    for (size, bytes, times) in LOADS {
        let connect = |_: &str, port| Load::calls(port, bytes, 1);
        let lanes = one_by_one(&[MIO, SIDECAR], MIO, SERVE_CALLS, connect, (1, times), rounds);
        let name = format!("tools/call through the sidecar, {size}, 1 in flight");
        section.grids.push(grid(&name, &lanes, MIO));
    }
    section.grids.push(in_c());
    section
}

fn in_c() -> Grid {
    let columns = ["in Rust", "in C", "C of Rust"].map(Into::into);
    let unit = "instructions of a call and of its agent in one process; callgrind";
    let mut grid = Grid::new("tools/call through the C library", unit, columns);
    let run = Command::new(COST).env_remove("CARGO_TARGET_DIR").output().expect("the script is there");
    let output = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "{output}");
    // A line is `diff: 870 instructions in Rust (rust), 890 in C: 102 %`.
    for line in output.lines() {
        let numbers: Vec<f64> = line.split(' ').filter_map(|word| word.parse().ok()).collect();
        let (Some((kind, _)), [rust, c, _]) = (line.split_once(": "), numbers.as_slice()) else { continue };
        let name = match kind {
            "diff" => "openDiff of 64 KiB",
            _ if line.contains("(json)") => "getDiagnostics, the answer as JSON on both sides",
            _ => "getDiagnostics, the answer as a value in Rust",
        };
        for (column, value) in [*rust, *c, c / rust].into_iter().enumerate() {
            grid.set(name, column, value);
        }
    }
    assert_eq!(grid.rows.len(), 3, "{output}");
    grid
}
