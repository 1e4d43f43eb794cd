//! The tests of docs/doctor.md (its table, its commands and its sample) and of docs/troubleshooting.md.

use super::diagnosis::Diagnosis;
use super::facts::{Answer, Directory, Facts, Here, Lock, Probe, State, System, Variables};
use super::{kinds, report};
use crate::support::Shell;
use ide_mcp::ide::discovery::locate::{Environment, Extras, Source, locate};
use ide_mcp::ide::discovery::{AuthToken, LockFile};
use std::fmt::Write as _;
use std::path::Path;

/// The first line of the table. The table is written by a test, and the page above it by people.
const TABLE: &str = "| id | status | what it means | what to do |\n";

#[test]
fn findings_page_matches_the_table() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/doctor.md");
    let there = std::fs::read_to_string(&path).unwrap_or_default();
    let (prose, _) = there.split_once(TABLE).unwrap();
    let mut page = format!("{prose}{TABLE}| --- | --- | --- | --- |\n");
    let named = |text: &str| text.replace("{port}", "PORT").replace("{cwd}", "CWD");
    let values = kinds::Values { path: "PATH", port: "PORT", cwd: "CWD", is_of_another: false };
    for kinds::Kind { id, status, blinds, meaning, advice, command } in kinds::ALL {
        let star = if *blinds { "*" } else { "" };
        let command = command.as_ref().and_then(|remedy| remedy.command(Shell::Posix, values));
        let command = command.map(|command| format!(" `{command}`")).unwrap_or_default();
        let _ =
            writeln!(page, "| `{id}` | {}{star} | {meaning} | {}{command} |", status.word(), named(advice));
    }
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let there = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(there == page, "docs/doctor.md is out of date: UPDATE_DOCS=1 cargo test -p ide-mcp-cli doctor");
}

/// The page of symptoms names every problem and warning, and every finding that it names exists.
#[test]
fn symptoms_page_has_every_problem() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/troubleshooting.md");
    let page = std::fs::read_to_string(path).unwrap();
    let is_named = |kind: &kinds::Kind| page.contains(&format!("`{}`", kind.id));
    let matters = |kind: &kinds::Kind| matches!(kind.status, kinds::Status::Problem | kinds::Status::Warning);
    let missing: Vec<&str> =
        kinds::ALL.iter().filter(|kind| matters(kind) && !is_named(kind)).map(|kind| kind.id).collect();
    assert_eq!(missing, [""; 0], "docs/troubleshooting.md has no symptom for these");
    // The last column contains nothing but names of findings.
    let rows = page
        .lines()
        .filter(|row| row.starts_with("| ") && !row.contains("---") && row.matches(" |").count() == 3);
    let named: Vec<&str> = rows
        .filter_map(|row| row.trim_end_matches(" |").rsplit(" | ").next())
        .flat_map(|cell| cell.split('`'))
        .collect();
    let ids = named.iter().filter(|word| word.contains('-') && !word.contains([' ', '|']));
    let unknown: Vec<&&str> = ids.filter(|id| kinds::ALL.iter().all(|kind| kind.id != **id)).collect();
    assert!(unknown.is_empty() && named.len() > 50, "{unknown:?}");
}

/// The page has the commands of the other shells.
#[test]
fn commands_of_windows_are_on_the_page() {
    let page =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/doctor.md")).unwrap();
    let values = kinds::Values { path: "PATH", port: "PORT", cwd: "CWD", is_of_another: false };
    for remedy in kinds::ALL.iter().filter_map(|kind| kind.command.as_ref()) {
        for shell in [Shell::PowerShell, Shell::Cmd] {
            let Some(command) = remedy.command(shell, values) else { continue };
            // The page has one row for all variables. `opencode` and `ide-mcp` are started the same way in every shell.
            let one = command.split("; ").flat_map(|part| part.split(" & "));
            let known = |part: &str| {
                part == "opencode"
                    || part.starts_with("ide-mcp ")
                    || page.contains(&format!("`{}`", variable(part)))
            };
            assert!(one.into_iter().all(known), "{remedy:?}: {command}");
        }
    }
}

/// Replaces the name in a command that removes a variable by `NAME`.
fn variable(command: &str) -> String {
    let names = command.strip_prefix("$env:").and_then(|rest| rest.strip_suffix(" = $null"));
    let name = names.or_else(|| command.strip_prefix("set \"").and_then(|rest| rest.strip_suffix("=\"")));
    name.map_or_else(|| command.to_owned(), |name| command.replace(name, "NAME"))
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
    let here = Here::new("/home/me/project", "/home/me/project");
    let environment = Environment { home: Some("/home/me"), ..Environment::default() };
    let directories =
        locate(&environment, Extras { default_too: true, xdg: true, claude_code: true }).unwrap();
    let directories = directories.into_iter().map(|candidate| {
        let used = candidate.source == Source::Home;
        let state = if used { State::There { mode: Some(0o700), other_owner: None } } else { State::Missing };
        Directory {
            path: candidate.dir,
            source: candidate.source,
            used,
            state,
            weak: Vec::new(),
            is_closed_above: false,
            unwritable: None,
        }
    });
    let token = AuthToken::from_text("the-token").unwrap();
    let mut file = LockFile::new(7, vec!["/home/me/project".into()], "VS Code", token);
    file.running_in_windows = false;
    let lock = Lock {
        path: "/home/me/.claude/ide/41111.lock".into(),
        directory: 0,
        used: true,
        port: Some(41111),
        file: Ok(file),
        mode: Some(0o600),
        pid_alive: Some(true),
        modified: None,
        probe: Some(Probe::Attempted {
            with_token: Answer::Refused("401 Unauthorized".into()),
            without_token: Some(Answer::Refused("401 Unauthorized".into())),
            with_origin: Some(Answer::Declined("403 Forbidden".into())),
        }),
        unknown_owner: None,
        listener: None,
    };
    Facts {
        variables: Variables::default(),
        here,
        system: System::Linux,
        shell: Shell::Posix,
        has_agent: true,
        directories: Ok(directories.collect()),
        locks: vec![lock],
        removed: Vec::new(),
        now: None,
    }
}
