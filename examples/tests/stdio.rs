//! The MCP server and the MCP client over pipes.

use crate::process::{Place, Process};
use crate::stdio_server::Toolbox;
use ide_mcp::Time;
use ide_mcp::mcp::{Implementation, Lines, Server, ServerConfig};
use ide_mcp::rpc::SessionId;
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// Starts the server and opens the session.
fn server() -> Process {
    let mut server = Place::new("stdio").start("stdio_server", &[]);
    ask(&mut server, 0, "initialize", &json!({"protocolVersion": "2025-06-18", "capabilities": {}}));
    let result = answer(&mut server, 0);
    assert_eq!(result["protocolVersion"], "2025-06-18");
    assert_eq!(result["serverInfo"]["name"], "stdio_server");
    server.send_line(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string());
    server
}

fn ask(server: &mut Process, id: u32, method: &str, params: &Value) {
    server.send_line(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string());
}

fn call(server: &mut Process, id: u32, name: &str, arguments: &Value) {
    ask(server, id, "tools/call", &json!({"name": name, "arguments": arguments}));
}

/// Reads the next line, checks that it answers `id`, and returns the result.
fn answer(server: &mut Process, id: u32) -> Value {
    let line = server.line();
    let answer: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
    assert_eq!((&answer["jsonrpc"], &answer["id"]), (&json!("2.0"), &json!(id)), "{line}");
    answer["result"].clone()
}

fn text(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}]})
}

fn failure(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}], "isError": true})
}

#[test]
fn a_session_over_pipes() {
    let mut server = server();
    ask(&mut server, 1, "tools/list", &json!({}));
    let tools = answer(&mut server, 1)["tools"].clone();
    let names: Vec<&Value> = tools.as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
    assert_eq!(names, ["count_words", "remind"]);

    call(&mut server, 2, "count_words", &json!({"text": "one two\nthr\u{e9}e"}));
    assert_eq!(answer(&mut server, 2), text("2 lines, 3 words, 13 characters"));

    call(&mut server, 3, "remind", &json!({"after_ms": 3_600_001, "text": ""}));
    assert_eq!(answer(&mut server, 3), failure("a reminder is due within an hour"));

    // A deferred answer must not delay others.
    call(&mut server, 5, "remind", &json!({"after_ms": 60, "text": "later"}));
    call(&mut server, 6, "remind", &json!({"after_ms": 30, "text": "sooner"}));
    ask(&mut server, 7, "ping", &json!({}));
    assert_eq!(answer(&mut server, 7), json!({}));
    assert_eq!(answer(&mut server, 6), text("sooner"));
    assert_eq!(answer(&mut server, 5), text("later"));

    server.hang_up();
    assert_eq!(server.end(), (Some(0), String::new()));
}

/// Lets the time of a session pass without waiting for it.
#[test]
fn reminder_outlives_the_default_deadline() {
    let config = ServerConfig::new(Implementation::new("stdio_server", "1"));
    let (deadline, mut out) = (config.call_deadline, Lines::new());
    let mut server = Server::new(config, Toolbox::default(), SessionId::new(1));
    let mut send = |server: &mut Server<Toolbox>, line: &Value| {
        server.receive(Time::ZERO, &line.to_string(), &mut out);
        while server.poll(Time::ZERO, &mut out).is_some() {}
        out.written(usize::MAX);
    };
    send(&mut server, &json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {}}));
    for (id, name) in [(1, "remind"), (2, "count_words")] {
        let arguments = json!({"text": "a", "after_ms": 3_600_000});
        let params = json!({"name": name, "arguments": arguments});
        send(&mut server, &json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}));
    }
    for late in [deadline, Duration::from_secs(3_600)] {
        while server.poll(Time::ZERO.saturating_add(late), &mut out).is_some() {}
    }
    let answers = String::from_utf8(out.outgoing().to_vec()).unwrap();
    assert!(
        answers.lines().count() == 1 && answers.contains("\"id\":2"),
        "the reminder has no answer: {answers}"
    );
}

