//! The file for the model of an agent: its contents, its refusals, and the connection that it leads to.

use crate::support::{Editor, Place, Process, quoted};
use serde_json::{Value, json};
use std::fs;
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use tungstenite::client::IntoClientRequest as _;
use tungstenite::http::{HeaderName, HeaderValue};
use tungstenite::{Message, WebSocket};

/// Runs the command and returns the path in its first line, after checks of its output.
fn written(place: &Place, arguments: &[&str]) -> String {
    let mut command = place.start("mcp-config", arguments);
    let path = command.line();
    assert_eq!(command.line(), format!("claude --ide --mcp-config {}", quoted(&path)));
    assert_eq!(command.rest(), [""; 0]);
    assert_eq!(command.end(), (Some(0), String::new()), "the token is in no output");
    let mode = fs::metadata(&path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o600, "{path}");
    path
}

fn read(path: impl AsRef<Path>) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// Connects as a client with this entry in its configuration would.
fn connect(server: &Value) -> WebSocket<TcpStream> {
    assert_eq!(server["type"], "ws");
    let url = server["url"].as_str().unwrap();
    let mut request = url.into_client_request().unwrap();
    let fields = server["headers"].as_object().unwrap();
    let fields = fields.iter().map(|(name, value)| (name.as_str(), value.as_str().unwrap()));
    for (name, value) in fields.chain([("Sec-WebSocket-Protocol", "mcp")]) {
        let name = HeaderName::from_bytes(name.as_bytes()).unwrap();
        request.headers_mut().append(name, HeaderValue::from_str(value).unwrap());
    }
    let authority = request.uri().authority().unwrap().to_string();
    let stream = TcpStream::connect(authority).unwrap();
    tungstenite::client(request, stream).unwrap().0
}

fn send(socket: &mut WebSocket<TcpStream>, message: &Value) {
    socket.send(Message::text(message.to_string())).unwrap();
}

