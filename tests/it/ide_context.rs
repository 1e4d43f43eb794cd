//! Prompts and resources of an editor, and the resources that its tools read.

use crate::server_sending::attach;
use crate::support::ide::{
    Editor, INITIALIZE, INITIALIZED, PORT, call, called, config, request, text, texts, token,
};
use ide_mcp::ide::tool::{OpenEditors, Tool, ToolCall, ToolSet};
use ide_mcp::{
    Time,
    ide::{Client, ClientConfig, ClientEvent, Dialect, RequestError, Server, ServerConfig, ServerEvent},
    mcp::{
        Context, Forward, GetPrompt, Implementation, PromptResult, PromptSpec, ReadResource, ResourceResult,
        ResourceSpec, ToolResult,
    },
    rpc::{CallId, ErrorObject, NotAnswered, NotSent, SessionId},
    testing::{Pair, Random, pass},
};

const URIS: [&str; 4] =
    ["ide://selection", "ide://open-editors", "ide://diagnostics", "ide://workspace-folders"];

fn handling(tools: impl IntoIterator<Item = Tool>) -> ServerConfig {
    let mut config = config();
    config.tool_resources = true;
    config.tools = tools.into_iter().fold(ToolSet::new(), ToolSet::handle).into();
    config
}

/// Returns the config of an editor with a prompt, a resource, and a tool that reads another resource.
fn offering() -> ServerConfig {
    let mut config = handling([Tool::GetOpenEditors]);
    config.mcp.context = Context::new()
        .prompt(PromptSpec::new("review", "Reviews the open file"))
        .resource(ResourceSpec::new("notes://today", "today").mime_type("text/plain"))
        .into();
    config
}

