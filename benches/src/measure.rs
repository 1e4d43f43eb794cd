//! Times contestants against each other: every round runs a batch of each, and the fastest of the rounds counts.

use std::time::{Duration, Instant};

/// How long a batch should take. Long enough for the clock, short enough to fall between two interruptions.
const BATCH: Duration = Duration::from_millis(2);

/// One way to do a task: does it so many times.
pub struct Contestant {
    pub name: &'static str,
    pub run: Box<dyn FnMut(usize)>,
}

impl Contestant {
    pub fn new(name: &'static str, run: impl FnMut(usize) + 'static) -> Self {
        Self { name, run: Box::new(run) }
    }
}

/// Nanoseconds for doing it once: the minimum and the median of the rounds.
pub struct Timed {
    pub name: &'static str,
    pub min: f64,
    pub median: f64,
}

/// Runs all of them, interleaved.
pub fn race(contestants: Vec<Contestant>, rounds: usize) -> Vec<Timed> {
    let mut lanes: Vec<(Contestant, usize, Vec<f64>)> = contestants
        .into_iter()
        .map(|mut contestant| {
            let batch = calibrate(&mut contestant);
            (contestant, batch, Vec::new())
        })
        .collect();
    for _ in 0..rounds {
        for (contestant, batch, times) in &mut lanes {
            let start = Instant::now();
            (contestant.run)(*batch);
            times.push(start.elapsed().as_nanos() as f64 / *batch as f64);
        }
    }
    lanes
        .into_iter()
        .map(|(contestant, _, mut times)| {
            times.sort_by(f64::total_cmp);
            Timed { name: contestant.name, min: times[0], median: times[times.len() / 2] }
        })
        .collect()
}

/// How often fits into a batch. Warms up on the way.
fn calibrate(contestant: &mut Contestant) -> usize {
    let mut batch = 1;
    loop {
        let start = Instant::now();
        (contestant.run)(batch);
        let took = start.elapsed();
        if took >= BATCH / 2 {
            return ((batch as f64 * BATCH.as_secs_f64() / took.as_secs_f64()) as usize).max(1);
        }
        batch *= 2;
    }
}