#[test]
fn client_starts_the_server() {
    let place = Place::new("stdio-client");
    let server = place.command("stdio_server", &[]).get_program().to_str().unwrap().to_owned();
    let remind = |after_ms: u32| {
        format!(r#"tools/call {{"name":"remind","arguments":{{"after_ms":{after_ms},"text":"{after_ms}"}}}}"#)
    };
    let (soon, never) = (remind(20), remind(60_000));
    let arguments =
        ["--timeout", "200", "--request", &never, "--request", &soon, "--request", "nobody/knows", &server];
    let mut client = place.start("stdio_client", &arguments);
    assert_eq!(
        client.rest(),
        [
            r#"{"event":"ready","server":"stdio_server","version":"2025-11-25"}"#,
            r#"{"code":-32601,"event":"error","message":"method not found: nobody/knows","request":2}"#,
            r#"{"event":"result","request":1,"result":{"content":[{"text":"20","type":"text"}]}}"#,
            r#"{"event":"ended","reason":"TimedOut","request":0}"#,
        ]
    );
    assert_eq!(client.end(), (Some(0), String::new()));

    let cases: &[(&str, &[&str], &str)] = &[
        ("a server that ends at once", &["true"], "the server ended too early"),
        ("no such program", &["/nowhere/at all"], "No such file"),
        ("no command", &[], "usage: stdio_client"),
    ];
    for (name, arguments, complaint) in cases {
        let (status, output) = place.start("stdio_client", arguments).end();
        assert_eq!(status, Some(1), "{name}: {output}");
        assert!(output.contains(complaint), "{name}: {output}");
    }
}

#[test]
fn cancelled_call_is_not_answered() {
    let mut server = server();
    call(&mut server, 1, "remind", &json!({"after_ms": 40, "text": "cancelled"}));
    let cancelled =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
    server.send_line(&cancelled.to_string());
    call(&mut server, 2, "remind", &json!({"after_ms": 80, "text": "kept"}));
    assert_eq!(answer(&mut server, 2), text("kept"));
    server.hang_up();
    assert_eq!(server.rest(), [""; 0]);
    assert_eq!(server.end(), (Some(0), String::new()));
}

#[test]
fn end_of_input_answers_open_calls() {
    for last in [r#"{"jsonrpc":"2.0","id":9,"method":"ping"}"#, "", "\r\n \n"] {
        let mut server = server();
        call(&mut server, 1, "remind", &json!({"after_ms": 60_000, "text": "never"}));
        call(&mut server, 2, "remind", &json!({"after_ms": 60_000, "text": "never"}));
        // The last line may lack its line feed.
        server.put(last);
        server.hang_up();
        if last.contains("ping") {
            assert_eq!(answer(&mut server, 9), json!({}), "{last:?}");
        }
        for id in [1, 2] {
            assert_eq!(answer(&mut server, id), failure("the server ends"), "{last:?}");
        }
        assert_eq!(server.rest(), [""; 0], "{last:?}");
        assert_eq!(server.end(), (Some(0), String::new()), "{last:?}");
    }
}

#[test]
fn unusable_input_ends_the_server() {
    let nine = "no message\n".repeat(9);
    let cases: &[(&str, &[u8], &str)] = &[
        ("not UTF-8", b"\"\xff\"\n", "valid UTF-8"),
        ("too many lines that are not messages", nine.as_bytes(), "too many lines"),
    ];
    for (name, bytes, complaint) in cases {
        let place = Place::new("stdio-bad");
        let mut command = place.command("stdio_server", &[]);
        let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = pipes.spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        let lines = [
            r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"remind","arguments":{"after_ms":60000,"text":""}}}"#,
            "",
        ];
        input.write_all(lines.join("\n").as_bytes()).unwrap();
        // The server may end before it has read everything, and this write then fails.
        let _ = input.write_all(bytes);
        let output = child.wait_with_output().unwrap();
        let (out, err) =
            (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
        assert_eq!(output.status.code(), Some(1), "{name}: {err}");
        assert!(err.contains(complaint), "{name}: {err}");
        let answered: Vec<Value> =
            out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["id"].clone()).collect();
        assert_eq!(answered, [0, 1], "{name}: {out}");
    }
}

