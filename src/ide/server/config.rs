//! How you describe an editor.

use super::Filter;
use crate::Keepalive;
use crate::ide::discovery::{AuthToken, LockFile};
use crate::ide::tool::ToolSet;
use crate::ide::{Auth, ContentLimits, Dialect, Policy};
use crate::mcp::{self, Context, Implementation};
use crate::ws;
use alloc::{string::String, sync::Arc, vec::Vec};
use core::time::Duration;

/// Describes your editor: its name, its folders, what it offers to agents, and every limit.
///
/// A [`Server`](crate::ide::Server) and the servers of the adapters all start from it. The methods set what most
/// editors need; each other setting is a field.
///
/// ```
/// use ide_mcp::ide::tool::Tool;
/// use ide_mcp::ide::{Filter, ServerConfig};
///
/// let mut editor = ServerConfig::new("My Editor", "1.0")
///     .folder("/home/me/project")
///     .tools([Tool::OpenDiff])
///     .filter(Filter::secrets());
/// editor.max_clients = 4;
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
#[must_use = "a server starts from the description"]
pub struct ServerConfig {
    /// The open folders. Agents that work in one of them, or below, find the editor. They are only
    /// [published](Self::lock_file): answer `getWorkspaceFolders` yourself.
    pub folders: Vec<String>,
    /// Who gets in.
    pub policy: Policy,
    /// The tools that the editor offers.
    pub tools: Arc<ToolSet>,
    /// Whether an agent can also read `getCurrentSelection`, `getOpenEditors`, `getDiagnostics` and
    /// `getWorkspaceFolders`, if you handle them, as [resources](crate::ide::tool::Tool::resource). You get a call of
    /// the tool, and the text of your answer becomes the text of the resource. Default true: of these tools the real
    /// client shows its model only `getDiagnostics`, but it lets the model read resources by itself (measured).
    ///
    /// Other resources, and prompts, go into [`mcp::ServerConfig::context`]. The tools are not resources if you answer
    /// `resources/list` or `resources/read` yourself: you [forward](mcp::Forward) one of them, or have `resources` in
    /// [`mcp::ServerConfig::capabilities`] and none in the context.
    pub tool_resources: bool,
    /// Whether to ask each client that declares roots which folders it works in:
    /// [`ServerEvent::RootsChanged`](crate::ide::ServerEvent::RootsChanged). Default true.
    pub ask_for_roots: bool,
    /// Set this if a person should decide about each client that has introduced itself:
    /// [`ServerEvent::ConsentPending`](crate::ide::ServerEvent::ConsentPending). Default false.
    ///
    /// While the client waits, it can finish its handshake and read the lists. It gets no pushes, and its calls wait:
    /// deadlines, cancellations and limits still apply to them, and after the consent you get those that are left. The
    /// process id and the folders of the client may come before
    /// ([`IdeConnected`](crate::ide::ServerEvent::IdeConnected),
    /// [`RootsChanged`](crate::ide::ServerEvent::RootsChanged)). Do not confuse this with
    /// [`AdmissionPending`](crate::ide::ServerEvent::AdmissionPending), which comes before the connection opens.
    ///
    /// No program can nag until the person gives in: you get this event for one client at a time, and the others wait.
    /// If you refuse a client with [`disconnect`](crate::ide::AgentMut::disconnect), no question comes for 10 s; each
    /// further refusal doubles this, up to 5 min, until [`allow`](crate::ide::AgentMut::allow) resets it. If a client
    /// leaves before the answer, the pause starts over with its present length, at least 10 s. It does not double,
    /// because a person who restarts an agent has refused nothing. You may allow a
    /// [waiting](crate::ide::Agent::waits_for_consent) client before its event comes.
    pub asks_for_consent: bool,
    /// The dialect of the sessions. Default [`Dialect::VsCode`], which the real client understands. Set another one
    /// with [`with_dialect`](ServerConfig::with_dialect), which also sets its pings, or with
    /// [`for_dialect`](ServerConfig::for_dialect), which also sets its rules for clients.
    pub dialect: Dialect,
    /// Who the editor is, the timeouts of calls, and the limits of a session.
    pub mcp: mcp::ServerConfig,
    /// The limits of the contents of answers and pushes.
    pub content_limits: ContentLimits,
    /// The longest time that a client ignores pushes after the latest of `initialized`, the answer to its `tools/list`
    /// and our `tools/list_changed`: the *settle time*. Mentions wait for it, and the selection is sent again at its
    /// end. Default `None`: what we know of the client, or 1.6 s for an unknown one.
    pub settle: Option<Duration>,
    /// The limits of a connection. Default those of [`ws::Limits`], but 16 MiB for a message: four times the largest
    /// file that a person would review as a change.
    pub ws: ws::Limits,
    /// How many clients may be attached at once. Connections [for models](crate::ide::MODELS_TARGET) count, because
    /// each may hold as much memory as an agent. Default 16: editors have one to five agents, and each may have a
    /// model. A further client with the token gets a 503.
    pub max_clients: usize,
    /// How many connections may be open without being accepted yet. They do not count towards
    /// [`max_clients`](ServerConfig::max_clients). Default 8. To make room for one more, the server closes the oldest
    /// of them without an HTTP answer, however young it is: a flood of 2,400 connections a second leaves each 3 ms for
    /// its request.
    ///
    /// A connection that has ended counts towards neither limit, even while its last bytes are written.
    pub max_pending_connections: usize,
    /// How many bytes the messages of all open calls of all clients may have together. Default 128 MiB: four times the
    /// limit of one client ([`open_bytes`](crate::rpc::SessionLimits::open_bytes)). A call beyond this is answered with
    /// -32603, and so is one beyond [`open_calls`](crate::rpc::SessionLimits::open_calls), the limit of each client
    /// (256).
    ///
    /// Half of it is reserved in equal shares for [`max_clients`](ServerConfig::max_clients) clients (4 MiB each by
    /// default), so that no client can use up what another needs. The other half is first come, first served.
    pub open_bytes: usize,
    /// How long the selection must stay unchanged before it is sent. Default 50 ms; with zero, each selection is sent
    /// at once.
    pub debounce: Duration,
    /// The longest time that a selection which keeps changing is held back. Default 200 ms.
    pub debounce_max: Duration,
    /// How long a mention waits for a client that accepts it. Default 30 s: clients take up to 20 s to start
    /// (measured).
    pub mention_timeout: Duration,
    /// Hides files from agents. By default everything passes.
    pub filter: Filter,
}

