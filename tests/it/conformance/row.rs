//! The type of a row, and how a row is run and its bytes are recorded.

use crate::support::ide::{CONNECTED, Editor, INITIALIZE, INITIALIZED, call, config, frames, shown};
use ide_mcp::ide::tool::{Answer, Tool, ToolCall, ToolSet};
use ide_mcp::{
    Time,
    ide::{
        Client, ClientConfig, ClientEvent, Dialect, FromResult, OpenCall, Server, ServerConfig, ServerEvent,
    },
    mcp::{
        Context, FormAnswer, Implementation, PromptArgument, PromptSpec, ResourceSpec, ResourceTemplate,
        Root, Timeout, ToolResult,
    },
    rpc::{CallId, SessionId},
    testing::{Pair, Random, pass, pass_with, read_answer},
};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

/// A claim and its proof.
pub struct Row {
    pub id: &'static str,
    pub claim: &'static str,
    pub proof: Proof,
}

pub const fn row(id: &'static str, claim: &'static str, proof: Proof) -> Row {
    Row { id, claim, proof }
}

/// A claim that has no proof yet: `test` or `elsewhere` gives it one.
pub struct Claim {
    id: &'static str,
    claim: &'static str,
}

pub const fn claim(id: &'static str, claim: &'static str) -> Claim {
    Claim { id, claim }
}

impl Claim {
    pub const fn test(self, file: &'static str, name: &'static str) -> Row {
        row(self.id, self.claim, Proof::Test(file, name))
    }

    pub const fn elsewhere(self, why: &'static str) -> Row {
        row(self.id, self.claim, Proof::Elsewhere(why))
    }
}

