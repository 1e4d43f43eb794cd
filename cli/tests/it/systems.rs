//! Clients and editors of other projects, played from their descriptions: the clients against the headless editor, the
//! editors against the sidecar.

use crate::sidecar::sidecar;
use crate::support::{Editor, Place, Process};
use serde_json::{Value, json};
use std::fs;
use std::net::TcpStream;
use std::os::unix::fs::symlink;
use std::time::Duration;
use tungstenite::client::IntoClientRequest as _;
use tungstenite::{Message, WebSocket};

/// A client of one of the descriptions: what it sends is written in the test.
struct Client {
    socket: WebSocket<TcpStream>,
    /// The messages that the test has not waited for yet.
    unread: Vec<Value>,
}

impl Client {
    /// Attaches at this target with the token of the lock file, if there is one.
    fn attach(editor: &Editor, target: &str) -> Self {
        let lock: Value = serde_json::from_str(&fs::read_to_string(&editor.lock).unwrap()).unwrap();
        let mut request = format!("ws://localhost:{}{target}", editor.port).into_client_request().unwrap();
        let fields = request.headers_mut();
        if let Some(token) = lock["authToken"].as_str() {
            fields.insert("X-Claude-Code-Ide-Authorization", token.parse().unwrap());
        }
        fields.insert("Sec-WebSocket-Protocol", "mcp".parse().unwrap());
        let stream = TcpStream::connect(("127.0.0.1", editor.port.parse().unwrap())).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let (socket, _) = tungstenite::client(request, stream).unwrap();
        Self { socket, unread: Vec::new() }
    }

    fn send(&mut self, message: &Value) {
        self.socket.send(Message::text(message.to_string())).unwrap();
    }

    fn read(&mut self) -> Value {
        loop {
            if let Message::Text(text) = self.socket.read().unwrap() {
                return serde_json::from_str(&text).unwrap();
            }
        }
    }

    /// Sends a request, and returns the answer without its frame: the `result` or the `error`.
    fn ask(&mut self, id: impl Into<Value>, method: &str, params: Value) -> Value {
        let id = id.into();
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        self.answer(&id)
    }

    fn answer(&mut self, id: &Value) -> Value {
        let mut message = self.message(|message| message["id"] == *id && message.get("method").is_none());
        let (result, error) = (message["result"].take(), message["error"].take());
        if error.is_null() { result } else { error }
    }

    /// Waits for a push, and returns its parameters.
    fn push(&mut self, method: &str) -> Value {
        self.message(|message| message["method"] == method)["params"].take()
    }

    /// Waits for a certain message, and keeps the others for later.
    fn message(&mut self, is_it: impl Fn(&Value) -> bool) -> Value {
        while !self.unread.iter().any(&is_it) {
            let message = self.read();
            self.unread.push(message);
        }
        let at = self.unread.iter().position(is_it).unwrap();
        self.unread.remove(at)
    }
}

/// Answers the next call of this kind of the sidecar.
fn respond(editor: &mut Process, event: &str, mut command: Value) -> Value {
    let found = editor.until(event);
    command["call"] = found["call"].clone();
    editor.send_line(&command.to_string());
    found
}

/// The second description: a vault, whose methods are requests of their own without a session.
mod vault {
    use super::*;

    const MISSING: &str = "failed to read file: File not found";

    fn place(name: &str) -> Place {
        let place = Place::new(name);
        fs::create_dir(place.project().join("notes")).unwrap();
        for (file, text) in [("a.md", "# a\n"), ("notes/b.md", "b"), ("notes/c.js", "c"), (".env", "KEY=1")] {
            place.write(file, text);
        }
        fs::write(place.home().join("outside.md"), "secret").unwrap();
        symlink(place.home().join("outside.md"), place.project().join("link.md")).unwrap();
        place
    }

