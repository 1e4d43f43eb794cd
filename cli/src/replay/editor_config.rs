//! Infers how the recorded editor was configured: its name, its tools and its token.

use crate::replay::script::{Received, Script, field};
use crate::support::message::{Kind, Message, member, read_member};
use crate::support::transcript::Header;
use crate::support::units::Unit;
use ide_mcp::ide::discovery::AuthToken;
use ide_mcp::ide::tool::{Tool, ToolSet};
use ide_mcp::ide::{Auth, Dialect, Policy, ServerConfig};
use ide_mcp::mcp::{Context, Forward, Implementation, LogLevel, ToolSpec};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

pub(crate) const TOOLS_CHANGED: &str = "notifications/tools/list_changed";

/// How to set up the server, and the tools of later changes.
#[derive(Clone, Debug)]
pub(crate) struct EditorConfig {
    pub(crate) server: ServerConfig,
    later: VecDeque<ToolSet>,
}

impl EditorConfig {
    pub(crate) fn infer(header: Option<&Header>, script: &Script) -> Self {
        let answers = Answers::new(script);
        let lists = answers.lists();
        let dialect = lists.first().map(|list| dialect_of(list)).unwrap_or_default();
        let mut lists: VecDeque<ToolSet> = lists.iter().map(|list| tools(list, dialect)).collect();
        let tools = answers.with_unlisted(lists.pop_front().unwrap_or_default(), dialect);
        let server = ServerConfig::new(answers.info().name, answers.info().version)
            .policy(policy(header, script))
            .tools(tools);
        let mut server = server.with_dialect(dialect);
        let greeting = answers.first("initialize");
        server.mcp.instructions = read_member(greeting, "instructions");
        declare(&mut server, member(greeting, "capabilities").as_deref());
        server.mcp.forward = Forward::Methods(answers.forwarded());
        // Ask for the roots only if the recorded editor did.
        server.ask_for_roots = script.sent_messages().any(|(_, text)| {
            let asks = |sent: &Message| sent.id.is_some() && sent.method.as_deref() == Some("roots/list");
            Message::read(text).iter().any(asks)
        });
        let mut server = server;
        // The recorded pushes are debounced already.
        server.debounce = Duration::ZERO;
        server.debounce_max = Duration::ZERO;
        Self { server, later: lists }
    }

    /// Returns the tools after the next change.
    pub(crate) fn next_tools(&mut self) -> Option<ToolSet> {
        self.later.pop_front()
    }
}

/// Infers the policy: the editor's token, or no authentication if the editor accepted an agent without it.
fn policy(header: Option<&Header>, script: &Script) -> Policy {
    let heads = |conn: &u32| {
        script.received.get(conn).and_then(|received| match received.first() {
            Some(Received::Head(head)) => Some(head.as_slice()),
            _ => None,
        })
    };
    let offered: Vec<(Option<String>, bool)> = script
        .expected
        .iter()
        .filter_map(|(conn, sent)| {
            let token = field(heads(conn)?, "x-claude-code-ide-authorization");
            let answer = sent.first().map(|expected| &expected.unit);
            let is_accepted = script.messages_only
                || matches!(answer, Some(Unit::Head(head)) if head.starts_with(b"HTTP/1.1 101"));
            Some((token, is_accepted))
        })
        .collect();
    let first = script.received.keys().find_map(heads);
    let named = first.and_then(|head| field(head, "host"));
    let named = named.and_then(|host| host.rsplit_once(':').and_then(|(_, port)| port.parse().ok()));
    let port = header.map(|header| header.port).or(named).unwrap_or_default();
    let token = match header {
        Some(header) => header.token.clone(),
        None => offered.iter().find_map(|(token, _)| token.clone()),
    };
    let open = offered.iter().any(|(offered, is_accepted)| *is_accepted && *offered != token);
    match token.filter(|_| !open).and_then(|token| AuthToken::from_text(token).ok()) {
        Some(token) => Policy::new(port, Auth::Token(token)),
        None => Policy::new(port, Auth::Disabled),
    }
}

fn declare(server: &mut ServerConfig, capabilities: Option<&RawValue>) {
    let all: Option<BTreeMap<String, Box<RawValue>>> =
        capabilities.and_then(|all| serde_json::from_str(all.get()).ok());
    let (mut context, mut has_resources) = (Context::new(), false);
    for (name, value) in all.unwrap_or_default() {
        // The server writes what this library declares by itself; anything else is copied from the recording.
        let is_ours = value.get() == r#"{"listChanged":true}"#;
        match name.as_str() {
            "tools" => {
                server.mcp.tools_list_changed = read_member(Some(&value), "listChanged").unwrap_or(false);
            }
            "prompts" if is_ours => context = context.prompts([]),
            "resources" if is_ours => (context, has_resources) = (context.resources([]), true),
            "logging" => server.mcp.logging = Some(LogLevel::Info),
            _ => {
                server.mcp.capabilities.insert(name.into(), value.get().to_owned().into());
            }
        }
    }
    server.mcp.context = context.into();
    server.tool_resources = has_resources;
}

/// The requests of the agents, and the answers to them.
struct Answers {
    all: Vec<(Message, Message)>,
}