/// The largest message that a client may send, in bytes.
const MESSAGE: usize = 16 * 1024 * 1024;

impl ServerConfig {
    /// Returns how many bytes may wait in the send buffer of a client before its answers are replaced by errors: as
    /// many as its open calls may have, but at least [`ws::Limits::outgoing`]. So the answers to 256 calls are bounded
    /// as the calls are, even if the application writes long answers.
    #[must_use]
    pub const fn max_unwritten(&self) -> usize {
        let (open, mark) = (self.mcp.limits.open_bytes, self.ws.outgoing);
        if open > mark { open } else { mark }
    }

    /// Returns the maximum number of bytes that a server with these settings holds for its clients, apart from one
    /// answer for each client and the constant costs of a connection.
    ///
    /// | held | one client | 16 clients |
    /// | --- | --: | --: |
    /// | received and not yet delivered: the [`message`](crate::ws::Limits::message) in progress, one more message, [`outgoing`](crate::ws::Limits::outgoing) bytes, and the last piece that was fed | 40.25 MiB | 644 MiB |
    /// | the messages of open calls: [`rpc::SessionLimits::open_bytes`](crate::rpc::SessionLimits::open_bytes), [`ServerConfig::open_bytes`] | 32 MiB | 128 MiB |
    /// | unwritten output: [`ServerConfig::max_unwritten`] | 32 MiB | 512 MiB |
    ///
    /// A growing buffer may reserve up to twice as much.
    ///
    /// A client that is gone does not count: what it has not read is kept for at most
    /// [`drain`](crate::ws::Limits::drain) longer, in addition to its successor's.
    #[must_use]
    pub const fn max_held(&self) -> usize {
        let each = self.ws.max_received().saturating_add(self.max_unwritten());
        each.saturating_mul(self.max_clients).saturating_add(self.open_bytes)
    }

