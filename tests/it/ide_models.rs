//! Connections for models: what they get, and what only agents get.

use crate::support::ide::{
    ACCEPTED, CONNECTED, Editor, HEAD, INITIALIZE, INITIALIZED, TOKEN, at, call, called, close_tab, config,
    open_diff, request, selection, shown, text, texts, token,
};
use ide_mcp::ide::tool::{CurrentSelection, Tool, ToolCall, ToolSet};
use ide_mcp::rpc::ErrorObject;
use ide_mcp::{
    Time,
    ide::{
        AgentId, Auth, ConnId, DiagnosticsChanged, Dialect, Filter, MODELS_TARGET, Mention, MentionError,
        Policy, Selected, Server, ServerConfig, ServerEvent,
    },
    mcp::{Context, Forward, Progress, PromptSpec, Timeout},
    testing::pass,
};
use serde_json::Value;

const NOTHING: [&str; 0] = [];

/// Returns the opening handshake of the real client, at the target for models.
fn head() -> String {
    HEAD.replacen("GET / ", &format!("GET {MODELS_TARGET} "), 1)
}

/// Returns a connection for a model that has been initialized.
fn model(config: ServerConfig) -> Editor {
    let mut editor = Editor::new(config);
    assert_eq!(shown(&editor.feed(head().as_bytes())), NOTHING);
    assert_eq!(String::from_utf8(editor.written()).unwrap(), ACCEPTED);
    assert!(editor.agent().is_for_models());
    editor.receive(INITIALIZE);
    let events = editor.receive(INITIALIZED);
    let [ServerEvent::ModelReady { client: Some(client), .. }] = &events[..] else { panic!("{events:?}") };
    assert_eq!(client.name, "claude-code");
    editor.written();
    editor
}

fn offering(tools: ToolSet) -> ServerConfig {
    let mut config = config();
    config.tools = tools.into();
    config
}

