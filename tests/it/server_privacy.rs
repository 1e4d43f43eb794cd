//! What an editor keeps private: its pause, the filter on every kind of answer, and that a hidden file leaks nowhere.

use crate::server_sending::{attach, attach_and_read, messages_to};
use crate::support::ide::{at, call, config, open_diff, text};
use crate::support::passes::{events, lose};
use ide_mcp::Time;
use ide_mcp::ide::kit::Range;
use ide_mcp::ide::tool::{
    Call, CurrentSelection, CursorPosition, Diagnostic, Diagnostics, DirectAnswer, DirectRequest,
    DocumentSaved, DocumentState, Done, EditorTab, FileDiagnostics, FilePaths, LatestSelection, OpenEditors,
    OpenedFile, OpenedFiles, Reformatted, Severity, TabClosed, Tool, ToolArguments, ToolCall, ToolSet,
    WorkspaceFolder, WorkspaceFolders, WorkspaceInfo,
};
use ide_mcp::ide::{
    ConnId, DiagnosticsChanged, Dialect, Filter, Mention, MentionError, Selected, Selection, Server,
    ServerEvent,
};
use ide_mcp::rpc::CallId;
use ide_mcp::testing::{Random, written_answer};
use serde_json::json;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// A file that the filter shows, and its text.
const OPEN: (&str, &str) = ("/w/open_main.rs", "plainmarker");

/// The path of this file in its workspace.
const SHOWN: &str = "open_main.rs";

/// The part of the hidden file's name that every spelling keeps, and the text of the file.
const HIDDEN: (&str, &str) = ("ylophone", "s3cretmarker");

/// The spellings of the path of the hidden file. In the last ones a filter recognizes only the name of the file.
const SPELLINGS: [&str; 14] = [
    "/w/.env.xylophone",
    "file:///w/.env.xylophone",
    "FILE:///w/.env.xylophone",
    "file://localhost/w/.env.xylophone",
    "file:///w/%2Eenv.xylophone",
    "file:///w/%2e%65nv.%78ylophone",
    "/w/x/../.env.xylophone",
    "/w//.env.xylophone#L1",
    "file:///w/.env.xylophone?line=1#L3",
    "file:///w/100%/.env.xylophone",
    "C:\\W\\.ENV.XYLOPHONE",
    "c:\\w\\x\\..\\.env.xylophone",
    "file:///C:/w/.env.xylophone",
    "vscode-remote://ssh/w/%2Eenv.xylophone",
];

/// The methods of the Obsidian dialect.
const METHODS: [&str; 6] =
    ["readFile", "writeFile", "listFiles", "getWorkspaceInfo", "getOpenFiles", "getCurrentFile"];

/// The number of spellings that a filter recognizes by the whole path.
const WHOLE: usize = 9;

/// The relative spellings of the path of the hidden file, for requests of the Obsidian dialect. A filter recognizes
/// the first one by the whole path, the others by the name.
const RELATIVE: [&str; 4] =
    [".env.xylophone", "x/.ENV.Xylophone", "x/%2Eenv.xylophone", "x/.env.xylophone#L1"];

/// The tools that the application answers and the filter knows: all except `executeCode`, whose text is the agent's
/// own code.
const TOOLS: [Tool; 16] = [
    Tool::GetCurrentSelection,
    Tool::GetLatestSelection,
    Tool::GetCursorPosition,
    Tool::GetDiagnostics,
    Tool::GetOpenEditors,
    Tool::GetAllOpenedFilePaths,
    Tool::GetWorkspaceFolders,
    Tool::OpenFile,
    Tool::OpenFiles,
    Tool::CheckDocumentDirty,
    Tool::SaveDocument,
    Tool::OpenDiff,
    Tool::SetCursorPosition,
    Tool::SetSelection,
    Tool::ReformatFile,
    Tool::CloseTab,
];

/// Returns an editor with all [`TOOLS`], and a filter that hides the usual secrets.
fn server(dialect: Dialect) -> Server {
    server_with(dialect, Filter::secrets())
}

