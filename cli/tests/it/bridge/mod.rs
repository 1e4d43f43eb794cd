//! The bridge between an MCP client and an editor. The client is the pipes of the test, and the
//! editor is a process.

mod beginning;
mod client;
mod returning;
mod scripted;
mod unread;

use crate::support::{Place, Process};
use client::{INITIALIZE, INITIALIZED, ask, bridge, call, diff, texts};
pub(crate) use scripted::Scripted;
use serde_json::{Value, json};
use std::fs;
use std::io::Write as _;
use std::process::Stdio;

#[test]
fn mcp_client_gets_tools_of_editor() {
    let place = Place::new("bridge-client");
    place.write("bad.json", "{x");
    let mut editor = place.editor(&["--name", "Test Editor"]);
    let mut bridge = place.start("bridge", &[]);
    bridge.send_line(INITIALIZE);
    assert_eq!(bridge.json()["result"]["serverInfo"]["name"], "Test Editor");
    bridge.send_line(INITIALIZED);
    ask(&mut bridge, &json!(0), "tools/list", &json!({}));
    call(&mut bridge, &json!(1), "getDiagnostics", &json!({"uri": "bad.json"}));
    call(&mut bridge, &json!(2), "nosuch", &json!({}));
    let mut answers: Vec<Value> = (0..3).map(|_| bridge.json()).collect();
    answers.sort_by_key(|answer| answer["id"].as_u64());
    let tools = answers[0]["result"]["tools"].as_array().unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names[..5], ["openDiff", "close_tab", "closeAllDiffTabs", "getDiagnostics", "openFile"]);
    assert!(texts(&answers[1])[0].contains("bad.json"));
    assert_eq!(answers[2]["error"]["code"], -32602);
    bridge.hang_up();
    assert_eq!(bridge.end(), (Some(0), String::new()));
    let connected = editor.event("connected");
    assert_eq!(connected["client"], "peer", "the editor gets the name of the client of the bridge");
    assert!(editor.until("closed")["reason"].as_str().unwrap().contains("1000"));
}

#[test]
fn messages_pass_in_both_directions() {
    let place = Place::new("bridge-diff");
    let path = place.write("a.txt", "hello\n");
    let mut editor = place.editor(&[]);
    let mut bridge = place.start("bridge", &[]);
    // The bridge itself answers requests before `initialize`.
    ask(&mut bridge, &json!(0), "server/discover", &json!({}));
    assert_eq!(bridge.json()["error"]["code"], -32601);
    ask(&mut bridge, &json!(1), "ping", &json!({}));
    assert_eq!(bridge.json()["result"], json!({}));
    bridge.send_line(INITIALIZE);
    let greeting = bridge.json();
    assert_eq!(greeting["result"]["protocolVersion"], "2025-06-18");
    assert_eq!(greeting["result"]["serverInfo"]["name"], "ide-mcp editor");
    bridge.send_line(INITIALIZED);
    editor.until("ide_connected");

    call(&mut bridge, &json!("é"), "openDiff", &diff("t"));
    assert_eq!(editor.until("diff")["tab"], "t");
    editor.send_line(r#"{"cmd":"select","path":"a.txt","start":[0,0],"end":[0,4]}"#);
    let pushed = bridge.json();
    assert_eq!(pushed["method"], "selection_changed");
    assert_eq!(pushed["params"]["filePath"], path);
    editor.send_line(r#"{"cmd":"answer","verdict":"accept","contents":"edited"}"#);
    let answer = bridge.json();
    assert_eq!(answer["id"], "é");
    assert_eq!(texts(&answer), ["FILE_SAVED", "edited"]);

    // A cancelled call is cancelled for the editor too, and gets no answer.
    call(&mut bridge, &json!(7), "openDiff", &diff("u"));
    editor.until("diff");
    bridge.send_line(
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7,"reason":"enough"}}"#,
    );
    assert_eq!(editor.until("diff_closed")["reason"], "cancelled");
    call(&mut bridge, &json!(8), "closeAllDiffTabs", &json!({}));
    let answer = bridge.json();
    assert_eq!((&answer["id"], texts(&answer)), (&json!(8), vec!["CLOSED_0_DIFF_TABS"]));

    // At the end of the input the bridge answers the open call, and closes the connection in order.
    call(&mut bridge, &json!(9), "openDiff", &diff("v"));
    editor.until("diff");
    bridge.hang_up();
    let answer = bridge.json();
    assert_eq!((&answer["id"], &answer["error"]["message"]), (&json!(9), &json!("the bridge ends")));
    assert_eq!(editor.until("diff_closed")["reason"], "cancelled");
    assert!(editor.until("closed")["reason"].as_str().unwrap().contains("1000"));
    assert_eq!(bridge.end(), (Some(0), String::new()));
}

