//! The parts of the doctor that need no process, each with its tests, and the page that explains its findings.
#![allow(
    clippy::wildcard_enum_match_arm,
    dead_code,
    unreachable_pub,
    unused_imports,
    reason = "only the tests of the parts are of interest here"
)]

#[path = "../doctor/facts.rs"]
mod facts;
#[path = "../doctor/kinds.rs"]
mod kinds;
#[path = "../doctor/report/mod.rs"]
mod report;
#[path = "../doctor/rules/mod.rs"]
mod rules;

use std::fmt::Write as _;
use std::path::Path;

/// `docs/doctor.md` says what the doctor says.
#[test]
fn the_page_of_findings_is_the_table() {
    let mut page = String::from(
        "# What `doctor` finds\n\nWritten by a test from the table in `examples/doctor/kinds.rs`; it fails where this page says \
         something else. An id never\nchanges its meaning. A problem keeps an agent from attaching or lets in who should \
         not be, a warning does harm in some\ncircumstances; either makes the exit status 1. What is marked with * makes it \
         2: something could not be looked at.\n`doctor --help` has the options and the lines of `--json`.\n\n| id | status | \
         what it means | what to do |\n| --- | --- | --- | --- |\n",
    );
    for kinds::Kind { id, status, blinds, means, advice } in kinds::ALL {
        let advice = ["path", "port", "cwd"].into_iter().fold((*advice).to_owned(), |text, name| {
            text.replace(&format!("{{{name}}}"), &name.to_uppercase())
        });
        let star = if *blinds { "*" } else { "" };
        let _ = writeln!(page, "| `{id}` | {}{star} | {means} | {advice} |", status.word());
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/doctor.md");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let there = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        there == page,
        "docs/doctor.md is out of date: UPDATE_DOCS=1 cargo test -p ide-mcp-examples --test doctor_parts"
    );
}
