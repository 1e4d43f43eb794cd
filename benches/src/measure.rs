//! A race of contestants: every round runs a batch of each contestant, and the result is the fastest and
//! the median round of each.

use std::time::{Duration, Instant};

/// How long a batch takes: long enough for the clock, short enough to fall between two interruptions.
const BATCH: Duration = Duration::from_millis(2);

/// One way to do a task, which is repeated the given number of times.
pub struct Contestant {
    pub name: &'static str,
    pub run: Box<dyn FnMut(usize)>,
}

impl Contestant {
    pub fn new(name: &'static str, run: impl FnMut(usize) + 'static) -> Self {
        Self { name, run: Box::new(run) }
    }
}

/// The nanoseconds of one repetition: the minimum and the median of the rounds.
pub struct Timed {
    pub name: &'static str,
    pub min: f64,
    pub median: f64,
}

/// Runs all contestants, interleaved.
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

/// Returns how many repetitions fit into a batch, and warms up.
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
