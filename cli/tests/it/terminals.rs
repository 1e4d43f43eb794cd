//! Progress at a terminal, and unusable terminals: one that nobody reads, one that disappears, and none at all.

use crate::support::terminal::{at, terminal};
use crate::support::{Place, ended};
use serde_json::json;
use std::fs;
use std::io::{Read as _, Write as _};
use std::process::Stdio;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(30);

fn wait_for(what: &str, mut is_it: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !is_it() {
        assert!(begin.elapsed() < PATIENCE, "{what} does not come");
        thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn waiting_calls_show_progress() {
    let place = Place::new("waiting");
    let _editor = place.editor(&["--on-diff", "hold"]);
    let file = place.write("a.txt", "old\n");
    let (mut person, program) = terminal();
    let mut agent = {
        let mut command = place.command("agent", &["calls"]);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(program).spawn().unwrap()
    };
    let diff = json!({"old_file_path": file, "new_file_contents": "new\n"});
    let mut calls = agent.stdin.take().unwrap();
    writeln!(calls, "openDiff {diff}").unwrap();
    // The terminal ends with the agent.
    let (sender, texts) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = [0; 1024];
        while let Ok(read @ 1..) = person.read(&mut bytes) {
            sender.send(String::from_utf8_lossy(&bytes[..read]).into_owned()).unwrap_or_default();
        }
    });
    let mut shown = String::new();
    for seconds in 1..=2 {
        let expected = format!("agent: waiting for the results of \"ide-mcp editor\" … {seconds} s");
        while !shown.contains(&expected) {
            shown += &texts.recv_timeout(PATIENCE).unwrap();
        }
    }
    assert!(!shown.contains("… 0 s") && shown.matches("… 1 s").count() == 1, "once in a second: {shown}");
    agent.kill().unwrap();
    agent.wait().unwrap();
}

