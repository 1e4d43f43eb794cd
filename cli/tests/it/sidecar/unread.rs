//! An editor that does not read its events.

use super::config;
use crate::support::{Place, Process};
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::ChildStdout;
use std::thread;
use std::time::{Duration, Instant};

/// Starts a sidecar whose output the test has read up to `listening`.
fn unread(place: &Place) -> (Process, BufReader<ChildStdout>) {
    let (mut process, out) = Process::spawn_unread("sidecar", &mut place.command("sidecar", &[]));
    process.send_line(&config(place, &json!({})));
    let mut out = BufReader::with_capacity(1, out);
    assert_eq!(next(&mut out)["event"], "listening");
    (process, out)
}

fn next(out: &mut BufReader<ChildStdout>) -> Value {
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
}

/// Checks the resident memory of a process, in MiB. Only Linux shows it in a file.
fn assert_memory_below(process: u32, most: u64) {
    if cfg!(target_os = "linux") {
        let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap();
        let held = line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() / 1024;
        assert!(held < most, "{held} MiB");
    }
}

/// Starts an agent that calls without an end.
fn caller(place: &Place) -> Process {
    let mut agent = place.agent(&["calls"]);
    agent.send_line("getOpenEditors");
    agent
}

#[test]
fn other_agents_are_answered_in_time() {
    let place = Place::new("sidecar-stopped");
    let (sidecar, _out) = unread(&place);
    let mut proposer = place.agent(&["calls"]);
    proposer.propose("t", &"x".repeat(4 << 20));
    let mut other = caller(&place);
    let began = Instant::now();
    other.send_line("getDiagnostics {\"uri\":\"file:///a\"}");
    let outcome = other.event("outcome");
    assert_eq!(
        (&outcome["line"], outcome["outcome"]["result"]["content"][0]["text"].as_str()),
        (&json!(2), Some("unknown: the editor has not reported the problems in time"))
    );
    // The deadline is 400 ms, and the rest is for a busy machine.
    let late = began.elapsed();
    assert!(late < Duration::from_secs(5), "{late:?}");
    assert_memory_below(sidecar.id(), 64);
}

/// Fills the output, and returns the agents with the refusal of the last diff. 16 MiB wait, and the diff after them
/// is the last one accepted. Each agent sends a diff, and then a call; its outcome shows that the diff has arrived.
fn fill(place: &Place) -> (Vec<Process>, Value) {
    let text = "x".repeat(4 << 20);
    let mut agents = Vec::new();
    loop {
        let mut agent = place.agent(&["calls"]);
        agent.propose("t", &text);
        agent.send_line("getDiagnostics {\"uri\":\"file:///a\"}");
        let outcome = agent.event("outcome");
        agents.push(agent);
        if outcome["line"] == 1 {
            return (agents, outcome);
        }
        assert!(agents.len() < 12, "nothing is refused");
    }
}

#[test]
fn memory_is_bounded_without_reader() {
    let place = Place::new("sidecar-bound");
    let (mut sidecar, mut out) = unread(&place);
    let (agents, refusal) = fill(&place);
    assert_eq!(refusal["outcome"]["error"]["code"], -32601, "{refusal}");
    assert_memory_below(sidecar.id(), 160);
    // The editor reads again: it gets everything that waited, and then the gap and the status.
    let mut diffs = 0;
    let gap = loop {
        let event = next(&mut out);
        match event["event"].as_str().unwrap() {
            "gap" => break event,
            "diff" => diffs += 1,
            _ => {}
        }
    };
    assert!((4..=8).contains(&diffs), "{diffs}");
    assert!(gap["calls"].as_u64().unwrap() >= 1, "{gap}");
    let status = next(&mut out);
    assert_eq!(status["event"], "status");
    assert_eq!(status["calls"].as_array().unwrap().len(), diffs, "{status}");
    assert_eq!(agents.len(), diffs + 1);
    sidecar.terminate();
    while next(&mut out)["event"] != "over" {}
    assert_eq!(sidecar.end().0, Some(0));
}

/// Checks that the old texts count as well: many empty proposals for a large file, all sent at once.
#[test]
fn memory_is_bounded_by_old_texts_too() {
    let place = Place::new("sidecar-old-texts");
    let path = place.write("large", &"x".repeat(4 << 20));
    let (mut sidecar, out) = unread(&place);
    let mut agent = place.agent(&["calls"]);
    // The old texts of so many proposals are more than the memory may hold.
    for tab in 0..32 {
        let tab = tab.to_string();
        agent.send_line(&format!(
            "openDiff {}",
            json!({"old_file_path": path, "new_file_contents": "", "tab_name": tab})
        ));
    }
    agent.send_line("getDiagnostics {\"uri\":\"file:///a\"}");
    agent.event("outcome");
    assert_memory_below(sidecar.id(), 96);
    sidecar.send_line(r#"{"cmd":"status"}"#);
    let mut out = BufReader::with_capacity(1 << 20, out.into_inner());
    let mut diffs = 0;
    loop {
        let event = next(&mut out);
        match event["event"].as_str().unwrap() {
            "status" => break,
            "diff" => {
                diffs += 1;
                assert_eq!(event["old"].as_str().unwrap().len(), 4 << 20);
            }
            _ => {}
        }
    }
    assert_eq!(diffs, 2, "8 MiB of old texts");
    sidecar.terminate();
    while next(&mut out)["event"] != "over" {}
    assert_eq!(sidecar.end().0, Some(0));
}

#[test]
fn late_reader_gets_the_last_events() {
    let place = Place::new("sidecar-late");
    let (mut sidecar, out) = unread(&place);
    let (agents, _) = fill(&place);
    sidecar.terminate();
    for mut agent in agents {
        agent.end();
    }
    // The sidecar notices the ends of its connections, and then waits 2 s for a reader.
    thread::sleep(Duration::from_millis(300));
    let lines: Vec<String> = BufReader::new(out.into_inner()).lines().map(Result::unwrap).collect();
    let (_, last) = lines.split_at(lines.len().saturating_sub(3));
    let last: Vec<Value> = last.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    let names: Vec<&Value> = last.iter().map(|event| &event["event"]).collect();
    assert_eq!(names, ["gap", "status", "over"]);
    // The refused diff, and `stopping`.
    assert!(last[0]["events"].as_u64() >= Some(2), "{}", last[0]);
    assert_eq!((&last[1]["agents"], &last[1]["calls"]), (&json!([]), &json!([])));
    assert_eq!(sidecar.end(), (Some(0), String::new()));
}

#[test]
fn end_does_not_wait_for_the_reader() {
    let place = Place::new("sidecar-end");
    let (mut sidecar, _out) = unread(&place);
    let mut proposer = place.agent(&["calls"]);
    proposer.propose("t", &"x".repeat(4 << 20));
    // The event fills the pipe.
    let mut other = caller(&place);
    other.send_line("getDiagnostics {\"uri\":\"file:///a\"}");
    other.event("outcome");
    let lock = place.published("the sidecar", None);
    sidecar.terminate();
    proposer.until("outcome");
    assert!(!lock.exists());
    let (status, complaint) = sidecar.end();
    assert_eq!(status, Some(1), "{complaint}");
}
