//! The description of an editor.

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
    /// The open folders. An agent finds the editor when it works in one of them or below. They are only
    /// [published](Self::lock_file): the answer to `getWorkspaceFolders` is yours.
    pub folders: Vec<String>,
    /// The decision about each client that wants to attach.
    pub policy: Policy,
    /// The tools that the editor offers.
    pub tools: Arc<ToolSet>,
    /// True if each of the tools `getCurrentSelection`, `getOpenEditors`, `getDiagnostics` and
    /// `getWorkspaceFolders` that the editor handles can also be read as a
    /// [resource](crate::ide::tool::Tool::resource). A request for the resource comes as a call of the tool,
    /// and the text of the answer is the text of the resource. Default true: the real client lets its
    /// model read resources by itself, and shows its model only `getDiagnostics` of these tools
    /// (measured).
    ///
    /// Other resources and prompts are part of [`mcp::ServerConfig::context`]. There are no resources of
    /// tools if the application answers `resources/list` or `resources/read` itself: it
    /// [forwards](mcp::Forward) one of them, or has `resources` in
    /// [`mcp::ServerConfig::capabilities`] and none in the context.
    pub tool_resources: bool,
    /// True if the editor asks each client that declares roots for the folders in which it works:
    /// [`ServerEvent::RootsChanged`](crate::ide::ServerEvent::RootsChanged). Default true.
    pub ask_for_roots: bool,
    /// True if a person decides about each client that has introduced itself:
    /// [`ServerEvent::ConsentPending`](crate::ide::ServerEvent::ConsentPending). Default false.
    ///
    /// The handshake and the lists go on while the client waits. It receives no push, and its calls wait: their
    /// deadlines, cancellations and limits apply, and the events of the remaining calls follow the consent. The
    /// process id and the folders of the client can come before the consent
    /// ([`IdeConnected`](crate::ide::ServerEvent::IdeConnected),
    /// [`RootsChanged`](crate::ide::ServerEvent::RootsChanged)). This consent is apart from
    /// [`AdmissionPending`](crate::ide::ServerEvent::AdmissionPending), which comes before the connection opens.
    ///
    /// So that no program can ask until the person gives in, a [`Server`](crate::ide::Server) reports this event for
    /// one client at a time. While a question is open, the other clients wait as if it had come. After a
    /// refusal, which is a [`disconnect`](crate::ide::AgentMut::disconnect) of the client in question, no
    /// question comes for 10 s; each further refusal doubles this time, up to 5 min, and
    /// [`allow`](crate::ide::AgentMut::allow) ends it. A client that leaves before the answer starts the time
    /// once more, of at least 10 s and not doubled: a person who starts an agent again has refused nothing.
    /// The application can allow a client that [waits](crate::ide::Agent::waits_for_consent) without its event.
    pub asks_for_consent: bool,
    /// The dialect of the sessions. Default [`Dialect::VsCode`], which the real client understands.
    /// [`with_dialect`](ServerConfig::with_dialect) sets another dialect together with its pings, and
    /// [`for_dialect`](ServerConfig::for_dialect) its rules for clients too.
    pub dialect: Dialect,
    /// The identity of the editor, the timeouts of calls, and the limits of a session.
    pub mcp: mcp::ServerConfig,
    /// The limits of the contents of answers and pushes.
    pub content_limits: ContentLimits,
    /// The settle time: the longest time for which a client ignores pushes after the latest of
    /// `initialized`, the answer to its `tools/list` and our `tools/list_changed`. Mentions wait for
    /// the settle time, and the selection is sent again at its end. Default `None`: the value known for
    /// the client, or 1.6 s for an unknown client.
    pub settle: Option<Duration>,
    /// The limits of a connection. Default those of [`ws::Limits`], but 16 MiB for a message: four
    /// times the largest file that a person would review as a change.
    pub ws: ws::Limits,
    /// The greatest number of attached clients, connections [for models](crate::ide::MODELS_TARGET)
    /// included: each of them can hold as much memory as an agent. Default 16: editors have one to five
    /// agents, and each can have a model. At this number, a further client with the token receives 503.
    pub max_clients: usize,
    /// The greatest number of pending connections: those that have not been let in. They do not count
    /// towards [`max_clients`](ServerConfig::max_clients). Default 8. For one more connection, the server
    /// closes the oldest pending connection without an HTTP answer, however young it is: a flood of 2,400
    /// connections a second leaves each of them 3 ms for its request.
    ///
    /// A connection that has ended counts towards neither limit, even while its last bytes are written.
    pub max_pending_connections: usize,
    /// The maximum total size of the messages of all open calls of all clients, in bytes. Default 128
    /// MiB: four times the limit of one client ([`open_bytes`](crate::rpc::SessionLimits::open_bytes)).
    /// The server answers a call beyond this limit with the error -32603. A call beyond
    /// [`open_calls`](crate::rpc::SessionLimits::open_calls), the limit of each client (256), receives
    /// this error too.
    ///
    /// One half is reserved in equal shares for [`max_clients`](ServerConfig::max_clients) clients (4 MiB
    /// each by default), so that no client can use up the bytes that another client needs. The other
    /// half is shared: first come, first served.
    pub open_bytes: usize,
    /// The time for which the selection has to stay unchanged before it is sent. Default 50 ms; with
    /// zero, each selection is sent at once.
    pub debounce: Duration,
    /// The longest time for which a selection that keeps changing is held back. Default 200 ms.
    pub debounce_max: Duration,
    /// The time for which a mention waits for a client that accepts it. Default 30 s: clients take up
    /// to 20 s to start (measured).
    pub mention_timeout: Duration,
    /// The filter for pushes and answers. By default everything passes.
    pub filter: Filter,
}

