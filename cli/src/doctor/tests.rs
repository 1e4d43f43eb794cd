//! The tests of the page that explains the findings, of the help, and of the sample in README.md.

use super::diagnosis::Diagnosis;
use super::facts::{Answer, Directory, Facts, Lock, Probe, State, System, Variables};
use super::{kinds, report};
use ide_mcp::ide::discovery::locate::{Environment, Extras, Source, locate};
use ide_mcp::ide::discovery::{AuthToken, LockFile};
use ide_mcp_lockfile::WorkingDir;
use std::fmt::Write as _;
use std::path::Path;

/// The first line of the table. People write the page before the table.
const TABLE: &str = "| id | status | what it means | what to do |\n";

#[test]
fn findings_page_matches_the_table() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/doctor.md");
    let there = std::fs::read_to_string(&path).unwrap_or_default();
    let (prose, _) = there.split_once(TABLE).unwrap();
    let mut page = format!("{prose}{TABLE}| --- | --- | --- | --- |\n");
    let named = |text: &str| {
        let names = ["path", "port", "cwd"].into_iter();
        names.fold(text.to_owned(), |text, name| text.replace(&format!("{{{name}}}"), &name.to_uppercase()))
    };
    for kinds::Kind { id, status, blinds, means, advice, command } in kinds::ALL {
        let star = if *blinds { "*" } else { "" };
        let command = if command.is_empty() { String::new() } else { format!(" `{}`", named(command)) };
        let _ = writeln!(page, "| `{id}` | {}{star} | {means} | {}{command} |", status.word(), named(advice));
    }
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let there = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(there == page, "docs/doctor.md is out of date: UPDATE_DOCS=1 cargo test -p ide-mcp-cli doctor");
}

/// The page has the report about an editor that refuses its own token, without another fault.
#[test]
fn sample_of_the_page_matches() {
    let printed = printed(refused());
    let page =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/doctor.md")).unwrap();
    assert!(
        page.contains(&format!("```text\n{printed}\n```\n")),
        "the page shows something else than\n{printed}"
    );
}

fn printed(facts: Facts) -> String {
    report::text(&Diagnosis::of(facts).report(), false, report::Paint { colored: false, columns: None })
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
        Directory {
            path: candidate.dir,
            source: candidate.source,
            used,
            state,
            weak: Vec::new(),
            is_closed_above: false,
        }
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
        now: None,
    }
}
