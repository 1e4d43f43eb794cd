//! Prompts and resources of a session: lists, requests, and how they end.

use ide_mcp::{
    Time,
    mcp::{
        Client, ClientConfig, ClientEvent, Content, Context, Forward, GetPrompt, Implementation, Lines, List,
        Outcome, PromptArgument, PromptResult, PromptSpec, RawCall, RawTools, ReadResource, ResourceResult,
        ResourceSpec, ResourceTemplate, Server, ServerConfig, ServerEvent, Timeout, ToolResult, ToolSpec,
    },
    rpc::{CallId, ErrorObject, NotAnswered, NotSent, SessionId},
};

const INITIALIZE: &str =
    r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

/// A server that has a prompt, a resource of its own, a resource that a tool reads, and a template.
fn context() -> Context {
    Context::new()
        .prompt(PromptSpec::new("review", "Reviews").argument(PromptArgument::required("file", "")))
        .resource(ResourceSpec::new("notes://today", "today").mime_type("text/plain"))
        .resource(ResourceSpec::new("ide://tabs", "tabs").mime_type("application/json").read_by("tabs"))
        .template(ResourceTemplate::new("notes://{day}", "notes").mime_type("text/plain"))
}

fn config(context: Context) -> ServerConfig {
    let mut config = ServerConfig::new(Implementation::new("demo", "1"));
    config.context = context.into();
    config
}

struct Session {
    server: Server<RawTools>,
    out: Lines,
    now: Time,
}

impl Session {
    /// Returns a session that waits for `initialize`.
    fn new(config: ServerConfig) -> Self {
        let tools = RawTools(vec![ToolSpec::new("tabs", "", "{}")]);
        Self { server: Server::new(config, tools, SessionId::new(1)), out: Lines::new(), now: Time::ZERO }
    }

    /// Returns a session that is ready.
    fn ready(config: ServerConfig) -> Self {
        let mut session = Self::new(config);
        session.receive(INITIALIZE);
        session.receive(INITIALIZED);
        session.events();
        session.sent();
        session
    }

    fn receive(&mut self, text: &str) {
        self.server.receive(self.now, text, &mut self.out);
    }