/// The largest message of a client.
const MESSAGE: usize = 16 * 1024 * 1024;

impl ServerConfig {
    /// Returns the size of the send buffer from which on an answer is replaced by an error: the bytes
    /// that the open calls of a client can have, but no less than [`ws::Limits::outgoing`]. So the
    /// answers to 256 calls are bounded as the calls are, even if the application writes long answers.
    #[must_use]
    pub const fn max_unwritten(&self) -> usize {
        let (open, mark) = (self.mcp.limits.open_bytes, self.ws.outgoing);
        if open > mark { open } else { mark }
    }

    /// Returns the greatest number of bytes that a server with these settings holds for its clients,
    /// apart from one answer for each client and the constant costs of a connection.
    ///
    /// | held | one client | 16 clients |
    /// | --- | --: | --: |
    /// | received and not yet delivered: the [`message`](crate::ws::Limits::message) in progress, one more message, [`outgoing`](crate::ws::Limits::outgoing) bytes, and the last piece that was fed | 40.25 MiB | 644 MiB |
    /// | the messages of open calls: [`rpc::SessionLimits::open_bytes`](crate::rpc::SessionLimits::open_bytes), [`ServerConfig::open_bytes`] | 32 MiB | 128 MiB |
    /// | unwritten output: [`ServerConfig::max_unwritten`] | 32 MiB | 512 MiB |
    ///
    /// This counts the bytes. A buffer that grows reserves room for up to twice as many.
    ///
    /// A client that has gone is not counted: what it has not read is held for at most
    /// [`drain`](crate::ws::Limits::drain) longer, beside its successor's.
    #[must_use]
    pub const fn max_held(&self) -> usize {
        let each = self.ws.max_received().saturating_add(self.max_unwritten());
        each.saturating_mul(self.max_clients).saturating_add(self.open_bytes)
    }

    /// Describes an editor with this name and version, which agents show to a person.
    ///
    /// It has no folder, offers no tools, and lets nobody in yet. Over an adapter, [`folder`](Self::folder) and
    /// [`tools`](Self::tools) come next: the server chooses the port and generates the token. Without one,
    /// [`listening`](Self::listening) says both.
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

    /// Adds an open folder. An agent finds the editor when it works in this folder or below.
    ///
    /// The `start` of an adapter resolves the folder, so `"."` is the working directory, and publishes the forms that
    /// `ide_mcp_lockfile::workspace_folders` describes. Otherwise it is published as it stands here: pass what that
    /// function returns.
    pub fn folder(mut self, folder: impl Into<String>) -> Self {
        self.folders.push(folder.into());
        self
    }

