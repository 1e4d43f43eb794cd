//! Two sessions on a bad link, under a model that tracks ids: 4,000 random scripts in every run of
//! the tests, and 100,000 by
//! `cargo test --release -p ide-mcp --test it -- --ignored mcp_sim --nocapture`.
//!
//! The module `sim` defines a script. Its number repeats it.

use crate::mcp_support::sim::{MUST_HIT, STEPS, run};
use crate::mcp_support::watch::Hits;

/// Scripts that once broke a rule.
const REGRESSIONS: &[u64] = &[];

#[test]
fn some_thousand_scripts() {
    let mut hits = Hits::new();
    for seed in REGRESSIONS.iter().copied().chain(0..4_000) {
        run_named(seed, &mut hits);
    }
    (0..200).for_each(|seed| a_binary_frame(seed, &mut hits));
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
    (0..5_000).for_each(|seed| a_binary_frame(seed, &mut hits));
    println!("{SCRIPTS} scripts of at least {STEPS} steps");
    for (what, count) in &hits {
        println!("{count:>10}  {what}");
    }
    judge(&hits);
}

/// Runs a script, and prints its number if it fails.
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

/// C21: a binary message ends the connection, and every open call once, whole or in fragments. The
/// rule is kept by the layer that joins the session with its frames, so it has scripts of its own.
fn a_binary_frame(seed: u64, hits: &mut Hits) {
    use crate::support::ide::{
        BINARY, Editor, call, called, close_tab, config, masked, open_diff, request, shown, text,
    };
    use ide_mcp::testing::Random;

    let mut random = Random::new(seed);
    let mut editor = Editor::attached(config());
    let mut tabs = Vec::new();
    for id in 1..=random.below(12) {
        let tab = format!("tab {id}");
        match random.below(4) {
            0 if !tabs.is_empty() => {
                let tab: String = tabs.remove(random.below(tabs.len()));
                let ended = format!("diff {tab} TabClosed");
                assert_eq!(shown(&editor.say(&close_tab(id, &tab))), [ended], "script {seed}");
            }
            1 => drop(editor.say(&request(id, "ping"))),
            _ => {
                called(&editor.say(&open_diff(id, &tab)));
                tabs.push(tab);
            }
        }
    }
    let payload = ["", "{", r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#][random.below(3)];
    // The message comes whole or in fragments, and a call may follow, which the connection ignores.
    let frames = match random.below(2) {
        0 => masked(BINARY, payload.as_bytes()),
        _ => [masked(BINARY & 0x7f, payload.as_bytes()), masked(0x80, b"")].concat(),
    };
    let behind = if random.below(2) == 0 { text(&call(99, "closeAllDiffTabs", "{}")) } else { Vec::new() };
    let bytes = [frames, behind].concat();
    let mut events = Vec::new();
    for piece in bytes.chunks(1 + random.below(bytes.len())) {
        events.extend(editor.feed(piece));
    }
    let mut expected: Vec<_> = tabs.iter().map(|tab| format!("diff {tab} Disconnected")).collect();
    expected.push("Closed(ProtocolError(UnexpectedBinary))".into());
    assert_eq!(shown(&events), expected, "script {seed}");
    assert_eq!(shown(&editor.eof()), [""; 0], "script {seed}");
    *hits.entry("C21".into()).or_default() += 1;
}