    #[test]
    fn headless_editor_serves_the_six_methods() {
        let place = place("vault-headless");
        let mut editor = place.editor(&["--dialect", "obsidian", "--on-diff", "accept"]);
        editor.send_line(r#"{"cmd":"open","path":"notes/b.md"}"#);
        let mut client = Client::attach(&editor, "/");
        let name = place.project().file_name().unwrap().to_str().unwrap().to_owned();
        let failed = |problem: &str| json!({"code": -32603, "message": problem});
        let info = json!({"name": name, "path": place.project(), "fileCount": 4, "type": "obsidian-vault"});
        let rows = [
            ("readFile", json!({"path": "a.md"}), json!("# a\n")),
            ("readFile", json!({"path": "/notes/b.md"}), json!("b")),
            ("readFile", json!({"path": "none.md"}), failed(MISSING)),
            (
                "readFile",
                json!({"path": ".env"}),
                failed("failed to read file: the file may not leave the editor"),
            ),
            ("writeFile", json!({"path": "new.md", "content": "ü"}), json!({"success": true})),
            ("readFile", json!({"path": "new.md"}), json!("ü")),
            (
                "writeFile",
                json!({"path": ".env", "content": ""}),
                failed("failed to write file: the file may not leave the editor"),
            ),
            (
                "writeFile",
                json!({"path": "notes", "content": ""}),
                failed("failed to write file: \"notes\" is a folder"),
            ),
            ("listFiles", json!({}), json!(["a.md", "new.md", "notes/b.md", "notes/c.js"])),
            ("listFiles", json!({"pattern": "*.js"}), json!(["notes/c.js"])),
            ("listFiles", json!({"pattern": "notes/*.md"}), json!(["notes/b.md"])),
            ("getWorkspaceInfo", json!({}), info),
            ("getOpenFiles", json!({}), json!(["notes/b.md"])),
            ("getCurrentFile", json!({}), json!("notes/b.md")),
        ];
        for (at, (method, params, expected)) in rows.into_iter().enumerate() {
            assert_eq!(
                client.ask(format!("request-{at}"), method, params.clone()),
                expected,
                "{method} {params}"
            );
        }
        for path in ["link.md", "../home/outside.md", "~/outside.md", "/../a.md"] {
            for (method, params) in
                [("readFile", json!({"path": path})), ("writeFile", json!({"path": path, "content": "x"}))]
            {
                let refused = client.ask(1, method, params);
                assert_eq!(refused["code"], -32603, "{method} {path}: {refused}");
            }
        }
        assert_eq!(fs::read_to_string(place.home().join("outside.md")).unwrap(), "secret");
        editor.until("request");
        drop(client);
        editor.until("closed");
    }

    /// Nothing is written unless a user accepts it.
    #[test]
    fn headless_editor_writes_only_if_it_may() {
        let place = place("vault-ask");
        for option in ["ask", "reject", "hold"] {
            let editor = place.editor(&["--dialect", "obsidian", "--on-diff", option]);
            let mut client = Client::attach(&editor, "/");
            let refused = client.ask(1, "writeFile", json!({"path": "a.md", "content": "x"}));
            let message = "failed to write file: this editor writes only with --on-diff accept";
            assert_eq!(refused, json!({"code": -32603, "message": message}), "{option}");
            assert_eq!(place.read("a.md"), "# a\n");
        }
    }

    #[test]
    fn sidecar_passes_on_the_six_methods() {
        let place = place("vault-sidecar");
        let mut editor = sidecar(&place, &json!({"dialect": "obsidian"}));
        let mut client = Client::attach(&editor, "/");
        let info = json!({"name": "v", "path": place.project(), "fileCount": 4, "type": "obsidian-vault"});
        let file = |name: &str| json!(place.project().join(name));
        let rows = [
            ("readFile", json!({"path": "/a.md"}), file("a.md"), json!("# a\n"), json!("# a\n")),
            (
                "writeFile",
                json!({"path": "x.md", "content": "x"}),
                file("x.md"),
                Value::Null,
                json!({"success": true}),
            ),
            ("listFiles", json!({"pattern": "*.md"}), Value::Null, json!(["a.md"]), json!(["a.md"])),
            ("getWorkspaceInfo", json!({}), Value::Null, info.clone(), info),
            ("getOpenFiles", json!({}), Value::Null, json!(["a.md"]), json!(["a.md"])),
            ("getCurrentFile", json!({}), Value::Null, json!("a.md"), json!("a.md")),
        ];
        for (at, (method, params, path, result, expected)) in rows.into_iter().enumerate() {
            client.send(&json!({"jsonrpc": "2.0", "id": at, "method": method, "params": params}));
            let request = respond(&mut editor, "request", json!({"cmd": "respond", "result": result}));
            assert_eq!((&request["method"], &request["path"]), (&json!(method), &path), "{request}");
            assert_eq!(client.answer(&json!(at)), expected, "{method}");
        }
        client.send(&json!({"jsonrpc": "2.0", "id": 9, "method": "readFile", "params": {"path": "none.md"}}));
        respond(&mut editor, "request", json!({"cmd": "fail", "message": MISSING}));
        assert_eq!(client.answer(&json!(9)), json!({"code": -32603, "message": MISSING}));
        for path in ["link.md", "../home/outside.md", "~/outside.md", "notes"] {
            let refused = client.ask(1, "readFile", json!({"path": path}));
            assert_eq!(refused["code"], -32603, "{path}: {refused}");
        }
        drop(client);
        editor.until("closed");
    }
}

impl Client {
    /// Opens a session, as a client of this version of MCP does.
    fn open(&mut self, version: &str) -> Value {
        let info = json!({"name": "client", "version": "1"});
        let params = json!({"protocolVersion": version, "capabilities": {}, "clientInfo": info});
        let opened = self.ask(0, "initialize", params);
        assert_eq!(opened["protocolVersion"], version);
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        opened
    }

