//! What the seed decides before a run: the participants, the kind of network, and the limits.

use std::time::Duration;

use ide_mcp::Keepalive;
use ide_mcp::ide::discovery::AuthToken;
use ide_mcp::ide::tool::{Tool, ToolSet};
use ide_mcp::{
    ide::{Auth, AuthFailure, ClientConfig, Dialect, Policy, ServerConfig},
    mcp::{
        Context, Form, FormField, Forward, Implementation, PromptArgument, PromptSpec, ProtocolVersion,
        ResourceTemplate, Root,
    },
    testing::Random,
};

use super::client_messages::{PORT, TOKEN};

/// The quality of the network between the two ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quality {
    /// Everything arrives at once and whole.
    Clean,
    /// Delays of some milliseconds, and pieces.
    Usual,
    /// Long delays and stalls, and lines that go dead.
    Bad,
    /// All of that, all the time.
    Awful,
}

/// The decisions of a seed before the run. The seed makes all others step by step.
#[derive(Clone, Debug)]
pub struct Plan {
    pub steps: usize,
    pub agents: usize,
    pub quality: Quality,
    pub dialect: Dialect,
    /// True if texts can be as long as a file. The pieces are large then.
    pub big: bool,
    /// True if a clock sometimes shows an earlier time than before.
    pub shaky: bool,
    /// True if loops give back memory after every turn.
    pub trims: bool,
    /// True if both ends ping a silent peer. Their pings happen at the same times.
    pub pings: bool,
    pub auth_failure: AuthFailure,
    pub connections: usize,
    pub outsiders: usize,
    pub mark: usize,
    pub open_calls: usize,
    pub open_bytes: usize,
    pub requests: usize,
    pub call_deadline: Duration,
    pub request_timeout: Duration,
    pub debounce: Duration,
    /// The time for which agents ignore pushes after the answer to `tools/list`, as the real client
    /// does. It is set only in runs without delays or clock jumps, which an editor cannot detect.
    pub ignores_for: Option<Duration>,
    /// True if a person decides about each client.
    pub asks: bool,
}

/// How an agent answers the question for its folders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Folders {
    /// The agent declares none.
    Undeclared,
    /// The session answers at once.
    Session,
    /// The application answers: at once, late, never, with an error, or with nonsense.
    Application,
}

/// The limit of a message. Honest messages are far below it.
pub const MESSAGE: usize = 512 * 1024;

impl Plan {
    pub fn of(random: &mut Random) -> Self {
        let quality = [
            Quality::Clean,
            Quality::Clean,
            Quality::Usual,
            Quality::Usual,
            Quality::Bad,
            Quality::Bad,
            Quality::Awful,
        ][random.below(7)];
        let small = random.one_in(3);
        let ignores_pushes = quality == Quality::Clean && random.one_in(2);
        let ignored_millis = 40 + u64::try_from(random.below(1_461)).unwrap_or(0);
        Self {
            steps: 20 + random.below(60),
            agents: 1 + random.below(4),
            quality,
            dialect: match random.below(8) {
                0 => Dialect::JetBrains,
                1 => Dialect::SnakeCase,
                2 => Dialect::Obsidian,
                _ => Dialect::VsCode,
            },
            big: random.one_in(6),
            shaky: random.one_in(3),
            trims: random.one_in(4),
            pings: true,
            auth_failure: match random.one_in(4) {
                true => AuthFailure::CloseAfterUpgrade,
                false => AuthFailure::Unauthorized,
            },
            connections: if random.one_in(5) { 2 } else { 16 },
            outsiders: if small { 3 } else { 8 },
            mark: if small { 16 * 1024 } else { 256 * 1024 },
            open_calls: if small { 3 } else { 256 },
            // Room for a few diffs, or for one that is big.
            open_bytes: if small { 1024 } else { 32 * 1024 * 1024 },
            requests: if small { 4 } else { 256 },
            call_deadline: Duration::from_secs(if random.one_in(2) { 2 } else { 30 }),
            // The shortest is below the settle time, in which forms wait.
            request_timeout: Duration::from_secs([1, 3, 60][random.below(3)]),
            debounce: Duration::from_millis(if random.one_in(5) { 0 } else { 50 }),
            ignores_for: ignores_pushes.then(|| Duration::from_millis(ignored_millis)),
            asks: random.one_in(4),
        }
    }

