//! A seed from its first moment to the last, and the report if it breaks a rule.

use std::{
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
};

use super::{
    oracle::{Fault, Hits, Invariant},
    plant::Bug,
    world::{Cuts, World},
};

/// The result of a seed.
#[derive(Debug)]
pub struct Report {
    pub hits: Hits,
    /// A digest of everything that was observed: the same seed gives the same digest.
    pub digest: u64,
    pub failure: Option<Failure>,
    /// All events, if the run was traced.
    #[allow(dead_code, reason = "the example prints it")]
    pub trace: Vec<String>,
}

/// The number of latest events that are shown with a fault.
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

/// Returns the command that runs a seed again with a trace.
pub fn again(seed: u64, cuts: Cuts) -> String {
    let cut = match cuts {
        Cuts::Seeded => String::new(),
        Cuts::Into(piece) => format!(" --cut {piece}"),
    };
    format!("cargo run --release --example sim -- --seed {seed}{cut} --trace")
}

/// Runs a seed. If the seed breaks a rule, runs it again with a trace.
pub fn run(seed: u64) -> Report {
    run_with(seed, Cuts::Seeded, None)
}

/// Runs a seed like [`run`], with these cuts and this planted fault.
pub fn run_with(seed: u64, cuts: Cuts, bug: Option<Bug>) -> Report {
    let report = once(seed, cuts, bug, false);
    if report.failure.is_some() { once(seed, cuts, bug, true) } else { report }
}

/// Runs a seed with a trace.
#[allow(dead_code, reason = "the example does")]
pub fn run_traced(seed: u64, cuts: Cuts) -> Report {
    once(seed, cuts, None, true)
}

fn once(seed: u64, cuts: Cuts, bug: Option<Bug>, traced: bool) -> Report {
    let mut world = World::new(seed, cuts, bug, traced);
    let done = catch_unwind(AssertUnwindSafe(|| live(&mut world)));
    world.ledgers.values().for_each(|ledger| world.oracle.saw(ledger.digest));
    let oracle = &mut world.oracle;
    if let Err(panic) = done {
        let message = panic.downcast_ref::<String>().cloned();
        let message = message.or_else(|| panic.downcast_ref::<&str>().map(|&text| text.into()));
        oracle.claim(false, Invariant::Total, || format!("a panic: {}", message.unwrap_or_default()));
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
