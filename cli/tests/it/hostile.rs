//! Hostile names in the calls of an agent, for the editor with and without a screen and for the sidecar: nothing is
//! executed, nothing hangs, and each call is answered.

use crate::hidden::Agent;
use crate::screen::Desk;
use crate::support::{Editor, Place, tmux};
use serde_json::{Value, json};
use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// The file that a command in a name would create in the folder.
const WITNESS: &str = "witness";

/// Returns hostile names, relative to the folder or absolute, and makes the files for those that can exist.
fn names(place: &Place) -> Vec<String> {
    let touch = format!("touch {WITNESS}");
    let odd = [
        "x\ncq".into(),
        format!("x\nlua os.execute('{touch}')"),
        "x\r".into(),
        format!("|{touch}"),
        "%".into(),
        "#".into(),
        format!("`{touch}`"),
        "\"'".into(),
        format!("$({touch})"),
        format!("=system('{touch}')"),
        format!("%{{system('{touch}')}}"),
        "x\u{1b}[2J\u{1b}]0;x\u{7}".into(),
        "a\u{202e}b".into(),
        "~root".into(),
        "n".repeat(255),
    ];
    let folder = place.project();
    let at = |name: &str| folder.join(name);
    for name in &odd {
        if !name.contains('/') {
            fs::write(at(name), "text\n").unwrap();
        }
    }
    rustix::fs::mknodat(
        rustix::fs::CWD,
        at("fifo"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    )
    .unwrap();
    drop(UnixListener::bind(at("s")));
    for (link, target) in
        [("to-fifo", "fifo"), ("to-zero", "/dev/zero"), ("to-nothing", "none"), ("loop", "loop")]
    {
        symlink(target, at(link)).unwrap();
    }
    File::create(at("huge")).unwrap().set_len(50 << 20).unwrap();
    fs::write(at("line"), "x".repeat(15 << 20)).unwrap();
    fs::write(at("utf16"), b"\xff\xfea\0\n\0").unwrap();
    fs::write(at("nul"), b"a\0b\n").unwrap();
    let files =
        ["fifo", "s", "to-fifo", "to-zero", "to-nothing", "loop", "huge", "line", "utf16", "nul", "."];
    let elsewhere = [
        "/dev/zero",
        "/dev/stdin",
        "/proc/self/mem",
        "/ssh:host:/x",
        "/sudo:root@localhost:/etc/shadow",
        "scp://h/x",
        "http://h/x",
        "",
        "\0",
        "a\0b",
    ];
    let long = "n".repeat(4097);
    let named = odd.iter().map(String::as_str).chain(files);
    let absolute = named.map(|name| format!("{}/{name}", folder.display()));
    absolute.chain(elsewhere.into_iter().map(Into::into)).chain([long]).collect()
}

/// Returns every call about a name.
fn calls(name: &str) -> [(&'static str, Value); 6] {
    let diff = json!({
        "old_file_path": name, "new_file_path": name, "new_file_contents": "new\n", "tab_name": name,
    });
    [
        ("openDiff", diff),
        ("close_tab", json!({ "tab_name": name })),
        ("openFile", json!({ "filePath": name })),
        ("checkDocumentDirty", json!({ "filePath": name })),
        ("saveDocument", json!({ "filePath": name })),
        ("getDiagnostics", json!({ "uri": name })),
    ]
}

/// Makes every call about each name, and checks the answers and what is left.
fn attack(place: &Place, editor: &mut Editor, answer_with: Option<&Value>) {
    let rows = names(place);
    let mut agent = Agent::attach(editor);
    let begin = resident(editor.id());
    for name in &rows {
        for (tool, arguments) in calls(name) {
            let id = agent.begin("tools/call", &json!({"name": tool, "arguments": arguments}));
            if let Some(result) = answer_with {
                answer(editor, &mut agent, result);
            }
            let outcome = agent.end(id);
            assert!(outcome.is_object(), "{tool} {name:?}: {outcome}");
        }
    }
    let grown = resident(editor.id()).saturating_sub(begin);
    assert!(grown < 200 << 20, "{} MiB", grown >> 20);
    assert!(!place.project().join(WITNESS).exists() && !place.home().join(WITNESS).exists());
}

/// Answers the events of the sidecar as an editor does that opens every file at once, until `status` shows that the
/// call has arrived.
fn answer(editor: &mut Editor, agent: &mut Agent, result: &Value) {
    // The sidecar reads what the agent has sent before it answers the ping.
    agent.ask("ping", &json!({}));
    editor.send_line(r#"{"cmd":"status"}"#);
    loop {
        let event = editor.json();
        let path = event["path"].as_str().unwrap_or_default();
        assert!(!path.contains(char::is_control) && !path.starts_with("/ssh:"), "{event}");
        match event["event"].as_str().unwrap() {
            "diff" => {
                assert!(!path.contains("fifo") && !path.contains("zero"), "{event}");
                editor.send_line(
                    &json!({"cmd": "answer", "call": event["call"], "verdict": "accept"}).to_string(),
                );
            }
            "call" => {
                let is_question = event["tool"] != "openFile";
                assert!(is_question || !path.contains("huge"), "{event}");
                editor
                    .send_line(&json!({"cmd": "fail", "call": event["call"], "message": result}).to_string());
            }
            "error" => panic!("{event}"),
            "status" => return,
            _ => {}
        }
    }
}

/// Returns the resident memory of a process in bytes; 0 where the system shows none in a file.
fn resident(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS"));
    let kib = line.and_then(|line| line.split_whitespace().nth(1)).and_then(|kib| kib.parse::<u64>().ok());
    kib.unwrap_or_default() * 1024
}

#[test]
fn editor_without_a_screen_survives_hostile_names() {
    let place = Place::new("hostile-headless");
    let mut editor = place.editor(&["--on-diff", "accept"]);
    attack(&place, &mut editor, None);
}

#[test]
fn sidecar_survives_hostile_names() {
    let place = Place::new("hostile-sidecar");
    let tools = ["openDiff", "openFile", "checkDocumentDirty", "saveDocument", "getDiagnostics"];
    let mut editor = crate::sidecar::sidecar(&place, &json!({ "tools": tools }));
    attack(&place, &mut editor, Some(&json!("seen")));
}

/// Checks that the user can go on typing while an agent sends all these names, and that each key arrives.
#[test]
fn screen_survives_hostile_names() {
    if tmux::is_missing() {
        return;
    }
    let desk = Desk::new("hostile-screen");
    desk.place.write("a.txt", "\n");
    desk.start_with("a.txt");
    let rows = names(&desk.place);
    let lock = desk.place.published("the editor", None);
    let editor = u32::try_from(desk.pid().as_raw_nonzero().get()).unwrap();
    let begin = resident(editor);
    let mut typed = String::new();
    thread::scope(|scope| {
        // A file opens while the user pauses. This user never pauses, however slow the machine is.
        let (end, ended) = mpsc::channel::<()>();
        let tmux = &desk.tmux;
        scope.spawn(move || {
            while ended.recv_timeout(Duration::from_millis(200)) == Err(RecvTimeoutError::Timeout) {
                tmux.keys(&["x", "BSpace"]);
            }
        });
        for (row, name) in rows.iter().enumerate() {
            // The agent also uses this name for itself; it can have a kilobyte.
            let mut agent = Agent::named(name, &lock);
            let key = format!("{}", row % 10);
            desk.tmux.type_text(&key);
            typed.push_str(&key);
            let ids: Vec<u32> = calls(name)
                .map(|(tool, arguments)| {
                    agent.begin("tools/call", &json!({"name": tool, "arguments": arguments}))
                })
                .to_vec();
            for id in ids {
                assert!(agent.end(id).is_object(), "{name:?}");
            }
            // Each key is on the screen, and no name has written over it.
            desk.tmux.until("the typed keys", |screen| screen.contains(&typed));
            let screen = desk.tmux.screen();
            assert!(!screen.contains('\u{202e}'), "{screen}");
        }
        drop(end);
    });
    // A message can cover the words "nobody attached", but not the sign in front of them.
    desk.tmux.until("no agent is left", |screen| screen.contains(" ○ "));
    let grown = resident(editor).saturating_sub(begin);
    assert!(grown < 200 << 20, "{} MiB", grown >> 20);
    assert!(!desk.place.project().join(WITNESS).exists() && !desk.place.home().join(WITNESS).exists());
}