fn server_with(dialect: Dialect, filter: Filter) -> Server {
    let mut config = config().with_dialect(dialect);
    config.tools = TOOLS.into_iter().fold(ToolSet::new(), ToolSet::handle).into();
    config.tool_resources = true;
    config.filter = filter;
    Server::new(config)
}

fn tool_call(id: usize, tool: Tool, dialect: Dialect, path: &str) -> String {
    let arguments = match tool {
        Tool::OpenFiles => json!({ "file_paths": [path] }),
        Tool::OpenDiff => return open_diff(id, "a tab"),
        Tool::CloseTab => json!({ "tab_name": path }),
        Tool::SetCursorPosition => json!({ "filePath": path, "line": 0, "character": 0 }),
        Tool::SetSelection => json!({ "filePath": path, "range": Range::default() }),
        _ => json!({ "filePath": path }),
    };
    call(id, tool.name(dialect), &arguments.to_string())
}

/// Returns a request of the Obsidian dialect. Only the methods for files use the path.
fn direct_request(id: usize, method: &str, path: &str) -> String {
    let params = json!({ "path": path, "content": "" });
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()
}

fn resource_read(id: usize, uri: &str) -> String {
    json!({"jsonrpc": "2.0", "id": id, "method": "resources/read", "params": {"uri": uri}}).to_string()
}

/// A call or a request of the Obsidian dialect that reached the application.
#[derive(Debug)]
enum Pending {
    Tool(ToolCall),
    Direct(CallId, DirectRequest),
}

/// Feeds a request to the server, and returns the calls that reach the application.
fn ask(server: &mut Server, now: Time, conn: ConnId, request: &str) -> Vec<Pending> {
    server.feed(now, conn, &text(request));
    pending(events(server, now))
}

fn pending(events: Vec<ServerEvent>) -> Vec<Pending> {
    let pending = |event| match event {
        ServerEvent::Call { call, .. } => Some(Pending::Tool(call)),
        ServerEvent::Direct { call, request, .. } => Some(Pending::Direct(call, request)),
        _ => None,
    };
    events.into_iter().filter_map(pending).collect()
}

/// A way in which an application answers a call.
#[derive(Clone, Copy, Debug)]
enum By {
    Answer,
    Json,
    Respond,
    Raw,
}

const WAYS: [By; 4] = [By::Answer, By::Json, By::Respond, By::Raw];

fn give<T: ToolArguments>(server: &mut Server, call: Call<T>, answer: &T::Answer, by: By) {
    let result = written_answer(answer, Dialect::VsCode);
    let first = result.texts().next().unwrap_or_default();
    let blocks: Vec<_> = result.texts().map(|text| json!({"type": "text", "text": text})).collect();
    let raw = serde_json::value::to_raw_value(&json!({ "content": blocks })).unwrap();
    // The connection can have ended.
    let _ = match by {
        By::Answer => server.answer(call, answer),
        By::Json => server.call(call).answer_json(first),
        By::Respond => server.call(call).respond(&result),
        By::Raw => server.call(call).respond_raw(&raw),
    };
}

