//! The ends of the programs: after an unread output, an end of input, or the end of the peer.

use crate::bridge::Scripted;
use crate::support::{Editor, Place, Process, ended, ignores_hangup};
use rustix::process::Signal;
use serde_json::Value;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{ChildStdout, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use tungstenite::Message;
use tungstenite::protocol::CloseFrame;

#[test]
fn editor_reports_reason_of_its_end() {
    let place = Place::new("stopping");
    let how: [(&str, fn(&mut Process)); 5] = [
        ("quit", |editor| editor.send_line("{\"cmd\":\"quit\"}\n{\"cmd\":\"open\",\"path\":\"missing\"}")),
        ("quit", |editor| {
            editor.put(r#"{"cmd":"quit"}"#);
            editor.hang_up();
        }),
        ("end of standard input", Process::hang_up),
        ("signal", |editor| editor.terminate()),
        ("signal", |editor| editor.signal(Signal::HUP)),
    ];
    let ways = if ignores_hangup() { how.len() - 1 } else { how.len() };
    for (reason, end) in how.into_iter().take(ways) {
        let mut editor = place.editor(&[]);
        end(&mut editor);
        assert_eq!(editor.event("stopping")["reason"], reason);
        assert_eq!(editor.end(), (Some(0), String::new()), "{reason}");
        assert_eq!(editor.rest(), [""; 0], "{reason}");
        assert!(!editor.lock.exists(), "{reason}");
    }
}

/// `nohup` starts a program with SIGHUP ignored.
#[test]
fn ignored_hangup_stays_ignored() {
    let place = Place::new("nohup");
    let mut command = Command::new("sh");
    command.args(["-c", "trap '' HUP; exec \"$0\" editor --headless .", crate::executable()]);
    place.prepare(&mut command);
    let mut editor = Editor::at(Process::spawn("editor", &mut command));
    editor.signal(Signal::HUP);
    editor.send_line(r#"{"cmd":"open","path":"missing"}"#);
    editor.event("error");
    editor.send_line(r#"{"cmd":"quit"}"#);
    assert_eq!(editor.event("stopping")["reason"], "quit");
}

#[test]
fn waiting_agent_prints_one_line_at_end() {
    for (name, status, line, text) in [
        ("quits", Some(1), vec!["rejected"], ""),
        ("dies", Some(1), vec![], "agent: there is no verdict: the connection broke off"),
    ] {
        let place = Place::new(name);
        place.write("new.txt", "new\n");
        let mut editor = place.editor(&[]);
        let mut agent = place.agent(&["diff", "a.txt", "new.txt"]);
        editor.until("diff");
        if name == "quits" {
            editor.send_line(r#"{"cmd":"quit"}"#)
        } else {
            editor.kill()
        }
        let (ended, complaint) = agent.end();
        assert_eq!(ended, status, "{name}");
        assert_eq!(agent.rest(), line, "{name}");
        assert!(
            complaint.starts_with(text) && complaint.is_empty() == text.is_empty(),
            "{name}: {complaint}"
        );
        assert!(complaint.lines().count() <= 1, "{name}: {complaint}");
        assert!(!place.project().join("a.txt").exists(), "{name}");
    }
}

#[test]
fn closed_output_ends_the_editor() {
    let place = Place::new("unread");
    place.write("new.txt", "new\n");
    let mut command = place.command("editor", &[]);
    let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut editor = pipes.spawn().unwrap();
    let mut stdin = editor.stdin.take().unwrap();
    let mut line = String::new();
    BufReader::new(editor.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let listening: Value = serde_json::from_str(&line).unwrap();
    let mut agent = place.agent(&["diff", "a.txt", "new.txt"]);
    // A process that another test starts can inherit the pipe for a moment, so that an event is
    // written without an error. The wrong line causes one more event.
    let begin = Instant::now();
    while editor.try_wait().unwrap().is_none() {
        assert!(begin.elapsed() < Duration::from_secs(30), "the editor does not end");
        if begin.elapsed() > Duration::from_secs(2) {
            let _ = stdin.write_all(b"x\n");
        }
        thread::sleep(Duration::from_millis(5));
    }
    let (status, text) = ended(editor);
    assert!(status == Some(1) && text.contains("standard output cannot be written"), "{status:?} {text}");
    assert_eq!(agent.end().0, Some(1));
    assert!(!Path::new(listening["lock"].as_str().unwrap()).exists());
}

/// Starts a headless editor, and returns it, its unread standard output and the path of its lock
/// file.
fn unread_editor(place: &Place) -> (Process, ChildStdout, PathBuf) {
    let project = place.project();
    let mut command = place.command("editor", &["--headless", project.to_str().unwrap()]);
    let (editor, out) = Process::spawn_unread("editor", &mut command);
    (editor, out, place.published("the editor", None))
}

/// Starts an agent, and waits until it is attached.
fn attached(place: &Place) -> Process {
    let mut agent = place.agent(&["calls"]);
    agent.send_line("getDiagnostics");
    assert_eq!(agent.event("outcome")["tool"], "getDiagnostics");
    agent
}

fn assert_rejected(agent: &mut Process) {
    let outcome = agent.event("outcome");
    assert_eq!(outcome["outcome"]["result"]["content"][0]["text"], "DIFF_REJECTED", "{outcome}");
}

#[test]
fn unread_output_delays_no_agent() {
    for (name, is_read) in [("unread", false), ("read late", true)] {
        let place = Place::new("stalled");
        let (mut editor, mut out, lock) = unread_editor(&place);
        // The proposal is far larger than a pipe.
        let mut first = attached(&place);
        first.propose("t", &"x".repeat(400_000));
        // The answer to a later call on this connection shows that the editor has the proposal.
        first.send_line("getDiagnostics");
        assert_eq!(first.event("outcome")["tool"], "getDiagnostics", "{name}");
        assert_eq!(place.agent(&["call", "getDiagnostics"]).end().0, Some(0), "{name}");
        let read = move || {
            let mut text = String::new();
            out.read_to_string(&mut text).map(|_| text)
        };
        let (reader, unread) = if is_read { (Some(thread::spawn(read)), None) } else { (None, Some(read)) };
        editor.terminate();
        assert_rejected(&mut first);
        let (status, text) = editor.end();
        drop(unread);
        assert!(!lock.exists(), "{name}");
        match reader {
            None => assert!(
                status == Some(1)
                    && text.contains("standard output cannot be written")
                    && text.contains("nobody reads it"),
                "{status:?} {text}"
            ),
            Some(reader) => {
                assert_eq!((status, text.as_str()), (Some(0), ""), "{name}");
                let text = reader.join().unwrap().unwrap();
                let events: Vec<Value> =
                    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
                let diff = events.iter().find(|event| event["event"] == "diff").unwrap();
                assert_eq!(diff["contents"].as_str().unwrap().len(), 400_000);
                assert!(events.iter().any(|event| event["event"] == "stopping"), "{text}");
            }
        }
    }
}

#[test]
fn too_much_unread_output_ends_the_editor() {
    let place = Place::new("overfull");
    let (mut editor, out, lock) = unread_editor(&place);
    // The queue of the output (cli/src/support/writer.rs) has no room after two proposals: the third event ends the
    // editor. It is the third proposal, since all agents are attached before the first one.
    let mut agents = [(); 3].map(|()| attached(&place));
    let contents = "x".repeat(9 << 20);
    agents.iter_mut().for_each(|agent| agent.propose("t", &contents));
    agents.iter_mut().for_each(assert_rejected);
    editor.fails(1, &["nobody reads it"]);
    assert!(!lock.exists());
    drop(out);
}

/// The editor counts connections that stay unauthenticated, and reports the counts every 10 s. So a
/// client without a token cannot fill an unread output.
#[test]
fn n05_unauthenticated_peers_do_not_fill_output() {
    let place = Place::new("storm");
    let (mut editor, out, lock) = unread_editor(&place);
    let port: u16 = lock.file_stem().unwrap().to_str().unwrap().parse().unwrap();
    let begin = Instant::now();
    for count in 0..2_000 {
        let mut unauthenticated = TcpStream::connect(("127.0.0.1", port)).unwrap();
        let _ = unauthenticated.write_all(if count % 2 == 0 {
            b"GET / HTTP/1.1\r\n"
        } else {
            b"no HTTP\r\n\r\n"
        });
    }
    assert_eq!(place.agent(&["call", "getDiagnostics"]).end().0, Some(0));
    editor.read(out);
    // The editor makes no report while it writes an earlier event, and looks again 10 s later.
    let is_report = |line: &str| line.starts_with(r#"{"event":"unauthenticated""#);
    let mut events = editor.until_line(is_report);
    editor.terminate();
    events.extend(editor.rest());
    assert_eq!(editor.end(), (Some(0), String::new()), "{events:#?}");
    let reports = events.iter().filter(|line| is_report(line)).count();
    // A loaded machine takes longer than 10 s for these connections.
    let at_most = 1 + usize::try_from(begin.elapsed().as_secs() / 10).unwrap();
    assert!(reports <= at_most, "{reports} reports, at most {at_most} are due: {events:#?}");
    assert!(events.len() - reports < 12, "{} events: {events:#?}", events.len());
}

#[cfg(target_os = "linux")]
#[test]
fn l06_lock_file_changes_are_events() {
    use std::fs;

    let place = Place::new("lock-events");
    let mut editor = place.editor(&[]);
    let lock = editor.lock.clone();
    fs::remove_file(&lock).unwrap();
    while editor.event("lock_file")["state"] != "restored" {}
    assert!(lock.exists());
    let taken = lock.with_extension("taken");
    fs::write(&taken, "{}").unwrap();
    fs::rename(&taken, &lock).unwrap();
    // The loss is reported late if the guard's first look came before the notification.
    let states = std::iter::repeat_with(|| editor.event("lock_file")["state"].as_str().unwrap().to_owned());
    let before: Vec<String> = states.take_while(|state| state != "taken").collect();
    assert!(["lost", "restored"].iter().take(before.len()).eq(before.iter()), "{before:?}");
    // With a file instead of the directory, the editor cannot restore the lock file.
    let dir = place.lock_dir();
    let begin = Instant::now();
    // The editor can restore the directory in between.
    while fs::write(&dir, "in the way").is_err() {
        assert!(begin.elapsed() < Duration::from_secs(10));
        let _ = fs::remove_dir_all(&dir);
    }
    let begin = Instant::now();
    let failed = loop {
        let event = editor.event("lock_file");
        if event["state"] == "failed" {
            break event;
        }
    };
    assert!(begin.elapsed() < Duration::from_secs(10) && failed["problem"].as_str().is_some(), "{failed}");
    fs::remove_file(&dir).unwrap();
    // The editor tries again after 5 s.
    while editor.event("lock_file")["state"] != "restored" {}
    assert!(lock.exists());
    editor.terminate();
    assert_eq!(editor.event("stopping")["reason"], "signal");
    assert_eq!(editor.end().0, Some(0));
    assert!(!lock.exists());
}

#[cfg(target_os = "linux")]
#[test]
fn full_disk_is_a_failure() {
    use std::fs;

    let place = Place::new("full");
    let path = place.write("a.txt", "x\n");
    let open = serde_json::json!({"filePath": path}).to_string();
    let full = || fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut command = place.command("editor", &[]);
    let child = command.stdin(Stdio::piped()).stdout(full()).stderr(Stdio::piped()).spawn().unwrap();
    let (status, text) = ended(child);
    assert!(status == Some(1) && text.contains("No space left"), "the editor: {status:?} {text}");

    let _editor = place.editor(&[]);
    let head = r#"{"ms":0,"from":"client","http":"GET / HTTP/1.1\r\n\r\n"}"#;
    let call = r#"{"ms":1,"from":"client","text":"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\"}"}"#;
    place.write("t.jsonl", &format!("{head}\n{call}\n"));
    let rows: [(_, &[&str], _, _); 8] = [
        ("agent", &["tools"], 1, 0),
        ("agent", &["call", "openFile", &open], 1, 0),
        ("agent", &["--help"], 1, 0),
        ("replay", &["--list", "t.jsonl"], 2, 0),
        ("replay", &["--to-script", "t.jsonl"], 2, 0),
        ("replay", &["--side", "agent", "t.jsonl"], 2, 1),
        ("replay", &["--json", "--side", "agent", "t.jsonl"], 2, 1),
        ("replay", &["--help"], 1, 0),
    ];
    for (program, arguments, full_status, closed_status) in rows {
        let mut command = place.command(program, arguments);
        let child = command.stdin(Stdio::null()).stdout(full()).stderr(Stdio::piped()).spawn().unwrap();
        let (status, text) = ended(child);
        let is_full = status == Some(full_status) && text.contains("No space left");
        assert!(is_full, "{program} {arguments:?}: {status:?} {text}");
        // A closed pipe, as in `agent … | true`, is not a failure. The status of a comparison stays.
        let mut command = place.command(program, arguments);
        let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = pipes.spawn().unwrap();
        child.stdout = None;
        assert_eq!(ended(child), (Some(closed_status), String::new()), "{program} {arguments:?}");
    }
}

#[test]
fn close_reason_is_printed_without_control_characters() {
    let place = Place::new("escape");
    let (listener, _) = place.listener();
    let mut agent = place.agent(&["tools"]);
    let mut editor = Scripted::accept(&listener);
    let reason = "\u{1b}[2J\u{9b}2J\nagent: all is well\u{202e}";
    let frame = CloseFrame { code: 4000.into(), reason: reason.into() };
    editor.0.send(Message::Close(Some(frame))).unwrap();
    let text = agent.fails(1, &["4000: \u{fffd}[2J\u{fffd}2J\u{fffd}agent: all is well\u{fffd}"]);
    assert_eq!(text.lines().count(), 1, "{text:?}");
}

#[test]
fn non_utf8_line_does_not_end_editor() {
    let place = Place::new("bytes");
    let mut command = place.command("editor", &[]);
    let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut editor = pipes.spawn().unwrap();
    editor.stdin.as_mut().unwrap().write_all(b"\n\xff\n{\"cmd\":\"quit\"}\n").unwrap();
    let lines: Vec<String> =
        BufReader::new(editor.stdout.take().unwrap()).lines().map(Result::unwrap).collect();
    assert_eq!(
        lines[1],
        r#"{"event":"error","line":2,"message":"line 2 is not a command: it is not UTF-8"}"#
    );
    assert_eq!(lines[2], r#"{"event":"stopping","reason":"quit"}"#);
    assert_eq!(ended(editor), (Some(0), String::new()));
}