/// Reads a notification for each list of the editor, and returns the names of the lists.
fn changed_lists(bridge: &mut Process) -> [String; 3] {
    [(); 3].map(|()| {
        let method = bridge.json()["method"].as_str().unwrap().to_owned();
        method.replace("notifications/", "").replace("/list_changed", "")
    })
}

#[test]
fn bridge_reconnects_to_returning_editor() {
    let place = Place::new("bridge-back");
    let mut first = place.editor(&["--on-diff", "hold"]);
    let mut bridge = bridge(&place, &[]);
    first.until("ide_connected");
    call(&mut bridge, &json!(1), "openDiff", &diff("t"));
    first.until("diff");
    // The lock file stays, and names a port that no process listens on.
    first.kill();
    let answer = bridge.json();
    assert_eq!(answer["id"], 1);
    assert_eq!(answer["error"]["message"], "the editor was gone before it answered");
    call(&mut bridge, &json!(2), "getDiagnostics", &json!({}));
    let answer = bridge.json();
    assert_eq!(answer["id"], 2);
    assert!(answer["error"]["message"].as_str().unwrap().contains("the editor is away"), "{answer}");
    bridge.send_line(r#"{"jsonrpc":"2.0","method":"x/unsent"}"#);

    // The editor returns with another port and another token.
    fs::remove_file(&first.lock).unwrap();
    let mut second = place.editor(&["--on-diff", "accept"]);
    assert_ne!(first.port, second.port);
    assert_eq!(changed_lists(&mut bridge), ["tools", "prompts", "resources"]);
    assert_eq!(second.event("connected")["client"], "peer");
    call(&mut bridge, &json!(3), "openDiff", &diff("t"));
    assert_eq!(texts(&bridge.json()), ["FILE_SAVED", "y"]);

    // The editor can also end with a close handshake.
    second.send_line(r#"{"cmd":"quit"}"#);
    assert_eq!(second.end().0, Some(0));
    let _third = place.editor(&[]);
    assert_eq!(changed_lists(&mut bridge), ["tools", "prompts", "resources"]);
    ask(&mut bridge, &json!(4), "tools/list", &json!({}));
    assert_eq!(bridge.json()["result"]["tools"].as_array().unwrap().len(), 16);
    bridge.terminate();
    bridge.fails(0, &["is lost", "the editor is back", "the editor did not receive x/unsent"]);
}

#[test]
fn unread_stderr_does_not_block_the_bridge() {
    let place = Place::new("bridge-unread");
    let mut first = place.editor(&[]);
    let mut bridge = bridge(&place, &[]);
    first.until("ide_connected");
    first.kill();
    fs::remove_file(&first.lock).unwrap();
    // Until the bridge detects the loss, it counts no lost notifications.
    for id in 0.. {
        ask(&mut bridge, &json!(id), "tools/list", &json!({}));
        let answer = bridge.json();
        if answer["error"]["message"].as_str().unwrap().contains("away") {
            break;
        }
    }
    for n in 0..3000 {
        bridge.send_line(&format!(r#"{{"jsonrpc":"2.0","method":"x/unsent-{n}"}}"#));
    }
    // Each refusal causes a complaint of 100 KB, which is more than the pipe holds.
    let refusal =
        format!(r#"{{"jsonrpc":"2.0","id":null,"error":{{"code":-1,"message":"{}"}}}}"#, "x".repeat(100_000));
    for _ in 0..4 {
        bridge.send_line(&refusal);
    }
    ask(&mut bridge, &json!("after"), "ping", &json!({}));
    assert_eq!(bridge.json(), json!({"jsonrpc": "2.0", "id": "after", "result": {}}));
    bridge.terminate();
    // The unread pipe has only the beginning. The bridge ends without writing the rest.
    let (status, text) = bridge.end();
    assert_eq!(status, Some(0));
    assert!(text.starts_with("bridge: ") && text.len() < 100_000, "{} bytes", text.len());
}

#[test]
fn lost_notifications_are_reported_once() {
    let place = Place::new("bridge-count");
    let mut first = place.editor(&[]);
    let mut bridge = bridge(&place, &[]);
    first.until("ide_connected");
    first.send_line(r#"{"cmd":"quit"}"#);
    assert_eq!(first.end().0, Some(0));
    assert!(!first.lock.exists());
    for id in 0.. {
        ask(&mut bridge, &json!(id), "tools/list", &json!({}));
        if !bridge.json()["error"].is_null() {
            break;
        }
    }
    for n in 0..500 {
        bridge.send_line(&format!(r#"{{"jsonrpc":"2.0","method":"x/unsent-{n}"}}"#));
    }
    bridge.hang_up();
    let text = bridge.fails(0, &["did not receive 500 notifications", "the first was x/unsent-0"]);
    assert_eq!(text.matches("unsent-").count(), 1, "{text}");
}

#[test]
fn bridge_allows_256_open_calls() {
    let place = Place::new("bridge-many");
    let mut editor = place.editor(&["--on-diff", "hold"]);
    let mut bridge = bridge(&place, &[]);
    for id in 0..256 {
        call(&mut bridge, &json!(id), "openDiff", &diff(&format!("{id}")));
    }
    for _ in 0..256 {
        editor.until("diff");
    }
    call(&mut bridge, &json!(256), "openDiff", &diff("one too many"));
    let refused = bridge.json();
    assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!(256), &json!(-32603)));
    // A call that ends an open call is still accepted. It causes two answers: that of the diff, and
    // its own.
    call(&mut bridge, &json!("close"), "close_tab", &json!({"tab_name": "255"}));
    let answers = [bridge.json(), bridge.json()];
    assert!(
        answers.iter().any(|answer| answer["id"] == 255 && texts(answer)[0] == "DIFF_REJECTED"),
        "{answers:?}"
    );
    assert!(
        answers.iter().any(|answer| answer["id"] == "close" && texts(answer) == ["TAB_CLOSED"]),
        "{answers:?}"
    );
    editor.send_line(r#"{"cmd":"quit"}"#);
    let mut ids: Vec<u64> = (0..255)
        .map(|_| {
            let answer = bridge.json();
            assert_eq!(texts(&answer)[0], "DIFF_REJECTED");
            answer["id"].as_u64().unwrap()
        })
        .collect();
    ids.sort_unstable();
    assert!(ids.into_iter().eq(0..255));
    bridge.hang_up();
    assert_eq!(bridge.end().0, Some(0));
}

#[test]
fn ninth_invalid_line_ends_the_bridge() {
    let place = Place::new("bridge-garbage");
    let mut editor = place.editor(&[]);
    let mut bridge = bridge(&place, &[]);
    for _ in 0..8 {
        bridge.send_line("no message");
    }
    ask(&mut bridge, &json!(1), "ping", &json!({}));
    assert_eq!(bridge.json()["id"], 1);
    bridge.send_line("one more");
    bridge.fails(1, &["not messages"]);
    assert!(editor.until("closed")["reason"].as_str().unwrap().contains("1000"));
}

/// A client that writes in another encoding is still answered.
#[test]
fn line_that_is_not_utf8_is_answered() {
    let place = Place::new("bridge-latin");
    let _editor = place.editor(&[]);
    let mut command = place.command("bridge", &[]);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let lines: [&[u8]; 4] = [
        INITIALIZE.as_bytes(),
        br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        b"{\"jsonrpc\":\"2.0\",\"id\":\"caf\xe9\",\"method\":\"ping\"}",
        br#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#,
    ];
    input.write_all(&lines.join(&b'\n')).unwrap();
    input.write_all(b"\n").unwrap();
    drop(input);
    let output = child.wait_with_output().unwrap();
    let (text, note) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(text.contains("\"id\":\"caf\u{fffd}\"") && text.contains(r#""id":7"#), "{text}");
    assert!(note.contains("line 3 of the input is not UTF-8: other bytes are read as U+FFFD"), "{note}");
    assert_eq!(output.status.code(), Some(0), "{note}");
}

#[test]
fn unknown_members_pass_unchanged() {
    let place = Place::new("bridge-raw");
    let listener = place.listener().0;
    let mut bridge = place.start("bridge", &[]);
    bridge.send_line(INITIALIZE);
    let mut editor = Scripted::accept(&listener);
    let greeting = editor.receive();
    assert_eq!(greeting["params"]["clientInfo"], json!({"name": "peer", "version": "7"}));
    assert_eq!(greeting["params"]["capabilities"], json!({"experimental": {"x": {}}}));
    editor.send(&format!(
        r#"{{"jsonrpc":"2.0","id":{},"result":{{"protocolVersion":"2025-06-18","capabilities":{{"tools":{{}},"prompts":{{"x":1}},"logging":{{}}}},"serverInfo":{{"name":"s","version":"1"}},"instructions":"read me"}}}}"#,
        greeting["id"]
    ));
    let answered = bridge.json()["result"].clone();
    assert_eq!(answered["capabilities"]["prompts"], json!({"x": 1}));
    assert_eq!(answered["capabilities"]["logging"], json!({}));
    assert_eq!(answered["instructions"], "read me");
    assert_eq!(editor.receive()["method"], "notifications/initialized");
    assert_eq!(editor.receive()["method"], "ide_connected");
    // A notification from before the client is ready waits until it is.
    editor.send(r#"{"jsonrpc":"2.0","method":"early","params":{"n": 1.50}}"#);
    ask(&mut bridge, &json!(0), "x/first", &json!({}));
    let request = editor.receive();
    assert_eq!(request["method"], "x/first");
    editor.send(&format!(
        r#"{{"jsonrpc":"2.0","id":{},"error":{{"code":-7,"message":"m","data":{{"a": 1}}}}}}"#,
        request["id"]
    ));
    assert_eq!(
        bridge.line(),
        r#"{"jsonrpc":"2.0","id":0,"error":{"code":-7,"message":"m","data":{"a": 1}}}"#
    );
    bridge.send_line(INITIALIZED);
    assert_eq!(bridge.line(), r#"{"jsonrpc":"2.0","method":"early","params":{"n": 1.50}}"#);

    // Progress of a request of the client. The bridge translates the token.
    bridge.send_line(r#"{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"n","arguments":{"b": 1e2},"_meta":{"progressToken":"tok","odd":1}}}"#);
    let request = editor.receive();
    assert_eq!(request["params"]["_meta"], json!({"odd": 1, "progressToken": request["id"]}));
    editor.send(&format!(r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{},"progress":1,"total":2}}}}"#, request["id"]));
    assert_eq!(bridge.json()["params"], json!({"progressToken": "tok", "progress": 1.0, "total": 2.0}));
    editor.send(&format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{"odd" : [1.0]}}}}"#, request["id"]));
    assert_eq!(bridge.line(), r#"{"jsonrpc":"2.0","id":"a","result":{"odd" : [1.0]}}"#);

    // Requests of the editor, with progress: one is answered, one fails, one is cancelled.
    for (id, end) in [("1", "answer"), ("\"two\"", "error"), ("3", "cancel")] {
        editor.send(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"sampling/createMessage","params":{{"_meta":{{"progressToken":"p"}}}}}}"#));
        let request = bridge.json();
        let token = &request["params"]["_meta"]["progressToken"];
        bridge.send_line(&json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": token, "progress": 3}}).to_string());
        assert_eq!(editor.receive()["params"], json!({"progressToken": "p", "progress": 3.0}));
        match end {
            "answer" => {
                bridge.send_line(
                    &json!({"jsonrpc": "2.0", "id": request["id"], "result": {"r": 1}}).to_string(),
                );
                assert_eq!(editor.receive(), json!({"jsonrpc": "2.0", "id": 1, "result": {"r": 1}}));
            }
            "error" => {
                let error = json!({"code": -1, "message": "no", "data": [1]});
                bridge.send_line(&json!({"jsonrpc": "2.0", "id": request["id"], "error": error}).to_string());
                assert_eq!(editor.receive(), json!({"jsonrpc": "2.0", "id": "two", "error": error}));
            }
            _ => {
                editor.send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3,"reason":"r"}}"#);
                let cancelled = bridge.json();
                assert_eq!(cancelled["params"], json!({"requestId": request["id"], "reason": "r"}));
            }
        }
    }
    bridge.send_line(r#"{"jsonrpc":"2.0","method":"odd/word","params":{"a": 1}}"#);
    assert_eq!(editor.receive(), json!({"jsonrpc": "2.0", "method": "odd/word", "params": {"a": 1}}));
    editor.send(r#"{"jsonrpc":"2.0","method":"selection_changed","params":{"text":"t", "odd":1}}"#);
    assert_eq!(
        bridge.line(),
        r#"{"jsonrpc":"2.0","method":"selection_changed","params":{"text":"t", "odd":1}}"#
    );
    bridge.hang_up();
    assert_eq!(bridge.end(), (Some(0), String::new()));
}