/// Answers a call with the file at this path, which contains this text, and with the file that the
/// filter shows, if the answer has room for two.
fn reply(server: &mut Server, call: ToolCall, (path, content): (&str, &str), by: By) {
    let selection = || Some(Selection::new(path, Range::default(), content));
    let problems = |path: &str, content: &str| {
        let problem = Diagnostic::new(Severity::Error, Range::default(), content);
        FileDiagnostics::new(path, vec![problem])
    };
    let tab = |path: &str| {
        let mut tab = EditorTab::new(path, path, "text");
        tab.file_name = Some(path.into());
        tab
    };
    let paths = || vec![path.into(), OPEN.0.into()];
    match call {
        ToolCall::GetCurrentSelection(call, _) => give(server, call, &CurrentSelection(selection()), by),
        ToolCall::GetLatestSelection(call, _) => give(server, call, &LatestSelection(selection()), by),
        ToolCall::GetCursorPosition(call, _) => {
            give(server, call, &CursorPosition::new(path, Range::default().end), by);
        }
        ToolCall::GetDiagnostics(call, _) => {
            let files = vec![problems(path, content), problems(OPEN.0, OPEN.1)];
            give(server, call, &Diagnostics { files }, by);
        }
        ToolCall::GetOpenEditors(call, _) => {
            give(server, call, &OpenEditors { tabs: vec![tab(path), tab(OPEN.0)] }, by);
        }
        ToolCall::GetAllOpenedFilePaths(call, _) => give(server, call, &FilePaths { paths: paths() }, by),
        ToolCall::GetWorkspaceFolders(call, _) => {
            give(server, call, &WorkspaceFolders { folders: vec![WorkspaceFolder::new("/w")] }, by);
        }
        ToolCall::OpenFile(call, pending) => {
            let opened = match pending.make_frontmost {
                true => OpenedFile::focused(path, Some(format!("{content} is in it"))),
                false => OpenedFile::unfocused(path, "text", 7),
            };
            give(server, call, &opened, by);
        }
        ToolCall::OpenFiles(call, _) => give(server, call, &OpenedFiles { opened_files: paths() }, by),
        ToolCall::CheckDocumentDirty(call, _) => {
            let open = DocumentState::Open { file_path: path.into(), is_dirty: true, is_untitled: false };
            give(server, call, &open, by);
        }
        ToolCall::SaveDocument(call, _) => {
            let message = content.into();
            give(server, call, &DocumentSaved::Open { file_path: path.into(), saved: true, message }, by);
        }
        ToolCall::OpenDiff(call, diff) => drop(server.answer(call, diff.accept())),
        ToolCall::SetCursorPosition(call, _) => give(server, call, &Done, by),
        ToolCall::SetSelection(call, _) => give(server, call, &Done, by),
        ToolCall::ReformatFile(call, _) => give(server, call, &Reformatted { found: true }, by),
        ToolCall::CloseTab(call, _) => give(server, call, &TabClosed { found: true }, by),
        call => panic!("{call:?}"),
    }
}

/// Answers a request of the Obsidian dialect with the file at this path, and with the file that the
/// filter shows. The text is that of the file that was asked for.
fn reply_direct(server: &mut Server, call: CallId, request: &DirectRequest, path: &str) {
    let files = || DirectAnswer::Files(vec![path.into(), SHOWN.into()]);
    let answer = match request {
        DirectRequest::ReadFile(pending) => {
            DirectAnswer::Contents(if pending.path == SHOWN { OPEN.1 } else { HIDDEN.1 }.into())
        }
        DirectRequest::WriteFile(_) => DirectAnswer::Written,
        DirectRequest::ListFiles(_) | DirectRequest::GetOpenFiles => files(),
        DirectRequest::GetCurrentFile => DirectAnswer::CurrentFile(Some(path.into())),
        request => {
            assert!(matches!(request, DirectRequest::GetWorkspaceInfo), "{request:?}");
            DirectAnswer::Workspace(WorkspaceInfo::new("w", "/w", 2, "obsidian-vault"))
        }
    };
    // The connection can have ended.
    let _ = server.call(call).respond_direct(&answer);
}