    fn call_later(&mut self, id: &Value, tool: &str, arguments: Value) {
        let params = json!({"name": tool, "arguments": arguments});
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}));
    }

    /// Returns the text blocks of the result of a call, after a mark if the call failed.
    fn texts(&mut self, id: &Value) -> Vec<String> {
        let result = self.answer(id);
        let blocks = result["content"].as_array().unwrap_or_else(|| panic!("{result}"));
        let texts = blocks.iter().map(|block| block["text"].as_str().unwrap().to_owned());
        let failed = (result["isError"] == true).then(|| "FAILED".to_owned());
        failed.into_iter().chain(texts).collect()
    }

    fn call(&mut self, tool: &str, arguments: Value) -> Vec<String> {
        let id = json!("call");
        self.call_later(&id, tool, arguments);
        self.texts(&id)
    }

    /// Calls a tool that the sidecar passes on, and answers the call.
    fn call_sidecar(&mut self, editor: &mut Process, tool: (&str, Value), command: Value) -> Vec<String> {
        let id = json!("call");
        self.call_later(&id, tool.0, tool.1);
        respond(editor, if tool.0 == "openDiff" { "diff" } else { "call" }, command);
        self.texts(&id)
    }

    fn tools(&mut self) -> Vec<String> {
        let listed = self.ask("list", "tools/list", json!({}));
        listed["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().into()).collect()
    }
}

fn json_of(texts: &[String]) -> Value {
    let [text] = texts else { panic!("{texts:?}") };
    serde_json::from_str(text).unwrap()
}

/// A problem at the first character, in the form for the sidecar.
fn problems(uri: &str) -> Value {
    let place = json!({"line": 0, "character": 0});
    let range = json!({"start": place, "end": place});
    json!([{"uri": uri, "diagnostics": [{"message": "m", "severity": "Error", "range": range}]}])
}

/// The first description: the JetBrains plugin.
mod jetbrains {
    use super::*;

