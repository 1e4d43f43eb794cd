//! The replay of a transcript: no difference if the core sends the recorded bytes, and otherwise
//! the first difference.

use super::programs::{Tap, editor, replay, replay_both};
use crate::support::Place;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::thread;
use std::time::{Duration, Instant};

/// Records a session with everything that an editor does: lists, pushes, diffs that are accepted
/// and closed, and errors.
fn session(place: &Place) {
    place.write("a.txt", "hello\nwörld\n");
    place.write("new.txt", "proposed ✻\n");
    place.write("bad.json", "{x");
    let (mut editor, port, token) = editor(place, &["--name", "Test Editor"]);
    editor.send_line(r#"{"cmd":"select","path":"a.txt","start":[0,0],"end":[0,2]}"#);
    let mut tap = Tap::start(place, &port, "t.jsonl");

    let file: Value = serde_json::from_str(&fs::read_to_string(&tap.lock).unwrap()).unwrap();
    assert_eq!(file["ideName"], "Test Editor (tap)");
    assert_eq!(file["workspaceFolders"], json!([place.project()]));
    assert_ne!(file["authToken"], token.as_str());

    let mut watching = tap.agent(place, &["watch"]);
    watching.until_selected("he");
    let mut diff = tap.agent(place, &["diff", "a.txt", "new.txt"]);
    let tab = editor.until("diff")["tab"].clone();
    editor.send_line(&json!({"cmd": "answer", "tab": tab, "verdict": "accept"}).to_string());
    assert_eq!(diff.end().0, Some(0));
    assert_eq!(place.read("a.txt"), "proposed ✻\n");

    editor.send_line(r#"{"cmd":"select","path":"a.txt","start":[0,0],"end":[0,8]}"#);
    watching.until_selected("proposed");
    editor.send_line(r#"{"cmd":"mention","path":"a.txt","lines":[0,0]}"#);
    watching.until("at_mentioned");

    let mut calls = tap.agent(place, &["calls"]);
    for tab in ["one", "two", "three"] {
        calls.propose(tab, &"y".repeat(70_000));
        editor.until("diff");
    }
    for (call, answers) in [
        (r#"getDiagnostics {"uri":"bad.json"}"#, 1),
        (r#"close_tab {"tab_name":"two"}"#, 2),
        ("closeAllDiffTabs", 3),
        (r#"close_tab {"tab_name":"two"}"#, 1),
    ] {
        calls.send_line(call);
        (0..answers).for_each(|_| drop(calls.event("outcome")));
    }
    editor.send_line(r#"{"cmd":"select","path":"a.txt","start":[0,0],"end":[0,1]}"#);
    watching.until_selected("p");
    // The agent `calls` can receive the selection later.
    let begin = Instant::now();
    while passed(place, r#""text":"p""#) < 2 {
        assert!(begin.elapsed() < Duration::from_secs(30), "it is not sent");
        thread::sleep(Duration::from_millis(5));
    }
    calls.send_line("nosuch");
    calls.event("outcome");
    calls.hang_up();
    assert_eq!(calls.end().0, Some(1));
    assert_eq!(tap.agent(place, &["tools"]).end().0, Some(0));

    // The editor ends first, so its close handshake passes the tap.
    editor.send_line(r#"{"cmd":"quit"}"#);
    assert_eq!(editor.end().0, Some(0));
    watching.fails(1, &["the editor ended"]);
    let (own, path) = (tap.token.clone(), place.project().join("t.jsonl"));
    tap.stop();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let listed = replay(place, &["--list", "t.jsonl"]).1;
    for text in [place.read("t.jsonl"), listed] {
        assert!(!text.contains(&token) && !text.contains(&own), "a token stands in the transcript");
    }
}

/// Changes the text of one message of the editor in a transcript. Returns the transcript and the
/// line number.
fn changed(transcript: &str, message: &str, change: impl Fn(&str) -> String) -> (String, usize) {
    let mut lines: Vec<String> = transcript.lines().map(str::to_owned).collect();
    for (index, line) in lines.iter_mut().enumerate() {
        let mut form: Value = serde_json::from_str(line).unwrap();
        if form["from"] != "editor" || !form["base64"].is_string() {
            continue;
        }
        // The frames of the editor are not masked, so a text can be replaced by one of equal length.
        let text = message_of(&form);
        if text.contains(message) {
            let bytes: Vec<u8> = change(&text).chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect();
            form["base64"] = BASE64_STANDARD.encode(bytes).into();
            *line = form.to_string();
            return (lines.join("\n") + "\n", index + 1);
        }
    }
    panic!("nobody sends {message}");
}

#[test]
fn replay_finds_every_change_of_a_transcript() {
    let place = Place::new("tap-replay");
    session(&place);
    for side in ["editor", "agent"] {
        let (status, output) = replay_both(&place, &["--side", side, "t.jsonl"]);
        assert_eq!(status, Some(0), "{side}: {output}");
        assert!(output.starts_with(&format!("no difference: the {side} sends the same ")), "{output}");
        let (status, output) = replay(&place, &["--json", "--side", side, "t.jsonl"]);
        let line: Value = serde_json::from_str(&output).unwrap();
        assert_eq!(
            (status, &line["event"], &line["side"]),
            (Some(0), &"same".into(), &side.into()),
            "{output}"
        );
        assert!(line["messages"].as_u64() > Some(0) && line["uncompared"].is_array(), "{output}");
    }

    let transcript = place.read("t.jsonl");
    let check = |name: &str, text: &str, expected: &[&str]| {
        place.write("changed.jsonl", text);
        let (status, output) = replay(&place, &["changed.jsonl"]);
        assert_eq!(status, Some(1), "{name}: {output}");
        for part in expected {
            assert!(output.contains(part), "{name}: {part:?} is missing in\n{output}");
        }
        let (status, output) = replay(&place, &["--json", "changed.jsonl"]);
        let line: Value = serde_json::from_str(&output).unwrap();
        assert_eq!((status, &line["event"]), (Some(1), &"difference".into()), "{name}: {output}");
    };
    // Each case changes one or a few bytes, in messages of the machine or of the application.
    let cases = [
        (
            "a text that the machine makes",
            "CLOSED_2_DIFF_TABS",
            "CLOSED_2",
            "CLOSED_3",
            "result.content[0].text",
        ),
        ("an answer that nobody asked for", "FILE_SAVED", "\"id\":2", "\"id\":9", "recorded  "),
        ("an error", "tool nosuch not found", "-32602", "-32603", "error.code"),
        ("an envelope", "\"protocolVersion\"", "\"jsonrpc\":\"2.0\"", "\"jsonrpc\":\"2.1\"", "jsonrpc"),
        ("a version", "\"protocolVersion\"", "2025-11-25", "2025-06-18", "result.protocolVersion"),
        ("a push", "at_mentioned", "lineStart", "lineStars", "params.lineStar"),
        (
            "a selection",
            "\"text\":\"proposed\",\"filePath",
            "\"isEmpty\":false",
            "\"isEmpty\":true ",
            "params.selection.isEmpty",
        ),
    ];
    for (name, message, from, to, path) in cases {
        let (text, line) = changed(&transcript, message, |text| text.replacen(from, to, 1));
        check(name, &text, &[&format!("line {line},"), path]);
    }

    let lines: Vec<&str> = transcript.lines().collect();
    let find = |from: &str, text: &str| {
        lines.iter().position(|line| {
            let form: Value = serde_json::from_str(line).unwrap();
            form["from"] == from && message_of(&form).contains(text)
        })
    };
    let without = |index: Option<usize>| {
        let rest = lines.iter().enumerate().filter(|(at, _)| Some(*at) != index).map(|(_, line)| *line);
        rest.collect::<Vec<_>>().join("\n") + "\n"
    };
    let tab_closed = find("editor", "TAB_CLOSED");
    check("a line of the editor is missing", &without(tab_closed), &["now       the message", "TAB_CLOSED"]);
    let head = find("editor", "HTTP/1.1 101");
    check("the answer to a handshake is missing", &without(head), &["now       HTTP/1.1 101"]);
    let sent_nothing = "connection 1: the agent sent nothing readable on it";
    check(
        "a line of the agent is missing",
        &without(find("agent", "GET / ")),
        &["HTTP/1.1 101", sent_nothing],
    );

    // Changes of the bytes that leave the meaning.
    let spelling = |text: &str| {
        text.replacen(r#""type":"text","text":"TAB_CLOSED""#, r#""text":"TAB_CLOSED","type":"text""#, 1)
    };
    let (spelling, _) = changed(&transcript, "TAB_CLOSED", spelling);
    let head = lines[head.unwrap()];
    let head = transcript.replacen(head, &head.replacen("Upgrade: websocket", "Upgrade: Websocket", 1), 1);
    for (name, text, expected) in
        [("a spelling", spelling, "of the text"), ("a byte of a head", head, "line 2 of the head")]
    {
        place.write("changed.jsonl", &text);
        let (status, output) = replay(&place, &["changed.jsonl"]);
        assert_eq!(status, Some(0), "{name}: {output}");
        let (status, output) = replay(&place, &["--bytes", "changed.jsonl"]);
        assert!(status == Some(1) && output.contains(expected), "{name}: {output}");
    }
}

#[test]
fn incomparable_bytes_are_reported() {
    let place = Place::new("tap-left");
    session(&place);
    let whole: Vec<Value> =
        place.read("t.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let check = |name: &str, side: &str, lines: &[Value], status: i32, expected: &[&str]| {
        let text: String = lines.iter().map(|form| format!("{form}\n")).collect();
        place.write("left.jsonl", &text);
        let (found, output) = replay_both(&place, &["--side", side, "left.jsonl"]);
        assert_eq!(found, Some(status), "{name}: {output}");
        assert!(status == 1 || output.contains("not compared") != expected.is_empty(), "{name}: {output}");
        for part in expected {
            assert!(output.contains(part), "{name}: {part:?} is missing in\n{output}");
        }
    };
    let of = |form: &Value, conn: u32, from: &str| form["conn"] == conn && form["from"] == from;
    let ends = |form: &Value, from: &str| of(form, 2, from) && form["end"].is_string();
    let without = |what: &dyn Fn(&Value) -> bool| -> Vec<Value> {
        whole.iter().filter(|form| !what(form)).cloned().collect()
    };
    let is_head = |form: &Value| of(form, 2, "agent") && message_of(form).starts_with("GET ");
    let stray = |from: &str, lines: &[Value]| {
        let mut lines = lines.to_vec();
        let last = lines.iter().rposition(|form| of(form, 2, from) && form["base64"].is_string()).unwrap();
        let mut bytes = BASE64_STANDARD.decode(lines[last]["base64"].as_str().unwrap()).unwrap();
        bytes.push(0x81);
        lines[last]["base64"] = BASE64_STANDARD.encode(bytes).into();
        lines
    };
    for side in ["editor", "agent"] {
        let peer = if side == "editor" { "agent" } else { "editor" };
        check("as it was", side, &whole, 0, &[]);
        check("a stray byte", side, &stray(side, &whole), 1, &["recorded  the bytes", "now       nothing"]);
        let endless = without(&|form| ends(form, side));
        check("no end", side, &endless, 0, &[&format!("how the {side} ended connection 2")]);
        check("a stray byte and no end", side, &stray(side, &endless), 1, &["recorded  the bytes"]);
        // A killed tap leaves such a transcript.
        let cut = without(&|form| ends(form, side) || ends(form, peer));
        let left = format!("not compared: 1 byte of connection 2: the {side} is cut off");
        check("a stray byte where it is cut", side, &stray(side, &cut), 0, &[&left]);
        let silent = without(&|form| of(form, 2, side));
        let nothing = format!("connection 2: the {side} sent nothing");
        place.write("left.jsonl", &silent.iter().map(|form| format!("{form}\n")).collect::<String>());
        let (_, found) = replay_both(&place, &["--side", side, "left.jsonl"]);
        assert!(found.contains(&nothing), "{found}");
    }
    let headless = without(&is_head);
    check("no request", "agent", &headless, 1, &["recorded  the head"]);
    let headless = without(&|form| is_head(form) || ends(form, "agent") || ends(form, "editor"));
    check(
        "no request where it is cut",
        "agent",
        &headless,
        0,
        &["bytes of connection 2: the agent is cut off"],
    );
}

/// Returns how many connections in the transcript have this text so far. Ignores an incomplete last line.
fn passed(place: &Place, what: &str) -> usize {
    let transcript = fs::read(place.project().join("t.jsonl")).unwrap();
    let forms = transcript.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok());
    let with_it = forms.filter(|form: &Value| message_of(form).contains(what));
    with_it.filter_map(|form| form["conn"].as_u64()).collect::<BTreeSet<u64>>().len()
}

/// Returns the bytes of a line, each as a character.
fn message_of(form: &Value) -> String {
    let raw = form["raw"].as_str().map(|raw| raw.as_bytes().to_vec());
    let bytes = raw.or_else(|| BASE64_STANDARD.decode(form["base64"].as_str()?).ok()).unwrap_or_default();
    bytes.iter().map(|byte| char::from(*byte)).collect()
}

#[test]
fn late_timer_is_a_difference() {
    let place = Place::new("tap-clock");
    session(&place);
    // All lines from the mention on are half an hour later, and before them there was silence. The
    // machine would have sent a ping by then.
    let (mut is_later, mut late) = (false, String::new());
    for line in place.read("t.jsonl").lines() {
        let mut form: Value = serde_json::from_str(line).unwrap();
        is_later |= message_of(&form).contains("at_mentioned");
        if is_later {
            form["ns"] = (form["ns"].as_u64().unwrap() + 1_800_000_000_000).into();
        }
        late.push_str(&format!("{form}\n"));
    }
    place.write("late.jsonl", &late);
    let (status, found) = replay_both(&place, &["late.jsonl"]);
    assert_eq!(status, Some(1), "{found}");
    assert!(found.contains("a ping"), "{found}");
}

#[test]
fn crossed_messages_are_no_difference() {
    let place = Place::new("tap-crossed");
    session(&place);
    let transcript = place.read("t.jsonl");
    let mut lines: Vec<Value> = transcript.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    // The editor sent a selection, and then received a call, which it refused. The tap could also
    // have recorded the call before the selection.
    let answer = lines.iter().position(|form| message_of(form).contains("tool nosuch not found")).unwrap();
    let conn = lines[answer]["conn"].clone();
    let last = |from: &str, before: usize| {
        let (conn, lines) = (&conn, &lines[..before]);
        lines.iter().rposition(|form| form["from"] == from && form["conn"] == *conn).unwrap()
    };
    let request_at = last("agent", answer);
    let selected = last("editor", request_at);
    assert!(message_of(&lines[selected]).contains("selection_changed"));
    let mut moved = lines.remove(request_at);
    moved["ns"] = lines[selected]["ns"].clone();
    lines.insert(selected, moved);
    let write = |lines: &[Value]| {
        let text: String = lines.iter().map(|form| format!("{form}\n")).collect();
        place.write("crossed.jsonl", &text);
    };
    write(&lines);
    let (status, output) = replay_both(&place, &["crossed.jsonl"]);
    assert_eq!(status, Some(0), "{output}");

    // The refusal must be there in either order.
    lines.retain(|form| !message_of(form).contains("tool nosuch not found"));
    write(&lines);
    let (status, output) = replay_both(&place, &["crossed.jsonl"]);
    assert!(status == Some(1) && output.contains("tool nosuch not found"), "{output}");
}

#[test]
fn answers_to_forms_are_no_difference() {
    let place = Place::new("tap-forms");
    place.write(
        "s",
        r#"{"expect":{"event":"form","message":"accepted"}}
           {"answer":{"action":"accept","content":{}}}
           {"expect":{"event":"form","message":"declined"}}
           {"answer":{"action":"decline"}}
           {"expect":{"event":"form","message":"cancelled by the editor"}}
           {"expect":{"event":"form_closed"}}"#,
    );
    let (mut editor, port, _) = editor(&place, &[]);
    let mut tap = Tap::start(&place, &port, "t.jsonl");
    let mut script = tap.agent(&place, &["--script", "s"]);
    editor.until("ide_connected");
    for (message, within) in [("accepted", 30_000), ("declined", 30_000), ("cancelled by the editor", 50)] {
        let form = json!({"message": message, "requestedSchema": {"properties": {}}});
        editor.send_line(&json!({"cmd": "form", "form": form, "within": within}).to_string());
        editor.until("form_answer");
    }
    assert_eq!(script.end(), (Some(0), String::new()));
    tap.stop();
    for side in ["agent", "editor"] {
        let (status, output) = replay_both(&place, &["--side", side, "t.jsonl"]);
        assert_eq!(status, Some(0), "{side}: {output}");
    }
}

/// The agent would have sent a ping 30 s after the last bytes of the editor. Its loop was a little
/// late, and the ping of the editor came first.
#[test]
fn slightly_late_timer_is_no_difference() {
    let place = Place::new("tap-late");
    let (mut editor, port, _) = editor(&place, &[]);
    let mut tap = Tap::start(&place, &port, "t.jsonl");
    let _agent = tap.agent(&place, &["watch"]);
    editor.until("roots");
    tap.process.kill();
    // As on a machine that is never busy: the other timers are not late.
    let (mut text, mut received) = (String::new(), 0);
    for (place, line) in place.read("t.jsonl").lines().enumerate() {
        let mut form: Value = serde_json::from_str(line).unwrap();
        if form["ns"].is_u64() {
            form["ns"] = json!(1_000_000 * place);
        }
        if form["from"] == "editor" {
            received = form["ns"].as_u64().unwrap();
        }
        text.push_str(&format!("{form}\n"));
    }
    for (after, from, bytes) in
        [(30_050_000_000, "editor", &b"\x89\0"[..]), (30_051_000_000, "agent", b"\x8a\x80\0\0\0\0")]
    {
        let base64 = BASE64_STANDARD.encode(bytes);
        let line = json!({"ns": received + after, "conn": 1, "from": from, "base64": base64});
        text.push_str(&format!("{line}\n"));
    }
    place.write("late.jsonl", &text);
    let (status, output) = replay_both(&place, &["--side", "agent", "late.jsonl"]);
    assert_eq!(status, Some(0), "{output}");
    let (status, output) = replay_both(&place, &["--side", "agent", "--tolerance", "20", "late.jsonl"]);
    assert!(status == Some(1) && output.contains("now       a ping"), "{output}");
}
