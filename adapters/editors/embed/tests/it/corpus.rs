//! The corpus of the fuzz target, and random lines for it.

#[allow(unreachable_pub, reason = "the target is a part of another crate")]
#[path = "../../../../../fuzz/src/command_lines.rs"]
mod target;

#[allow(unreachable_pub, reason = "the seeds are a part of another crate")]
#[path = "../../../../../fuzz/src/seeds.rs"]
mod seeds;

use arbitrary::Unstructured;
use std::path::Path;

#[test]
fn corpus_holds() {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fuzz");
    seeds::replay(&fuzz, "command_lines", target::command_lines);
}

/// Lines that do something, for random scripts; the fuzzer finds more.
const LINES: &[&str] = &[
    "!d",
    "!do",
    "!gx",
    "!p",
    "!r",
    "!9",
    "!8",
    "!c",
    r#"{"cmd":"answer","call":1,"verdict":"accept"}"#,
    r#"{"cmd":"answer","call":2,"verdict":"reject"}"#,
    r#"{"cmd":"respond","call":1,"result":{"tabs":[]}}"#,
    r#"{"cmd":"respond","call":2,"result":"text"}"#,
    r#"{"cmd":"fail","call":3,"message":"m"}"#,
    r#"{"cmd":"timeout","call":1,"within":0}"#,
    r#"{"cmd":"disconnect","conn":1}"#,
    r#"{"cmd":"pause"}"#,
    r#"{"cmd":"status"}"#,
    r#"{"cmd":"tools","offer":[]}"#,
    r#"{"cmd":"select","path":"/w/a","start":[0,0],"end":[0,1]}"#,
    r#"{"cmd":"quit"}"#,
    "{}",
];

#[test]
fn random_scripts_hold() {
    arbtest::arbtest(|u| {
        target::command_lines(&script(u)?);
        Ok(())
    })
    .budget_ms(3_000);
}

fn script(u: &mut Unstructured<'_>) -> arbitrary::Result<Vec<u8>> {
    let mut script = Vec::new();
    for _ in 0..u.int_in_range(0..=30)? {
        script.push(b'\n');
        script.extend_from_slice(u.choose(LINES)?.as_bytes());
    }
    Ok(script)
}