/// Sends a request with the id 7, and returns the messages that answer it.
fn ask(editor: &mut Editor, method: &str, params: &str) -> Vec<String> {
    let events =
        editor.receive(&format!(r#"{{"jsonrpc":"2.0","id":7,"method":"{method}","params":{params}}}"#));
    assert!(events.is_empty(), "{events:?}");
    texts(&editor.written())
}

/// The parameters of notifications that fill the send buffer.
#[derive(serde::Serialize)]
struct Filler {}

fn uris(list: &str) -> Vec<&str> {
    list.split(r#""uri":""#).skip(1).map(|rest| rest.split('"').next().unwrap()).collect()
}

fn read(uri: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":7,"method":"resources/read","params":{{"uri":"{uri}"}}}}"#)
}

#[test]
fn handled_tools_become_resources() {
    let all = [
        Tool::GetCurrentSelection,
        Tool::GetOpenEditors,
        Tool::GetDiagnostics,
        Tool::GetWorkspaceFolders,
        Tool::OpenFile,
    ];
    let mut switched_off = handling(all);
    switched_off.tool_resources = false;
    let mut replaced = handling(all);
    replaced.mcp.context = Context::new().resource(ResourceSpec::new(URIS[1], "own")).into();
    let rows: [(&str, ServerConfig, bool, &[&str]); 5] = [
        ("all", handling(all), true, &URIS),
        ("one", handling([Tool::GetOpenEditors, Tool::OpenDiff]), true, &URIS[1..2]),
        ("none", handling([Tool::OpenDiff]), false, &[]),
        ("switched off", switched_off, false, &[]),
        ("one of the editor's own", replaced, true, &[URIS[1], URIS[0], URIS[2], URIS[3]]),
    ];
    for (name, config, is_declared, want) in rows {
        let mut editor = Editor::open(config);
        editor.receive(INITIALIZE);
        let answer = texts(&editor.written()).remove(0);
        assert_eq!(answer.contains(r#""resources":{"listChanged":true}"#), is_declared, "{name}");
        assert!(!answer.contains(r#""prompts""#), "{name}");
        editor.receive(INITIALIZED);
        let list = ask(&mut editor, "resources/list", "{}").remove(0);
        assert_eq!(uris(&list), want, "{name}");
    }
}

#[test]
fn editor_answers_its_own_resources() {
    let methods =
        |names: &[&'static str]| Forward::Methods(names.iter().map(|name| (*name).into()).collect());
    let own = || Context::new().resource(ResourceSpec::new("notes://today", "today"));
    let declared = r#""resources":{"subscribe":true}"#;
    // The forwarded methods, the declared capability, the context, and true if the tools are resources.
    let rows = [
        ("nothing", Forward::Nothing, false, Context::new(), true),
        ("all that is not modelled", Forward::Unmodelled, false, Context::new(), false),
        ("everything", Forward::All, false, Context::new(), false),
        ("only the list", methods(&["resources/list"]), false, Context::new(), false),
        ("only the request", methods(&["resources/read"]), false, Context::new(), false),
        ("another method", methods(&["completion/complete"]), false, Context::new(), true),
        ("nothing, with a declared capability", Forward::Nothing, true, Context::new(), false),
        (
            "all that is not modelled, with a declared capability",
            Forward::Unmodelled,
            true,
            Context::new(),
            false,
        ),
        ("all that is not modelled, with a context", Forward::Unmodelled, false, own(), true),
        ("everything, with a context", Forward::All, false, own(), false),
        ("nothing, with a capability and a context", Forward::Nothing, true, own(), true),
    ];
    for (name, forward, has_capability, context, want) in rows {
        let mut config = handling([Tool::GetOpenEditors]);
        config.mcp.forward = forward.clone();
        config.mcp.context = context.clone().into();
        if has_capability {
            config.mcp.capabilities.insert("resources".into(), r#"{"subscribe":true}"#.into());
        }
        let is_served = context.listed_resources().is_some();
        let mut editor = Editor::open(config);
        editor.receive(INITIALIZE);
        let answer = texts(&editor.written()).remove(0);
        assert_eq!(answer.contains(declared), has_capability && !is_served, "{name}: {answer}");
        assert_eq!(answer.contains(r#""resources":{"listChanged""#), want || is_served, "{name}: {answer}");
        editor.receive(INITIALIZED);
        // The second time comes after a change of the tools and the context.
        for _ in 0..2 {
            let events = editor.receive(&read(URIS[1]));
            let is_call =
                matches!(&events[..], [ServerEvent::Call { call: ToolCall::GetOpenEditors(..), .. }]);
            assert_eq!(is_call, want, "{name}: {events:?}");
            if matches!(forward, Forward::Unmodelled | Forward::All) && !want {
                let [ServerEvent::Request { call, .. }] = &events[..] else { panic!("{name}: {events:?}") };
                let result = serde_json::from_str(r#"{"contents":[]}"#).unwrap();
                editor.server.call(*call).respond_raw(result).unwrap();
            } else if want {
                editor.server.call(called(&events)).fail(ErrorObject::new(-1, "")).unwrap();
            }
            editor.server.set_tools(ToolSet::new().handle(Tool::GetOpenEditors));
            editor.server.set_context(context.clone());
            editor.written();
        }
    }
}

#[test]
fn resource_of_tool_has_its_answer() {
    for (dialect, name) in [(Dialect::VsCode, "getOpenEditors"), (Dialect::SnakeCase, "get_open_editors")] {
        let mut editor = Editor::attached(handling([Tool::GetOpenEditors]).with_dialect(dialect));
        for _ in 0..2 {
            let events = editor.receive(&read(URIS[1]));
            let [ServerEvent::Call { call: ToolCall::GetOpenEditors(call, _), .. }] =
                <[_; 1]>::try_from(events).unwrap()
            else {
                panic!("no call of the tool")
            };
            editor.server.answer(call, OpenEditors::default()).unwrap();
            let want = r#"{"jsonrpc":"2.0","id":7,"result":{"contents":[{"uri":"ide://open-editors","mimeType":"application/json","text":"{\"tabs\":[]}"}]}}"#;
            let answer = texts(&editor.written());
            if dialect == Dialect::VsCode {
                assert_eq!(answer, [want]);
            } else {
                assert!(answer[0].contains(r#""contents":[{"uri":"ide://open-editors""#), "{answer:?}");
            }
            assert!(!texts(&editor.written()).iter().any(|text| text.contains(name)));
        }
    }
}

#[test]
fn resource_without_its_tool_is_not_found() {
    // Called as tools, these two are refused with -32602 and -32601.
    for tool in ["getOpenEditors", "openDiff", "countLines"] {
        let mut config = handling([]);
        config.mcp.context = Context::new().resource(ResourceSpec::new("a://b", "b").read_by(tool)).into();
        let mut editor = Editor::attached(config);
        for _ in 0..2 {
            let refusal = ask(&mut editor, "resources/read", r#"{"uri":"a://b"}"#).remove(0);
            assert!(refusal.contains(r#""code":-32002,"message":"resource a://b not found""#), "{refusal}");
            let tools = ToolSet::new().handle(Tool::GetOpenEditors).custom("countLines", "", "{}");
            editor.server.set_tools(tools);
            editor.written();
            if tool != "openDiff" {
                let call = called(&editor.receive(&read("a://b")));
                editor.server.call(call).fail(ErrorObject::new(-1, "")).unwrap();
            }
            editor.server.set_tools(ToolSet::new());
            editor.written();
        }
    }
}

#[test]
fn resource_of_tool_is_answered_by_number() {
    type Answered = fn(&mut Server, CallId) -> Result<(), NotAnswered>;
    let json: Answered = |server, call| server.call(call).answer_json(r#"{"tabs":[]}"#);
    let whole: Answered = |server, call| {
        let raw = r#"{"content":[{"type":"text","text":"{\"tabs\":[]}"}]}"#;
        server.call(call).respond_raw(serde_json::from_str(raw).unwrap())
    };
    let failure: Answered = |server, call| server.call(call).respond(&ToolResult::error("no window"));
    let rows = [
        ("JSON", json, r#""text":"{\"tabs\":[]}""#),
        ("the whole result", whole, r#""text":"{\"tabs\":[]}""#),
        ("a failure", failure, r#""error":{"code":-32603,"message":"no window"}"#),
    ];
    let mut editor = Editor::attached(handling([Tool::GetOpenEditors]));
    for (name, act, want) in rows {
        let call = called(&editor.receive(&read(URIS[1])));
        let wrong = editor.server.call(call).respond_resource(&ResourceResult::default());
        assert_eq!(wrong, Err(NotAnswered::NotAnAnswer), "{name}");
        act(&mut editor.server, call).unwrap();
        let sent = texts(&editor.written());
        assert!(sent.len() == 1 && sent[0].contains(want), "{name}: {sent:?}");
    }
}

#[test]
fn own_prompt_and_resource_are_answered() {
    let mut editor = Editor::attached(offering());
    let mut other = called(&editor.receive(&call(1, "getOpenEditors", "{}")));
    for _ in 0..2 {
        let events = editor.receive(&request_with(7, "prompts/get", r#"{"name":"review"}"#));
        let [ServerEvent::GetPrompt { call: prompt, prompt: request, .. }] = &events[..] else {
            panic!("{events:?}")
        };
        assert_eq!(request, &GetPrompt::new("review"));
        let events = editor.receive(&request_with(8, "resources/read", r#"{"uri":"notes://today"}"#));
        let [ServerEvent::ReadResource { call: resource, resource: request, .. }] = &events[..] else {
            panic!("{events:?}")
        };
        assert_eq!(request, &ReadResource::new("notes://today"));

        let (messages, contents) =
            (PromptResult::text("Review."), ResourceResult::text("notes://today", "", "x"));
        for call in [*resource, other] {
            let refused = editor.server.call(call).respond_prompt(&messages);
            assert_eq!(refused, Err(NotAnswered::NotAnAnswer));
        }
        for call in [*prompt, other] {
            let refused = editor.server.call(call).respond_resource(&contents);
            assert_eq!(refused, Err(NotAnswered::NotAnAnswer));
        }
        for call in [*prompt, *resource] {
            let raw = serde_json::from_str(r#"{"content":[]}"#).unwrap();
            assert_eq!(editor.server.call(call).respond_raw(raw), Err(NotAnswered::NotAnAnswer));
            let of_tool = ToolResult::error("x");
            assert_eq!(editor.server.call(call).respond(&of_tool), Err(NotAnswered::NotAnAnswer));
            assert_eq!(editor.server.call(call).answer_json("x"), Err(NotAnswered::NotAnAnswer));
        }
        assert!(texts(&editor.written()).is_empty(), "nothing was sent");
        editor.server.call(*prompt).respond_prompt(&messages).unwrap();
        editor.server.call(*resource).respond_resource(&contents).unwrap();
        let want = [
            r#"{"jsonrpc":"2.0","id":7,"result":{"messages":[{"role":"user","content":{"type":"text","text":"Review."}}]}}"#,
            r#"{"jsonrpc":"2.0","id":8,"result":{"contents":[{"uri":"notes://today","text":"x"}]}}"#,
        ];
        assert_eq!(texts(&editor.written()), want);
        editor.server.call(other).fail(ErrorObject::new(-1, "")).unwrap();
        editor.written();
        other = called(&editor.receive(&call(1, "getOpenEditors", "{}")));
    }
}

fn request_with(id: u32, method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#)
}

#[test]
fn changed_context_is_announced_when_possible() {
    let changed = || Context::new().prompt(PromptSpec::new("explain", "")).resources([]);
    let prompts = r#"{"jsonrpc":"2.0","method":"notifications/prompts/list_changed"}"#;
    let resources = r#"{"jsonrpc":"2.0","method":"notifications/resources/list_changed"}"#;

    let mut ready = Editor::attached(offering());
    ready.server.set_context(changed());
    assert_eq!(texts(&ready.written()), [prompts, resources], "the resource of the tool stays");
    assert_eq!(uris(&ask(&mut ready, "resources/list", "{}")[0]), [URIS[1]]);
    ready.server.set_tools(ToolSet::new());
    let sent = texts(&ready.written());
    assert!(sent.contains(&resources.to_string()), "the resource went with its tool: {sent:?}");
    assert_eq!(uris(&ask(&mut ready, "resources/list", "{}")[0]), [""; 0]);

    let mut early = Editor::open(offering());
    early.receive(INITIALIZE);
    early.written();
    early.server.set_context(changed());
    assert!(texts(&early.written()).is_empty(), "the session is not ready");
    early.receive(INITIALIZED);
    assert_eq!(texts(&early.written()), [prompts, resources]);

    let mut config = offering();
    config.ws.outgoing = 1000;
    let mut full = Editor::attached(config);
    while full.agent_mut().notify("filler", Some(&Filler {})).is_ok() {}
    assert_eq!(full.agent_mut().notify("filler", Some(&Filler {})), Err(NotSent::Full));
    full.server.set_context(changed());
    let sent = texts(&full.written());
    assert!(sent.len() > 2, "{sent:?}");
    assert_eq!(sent[sent.len() - 2..], [prompts, resources], "sent once there is room");

    let mut undeclared = handling([]);
    undeclared.mcp.context = Context::new().into();
    let mut undeclared = Editor::attached(undeclared);
    undeclared.server.set_context(changed());
    assert!(texts(&undeclared.written()).is_empty());
}

#[test]
fn later_client_gets_the_current_offer() {
    type Change = fn(&mut Server);
    let rows: [(&str, Change, &[&str], &str); 5] = [
        ("at first", |_| {}, &[URIS[1], "notes://today"], "review"),
        (
            "other tools",
            |server| server.set_tools(ToolSet::new().handle(Tool::GetDiagnostics)),
            &[URIS[2], "notes://today"],
            "review",
        ),
        (
            "another context",
            |server| server.set_context(Context::new().prompt(PromptSpec::new("explain", "")).resources([])),
            &[URIS[2]],
            "explain",
        ),
        (
            "other tools again",
            |server| server.set_tools(ToolSet::new().handle(Tool::GetOpenEditors)),
            &[URIS[1]],
            "explain",
        ),
        (
            "another context again",
            |server| {
                let resource = ResourceSpec::new("notes://tomorrow", "tomorrow");
                server.set_context(Context::new().prompt(PromptSpec::new("test", "")).resource(resource));
            },
            &[URIS[1], "notes://tomorrow"],
            "test",
        ),
    ];
    let mut server = Server::new(offering());
    for (name, change, resources, prompt) in rows {
        change(&mut server);
        let conn = attach(&mut server);
        let mut ask = |method: &str| {
            server.feed(Time::ZERO, conn, &text(&request(7, method)));
            texts(&pass(&mut server, Time::ZERO, usize::MAX).written_bytes()).concat()
        };
        let (listed, prompts) = (ask("resources/list"), ask("prompts/list"));
        let mut found = uris(&listed);
        found.sort_unstable();
        assert_eq!(found, resources, "{name}");
        assert!(prompts.contains(&format!(r#""prompts":[{{"name":"{prompt}""#)), "{name}: {prompts}");
    }
}

#[test]
fn connections_of_a_server_share_one_context() {
    let tools = || {
        [Tool::GetCurrentSelection, Tool::GetOpenEditors].into_iter().fold(ToolSet::new(), ToolSet::handle)
    };
    // Returns the number of allocations for so many connections, the changes after them, and one more
    // connection.
    let allocations = |are_joined: bool, connections: u64| {
        let mut config = handling([Tool::GetDiagnostics]);
        config.tool_resources = are_joined;
        config.mcp.context = Context::new().resources([]).into();
        let mut server = Server::new(config);
        let measured = allocation_counter::measure(|| {
            for _ in 0..connections {
                server.connect(Time::ZERO);
            }
            for _ in 0..2 {
                server.set_tools(tools());
                server.set_context(Context::new().resources([]));
            }
            server.connect(Time::ZERO);
        });
        measured.count_total
    };
    let of_joining = |connections| allocations(true, connections) - allocations(false, connections);
    assert!(of_joining(1) > 0);
    assert_eq!(of_joining(1), of_joining(8), "the resources of the tools are joined once for each change");
}

#[test]
fn client_lists_prompts_before_ide_connected() {
    // As a client of another family does.
    let mut editor = Editor::open(offering());
    let both = [text(INITIALIZE), text(INITIALIZED), text(&request(3, "prompts/list"))].concat();
    editor.feed(&both);
    assert!(texts(&editor.written()).iter().any(|sent| sent.contains(r#""name":"review""#)));
}

#[test]
fn agent_reads_prompt_and_resource_typed() {
    let mut server = Server::new(offering());
    let conn = server.connect(Time::ZERO);
    let config = ClientConfig::new(Implementation::new("agent", "1"), PORT, Some(token()));
    let client = Client::new(config, Random::new(1).source(), SessionId::new(2), Time::ZERO).unwrap();
    let mut pair = Pair::joined(server, conn, client, Time::ZERO);
    pair.settle();
    let prompt = pair.client.get_prompt(&GetPrompt::new("review")).unwrap();
    let resource = pair.client.read_resource(&ReadResource::new("notes://today")).unwrap();
    let missing = pair.client.read_resource(&ReadResource::new("notes://never")).unwrap();
    pair.client_events.clear();
    pair.settle_with(
        |server, event| match event {
            ServerEvent::GetPrompt { call, .. } => {
                server.call(*call).respond_prompt(&PromptResult::text("Review.")).unwrap();
            }
            ServerEvent::ReadResource { call, resource, .. } => {
                let result = ResourceResult::text(resource.uri.as_str(), "", "x");
                server.call(*call).respond_resource(&result).unwrap();
            }
            _ => {}
        },
        |_, _| {},
    );
    let mut outcomes = std::mem::take(&mut pair.client_events).into_iter().filter_map(|event| match event {
        ClientEvent::Outcome { request, outcome } => Some((request, outcome)),
        _ => None,
    });
    let mut of = |id| {
        let (request, outcome) = outcomes.next().unwrap();
        assert_eq!(request, id);
        outcome
    };
    let outcome = of(prompt.id());
    assert_eq!(prompt.answer(outcome).unwrap().texts().collect::<Vec<_>>(), ["Review."]);
    let outcome = of(resource.id());
    assert_eq!(resource.answer(outcome).unwrap(), ResourceResult::text("notes://today", "", "x"));
    let outcome = of(missing.id());
    assert!(matches!(missing.answer(outcome), Err(RequestError::Refused(error)) if error.code == -32002));
}
