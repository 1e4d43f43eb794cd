//! One seed, from its first moment to the last, and what is said if it breaks a rule.

use std::{
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
};

use super::{
    oracle::{Fault, Hits, Invariant},
    plant::Bug,
    world::{Cuts, World},
};

/// What became of a seed.
#[derive(Debug)]
pub struct Report {
    pub hits: Hits,
    /// Everything that was seen, in one number: the same seed gives the same.
    pub digest: u64,
    pub failure: Option<Failure>,
    /// Everything that happened, if it was asked for.
    #[allow(dead_code, reason = "the example prints it")]
    pub trace: Vec<String>,
}

/// How many of the latest events are shown with a fault.
const SHOWN: usize = 40;

/// A seed that broke a rule.
#[derive(Clone, Debug)]
pub struct Failure {
    pub seed: u64,
    pub cuts: Cuts,
    pub step: usize,
    pub fault: Fault,
    pub last_events: Vec<String>,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seed, cuts, step, fault, last_events } = self;
        writeln!(
            f,
            "seed {seed}, step {step}: {:?} is broken ({})",
            fault.invariant,
            fault.invariant.rule().trim()
        )?;
        writeln!(f, "  {}", fault.why)?;
        writeln!(f, "the last events:")?;
        for event in last_events {
            writeln!(f, "  {event}")?;
        }
        write!(f, "again: {}", again(*seed, *cuts))
    }
}

/// The command that runs a seed once more and writes everything down.
pub fn again(seed: u64, cuts: Cuts) -> String {
    let cut = match cuts {
        Cuts::Seeded => String::new(),
        Cuts::Into(piece) => format!(" --cut {piece}"),
    };
    format!("cargo run --release --example sim -- --seed {seed}{cut} --trace")
}

/// Runs a seed. If it breaks a rule, once more with everything written down.
pub fn run(seed: u64) -> Report {
    run_with(seed, Cuts::Seeded, None)
}

/// The same, with the bytes cut so and with this fault planted.
pub fn run_with(seed: u64, cuts: Cuts, bug: Option<Bug>) -> Report {
    let report = once(seed, cuts, bug, false);
    if report.failure.is_some() { once(seed, cuts, bug, true) } else { report }
}

/// Runs a seed and writes everything down.
#[allow(dead_code, reason = "the example does")]
pub fn run_traced(seed: u64, cuts: Cuts) -> Report {
    once(seed, cuts, None, true)
}

fn once(seed: u64, cuts: Cuts, bug: Option<Bug>, traced: bool) -> Report {
    let mut world = World::new(seed, cuts, bug, traced);
    let done = catch_unwind(AssertUnwindSafe(|| live(&mut world)));
    world.books.values().for_each(|book| world.oracle.saw(book.digest));
    let oracle = &mut world.oracle;
    if let Err(panic) = done {
        let said = panic.downcast_ref::<String>().cloned();
        let said = said.or_else(|| panic.downcast_ref::<&str>().map(|&text| text.into()));
        oracle.claim(false, Invariant::Total, || format!("a panic: {}", said.unwrap_or_default()));
    }
    let trace = oracle.trace().to_vec();
    let failure = oracle.fault().map(|fault| Failure {
        seed,
        cuts,
        step: oracle.step,
        fault,
        last_events: trace[trace.len().saturating_sub(SHOWN)..].to_vec(),
    });
    Report { digest: oracle.digest(), hits: std::mem::take(&mut oracle.hits), failure, trace }
}

fn live(world: &mut World) {
    world.oracle.note(|| format!("{:?}", world.plan));
    world.settle();
    for step in 0..world.plan.steps {
        world.oracle.step = step;
        world.step();
        if !world.oracle.is_content() {
            return;
        }
    }
    world.oracle.step = world.plan.steps;
    world.calm();
    if world.oracle.is_content() {
        world.finish();
    }
}