    #[test]
    fn headless_editor_answers_in_its_words() {
        let place = Place::new("jetbrains-headless");
        let (bad, other) = (place.write("bad.json", "{"), place.write("other.json", "["));
        let mut editor = place.editor(&["--dialect", "jetbrains", "--on-diff", "ask"]);
        for target in ["/", "/mcp"] {
            let mut client = Client::attach(&editor, target);
            client.open("2024-11-05");
            assert_eq!(
                client.call("getDiagnostics", json!({"uri": null})),
                ["[]"],
                "{target}: no file is open"
            );
        }
        let mut client = Client::attach(&editor, "/mcp");
        client.open("2024-11-05");
        assert!(client.tools().iter().any(|tool| tool == "get_all_opened_file_paths"));
        let open = |path: &str| json!({"filePath": path, "makeFrontmost": true});
        assert_eq!(client.call("openFile", open(&other)), ["OK"]);
        assert_eq!(client.call("openFile", open(&bad)), ["OK"]);
        assert_eq!(client.call("openFile", open("none.json")), ["Project is closed or directory not found"]);
        assert_eq!(
            client.call("open_files", json!({"file_paths": [bad, "none.json"]})),
            [json!({"opened_files": [bad]}).to_string()]
        );
        assert_eq!(client.call("get_all_opened_file_paths", json!({})), [format!("{bad}\n{other}")]);
        assert_eq!(client.call("close_tab", json!({"tab_name": "none"})), ["Tab not found"]);
        // Null means the file with the focus, and all files once none has it.
        let found = json_of(&client.call("getDiagnostics", json!({"uri": null})));
        assert_eq!(found.as_array().unwrap().len(), 1, "{found}");
        assert_eq!(
            (&found[0]["uri"], &found[0]["diagnostics"][0]["severity"]),
            (&json!(format!("file://{bad}")), &json!("ERROR"))
        );
        editor.send_line(r#"{"cmd":"clear"}"#);
        editor.send_line(r#"{"cmd":"form","form":{}}"#);
        editor.until("error");
        assert_eq!(json_of(&client.call("getDiagnostics", json!({}))).as_array().unwrap().len(), 2);
        for (verdict, expected) in [("accept", vec!["FILE_SAVED", "new"]), ("reject", vec!["DIFF_REJECTED"])]
        {
            let id = json!("diff");
            client.call_later(
                &id,
                "openDiff",
                json!({"old_file_path": bad, "new_file_contents": "new", "tab_name": "t"}),
            );
            editor.until("diff");
            editor.send_line(&json!({"cmd": "answer", "verdict": verdict}).to_string());
            assert_eq!(client.texts(&id), expected);
        }
        let unknown = client.ask(9, "tools/call", json!({"name": "none", "arguments": {}}));
        assert_eq!(unknown["code"], -32601);
    }

    #[test]
    fn sidecar_answers_in_its_words() {
        let place = Place::new("jetbrains-sidecar");
        let path = place.write("a.json", "{");
        let tools = ["openDiff", "openFile", "getDiagnostics", "get_all_opened_file_paths", "reformat_file"];
        let mut editor = sidecar(&place, &json!({"dialect": "jetbrains", "tools": tools}));
        let mut client = Client::attach(&editor, "/mcp");
        client.open("2024-11-05");
        let ok = || json!({"cmd": "respond", "result": "OK"});
        let rows = [
            (
                ("openFile", json!({"filePath": path, "makeFrontmost": true})),
                json!({"cmd": "respond", "result": format!("Opened file: {path}")}),
                vec!["OK"],
            ),
            (("reformat_file", json!({"file_path": path})), ok(), vec!["OK"]),
            (
                ("get_all_opened_file_paths", json!({})),
                json!({"cmd": "respond", "result": "/a\n/b"}),
                vec!["/a\n/b"],
            ),
            (
                ("openDiff", json!({"old_file_path": path, "new_file_contents": "n", "tab_name": "t"})),
                json!({"cmd": "answer", "verdict": "accept"}),
                vec!["FILE_SAVED", "n"],
            ),
            (
                ("openDiff", json!({"old_file_path": path, "new_file_contents": "n", "tab_name": "t"})),
                json!({"cmd": "answer", "verdict": "reject"}),
                vec!["DIFF_REJECTED"],
            ),
        ];
        for (call, command, expected) in rows {
            assert_eq!(client.call_sidecar(&mut editor, call.clone(), command), expected, "{call:?}");
        }
        let uri = format!("file://{path}");
        let found = client.call_sidecar(
            &mut editor,
            ("getDiagnostics", json!({"uri": null})),
            json!({"cmd": "respond", "result": problems(&uri)}),
        );
        assert_eq!(json_of(&found)[0]["diagnostics"][0]["severity"], "ERROR");
    }
}

/// The third description: an editor like VS Code, whose terminals name its port.
mod kale {
    use super::*;

    #[test]
    fn headless_editor_serves_its_tools_while_a_diff_is_open() {
        let place = Place::new("kale-headless");
        let path = place.write("a.json", "{\n");
        let mut editor = place.editor(&[]);
        // The agent of a terminal of the editor, in another folder.
        let mut command = place.command("agent", &["tools"]);
        command
            .current_dir(place.home())
            .env("CLAUDE_CODE_SSE_PORT", &editor.port)
            .env("ENABLE_IDE_INTEGRATION", "true");
        assert_eq!(Process::spawn("agent", &mut command).end(), (Some(0), String::new()));
        let mut client = Client::attach(&editor, "/");
        client.open("2025-06-18");
        let tools = client.tools();
        for tool in [
            "getCurrentSelection",
            "getLatestSelection",
            "getOpenEditors",
            "getDiagnostics",
            "openFile",
            "openDiff",
            "checkDocumentDirty",
            "saveDocument",
            "close_tab",
            "closeAllDiffTabs",
        ] {
            assert!(tools.iter().any(|listed| listed == tool), "{tool}: {tools:?}");
        }
        editor.send_line(r#"{"cmd":"select","path":"a.json","start":[0,0],"end":[0,1]}"#);
        let pushed = client.push("selection_changed");
        assert_eq!((&pushed["text"], &pushed["filePath"]), (&json!("{"), &json!(path)));
        editor.send_line(r#"{"cmd":"mention","path":"a.json","lines":[4,9]}"#);
        assert_eq!(client.push("at_mentioned"), json!({"filePath": path, "lineStart": 4, "lineEnd": 9}));
        let diff = json!(43);
        client.call_later(
            &diff,
            "openDiff",
            json!({"old_file_path": path, "new_file_path": path, "new_file_contents": "{}", "tab_name": "t"}),
        );
        editor.until("diff");
        for tool in ["getCurrentSelection", "getLatestSelection"] {
            assert_eq!(json_of(&client.call(tool, json!({})))["text"], "{", "{tool}");
        }
        assert_eq!(json_of(&client.call("getOpenEditors", json!({})))["tabs"][0]["label"], "a.json");
        let uri = format!("file://{path}");
        assert_eq!(
            json_of(&client.call("getDiagnostics", json!({"uri": uri})))[0]["diagnostics"][0]["severity"],
            "Error"
        );
        assert_eq!(client.call("closeAllDiffTabs", json!({})), ["CLOSED_1_DIFF_TABS"]);
        assert_eq!(client.texts(&diff), ["DIFF_REJECTED", "t"]);
        let missing = place.project().join("none.json");
        assert_eq!(
            client.call("openFile", json!({"filePath": missing})),
            ["FAILED".to_owned(), format!("File not found: {}", missing.display())]
        );
    }

    #[test]
    fn sidecar_runs_code_for_a_notebook() {
        let place = Place::new("kale-sidecar");
        let tools = ["openDiff", "getOpenEditors", "getCurrentSelection", "executeCode"];
        let mut editor = sidecar(&place, &json!({"tools": tools}));
        let mut client = Client::attach(&editor, "/");
        client.open("2025-06-18");
        editor.send_line(&json!({"cmd": "select", "path": place.project().join("a"), "start": [4, 0], "end": [9, 0], "text": "x"}).to_string());
        assert_eq!(client.push("selection_changed")["text"], "x");
        assert_eq!(json_of(&client.call("getCurrentSelection", json!({})))["text"], "x");
        let ran = client.call_sidecar(
            &mut editor,
            ("executeCode", json!({"code": "1+1"})),
            json!({"cmd": "respond", "result": "2"}),
        );
        assert_eq!(ran, ["2"]);
        let tabs = json!({"tabs": [{"uri": "file:///a", "label": "a", "isActive": true}]});
        let open = client.call_sidecar(
            &mut editor,
            ("getOpenEditors", json!({})),
            json!({"cmd": "respond", "result": tabs}),
        );
        assert_eq!(json_of(&open)["tabs"][0]["label"], "a");
    }
}

/// The fourth description: the extension with a lock file without a token, and string ids.
mod extension {
    use super::*;

    #[test]
    fn headless_editor_needs_no_token_and_selects_the_passage() {
        let place = Place::new("extension-headless");
        let path = place.write("file.js", "a\nfunction hello() {\n}\n");
        let mut editor = place.editor(&["--no-token"]);
        let lock: Value = serde_json::from_str(&fs::read_to_string(&editor.lock).unwrap()).unwrap();
        assert_eq!((lock.get("authToken"), &lock["transport"]), (None, &json!("ws")));
        let mut client = Client::attach(&editor, "/");
        client.open("2025-03-26");
        let opened =
            client.call("openFile", json!({"filePath": path, "startText": "function hello", "endText": "}"}));
        assert_eq!(opened, [format!("Opened file: {path}")]);
        let pushed = client.push("selection_changed");
        assert_eq!(
            (&pushed["fileUrl"], &pushed["selection"]["isEmpty"]),
            (&json!(format!("file://{path}")), &json!(false))
        );
        assert!(pushed["text"].as_str().unwrap().starts_with("function hello() {"), "{pushed}");
        editor.send_line(r#"{"cmd":"mention","path":"file.js","lines":[10,20]}"#);
        assert_eq!(client.push("at_mentioned"), json!({"filePath": path, "lineStart": 10, "lineEnd": 20}));
        let folders = json_of(&client.call("getWorkspaceFolders", json!({})));
        assert_eq!(folders["folders"][0]["path"], json!(place.project()));
        editor.send_line(r#"{"cmd":"tools","offer":[],"own":[{"name":"count","description":"Counts the bytes","run":["wc","-c"]},{"name":"fails","run":["sh","-c","echo no >&2; exit 2"]}]}"#);
        client.push("notifications/tools/list_changed");
        assert_eq!(client.tools(), ["count", "fails"]);
        assert_eq!(
            client.call("count", json!({"a": "x"})).concat().trim(),
            "10",
            "the arguments and a line end"
        );
        assert_eq!(client.call("fails", json!({})), ["FAILED", "fails: exit status: 2: no"]);
    }

    #[test]
    fn sidecar_passes_on_its_tools_and_own_ones() {
        let place = Place::new("extension-sidecar");
        let path = place.write("file.js", "a");
        let own = json!([{"name": "count", "description": "Counts", "schema": {"type": "object"}}]);
        let tools = ["openFile", "openDiff", "getWorkspaceFolders", "saveDocument"];
        let mut editor = sidecar(&place, &json!({"tools": tools, "own": own}));
        let mut client = Client::attach(&editor, "/");
        client.open("2025-03-26");
        let opened = client.call_sidecar(
            &mut editor,
            ("openFile", json!({"filePath": path})),
            json!({"cmd": "respond", "result": format!("Opened file: {path}")}),
        );
        assert_eq!(opened, [format!("Opened file: {path}")]);
        let counted = client.call_sidecar(
            &mut editor,
            ("count", json!({"a": 1})),
            json!({"cmd": "respond", "result": "1"}),
        );
        assert_eq!(counted, ["1"]);
        let failed =
            client.call_sidecar(&mut editor, ("count", json!({})), json!({"cmd": "fail", "message": "no"}));
        assert_eq!(failed, ["FAILED", "no"]);
        assert_eq!(
            json_of(&client.call("getWorkspaceFolders", json!({})))["folders"][0]["path"],
            json!(place.project())
        );
        editor.send_line(&json!({"cmd": "mention", "path": path, "lines": [10, 20]}).to_string());
        assert_eq!(client.push("at_mentioned")["lineEnd"], 20);
    }
}

/// The fifth description: a decompiled JetBrains plugin, in snake case and at `/mcp`.
mod decompiled {
    use super::*;

    #[test]
    fn headless_editor_uses_snake_case() {
        let place = Place::new("decompiled-headless");
        let path = place.write("a.json", "{");
        let mut editor = place.editor(&["--dialect", "snake-case", "--on-diff", "reject"]);
        let mut client = Client::attach(&editor, "/mcp");
        client.open("2024-11-05");
        let tools = client.tools();
        for tool in [
            "open_file",
            "close_tab",
            "get_cursor_position",
            "set_cursor_position",
            "set_selection",
            "get_diagnostics",
            "openDiff",
        ] {
            assert!(tools.iter().any(|listed| listed == tool), "{tool}: {tools:?}");
        }
        assert_eq!(client.call("open_file", json!({"file_path": path})), ["OK"]);
        assert_eq!(
            client.call("open_file", json!({"file_path": "none"})),
            ["Project is closed or directory not found"]
        );
        let pushed = client.push("notifications/selection_changed");
        assert_eq!(pushed["file_path"], json!(path));
        let found = json_of(&client.call("get_diagnostics", json!({})));
        let first = &found["diagnostics"][0];
        assert_eq!((&first["file_path"], &first["severity"]), (&json!(path), &json!("ERROR")), "{found}");
        assert_eq!(
            client.call("openDiff", json!({"old_file_path": "a.json", "new_file_contents": "{}"})),
            ["DIFF_REJECTED"]
        );
        assert_eq!(client.ask(1, "ping", json!({})), json!({}));
        editor.until("diff_closed");
    }

    #[test]
    fn sidecar_uses_snake_case() {
        let place = Place::new("decompiled-sidecar");
        let path = place.write("a.json", "{");
        let tools = ["openDiff", "openFile", "getDiagnostics", "reformat_file"];
        let mut editor = sidecar(&place, &json!({"dialect": "snake_case", "tools": tools}));
        let mut client = Client::attach(&editor, "/mcp");
        client.open("2024-11-05");
        let ok = json!({"cmd": "respond", "result": "OK"});
        assert_eq!(
            client.call_sidecar(&mut editor, ("open_file", json!({"file_path": path})), ok.clone()),
            ["OK"]
        );
        assert_eq!(
            client.call_sidecar(&mut editor, ("reformat_file", json!({"file_path": path})), ok),
            ["OK"]
        );
        let result = json!({"cmd": "respond", "result": problems(&format!("file://{path}"))});
        let found = json_of(&client.call_sidecar(&mut editor, ("get_diagnostics", json!({})), result));
        assert_eq!(found["diagnostics"][0]["file_path"], json!(path));
        let diff = ("openDiff", json!({"old_file_path": path, "new_file_contents": "n"}));
        let saved = client.call_sidecar(&mut editor, diff, json!({"cmd": "answer", "verdict": "accept"}));
        assert_eq!(saved, ["FILE_SAVED", "n"]);
        editor.send_line(
            &json!({"cmd": "select", "path": path, "start": [10, 5], "end": [15, 20], "text": "x"})
                .to_string(),
        );
        let pushed = client.push("notifications/selection_changed");
        assert_eq!(pushed["range"]["end"], json!({"line": 15, "character": 20}));
    }
}
