//! The files that agents name, on a real disk: their kinds, their sizes and their texts.

use crate::listening::{Folder, until};
use crate::support::checked;
use ide_mcp::ide::tool::{CheckDocumentDirty, OpenDiff, OpenFile, ToolArguments};
use ide_mcp_blocking::{Agent, AgentOptions};
use ide_mcp_embed::{Event, ListeningEditor, Value};
use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::Duration;

const MIB: u64 = 1 << 20;

type Call = Box<dyn FnOnce(&mut Agent) -> Result<(), String> + Send>;

/// An editor with a real disk, and an agent on another thread.
struct Desk {
    folder: Folder,
    editor: ListeningEditor,
    calls: Sender<Call>,
    outcomes: Receiver<Result<(), String>>,
    answered: u64,
    /// True if the editor leaves diffs open.
    keeps: bool,
}

impl Desk {
    fn new() -> Self {
        let folder = Folder::new();
        let tools = r#","pid":1,"tools":["openDiff","openFile","checkDocumentDirty"]"#;
        let config = folder.config("").replace(r#","tools":["getOpenEditors"]"#, tools);
        let mut editor = ListeningEditor::open(&config).unwrap();
        let listening = until(&mut editor, "listening");
        let lock = PathBuf::from(listening["lock"].as_str().unwrap());
        let (calls, inbox) = mpsc::channel::<Call>();
        let (outbox, outcomes) = mpsc::channel();
        thread::spawn(move || {
            let options = AgentOptions::new("agent", "1").lock_file(&lock).permit_dead_process();
            let mut agent = Agent::attach(options).unwrap();
            for call in inbox {
                let _ = outbox.send(call(&mut agent));
            }
        });
        Self { folder, editor, calls, outcomes, answered: 0, keeps: false }
    }

    fn path(&self, name: &str) -> String {
        self.folder.0.join("w").join(name).to_str().unwrap().into()
    }

    /// Lets the agent call, and returns its outcome and the event of the call. `take` takes the next event
    /// from the editor, and `seen` gets the event before it is answered.
    fn play(
        &mut self,
        call: impl FnOnce(&mut Agent) -> Result<(), String> + Send + 'static,
        take: fn(&mut ListeningEditor) -> Option<Event>,
        mut seen: impl FnMut(&Event),
    ) -> (Result<(), String>, Option<Event>) {
        self.calls.send(Box::new(call)).unwrap();
        let (mut turns, mut last) = (0, None);
        loop {
            self.editor.dispatch_within(Some(Duration::from_millis(5))).unwrap();
            while let Some(event) = take(&mut self.editor) {
                let number = match &event {
                    Event::Diff { call, .. } | Event::Call { call, .. } => *call,
                    _ => continue,
                };
                seen(&event);
                if self.keeps && matches!(event, Event::Diff { .. }) {
                    last = Some(event);
                    continue;
                }
                self.answered += 1;
                let command = match &event {
                    Event::Diff { .. } => format!(r#"{{"cmd":"answer","call":{number},"verdict":"accept"}}"#),
                    _ => format!(r#"{{"cmd":"fail","call":{number},"message":"seen"}}"#),
                };
                self.editor.command(self.answered, &command).unwrap();
                last = Some(event);
            }
            if let Ok(outcome) = self.outcomes.try_recv() {
                return (outcome, last);
            }
            turns += 1;
            assert!(turns < 10_000, "the agent has no answer");
        }
    }

    /// Proposes a text for a file. `take` is `next_whole_event`, as in the sidecar, or `next_event`, as in the C
    /// library.
    fn propose(
        &mut self,
        path: &str,
        take: fn(&mut ListeningEditor) -> Option<Event>,
        seen: impl FnMut(&Event),
    ) -> (Result<(), String>, Option<Event>) {
        self.call(OpenDiff::new(path, "new\n", "t"), take, seen)
    }

    fn call<T: ToolArguments + Send + 'static>(
        &mut self,
        arguments: T,
        take: fn(&mut ListeningEditor) -> Option<Event>,
        seen: impl FnMut(&Event),
    ) -> (Result<(), String>, Option<Event>) {
        self.play(
            move |agent| agent.call_tool(&arguments).map(drop).map_err(|error| error.to_string()),
            take,
            seen,
        )
    }
}

fn fifo(path: &str) {
    // rustix has no function for this on macOS.
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

#[test]
fn only_plain_files_up_to_a_size_reach_the_editor() {
    let mut desk = Desk::new();
    let at = |name: &str| desk.path(name);
    fs::write(at("plain"), "old\n").unwrap();
    fs::create_dir(at("folder")).unwrap();
    fifo(&at("fifo"));
    // The address of a socket is short, and the folder's path may be long.
    let short = format!("/tmp/ide-mcp-embed-socket-{}", std::process::id());
    symlink(Path::new(&at("s")).parent().unwrap(), &short).unwrap();
    let _socket = UnixListener::bind(Path::new(&short).join("s"));
    fs::remove_file(short).unwrap();
    assert!(fs::exists(at("s")).unwrap());
    for (link, target) in [
        ("to-plain", at("plain")),
        ("to-fifo", at("fifo")),
        ("to-zero", "/dev/zero".into()),
        ("to-nothing", at("none")),
        ("to-itself", at("to-itself")),
    ] {
        symlink(target, at(link)).unwrap();
    }
    for (name, size) in [("largest", 16 * MIB), ("larger", 16 * MIB + 1)] {
        File::create(at(name)).unwrap().set_len(size).unwrap();
    }
    fs::write(at("encrypted.gpg"), [0x85, 0x01, 0x0c]).unwrap();
    let (not_plain, too_large) = (Some("is not a plain file"), Some("has more than 16 MiB"));
    let rows = [
        ("a plain file", at("plain"), None, None),
        ("a new file", at("none"), None, None),
        ("a new file in a new folder", at("none/none"), None, None),
        ("a link to a plain file", at("to-plain"), None, None),
        ("a link to nothing", at("to-nothing"), None, None),
        ("an encrypted file", at("encrypted.gpg"), None, None),
        ("a file below a file", at("plain/x"), Some("cannot be used"), Some("cannot be used")),
        ("a folder", at("folder"), Some("is a directory"), Some("is a directory")),
        ("a FIFO", at("fifo"), not_plain, not_plain),
        ("a socket", at("s"), not_plain, not_plain),
        ("a device", "/dev/zero".into(), not_plain, not_plain),
        ("a link to a FIFO", at("to-fifo"), not_plain, not_plain),
        ("a link to a device", at("to-zero"), not_plain, not_plain),
        ("a link to itself", at("to-itself"), Some("cannot be used"), Some("cannot be used")),
        ("16 MiB of NULs", at("largest"), None, None),
        ("one byte more", at("larger"), None, too_large),
        ("a file of the kernel", "/proc/self/status".into(), not_plain, not_plain),
        (
            "a file of the kernel, by another path",
            "/proc/self/root/proc/self/status".into(),
            not_plain,
            not_plain,
        ),
    ];
    for (name, path, queried, loaded) in rows {
        if name.contains("kernel") && cfg!(not(target_os = "linux")) {
            continue;
        }
        let check =
            |(outcome, event): (Result<(), String>, Option<Event>), tool: &str, refusal: Option<&str>| {
                let outcome = outcome.map_err(|error| error.to_string());
                match refusal {
                    None => assert!(event.is_some(), "{name}, {tool}: {outcome:?}"),
                    Some(reason) => {
                        assert!(event.is_none(), "{name}, {tool}: {event:?}");
                        assert!(
                            outcome.as_ref().is_err_and(|why| why.contains(reason)),
                            "{name}, {tool}: {outcome:?}"
                        );
                    }
                }
            };
        check(desk.propose(&path, ListeningEditor::next_event, |_| {}), "openDiff", loaded);
        let opened = desk.call(OpenFile::new(path.as_str()), ListeningEditor::next_event, |_| {});
        check(opened, "openFile", loaded);
        let looked = desk.call(CheckDocumentDirty::new(path.as_str()), ListeningEditor::next_event, |_| {});
        check(looked, "checkDocumentDirty", queried);
    }
}

fn old(event: &Event) -> Option<String> {
    match event.member("old")? {
        Value::Text(text) => Some(text.into()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn old_text_is_decoded_once() {
    let mut desk = Desk::new();
    let rows: [(&str, &[u8], &str); 13] = [
        ("plain", b"a\nb\n", "a\nb\n"),
        ("empty", b"", ""),
        ("UTF-8", "𝒳\u{2028}".as_bytes(), "𝒳\u{2028}"),
        ("with a byte order mark", b"\xef\xbb\xbfa\n", "a\n"),
        ("only a byte order mark", b"\xef\xbb\xbf", ""),
        ("a mark in the middle", "a\u{feff}".as_bytes(), "a\u{feff}"),
        ("UTF-16, little-endian", b"\xff\xfea\0\x35\xd8\xb3\xdc\n\0", "a𝒳\n"),
        ("UTF-16, big-endian", b"\xfe\xff\0a\0\n", "a\n"),
        ("UTF-16, cut off", b"\xff\xfea\0\x35\xd8b", "a\u{fffd}\u{fffd}"),
        ("not UTF-8", b"\xe9t\xe9", "\u{fffd}t\u{fffd}"),
        ("NUL", b"a\0b", "a\0b"),
        ("line ends", b"a\r\nb\nc\r\r\n", "a\r\nb\nc\r\r\n"),
        ("no line end at the end", b"a", "a"),
    ];
    let path = desk.path("a");
    for (name, bytes, text) in rows {
        fs::write(&path, bytes).unwrap();
        for take in [ListeningEditor::next_event, ListeningEditor::next_whole_event] {
            let mut seen = None;
            let (outcome, event) = desk.propose(&path, take, |event| seen = old(event));
            assert_eq!((outcome, seen.as_deref()), (Ok(()), Some(text)), "{name}");
            assert_eq!(checked(&event.unwrap())["old"], text, "{name}: in JSON");
        }
    }
    fs::remove_file(&path).unwrap();
    let (_, event) = desk.propose(&path, ListeningEditor::next_whole_event, |_| {});
    assert!(old(&event.unwrap()).is_none(), "a new file has no old text");
}

/// The old text is that of the file that the agent names as the old one.
#[test]
fn old_text_is_that_of_the_old_file() {
    let mut desk = Desk::new();
    let (here, gone) = (desk.path("a"), desk.path("none"));
    fs::write(&here, "here\n").unwrap();
    for (old_path, path, text) in [(&here, &gone, Some("here\n")), (&gone, &here, None)] {
        let mut diff = OpenDiff::new(path, "new\n", "t");
        diff.old_file_path = old_path.into();
        let mut seen = None;
        let (outcome, event) = desk.call(diff, ListeningEditor::next_event, |event| seen = old(event));
        assert_eq!((outcome, seen.as_deref()), (Ok(()), text), "{old_path}");
        let event = checked(&event.unwrap());
        assert_eq!((&event["path"], &event["old_path"]), (&path.as_str().into(), &old_path.as_str().into()));
    }
}

/// The C library reads the file when the editor asks for the text, on the editor's thread. The sidecar reads
/// it before it writes the event.
#[test]
fn old_text_is_read_when_it_is_asked_for() {
    let mut desk = Desk::new();
    let path = desk.path("a");
    fs::write(&path, "before\n").unwrap();
    let mut seen = None;
    let later = path.clone();
    let (outcome, _) = desk.propose(&path, ListeningEditor::next_event, |event| {
        assert!(event.member("path").is_some(), "another member");
        fs::write(&later, "after\n").unwrap();
        seen = old(event);
        fs::write(&later, "again\n").unwrap();
        assert_eq!(old(event), seen, "read once");
    });
    assert_eq!((outcome, seen.as_deref()), (Ok(()), Some("after\n")));
    let mut seen = None;
    let later = path.clone();
    let (outcome, _) = desk.propose(&path, ListeningEditor::next_whole_event, |event| {
        fs::write(&later, "too late\n").unwrap();
        seen = old(event);
    });
    assert_eq!((outcome, seen.as_deref()), (Ok(()), Some("again\n")));
}

/// A FIFO that takes the place of the file after the first look does not block the editor.
#[test]
fn file_replaced_by_a_fifo_does_not_block() {
    let mut desk = Desk::new();
    let path = desk.path("a");
    fs::write(&path, "old\n").unwrap();
    let later = path.clone();
    let (outcome, _) = desk.propose(&path, ListeningEditor::next_event, |event| {
        fs::remove_file(&later).unwrap();
        fifo(&later);
        assert_eq!(old(event), None);
        assert!(checked(event).get("old").is_none());
    });
    assert_eq!(outcome, Ok(()));
    // As in the sidecar, which reads before the event: the FIFO arrives between the turn and the reading.
    fn replace(editor: &mut ListeningEditor) -> Option<Event> {
        let folder = editor_folder(editor)?;
        let path = folder.join("b");
        fs::remove_file(&path).ok()?;
        fifo(path.to_str().unwrap());
        editor.next_whole_event()
    }
    fn editor_folder(editor: &mut ListeningEditor) -> Option<PathBuf> {
        (editor.timeout() == Some(Duration::ZERO)).then(|| FOLDER.with_borrow(Clone::clone)).flatten()
    }
    thread_local! {
        static FOLDER: std::cell::RefCell<Option<PathBuf>> = const { std::cell::RefCell::new(None) };
    }
    FOLDER.set(Some(desk.folder.0.join("w")));
    let path = desk.path("b");
    fs::write(&path, "old\n").unwrap();
    let (outcome, event) = desk.propose(&path, replace, |_| {});
    assert!(event.is_none(), "{event:?}");
    assert!(outcome.unwrap_err().contains("is not a plain file"));
    let (outcome, _) = desk.propose(&desk.path("none"), ListeningEditor::next_whole_event, |_| {});
    assert_eq!(outcome, Ok(()), "the next proposal comes");
}

/// An event in JSON has a limit, and a byte may take six bytes there.
#[test]
fn old_text_that_json_makes_too_long_is_refused() {
    let mut desk = Desk::new();
    let path = desk.path("a");
    let (escaped, most) = (1_700_000, usize::try_from(16 * MIB).unwrap());
    let rows = [("at the limit", most, true), ("one byte more", most + 1, false)];
    for (name, length, is_shown) in rows {
        let mut text = "\0".repeat(escaped);
        text.push_str(&"x".repeat(length - 6 * escaped));
        fs::write(&path, text).unwrap();
        let (outcome, event) = desk.propose(&path, ListeningEditor::next_whole_event, |_| {});
        assert_eq!((outcome.is_ok(), event.is_some()), (is_shown, is_shown), "{name}: {outcome:?}");
        assert!(is_shown || outcome.unwrap_err().contains("is not text"), "{name}");
    }
    fs::write(&path, "\"\n".repeat(usize::try_from(4 * MIB).unwrap())).unwrap();
    let (outcome, event) = desk.propose(&path, ListeningEditor::next_whole_event, |_| {});
    assert!(outcome.is_ok() && event.is_some(), "a text of the maximum size, all of it escaped: {outcome:?}");
}

/// Without a limit on the sum of all open proposals, an agent could make it as large as it likes with short
/// messages.
#[test]
fn sum_of_old_texts_is_limited() {
    let mut desk = Desk::new();
    let [large, rest] = ["large", "rest"].map(|name| desk.path(name));
    let most = usize::try_from(8 * MIB).unwrap();
    let propose = |desk: &mut Desk, path: &str, tab: &str| {
        let diff = OpenDiff::new(path, "new\n", tab);
        desk.keeps = true;
        desk.play(
            move |agent| {
                // There is no answer while the editor keeps the proposal.
                let _ = agent.client_mut().unwrap().call_tool(&diff).map_err(|error| error.to_string())?;
                agent.list_tools().map(drop).map_err(|error| error.to_string())
            },
            ListeningEditor::next_whole_event,
            |_| {},
        )
    };
    // The second round is like the first: an ended proposal no longer counts.
    for round in 0..2 {
        let mut open = Vec::new();
        let rows = [
            ("first", most - 6, true),
            ("too large", 7, false),
            ("at the limit", 6, true),
            ("one byte more", 1, false),
        ];
        for (name, size, is_taken) in rows {
            let path = if size > 7 { &large } else { &rest };
            fs::write(path, "x".repeat(size)).unwrap();
            let (_, event) = propose(&mut desk, path, name);
            assert_eq!(event.is_some(), is_taken, "{name} in round {round}");
            open.extend(event);
        }
        for event in open {
            let Event::Diff { call, .. } = event else { panic!("{event:?}") };
            desk.answered += 1;
            desk.editor
                .command(desk.answered, &format!(r#"{{"cmd":"answer","call":{call},"verdict":"reject"}}"#))
                .unwrap();
        }
    }
}

/// Many proposals at once do not block the agents or the editor, which get their turn between two reads.
#[test]
fn turn_reads_at_most_one_old_text() {
    let mut desk = Desk::new();
    let path = desk.path("a");
    fs::write(&path, "old\n").unwrap();
    // The second round is like the first.
    for round in 0..2 {
        let proposed = path.clone();
        let call: Call = Box::new(move |agent| {
            for tab in ["1", "2", "3"] {
                let diff = OpenDiff::new(proposed.as_str(), "new\n", format!("{tab} in round {round}"));
                let _ = agent.client_mut().unwrap().call_tool(&diff).unwrap();
            }
            agent.list_tools().map(drop).map_err(|error| error.to_string())
        });
        desk.calls.send(call).unwrap();
        let mut total = 0;
        for turn in 0.. {
            assert!(turn < 10_000, "{total} proposals in round {round}");
            desk.editor.dispatch_within(Some(Duration::from_millis(5))).unwrap();
            let events = std::iter::from_fn(|| desk.editor.next_whole_event());
            let diffs = events.filter(|event| matches!(event, Event::Diff { .. })).count();
            assert!(diffs <= 1, "{diffs} in turn {turn}");
            total += diffs;
            if total == 3 {
                break;
            }
        }
        desk.outcomes.recv_timeout(Duration::from_secs(30)).unwrap().unwrap();
    }
}

#[test]
fn link_out_of_the_folder_is_outside() {
    let mut desk = Desk::new();
    let outside = desk.folder.0.join("secret");
    fs::write(&outside, "").unwrap();
    symlink(&outside, desk.path("link")).unwrap();
    symlink(desk.folder.0.join("none"), desk.path("dangling")).unwrap();
    fs::write(desk.path("inside"), "").unwrap();
    symlink(desk.path("inside"), desk.path("near")).unwrap();
    let rows = [("inside", false), ("none", false), ("near", false), ("link", true), ("dangling", true)];
    for (name, expected) in rows {
        let (_, event) = desk.propose(&desk.path(name), ListeningEditor::next_event, |_| {});
        assert_eq!(checked(&event.unwrap())["outside"], expected, "{name}");
    }
}
