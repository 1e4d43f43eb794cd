//! What idle agents that are attached cost an editor.

use super::load::{Load, session};
use super::memory::SETTLE;
use super::running::Running;
use super::{OTHER_CORE, SERVE_CALLS};
use crate::data::{Grid, Plot, Section, Series};
use crate::serve::calls::{MIO, SMOL, TOKEN};
use std::thread;
use std::time::Duration;

/// The number of attached agents.
const AGENTS: usize = 1000;

/// How long to count wake-ups: less than the 30 s until the first ping.
const WINDOW: Duration = Duration::from_secs(5);

/// Measures memory and wake-ups of an editor with a thousand agents that have authenticated and
/// opened a session.
pub fn idle(_: usize) -> Section {
    let name = format!("{AGENTS} authenticated idle agents");
    let columns =
        ["process with one agent, KiB", "each agent, KiB", "wake-ups/s", "CPU µs/s"].map(Into::into);
    let mut section = Section::default();
    let mut grid = Grid::new(
        &name,
        "resident memory, and wake-ups in the 5 s after the last agent has settled",
        columns,
    );
    for name in [MIO, SMOL] {
        let server = Running::start(SERVE_CALLS, name, OTHER_CORE);
        let mut agents = vec![session(server.port, TOKEN)];
        let before = server.resident();
        agents.extend((0..AGENTS).map(|_| session(server.port, TOKEN)));
        thread::sleep(SETTLE);
        let each = (server.resident() as f64 - before as f64) / AGENTS as f64;
        let (waits, cpu) = (server.waits(), server.cpu());
        thread::sleep(WINDOW);
        let seconds = WINDOW.as_secs_f64();
        let waits = (server.waits() - waits) as f64 / seconds;
        let cpu = (server.cpu() - cpu).as_nanos() as f64 / 1000.0 / seconds;
        for (column, value) in [before as f64, each, waits, cpu].into_iter().enumerate() {
            grid.set(name, column, value);
        }
    }
    section.grids.push(grid);
    section.plots.extend(growth());
    section
}

/// Measures what a call of one agent costs while other agents are idle. `None` if instructions cannot be
/// counted.
fn growth() -> Option<Plot> {
    const CALLS: usize = 2000;
    let mut plot = Plot {
        name: "Cost of a call while agents are idle".into(),
        x: "idle agents".into(),
        y: "instructions per call, without the kernel's".into(),
        series: Vec::new(),
    };
    for name in [MIO, SMOL] {
        let server = Running::start(SERVE_CALLS, name, OTHER_CORE);
        let mut load = Load::calls(server.port, 100, 1);
        let mut idle = Vec::new();
        let mut points = Vec::new();
        for agents in [1, 10, 100, AGENTS] {
            idle.resize_with(agents, || session(server.port, TOKEN));
            load.run(CALLS);
            let (user, _) = server.instructions(|| load.run(CALLS))?;
            points.push((agents as f64, user / CALLS as f64));
        }
        plot.series.push(Series { name: name.into(), points });
    }
    Some(plot)
}