    /// Adds open folders, as [`folder`](Self::folder) does.
    pub fn folders<F: Into<String>>(mut self, folders: impl IntoIterator<Item = F>) -> Self {
        self.folders.extend(folders.into_iter().map(Into::into));
        self
    }

    /// Lets in the clients that come to this port of 127.0.0.1, where your listener is, with this token. The other rules
    /// of the [policy](Self::policy) stay. An adapter sets the port of its listener itself.
    pub fn listening(mut self, port: u16, token: AuthToken) -> Self {
        self.policy.port = port;
        self.auth(Auth::Token(token))
    }

    /// Requires this proof of a client, in place of the token that an adapter generates. No earlier process may have
    /// published an [`Auth::Token`]: what it published is [`Auth::Resumed`], mostly to listen on its port again. An
    /// adapter then admits only clients of our own user, and generates a fresh token where it cannot tell.
    pub fn auth(mut self, auth: Auth) -> Self {
        self.policy.auth = auth;
        self
    }

    /// Lets in the clients that this policy accepts. It replaces the rules that [`for_dialect`](Self::for_dialect) has
    /// set, so call this first.
    pub fn policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// Offers these tools. Default none.
    pub fn tools(mut self, tools: impl Into<ToolSet>) -> Self {
        self.tools = Arc::new(tools.into());
        self
    }

    /// Offers these prompts and resources. Default none, beside the [resources of the tools](Self::tool_resources).
    pub fn context(mut self, context: impl Into<Arc<Context>>) -> Self {
        self.mcp.context = context.into();
        self
    }

    /// Gives the model these instructions, which the real client passes on (measured). Default none.
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.mcp.instructions = Some(instructions.into());
        self
    }

    /// Filters all content that leaves the editor. Default: everything passes.
    pub fn filter(mut self, filter: Filter) -> Self {
        self.filter = filter;
        self
    }

    /// Makes each agent wait for a person's [consent](Self::asks_for_consent). Default: an agent with the token is
    /// attached at once.
    pub const fn ask_for_consent(mut self) -> Self {
        self.asks_for_consent = true;
        self
    }

    /// Returns the lock file by which agents find this editor: its [folders](Self::folders), its name and its token.
    ///
    /// `pid` is the process that agents take for the editor: when it ends, they delete the file. The
    /// `start` of an adapter writes it; otherwise `ide_mcp_lockfile::LockDir::publish` writes it for you.
    ///
    /// The file has the token in it. If you write it yourself, give it mode 0600 in a directory of mode 0700, write it
    /// beside its place and rename it, and do so after you have begun to listen.
    #[must_use]
    pub fn lock_file(&self, pid: u32) -> LockFile {
        let token = self.policy.auth.token().cloned();
        LockFile::new(pid, self.folders.clone(), self.mcp.info.name.clone(), token)
    }

    /// Sets the dialect of the sessions as [`with_dialect`](Self::with_dialect) does, and lets clients in as
    /// the editors of this dialect do. Two rules of the policy change: the demand for the sub-protocol, and
    /// the answer to a wrong token. The table of [`Dialect`] has the values. They are stricter than the
    /// default for [`Dialect::JetBrains`] and [`Dialect::SnakeCase`]; opencode offers no sub-protocol
    /// (measured), so these editors refuse it. A demand for the sub-protocol that the policy has already
    /// stays.
    pub fn for_dialect(mut self, dialect: Dialect) -> Self {
        let (rules, policy) = (dialect.rules(), &mut self.policy);
        policy.subprotocol_required |= rules.subprotocol_required;
        policy.auth_failure = rules.auth_failure;
        self.with_dialect(dialect)
    }

    /// Sets the dialect of the sessions, and [JSON-RPC pings](Keepalive::JSON_RPC) if the dialect has
    /// them and no others are configured.
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
    fn address_keeps_the_rules_of_the_dialect() {
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
    fn unwritten_bytes_have_the_larger_limit() {
        let policy = Policy::new(1, Auth::Disabled);
        let mut config = ServerConfig::new("editor", "1").policy(policy);
        for (open, mark, expected) in [(5, 7, 7), (7, 5, 7), (7, 7, 7)] {
            (config.mcp.limits.open_bytes, config.ws.outgoing) = (open, mark);
            assert_eq!(config.max_unwritten(), expected, "{open} and {mark}");
        }
    }
}
