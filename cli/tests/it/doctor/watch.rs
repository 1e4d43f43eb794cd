//! `doctor --watch`: the changes that it prints, and the connections that it does not open.

use super::fake::{Behaves, counted, fake};
use super::setup::{Setup, mode};
use crate::support::Process;
use serde_json::{Value, json};
use std::process::Command;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Reads the lines up to a verdict, and returns the findings that came or went, without those
/// of the status `ok`, and the verdict.
fn next(doctor: &mut Process) -> (Vec<(String, String)>, Value) {
    let mut changes = Vec::new();
    loop {
        let line = doctor.json();
        if line["event"] == "verdict" {
            return (changes, line);
        }
        if line["status"] != "ok" {
            let text = |name: &str| line[name].as_str().unwrap_or_default().to_owned();
            changes.push((text("change"), text("id")));
        }
    }
}

fn row(change: &str, id: &str) -> Vec<(String, String)> {
    vec![(change.into(), id.into())]
}

#[test]
fn watch_prints_changes_and_asks_once() {
    let setup = Setup::new();
    let (port, connections) = counted(Behaves::Well);
    let mut child = Command::new("sleep").arg("600").spawn().unwrap();
    setup.publish(port, &setup.lock_with(&json!({"pid": child.id()})));
    let mut doctor = setup.doctor(&["--watch", "--json"]);
    let (changes, verdict) = next(&mut doctor);
    assert_eq!((changes, &verdict["verdict"], &verdict["time"]), (vec![], &json!("attaches"), &Value::Null));
    // With the token, without the token, and as a web page.
    assert_eq!(connections.load(Ordering::Relaxed), 3);

    mode(&setup.place.lock_dir(), 0o755);
    let (changes, verdict) = next(&mut doctor);
    assert_eq!(changes, row("added", "directory-readable-by-others"));
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis();
    let time = u128::from(verdict["time"].as_u64().unwrap());
    assert!(verdict["status"] == 1 && now.abs_diff(time) < 60_000, "{verdict} at {now}");
    mode(&setup.place.lock_dir(), 0o700);
    assert_eq!(next(&mut doctor).0, row("removed", "directory-readable-by-others"));
    // Time for the doctor to look a few times without a change.
    thread::sleep(Duration::from_secs(3));
    assert_eq!(connections.load(Ordering::Relaxed), 3, "the editor is not asked again");

    // The end of a process changes no file.
    child.kill().unwrap();
    child.wait().unwrap();
    let (changes, verdict) = next(&mut doctor);
    let added = |id: &str| ("added".to_owned(), id.to_owned());
    assert!(changes.contains(&added("lock-process-unseen")), "{changes:?}");
    assert_eq!((&verdict["verdict"], &verdict["status"]), (&json!("finds_nothing"), &json!(1)));
    assert_eq!(connections.load(Ordering::Relaxed), 4, "one connection without the token");
    doctor.terminate();
    assert_eq!(doctor.end(), (Some(1), String::new()));
}

#[test]
fn watch_asks_silent_editor_again() {
    let setup = Setup::new();
    let port = setup.place.closed_port();
    let (silent, connections) = counted(Behaves::NotAtAll);
    setup.publish(silent, &setup.lock());
    let mut doctor = setup.doctor(&["--watch", "--json"]);
    assert_eq!(next(&mut doctor).0, row("", "port-silent"));
    assert_eq!(connections.load(Ordering::Relaxed), 1);
    // A new lock file is probed at once, and the silent editor is not probed again because of it.
    setup.publish(port, &setup.lock());
    assert!(next(&mut doctor).0.contains(&("added".into(), "port-refuses".into())));
    assert_eq!(connections.load(Ordering::Relaxed), 1);
    let begin = std::time::Instant::now();
    while connections.load(Ordering::Relaxed) == 1 {
        assert!(begin.elapsed() < Duration::from_secs(30), "the silent editor is not asked again");
        thread::sleep(Duration::from_millis(50));
    }
    doctor.terminate();
    assert_eq!(doctor.end().0, Some(1));
}

#[test]
fn watch_as_text_prints_changes_and_ends_with_status_1() {
    let setup = Setup::new();
    let lock = setup.publish(fake(Behaves::Well), &setup.lock());
    // In a private directory other users cannot reach the file, and its mode would be no problem.
    mode(&setup.place.lock_dir(), 0o711);
    let mut doctor = setup.doctor(&["--watch"]);
    assert!(doctor.line().ends_with(": 1 warning."));
    mode(&lock, 0o644);
    let added = doctor.until_line(|line| line.contains("$ chmod 600")).join("\n");
    assert!(
        added.contains("Z An agent started in ") && added.contains(": 2 warnings.\n+ warning: "),
        "{added}"
    );
    assert!(added.contains("[lock-readable-by-others]") && !added.contains('\u{1b}'), "{added}");
    mode(&lock, 0o600);
    doctor.until_line(|line| line.starts_with("- warning: "));
    doctor.interrupt();
    assert_eq!(doctor.end(), (Some(1), String::new()));
}

#[cfg(target_os = "linux")]
#[test]
fn signal_ends_watch_that_nobody_reads() {
    use std::io::Read as _;
    let setup = Setup::new();
    let lock = setup.lock_with(&json!({"pid": crate::support::dead(), "transport": "x".repeat(1000)}));
    for port in 40_000..40_100 {
        setup.publish(port, &lock);
    }
    let arguments = ["--watch", "--json", "--no-connect"];
    let once = setup.doctor(&arguments[1..]).rest().join("\n").len();
    assert!(once > 64 * 1024, "a report of {once} bytes is longer than a pipe");
    let mut command = setup.place.command("doctor", &arguments);
    setup.prepare(&mut command);
    let (mut doctor, mut out) = Process::spawn_unread("doctor", &mut command);
    out.read_exact(&mut [0]).unwrap();
    doctor.terminate();
    let (status, _) = doctor.end_within(Duration::from_secs(10));
    assert_eq!(status, Some(1));
}