fn ask(socket: &mut WebSocket<TcpStream>, id: u32, method: &str, params: &Value) -> Value {
    send(socket, &json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
    let answer: Value = serde_json::from_str(socket.read().unwrap().to_text().unwrap()).unwrap();
    assert_eq!(answer["id"], id, "nothing else is received: {answer}");
    answer
}

fn initialize(socket: &mut WebSocket<TcpStream>) {
    let params = json!({
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "model", "version": "1"},
    });
    ask(socket, 0, "initialize", &params);
    send(socket, &json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
}

/// `mcp-config | true` is not a failure, as with all commands (`endings::full_disk_is_a_failure`).
#[test]
fn closed_pipe_is_no_failure() {
    let place = Place::new("config-unread");
    let _editor = place.editor(&[]);
    for arguments in [&[][..], &["--json"]] {
        let (mut command, out) =
            Process::spawn_unread("mcp-config", &mut place.command("mcp-config", arguments));
        drop(out);
        assert_eq!(command.end(), (Some(0), String::new()), "{arguments:?}");
    }
    #[cfg(target_os = "linux")]
    {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = place.command("mcp-config", &[]).stdout(full).output().unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{text}");
        assert!(text.contains("standard output cannot be written: No space left"), "{text}");
    }
}

#[test]
fn model_calls_tools_beside_the_agent() {
    let place = Place::new("mcp-config");
    let a = place.write("a.txt", "hello\n");
    let mut editor = place.editor(&[]);
    let mut agent = place.agent(&["watch"]);
    editor.until("ide_connected");

    let path = written(&place, &[]);
    let beside = place.lock_dir().join(format!("{}.mcp.json", editor.port));
    assert_eq!(Path::new(&path), beside);
    let server = &read(&path)["mcpServers"]["editor"];
    assert_eq!(server["url"], format!("ws://127.0.0.1:{}/models", editor.port));
    assert_eq!(server["headers"]["X-Claude-Code-Ide-Authorization"], read(&editor.lock)["authToken"]);

    let mut socket = connect(server);
    initialize(&mut socket);
    let connected = editor.until("model_connected");
    assert_eq!((&connected["client"], &connected["conn"]), (&json!("model"), &json!(2)));
    // The mention names no connection, which would be an error if two agents were attached: the model
    // does not count.
    editor.send_line(r#"{"cmd":"mention","path":"a.txt"}"#);
    editor.send_line(r#"{"cmd":"select","path":"a.txt","start":[0,0],"end":[0,4]}"#);
    for pushed in ["selection_changed", "at_mentioned"] {
        // The mention waits for the settle time of the agent, and the selection is repeated at its end.
        agent.until(pushed);
    }

    let listed = ask(&mut socket, 1, "tools/list", &json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    let expected = [
        "getDiagnostics",
        "getOpenEditors",
        "getWorkspaceFolders",
        "getCurrentSelection",
        "getLatestSelection",
        "checkDocumentDirty",
        "get_all_opened_file_paths",
        "get_cursor_position",
    ];
    assert_eq!(names, expected);
    let called = ask(&mut socket, 2, "tools/call", &json!({"name": "getCurrentSelection", "arguments": {}}));
    let text = called["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("hell") && text.contains(&a), "{text}");
    let call = editor.event("call");
    assert_eq!((&call["conn"], &call["tool"]), (&json!(2), &json!("getCurrentSelection")));
    let refused = ask(&mut socket, 3, "tools/call", &json!({"name": "closeAllDiffTabs", "arguments": {}}));
    assert_eq!(refused["error"]["message"], "tool closeAllDiffTabs not found");
    socket.close(None).unwrap();
    while socket.read().is_ok() {}
    assert_eq!(editor.until("closed")["conn"], 2);
    agent.terminate();
    assert_eq!(editor.until("closed")["conn"], 1);
}

#[test]
fn file_is_written_where_asked() {
    let place = Place::new("mcp-config-output");
    let editor: Editor = place.editor(&[]);
    let file = place.project().join("my config.json");
    let file = file.to_str().unwrap();
    let run = |arguments: &[&str]| -> Process { place.start("mcp-config", arguments) };
    let first = ["--out", file, "--name", "first"];
    let mut command = run(&first);
    assert_eq!(command.line(), file);
    assert_eq!(command.line(), format!("claude --ide --mcp-config '{file}'"), "one word of a shell");
    assert_eq!(command.end().0, Some(0));
    assert!(read(file)["mcpServers"]["first"].is_object());
    // The file of a user stays, unless the user asks otherwise.
    run(&["--out", file]).fails(1, &["my config.json exists; --force writes over it"]);
    assert!(read(file)["mcpServers"]["first"].is_object());
    let mut command = run(&["--out", file, "--force", "--port", &editor.port]);
    assert_eq!(command.end().0, Some(0));
    assert!(read(file)["mcpServers"]["editor"].is_object() && read(file)["mcpServers"]["first"].is_null());
    let mut command = run(&["--out", file, "--force", "--json"]);
    let expected =
        json!({"event": "written", "path": file, "command": ["claude", "--ide", "--mcp-config", file]});
    assert_eq!(serde_json::from_str::<Value>(&command.line()).unwrap(), expected);
    assert_eq!((command.rest(), command.end().0), (vec![], Some(0)));
    let missing = place.project().join("missing/file");
    run(&["--out", missing.to_str().unwrap()]).fails(1, &["missing"]);
    // The file beside the lock file is replaced the second time.
    for _ in 0..2 {
        written(&place, &[]);
    }
}

#[test]
fn bridge_serves_an_editor_of_another_author() {
    let place = Place::new("mcp-config-bridge");
    let mut empty = place.start("mcp-config", &[]);
    empty.fails(2, &["no editor found"]);
    let mut empty = place.start("mcp-config", &["--json"]);
    let error: Value = serde_json::from_str(&empty.line()).unwrap();
    assert_eq!((&error["event"], &error["status"]), (&json!("error"), &json!(2)), "{error}");
    assert!(error["message"].as_str().unwrap().contains("no editor found"), "{error}");
    assert_eq!(empty.end().0, Some(2));
    let port = place.closed_port();
    let lock = place.publish(port, &json!({"authToken": "a-secret-of-the-editor"}));
    if cfg!(target_os = "linux") {
        let output = place.start("mcp-config", &[]).fails(1, &["is not built with ide-mcp", "--bridge"]);
        assert!(!output.contains("a-secret"), "{output}");
        assert!(!lock.with_file_name(format!("{port}.mcp.json")).exists());
    }
    let project = place.project();
    let (port, project) = (port.to_string(), project.to_str().unwrap());
    let lock = lock.to_str().unwrap();
    let cases: &[(&[&str], &[&str])] = &[
        (&["--bridge"], &["bridge", "--cwd", project]),
        (&["--bridge", "--cwd", project], &["bridge", "--cwd", project]),
        (&["--bridge", "--port", &port], &["bridge", "--port", &port]),
        (&["--bridge", "--lock", lock], &["bridge", "--lock", lock]),
        (&["--bridge", "--port", &port, "--dead-process"], &["bridge", "--port", &port, "--dead-process"]),
    ];
    for (arguments, expected) in cases {
        let path = written(&place, arguments);
        let text = fs::read_to_string(&path).unwrap();
        assert!(!text.contains("a-secret"), "{text}");
        let server = &read(&path)["mcpServers"]["editor"];
        assert_eq!(server["type"], "stdio", "{arguments:?}");
        assert_eq!(server["command"], crate::executable(), "{arguments:?}");
        assert_eq!(server["args"], json!(expected), "{arguments:?}");
    }
}