impl Answers {
    fn new(script: &Script) -> Self {
        let mut open: BTreeMap<(u32, String), VecDeque<Message>> = BTreeMap::new();
        for (conn, text) in script.received_messages() {
            for message in Message::read(text) {
                if let Some(Kind::Request { id, .. }) = message.kind() {
                    open.entry((conn, id.to_owned())).or_default().push_back(message);
                }
            }
        }
        let mut all = Vec::new();
        for (conn, text) in script.sent_messages() {
            for answer in Message::read(text) {
                let Some(Kind::Answer { id }) = answer.kind() else { continue };
                let request = open.get_mut(&(conn, id.to_owned())).and_then(VecDeque::pop_front);
                all.extend(request.map(|request| (request, answer)));
            }
        }
        Self { all }
    }

    fn to<'a>(&'a self, method: &'a str) -> impl Iterator<Item = (&'a Message, &'a Message)> {
        let pairs = self.all.iter().filter(move |(request, _)| request.method.as_deref() == Some(method));
        pairs.map(|(request, answer)| (request, answer))
    }

    fn first(&self, method: &str) -> Option<&RawValue> {
        self.all
            .iter()
            .filter(|(request, _)| request.method.as_deref() == Some(method))
            .find_map(|(_, answer)| answer.result.as_deref())
    }

    fn info(&self) -> Implementation {
        read_member(self.first("initialize"), "serverInfo")
            .unwrap_or_else(|| Implementation::new("editor", "0"))
    }

    /// Returns the different lists of tools, in the order of the answers.
    fn lists(&self) -> Vec<Specs> {
        let mut texts: Vec<&str> = Vec::new();
        for (_, answer) in self.to("tools/list") {
            let text = answer.result.as_deref().map(RawValue::get).unwrap_or_default();
            if texts.last() != Some(&text) {
                texts.push(text);
            }
        }
        texts.into_iter().map(specs).collect()
    }

    /// Adds the tools that the editor handles but does not list.
    fn with_unlisted(&self, tools: ToolSet, dialect: Dialect) -> ToolSet {
        let names = self.to("tools/call").filter(|(_, answer)| answer.result.is_some());
        let names = names.filter_map(|(call, _)| read_member::<String>(call.params.as_deref(), "name"));
        names.fold(tools, |tools, name| match Tool::from_name(&name) {
            Some(tool) if tools.names(dialect).all(|listed| listed != name) && !is_built_in(tool) => {
                tools.handle_unlisted(tool)
            }
            _ => tools,
        })
    }

    /// Returns the methods that the application served, which are those that a server alone would answer differently.
    fn forwarded(&self) -> Vec<std::borrow::Cow<'static, str>> {
        const OWN: [&str; 5] = ["initialize", "ping", "server/discover", "tools/list", "tools/call"];
        let mut methods = Vec::new();
        for (request, answer) in &self.all {
            let method = request.method.clone().unwrap_or_default();
            let refused = answer.error.as_ref().is_some_and(|fault| fault.code == -32601);
            let empty = answer.result.as_ref().is_some_and(|result| result.get().ends_with(":[]}"));
            if !refused && !empty && !OWN.contains(&method.as_str()) {
                methods.push(method.into());
            }
        }
        methods
    }
}

/// The entries of a list of tools.
type Specs = Vec<Box<RawValue>>;

fn specs(list: &str) -> Specs {
    #[derive(Deserialize)]
    struct List {
        tools: Specs,
    }
    serde_json::from_str::<List>(list).map(|list| list.tools).unwrap_or_default()
}

/// Returns the dialect that lists most of these tools with exactly these specifications. If several list as many, the
/// first of them wins: it is the one that the real client understands.
fn dialect_of(listed: &[Box<RawValue>]) -> Dialect {
    let known = |dialect: Dialect| listed.iter().filter(|spec| known(dialect, spec).is_some()).count();
    Dialect::ALL.into_iter().rev().max_by_key(|dialect| known(*dialect)).unwrap_or_default()
}

/// Returns the tools of a list: those that the dialect lists with exactly this specification, and the application's
/// own.
fn tools(listed: &[Box<RawValue>], dialect: Dialect) -> ToolSet {
    listed.iter().fold(ToolSet::new(), |tools, spec| {
        let name: String = read_member(Some(spec), "name").unwrap_or_default();
        match known(dialect, spec) {
            // `openDiff` has added this tool already.
            Some(_) if tools.names(dialect).any(|listed| listed == name) => tools,
            Some(tool) => tools.handle(tool),
            None => {
                let description: String = read_member(Some(spec), "description").unwrap_or_default();
                let schema = member(Some(spec), "inputSchema").map(|schema| schema.get().to_owned());
                tools.custom(name, description, schema.unwrap_or_default())
            }
        }
    })
}

/// Returns the tool that this dialect lists with exactly this specification, if there is one.
fn known(dialect: Dialect, listed: &RawValue) -> Option<Tool> {
    let tool = Tool::from_name(&read_member::<String>(Some(listed), "name")?)?;
    let spec: ToolSpec = tool.spec(dialect);
    (serde_json::to_string(&spec).ok()? == listed.get()).then_some(tool)
}

const fn is_built_in(tool: Tool) -> bool {
    matches!(tool, Tool::CloseTab | Tool::CloseAllDiffTabs | Tool::SetPermissionMode)
}
