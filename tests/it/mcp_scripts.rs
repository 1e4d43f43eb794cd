//! Random scripts for a session of either role, under the model of the fuzz targets. Each run of the
//! tests plays 6,000 scripts of each role; this command plays 100,000:
//! `cargo test --release -p ide-mcp --test it -- --ignored hundred_thousand_scripts --nocapture`.

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::OnceLock;

use crate::sessions::{Hits, client_script, random_client_script, random_server_script, server_script};
use ide_mcp::testing::Random;

/// Situations that scripts must reach: a kind, and its members.
pub type Situations<'a> = &'a [(&'a str, &'a str)];

const MUST_HIT: Situations<'_> = &[
    ("answer", "result -32600 -32601 -32602 -32603"),
    ("call", "answered"),
    ("call ended", "Cancelled Closed Expired ShutDown"),
    ("cancelled", "sent"),
    ("closed", "in_order"),
    ("error", "without_id"),
    ("failed", "Closed Malformed Refused TimedOut UnknownVersion"),
    ("outcome", "Cancelled Closed Error Malformed Result TimedOut"),
    ("progress", "received sent"),
    ("race:", "cancelled_then_answered cancelled_then_closed cancelled_then_progress cancelled_twice"),
    ("race:", "answered_then_cancelled cancelled_unknown_id cancelled_initialize"),
    ("race:", "cancelled_then_id_again_then_answered"),
    ("refused", "Answered Cancelled Closed Expired Unknown"),
    ("session", "unresponsive too_many_faults"),
    ("prompts/list", "result -32602"),
    ("prompts/get", "-32600 -32601 -32602 -32603"),
    ("resources/read", "-32002 -32600 -32601 -32602 -32603"),
    ("roots/list", "result -32601"),
    ("elicitation/create", "-32600 -32601 -32602 -32603"),
    ("Prompt", "answered Cancelled Closed Expired ShutDown"),
    ("Resource", "answered Cancelled Closed Expired ShutDown"),
    ("ReadByTool", "answered Cancelled Closed Expired ShutDown"),
    ("Form", "answered Cancelled Closed Expired ShutDown"),
    ("form", "Cancelled Closed Error Malformed Result TimedOut"),
    ("context", "changed"),
    ("violation", "Batch BatchLength NestedBatch TooDeep DuplicateMember MixedMembers WrongVersion"),
    ("violation", "InvalidId InvalidParams NotAMessage NotJson Premature RequestWithoutId"),
    ("violation", "LateResponse UnknownResponse MalformedResponse UnreadableList EndlessList"),
    ("violation", "StaleProgress UnknownProgress"),
];

/// Asserts that the 6,000 scripts reach these situations. The scripts are run once, under the model.
#[track_caller]
pub fn reach(situations: Situations<'_>) {
    static HITS: OnceLock<Hits> = OnceLock::new();
    judge(HITS.get_or_init(|| play(0..6_000, both_roles)), situations);
}

#[test]
fn some_thousand_scripts() {
    reach(MUST_HIT);
}

#[test]
#[ignore = "a minute; tests/lab/run laws runs it"]
fn hundred_thousand_scripts() {
    judge(&play(1_000_000..1_100_000, both_roles), MUST_HIT);
}

fn both_roles(random: &mut Random) -> Hits {
    let mut hits = server_script(&random_server_script(random));
    add(&mut hits, client_script(&random_client_script(random)));
    hits
}

/// Runs a script for each seed, and prints the seed of a script that fails and the counts of all.
pub fn play(seeds: Range<u64>, script: impl Fn(&mut Random) -> Hits) -> Hits {
    let mut hits = Hits::new();
    for seed in seeds {
        let played = catch_unwind(AssertUnwindSafe(|| script(&mut Random::new(seed))));
        add(
            &mut hits,
            played.unwrap_or_else(|fault| {
                eprintln!("script {seed}");
                resume_unwind(fault)
            }),
        );
    }
    println!("{hits:#?}");
    hits
}

fn add(hits: &mut Hits, more: Hits) {
    more.into_iter().for_each(|(what, count)| *hits.entry(what).or_default() += count);
}

/// Asserts that each of these situations has a hit.
#[track_caller]
pub fn judge(hits: &Hits, situations: Situations<'_>) {
    let all = situations
        .iter()
        .flat_map(|(kind, names)| names.split(' ').map(move |name| format!("{kind} {name}")));
    let missed: Vec<String> = all.filter(|what| !hits.contains_key(what)).collect();
    assert!(missed.is_empty(), "never hit: {missed:?}");
}