#[test]
fn server_stops_reading_while_the_client_does_not_read() {
    const PINGS: usize = 200_000;
    let place = Place::new("stdio-slow");
    let mut command = place.command("stdio_server", &[]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let sent = Arc::new(AtomicUsize::new(0));
    let writer = {
        let sent = Arc::clone(&sent);
        thread::spawn(move || {
            for id in 0..PINGS {
                writeln!(input, r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#).unwrap();
                sent.store(id + 1, Ordering::Relaxed);
            }
        })
    };
    // Waits until the pipe takes no more requests.
    let mut before = usize::MAX;
    while before != sent.load(Ordering::Relaxed) {
        before = sent.load(Ordering::Relaxed);
        thread::sleep(Duration::from_millis(300));
    }
    assert!(before < PINGS / 2, "{before} of {PINGS} were read although no answer was");
    let mut answers = BufReader::new(output).lines().map(Result::unwrap);
    for id in 0..PINGS {
        assert_eq!(answers.next().unwrap(), format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#));
    }
    writer.join().unwrap();
    assert_eq!(answers.next(), None);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn server_ends_when_its_output_is_closed() {
    let place = Place::new("stdio-gone");
    let mut command = place.command("stdio_server", &[]);
    let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = pipes.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    drop(child.stdout.take());
    // If another test starts a process at the same time, the first answer still has a reader: until that
    // process executes its program, it holds a copy of the pipe.
    let status = loop {
        let _ = writeln!(input, r#"{{"jsonrpc":"2.0","id":0,"method":"ping"}}"#);
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        thread::sleep(Duration::from_millis(20));
    };
    assert_eq!(status.code(), Some(1), "standard input is open all the while");
}

/// Writes a server as a shell script: it answers `initialize`, sends this many notifications of 5 KB without
/// reading, and then runs `rest`.
fn shell(place: &Place, notifications: u32, rest: &str) -> String {
    let long = format!(r#"{{"jsonrpc":"2.0","method":"x","params":{{"text":"{}"}}}}"#, "x".repeat(5000));
    let long = place.write("long", &format!("{long}\n"));
    let greeting = r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}"#;
    let greeting = place.write("greeting", &format!("{greeting}\n"));
    place.write(
        "server.sh",
        &format!(
            "read initialize\ncat '{greeting}'\ni=0\nwhile [ $i -lt {notifications} ]; do cat '{long}'; i=$((i + 1)); done\n{rest}\n"
        ),
    )
}

#[test]
fn client_keeps_reading_while_the_server_does_not_read() {
    let place = Place::new("stdio-talks");
    // After the notifications the server reads `initialized` and three requests, and answers them.
    let answer = r#"printf '{"jsonrpc":"2.0","id":%s,"result":{}}\n'"#;
    let rest = format!("read initialized\nfor id in 2 3 4; do read request; {answer} $id; done\nread end");
    let server = shell(&place, 400, &rest);
    let request = format!(r#"ask {{"text":"{}"}}"#, "y".repeat(60_000));
    let mut client = place.start(
        "stdio_client",
        &["--request", &request, "--request", &request, "--request", &request, "sh", &server],
    );
    assert_eq!(client.event("ready")["server"], "s");
    for _ in 0..400 {
        client.event("notification");
    }
    for request in 0..3 {
        assert_eq!(client.event("result")["request"], request);
    }
    // The script ends with `read end`, which fails at the end of input.
    let (status, output) = client.end();
    assert!(status == Some(1) && output.contains("the server: exit status: 1"), "{status:?}: {output}");
}

#[test]
fn client_timeouts_hold_for_any_server() {
    let cases = [
        // This server does not notice the end of its input, so the client kills it.
        ("a server that reads nothing", 0, "exec sleep 1000", "did not end when its input did"),
        (
            "a server that never stops writing",
            1,
            "while :; do cat long; done",
            "did not end when its input did",
        ),
        (
            "a server that closes its output and keeps running",
            0,
            "exec >&-; exec sleep 1000",
            "ended too early",
        ),
    ];
    thread::scope(|scope| {
        for (name, notifications, rest, expected) in cases {
            scope.spawn(move || {
                let place = Place::new("stdio-deadline");
                let server = shell(&place, notifications, rest);
                let request = format!(r#"ask {{"text":"{}"}}"#, "y".repeat(100_000));
                let arguments =
                    ["--timeout", "300", "--request", &request, "--request", &request, "sh", &server];
                let mut client = place.start("stdio_client", &arguments);
                assert_eq!(client.event("ready")["server"], "s", "{name}");
                if expected != "ended too early" {
                    assert_eq!(client.until("ended")["reason"], "TimedOut", "{name}");
                }
                let (status, output) = client.end();
                assert!(status == Some(1) && output.contains(expected), "{name}: {status:?}: {output}");
            });
        }
    });
}
