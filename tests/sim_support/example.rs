//! The simulation of `tests/sim_support`, for as many seeds as you like.
//!
//! `cargo run --release --example sim -- --seeds 100000 [--from N] [--jobs N]` runs many, prints what they came across and
//! fails if any broke a rule or anything was never hit; `--seed N [--trace]` runs one.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program that reports")]

#[path = "mod.rs"]
mod sim_support;

use std::{
    process::ExitCode,
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::Instant,
};

use sim_support::{
    must_hit::missing,
    oracle::Hits,
    run::{Failure, run, run_traced},
    world::Cuts,
};

const USAGE: &str = "usage: sim --seeds COUNT [--from SEED] [--jobs THREADS] | --seed SEED [--trace]";

/// More failures than this say nothing new.
const ENOUGH: usize = 10;

fn main() -> ExitCode {
    // What panics is reported with its seed.
    std::panic::set_hook(Box::new(|_| {}));
    match Options::read(std::env::args().skip(1)) {
        Some(Options { seed: Some(seed), trace, .. }) => one(seed, trace),
        Some(Options { seeds: Some(seeds), from, jobs, .. }) => many(from, seeds, jobs),
        _ => {
            eprintln!("{USAGE}");
            ExitCode::from(2)
        }
    }
}

#[derive(Debug, Default)]
struct Options {
    seeds: Option<u64>,
    from: u64,
    jobs: usize,
    seed: Option<u64>,
    trace: bool,
}

impl Options {
    fn read(mut arguments: impl Iterator<Item = String>) -> Option<Self> {
        let mut options = Self { jobs: 1, ..Self::default() };
        while let Some(name) = arguments.next() {
            if name == "--trace" {
                options.trace = true;
                continue;
            }
            let value = arguments.next()?.parse().ok()?;
            match &*name {
                "--seeds" => options.seeds = Some(value),
                "--from" => options.from = value,
                "--jobs" => options.jobs = usize::try_from(value).ok().filter(|jobs| *jobs > 0)?,
                "--seed" => options.seed = Some(value),
                _ => return None,
            }
        }
        Some(options)
    }
}

/// Runs one seed.
fn one(seed: u64, trace: bool) -> ExitCode {
    let report = if trace { run_traced(seed, Cuts::Seeded) } else { run(seed) };
    if trace {
        report.trace.iter().for_each(|event| println!("{event}"));
    }
    println!("digest {:016x}", report.digest);
    match report.failure {
        Some(failure) => {
            println!("{failure}");
            ExitCode::FAILURE
        }
        None => {
            println!("seed {seed}: every rule holds");
            ExitCode::SUCCESS
        }
    }
}

/// Runs many, and says what they came across.
fn many(from: u64, seeds: u64, jobs: usize) -> ExitCode {
    let begun = start();
    let next = AtomicU64::new(from);
    let end = from.saturating_add(seeds);
    let found: Mutex<(Hits, Vec<Failure>)> = Mutex::default();
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| work(&next, end, begun, &found));
        }
    });
    let (hits, mut failures) = found.into_inner().unwrap_or_default();
    failures.sort_by_key(|failure| failure.seed);
    println!("{seeds} seeds from {from} in {:.0?}", begun.elapsed());
    for (what, count) in &hits {
        println!("{count:>10}  {what}");
    }
    failures.iter().for_each(|failure| println!("\n{failure}"));
    let missing = missing(&hits);
    if !missing.is_empty() {
        println!("\nnever hit: {missing:?}");
    }
    if failures.is_empty() && missing.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Only to say how long it took.
#[allow(clippy::disallowed_methods, reason = "no machine sees it")]
fn start() -> Instant {
    Instant::now()
}

fn work(next: &AtomicU64, end: u64, begun: Instant, found: &Mutex<(Hits, Vec<Failure>)>) {
    loop {
        let seed = next.fetch_add(1, Ordering::Relaxed);
        if seed >= end {
            return;
        }
        let report = run(seed);
        let Ok(mut found) = found.lock() else { return };
        for (what, count) in report.hits {
            *found.0.entry(what).or_default() += count;
        }
        found.1.extend(report.failure);
        if found.1.len() >= ENOUGH {
            next.store(end, Ordering::Relaxed);
        }
        if (seed + 1) % 5_000 == 0 {
            eprintln!("seed {seed} after {:.0?}, {} failures", begun.elapsed(), found.1.len());
        }
    }
}