pub enum Proof {
    /// Steps with an attached client of an editor with this dialect and these tools.
    Editor(Dialect, Offers, &'static [Step]),
    /// The method and the parameters of a notification of an editor, and the event that the agent
    /// gets.
    Agent(&'static str, &'static str, &'static str),
    /// The method and the parameters of a request of an editor, and the answer of an agent that works
    /// in `/w` and declines each form.
    AgentAnswers(&'static str, &'static str, &'static str),
    /// What makes an agent send a message, the message, the response to it, and the event that the agent gets. The last
    /// two are empty for a notification.
    AgentSends(fn(&mut Client), &'static str, &'static str, &'static str),
    /// The text blocks of a tool's result, and the answer that an agent reads from them.
    Reads(fn(&ToolResult<'_>) -> String, &'static [&'static str], &'static str),
    /// The file and the name of another test that proves the claim.
    Test(&'static str, &'static str),
    /// Why the claim does not concern this crate.
    Elsewhere(&'static str),
}

pub const fn vs_code(steps: &'static [Step]) -> Proof {
    Proof::Editor(Dialect::VsCode, Offers::All, steps)
}

/// Steps with an editor that handles no tools.
pub const fn bare(steps: &'static [Step]) -> Proof {
    Proof::Editor(Dialect::VsCode, Offers::Nothing, steps)
}

/// Steps with an editor that handles only diffs.
pub const fn with_diffs(steps: &'static [Step]) -> Proof {
    Proof::Editor(Dialect::VsCode, Offers::These(&[Tool::OpenDiff]), steps)
}

pub const fn jet_brains(steps: &'static [Step]) -> Proof {
    Proof::Editor(Dialect::JetBrains, Offers::All, steps)
}

pub const fn snake_case(steps: &'static [Step]) -> Proof {
    Proof::Editor(Dialect::SnakeCase, Offers::All, steps)
}

/// Steps with an editor whose only methods are direct requests.
pub const fn obsidian(steps: &'static [Step]) -> Proof {
    Proof::Editor(Dialect::Obsidian, Offers::Nothing, steps)
}

/// Steps with an editor that offers prompts and resources.
pub const fn with_context(steps: &'static [Step]) -> Proof {
    Proof::Editor(Dialect::VsCode, Offers::Context, steps)
}

/// What the editor handles.
#[derive(Clone, Copy)]
pub enum Offers {
    All,
    Nothing,
    These(&'static [Tool]),
    /// The tool `getOpenEditors`, which reads a resource, and a prompt, a resource and a template. The
    /// client declares roots and elicitation.
    Context,
}

pub enum Step {
    /// The client sends this message.
    ClientSends(&'static str),
    /// The client calls a tool with these arguments. The ids of the calls count from 5.
    Calls(&'static str, &'static str),
    /// The application gets this event.
    AppGets(&'static str),
    /// The application answers the last call of a tool.
    Answers(fn(&mut Server, ToolCall)),
    /// The application answers the last request that is not a call of a tool.
    AnswersRequest(fn(OpenCall<'_>)),
    /// The application does something on its own.
    Does(fn(&mut Editor)),
    /// The clock advances to this time, in ms.
    At(u64),
    /// The editor has written this message.
    Wrote(&'static str),
    /// The editor has written the result of the last call, with these blocks of text.
    Result(&'static [&'static str]),
    /// The editor has written the result of the last call, with these blocks of text and `isError`.
    Failed(&'static [&'static str]),
    /// The editor has refused the last call with this code and a message that contains this text.
    Refused(i64, &'static str),
}

/// A line of the record.
pub enum Line {
    In(String),
    Out(String),
    Event(String),
}

/// Runs a row. Returns the record of the run.
pub fn run(row: &Row) -> Vec<Line> {
    match &row.proof {
        Proof::Editor(dialect, offers, steps) => Run::new(*dialect, *offers, steps).steps(row.id, steps),
        Proof::Agent(method, params, event) => {
            let received = read_by_an_agent(method, params);
            assert_eq!(received, *event, "{}", row.id);
            let input = format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{params}}}"#);
            vec![Line::In(input), Line::Event(received)]
        }
        Proof::AgentAnswers(method, params, answer) => {
            let lines = request_to_agent(method, params);
            let Some(Line::Out(written)) = lines.last() else { panic!("{}: no answer", row.id) };
            assert_eq!(written, answer, "{}", row.id);
            lines
        }
        Proof::AgentSends(act, message, answer, event) => {
            let (written, received) = message_from_agent(*act, answer);
            assert_eq!((written.as_str(), received.as_str()), (*message, *event), "{}", row.id);
            let answered = [Line::In((*answer).into()), Line::Event(received)];
            let has_answer = !answer.is_empty();
            std::iter::once(Line::Out(written)).chain(answered.into_iter().filter(|_| has_answer)).collect()
        }
        Proof::Reads(read, texts, expected) => {
            let result =
                ToolResult::new(texts.iter().map(|text| ide_mcp::mcp::Content::text(*text)).collect());
            let found = read(&result);
            assert_eq!(found, *expected, "{}", row.id);
            vec![Line::In(serde_json::to_string(&result).unwrap()), Line::Event(found)]
        }
        Proof::Test(..) | Proof::Elsewhere(_) => Vec::new(),
    }
}

/// Reads a result as an agent does; `None` if it is not an answer of this type.
pub fn read_as<A: Answer + FromResult>(result: &ToolResult<'_>) -> Option<A> {
    read_answer(&to_raw_value(result).unwrap()).ok()
}

pub fn read<A: Answer + FromResult + std::fmt::Debug>(result: &ToolResult<'_>) -> String {
    format!("{:?}", read_as::<A>(result))
}

/// A step in which the application answers the last call, which is of this tool.
macro_rules! answers {
    ($tool:ident, $answer:expr) => {
        $crate::conformance::row::Step::Answers(|server, call| {
            let ide_mcp::ide::tool::ToolCall::$tool(call, _) = call else { panic!("{call:?}") };
            server.answer(call, &$answer).unwrap();
        })
    };
}
pub(crate) use answers;

/// Returns the request of a call.
fn request_of(call: &ToolCall) -> String {
    let shown = format!("{call:?}");
    let (tool, rest) = shown.split_once('(').unwrap();
    let (_, arguments) = rest.split_once("), ").unwrap();
    format!("{tool}({arguments}")
}

struct Run {
    editor: Editor,
    events: std::collections::VecDeque<ServerEvent>,
    texts: std::collections::VecDeque<String>,
    last: Option<ToolCall>,
    request: Option<CallId>,
    id: u32,
    lines: Vec<Line>,
}

impl Run {
    /// Attaches the client, unless the first of these steps does so.
    fn new(dialect: Dialect, offers: Offers, steps: &[Step]) -> Self {
        let mut tools = ToolSet::new();
        let handled: &[Tool] = match offers {
            Offers::All => &Tool::ALL,
            Offers::Nothing => &[],
            Offers::Context => &[Tool::GetOpenEditors],
            Offers::These(tools) => tools,
        };
        for tool in handled {
            tools = tools.handle(*tool);
        }
        let mut config =
            ServerConfig::new("editor", "1.0").policy(config().policy).tools(tools).with_dialect(dialect);
        config.settle = Some(std::time::Duration::ZERO);
        let mut initialize = INITIALIZE.to_owned();
        if matches!(offers, Offers::Context) {
            let review = PromptSpec::new("review", "Reviews a file")
                .argument(PromptArgument::required("path", "The file"));
            let context = Context::new()
                .prompt(review)
                .resource(ResourceSpec::new("notes://today", "today").mime_type("text/plain"))
                .template(ResourceTemplate::new("notes://{day}", "notes of a day"));
            config.mcp.context = context.into();
            config.mcp.instructions = Some("The editor has notes.".into());
            initialize =
                initialize.replace(r#""capabilities":{}"#, r#""capabilities":{"roots":{},"elicitation":{}}"#);
        }
        let mut editor = Editor::open(config);
        let attaches_itself =
            matches!(steps, [Step::ClientSends(text), ..] if text.contains(r#""method":"initialize""#));
        if !attaches_itself {
            for text in [&initialize, INITIALIZED, CONNECTED] {
                editor.receive(text);
            }
            editor.written();
        }
        Self {
            editor,
            events: Default::default(),
            texts: Default::default(),
            last: None,
            request: None,
            id: 4,
            lines: Vec::new(),
        }
    }

    fn steps(mut self, row: &str, steps: &[Step]) -> Vec<Line> {
        for step in steps {
            self.step(row, step);
        }
        assert!(self.events.is_empty(), "{row}: not expected: {:?}", self.events);
        assert!(self.texts.is_empty(), "{row}: not expected: {:?}", self.texts);
        self.lines
    }

    fn step(&mut self, row: &str, step: &Step) {
        match step {
            Step::ClientSends(text) => self.receive(text),
            Step::Calls(name, arguments) => {
                self.id += 1;
                self.receive(&call(self.id, name, arguments));
            }
            Step::AppGets(expected) => {
                let event = self.events.pop_front().unwrap_or_else(|| panic!("{row}: no event came"));
                let input = match event {
                    ServerEvent::Call { call, .. } => {
                        let input = request_of(&call);
                        self.last = Some(call);
                        input
                    }
                    ServerEvent::Direct { call, request, .. } => self.requested(call, &request),
                    ServerEvent::GetPrompt { call, prompt, .. } => self.requested(call, &prompt),
                    ServerEvent::ReadResource { call, resource, .. } => self.requested(call, &resource),
                    ServerEvent::Outcome { outcome, .. } => format!("{outcome:?}"),
                    event => shown(std::slice::from_ref(&event)).remove(0),
                };
                assert_eq!(input, *expected, "{row}");
                self.lines.push(Line::Event(input));
            }
            Step::Answers(answer) => {
                answer(&mut self.editor.server, self.last.take().unwrap());
                self.look();
            }
            Step::AnswersRequest(answer) => {
                answer(self.editor.server.call(self.request.unwrap()));
                self.look();
            }
            Step::Does(act) => {
                act(&mut self.editor);
                self.look();
            }
            Step::At(millis) => {
                let events = self.editor.at(*millis);
                self.events.extend(events);
                self.look();
            }
            Step::Wrote(expected) => assert_eq!(self.wrote(row), *expected, "{row}"),
            Step::Result(texts) => {
                let written = self.wrote(row);
                assert_eq!(written, self.result(texts, ""), "{row}");
            }
            Step::Failed(texts) => {
                let written = self.wrote(row);
                assert_eq!(written, self.result(texts, r#","isError":true"#), "{row}");
            }
            Step::Refused(code, reason) => {
                let input: Value = serde_json::from_str(&self.wrote(row)).unwrap();
                assert_eq!(
                    (&input["id"], &input["error"]["code"]),
                    (&self.id.into(), &(*code).into()),
                    "{row}"
                );
                let message = input["error"]["message"].as_str().unwrap();
                assert!(message.contains(reason), "{row}: {message}");
            }
        }
    }

    fn requested(&mut self, call: CallId, request: &impl std::fmt::Debug) -> String {
        self.request = Some(call);
        format!("{request:?}")
    }

    fn receive(&mut self, text: &str) {
        self.lines.push(Line::In(text.into()));
        let events = self.editor.receive(text);
        self.events.extend(events);
        self.look();
    }

    fn look(&mut self) {
        let texts = self.editor.texts();
        self.texts.extend(texts);
    }

    fn wrote(&mut self, row: &str) -> String {
        let text = self.texts.pop_front().unwrap_or_else(|| panic!("{row}: nothing was written"));
        self.lines.push(Line::Out(text.clone()));
        text
    }

    fn result(&self, texts: &[&str], error: &str) -> String {
        let block =
            |text: &&str| format!(r#"{{"type":"text","text":{}}}"#, serde_json::to_string(text).unwrap());
        let blocks: Vec<String> = texts.iter().map(block).collect();
        format!(
            r#"{{"jsonrpc":"2.0","id":{},"result":{{"content":[{}]{error}}}}}"#,
            self.id,
            blocks.join(",")
        )
    }
}

/// Returns an editor, and an agent that works in `/w` and shows forms.
fn attached_agent() -> Pair<Server, Client> {
    let policy = ide_mcp::ide::Policy::new(1, ide_mcp::ide::Auth::Disabled);
    let server = ServerConfig::new("editor", "1").policy(policy);
    let mut client = ClientConfig::new(Implementation::new("agent", "1"), 1, None);
    client.mcp.roots = Some(vec![Root::new("file:///w")]);
    client.mcp.elicitation = true;
    let client = Client::new(client, Random::new(1).source(), SessionId::new(2), Time::ZERO).unwrap();
    let mut server = Server::new(server);
    let conn = server.connect(Time::ZERO);
    let mut pair = Pair::joined(server, conn, client, Time::ZERO);
    pair.settle();
    pair.client_events.clear();
    pair
}

fn request_to_agent(method: &str, params: &str) -> Vec<Line> {
    let mut pair = attached_agent();
    let params: &RawValue = serde_json::from_str(params).unwrap();
    pair.server.agent_mut(pair.conn.into()).request(method, Some(params), Timeout::Never).unwrap();
    let request = pass(&mut pair.server, Time::ZERO, usize::MAX).written_bytes();
    pair.client.feed(Time::ZERO, &request);
    let mut lines = vec![Line::In(unframed(&request))];
    let passed = pass_with(&mut pair.client, Time::ZERO, usize::MAX, |client, event| {
        let ClientEvent::Form { call, form } = event else { panic!("{event:?}") };
        lines.push(Line::Event(format!("{form:?}")));
        client.answer_form(*call, &FormAnswer::Declined).unwrap();
    });
    lines.push(Line::Out(unframed(&passed.written_bytes())));
    lines
}

/// Returns the message that the agent sends, and the event that this answer leads to.
fn message_from_agent(act: fn(&mut Client), answer: &str) -> (String, String) {
    let mut pair = attached_agent();
    act(&mut pair.client);
    let written = unframed(&pass(&mut pair.client, Time::ZERO, usize::MAX).written_bytes());
    let mut received = String::new();
    if !answer.is_empty() {
        pair.client.feed(Time::ZERO, &frames::plain(0x81, answer.as_bytes()));
        let events = pass(&mut pair.client, Time::ZERO, usize::MAX).events;
        let [ClientEvent::Outcome { outcome, .. }] = &events[..] else {
            panic!("no outcome of {written}: {events:?}")
        };
        received = format!("{outcome:?}");
    }
    (written, received)
}

/// Returns the text of one frame.
fn unframed(bytes: &[u8]) -> String {
    frames::read(bytes).remove(0).text()
}

fn read_by_an_agent(method: &str, params: &str) -> String {
    let mut pair = attached_agent();
    let params: &RawValue = serde_json::from_str(params).unwrap();
    pair.server.agent_mut(pair.conn.into()).notify(method, Some(params)).unwrap();
    pair.settle();
    assert_eq!(pair.client_events.len(), 1);
    format!("{:?}", pair.client_events[0])
}
