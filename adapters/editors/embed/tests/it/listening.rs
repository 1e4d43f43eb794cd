//! The editor that listens, over real sockets and a real disk.

use crate::support::checked;
use ide_mcp::ide::discovery::LockFile;
use ide_mcp::ide::tool::GetOpenEditors;
use ide_mcp_blocking::{Agent, AgentOptions};
use ide_mcp_embed::ListeningEditor;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use std::{fs, process, thread};

/// A folder of a test, removed when the test ends.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("ide-mcp-embed-{}-{number}", process::id()));
        let mut builder = fs::DirBuilder::new();
        // With some people's umask, other users could write into it, and then no lock file would be
        // published.
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.recursive(true).create(path.join("w")).unwrap();
        Self(path)
    }

    pub(crate) fn config(&self, more: &str) -> String {
        let folder = self.0.join("w");
        let (folder, locks) = (folder.to_str().unwrap(), self.0.join("ide"));
        format!(
            r#"{{"name":"E","folders":[{folder:?}],"tools":["getOpenEditors"],"lock_dir":{locks:?}{more}}}"#
        )
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Takes turns until an event has this name, and returns it.
pub(crate) fn until(editor: &mut ListeningEditor, name: &str) -> Value {
    for _ in 0..10_000 {
        while let Some(event) = editor.next_event() {
            let event = checked(&event);
            if event["event"] == name {
                return event;
            }
        }
        assert!(!editor.is_over(), "no {name}");
        editor.dispatch_within(Some(Duration::from_secs(10))).unwrap();
    }
    panic!("no {name}");
}

#[test]
fn agent_is_answered_over_sockets() {
    let folder = Folder::new();
    let mut editor = ListeningEditor::open(&folder.config(r#","pid":1"#)).unwrap();
    let listening = until(&mut editor, "listening");
    let lock = Path::new(listening["lock"].as_str().unwrap()).to_owned();
    assert_eq!(LockFile::parse(&fs::read_to_string(&lock).unwrap()).unwrap().pid, Some(1));
    let port = listening["port"].to_string();
    assert_eq!(
        [&listening["protocol"], &listening["version"]],
        [&json!(1), &json!(env!("CARGO_PKG_VERSION"))]
    );
    assert_eq!(listening["environment"]["CLAUDE_CODE_SSE_PORT"], json!(port));
    let options = AgentOptions::new("agent", "1").lock_file(&lock).permit_dead_process();
    let agent = thread::spawn(move || {
        let mut agent = Agent::attach(options).unwrap();
        agent.call_tool(&GetOpenEditors).unwrap()
    });
    let call = until(&mut editor, "call");
    editor.command_line(
        1,
        format!(r#"{{"cmd":"respond","call":{},"result":{{"tabs":[]}}}}"#, call["call"]).as_bytes(),
    );
    until(&mut editor, "closed");
    assert!(agent.join().unwrap().tabs.is_empty());
    editor.command(2, r#"{"cmd":"quit"}"#).unwrap();
    until(&mut editor, "over");
    assert!(!lock.exists());
}

#[test]
fn earlier_run_gives_port_and_token() {
    let folder = Folder::new();
    let mut first = ListeningEditor::open(&folder.config("")).unwrap();
    let listening = until(&mut first, "listening");
    let lock = listening["lock"].as_str().unwrap().to_owned();
    let token = |lock: &str| LockFile::parse(&fs::read_to_string(lock).unwrap()).unwrap().auth_token.unwrap();
    let (kept, text) = (token(&lock), fs::read_to_string(&lock).unwrap());
    drop(first);
    // A killed sidecar leaves its lock file behind.
    fs::write(&lock, text).unwrap();
    let resume = folder.config(&format!(r#","resume":{lock:?}"#));
    let mut second = ListeningEditor::open(&resume).unwrap();
    let again = until(&mut second, "listening");
    assert_eq!((&again["port"], &again["lock"]), (&listening["port"], &listening["lock"]));
    if cfg!(target_os = "linux") {
        assert!(token(&lock).matches(Some(kept.as_bytes())));
    }
    drop(second);
    assert!(!Path::new(&lock).exists());
    let mut third = ListeningEditor::open(&resume).unwrap();
    assert_eq!(
        until(&mut third, "listening")["event"],
        json!("listening"),
        "without the file it starts as usual"
    );
}

#[test]
fn folders_change_the_lock_file() {
    let folder = Folder::new();
    let mut editor = ListeningEditor::open(&folder.config("")).unwrap();
    let lock = until(&mut editor, "listening")["lock"].as_str().unwrap().to_owned();
    editor.command(1, r#"{"cmd":"folders","folders":["/elsewhere"]}"#).unwrap();
    let folders = LockFile::parse(&fs::read_to_string(&lock).unwrap()).unwrap().workspace_folders;
    // On Windows a folder has a drive, and two more spellings.
    assert!(folders[0].ends_with("elsewhere") && (folders.len() == 1 || cfg!(windows)), "{folders:?}");
    let long = "x".repeat(LockFile::MAX_FOLDERS_LEN);
    let error = editor.command(2, &format!(r#"{{"cmd":"folders","folders":["/{long}"]}}"#)).unwrap_err();
    assert_eq!(error.kind(), ide_mcp_embed::CommandErrorKind::Io, "{error}");
}

#[test]
fn handle_ends_the_wait() {
    let folder = Folder::new();
    let mut editor = ListeningEditor::open(&folder.config("")).unwrap();
    let handle = editor.handle();
    let other = thread::spawn(move || handle.with(|_, _| {}).is_ok());
    editor.dispatch_within(None).unwrap();
    // The work runs in this turn or in the next.
    editor.dispatch_within(Some(Duration::from_millis(100))).unwrap();
    assert!(other.join().unwrap());
}

#[test]
fn turns_without_a_wait_bring_every_event() {
    let folder = Folder::new();
    let mut editor = ListeningEditor::open(&folder.config("")).unwrap();
    assert_eq!(editor.timeout(), Some(Duration::ZERO), "an event waits");
    until(&mut editor, "listening");
    for _ in 0..3 {
        editor.dispatch().unwrap();
    }
    assert!(editor.timeout().is_none_or(|timeout| timeout > Duration::ZERO), "nothing is due");
    editor.command(1, r#"{"cmd":"quit"}"#).unwrap();
    assert!(!editor.is_over(), "nothing was dispatched");
    while !editor.is_over() {
        editor.dispatch().unwrap();
    }
    until(&mut editor, "over");
    editor.fail(None, "too late".into());
    editor.command_line(2, b"{");
    assert!(editor.next_event().is_none(), "the last event is over");
}

/// Returns true if the editor's descriptor is readable.
fn is_readable(editor: &ListeningEditor) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    // The timer makes the descriptor readable only after some nanoseconds.
    let wait = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
    poll(&mut [PollFd::new(editor, PollFlags::IN)], Some(&wait)).unwrap() > 0
}

#[test]
fn events_without_traffic_are_due_at_once() {
    type Cause = fn(&mut ListeningEditor);
    let causes: [(&str, Cause, &[&str]); 4] = [
        ("events are taken again", |editor| editor.set_taking_events(true), &["gap", "status"]),
        ("a failure", |editor| editor.fail(Some(7), "no such file".into()), &["error"]),
        ("a refused command", |editor| editor.command_line(8, b"{"), &["error"]),
        ("the end", |editor| editor.shutdown("quit"), &["stopping"]),
    ];
    let folder = Folder::new();
    let mut editor = ListeningEditor::open(&folder.config("")).unwrap();
    until(&mut editor, "listening");
    editor.set_taking_events(false);
    editor.fail(None, "left out".into());
    for (name, cause, expected) in causes {
        while is_readable(&editor) {
            editor.dispatch().unwrap();
            assert!(editor.next_event().is_none(), "{name}");
        }
        assert!(editor.timeout().is_none_or(|timeout| timeout > Duration::ZERO), "{name}: nothing is due");
        cause(&mut editor);
        assert!(is_readable(&editor), "{name}");
        assert_eq!(editor.timeout(), Some(Duration::ZERO), "{name}");
        editor.dispatch().unwrap();
        let events: Vec<&str> =
            std::iter::from_fn(|| editor.next_event()).map(|event| event.name()).collect();
        assert!(events.starts_with(expected), "{name}: {events:?}");
    }
}

#[test]
fn last_events_come_although_events_are_left_out() {
    let folder = Folder::new();
    let mut editor = ListeningEditor::open(&folder.config("")).unwrap();
    until(&mut editor, "listening");
    editor.set_taking_events(false);
    editor.shutdown("quit");
    while !editor.is_over() {
        editor.dispatch().unwrap();
    }
    let events: Vec<&str> = std::iter::from_fn(|| editor.next_event()).map(|event| event.name()).collect();
    assert_eq!(events, ["gap", "status", "over"]);
}

#[test]
fn unusable_configuration_does_not_listen() {
    let folder = Folder::new();
    let message = ListeningEditor::open("{}").unwrap_err().to_string();
    assert!(message.contains("`name` is missing"), "{message}");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let message =
        ListeningEditor::open(&folder.config(&format!(r#","port":{port}"#))).unwrap_err().to_string();
    assert!(message.contains(&format!("cannot listen on port {port}")), "{message}");
}
