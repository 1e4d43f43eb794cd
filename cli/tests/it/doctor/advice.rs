//! Follows the advice of each finding literally in a terminal: it must fix the fault, and cause no other problem. A
//! table has the steps for each finding.

use super::cases::CASES;
use super::fake::TOKEN;
use super::owners;
use super::setup::{Setup, mode};
use crate::support::{Editor, Process};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};
use tungstenite::client::IntoClientRequest as _;

/// A step of a user who follows advice.
enum Step {
    /// Runs the command of the finding.
    Run,
    /// Runs the command of the finding, which starts another program. The doctor runs instead of that program.
    Start,
    /// Does what the advice with these words requires.
    Act(&'static str, fn(&mut Terminal)),
}

use Step::{Act, Run, Start};

enum Advice {
    /// The name of the case that has the fault, and the steps that fix it.
    Fixes(&'static str, &'static [Step]),
    /// The reason why no test follows the advice.
    Untested(&'static str),
}

use Advice::{Fixes, Untested};

const UPDATE: &[Step] = &[Act("pdate the extension", Terminal::restart)];
const RESTART: &[Step] = &[Act("tart the editor again", Terminal::restart)];
const RUN: &[Step] = &[Run];
const RUN_AND_RESTART: &[Step] = &[Run, Act("tart the editor again", Terminal::restart)];

/// The findings that have advice. A finding can have several rows.
const ROWS: &[(&str, Advice)] = &[
    ("variables-unusable", Fixes("a home that is not a path", &[Act("Set HOME", Terminal::set_home)])),
    ("config-dir-unusable", Fixes("an empty variable", RUN)),
    ("config-dir-unusable", Fixes("a variable that is not a path", RUN)),
    (
        "config-dir-set",
        Fixes("another directory than the editor's", &[Act("Start the editor", Terminal::restart)]),
    ),
    ("port-variable-invalid", Fixes("a port that is not a number", RUN)),
    ("port-variable-stale", Fixes("a stale port", RUN)),
    ("port-variable-elsewhere", Fixes("the port of an editor elsewhere", RUN)),
    (
        "port-variable-only-elsewhere",
        Fixes("the port of an editor of another folder", &[Act("open it there", Terminal::start), Run]),
    ),
    ("integration-off", Fixes("integration that is off", RUN)),
    ("integration-without-port", Fixes("integration without a port", RUN)),
    ("auto-connect-off", Fixes("an agent whose attaching is switched off", RUN)),
    ("host-override", Fixes("another host", RUN)),
    #[cfg(target_os = "linux")]
    ("host-override-loopback", Fixes("another address of this machine", RUN)),
    #[cfg(not(target_os = "linux"))]
    ("host-override-loopback", Untested("this system has one loopback address")),
    ("folder-check-skipped", Fixes("a folder that is not checked", RUN)),
    ("opencode-without-token", Fixes("the port of the right editor", &[Start])),
    ("proxy-takes-loopback", Fixes("a proxy", RUN)),
    ("no-proxy-differs", Fixes("half a no_proxy", RUN)),
    ("no-proxy-differs", Fixes("one no_proxy of two", RUN)),
    ("wsl", Untested("needs Windows")),
    ("directory-missing", Fixes("no directory", &[Act("Start the editor", Terminal::start)])),
    ("directory-not-a-directory", Fixes("a file instead of the directory", RUN_AND_RESTART)),
    ("directory-not-a-directory", Fixes("a file instead of the parent directory", RUN_AND_RESTART)),
    ("directory-not-a-directory", Fixes("a dangling link instead of the directory", RUN_AND_RESTART)),
    ("directory-unreadable", Fixes("an unreadable directory", RUN)),
    ("directory-unreadable", Fixes("an unreadable parent directory", RUN)),
    ("directory-unwritable", Fixes("an unwritable directory", RUN_AND_RESTART)),
    ("directory-unwritable", Fixes("no directory, and an unwritable parent", RUN_AND_RESTART)),
    ("home-of-another-user", Untested("needs the home of another user, whom the tests do not have")),
    ("directory-not-ours", Fixes("a directory of another user", RUN_AND_RESTART)),
    ("directory-writable-by-others", Fixes("a directory writable by others", RUN)),
    ("directory-readable-by-others", Fixes("a directory readable by others", RUN)),
    ("parent-not-ours", Fixes("a parent directory of another user", RUN)),
    ("parent-not-ours", Fixes("a link of another user on the way to the directory", RUN)),
    ("parent-writable-by-all", Fixes("a parent directory writable by all", RUN)),
    ("parent-writable-by-group", Fixes("a parent directory writable by a group", RUN)),
    ("locks-where-nobody-looks", Fixes("another directory than the editor's", RESTART)),
    ("no-lock-files", Fixes("no lock file", &[Act("Start the editor", Terminal::start)])),
    ("lock-misnamed", Fixes("a name without a port", RUN)),
    ("lock-is-a-link", Fixes("a link instead of a lock file", RUN)),
    ("lock-is-a-link", Fixes("a link instead of a lock file, and nothing else", RUN_AND_RESTART)),
    ("lock-not-a-file", Fixes("a pipe instead of a lock file", RUN)),
    ("lock-not-a-file", Fixes("a directory instead of a lock file", RUN)),
    ("lock-not-ours", Fixes("a lock file of another user", RUN_AND_RESTART)),
    ("lock-unreadable", Fixes("an unreadable lock file", RUN)),
    ("lock-unparsable", Fixes("half a lock file", RUN_AND_RESTART)),
    ("lock-unparsable", Fixes("bytes that are not text", RUN_AND_RESTART)),
    ("lock-unparsable-beside-editor", Fixes("half a lock file beside a running editor", RUN)),
    ("lock-without-transport", Fixes("no transport", UPDATE)),
    ("lock-legacy", Fixes("a lock file in the legacy form", UPDATE)),
    (
        "lock-readable-by-others",
        Fixes(
            "a lock file readable by others",
            &[Run, Act("Close the file", |t| mode(&t.setup.place.lock_dir(), 0o700))],
        ),
    ),
    ("lock-readable-by-others", Fixes("a lock file readable by others", RUN_AND_RESTART)),
    ("lock-without-token", Fixes("no token", UPDATE)),
    ("lock-without-process", Fixes("no process id", UPDATE)),
    ("lock-left-over", Fixes("a dead process beside a running editor", RUN)),
    ("lock-process-unseen", Fixes("an editor whose process id is not found, beside another", RUN)),
    ("leftover-hides-editor", Fixes("a newer dead process beside a running editor", RUN)),
    ("lock-without-editor", Fixes("a dead process without a name, beside a running editor", RUN)),
    (
        "lock-without-editor",
        Fixes("a web server on the port of a dead process, beside a running editor", RUN),
    ),
    (
        "lock-of-windows-elsewhere",
        Fixes("an editor on Windows", &[Run, Act("update the extension", Terminal::start)]),
    ),
    ("port-refuses", Fixes("a closed port", &[Act("Reload the window", Terminal::start), Run])),
    ("port-refuses-process-unknown", Fixes("a closed port, and no process id", RUN_AND_RESTART)),
    ("port-of-windows-refuses", Untested("needs Windows")),
    ("owner-unknown", Untested("needs a system that reports no owners")),
    ("port-of-another-user", Fixes("another user on the port", RUN_AND_RESTART)),
    ("port-without-owner", Untested("needs a port that another network namespace forwards")),
    ("port-silent", Fixes("a silent port", RESTART)),
    ("not-an-editor", Fixes("a web server", RUN_AND_RESTART)),
    ("token-refused", Fixes("a wrong token", RUN_AND_RESTART)),
    ("token-refused", Fixes("a wrong token, the JetBrains way", RUN_AND_RESTART)),
    ("editor-full", Fixes(FULL, &[Act("End agents", Terminal::end_agents)])),
    ("editor-declines", Fixes("an editor that declines", RESTART)),
    ("subprotocol-missing", Fixes("no sub-protocol", UPDATE)),
    ("session-fails", Fixes("an unknown protocol version", UPDATE)),
    ("accepts-without-token", Fixes("an editor that asks for no token", UPDATE)),
    ("accepts-with-origin", Fixes("an editor that accepts web pages", UPDATE)),
    (
        "not-probed",
        Fixes("an editor that is not probed", &[Act("without --no-connect", |t| t.setup.arguments.clear())]),
    ),
    ("port-published-twice-differently", Fixes("two lock files of one port", RUN)),
    ("several-editors", Fixes("two editors", &[Act("a terminal of the right editor", Terminal::of_editor)])),
    (
        "several-editors-one-named",
        Fixes("two editors, and the port of one", &[Act("close the other editors", Terminal::close_others)]),
    ),
    ("no-editor-for-directory", Fixes("another folder", &[Act("Open ", Terminal::start)])),
    ("no-usable-editor", Fixes("a dead process", RESTART)),
    (
        "folder-matches-only-logically",
        Fixes("the editor came through a link", &[Act("Open ", Terminal::restart)]),
    ),
    ("folder-matches-only-physically", Fixes("the agent came through a link", RUN)),
    ("folder-in-another-spelling", Untested("needs macOS or Windows")),
    ("editor-without-folders", Fixes("no folder", RUN)),
    ("editor-without-folders", Fixes("no folder", &[Act("Open ", Terminal::restart)])),
];

/// The case of an editor that has as many agents as it can have.
const FULL: &str = "an editor with many agents";

#[test]
fn advice_of_each_finding_fixes_it() {
    // The rows are independent of each other and mostly wait for processes.
    thread::scope(|scope| {
        for rows in ROWS.chunks(ROWS.len().div_ceil(4)) {
            scope.spawn(move || {
                for (id, advice) in rows {
                    let Fixes(case, steps) = advice else { continue };
                    follow(id, case, steps);
                }
            });
        }
    });
}

#[test]
fn each_finding_with_advice_has_a_row() {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/doctor.md")).unwrap();
    let (_, table) = page.split_once("| id | status |").unwrap();
    let cells = table.lines().filter(|line| line.starts_with("| `"));
    let advised: BTreeSet<&str> = cells
        .filter_map(|line| {
            let cells: Vec<&str> = line.split(" | ").collect();
            let has_advice = !cells[3].trim_matches([' ', '|']).is_empty();
            has_advice.then(|| cells[0].trim_matches(['|', ' ', '`']))
        })
        .collect();
    assert!(advised.len() > 40, "the page was read: {advised:?}");
    let rows: BTreeSet<&str> = ROWS.iter().map(|(id, _)| *id).collect();
    assert_eq!(rows, advised);
    for (id, advice) in ROWS {
        match advice {
            Fixes(case, steps) => {
                assert!(fault(case).is_some() || owners::has(case), "{id}: no case {case:?}");
                assert!(!steps.is_empty(), "{id}");
            }
            Untested(reason) => assert!(!reason.is_empty(), "{id}"),
        }
    }
}

/// Returns the function that breaks a set-up, if the user of the tests can do it.
fn fault(case: &str) -> Option<fn(&mut Setup)> {
    if case == FULL {
        return Some(|s| {
            let editor = s.place.editor(&[]);
            let lock: Value = serde_json::from_str(&fs::read_to_string(&editor.lock).unwrap()).unwrap();
            (0..16).for_each(|_| s.keep(attach(&editor.port, lock["authToken"].as_str().unwrap())));
            s.keep_editor(editor);
        });
    }
    CASES.iter().chain(owners::of_this_user()).find(|found| found.0 == case).map(|found| found.1)
}

/// Attaches an agent, which stays attached until it is dropped.
fn attach(port: &str, token: &str) -> impl Sized + use<> {
    let stream = TcpStream::connect(format!("127.0.0.1:{port}")).unwrap();
    let mut request = format!("ws://127.0.0.1:{port}").into_client_request().unwrap();
    request.headers_mut().insert("X-Claude-Code-Ide-Authorization", token.parse().unwrap());
    tungstenite::client(request, stream).unwrap()
}

fn follow(id: &str, case: &str, steps: &[Step]) {
    let Some(fault) = fault(case) else {
        // Root can read every file, and only root can give a file to another user: no user can set up all cases.
        return eprintln!("{id}: this user cannot set up {case:?}");
    };
    // A path with everything that a shell would change.
    let mut setup = Setup::at(r#"doctor's "own" $HOME `x` * {path} \ "#);
    fault(&mut setup);
    let mut terminal = Terminal::open(setup);
    let before = terminal.doctor();
    let Some(finding) = before.findings.get(id) else { panic!("{case}: no {id} in {before:?}") };
    let (advice, command) = (finding["advice"].as_str().unwrap(), finding["command"].as_str());
    let mut after = None;
    for step in steps {
        match step {
            Run => {
                let command = command.unwrap_or_else(|| panic!("{case}: {id} has no command"));
                // Braces keep the command in this shell, whose variables it can change.
                terminal.send(&format!("{{ {command}; }} >/dev/null; echo status $?"));
                assert_eq!(terminal.shell.line(), "status 0", "{case}: {command}");
            }
            Start => {
                terminal.send(command.unwrap());
                after = Some(terminal.diagnosis());
            }
            Act(words, act) => {
                assert!(advice.contains(words), "{case}: {id} advises {advice:?}");
                act(&mut terminal);
            }
        }
    }
    let begin = Instant::now();
    let mut after = after.unwrap_or_else(|| terminal.doctor());
    // A busy editor notices the end of an agent a little later.
    while after.findings.contains_key(id) && begin.elapsed() < Duration::from_secs(10) {
        after = terminal.doctor();
    }
    assert!(
        !after.findings.contains_key(id),
        "{case}: {id} is still in {after:?} after {advice} {command:?}"
    );
    let added: Vec<&String> = after.bad().filter(|new| !before.bad().any(|old| old == *new)).collect();
    assert!(added.is_empty(), "{case}: the advice of {id} causes {added:?}: {after:?}");
    assert!(after.status == 0, "{case}: the advice of {id} leaves {after:?}");
    terminal.setup.open();
}

/// The output of one run of the doctor.
#[derive(Debug)]
struct Diagnosis {
    findings: BTreeMap<String, Value>,
    status: i64,
}

impl Diagnosis {
    /// Returns the ids of the problems and the warnings.
    fn bad(&self) -> impl Iterator<Item = &String> {
        let is_bad = |finding: &Value| finding["status"] == "problem" || finding["status"] == "warning";
        self.findings.iter().filter(move |(_, finding)| is_bad(finding)).map(|(id, _)| id)
    }
}

/// A shell in the directory of the agent.
struct Terminal {
    shell: Process,
    // The editor must end before its home is removed, because it would restore its lock file there.
    editor: Option<Editor>,
    setup: Setup,
}

impl Terminal {
    /// Opens a terminal that finds `ide-mcp`, an `opencode` that is the doctor, and a `sudo` for the user
    /// of the tests.
    fn open(setup: Setup) -> Self {
        let bin = setup.place.home().parent().unwrap().join("bin");
        fs::create_dir(&bin).unwrap();
        let script = |name: &str, text: &str| {
            fs::write(bin.join(name), format!("#!/bin/sh\n{text}\n")).unwrap();
            mode(&bin.join(name), 0o755);
        };
        script("sudo", r#"exec "$@""#);
        script("opencode", DOCTOR);
        let program = Path::new(crate::executable()).parent().unwrap();
        let path = format!("{}:{}:{}", bin.display(), program.display(), std::env::var("PATH").unwrap());
        let mut command = Command::new("sh");
        setup.prepare(&mut command);
        Self { shell: Process::spawn("sh", command.env("PATH", path)), setup, editor: None }
    }

    fn send(&mut self, command: &str) {
        assert!(!command.contains('\n'), "{command:?} is one line");
        self.shell.send_line(command);
    }

    fn doctor(&mut self) -> Diagnosis {
        let arguments = self.setup.arguments.join(" ");
        self.send(&format!("{DOCTOR} {arguments}"));
        self.diagnosis()
    }

    /// Reads the output of the doctor.
    fn diagnosis(&mut self) -> Diagnosis {
        let mut findings = BTreeMap::new();
        loop {
            let line = self.shell.json();
            assert!(!line.to_string().contains(TOKEN), "the token is shown: {line}");
            if line["event"] == "verdict" {
                return Diagnosis { findings, status: line["status"].as_i64().unwrap() };
            }
            let id = line["id"].as_str().unwrap_or_else(|| panic!("no finding: {line}")).to_owned();
            if line["status"] != "ok" {
                findings.insert(id, line);
            }
        }
    }

    /// Starts the editor in the project, with the variables of the terminal.
    fn start(&mut self) {
        let project = self.setup.place.project().canonicalize().unwrap();
        let mut command = self.setup.place.command("editor", &["--headless", project.to_str().unwrap()]);
        self.setup.prepare(&mut command);
        self.editor = Some(Editor::at(Process::spawn("editor", &mut command)));
    }

    /// Ends all editors, which removes their lock files, and starts a sound one.
    fn restart(&mut self) {
        self.end_editors(|_| true);
        self.start();
    }

    fn close_others(&mut self) {
        let named = self.setup.variable("CLAUDE_CODE_SSE_PORT").unwrap().to_owned();
        self.end_editors(|path| path.file_stem().unwrap() != named.as_str());
    }

    fn end_editors(&self, ends: impl Fn(&Path) -> bool) {
        for path in self.setup.place.in_lock_dir() {
            if path.extension().is_some_and(|kind| kind == "lock") && ends(&path) {
                fs::remove_file(path).unwrap();
            }
        }
    }

    fn end_agents(&mut self) {
        self.setup.release();
    }

    /// Changes into a terminal of one of the editors.
    fn of_editor(&mut self) {
        let path = self.setup.place.in_lock_dir().remove(0);
        let port = path.file_stem().unwrap().to_str().unwrap();
        self.send(&format!("export CLAUDE_CODE_SSE_PORT={port}"));
    }

    fn set_home(&mut self) {
        let home = self.setup.place.home();
        let home = home.to_str().unwrap().replace('\'', r"'\''");
        self.send(&format!("export HOME='{home}'"));
    }
}

/// The doctor as a command of the shell, which must not read the commands of the test.
const DOCTOR: &str = "ide-mcp doctor --json </dev/null";