/// Returns the names in the answer to `tools/list`.
fn listed(editor: &mut Editor) -> Vec<String> {
    editor.receive(&request(2, "tools/list"));
    let texts = editor.texts();
    let answer: Value = serde_json::from_str(texts.last().unwrap()).unwrap();
    let tools = answer["result"]["tools"].as_array().unwrap();
    tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

fn every_tool() -> ToolSet {
    Tool::ALL.into_iter().fold(ToolSet::new(), ToolSet::handle)
}

/// The tools of the protocol that models are offered by default, in the order of `Tool::ALL`.
const READ_ONLY: [&str; 8] = [
    "getDiagnostics",
    "get_all_opened_file_paths",
    "getOpenEditors",
    "getWorkspaceFolders",
    "getCurrentSelection",
    "getLatestSelection",
    "get_cursor_position",
    "checkDocumentDirty",
];

#[test]
fn model_is_offered_only_marked_tools() {
    let own = |tools: ToolSet| tools.custom("countLines", "Counts lines", "{}");
    let cases: &[(&str, ToolSet, &[&str])] = &[
        ("no tool", ToolSet::new(), &[]),
        ("every tool of the protocol", every_tool(), &READ_ONLY),
        ("an own tool", own(ToolSet::new()), &[]),
        ("an own tool, marked", own(ToolSet::new()).offer_to_models("countLines"), &["countLines"]),
        ("marked first", own(ToolSet::new().offer_to_models("countLines")), &["countLines"]),
        (
            "the last mark counts",
            own(ToolSet::new()).offer_to_models("countLines").withhold_from_models("countLines"),
            &[],
        ),
        (
            "a mark in another spelling",
            every_tool().offer_to_models("execute_code").withhold_from_models("get_diagnostics"),
            &[
                "get_all_opened_file_paths",
                "getOpenEditors",
                "getWorkspaceFolders",
                "getCurrentSelection",
                "getLatestSelection",
                "get_cursor_position",
                "checkDocumentDirty",
                "executeCode",
            ],
        ),
        (
            "an own tool instead of one of the protocol",
            ToolSet::new().custom("getDiagnostics", "", "{}"),
            &[],
        ),
        (
            "the same, marked",
            ToolSet::new().custom("getDiagnostics", "", "{}").offer_to_models("getDiagnostics"),
            &["getDiagnostics"],
        ),
        ("in another spelling", ToolSet::new().custom("get_diagnostics", "", "{}"), &[]),
        (
            "in another spelling, after the tool",
            ToolSet::new().handle(Tool::GetDiagnostics).custom("get_diagnostics", "", "{}"),
            &[],
        ),
        (
            "in another spelling, marked",
            ToolSet::new().custom("get_diagnostics", "", "{}").offer_to_models("getDiagnostics"),
            &["getDiagnostics"],
        ),
        ("unlisted", ToolSet::new().handle_unlisted(Tool::GetDiagnostics), &[]),
        ("tools of agents, marked", agent_tools(), &[]),
    ];
    for (name, tools, expected) in cases {
        assert_eq!(listed(&mut model(offering(tools.clone()))), *expected, "{name}");
    }
    let snake = offering(every_tool()).with_dialect(Dialect::SnakeCase);
    assert!(listed(&mut model(snake)).contains(&"get_open_editors".to_owned()));
}

/// The tools that belong to agents, with a mark for each and an own tool instead of one.
fn agent_tools() -> ToolSet {
    let tools = ToolSet::new().handle(Tool::OpenDiff).handle(Tool::SetPermissionMode);
    let marks = ["openDiff", "close_tab", "closeAllDiffTabs", "set_permission_mode"];
    let marked = marks.into_iter().fold(tools, |tools, name| tools.offer_to_models(name));
    marked.custom("openDiff", "", "{}")
}

#[test]
fn model_calls_of_other_tools_are_refused() {
    let tools = agent_tools()
        .handle(Tool::OpenFile)
        .handle_unlisted(Tool::GetDiagnostics)
        .handle(Tool::GetOpenEditors)
        .custom("mine", "", "{}");
    let mut editor = model(offering(tools));
    assert_eq!(listed(&mut editor), ["getOpenEditors"]);
    let cases: &[(&str, i64)] = &[
        ("openDiff", -32601),
        ("close_tab", -32602),
        ("closeAllDiffTabs", -32602),
        ("set_permission_mode", -32602),
        ("openFile", -32602),
        ("getDiagnostics", -32602),
        ("mine", -32602),
    ];
    for (name, code) in cases {
        let arguments = r#"{"tab_name":"t","old_file_path":"/a","new_file_path":"/a","new_file_contents":"x","mode":"plan"}"#;
        assert_eq!(shown(&editor.receive(&call(5, name, arguments))), NOTHING, "{name}");
        let error = format!(
            r#"{{"jsonrpc":"2.0","id":5,"error":{{"code":{code},"message":"tool {name} not found"}}}}"#
        );
        assert_eq!(editor.texts(), [error], "{name}");
    }
}

#[test]
fn model_calls_custom_tool_by_its_spellings() {
    for names in [["getDiagnostics", "get_diagnostics"], ["set_selection", "setSelection"]] {
        for (custom, mark) in names.into_iter().flat_map(|custom| names.map(|mark| (custom, mark))) {
            let tools = ToolSet::new().custom(custom, "", "{}").offer_to_models(mark);
            let mut editor = model(offering(tools));
            assert_eq!(listed(&mut editor), names[..1], "{custom} {mark}");
            for name in names {
                let events = editor.receive(&call(5, name, "{}"));
                let [ServerEvent::Call { call: ToolCall::Other(_, tool), .. }] = &events[..] else {
                    panic!("{custom} {mark} {name}: {events:?}")
                };
                assert_eq!(&*tool.name, custom, "{mark} {name}");
                editor.server.call(called(&events)).fail(ErrorObject::new(0, "")).unwrap();
                editor.written();
            }
        }
    }
}

#[test]
fn model_announces_no_edit() {
    let mut editor = model(offering(every_tool()));
    for (id, arguments) in [(5, r#"{"uri":"file:///w/a"}"#), (6, r#"{"uri":"file:///w/a"}"#), (7, "{}")] {
        let events = editor.receive(&call(id, "getDiagnostics", arguments));
        assert!(matches!(&events[..], [ServerEvent::Call { .. }]), "{id}: {events:?}");
    }
    assert_eq!(shown(&editor.eof()).last().map(String::as_str), Some("Closed(Abnormal)"));
}

#[test]
fn model_call_is_answered_like_others() {
    let mut editor = model(offering(every_tool()));
    let events = editor.receive(&call(5, "getCurrentSelection", "{}"));
    let Some(ServerEvent::Call { call: ToolCall::GetCurrentSelection(call, _), .. }) =
        events.into_iter().next()
    else {
        panic!("no call")
    };
    editor.server.answer(call, CurrentSelection(Some(selection("hello")))).unwrap();
    assert!(editor.texts()[0].contains("hello"));
    let id = called(&editor.receive(&crate::support::ide::call(6, "getDiagnostics", "{}")));
    let events = editor.eof();
    assert_eq!(shown(&events), ["ended Closed", "Closed(Abnormal)"], "{id:?}");
}

#[test]
fn model_has_nothing_else_of_the_dialect() {
    let mut config = offering(every_tool()).with_dialect(Dialect::Obsidian);
    config.tool_resources = true;
    config.mcp.forward = Forward::All;
    config.mcp.context = Context::new().prompt(PromptSpec::new("review", "Reviews")).into();
    config.mcp.capabilities.insert("tasks".into(), "{}".into());
    config.mcp.instructions = Some("for the agent".into());
    let mut editor = Editor::new(config);
    editor.feed(head().as_bytes());
    editor.written();
    editor.receive(INITIALIZE);
    let greeting: Value = serde_json::from_str(&editor.texts()[0]).unwrap();
    assert_eq!(greeting["result"]["capabilities"], serde_json::json!({"tools": {"listChanged": true}}));
    assert_eq!(greeting["result"].get("instructions"), None);
    editor.receive(INITIALIZED);
    let refused = "-32601";
    let cases = [
        ("resources/list", r#""resources":[]"#),
        ("prompts/list", r#""prompts":[]"#),
        ("resources/read", refused),
        ("prompts/get", refused),
        ("readFile", refused),
        ("x", refused),
    ];
    for (method, expected) in cases {
        assert_eq!(shown(&editor.receive(&request(3, method))), NOTHING, "{method}");
        let answer = editor.texts().concat();
        assert!(answer.contains(expected), "{method}: {answer}");
    }
    let as_request = CONNECTED.replacen('{', r#"{"id":4,"#, 1);
    assert_eq!(shown(&editor.receive(&as_request)), NOTHING);
    assert!(editor.texts()[0].contains("-32601"));
    let events = editor.receive(CONNECTED);
    assert!(matches!(&events[..], [ServerEvent::Notification { .. }]), "{events:?}");
}

#[test]
fn model_receives_no_push() {
    let mut editor = model(config());
    editor.select(selection("hello"));
    assert_eq!(editor.mention(Mention::new("/w/a.txt", None)), Err(MentionError::NoSuchAgent));
    let stale = DiagnosticsChanged::Stale { uris: vec!["file:///w/a.txt".into()] };
    assert_eq!(editor.server.diagnostics_changed(stale), []);
    assert_eq!(editor.server.active_editor_changed(selection("x")), []);
    listed(&mut editor);
    for millis in [100, 1_600, 7_000, 20_000] {
        assert_eq!(shown(&editor.at(millis)), NOTHING);
        assert!(!editor.agent().accepts_pushes());
        assert_eq!(editor.texts(), NOTHING, "at {millis} ms");
    }
}

#[test]
fn model_is_not_asked_for_folders() {
    let roots =
        INITIALIZE.replacen(r#""capabilities":{}"#, r#""capabilities":{"roots":{"listChanged":true}}"#, 1);
    for (head, expected) in [(HEAD.to_owned(), true), (head(), false)] {
        let mut editor = Editor::new(config());
        editor.feed(head.as_bytes());
        editor.receive(&roots);
        editor.written();
        // The second time comes after a change of the folders.
        for input in [INITIALIZED, r#"{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}"#] {
            editor.receive(input);
            let request = editor.texts().into_iter().find(|text| text.contains("roots/list"));
            assert_eq!(request.is_some(), expected, "{input}");
            let Some(request) = request else { continue };
            let id = serde_json::from_str::<Value>(&request).unwrap()["id"].clone();
            editor.receive(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"roots":[]}}}}"#));
        }
    }
}

#[test]
fn model_is_notified_only_of_its_tools() {
    let mut editor = model(offering(every_tool()));
    listed(&mut editor);
    let tools = every_tool().custom("mine", "", "{}");
    editor.server.set_tools(tools.clone());
    assert_eq!(editor.texts(), NOTHING, "no tool for models has changed");
    for (round, is_offered) in [true, false, true].into_iter().enumerate() {
        let tools = tools.clone();
        let offered =
            if is_offered { tools.offer_to_models("mine") } else { tools.withhold_from_models("mine") };
        editor.server.set_tools(offered);
        let changed = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;
        assert_eq!(editor.texts(), [changed], "{round}");
        assert_eq!(listed(&mut editor).contains(&"mine".to_owned()), is_offered, "{round}");
    }
    // If the set of tools changes before the handshake, the latest set counts.
    let mut early = Editor::new(config());
    early.server.set_tools(every_tool());
    early.feed(head().as_bytes());
    early.receive(INITIALIZE);
    early.receive(INITIALIZED);
    early.written();
    assert_eq!(listed(&mut early), READ_ONLY);
}

/// The kind of a connection, by everything that tells the two kinds apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Agent,
    Model,
    /// 404: there is no connection.
    None,
}

/// Returns where a target leads, and asserts all rights of the connection: an agent has `openDiff`, pushes and
/// prompts, and a model has none of them.
fn kind_at(mut config: ServerConfig, target: &str) -> Kind {
    config.mcp.context = Context::new().prompt(PromptSpec::new("review", "Reviews")).into();
    let mut editor = Editor::new(config);
    editor.feed(HEAD.replacen("GET / ", &format!("GET {target} "), 1).as_bytes());
    if !editor.is_attached() {
        let answer = String::from_utf8(editor.written()).unwrap();
        assert!(answer.starts_with("HTTP/1.1 404 ") && editor.is_over(), "{target}: {answer}");
        return Kind::None;
    }
    editor.written();
    let is_model = editor.agent().is_for_models();
    editor.receive(INITIALIZE);
    let greeting: Value = serde_json::from_str(&editor.texts()[0]).unwrap();
    assert_eq!(greeting["result"]["capabilities"].get("prompts").is_none(), is_model, "{target}");
    editor.receive(INITIALIZED);
    assert_eq!(listed(&mut editor).contains(&"openDiff".to_owned()), !is_model, "{target}");
    editor.select(selection("hello"));
    editor.at(3_000);
    assert_eq!(editor.texts().iter().any(|text| text.contains("selection_changed")), !is_model, "{target}");
    let events = editor.receive(&open_diff(5, "t"));
    assert_eq!(
        matches!(&events[..], [ServerEvent::Call { call: ToolCall::OpenDiff(..), .. }]),
        !is_model,
        "{target}"
    );
    if is_model { Kind::Model } else { Kind::Agent }
}

/// A target that only resembles the one for models must not give the rights of an agent: otherwise a model
/// would get them because of one slash too many in a configuration.
#[test]
fn targets_that_resemble_models_give_no_rights() {
    use Kind::{Agent, Model, None};
    let cases = [
        ("/", Agent),
        ("/?x", Agent),
        ("/mcp", Agent),
        ("/mcp?x=/models", Agent),
        ("http://127.0.0.1:41111", Agent),
        ("http://127.0.0.1:41111?x", Agent),
        ("/models", Model),
        ("http://127.0.0.1:41111/models", Model),
        ("/models/", None),
        ("/models?", None),
        ("/models?x", None),
        ("//models", None),
        ("/MODELS", None),
        ("/Models", None),
        ("/models;x", None),
        ("/%6dodels", None),
        ("/models%2f", None),
        ("/model", None),
        ("/modelss", None),
        ("/./models", None),
        ("/mcp/../models", None),
        ("/mcp/models", None),
        ("http://127.0.0.1:41111//models", None),
        ("//", None),
        ("/.", None),
        ("/mcp/", None),
        ("/MCP", None),
        ("/ws", None),
    ];
    for (target, expected) in cases {
        for dialect in Dialect::ALL {
            assert_eq!(kind_at(config().for_dialect(dialect), target), expected, "{dialect:?} {target}");
        }
    }
    // Paths that the author of the editor lists are matched byte for byte.
    let mut own = config();
    own.policy.paths = vec!["/own?x".into()];
    for (target, expected) in
        [("/own?x", Agent), ("/own", None), ("/", None), ("/mcp", None), ("/models", Model)]
    {
        assert_eq!(kind_at(own.clone(), target), expected, "{target}");
    }
}

/// A server with an agent that accepts pushes.
struct Shared {
    server: Server,
    now: Time,
    /// The bytes that each agent has received but the test has not read.
    unread: Vec<(ConnId, Vec<u8>)>,
}

impl Shared {
    fn new(config: ServerConfig) -> Self {
        Self { server: Server::new(config), now: Time::ZERO, unread: Vec::new() }
    }

    /// Makes a pass in which every agent reads, and returns the events.
    fn events(&mut self) -> Vec<ServerEvent> {
        let passed = pass(&mut self.server, self.now, usize::MAX);
        self.unread.extend(passed.written);
        passed.events
    }

    /// Ends a connection whose transport is gone.
    fn lose(&mut self, agent: AgentId) -> Vec<ServerEvent> {
        for _ in 0..2 {
            self.server.feed_eof(self.now, agent.conn().unwrap());
        }
        self.events()
    }

    fn feed(&mut self, agent: AgentId, bytes: &[u8]) -> Vec<ServerEvent> {
        self.server.feed(self.now, agent.conn().unwrap(), bytes);
        self.events()
    }

    fn open(&mut self, head: &str) -> (AgentId, Vec<u8>) {
        let agent = self.server.connect(self.now).into();
        self.feed(agent, head.as_bytes());
        (agent, self.written(agent))
    }

    fn attach(&mut self, head: &str) -> AgentId {
        let (agent, answer) = self.open(head);
        assert_eq!(answer, ACCEPTED.as_bytes());
        self.feed(agent, &text(INITIALIZE));
        self.feed(agent, &text(INITIALIZED));
        self.written(agent);
        agent
    }

    fn written(&mut self, agent: AgentId) -> Vec<u8> {
        assert!(self.events().is_empty());
        let unread = std::mem::take(&mut self.unread).into_iter();
        let (of_agent, others): (Vec<_>, _) = unread.partition(|(conn, _)| agent.conn() == Some(*conn));
        self.unread = others;
        of_agent.into_iter().flat_map(|(_, bytes)| bytes).collect()
    }

    fn texts(&mut self, agent: AgentId) -> Vec<String> {
        texts(&self.written(agent))
    }

    fn at(&mut self, millis: u64) {
        self.now = at(millis);
        assert!(self.events().is_empty());
    }
}

#[test]
fn pushes_and_diffs_do_not_reach_the_model() {
    let mut both = Shared::new(config());
    both.server.select(Time::ZERO, selection("before"));
    let agent = both.attach(HEAD);
    // The model connects last.
    let model = both.attach(&head());
    assert!(both.server.agents().map(|agent| agent.id()).eq([agent]));
    assert!(both.server.agent(model).is_some_and(|agent| agent.is_for_models()));
    assert!(both.server.agent(agent).is_some_and(|agent| !agent.is_for_models()));
    both.feed(agent, &text(&open_diff(5, "t")));
    for name in ["closeAllDiffTabs", "close_tab"] {
        let events = both.feed(model, &text(&call(6, name, r#"{"tab_name":"t"}"#)));
        assert!(events.is_empty(), "{events:?}");
    }
    assert_eq!(both.texts(model).len(), 2, "two errors");

    assert_eq!(both.server.select(both.now, selection("after")), Selected::Whole);
    let file = || Mention::new("/w/a.txt", None);
    both.server.mention(both.now, file(), None).unwrap();
    assert_eq!(both.server.mention(both.now, file(), Some(model)), Err(MentionError::NoSuchAgent));
    let stale = DiagnosticsChanged::Stale { uris: vec!["file:///w/a.txt".into()] };
    assert_eq!(both.server.diagnostics_changed(stale), []);
    assert_eq!(both.server.active_editor_changed(selection("x")), []);
    assert_eq!(both.server.notify_all("x/own", None::<&()>).unwrap(), []);
    both.at(500);
    assert_eq!(both.texts(model), NOTHING);
    let pushed = both.texts(agent).join("\n");
    for part in ["after", "at_mentioned", "diagnostics_changed", "x/own"] {
        assert!(pushed.contains(part), "{part}: {pushed}");
    }

    // When the model disconnects, the diff of the agent stays open.
    let events = both.lose(model);
    assert!(matches!(&events[..], [ServerEvent::Closed { .. }]), "{events:?}");
    let close = both.feed(agent, &text(&close_tab(7, "t")));
    assert!(matches!(&close[..], [ServerEvent::DiffClosed { .. }]), "{close:?}");
}

#[test]
fn models_count_towards_the_client_limit() {
    for last in [HEAD.to_owned(), head()] {
        let mut config = config();
        config.max_clients = 2;
        let mut full = Shared::new(config);
        let agent = full.attach(HEAD);
        let model = full.attach(&head());
        assert!(full.open(&last).1.starts_with(b"HTTP/1.1 503 "), "{last}");
        // Each place is free again after the end of its connection.
        for ended in [model, agent] {
            full.lose(ended);
            full.attach(&last);
            assert!(full.open(&last).1.starts_with(b"HTTP/1.1 503 "), "{last}");
        }
    }
}

#[test]
fn filter_applies_to_answers_for_models() {
    let mut config = offering(every_tool());
    config.filter = Filter::secrets().hide(|path| path.ends_with("a.txt"));
    let mut both = Shared::new(config);
    let model = both.attach(&head());
    let mut events = both.feed(model, &text(&call(5, "getCurrentSelection", "{}")));
    let Some(ServerEvent::Call { call: ToolCall::GetCurrentSelection(call, _), .. }) = events.pop() else {
        panic!("no call")
    };
    both.server.answer(call, CurrentSelection(Some(selection("hello")))).unwrap();
    let answer = both.texts(model).join("\n");
    assert!(answer.contains(r#""id":5"#) && !answer.contains("hello"), "{answer}");
}

#[test]
fn admitted_client_can_be_a_model() {
    for (is_admitted, status) in [(true, "101"), (false, "401")] {
        let mut config = config();
        config.policy = Policy::new(config.policy.port, Auth::Resumed(token()));
        let mut waiting = Shared::new(config);
        let conn = waiting.server.connect(at(0));
        let events = waiting.feed(conn.into(), head().as_bytes());
        assert!(matches!(&events[..], [ServerEvent::AdmissionPending { .. }]), "{events:?}");
        let is_decided = if is_admitted { waiting.server.admit(conn) } else { waiting.server.refuse(conn) };
        assert!(is_decided);
        let answer = String::from_utf8(waiting.written(conn.into())).unwrap();
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{answer}");
        let is_model = waiting.server.agent(conn.into()).is_some_and(|agent| agent.is_for_models());
        assert_eq!(is_model, is_admitted);
        assert!(waiting.server.agents().next().is_none());
    }
    assert!(head().contains(TOKEN));
}

/// Checks that a call ends when the client has given up on it, and that progress keeps it open.
#[test]
fn call_that_waits_for_a_person_ends_with_its_client() {
    let mut quiet = offering(every_tool());
    quiet.ws.keepalive = None;
    quiet.mcp.keepalive = None;
    let mut editor = model(quiet.clone());
    let open = called(&editor.receive(&call(5, "getDiagnostics", "{}")));
    editor.server.call(open).set_timeout(Timeout::Never).unwrap();
    assert_eq!(shown(&editor.at(299_999)), NOTHING);
    assert_eq!(
        editor.server.call(open).progress(&Progress::new(1.0)),
        Ok(false),
        "the model asked for no progress"
    );
    assert_eq!(shown(&editor.at(599_998)), NOTHING);
    assert_eq!(shown(&editor.at(599_999)), ["ended Expired"]);

    let mut agent = Editor::attached(quiet);
    let open = called(&agent.receive(&call(5, "getCurrentSelection", "{}")));
    agent.server.call(open).set_timeout(Timeout::Never).unwrap();
    assert_eq!(shown(&agent.at(3_600_000)), NOTHING, "an agent has no such limit");
}
