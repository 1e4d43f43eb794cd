//! The ends of the sidecar, and its next run.

use super::sidecar;
use crate::support::{Place, Process};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::fs;
use std::thread;
use std::time::Duration;

#[test]
fn sidecar_ends_in_order() {
    let ways: [(&str, fn(&mut Process)); 4] = [
        ("SIGTERM", |editor| editor.terminate()),
        ("SIGHUP", |editor| editor.signal(Signal::HUP)),
        ("end of standard input", Process::hang_up),
        ("quit", |editor| editor.send_line("{\"cmd\":\"quit\"}")),
    ];
    let place = Place::new("sidecar-ends");
    for (reason, end) in ways {
        let mut editor = sidecar(&place, &json!({}));
        editor.interrupt();
        editor.send_line("{\"cmd\":\"status\"}");
        editor.event("status");
        end(&mut editor);
        assert_eq!(editor.event("stopping")["reason"], reason);
        editor.event("over");
        assert_eq!(editor.end(), (Some(0), String::new()), "{reason}");
        assert!(!editor.lock.exists(), "{reason}");
    }
}

#[test]
fn closed_output_ends_the_sidecar() {
    let place = Place::new("sidecar-closed");
    let (mut process, out) = Process::spawn_unread("sidecar", &mut place.command("sidecar", &[]));
    drop(out);
    process.send_line(&super::config(&place, &json!({})));
    // A process that another test starts may have the other end of the pipe too, for a moment. A line that is not a
    // command is answered with an error.
    for _ in 0..1000 {
        if process.has_ended() {
            break;
        }
        process.try_send_line("?");
        thread::sleep(Duration::from_millis(10));
    }
    process.fails(1, &["standard output cannot be written"]);
    assert!(place.in_lock_dir().is_empty());
}

#[test]
fn lock_file_has_the_pid_of_the_editor() {
    let place = Place::new("sidecar-pid");
    let editor = sidecar(&place, &json!({"pid": std::process::id()}));
    let file: Value = serde_json::from_str(&fs::read_to_string(&editor.lock).unwrap()).unwrap();
    assert_eq!(file["pid"], std::process::id());
}

#[test]
fn agent_is_back_after_killed_sidecar() {
    let place = Place::new("sidecar-killed");
    let changes = json!({"pid": std::process::id()});
    let mut first = sidecar(&place, &changes);
    let mut agent = place.agent(&["watch", "--reconnect"]);
    first.until("ide_connected");
    first.kill();
    agent.until("lost");
    assert!(first.lock.exists(), "its editor lives");
    let mut changes = changes;
    changes["resume"] = json!(first.lock);
    let mut second = sidecar(&place, &changes);
    assert_eq!((&second.port, &second.lock), (&first.port, &first.lock));
    agent.until("attached");
    second.until("connected");
    let path = place.project().join("a.txt");
    second.send_line(
        &json!({"cmd": "select", "path": path, "start": [0, 0], "end": [0, 1], "text": "again"}).to_string(),
    );
    agent.until_selected("again");
}

/// Checks the wake-ups only on Linux, which counts them in a file.
#[test]
fn idle_sidecar_does_not_wake_up() {
    if !cfg!(target_os = "linux") {
        return;
    }
    let place = Place::new("sidecar-idle");
    let mut editor = sidecar(&place, &json!({}));
    editor.send_line("{\"cmd\":\"status\"}");
    editor.event("status");
    // The last thread may still be returning to its wait.
    thread::sleep(Duration::from_millis(300));
    let before = switches(editor.id());
    thread::sleep(Duration::from_secs(1));
    assert_eq!(switches(editor.id()), before);
}

/// Returns the number of times that each thread of a process has begun to wait.
fn switches(process: u32) -> Vec<String> {
    let tasks = fs::read_dir(format!("/proc/{process}/task")).unwrap();
    let status = |task: fs::DirEntry| fs::read_to_string(task.path().join("status")).unwrap();
    let line = |status: String| status.lines().find(|line| line.starts_with("voluntary")).unwrap().to_owned();
    tasks.map(|task| line(status(task.unwrap()))).collect()
}