    /// Makes the run orderly: no timer is due when bytes arrive, and no message must wait for room.
    pub const fn keep_orderly(&mut self) {
        self.pings = false;
        self.mark = 8 * 1024 * 1024;
    }

    /// Returns the number of calls that a client can have open, and the number of their bytes.
    pub const fn room(&self) -> (usize, usize) {
        (self.open_calls, self.open_bytes)
    }

    /// Returns the settings of the editor.
    pub fn server(&self) -> ServerConfig {
        let mut policy = Policy::new(PORT, Auth::Token(token()));
        policy.auth_failure = self.auth_failure;
        let mut server =
            ServerConfig::new("editor", "1").policy(policy).tools(self.tools(0)).with_dialect(self.dialect);
        server.mcp.context = Context::new()
            .prompt(PromptSpec::new("prompt", "").argument(PromptArgument::required("mark", "")))
            .template(ResourceTemplate::new("mark:{mark}", "mark"))
            .into();
        server.asks_for_consent = self.asks;
        server.ws.message = MESSAGE;
        server.ws.outgoing = self.mark;
        server.mcp.call_deadline = self.call_deadline;
        server.mcp.request_timeout = self.request_timeout;
        server.mcp.limits.open_calls = self.open_calls;
        server.mcp.limits.open_bytes = self.open_bytes;
        server.mcp.limits.requests = self.requests;
        if !self.pings {
            (server.ws.keepalive, server.mcp.keepalive) = (None, None);
        }
        server.max_clients = self.connections;
        server.max_pending_connections = self.outsiders;
        server.debounce = self.debounce;
        server.debounce_max = self.debounce * 4;
        server
    }

    /// Returns the settings of an agent that offers this version, declares these folders, and shows
    /// forms or not.
    pub fn client(&self, version: ProtocolVersion, folders: Folders, shows_forms: bool) -> ClientConfig {
        let mut config = ClientConfig::new(Implementation::new("agent", "1"), PORT, Some(token()));
        config.dialect = self.dialect;
        config.pid = Some(7);
        config.ws.outgoing = self.mark;
        config.mcp.version = version;
        config.mcp.request_timeout = self.request_timeout;
        config.mcp.call_deadline = self.call_deadline;
        let mut forwarded = vec!["x/ask".into()];
        match folders {
            Folders::Undeclared => {}
            Folders::Session => config.mcp.roots = Some(vec![Root::new("file:///w/agent")]),
            Folders::Application => {
                config.mcp.capabilities = serde_json::from_str(r#"{"roots":{"listChanged":true}}"#).ok();
                forwarded.push("roots/list".into());
            }
        }
        config.mcp.forward = Forward::Methods(forwarded);
        config.mcp.elicitation = shows_forms;
        config.mcp.limits.requests = self.requests;
        if self.dialect == Dialect::JetBrains {
            config.mcp.keepalive = Some(Keepalive::JSON_RPC);
        }
        if !self.pings {
            (config.ws.keepalive, config.mcp.keepalive) = (None, None);
        }
        config
    }

    /// Returns the tools that the editor offers in this edition.
    pub fn tools(&self, edition: u64) -> ToolSet {
        ToolSet::new()
            .handle(Tool::OpenDiff)
            .handle(Tool::GetDiagnostics)
            .handle(Tool::OpenFile)
            .custom("countLines", "Counts lines", r#"{"type":"object"}"#)
            .custom(format!("edition{edition}"), "Another", r#"{"type":"object"}"#)
    }

    /// Returns the length of a text that an agent proposes.
    pub fn text_len(&self, random: &mut Random) -> usize {
        match random.below(6) {
            0 if self.big => 60_000,
            1 if self.big => 20_000,
            2 | 3 => 500,
            _ => 10,
        }
    }
}

/// Returns a form with this mark, which a fitting answer repeats.
pub fn form(mark: &str) -> Form {
    let number = FormField::integer("n").minimum(1.0).maximum(9.0);
    Form::new(mark).field(FormField::text("mark").required()).field(number)
}

pub fn token() -> AuthToken {
    AuthToken::from_text(TOKEN).unwrap()
}
