//! The hidden files of the editor without a screen: every tool, resource and direct request, about hidden
//! files and about links to them.

use crate::support::{Editor, Place};
use serde_json::{Value, json};
use std::fs;
use std::net::TcpStream;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::Duration;
use tungstenite::client::IntoClientRequest as _;
use tungstenite::http::HeaderValue;
use tungstenite::{Message, WebSocket};

/// A part of the text of each hidden file. The text is invalid JSON, so each file has a problem as well.
const MARKER: &str = "marker";
/// The beginning of the message of this problem.
const PROBLEM: &str = "expected value";

/// The hidden files, each with a file that is hidden too and does not exist, and a link.
const HIDDEN: [[&str; 3]; 3] = [
    [".env", ".envgone", "linked.txt"],
    ["secrets.json", "gone/secrets.json", "linked.json"],
    ["ignored.json", "ignored.gone.json", "linked-third.json"],
];

fn with_hidden_files(name: &str) -> Place {
    let place = Place::new(name);
    fill(&place.project());
    place
}

fn fill(folder: &Path) {
    fs::write(folder.join(".gitignore"), "ignored.*\n").unwrap();
    fs::write(folder.join("a.txt"), "of a\n").unwrap();
    for [file, _, link] in HIDDEN {
        fs::write(folder.join(file), format!("{{\"{MARKER}\": {MARKER}}}\n")).unwrap();
        symlink(file, folder.join(link)).unwrap();
    }
}

/// An agent that sends any request.
pub(crate) struct Agent {
    socket: WebSocket<TcpStream>,
    last: u32,
    /// The responses that no step has fetched yet.
    ended: Vec<Value>,
}

impl Agent {
    pub(crate) fn attach(editor: &mut Editor) -> Self {
        let agent = Self::named("agent", &editor.lock);
        editor.until("ide_connected");
        agent
    }

    /// Attaches with any name to the editor of this lock file.
    pub(crate) fn named(name: &str, lock: &Path) -> Self {
        let port = lock.file_stem().unwrap().to_str().unwrap();
        let lock: Value = serde_json::from_str(&fs::read_to_string(lock).unwrap()).unwrap();
        let mut request = format!("ws://127.0.0.1:{port}/").into_client_request().unwrap();
        let token = HeaderValue::from_str(lock["authToken"].as_str().unwrap()).unwrap();
        request.headers_mut().append("x-claude-code-ide-authorization", token);
        request.headers_mut().append("sec-websocket-protocol", HeaderValue::from_static("mcp"));
        let stream = TcpStream::connect(format!("127.0.0.1:{port}")).unwrap();
        // A call without an answer fails the test.
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let mut agent =
            Self { socket: tungstenite::client(request, stream).unwrap().0, last: 0, ended: Vec::new() };
        let info = json!({"name": name, "version": name});
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info});
        agent.ask("initialize", &params);
        agent.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        agent.send(&json!({"jsonrpc": "2.0", "method": "ide_connected", "params": {"pid": 1}}));
        agent
    }

    fn send(&mut self, message: &Value) {
        self.socket.send(Message::text(message.to_string())).unwrap();
    }

    /// Returns the result or the error of a request.
    pub(crate) fn ask(&mut self, method: &str, params: &Value) -> Value {
        let id = self.begin(method, params);
        self.end(id)
    }

    /// Sends a request, and returns its id.
    pub(crate) fn begin(&mut self, method: &str, params: &Value) -> u32 {
        self.last += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params}));
        self.last
    }

    /// Returns the result or the error of the request with this id.
    pub(crate) fn end(&mut self, id: u32) -> Value {
        loop {
            let message = self.ended.iter().position(|message| message["id"] == id);
            if let Some(at) = message {
                let mut message = self.ended.swap_remove(at);
                let end = if message["error"].is_null() { "result" } else { "error" };
                return message[end].take();
            }
            let Message::Text(text) = self.socket.read().unwrap() else { continue };
            let message: Value = serde_json::from_str(&text).unwrap();
            if message["method"].is_null() {
                self.ended.push(message);
            }
        }
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        self.ask("tools/call", &json!({"name": tool, "arguments": arguments}))
    }
}

