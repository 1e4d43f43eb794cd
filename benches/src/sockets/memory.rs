//! Memory of idle connections to echo servers.

use super::load::{Load, TEXT};
use super::running::Running;
use super::{OTHER_CORE, SERVE};
use crate::data::{Grid, Section};
use crate::serve::{RAW, SERVERS};
use std::thread;
use std::time::Duration;

/// How many connections are open while the memory is measured.
const IDLE: usize = 1000;

/// How long to wait: an adapter gives memory back after a second of silence, and a session has settled after
/// 1.6 s.
pub const SETTLE: Duration = Duration::from_secs(3);

/// Measures the memory of each server with many connections open.
pub fn memory(_: usize) -> Section {
    let name = format!("{IDLE} connections, each of which has echoed one text of {TEXT} B and is idle");
    let columns = ["process with one connection", "each connection"].map(Into::into);
    let mut section = Section::default();
    let mut grid = Grid::new(&name, "resident KiB", columns);
    for name in SERVERS {
        let server = Running::start(SERVE, name, OTHER_CORE);
        let connect = || {
            let mut load = Load::echo(server.port, 1, *name == RAW);
            load.run(1);
            load
        };
        // Memory that all connections share is allocated with the first one, so open that before we begin
        // to measure.
        let mut loads = vec![connect()];
        let before = server.resident();
        loads.extend((0..IDLE).map(|_| connect()));
        thread::sleep(SETTLE);
        let each = (server.resident() as f64 - before as f64) / IDLE as f64;
        grid.set(name, 0, before as f64);
        grid.set(name, 1, each);
    }
    section.grids.push(grid);
    section
}
