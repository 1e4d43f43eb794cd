//! A simulation of an editor and all programs that attach to it: some hundred seeds in every run of
//! the tests, and 100,000 by `cargo run --release --example sim -- --seeds 100000`, which
//! `tests/lab/run laws` runs.
//!
//! A seed determines a whole run (see `sim_support`), so the number of a seed repeats its run.

use crate::sim_support::{
    must_hit::{SEEDS, missing},
    oracle::{Hits, Invariant, add},
    plant::Bug,
    run::{again, run, run_with},
    world::Cuts,
};

#[test]
fn seeds_keep_every_rule_and_reach_every_event() {
    let mut hits = Hits::new();
    for seed in 0..SEEDS {
        let report = run(seed);
        if let Some(failure) = report.failure {
            panic!("{failure}");
        }
        add(&mut hits, report.hits);
    }
    assert_eq!(missing(&hits), [""; 0], "no seed has reached these events");
}

#[test]
fn same_seed_gives_the_same_run() {
    let digests: Vec<u64> = (0..20).map(|seed| run(seed).digest).collect();
    for (seed, digest) in (0..).zip(&digests) {
        assert_eq!(run(seed).digest, *digest, "seed {seed}");
    }
    let mut different = digests.clone();
    different.sort_unstable();
    different.dedup();
    assert_eq!(different.len(), digests.len(), "other seeds have other digests");
}

/// Checks that for each planted fault at least one seed reports the rule that the fault breaks. Other
/// seeds can report another rule first.
#[test]
fn planted_faults_are_found_under_their_rule() {
    let mut wrong = Vec::new();
    for (bug, invariant) in Bug::ALL {
        let mut found = Vec::new();
        let is_found = (0..SEEDS).any(|seed| {
            let under = finds(seed, *bug);
            found.extend(under);
            under == Some(*invariant)
        });
        if !is_found {
            wrong.push(format!("{bug:?} breaks {invariant:?}, and is found as {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Returns the rule under which the simulation of a seed reports a fault.
fn finds(seed: u64, bug: Bug) -> Option<Invariant> {
    let of = |cuts| run_with(seed, cuts, Some(bug));
    if bug != Bug::ShowsCuts {
        return of(Cuts::Seeded).failure.map(|failure| failure.fault.invariant);
    }
    (of(Cuts::Into(20)).digest != of(Cuts::Into(usize::MAX)).digest).then_some(Invariant::Cuts)
}

#[test]
fn i26_cuts_do_not_matter() {
    let mut different = Vec::new();
    for seed in 0..60 {
        let of = |cuts| {
            let report = run_with(seed, cuts, None);
            report.failure.map_or(report.digest, |failure| panic!("{failure}"))
        };
        let whole = of(Cuts::Into(usize::MAX));
        for cuts in [1_000, 20].map(Cuts::Into) {
            if of(cuts) != whole {
                different.push(again(seed, cuts));
            }
        }
    }
    assert!(different.is_empty(), "{:?}; again:\n{}", Invariant::Cuts, different.join("\n"));
}

#[test]
fn failure_shows_how_to_reproduce_it() {
    for (cuts, cut) in [(Cuts::Seeded, ""), (Cuts::Into(20), " --cut 20")] {
        let failure = (0..60).find_map(|seed| run_with(seed, cuts, Some(Bug::NeverAnswers)).failure).unwrap();
        let message = failure.to_string();
        let again = format!("cargo run --release --example sim -- --seed {}{cut} --trace", failure.seed);
        assert!(message.contains("AnsweredOnce") && message.contains(&again), "{message}");
        assert!(message.lines().count() > 10, "the failure has the last events: {message}");
    }
}
