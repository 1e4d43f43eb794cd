//! The doctor as a process, over broken set-ups with real directories, files and sockets. Facts
//! that the test machine cannot have, such as Windows, are covered by the unit tests of the rules.

mod advice;
mod cases;
mod fake;
mod owners;
mod secrets;
mod setup;
mod watch;

use crate::support::dead;
use cases::{CASES, Case};
use fake::{Behaves, TOKEN};
use serde_json::json;
use setup::{Setup, mode};
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::process::parent_id;
use std::process;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

#[test]
fn every_broken_setup_has_its_findings() {
    // Each case has its own home directory and process, and some wait, so four threads run the cases.
    let all: Vec<&Case> = CASES.iter().chain(owners::of_this_user()).collect();
    thread::scope(|scope| {
        for cases in all.chunks(all.len().div_ceil(4)) {
            scope.spawn(move || {
                for (name, break_it, expected, status) in cases {
                    let mut setup = Setup::new();
                    break_it(&mut setup);
                    let expected = expected.iter().map(|id| (*id).to_owned()).collect();
                    assert_eq!(setup.found(&[]), (expected, Some(*status)), "{name}");
                    setup.open();
                }
            });
        }
    });
}

/// Linux only: other systems do not accept connections on 127.0.0.2 by default.
#[cfg(target_os = "linux")]
#[test]
fn host_override_is_probed() {
    let ids = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect::<BTreeSet<_>>();
    let mut setup = Setup::new();
    // No other test can listen on this port of 127.0.0.1.
    let port = setup.place.closed_port();
    fake::fake_at(&format!("127.0.0.2:{port}"), Behaves::Well);
    setup.publish(port, &setup.lock());
    assert_eq!(setup.found(&[]), (ids(&["port-refuses"]), Some(1)));
    setup.set("CLAUDE_CODE_IDE_HOST_OVERRIDE", "127.0.0.2");
    assert_eq!(setup.found(&[]), (ids(&["host-override-loopback"]), Some(0)));
}

#[test]
fn forty_silent_ports_are_probed_in_time() {
    let setup = Setup::new();
    for _ in 0..40 {
        setup.editor_with(&json!({"workspaceFolders": ["/elsewhere"]}));
        setup.editor(Behaves::NotAtAll);
    }
    let begin = Instant::now();
    let (found, status) = setup.found(&[]);
    assert!(found.contains("port-silent") && found.contains("not-probed") && status == Some(1), "{found:?}");
    assert!(begin.elapsed() < Duration::from_secs(10), "{:?}", begin.elapsed());
}

/// The doctor opens one connection for a leftover, at the same time as the others, and waits half a second for a
/// program that does not answer. The bound allows for a busy machine.
#[test]
fn fifty_leftovers_cost_one_connection_each() {
    let setup = Setup::new();
    let left_over = setup.lock_with(&json!({"pid": dead()}));
    let (open, connections): (Vec<u16>, Vec<_>) = (0..25).map(|_| fake::counted(Behaves::NotAtAll)).unzip();
    for port in open {
        setup.publish(port, &left_over);
        setup.publish(setup.place.closed_port(), &left_over);
    }
    let begin = Instant::now();
    let (found, status) = setup.found(&[]);
    assert!(begin.elapsed() < Duration::from_secs(3), "{:?}", begin.elapsed());
    let expected = ["lock-left-over", "lock-process-unseen", "no-usable-editor", "process-published-twice"];
    assert_eq!((found, status), (expected.map(str::to_owned).into(), Some(1)));
    assert!(connections.iter().all(|count| count.load(Ordering::Relaxed) == 1), "{connections:?}");
}

#[test]
fn editors_with_equal_names_are_told_apart() {
    let setup = Setup::new();
    let locks = [
        (setup.editor(Behaves::Well), process::id(), 3),
        (setup.editor_with(&json!({"pid": parent_id()})), parent_id(), 5),
    ];
    for (path, _, minutes) in &locks {
        let file = fs::File::options().write(true).open(path).unwrap();
        let now = file.metadata().unwrap().modified().unwrap();
        file.set_modified(now - Duration::from_secs(60 * minutes + 20)).unwrap();
    }
    let text = setup.doctor(&[]).rest().join(" ");
    // The text without its line breaks.
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut agent = setup.place.agent(&["tools"]);
    let (status, output) = agent.end();
    for (path, pid, minutes) in &locks {
        let port = path.file_stem().unwrap().to_str().unwrap();
        let in_doctor =
            format!("\"Fake\" on port {port} (process {pid}, lock file written {minutes} min ago)");
        assert!(text.contains(&in_doctor), "{text}");
        let in_agent = format!("port {port}: \"Fake\", process {pid}, lock file written {minutes} min ago");
        assert!(status == Some(2) && output.contains(&in_agent), "{output}");
    }
}

/// A lock file can have a name of 60 kB, and ten thousand can be left behind. Nobody reads that on a screen.
#[test]
fn long_names_and_many_files_fill_no_screen() {
    let setup = Setup::new();
    let long = "x".repeat(60_000);
    for changes in [json!({"ideName": long}), json!({"workspaceFolders": [long]})] {
        let path = setup.publish(setup.place.closed_port(), &setup.lock_with(&changes));
        for command in [&["agent", "watch"][..], &["mcp-config"], &["doctor"], &["doctor", "--cwd", "/"]] {
            let mut process = setup.place.start(command[0], &command[1..]);
            let printed = process.rest().join("\n");
            let (_, output) = process.end();
            let sum = printed.len() + output.len();
            assert!((50..4000).contains(&sum), "{command:?}: {sum}");
        }
        fs::remove_file(path).unwrap();
    }

    for port in 1..=10_000 {
        setup.put(port, "{");
    }
    let begin = Instant::now();
    let mut doctor = setup.doctor(&[]);
    let text = doctor.rest().join("\n");
    assert!(begin.elapsed() < Duration::from_secs(20), "{:?}", begin.elapsed());
    assert_eq!(doctor.end().0, Some(1));
    assert!(
        text.len() < 20_000 && text.contains(" more [lock-unparsable]; --json has all"),
        "{}: {text}",
        text.len()
    );
}