    /// Describes an editor with this name and version, which agents show to a person.
    ///
    /// So far it has no folder, offers no tools, and accepts no client. With an adapter, go on with
    /// [`folder`](Self::folder) and [`tools`](Self::tools): the server chooses the port and generates the token.
    /// Without one, pass both to [`listening`](Self::listening).
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self {
            folders: Vec::new(),
            policy: Policy::new(0, Auth::Generated),
            tools: Arc::default(),
            tool_resources: true,
            ask_for_roots: true,
            asks_for_consent: false,
            dialect: Dialect::VsCode,
            mcp: mcp::ServerConfig::new(Implementation::new(name, version)),
            content_limits: ContentLimits::default(),
            settle: None,
            ws: ws::Limits { message: MESSAGE, ..ws::Limits::default() },
            max_clients: 16,
            max_pending_connections: 8,
            open_bytes: 128 * 1024 * 1024,
            debounce: Duration::from_millis(50),
            debounce_max: Duration::from_millis(200),
            mention_timeout: Duration::from_secs(30),
            filter: Filter::new(),
        }
    }

    /// Adds an open folder. Agents that work in it, or below, find the editor.
    ///
    /// The `start` of an adapter resolves the folder, so `"."` is the working directory, and publishes the forms that
    /// `ide_mcp_lockfile::workspace_folders` describes. Without an adapter it is published as you write it: pass what
    /// that function returns.
    pub fn folder(mut self, folder: impl Into<String>) -> Self {
        self.folders.push(folder.into());
        self
    }

    /// Adds open folders, as [`folder`](Self::folder) does.
    pub fn folders<F: Into<String>>(mut self, folders: impl IntoIterator<Item = F>) -> Self {
        self.folders.extend(folders.into_iter().map(Into::into));
        self
    }

    /// Accepts clients that connect to this port of 127.0.0.1, where you listen, and send this token. The other rules
    /// of the [policy](Self::policy) stay. An adapter sets the port of its listener itself.
    pub fn listening(mut self, port: u16, token: AuthToken) -> Self {
        self.policy.port = port;
        self.auth(Auth::Token(token))
    }

    /// Demands this proof of a client, instead of the token that an adapter generates. If an earlier process has
    /// already published the token, usually because you listen on its port again, pass [`Auth::Resumed`]: an adapter
    /// then accepts only clients of the same user, and generates a fresh token where it cannot tell whose they are.
    pub fn auth(mut self, auth: Auth) -> Self {
        self.policy.auth = auth;
        self
    }

    /// Accepts the clients that this policy accepts. This replaces the rules that [`for_dialect`](Self::for_dialect)
    /// sets, so call `policy` first.
    pub fn policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// Offers these tools. By default there are none.
    pub fn tools(mut self, tools: impl Into<ToolSet>) -> Self {
        self.tools = Arc::new(tools.into());
        self
    }

    /// Offers these prompts and resources. By default there are only the [resources of the
    /// tools](Self::tool_resources).
    pub fn context(mut self, context: impl Into<Arc<Context>>) -> Self {
        self.mcp.context = context.into();
        self
    }

    /// Gives the model these instructions, which the real client passes on (measured). By default there are none.
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.mcp.instructions = Some(instructions.into());
        self
    }

    /// Filters all content that leaves the editor. By default everything passes.
    pub fn filter(mut self, filter: Filter) -> Self {
        self.filter = filter;
        self
    }

    /// Makes each agent wait for a person's [consent](Self::asks_for_consent). By default an agent with the token is
    /// attached at once.
    pub const fn ask_for_consent(mut self) -> Self {
        self.asks_for_consent = true;
        self
    }

    /// Returns the lock file that agents find this editor by, with its [folders](Self::folders), name and token.
    ///
    /// `pid` is the process of the editor: when it ends, agents delete the file. The `start` of an adapter writes the
    /// file; otherwise `ide_mcp_lockfile::LockDir::publish` does it for you.
    ///
    /// The file contains the token. If you write it yourself, listen first. Then write it under a temporary name with
    /// mode 0600, in a directory with mode 0700, and rename it.
    #[must_use]
    pub fn lock_file(&self, pid: u32) -> LockFile {
        let token = self.policy.auth.token().cloned();
        LockFile::new(pid, self.folders.clone(), self.mcp.info.name.clone(), token)
    }

    /// Sets the dialect of the sessions as [`with_dialect`](Self::with_dialect) does, and accepts clients as the
    /// editors of this dialect do. This changes two rules of the policy: whether the sub-protocol is required (if it
    /// already is, it stays so), and how a wrong token is answered. The table of [`Dialect`] has the values.
    /// [`Dialect::JetBrains`] and [`Dialect::SnakeCase`] are stricter than the default, and refuse opencode, which
    /// offers no sub-protocol (measured).
    pub fn for_dialect(mut self, dialect: Dialect) -> Self {
        let (rules, policy) = (dialect.rules(), &mut self.policy);
        policy.subprotocol_required |= rules.subprotocol_required;
        policy.auth_failure = rules.auth_failure;
        self.with_dialect(dialect)
    }

    /// Sets the dialect of the sessions, and its [JSON-RPC pings](Keepalive::JSON_RPC) if it has them and you have
    /// configured none.
    pub fn with_dialect(mut self, dialect: Dialect) -> Self {
        self.dialect = dialect;
        if dialect.rules().rpc_ping {
            self.mcp.keepalive.get_or_insert(Keepalive::JSON_RPC);
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listening_keeps_the_rules_of_the_dialect() {
        let token = AuthToken::from_text("550e8400-e29b-41d4-a716-446655440000").unwrap();
        let config = || ServerConfig::new("editor", "1");
        let before = config().listening(1, token.clone()).for_dialect(Dialect::JetBrains);
        let after = config().for_dialect(Dialect::JetBrains).listening(1, token);
        for config in [before, after] {
            assert!(config.policy.subprotocol_required && config.policy.port == 1);
            assert!(matches!(config.policy.auth, Auth::Token(_)));
        }
    }

    #[test]
    fn unwritten_bytes_get_the_larger_of_two_limits() {
        let policy = Policy::new(1, Auth::Disabled);
        let mut config = ServerConfig::new("editor", "1").policy(policy);
        for (open, mark, expected) in [(5, 7, 7), (7, 5, 7), (7, 7, 7)] {
            (config.mcp.limits.open_bytes, config.ws.outgoing) = (open, mark);
            assert_eq!(config.max_unwritten(), expected, "{open} and {mark}");
        }
    }
}