#[test]
fn unread_terminal_delays_no_agent() {
    let place = Place::new("stalled");
    let text = |letter: &str| format!("{}\n", letter.repeat(190)).repeat(60);
    let files = [place.write("a.txt", &text("a")), place.write("b.txt", &text("b"))];
    let (person, program) = terminal();
    let mut editor = at(&program, &mut place.command("editor", &[]));
    place.published("the editor", None);
    // Each file fills the screen. Together the screens exceed by far the buffer of an unread
    // terminal.
    let mut agent = place.agent(&["calls"]);
    for turn in 0..40 {
        agent.send_line(&format!("openFile {}", json!({"filePath": files[turn % 2]})));
        let outcome = agent.event("outcome");
        assert_ne!(outcome["outcome"]["result"]["isError"], true, "{outcome}");
    }
    agent.hang_up();
    assert_eq!(agent.end().0, Some(0));
    // The end of the editor does not wait for the terminal either.
    let pid = rustix::process::Pid::from_raw(i32::try_from(editor.id()).unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    wait_for("the end of the lock file", || place.in_lock_dir().is_empty());
    wait_for("its end", || editor.try_wait().unwrap().is_some());
    drop(person);
}

#[test]
fn lost_terminal_ends_the_editor() {
    let place = Place::new("gone");
    let (person, program) = terminal();
    let editor = at(&program, &mut place.command("editor", &[]));
    drop(program);
    place.published("the editor", None);
    let mut agent = place.agent(&["calls"]);
    agent.propose("t", "new");
    agent.send_line("getOpenEditors");
    assert_eq!(agent.event("outcome")["tool"], "getOpenEditors");
    drop(person);
    let (status, output) = ended(editor);
    assert_eq!((status, output.as_str()), (Some(0), ""));
    let outcome = agent.event("outcome");
    assert_eq!(outcome["outcome"]["result"]["content"][0]["text"], "DIFF_REJECTED", "{outcome}");
    assert!(place.in_lock_dir().is_empty());
}

/// Checks that a user can leave, whatever has arrived before: a reply that another program wanted, or half of
/// something.
#[test]
fn keys_get_through_what_a_terminal_sends() {
    let rows: [(&str, &[u8]); 9] = [
        ("a report of a mode", b"\x1b[?2026;2$y"),
        ("a colour", b"\x1b]11;rgb:0000/0000/0000\x1b\\"),
        ("a capability", b"\x1bP1+r544e=78\x1b\\"),
        ("a mouse report at column 0", b"\x1b[<0;0;0M"),
        ("half a report", b"\x1b[?2026;2$"),
        ("half a colour", b"\x1b]11;rgb:0000"),
        ("half a capability", b"\x1bP1+r544e"),
        ("half a character", b"\xe2\x9c"),
        ("half a paste", b"\x1b[200~pasted"),
    ];
    thread::scope(|scope| {
        for (name, bytes) in rows {
            scope.spawn(move || {
                let place = Place::new("keys");
                let file = place.write("a.txt", "old\n");
                let (mut person, program) = terminal();
                let mut editor = at(&program, &mut place.command("editor", &["a.txt"]));
                drop(program);
                let (mut output, mut read) = (String::new(), [0; 4096]);
                while !output.contains("1:1") {
                    let count = person.read(&mut read).unwrap();
                    output += &String::from_utf8_lossy(&read[..count]);
                }
                person.write_all(bytes).unwrap();
                // Longer than every timeout that ends a sequence.
                thread::sleep(Duration::from_millis(1500));
                // Pasted text is not saved, so the first Ctrl+Q asks. Without pasted text it has ended the editor
                // already.
                for key in [b"\x11", b"\x11"] {
                    let _ = person.write_all(key);
                    thread::sleep(Duration::from_millis(300));
                }
                wait_for(name, || editor.try_wait().unwrap().is_some());
                assert_eq!(editor.wait().unwrap().code(), Some(0), "{name}");
                // The end of a terminal is an error.
                while let Ok(count @ 1..) = person.read(&mut read) {
                    output += &String::from_utf8_lossy(&read[..count]);
                }
                assert!(output.contains("^Q again") == (name == "half a paste"), "{name}: {output:?}");
                assert_eq!(fs::read_to_string(file).unwrap(), "old\n", "{name}: the file is not text");
            });
        }
    });
}

/// Starts an editor with an empty file, whose screen is read on a thread.
fn editor_with_a_file(place: &Place) -> (fs::File, std::process::Child) {
    place.write("a.txt", "");
    let (person, program) = terminal();
    let editor = at(&program, &mut place.command("editor", &["a.txt"]));
    let mut screen = person.try_clone().unwrap();
    let (sender, shown) = mpsc::channel();
    thread::spawn(move || {
        let (mut bytes, mut output) = ([0; 4096], String::new());
        while let Ok(read @ 1..) = screen.read(&mut bytes) {
            if !output.contains("1:1") {
                output += &String::from_utf8_lossy(&bytes[..read]);
            }
            if output.contains("1:1") {
                sender.send(()).unwrap_or_default();
            }
        }
    });
    shown.recv_timeout(PATIENCE).unwrap();
    (person, editor)
}

/// A user who cannot leave presses the keys again and again.
#[test]
fn keys_that_are_pressed_again_and_again_get_through() {
    let rows: [(&str, &[u8]); 3] = [
        ("half a colour", b"\x1b]11;rgb:0000"),
        ("half a capability", b"\x1bP1+r544e"),
        ("half a paste", b"\x1b[200~pasted"),
    ];
    for (name, bytes) in rows {
        let place = Place::new("held");
        let (mut person, mut editor) = editor_with_a_file(&place);
        person.write_all(bytes).unwrap();
        wait_for(name, || {
            // The terminal can be gone.
            let _ = person.write_all(b"\x11");
            thread::sleep(Duration::from_millis(100));
            editor.try_wait().unwrap().is_some()
        });
    }
}

/// A terminal without bracketed paste types what is pasted.
#[test]
fn large_text_arrives_as_keys() {
    let line = "let value = 1234567890;\r";
    for (name, text) in [("one line", "a".repeat(200_000)), ("lines", line.repeat(16_000))] {
        let place = Place::new("large");
        let (mut person, mut editor) = editor_with_a_file(&place);
        // A terminal waits for an editor that reads slowly.
        let begin = Instant::now();
        person.write_all(&[text.as_bytes(), b"\x13\x11"].concat()).unwrap();
        wait_for(name, || editor.try_wait().unwrap().is_some());
        assert!(begin.elapsed() < PATIENCE, "{name}: {:?}", begin.elapsed());
        assert!(place.read("a.txt") == text.replace('\r', "\n"), "{name}");
    }
}

#[test]
fn missing_screen_error_suggests_headless() {
    let place = Place::new("none");
    let (_person, program) = terminal();
    let side = || Stdio::from(program.try_clone().unwrap());
    let mut dumb = place.command("editor", &[]);
    dumb.env("TERM", "dumb").stdin(side()).stdout(side());
    let mut piped = place.command("editor", &[]);
    piped.stdin(Stdio::null()).stdout(side());
    for (mut command, expected) in [(dumb, "TERM=dumb"), (piped, "standard input is not a terminal")] {
        let (status, output) = ended(command.stderr(Stdio::piped()).spawn().unwrap());
        assert_eq!(status, Some(2), "{output}");
        assert!(output.contains(expected) && output.contains("--headless"), "{output}");
        assert_eq!(output.lines().count(), 1, "{output}");
    }
    assert!(place.in_lock_dir().is_empty());
    let mut headless = place.command("editor", &["--headless"]);
    headless.stdin(Stdio::null()).stdout(side()).stderr(Stdio::piped());
    assert_eq!(ended(headless.spawn().unwrap()), (Some(0), String::new()));
}
