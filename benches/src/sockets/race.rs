//! Servers compared: every round sends the same load to each server.

use super::load::Load;
use super::running::Running;
use super::{LOAD_CORE, OTHER_CORE};
use crate::data::Grid;
use std::time::{Duration, Instant};

/// The result of one server in one round.
#[derive(Clone, Copy)]
pub struct Outcome {
    pub per_second: f64,
    /// Nanoseconds of the server's CPU time per message.
    pub cpu: f64,
}

/// A server, with the results of its rounds.
pub struct Lane {
    pub name: &'static str,
    core: usize,
    pub outcomes: Vec<Outcome>,
    /// The latencies of all rounds, in ascending order; empty if many connections send.
    latencies: Vec<Duration>,
    /// Instructions per message, in user space and in the kernel.
    pub instructions: Option<(f64, f64)>,
}

/// Runs one connection for each server, which sends `messages` in a round, `depth` at a time. With one at
/// a time, the servers run on the core of the load. The base runs a second time, on the other core, to
/// show what waking that core costs.
pub fn one_by_one(
    servers: &[&'static str],
    base: &'static str,
    mode: &str,
    connect: impl Fn(&str, u16) -> Load,
    (depth, messages): (usize, usize),
    rounds: usize,
) -> Vec<Lane> {
    let core = if depth == 1 { LOAD_CORE } else { OTHER_CORE };
    let mut places: Vec<_> = servers.iter().map(|name| (*name, core)).collect();
    if depth == 1 {
        places.push((base, OTHER_CORE));
    }
    race(&places, mode, connect, 1, messages, rounds, |loads| loads[0].run(messages))
}

/// Runs many connections for each server, which send their windows of `depth` messages at the same
/// time.
pub fn together(
    servers: &[&'static str],
    mode: &str,
    connect: impl Fn(&str, u16) -> Load,
    (connections, depth, waves): (usize, usize, usize),
    rounds: usize,
) -> Vec<Lane> {
    let places: Vec<_> = servers.iter().map(|name| (*name, OTHER_CORE)).collect();
    race(&places, mode, connect, connections, connections * depth * waves, rounds, |loads| {
        for _ in 0..waves {
            loads.iter_mut().for_each(Load::begin);
            loads.iter_mut().for_each(Load::finish);
        }
    })
}

fn race(
    places: &[(&'static str, usize)],
    mode: &str,
    connect: impl Fn(&str, u16) -> Load,
    connections: usize,
    messages: usize,
    rounds: usize,
    run: impl Fn(&mut [Load]),
) -> Vec<Lane> {
    let mut lanes: Vec<(Running, Vec<Load>, Lane)> = places
        .iter()
        .map(|&(name, core)| {
            let server = Running::start(mode, name, core);
            let mut loads: Vec<Load> = (0..connections).map(|_| connect(name, server.port)).collect();
            run(&mut loads);
            let lane = Lane { name, core, outcomes: Vec::new(), latencies: Vec::new(), instructions: None };
            (server, loads, lane)
        })
        .collect();
    for _ in 0..rounds {
        for (server, loads, lane) in &mut lanes {
            let (cpu, start) = (server.cpu(), Instant::now());
            run(loads);
            let took = start.elapsed();
            let cpu = (server.cpu() - cpu).as_nanos() as f64 / messages as f64;
            lane.outcomes.push(Outcome { per_second: messages as f64 / took.as_secs_f64(), cpu });
            lane.latencies.extend(&loads[0].latencies);
        }
    }
    lanes
        .into_iter()
        .map(|(server, mut loads, mut lane)| {
            let counted = server.instructions(|| run(&mut loads));
            lane.instructions =
                counted.map(|(user, kernel)| (user / messages as f64, kernel / messages as f64));
            lane.latencies.sort();
            lane
        })
        .collect()
}

impl Lane {
    /// Returns the median, over the rounds, of the ratio of this lane to the other. The machine's clock rate
    /// changes from round to round, but within a round both lanes run one soon after the other, at nearly the
    /// same rate. So the ratio does not depend on it.
    pub fn median_ratio(&self, other: &Self, of: fn(&Outcome) -> f64) -> f64 {
        let pairs = self.outcomes.iter().zip(&other.outcomes);
        let mut ratios: Vec<f64> = pairs.map(|(one, other)| of(one) / of(other)).collect();
        ratios.sort_by(f64::total_cmp);
        ratios[ratios.len() / 2]
    }

    pub fn fastest(&self) -> f64 {
        self.outcomes.iter().map(per_second).fold(0.0, f64::max)
    }

    pub fn least_cpu(&self) -> f64 {
        self.outcomes.iter().map(cpu).fold(f64::INFINITY, f64::min)
    }

    /// Returns the number of microseconds within which this percentage of the answers came.
    pub fn latency(&self, percent: usize) -> Option<f64> {
        let at = (self.latencies.len() * percent / 100).min(self.latencies.len().checked_sub(1)?);
        Some(self.latencies[at].as_nanos() as f64 / 1000.0)
    }
}

pub fn per_second(outcome: &Outcome) -> f64 {
    outcome.per_second
}

pub fn cpu(outcome: &Outcome) -> f64 {
    outcome.cpu
}

/// Returns the lane of this name: the first, if the server also ran on the other core.
pub fn find<'a>(lanes: &'a [Lane], name: &str) -> Option<&'a Lane> {
    lanes.iter().find(|lane| lane.name == name)
}

/// The name of the row that shows how much more the base costs on the other core than on that of the load.
const WAKING: &str = "waking another core, in addition";

/// Returns the table of a race; `base` is the server with which the CPU time of the others is
/// compared. If the base also ran on the other core, the last row has the difference.
pub fn grid(name: &str, lanes: &[Lane], base: &str) -> Grid {
    const COLUMNS: [&str; 7] =
        ["messages/s", "CPU ns each", "of the base", "instructions, user", "kernel", "p50 µs", "p99 µs"];
    let place = if lanes.iter().any(|lane| lane.core == LOAD_CORE) { "one core" } else { "two cores" };
    let unit = format!(
        "load and server on {place}; the best of the rounds; the base is {base}, and the ratio the median of the rounds"
    );
    let mut grid = Grid::new(name, &unit, COLUMNS.map(Into::into));
    let base = find(lanes, base);
    for lane in lanes {
        if let Some(base) = base.filter(|base| base.name == lane.name && base.core != lane.core) {
            grid.set(WAKING, 1, lane.least_cpu() - base.least_cpu());
            for (column, percent) in [(5, 50), (6, 99)] {
                if let (Some(apart), Some(together)) = (lane.latency(percent), base.latency(percent)) {
                    grid.set(WAKING, column, apart - together);
                }
            }
            continue;
        }
        let ratio = base.map(|base| lane.median_ratio(base, cpu));
        let (user, kernel) = lane.instructions.unzip();
        let cells = [
            Some(lane.fastest()),
            Some(lane.least_cpu()),
            ratio,
            user,
            kernel,
            lane.latency(50),
            lane.latency(99),
        ];
        for (column, cell) in cells.into_iter().enumerate() {
            if let Some(value) = cell {
                grid.set(lane.name, column, value);
            }
        }
    }
    grid
}
