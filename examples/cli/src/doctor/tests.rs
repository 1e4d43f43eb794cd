//! The tests of the page that explains the findings, and of the sample in README.md.

use super::facts::{Answer, Directory, Facts, Lock, Probe, State, System, Variables};
use super::{kinds, report, rules};
use ide_mcp::ide::locate::{Environment, Extras, Source, locate};
use ide_mcp::ide::{AuthToken, LockFile};
use ide_mcp_lockfile::WorkingDir;
use std::fmt::Write as _;
use std::path::Path;

#[test]
fn findings_page_matches_the_table() {
    let mut page = String::from(
        "# The findings of `ide-mcp doctor`\n\nWritten by a test from the table in `examples/cli/src/doctor/kinds/table.rs`; it fails where this page says \
         something else. An id never\nchanges its meaning. A problem keeps an agent from attaching or lets in who should \
         not be, a warning does harm in some\ncircumstances; either makes the exit status 1. What is marked with * makes it \
         2: something could not be looked at.\n`ide-mcp doctor --help` has the options and the lines of `--json`.\n\n\
         A command is for a POSIX shell, in the terminal in which the agent runs, since some commands set variables. A \
         test follows\neach advice that a program can follow, and requires that it mends the fault.\n\n| id | status | \
         what it means | what to do |\n| --- | --- | --- | --- |\n",
    );
    let named = |text: &str| {
        let names = ["path", "port", "cwd"].into_iter();
        names.fold(text.to_owned(), |text, name| text.replace(&format!("{{{name}}}"), &name.to_uppercase()))
    };
    for kinds::Kind { id, status, blinds, means, advice, command } in kinds::ALL {
        let star = if *blinds { "*" } else { "" };
        let command = if command.is_empty() { String::new() } else { format!(" `{}`", named(command)) };
        let _ = writeln!(page, "| `{id}` | {}{star} | {means} | {}{command} |", status.word(), named(advice));
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/doctor.md");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let there = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(there == page, "docs/doctor.md is out of date: UPDATE_DOCS=1 cargo test -p ide-mcp-cli doctor");
}

/// README.md has the report about an editor that refuses its own token, without another fault.
#[test]
fn readme_sample_matches_the_report() {
    let printed = printed(&refused());
    let readme =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md")).unwrap();
    assert!(
        readme.contains(&format!("```text\n{printed}\n```\n")),
        "README.md shows something else than\n{printed}"
    );
}

fn printed(facts: &Facts) -> String {
    let findings = rules::judge(facts);
    let verdict = rules::verdict(facts, &findings);
    let report = report::Report { findings: &findings, verdict: &verdict, cwd: &facts.here.logical };
    report::text(&report, false, false)
}

/// Returns facts with one editor that has the directory open and another token than its lock file.
fn refused() -> Facts {
    let mut here = WorkingDir::of(Some("/".as_ref())).unwrap();
    (here.logical, here.canonical) = ("/home/me/project".into(), "/home/me/project".into());
    let environment = Environment { home: Some("/home/me"), ..Environment::default() };
    let directories =
        locate(&environment, Extras { default_too: true, xdg: true, claude_code: true }).unwrap();
    let directories = directories.into_iter().map(|candidate| {
        let used = candidate.source == Source::Home;
        let state = if used { State::There { mode: Some(0o700), stranger: None } } else { State::Missing };
        Directory { path: candidate.dir, source: candidate.source, used, state, weak: Vec::new() }
    });
    let token = AuthToken::from_text("the-token").unwrap();
    let lock = Lock {
        path: "/home/me/.claude/ide/41111.lock".into(),
        directory: 0,
        used: true,
        port: Some(41111),
        file: Ok(LockFile::new(7, vec!["/home/me/project".into()], "VS Code", token)),
        mode: Some(0o600),
        pid_alive: Some(true),
        modified: None,
        probe: Some(Probe::Asked {
            with_token: Answer::Refused("401 Unauthorized".into()),
            without_token: Some(Answer::Refused("401 Unauthorized".into())),
            with_origin: Some(Answer::Declined("403 Forbidden".into())),
        }),
        listener: None,
    };
    Facts {
        variables: Variables::default(),
        here,
        system: System::Linux,
        directories: Ok(directories.collect()),
        locks: vec![lock],
        removed: Vec::new(),
    }
}