    /// Sends a request with the id 7.
    fn ask(&mut self, method: &str, params: &str) {
        self.receive(&format!(r#"{{"jsonrpc":"2.0","id":7,"method":"{method}","params":{params}}}"#));
    }

    fn events(&mut self) -> Vec<ServerEvent<RawCall>> {
        std::iter::from_fn(|| self.server.poll(self.now, &mut self.out)).collect()
    }

    /// Returns the only event, which must be a request for a prompt or a resource, or a call.
    fn call(&mut self) -> (CallId, String) {
        match &self.events()[..] {
            [ServerEvent::GetPrompt { call, prompt }] => (*call, format!("{prompt:?}")),
            [ServerEvent::ReadResource { call, resource }] => (*call, resource.uri.clone()),
            [ServerEvent::Call { call, tool }] => (*call, format!("{} {}", tool.name, tool.arguments)),
            events => panic!("{events:?}"),
        }
    }

    /// Returns the messages that were sent since the last time, without the parts that all have.
    fn sent(&mut self) -> Vec<String> {
        let text = String::from_utf8(self.out.outgoing().to_vec()).unwrap();
        self.out.written(text.len());
        text.lines().map(|line| line.replace(r#"{"jsonrpc":"2.0","#, "").replace(r#""id":7,"#, "")).collect()
    }
}

#[test]
fn declared_context_is_in_initialize() {
    let declared = r#""prompts":{"listChanged":true}"#;
    let rows = [
        ("nothing", Context::new(), r#"{"tools":{"listChanged":true}}"#.to_string()),
        ("prompts", Context::new().prompts([]), format!(r#"{{"tools":{{"listChanged":true}},{declared}}}"#)),
        (
            "both",
            context(),
            format!(r#"{{"tools":{{"listChanged":true}},{declared},"resources":{{"listChanged":true}}}}"#),
        ),
    ];
    for (name, context, want) in rows {
        let mut session = Session::new(config(context));
        session.receive(INITIALIZE);
        let sent = session.sent().remove(0);
        assert!(sent.contains(&format!(r#""capabilities":{want},"serverInfo""#)), "{name}: {sent}");
    }
    let mut twice = config(context());
    twice.capabilities.insert("prompts".into(), "{}".into());
    let mut session = Session::new(twice);
    session.receive(INITIALIZE);
    assert_eq!(session.sent().remove(0).matches(r#""prompts""#).count(), 1, "declared once");
}

#[test]
fn lists_are_answered_at_once() {
    let rows = [
        (
            "prompts/list",
            r#""result":{"prompts":[{"name":"review","description":"Reviews","arguments":[{"name":"file","required":true}]}]}}"#,
        ),
        (
            "resources/list",
            r#""result":{"resources":[{"uri":"notes://today","name":"today","mimeType":"text/plain"},{"uri":"ide://tabs","name":"tabs","mimeType":"application/json"}]}}"#,
        ),
        (
            "resources/templates/list",
            r#""result":{"resourceTemplates":[{"uriTemplate":"notes://{day}","name":"notes","mimeType":"text/plain"}]}}"#,
        ),
    ];
    let mut session = Session::ready(config(context()));
    for (method, want) in rows {
        for params in ["{}", r#"{"cursor":null}"#] {
            session.ask(method, params);
            assert_eq!(session.sent(), [want], "{method} {params}");
        }
        session.ask(method, r#"{"cursor":"1"}"#);
        assert_eq!(session.sent(), [r#""error":{"code":-32602,"message":"unknown cursor"}}"#], "{method}");
        assert!(session.events().is_empty());
    }
}

#[test]
fn request_reaches_the_application_and_is_answered() {
    let mut session = Session::ready(config(context()));
    // The second time on the same session, with the same id.
    for _ in 0..2 {
        session.ask("prompts/get", r#"{"name":"review","arguments":{"file":"a.rs"}}"#);
        let (call, pending) = session.call();
        assert_eq!(pending, r#"GetPrompt { name: "review", arguments: {"file": "a.rs"} }"#);
        session.server.respond_with(call, &PromptResult::text("Review a.rs"), &mut session.out).unwrap();
        let want =
            r#""result":{"messages":[{"role":"user","content":{"type":"text","text":"Review a.rs"}}]}}"#;
        assert_eq!(session.sent(), [want]);

        session.ask("resources/read", r#"{"uri":"notes://today"}"#);
        let (call, uri) = session.call();
        assert_eq!(uri, "notes://today");
        let result = ResourceResult::text(uri, "text/plain", "bread");
        session.server.respond_with(call, &result, &mut session.out).unwrap();
        let want =
            r#""result":{"contents":[{"uri":"notes://today","mimeType":"text/plain","text":"bread"}]}}"#;
        assert_eq!(session.sent(), [want]);
    }
    session.ask("resources/read", r#"{"uri":"notes://monday"}"#);
    assert_eq!(session.call().1, "notes://monday", "the template can cover it");
}

#[test]
fn tool_result_answers_no_prompt_or_resource() {
    let rows = [
        ("prompts/get", r#"{"name":"review","arguments":{"file":"a.rs"}}"#),
        ("resources/read", r#"{"uri":"notes://today"}"#),
    ];
    let mut session = Session::ready(config(context()));
    for (method, params) in rows {
        session.ask(method, params);
        let call = session.call().0;
        for result in [ToolResult::text("x"), ToolResult::error("x")] {
            let refused = session.server.respond(call, &result, &mut session.out);
            assert_eq!(refused, Err(NotAnswered::NotAnAnswer), "{method}");
            assert_eq!((session.sent(), session.server.is_open(call)), (vec![], true), "{method}");
        }
        session.server.fail(call, ErrorObject::new(-1, "no"), &mut session.out).unwrap();
        let late = session.server.respond(call, &ToolResult::text("x"), &mut session.out);
        assert_eq!(late, Err(NotAnswered::Answered), "{method}");
        session.sent();
    }
}

#[test]
fn wrong_requests_are_refused() {
    let rows = [
        ("prompts/get", r#"{"name":"nothing"}"#, r#"{"code":-32602,"message":"prompt nothing not found"}"#),
        (
            "prompts/get",
            r#"{"name":"review"}"#,
            r#"{"code":-32602,"message":"prompt review requires the argument file"}"#,
        ),
        ("prompts/get", "{}", r#"{"code":-32602,"message":"prompts/get needs a name"}"#),
        ("resources/read", "{}", r#"{"code":-32602,"message":"resources/read needs a uri"}"#),
        (
            "resources/subscribe",
            r#"{"uri":"ide://tabs"}"#,
            r#"{"code":-32601,"message":"method not found: resources/subscribe"}"#,
        ),
    ];
    let mut session = Session::ready(config(context()));
    for (method, params, error) in rows {
        session.ask(method, params);
        assert_eq!(session.sent(), [format!(r#""error":{error}}}"#)], "{method} {params}");
    }
    assert!(session.events().is_empty() && session.server.open_calls() == 0);

    let mut session = Session::ready(config(Context::new().resource(ResourceSpec::new("a://b", ""))));
    session.ask("resources/read", r#"{"uri":"a://c"}"#);
    assert_eq!(session.sent(), [r#""error":{"code":-32002,"message":"resource a://c not found"}}"#]);
    for method in ["prompts/get", "completion/complete"] {
        session.ask(method, r#"{"name":"review"}"#);
        let want = format!(r#""error":{{"code":-32601,"message":"method not found: {method}"}}}}"#);
        assert_eq!(session.sent(), [want], "not declared");
    }
}

#[test]
fn resource_of_a_tool_is_a_call() {
    type Answered = fn(&mut Session, CallId);
    let respond: Answered = |session, call| {
        session.server.respond(call, &ToolResult::text("[]"), &mut session.out).unwrap();
    };
    let respond_with: Answered = |session, call| {
        session.server.respond_with(call, &ToolResult::text("[]"), &mut session.out).unwrap();
    };
    let several: Answered = |session, call| {
        let result = ToolResult::new(vec![Content::text("a"), Content::text("b")]);
        session.server.respond(call, &result, &mut session.out).unwrap();
    };
    let failed: Answered = |session, call| {
        session.server.respond(call, &ToolResult::error("no tabs"), &mut session.out).unwrap();
    };
    let fail: Answered = |session, call| {
        session.server.fail(call, ErrorObject::new(-32000, "no tabs"), &mut session.out).unwrap();
    };
    let empty: Answered = |session, call| {
        session.server.respond(call, &ToolResult::default(), &mut session.out).unwrap();
    };
    let one = |text| format!(r#"{{"uri":"ide://tabs","mimeType":"application/json","text":"{text}"}}"#);
    let note = r#"{"uri":"ide://tabs","mimeType":"text/plain","text":"b"}"#;
    let rows = [
        ("result", respond, format!(r#""result":{{"contents":[{}]}}}}"#, one("[]"))),
        ("result as any object", respond_with, format!(r#""result":{{"contents":[{}]}}}}"#, one("[]"))),
        ("two texts", several, format!(r#""result":{{"contents":[{},{note}]}}}}"#, one("a"))),
        (
            "no text",
            empty,
            r#""error":{"code":-32603,"message":"the tool answered without any text"}}"#.into(),
        ),
        ("failed tool", failed, r#""error":{"code":-32603,"message":"no tabs"}}"#.into()),
        ("error", fail, r#""error":{"code":-32000,"message":"no tabs"}}"#.into()),
    ];
    let mut session = Session::ready(config(context()));
    for (name, act, want) in rows {
        session.ask("resources/read", r#"{"uri":"ide://tabs"}"#);
        let (call, tool) = session.call();
        assert_eq!(tool, "tabs {}", "{name}");
        act(&mut session, call);
        assert_eq!(session.sent(), [want], "{name}");
        assert!(!session.server.is_open(call), "{name}");
    }
    session.ask("resources/read", r#"{"uri":"ide://tabs"}"#);
    let (call, _) = session.call();
    let refused = session.server.respond_with(call, &[1], &mut session.out);
    assert_eq!(refused, Err(NotAnswered::Unserializable), "a list is no result of a tool");
    let contents = ResourceResult::text("ide://tabs", "", "");
    let refused = session.server.respond_with(call, &contents, &mut session.out);
    assert_eq!(refused, Err(NotAnswered::Unserializable), "nor are the contents of a resource");
    assert!(session.server.is_open(call) && session.sent().is_empty());
}

#[test]
fn changed_lists_are_announced_once() {
    let mut session = Session::ready(config(context()));
    let Session { server, out, .. } = &mut session;
    assert_eq!(server.context_changed(out), Ok(false), "nothing has changed");
    // The second change is announced too, because the client has listed the prompts in between.
    for number in [1, 2] {
        let name = format!("p{number}");
        session.server.set_context(context().prompt(PromptSpec::new(name, "")));
        assert_eq!(session.server.context_changed(&mut session.out), Ok(true));
        assert_eq!(session.server.context_changed(&mut session.out), Ok(false));
        assert_eq!(session.sent(), [r#""method":"notifications/prompts/list_changed"}"#]);
        session.ask("prompts/list", "{}");
        assert!(session.sent()[0].contains(&format!(r#""name":"p{number}""#)));
    }
    session.server.set_context(Context::new());
    assert_eq!(session.server.context_changed(&mut session.out), Ok(true));
    let both = [
        r#""method":"notifications/prompts/list_changed"}"#,
        r#""method":"notifications/resources/list_changed"}"#,
    ];
    assert_eq!(session.sent(), both);

    let mut undeclared = Session::ready(config(Context::new()));
    undeclared.server.set_context(context());
    assert_eq!(undeclared.server.context_changed(&mut undeclared.out), Err(NotSent::Undeclared));
    undeclared.ask("resources/list", "{}");
    assert_eq!(undeclared.sent(), [r#""result":{"resources":[]}}"#], "what cannot be read is not listed");
}

#[test]
fn undeclared_half_of_a_context_stays_unlisted() {
    let prompts = || Context::new().prompt(PromptSpec::new("review", "Reviews"));
    let resources = || Context::new().resource(ResourceSpec::new("notes://today", "today"));
    for (declared, is_listed) in [(prompts(), [true, false]), (resources(), [false, true])] {
        let mut session = Session::ready(config(declared));
        // The second time, the session starts with what the first change left.
        for _ in 0..2 {
            session.server.set_context(context());
            let listed =
                [("prompts/list", "review"), ("resources/list", "notes://today")].map(|(method, item)| {
                    session.ask(method, "{}");
                    session.sent()[0].contains(item)
                });
            assert_eq!(listed, is_listed);
        }
    }
}

#[test]
fn forwarded_requests_reach_the_application_raw() {
    let rows = [
        ("all", Forward::All, true),
        ("the method", Forward::Methods(vec!["resources/read".into()]), true),
        ("everything else", Forward::Unmodelled, false),
        ("nothing", Forward::Nothing, false),
    ];
    for (name, forward, is_raw) in rows {
        let mut config = config(context());
        config.forward = forward;
        let mut session = Session::ready(config);
        session.ask("resources/read", r#"{"uri":"notes://today"}"#);
        let raw = matches!(session.events()[..], [ServerEvent::Request { .. }]);
        assert_eq!(raw, is_raw, "{name}");
    }
}

#[test]
fn client_reads_what_the_server_offers() {
    let mut session = Session::new(config(context()));
    let mut client = Client::new(ClientConfig::new(Implementation::new("c", "1")), SessionId::new(2));
    let mut out = Lines::new();
    client.start(Time::ZERO, &mut out).unwrap();
    let outcome = |session: &mut Session, client: &mut Client, out: &mut Lines| {
        let mut last = None;
        loop {
            let input = String::from_utf8(out.outgoing().to_vec()).unwrap();
            out.written(input.len());
            input.lines().for_each(|line| session.receive(line));
            for event in session.events() {
                match event {
                    ServerEvent::GetPrompt { call, prompt } => {
                        let text = PromptResult::text(format!("{prompt:?}"));
                        session.server.respond_with(call, &text, &mut session.out).unwrap();
                    }
                    ServerEvent::ReadResource { call, resource } => {
                        let result = ResourceResult::text(resource.uri, "", "text");
                        session.server.respond_with(call, &result, &mut session.out).unwrap();
                    }
                    _ => {}
                }
            }
            let answers = String::from_utf8(session.out.outgoing().to_vec()).unwrap();
            session.out.written(answers.len());
            answers.lines().for_each(|line| client.receive(Time::ZERO, line, out));
            while let Some(event) = client.poll(Time::ZERO, out) {
                if let ClientEvent::Outcome { outcome: Outcome::Result(raw), .. } = event {
                    last = Some(raw);
                }
            }
            if input.is_empty() && answers.is_empty() {
                return last;
            }
        }
    };
    outcome(&mut session, &mut client, &mut out);
    client.list(List::Prompts, Timeout::Default, &mut out).unwrap();
    let listed = outcome(&mut session, &mut client, &mut out).unwrap();
    assert!(listed.get().contains(r#""name":"review""#));

    let prompt = GetPrompt::new("review").argument("file", "a.rs");
    client.request("prompts/get", Some(&prompt), Timeout::Default, &mut out).unwrap();
    let raw = outcome(&mut session, &mut client, &mut out).unwrap();
    let texts: Vec<_> = PromptResult::read(&raw).unwrap().texts().map(str::to_string).collect();
    assert_eq!(texts, [format!("{prompt:?}")]);

    let resource = ReadResource::new("notes://today");
    client.request("resources/read", Some(&resource), Timeout::Default, &mut out).unwrap();
    let raw = outcome(&mut session, &mut client, &mut out).unwrap();
    assert_eq!(ResourceResult::read(&raw), Some(ResourceResult::text("notes://today", "", "text")));
}