#[test]
fn doctor_changes_nothing_without_option() {
    let setup = Setup::new();
    let left_over =
        setup.publish(setup.place.closed_port(), &setup.lock_with(&json!({"pid": dead(), "ideName": "One"})));
    let another =
        setup.publish(setup.place.closed_port(), &setup.lock_with(&json!({"pid": dead(), "ideName": "Two"})));
    let kept = [
        setup.editor(Behaves::Well),
        setup.editor_with(&json!({"pid": dead()})),
        setup.publish(setup.place.closed_port(), &setup.lock_with(&json!({"pid": null, "ideName": "One"}))),
        setup.put(setup.place.closed_port(), "no lock file"),
    ];
    mode(&setup.place.lock_dir(), 0o755);
    for arguments in [&[][..], &["--no-connect"]] {
        let (found, status) = setup.found(arguments);
        assert!(found.contains("lock-left-over") && status == Some(1), "{found:?}");
        assert!(left_over.exists() && another.exists() && kept.iter().all(|path| path.exists()));
        assert_eq!(fs::metadata(setup.place.lock_dir()).unwrap().mode() & 0o777, 0o755);
        assert_eq!(found.contains("not-probed"), !arguments.is_empty(), "{found:?}");
    }
    let (found, _) = setup.found(&["--remove-leftovers"]);
    assert!(found.contains("leftover-removed") && !found.contains("lock-left-over"), "{found:?}");
    assert!(found.contains("leftover-stays"), "a program listens on the port of a dead process: {found:?}");
    assert!(!left_over.exists() && !another.exists(), "{found:?}");
    assert!(kept.iter().all(|path| path.exists()), "{found:?}");
}

#[test]
fn verdict_comes_first_then_worst_finding() {
    let mut setup = Setup::new();
    let path = setup.editor_with(&json!({"ideName": "E\u{1b}[2J"}));
    setup.set("CLAUDE_CODE_SSE_PORT", "1");
    mode(&path, 0o644);
    mode(&setup.place.lock_dir(), 0o711);
    let mut doctor = setup.doctor(&[]);
    let text = doctor.rest().join("\n");
    assert_eq!(doctor.end(), (Some(1), String::new()));
    let port = path.file_stem().unwrap().to_str().unwrap();
    let cwd = setup.cwd.display();
    assert!(
        text.starts_with(&format!(
            "An agent started in {cwd} attaches to \"E\u{fffd}[2J\" on port {port}: 3 warnings.\n    \
             Start it with `claude --ide`, or type /ide in a running one.\n\nwarning: "
        )),
        "{text}"
    );
    assert!(
        text.contains("\n      $ chmod 600 ") && text.contains("\n      $ unset CLAUDE_CODE_SSE_PORT\n"),
        "{text}"
    );
    assert!(!text.contains(['\u{1b}', '\r']) && !text.contains(TOKEN), "{text}");
    assert!(text.lines().last().is_some_and(|line| line.ends_with("; --verbose lists them")), "{text}");
    let mut doctor = setup.doctor(&["--verbose"]);
    let text = doctor.rest().join("\n");
    assert!(text.contains("\nok: ") && text.contains("[editor-answers]"), "{text}");
    assert_eq!(doctor.end().0, Some(1));
}

#[test]
fn real_editor_is_healthy_without_ide_connected() {
    let setup = Setup::new();
    let mut editor = setup.place.editor(&[]);
    assert_eq!(setup.found(&[]), (BTreeSet::new(), Some(0)));
    let project = setup.place.project();
    assert_eq!(setup.found(&["--cwd", project.to_str().unwrap()]), (BTreeSet::new(), Some(0)));
    assert_eq!(setup.found(&["--cwd", "/"]).1, Some(1));
    editor.send_line(r#"{"cmd":"quit"}"#);
    let events = editor.rest();
    assert!(!events.iter().any(|event| event.contains("ide_connected")), "{events:?}");
}

#[test]
fn wrong_command_line_is_status_2() {
    let setup = Setup::new();
    for (arguments, expected) in [
        (&["--jsno"][..], "--jsno"),
        (&["here"], "here"),
        (&["--cwd", "missing"], "--cwd: there is no directory \"missing\""),
        (&["--json", "--verbose"], "'--json' cannot be used with '--verbose'"),
        (&["--report", "--json"], "'--report' cannot be used with '--json'"),
        (&["--watch", "--report"], "'--watch' cannot be used with '--report'"),
    ] {
        let (status, output) = setup.doctor(arguments).end();
        assert!(
            status == Some(2) && output.contains(expected) && output.lines().count() == 1,
            "{status:?} {output}"
        );
    }
    let mut doctor = setup.doctor(&["--json", "--cwd", "missing"]);
    let output = doctor.rest_of_json();
    assert_eq!((output.len(), &output[0]["event"], &output[0]["status"]), (1, &json!("error"), &json!(2)));
    let mut help = setup.doctor(&["--help"]);
    assert!(help.rest().len() > 10);
    assert_eq!(help.end(), (Some(0), String::new()));
}
