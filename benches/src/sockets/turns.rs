//! How long a turn takes while 15 clients flood the server, and how long another client waits for its
//! answers meanwhile.

use super::load::Load;
use super::running::Running;
use super::{OTHER_CORE, SERVE_CALLS};
use crate::data::{Grid, Section};
use crate::serve::calls::{ADAPTERS, BARE};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// How many clients flood: with the measured client, as many as an editor accepts.
const FLOODERS: usize = 15;

/// How many calls each flooding client has in flight: more than fit into the buffers of the sockets.
const DEPTH: usize = 900;

/// The size of the arguments of their calls, in bytes.
const BYTES: usize = 1024;

/// How long the measured client waits between two calls.
const PAUSE: Duration = Duration::from_micros(500);

/// Measures the longest turn during the flood, the latency of one client, and how many calls of the flood
/// are answered.
///
/// A turn should take less than a third of a display frame, which is 16.7 ms. The latency includes the time
/// in which the threads of the load wait for each other on their core. We do not time the turns of
/// `ide-mcp-blocking`: its server returns events one by one, and does not report the end of a turn.
pub fn turns(rounds: usize) -> Section {
    let mut section = Section::default();
    let columns =
        ["longest turn, CPU µs", "p50 µs", "p99 µs", "calls/s of the flood", "CPU µs a call"].map(Into::into);
    let name = format!("one client besides {FLOODERS} that have {DEPTH} calls of {BYTES} B in flight each");
    let mut grid = Grid::new(&name, "the median of the rounds", columns);
    for server in ADAPTERS.iter().filter(|name| **name != BARE) {
        let outcomes: Vec<[f64; 5]> = (0..rounds.div_ceil(4)).map(|_| beside_a_flood(server)).collect();
        let median = |column: usize| {
            let mut values: Vec<f64> = outcomes.iter().map(|outcome| outcome[column]).collect();
            values.sort_by(f64::total_cmp);
            values[values.len() / 2]
        };
        for column in (0..5).filter(|column| median(*column) > 0.0) {
            grid.set(server, column, median(column));
        }
    }
    section.grids.push(grid);
    section
}

fn beside_a_flood(server: &str) -> [f64; 5] {
    let mut server = Running::start(SERVE_CALLS, server, OTHER_CORE);
    let (is_over, count) = (AtomicBool::new(false), AtomicUsize::new(0));
    let mut one = Load::calls(server.port, 100, 1);
    let floods: Vec<Load> = (0..FLOODERS).map(|_| Load::calls(server.port, BYTES, DEPTH)).collect();
    thread::scope(|scope| {
        for mut flood in floods {
            let (is_over, count) = (&is_over, &count);
            scope.spawn(move || {
                while !is_over.load(Ordering::Relaxed) {
                    flood.run(4 * DEPTH);
                    count.fetch_add(4 * DEPTH, Ordering::Relaxed);
                }
            });
        }
        thread::sleep(Duration::from_millis(300));
        // Discard the turns in which the clients attached.
        server.longest_turn();
        let (begin, before, cpu) = (Instant::now(), count.load(Ordering::Relaxed), server.cpu());
        let mut latencies = Vec::new();
        while begin.elapsed() < Duration::from_secs(1) {
            one.run(1);
            latencies.extend_from_slice(&one.latencies);
            thread::sleep(PAUSE);
        }
        let calls = (count.load(Ordering::Relaxed) - before) as f64;
        let per_second = calls / begin.elapsed().as_secs_f64();
        let cpu = (server.cpu() - cpu).as_nanos() as f64 / 1000.0 / calls;
        let longest = server.longest_turn() as f64;
        is_over.store(true, Ordering::Relaxed);
        latencies.sort();
        let at = |percent: usize| {
            latencies[(latencies.len() * percent / 100).min(latencies.len() - 1)].as_nanos() as f64 / 1000.0
        };
        [longest, at(50), at(99), per_second, cpu]
    })
}
