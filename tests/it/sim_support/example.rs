//! The simulation of `tests/it/sim_support`, for any number of seeds: see [`HELP`].
#![allow(
    dead_code,
    missing_docs,
    missing_debug_implementations,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::panic,
    clippy::wildcard_enum_match_arm,
    clippy::print_stderr,
    reason = "a program that reports, with parts of the tests"
)]

#[path = "../../model/mod.rs"]
mod model;
#[path = "mod.rs"]
mod sim_support;
#[path = "../support"]
mod support {
    pub mod client_messages;
    pub mod frames;
}

use std::{
    fmt::Display,
    io::{self, Write},
    ops::{Range, RangeInclusive},
    process::ExitCode,
    sync::Mutex,
    time::{Duration, Instant},
};

use sim_support::{
    must_hit::{SEEDS, missing},
    oracle::{Hits, add},
    run::{Failure, run, run_traced, run_with},
    world::Cuts,
};

const HELP: &str = "\
Simulates an editor and every program that attaches to it, and checks all rules. One seed is one run.

usage: sim --seeds COUNT [--from SEED] [--jobs THREADS]
       sim --seed SEED [--cut BYTES] [--trace]
       sim --help

  --seeds COUNT   runs this many seeds, and prints how often each situation occurred that the rules are about
  --from SEED     begins with this seed (0)
  --jobs THREADS  runs this many seeds at a time (1)
  --seed SEED     runs this seed alone
  --cut BYTES     cuts what is sent into pieces of at most BYTES, in a run without accidents, and fails if the digest
                  differs from that of the same run uncut
  --trace         prints everything that happens

A seed that breaks a rule is printed with its last events and the command that repeats it; after ten of them no more
seeds run. Progress goes to standard error, every ten seconds.

exit status: 0 if every rule holds; 1 if one is broken, a cut changes the digest, or 300 seeds or more have missed a
situation; 2 for a wrong command line";

/// The number of failures after which no further seeds run.
const ENOUGH: usize = 10;

/// The limits of the number of threads. More threads than processors would only take memory.
const THREADS: RangeInclusive<u64> = 1..=256;

/// The interval of the progress reports.
const PACE: Duration = Duration::from_secs(10);

fn main() -> ExitCode {
    // A panic is reported as the failure of its seed, so the hook prints nothing.
    std::panic::set_hook(Box::new(|_| {}));
    match Command::read(std::env::args().skip(1)) {
        Ok(Command::Help) => {
            print(HELP);
            ExitCode::SUCCESS
        }
        Ok(Command::One { seed, cuts, trace }) => one(seed, cuts, trace),
        Ok(Command::Many { seeds, jobs }) => many(seeds, jobs),
        Err(why) => {
            eprintln!("sim: {why}; see sim --help");
            ExitCode::from(2)
        }
    }
}

#[derive(Debug)]
enum Command {
    Help,
    One { seed: u64, cuts: Cuts, trace: bool },
    Many { seeds: Range<u64>, jobs: u64 },
}

impl Command {
    fn read(mut arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let (mut seed, mut cut, mut trace) = (None, None, false);
        let (mut seeds, mut from, mut jobs) = (None, None, None);
        while let Some(name) = arguments.next() {
            let number = match &*name {
                "--help" | "-h" => return Ok(Self::Help),
                "--trace" => {
                    trace = true;
                    continue;
                }
                "--seeds" => &mut seeds,
                "--from" => &mut from,
                "--jobs" => &mut jobs,
                "--seed" => &mut seed,
                "--cut" => &mut cut,
                _ => return Err(format!("unknown argument {name:?}")),
            };
            let value = arguments.next().ok_or_else(|| format!("{name} needs a number"))?;
            *number = Some(value.parse().map_err(|_| format!("{name} needs a number, and not {value:?}"))?);
        }
        let cuts = match cut.map(usize::try_from) {
            None => Cuts::Seeded,
            Some(Ok(0)) => return Err("--cut must be at least 1".into()),
            Some(piece) => Cuts::Into(piece.unwrap_or(usize::MAX)),
        };
        match (seed, seeds) {
            (Some(seed), None) if from.is_none() && jobs.is_none() => Ok(Self::One { seed, cuts, trace }),
            (None, Some(0)) => Err("--seeds must be at least 1".into()),
            (None, Some(_)) if jobs.is_some_and(|jobs| !THREADS.contains(&jobs)) => {
                Err(format!("--jobs takes {} to {}", THREADS.start(), THREADS.end()))
            }
            (None, Some(seeds)) if !trace && cut.is_none() => {
                let from = from.unwrap_or(0);
                let end = from.checked_add(seeds).ok_or("--from and --seeds together exceed 2^64 - 1")?;
                Ok(Self::Many { seeds: from..end, jobs: jobs.unwrap_or(1) })
            }
            (None, None) => Err("give --seed SEED or --seeds COUNT".into()),
            _ => Err("--cut and --trace belong to --seed, --from and --jobs to --seeds".into()),
        }
    }
}

