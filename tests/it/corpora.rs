//! Replays the corpora of the fuzz targets: regression tests that need no fuzzer.

#[path = "../../fuzz/src/seeds.rs"]
mod seeds;
#[path = "../../fuzz/src/targets/mod.rs"]
mod targets;

use crate::mcp_scripts::{Situations, judge, play};
use crate::sessions::Hits;
use ide_mcp::testing::Random;
use std::path::Path;

/// Runs a random input through the targets that can check it: they know how it was made, so they know what
/// to expect.
fn random_input(random: &mut Random) -> Hits {
    let len = 16 + random.below(700);
    let bytes = random.bytes(len);
    if random.one_in(8) {
        targets::pair(&bytes);
        targets::ide_server_script(&bytes);
    }
    targets::rpc_script_hits(&bytes)
}

/// The kinds of calls that random inputs must reach, each with the codes of its answers (`null` for a
/// result).
const MUST_HIT: Situations<'_> = &[
    ("Containing", "null"),
    ("Error", "-32002 -32600 -32601 -32602"),
    ("Exactly", "null"),
    ("InvalidArguments", "-32602 null"),
    ("Listing", "null"),
    ("OrBusy", "-32603"),
    ("Raw", "-1 -32603 null"),
    ("ReadByTool", "-1 -32603"),
    ("Tool", "-1 null"),
];

#[test]
fn some_thousand_inputs() {
    judge(&play(0..2_000, random_input), MUST_HIT);
}

#[test]
#[ignore = "a minute; tests/lab/run laws runs it"]
fn hundred_thousand_inputs() {
    judge(&play(1_000_000..1_100_000, random_input), MUST_HIT);
}

/// What random scripts of an agent with a foreign editor must reach.
const FOREIGN: Situations<'_> = &[
    ("event", "Ready SubprotocolMissing Failed Outcome Progress Form Request CallEnded Pushed ToolsChanged"),
    ("event", "Notification PeerError PeerFault Closed"),
    ("pushed", "SelectionChanged AtMentioned DiagnosticsChanged ActiveEditorChanged"),
    ("outcome", "Cancelled Closed Error Malformed Result TimedOut"),
    ("read", "Ok Error Failed TimedOut Cancelled Unreadable Closed"),
    ("call ended", "Cancelled Closed Expired"),
    ("closed", "Remote Local NotAccepted ProtocolError Abnormal TimedOut"),
    (
        "fault",
        "Batch EndlessList LateResponse Message UnknownProgress UnknownResponse UnreadableList StaleProgress",
    ),
    ("not sent", "NotReady TooManyInFlight Closed"),
];

/// Whatever bytes a foreign editor sends, in whatever pieces and at whatever times, an agent keeps the laws
/// and its promises.
#[test]
fn foreign_editors_break_no_promise_of_an_agent() {
    judge(&play(0..3_000, foreign_editor), FOREIGN);
}

#[test]
#[ignore = "four minutes; tests/lab/run laws runs it"]
fn hundred_thousand_foreign_editors() {
    judge(&play(1_000_000..1_100_000, foreign_editor), FOREIGN);
}

fn foreign_editor(random: &mut Random) -> Hits {
    targets::ide_client_script_hits(&targets::random_ide_client_script(random))
}

macro_rules! corpora {
    ($($name:ident),* $(,)?) => {$(
        #[test]
        fn $name() {
            let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz");
            seeds::replay(&fuzz, stringify!($name), targets::$name);
        }
    )*};
}

corpora!(
    frames,
    handshake_server,
    handshake_client,
    ws_server_script,
    ws_client_script,
    against_tungstenite,
    rpc_text,
    rpc_script,
    mcp_server_script,
    mcp_client_script,
    pair,
    ide_server_script,
    ide_client_script,
    lockfile,
    paths,
);