#[test]
fn filter_applies_to_every_way_to_answer() {
    for (dialect, by) in Dialect::ALL.into_iter().flat_map(|dialect| WAYS.map(|by| (dialect, by))) {
        for is_paused in [false, true] {
            let mut server = server(dialect);
            let conn = attach(&mut server);
            if is_paused {
                server.pause(at(0));
                messages_to(&mut server, conn);
            }
            let file = if is_paused { OPEN } else { (SPELLINGS[0], HIDDEN.1) };
            let requests = TOOLS.iter().enumerate().map(|(id, tool)| tool_call(id, *tool, dialect, "/w/x"));
            let uris = TOOLS.iter().filter_map(|tool| tool.resource());
            let reads = uris.enumerate().map(|(id, uri)| resource_read(100 + id, uri));
            for request in requests.chain(reads) {
                let name = format!("{dialect:?} {by:?} paused: {is_paused} {request}");
                let Some(Pending::Tool(call)) = ask(&mut server, Time::ZERO, conn, &request).pop() else {
                    panic!("{name}")
                };
                reply(&mut server, call, file, by);
                let sent = messages_to(&mut server, conn).concat();
                assert!(sent.contains(r#""result""#), "{name}: {sent}");
                for secret in [file.0, file.1, HIDDEN.0] {
                    assert!(!sent.contains(secret), "{name}: {sent}");
                }
                let is_list = ["iagnostics", "ditors", "aths", "pened"].iter().any(|of| request.contains(of));
                assert!(!is_list || is_paused || sent.contains(OPEN.0), "{name}: {sent}");
                assert!(!request.contains("openDiff") || sent.contains("FILE_SAVED"), "{name}: {sent}");
                assert!(!request.contains("olders") || sent.contains("/w"), "{name}: {sent}");
            }
        }
    }
}

#[test]
fn direct_answers_pass_the_filter() {
    let cases = [
        ("readFile", ".env", DirectAnswer::Contents("s3cret".into()), r#""code":-32603"#),
        ("readFile", "a.md", DirectAnswer::Contents("plain".into()), r#""result":"plain""#),
        ("getOpenFiles", "", DirectAnswer::Files(vec![".env".into(), "a.md".into()]), r#"["a.md"]"#),
        ("getCurrentFile", "", DirectAnswer::CurrentFile(Some(".env".into())), r#""result":null"#),
        ("getCurrentFile", "", DirectAnswer::CurrentFile(Some("a.md".into())), r#""result":"a.md""#),
        ("writeFile", ".env", DirectAnswer::Written, r#"{"success":true}"#),
    ];
    for is_paused in [false, true] {
        let mut server = server(Dialect::Obsidian);
        let conn = attach(&mut server);
        if is_paused {
            server.pause(at(0));
            messages_to(&mut server, conn);
        }
        for (method, path, answer, expected) in &cases {
            let pending = ask(&mut server, Time::ZERO, conn, &direct_request(1, method, path)).pop();
            let Some(Pending::Direct(call, _)) = pending else { panic!("{method} {path}: {pending:?}") };
            server.call(call).respond_direct(answer).unwrap();
            let sent = messages_to(&mut server, conn).concat();
            let name = format!("{method} {path} paused: {is_paused}: {sent}");
            assert!(!sent.contains("env") && !sent.contains("s3cret"), "{name}");
            assert_eq!(
                sent.contains("a.md") || sent.contains("plain"),
                !is_paused && expected.contains('a'),
                "{name}"
            );
            assert!(is_paused || sent.contains(expected), "{name}");
        }
    }
}

fn select(server: &mut Server, millis: u64, text: &str) -> Selected {
    let selected = server.select(at(millis), Selection::new(OPEN.0, Range::default(), text));
    events(server, at(millis));
    selected
}

/// Returns the texts of the selections that a client received.
fn selections(server: &mut Server, conn: ConnId, millis: u64) -> Vec<String> {
    events(server, at(millis));
    texts_of_selections(&messages_to(server, conn))
}

fn texts_of_selections(input: &[String]) -> Vec<String> {
    let selections = input.iter().filter(|input| input.contains("selection_changed"));
    let of = |input: &String| Some(input.split_once(r#""text":""#)?.1.split('"').next()?.to_owned());
    selections.filter_map(of).collect()
}

#[test]
fn pause_clears_and_resume_restores_selection() {
    let mut server = server(Dialect::VsCode);
    let conn = attach(&mut server);
    assert_eq!(select(&mut server, 0, "one"), Selected::Whole);
    assert_eq!(selections(&mut server, conn, 50), ["one"]);
    // Twice, since the state is carried over from one pause to the next.
    for (from, held, during, after) in [
        (100, None, None, "one"),
        (2_000, Some("two"), None, "two"),
        (4_000, Some("three"), Some("four"), "four"),
    ] {
        let is_held = held.map(|text| select(&mut server, from, text));
        server.pause(at(from + 10));
        assert!(server.is_paused());
        assert_eq!(selections(&mut server, conn, from + 10), [""], "{from}: at once, {is_held:?}");
        server.pause(at(from + 20));
        if let Some(text) = during {
            assert_eq!(select(&mut server, from + 20, text), Selected::Hidden);
        }
        assert_eq!(selections(&mut server, conn, from + 500), [""; 0], "{from}");
        let (late, received) = attach_and_read(&mut server, at(from + 500));
        assert_eq!(texts_of_selections(&received), [""], "{from}: attached during the pause");
        assert_eq!(selections(&mut server, late, from + 500), [""; 0], "{from}");
        server.resume(at(from + 600));
        assert!(!server.is_paused());
        assert_eq!(selections(&mut server, conn, from + 600), [after], "{from}: without a movement");
        assert_eq!(selections(&mut server, late, from + 600), [after], "{from}: attached during the pause");
        server.resume(at(from + 700));
        assert_eq!(selections(&mut server, conn, from + 1_000), [""; 0], "{from}: a second time");
        lose(&mut server, at(from + 1_000), late);
        events(&mut server, at(from + 1_000));
    }
}

#[test]
fn resumed_selection_passes_the_filter_again() {
    let mut server = server(Dialect::VsCode);
    let conn = attach(&mut server);
    server.pause(at(0));
    messages_to(&mut server, conn);
    server.resume(at(1));
    assert_eq!(selections(&mut server, conn, 1), [""; 0], "nothing was ever selected");
    server.pause(at(2));
    let secret = Selection::new(SPELLINGS[0], Range::default(), HIDDEN.1);
    assert_eq!(server.select(at(3), secret), Selected::Hidden);
    messages_to(&mut server, conn);
    server.resume(at(4));
    assert_eq!(selections(&mut server, conn, 500), [""; 0], "the client has the empty selection");
}

#[test]
fn resting_selection_passes_the_filter_again() {
    let ignored = Arc::new(AtomicBool::new(false));
    let is_ignored = ignored.clone();
    let filter = Filter::new().hide(move |path| path == OPEN.0 && is_ignored.load(Ordering::Relaxed));
    let mut server = server_with(Dialect::VsCode, filter);
    let early = attach(&mut server);
    // Twice, since the state is carried over.
    for (from, text) in [(0, "one"), (2_000, "two")] {
        ignored.store(false, Ordering::Relaxed);
        select(&mut server, from, text);
        assert_eq!(selections(&mut server, early, from + 50), [text]);
        ignored.store(true, Ordering::Relaxed);
        let received = [0, 1].map(|_| texts_of_selections(&attach_and_read(&mut server, at(from + 50)).1));
        assert_eq!(received, [[""], [""]], "{from}: the file is hidden by now");
        assert_eq!(selections(&mut server, early, from + 1_000), [""], "{from}: once");
        // A selection that waits is not dropped with the one before.
        ignored.store(false, Ordering::Relaxed);
        select(&mut server, from + 1_100, "three");
        assert_eq!(selections(&mut server, early, from + 1_150), ["three"], "{from}");
        select(&mut server, from + 1_200, "four");
        ignored.store(true, Ordering::Relaxed);
        let (_, received) = attach_and_read(&mut server, at(from + 1_200));
        assert_eq!(texts_of_selections(&received), [""], "{from}: the one before");
        ignored.store(false, Ordering::Relaxed);
        assert_eq!(selections(&mut server, early, from + 1_250).last().unwrap(), "four", "{from}");
    }
}

/// Checks that the filter gets the path of a URI as it is written, and not only the decoded path: some editors do not
/// encode the names of files in their URIs.
#[test]
fn filter_gets_the_path_as_it_is_written() {
    for (path, is_hidden) in [("/w/%41.txt", true), ("/w/A.txt", true), ("/w/%42.txt", false)] {
        let mut server = server_with(Dialect::VsCode, Filter::new().hide(move |text| text == path));
        let mut selection = Selection::new("", Range::default(), "x");
        selection.file_url = Some("file:///w/%41.txt".into());
        let selected = server.select(at(0), selection);
        assert_eq!(selected == Selected::Hidden, is_hidden, "{path}: {selected:?}");
    }
}

#[test]
fn paused_server_pushes_nothing() {
    let mut server = server(Dialect::VsCode);
    let conn = attach(&mut server);
    server.pause(at(0));
    messages_to(&mut server, conn);
    let mention = || Mention::new(OPEN.0, None);
    assert_eq!(server.mention(at(0), mention(), None), Err(MentionError::Paused));
    let stale = || DiagnosticsChanged::Stale { uris: vec![OPEN.0.into()] };
    assert_eq!(server.diagnostics_changed(stale()), []);
    server.active_editor_changed(Selection::new(OPEN.0, Range::default(), OPEN.1));
    events(&mut server, Time::ZERO);
    let sent = messages_to(&mut server, conn).concat();
    assert!(!sent.contains(OPEN.0) && !sent.contains(OPEN.1), "{sent}");
    server.resume(at(1));
    assert_eq!(server.mention(at(1), mention(), None), Ok(()));
    server.diagnostics_changed(stale());
    assert_eq!(messages_to(&mut server, conn).concat().matches(OPEN.0).count(), 2);
}

#[test]
fn waiting_mention_outlasts_a_pause() {
    for (resumed, is_sent) in [(29_999, true), (30_000, false)] {
        let mut server = Server::new(config());
        server.mention(at(0), Mention::new(OPEN.0, None), None).unwrap();
        server.pause(at(1));
        let (conn, _) = attach_and_read(&mut server, at(1));
        let is_expired = |event: &ServerEvent| matches!(event, ServerEvent::MentionExpired { .. });
        assert_eq!(events(&mut server, at(resumed)).iter().any(is_expired), !is_sent, "{resumed}");
        assert!(!messages_to(&mut server, conn).concat().contains(OPEN.0), "{resumed}");
        server.resume(at(resumed));
        events(&mut server, at(resumed));
        assert_eq!(messages_to(&mut server, conn).concat().contains(OPEN.0), is_sent, "{resumed}");
    }
}

#[test]
fn waiting_mention_passes_the_filter_again() {
    for pauses in [false, true] {
        let ignored = Arc::new(AtomicBool::new(false));
        let is_ignored = ignored.clone();
        let mut config = config();
        config.filter = Filter::new().hide(move |path| path == OPEN.0 && is_ignored.load(Ordering::Relaxed));
        let mut server = Server::new(config);
        let conn = attach(&mut server);
        // Each mention to a client waits for the one before.
        let paths = ["/w/first", OPEN.0, "/w/last"];
        for (begin, is_hidden) in [(0, false), (10_000, true), (20_000, true), (30_000, false)] {
            for path in paths {
                server.mention(at(begin), Mention::new(path, None), None).unwrap();
            }
            if pauses {
                server.pause(at(begin + 1));
            }
            ignored.store(is_hidden, Ordering::Relaxed);
            if pauses {
                server.resume(at(begin + 2));
            }
            let (mut received, mut expired) = (String::new(), Vec::new());
            for millis in (begin + 2..begin + 1_000).step_by(50) {
                expired.extend(events(&mut server, at(millis)).into_iter().filter_map(|event| match event {
                    ServerEvent::MentionExpired { mention } => Some(mention.file_path),
                    _ => None,
                }));
                received.push_str(&messages_to(&mut server, conn).concat());
            }
            let name = format!("paused: {pauses}, at {begin}: {received}");
            assert_eq!(paths.map(|path| received.contains(path)), [true, !is_hidden, true], "{name}");
            assert_eq!(expired, if is_hidden { vec![OPEN.0.to_owned()] } else { vec![] }, "{name}");
            ignored.store(false, Ordering::Relaxed);
        }
    }
}

/// An editor with agents, which acts at random, and the record of its last answers.
struct Life {
    server: Server,
    dialect: Dialect,
    spellings: &'static [&'static str],
    relative: &'static [&'static str],
    random: Random,
    millis: u64,
    agents: Vec<ConnId>,
    held: Vec<Pending>,
    /// The text of the latest selection, if its file is shown.
    current: Option<String>,
    /// The kinds of acts that were done.
    done: BTreeSet<&'static str>,
    pending: usize,
}

impl Life {
    fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let dialect = Dialect::ALL[random.below(Dialect::ALL.len())];
        let (filter, spellings, relative) = match random.one_in(2) {
            true => (Filter::secrets(), &SPELLINGS[..], &RELATIVE[..]),
            false => {
                let by_path = Filter::new().hide(|path| path == SPELLINGS[0] || path == RELATIVE[0]);
                (by_path, &SPELLINGS[..WHOLE], &RELATIVE[..1])
            }
        };
        let server = server_with(dialect, filter);
        let (agents, held, done) = (Vec::new(), Vec::new(), BTreeSet::new());
        Self {
            server,
            dialect,
            spellings,
            relative,
            random,
            millis: 0,
            agents,
            held,
            current: None,
            done,
            pending: 0,
        }
    }

    /// Returns the hidden file in one of its spellings, or the file that is shown.
    fn file(&mut self) -> (&'static str, String) {
        let is_hidden = !self.random.one_in(3);
        let text = format!("{} {}", if is_hidden { HIDDEN.1 } else { OPEN.1 }, self.random.number());
        (if is_hidden { self.spellings[self.random.below(self.spellings.len())] } else { OPEN.0 }, text)
    }

    /// Returns a file, as [`file`](Self::file) does, relative to the workspace.
    fn relative(&mut self) -> &'static str {
        let is_hidden = !self.random.one_in(3);
        if is_hidden { self.relative[self.random.below(self.relative.len())] } else { SHOWN }
    }

    fn selection(&mut self) -> Selection {
        let (path, text) = self.file();
        let mut selection = Selection::new(path, Range::default(), text);
        if path != OPEN.0 && self.random.one_in(3) {
            // Only the URL names the hidden file.
            selection.file_path = OPEN.0.into();
            selection.file_url = Some(path.into());
        }
        selection
    }

    fn step(&mut self) {
        let now = at(self.millis);
        match self.random.below(12) {
            0 | 1 => {
                self.done.insert("select");
                let selection = self.selection();
                self.current = selection.text.contains(OPEN.1).then(|| selection.text.clone());
                self.server.select(now, selection);
            }
            2 => {
                self.done.insert("mention");
                let (path, _) = self.file();
                let _ = self.server.mention(now, Mention::new(path, None), None);
            }
            3 => {
                self.done.insert("diagnostics");
                let ((path, text), (other, _)) = (self.file(), self.file());
                let problem = Diagnostic::new(Severity::Error, Range::default(), text);
                self.server.diagnostics_changed(match self.random.one_in(2) {
                    true => DiagnosticsChanged::Stale { uris: vec![path.into(), other.into()] },
                    false => DiagnosticsChanged::Now(FileDiagnostics::new(path, vec![problem])),
                });
            }
            4 => {
                self.done.insert("active editor");
                let selection = self.selection();
                self.server.active_editor_changed(selection);
            }
            5 | 6 if !self.agents.is_empty() => {
                self.done.insert("request");
                let agent = self.agents[self.random.below(self.agents.len())];
                self.pending += 1;
                let tool = TOOLS[self.random.below(TOOLS.len())];
                let is_direct = self.dialect == Dialect::Obsidian && self.random.one_in(2);
                let request = match tool.resource().filter(|_| self.random.one_in(2)) {
                    _ if is_direct => {
                        let method = METHODS[self.random.below(METHODS.len())];
                        direct_request(self.pending, method, self.relative())
                    }
                    Some(uri) => resource_read(self.pending, uri),
                    None => tool_call(self.pending, tool, self.dialect, self.file().0),
                };
                self.held.extend(ask(&mut self.server, now, agent, &request));
            }
            7 | 8 if !self.held.is_empty() => match self.held.remove(self.random.below(self.held.len())) {
                Pending::Tool(call) => {
                    self.done.insert("answer");
                    let ((path, text), by) = (self.file(), WAYS[self.random.below(WAYS.len())]);
                    reply(&mut self.server, call, (path, &text), by);
                }
                Pending::Direct(call, request) => {
                    self.done.insert("direct answer");
                    let path = self.relative();
                    reply_direct(&mut self.server, call, &request, path);
                }
            },
            9 if self.server.is_paused() => self.resume(),
            9 => {
                self.done.insert("pause");
                // The bytes in a send buffer are sent in a pause too.
                self.check();
                self.server.pause(now);
            }
            10 if self.agents.len() < 4 => {
                self.done.insert("attach");
                let (agent, received) = attach_and_read(&mut self.server, now);
                self.agents.push(agent);
                self.examine(&received.concat());
            }
            11 if self.agents.len() > 1 && self.random.one_in(3) => {
                self.done.insert("detach");
                let agent = self.agents.remove(self.random.below(self.agents.len()));
                lose(&mut self.server, now, agent);
            }
            _ => {
                self.millis += u64::try_from(self.random.below(200)).unwrap();
            }
        }
        let events = events(&mut self.server, at(self.millis));
        self.held.extend(pending(events));
        // Now and then the agents read nothing for a while, so the pushes wait.
        if !self.random.one_in(4) {
            self.check();
        }
    }

    /// Ends a pause, and checks that each agent receives the current selection.
    fn resume(&mut self) {
        self.check();
        self.server.resume(at(self.millis));
        let received = self.check();
        if let Some(text) = &self.current {
            self.done.insert("restored selection");
            assert!(received.iter().all(|input| input.contains(text.as_str())), "{text}: {received:?}");
        }
    }

    /// Reads the messages to each agent, and checks them.
    fn check(&mut self) -> Vec<String> {
        events(&mut self.server, at(self.millis));
        let received: Vec<String> =
            self.agents.iter().map(|agent| messages_to(&mut self.server, *agent).concat()).collect();
        received.iter().for_each(|input| self.examine(input));
        received
    }

    /// Checks that these messages to an agent contain nothing that is hidden.
    fn examine(&self, input: &str) {
        let lower = input.to_lowercase();
        let is_leak = lower.contains(HIDDEN.0) || lower.contains(HIDDEN.1);
        assert!(!is_leak, "the hidden file leaks: {input}");
        let is_shown = input.contains(SHOWN) || input.contains(OPEN.1);
        assert!(!is_shown || !self.server.is_paused(), "the editor is paused: {input}");
    }
}

#[test]
fn hidden_file_leaks_nowhere() {
    let mut done = BTreeSet::new();
    for seed in 0..300 {
        let mut life = Life::new(seed);
        life.agents.push(attach(&mut life.server));
        for _ in 0..120 {
            life.step();
        }
        life.server.resume(at(life.millis));
        // The filter still lets the other file through.
        select(&mut life.server, life.millis, "the end");
        events(&mut life.server, at(life.millis).saturating_add(Duration::from_millis(200)));
        let received = life.check();
        assert!(received.iter().all(|input| input.contains("the end")), "{seed}: {received:?}");
        done.extend(life.done);
    }
    let acts = [
        "active editor",
        "answer",
        "attach",
        "detach",
        "diagnostics",
        "direct answer",
        "mention",
        "pause",
        "request",
        "restored selection",
        "select",
    ];
    assert_eq!(done, BTreeSet::from(acts));
}