/// Prints a line. An error, such as a closed pipe, is ignored.
fn print(line: impl Display) {
    let _ = writeln!(io::stdout(), "{line}");
}

/// Runs one seed.
fn one(seed: u64, cuts: Cuts, trace: bool) -> ExitCode {
    let report = if trace { run_traced(seed, cuts) } else { run_with(seed, cuts, None) };
    report.trace.iter().for_each(print);
    print(format_args!("digest {:016x}", report.digest));
    if let Some(failure) = report.failure {
        print(failure);
        return ExitCode::FAILURE;
    }
    if cuts != Cuts::Seeded {
        let whole = run_with(seed, Cuts::Into(usize::MAX), None).digest;
        if whole != report.digest {
            print(format_args!("seed {seed}: the cuts show, uncut the digest is {whole:016x}"));
            return ExitCode::FAILURE;
        }
    }
    print(format_args!("seed {seed}: every rule holds"));
    ExitCode::SUCCESS
}

/// The result of many seeds so far.
#[derive(Debug)]
struct Found {
    /// The seeds that have not run.
    seeds: Range<u64>,
    done: u64,
    hits: Hits,
    failures: Vec<Failure>,
    /// The time of the last progress report.
    record: Duration,
}

/// Runs many seeds, and prints their hits.
fn many(seeds: Range<u64>, jobs: u64) -> ExitCode {
    let (begun, first) = (start(), seeds.start);
    let found =
        Mutex::new(Found { seeds, done: 0, hits: Hits::new(), failures: Vec::new(), record: Duration::ZERO });
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| work(begun, &found));
        }
    });
    let Ok(Found { done, hits, mut failures, .. }) = found.into_inner() else { return ExitCode::FAILURE };
    failures.sort_by_key(|failure| failure.seed);
    print(format_args!("{done} seeds from {first} in {:.1?}", begun.elapsed()));
    for (what, count) in &hits {
        print(format_args!("{count:>10}  {what}"));
    }
    failures.iter().for_each(|failure| print(format_args!("\n{failure}")));
    let missing = if done >= SEEDS { missing(&hits) } else { Vec::new() };
    if !missing.is_empty() {
        print(format_args!("\nnever hit: {missing:?}"));
    }
    if failures.is_empty() && missing.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Returns the start of the run, for the report of its duration.
#[allow(clippy::disallowed_methods, reason = "no machine sees it")]
fn start() -> Instant {
    Instant::now()
}

/// Runs one seed after the other, until none is left.
fn work(begun: Instant, found: &Mutex<Found>) {
    loop {
        let Some(seed) = found.lock().ok().and_then(|mut found| found.seeds.next()) else { return };
        let report = run(seed);
        let Ok(mut found) = found.lock() else { return };
        found.done += 1;
        add(&mut found.hits, report.hits);
        if let Some(failure) = report.failure {
            eprintln!("seed {seed} breaks {:?}", failure.fault.invariant);
            found.failures.push(failure);
        }
        if found.failures.len() >= ENOUGH {
            found.seeds = 0..0;
        }
        let elapsed = begun.elapsed();
        if elapsed >= found.record + PACE {
            found.record = elapsed;
            eprintln!("{} seeds after {elapsed:.0?}, {} failures", found.done, found.failures.len());
        }
    }
}
