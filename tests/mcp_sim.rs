//! Two sessions on a bad link, under a model that tracks ids: some thousand random scripts in every run of the tests, and
//! a hundred thousand by `cargo test --release -p ide-mcp --test mcp_sim -- --ignored --nocapture`.
//!
//! What a script is stands in `sim`. It is repeated by its number.
#![cfg(feature = "ide")]
#![allow(
    missing_docs,
    clippy::unwrap_used,
    dead_code,
    unreachable_pub,
    missing_debug_implementations,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test states what it expects"
)]

mod mcp_support;
#[path = "mcp_support/sim.rs"]
mod sim;
#[path = "support/ide.rs"]
mod support;

use mcp_support::watch::Hits;
use sim::{MUST_HIT, STEPS, run};

/// Scripts that broke something once.
const REGRESSIONS: &[u64] = &[];

#[test]
fn some_thousand_scripts() {
    let mut hits = Hits::new();
    for seed in REGRESSIONS.iter().copied().chain(0..4_000) {
        run_named(seed, &mut hits);
    }
    a_binary_frame(&mut hits);
    judge(&hits);
}

#[test]
#[ignore = "a minute; .ci/full runs it"]
fn hundred_thousand_scripts() {
    const SCRIPTS: u64 = 100_000;
    let mut hits = Hits::new();
    for seed in 1_000_000..1_000_000 + SCRIPTS {
        run_named(seed, &mut hits);
    }
    a_binary_frame(&mut hits);
    println!("{SCRIPTS} scripts of at least {STEPS} steps");
    for (what, count) in &hits {
        println!("{count:>10}  {what}");
    }
    judge(&hits);
}

/// A failure says which script it was.
fn run_named(seed: u64, hits: &mut Hits) {
    let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| run(seed, hits)));
    if let Err(fault) = done {
        eprintln!("script {seed}");
        std::panic::resume_unwind(fault);
    }
}

fn judge(hits: &Hits) {
    let missed: Vec<_> = MUST_HIT.iter().filter(|what| !hits.contains_key(**what)).collect();
    assert!(missed.is_empty(), "never hit: {missed:?}");
}

/// C21 is of the layer that joins the session with its frames: it ends the connection, and every call once.
fn a_binary_frame(hits: &mut Hits) {
    use support::{BINARY, Editor, INITIALIZED, called, config, masked, open_diff, shown};

    let mut editor = Editor::attached(config());
    called(&editor.say(&open_diff(1, "tab")));
    let events = editor.feed(&masked(BINARY, INITIALIZED.as_bytes()));
    assert_eq!(shown(&events), ["diff tab Disconnected", "Closed(Violation(UnexpectedBinary))"]);
    *hits.entry("C21".into()).or_default() += 1;
}