/// Returns all tools that the editor lists, with arguments about this file.
fn calls(agent: &mut Agent, path: &str) -> Vec<(String, Value)> {
    let place = json!({"line": 0, "character": 1});
    let far = json!({"line": 9, "character": 0});
    let listed = agent.ask("tools/list", &json!({}));
    let names =
        listed["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned());
    let of_tool = |name: String| {
        let arguments = match name.as_str() {
            "openDiff" => vec![
                json!({"old_file_path": path, "new_file_path": path, "new_file_contents": "x", "tab_name": "t"}),
            ],
            "getDiagnostics" => vec![json!({ "uri": path }), json!({})],
            "openFile" => vec![
                json!({ "filePath": path }),
                json!({"filePath": path, "makeFrontmost": false}),
                json!({"filePath": path, "startText": "no such text"}),
            ],
            "open_files" => vec![json!({ "file_paths": [path] })],
            "checkDocumentDirty" | "saveDocument" => vec![json!({ "filePath": path })],
            "set_cursor_position" => {
                [0, 9].map(|line| json!({"filePath": path, "line": line, "column": 0})).into()
            }
            "set_selection" => [&place, &far]
                .map(|end| json!({"filePath": path, "range": {"start": place, "end": end}}))
                .into(),
            "getOpenEditors"
            | "getWorkspaceFolders"
            | "getCurrentSelection"
            | "getLatestSelection"
            | "get_all_opened_file_paths"
            | "get_cursor_position"
            | "closeAllDiffTabs" => vec![json!({})],
            "close_tab" => vec![json!({"tab_name": path})],
            other => panic!("the test has no arguments for {other}"),
        };
        arguments.into_iter().map(move |arguments| (name.clone(), arguments)).collect::<Vec<_>>()
    };
    names.flat_map(of_tool).collect()
}

/// Returns the texts of all resources that the editor lists.
fn resources(agent: &mut Agent) -> Vec<Value> {
    let listed = agent.ask("resources/list", &json!({}));
    let uris = listed["resources"].as_array().unwrap().iter().map(|resource| resource["uri"].clone());
    uris.collect::<Vec<_>>().iter().map(|uri| agent.ask("resources/read", &json!({ "uri": uri }))).collect()
}

#[track_caller]
fn assert_hides(answer: &Value, request: &str) {
    let text = answer.to_string();
    for word in [MARKER, PROBLEM, ".env", "secrets.json", "ignored."] {
        assert!(!text.contains(word), "{request} reveals {word}: {text}");
    }
}

#[test]
fn tools_and_resources_reveal_no_hidden_file() {
    let place = with_hidden_files("hidden-tools");
    let mut editor = place.editor(&["--on-diff", "reject"]);
    let mut agent = Agent::attach(&mut editor);
    // Hidden files that the user has opened, and nothing else.
    for path in [".env", "linked-third.json", "secrets.json"] {
        editor.send_line(&json!({"cmd": "open", "path": path}).to_string());
        editor.until("hidden");
    }
    for opens_another in [false, true] {
        if opens_another {
            editor.send_line(r#"{"cmd":"open","path":"a.txt"}"#);
            editor.send_line(r#"{"cmd":"dance"}"#);
            editor.until("error");
        }
        for [file, gone, link] in HIDDEN {
            let absolute = |name: &str| place.project().join(name).to_str().unwrap().to_owned();
            let uri = |name: &str| format!("file://{}", absolute(name));
            for (file, gone, link) in [
                (file.to_owned(), gone.to_owned(), link.to_owned()),
                (absolute(file), absolute(gone), absolute(link)),
                (uri(file), uri(gone), uri(link)),
            ] {
                let [of_file, of_gone, of_link] = [&file, &gone, &link].map(|path| calls(&mut agent, path));
                for (((tool, of_file), (_, of_gone)), (_, of_link)) in
                    of_file.iter().zip(&of_gone).zip(&of_link)
                {
                    let answer = agent.call(tool, of_file);
                    assert_hides(&answer, &format!("{tool} {of_file}"));
                    assert_eq!(
                        answer,
                        agent.call(tool, of_gone),
                        "{tool} {of_file} reveals whether there is a file"
                    );
                    assert_hides(&agent.call(tool, of_link), &format!("{tool} {of_link}"));
                }
            }
        }
        for answer in resources(&mut agent) {
            assert_hides(&answer, "resources/read");
        }
    }
}

#[test]
fn direct_requests_reveal_no_hidden_file() {
    let place = with_hidden_files("hidden-direct");
    let other = place.home().join("other");
    fs::create_dir(&other).unwrap();
    fill(&other);
    // The project is the second folder: the labels of its files begin with its name.
    let mut editor = place.editor(&["--dialect", "obsidian", other.to_str().unwrap()]);
    let mut single = place.editor(&["--dialect", "obsidian"]);
    for editor in [&mut editor, &mut single] {
        let mut agent = Agent::attach(editor);
        for [file, _, link] in HIDDEN {
            for path in [file, link] {
                let path = place.project().join(path);
                editor.send_line(&json!({"cmd": "open", "path": path}).to_string());
                editor.until("hidden");
            }
        }
        editor.send_line(&json!({"cmd": "open", "path": place.project().join("a.txt")}).to_string());
        editor.send_line(r#"{"cmd":"dance"}"#);
        editor.until("error");
        for [file, gone, link] in HIDDEN {
            let [of_file, of_gone, of_link] =
                [file, gone, link].map(|path| agent.ask("readFile", &json!({ "path": path })));
            assert_hides(&of_file, file);
            assert_eq!(of_file, of_gone, "{file}");
            assert_hides(&of_link, link);
            for path in [file, link] {
                for (method, params) in [
                    ("writeFile", json!({"path": path, "content": "x"})),
                    ("listFiles", json!({"pattern": "*"})),
                    ("getWorkspaceInfo", json!({})),
                    ("getOpenFiles", json!({})),
                    ("getCurrentFile", json!({})),
                ] {
                    assert_hides(&agent.ask(method, &params), &format!("{method} {path}"));
                }
            }
        }
        assert!(agent.ask("getOpenFiles", &json!({})).to_string().contains("a.txt"), "not all is hidden");
    }
}

#[test]
fn pause_hides_names_prompts_and_resources() {
    let place = with_hidden_files("hidden-pause");
    let mut editor = place.editor(&[]);
    let mut agent = Agent::attach(&mut editor);
    let offer = json!({
        "cmd": "context", "prompts": [{"name": "p", "text": MARKER}],
        "resources": [{"uri": "notes://today", "text": MARKER}],
    });
    editor.send_line(&offer.to_string());
    editor.send_line(r#"{"cmd":"open","path":"a.txt"}"#);
    editor.send_line(r#"{"cmd":"dance"}"#);
    editor.until("error");
    for _ in 0..2 {
        editor.send_line(r#"{"cmd":"pause"}"#);
        editor.until("paused");
        let mut answers = resources(&mut agent);
        answers.push(agent.ask("prompts/get", &json!({"name": "p"})));
        answers.push(agent.call("getDiagnostics", &json!({})));
        for answer in answers {
            let text = answer.to_string();
            assert!(!text.contains(MARKER) && !text.contains("a.txt"), "{text}");
        }
        editor.send_line(r#"{"cmd":"resume"}"#);
        editor.until("resumed");
        let read = agent.ask("resources/read", &json!({"uri": "notes://today"}));
        assert!(read.to_string().contains(MARKER), "{read}");
        let got = agent.ask("prompts/get", &json!({"name": "p"}));
        assert!(got.to_string().contains(MARKER), "{got}");
    }
}
