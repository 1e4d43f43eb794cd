//! How a command-line coding agent attaches to an editor: both sides, from the lock file to the last byte.
//!
//! The editor publishes a lock file with its port and a token. The agent finds the file and opens a WebSocket. Over it
//! they speak MCP, with the editor as the server: the agent calls tools and waits for the answers, and the editor
//! pushes its selection, mentions of files, and changes.
//!
//! | you write | begin with |
//! | --- | --- |
//! | an editor | [`Server`], [`ServerConfig`], [`ServerEvent`]; then [`Agent`] and [`OpenCall`] for what you need less often |
//! | an agent | [`Client`], [`ClientConfig`], [`ClientEvent`], [`Pending`] |
//!
//! | module | what you find there |
//! | --- | --- |
//! | [`tool`] | the tools of the protocol: the arguments and the answer of each, and [`ToolSet`](tool::ToolSet), the list that an editor offers |
//! | [`discovery`] | the lock file and its token, where it is, which editor an agent takes, and when it tries again |
//! | [`paths`] | what a path from a peer means, before you open anything |
//! | [`kit`] | optional helpers: positions in a text, strings made safe to show, names of files that hold secrets, a log of edits |
//!
//! Editor families spell the protocol differently. A [`Dialect`] says which family's spelling you send; every spelling
//! is accepted. A [`Policy`] decides who gets in, and a [`Filter`] what leaves the editor. Nothing here reads a file,
//! an environment variable or a clock: `ide-mcp-lockfile` and the adapters do that.
//!
//! # From lock file to closed socket
//!
//! The protocol has no specification, so each claim comes with its evidence. *Measured*: we ran the real client against
//! an editor that did exactly this ([the protocol](crate::guide::protocol) has the details). *Recorded*: it is in a
//! session of the real client that our tests replay. *Documented*: the makers of the client say so. *Described*:
//! several independent editors agree, but we have not seen it ourselves.
//!
//! 1. **The lock file.** The editor listens on 127.0.0.1 and then writes its [`LockFile`](discovery::LockFile),
//!    `<port>.lock`, below `CLAUDE_CONFIG_DIR` or else `~/.claude` (*documented*; the client never finds a file below
//!    `~/.config`: *measured*). [`locate`](discovery::locate) returns these directories. A client deletes the file of a
//!    process that it believes dead (*measured*), so the guard in `ide-mcp-lockfile` restores it.
//! 2. **The choice.** The client accepts a file if one of its folders is or contains the working directory of the
//!    client. Of several accepted files, it takes the one whose port is in `CLAUDE_CODE_SSE_PORT`, or else none. A file
//!    without a folder needs that variable, and one without `transport` is never accepted (*measured*).
//!    [`matching`](discovery::matching) follows these rules and says why it refuses a file.
//!    [`client_env`](discovery::client_env) reads the variables of a client, and [`launch_env`](discovery::launch_env)
//!    sets them for a terminal of the editor.
//! 3. **The opening handshake.** The client sends `GET /` with the sub-protocol `mcp` and the token in a header field,
//!    and never an `Origin` (*measured*). [`Policy`] answers 101, or refuses before any message is read. A refused
//!    client does not try again. If the 101 lacks `mcp`, the client drops the connection and sends nothing
//!    (*measured*).
//! 4. **The session.** `initialize`, `notifications/initialized`, `ide_connected {pid}`, `tools/list` (*recorded*):
//!    [`ServerEvent::Ready`], then [`ServerEvent::IdeConnected`]. No message tells when the client begins to accept
//!    pushes; it takes up to 500 ms after the answer to its list of tools (*measured*). So the selection is sent at
//!    once, again 1.6 s after that answer and once more 5 s later; mentions wait until the 1.6 s are over.
//! 5. **The tools.** The client lists the [`ToolSet`](tool::ToolSet). The client's model only sees `getDiagnostics` and
//!    `executeCode`, and your tools for models if the client has an [`McpConfig`](discovery::McpConfig) of the editor:
//!    then it connects a second time, at [`MODELS_TARGET`] (*measured*). Even if nothing is listed, the client calls
//!    `closeAllDiffTabs` (*measured*), `close_tab` and `set_permission_mode` (*described*). [`Server`] answers these
//!    three for you, except a `close_tab` for a tab that no open diff has, if your [`ToolSet`](tool::ToolSet) handles
//!    it.
//! 6. **The selection.** Call [`Server::select`] whenever the selection changes, and [`Server::mention`] for files. The
//!    client puts the selection into its next prompt without asking the person (*measured*), so the [`Filter`] looks at
//!    each selection first. After each change of the tools the client lists them again and forgets the selection
//!    (*measured*), so the times of step 4 start over with each answer to `tools/list`.
//! 7. **A prompt** begins with `closeAllDiffTabs` (*measured*). It only ends the diffs of this client.
//! 8. **An edit** comes as [`ToolCall::OpenDiff`](tool::ToolCall::OpenDiff) and waits for a person. The answer is a
//!    [`DiffOutcome`](tool::DiffOutcome), two blocks of text; the client does not understand one block. It then writes
//!    the text of the answer into the file (*measured*). If the person decides in the terminal, the client never
//!    cancels the call: `close_tab` is the only sign (*measured*). [`Server`] then answers the `openDiff`, and
//!    [`ServerEvent::DiffClosed`] tells you to close the view.
//! 9. **Around the edit** the client calls `close_tab` twice. It also calls
//!    [`ToolCall::GetDiagnostics`](tool::ToolCall::GetDiagnostics) twice: for the file before it writes it, and for all
//!    files afterwards. The client waits 500 ms for the first answer and 2 s for the second (*measured*), so their
//!    deadlines are 400 ms and 1.9 s. At the first one we answer with an empty list, at the second one with "unknown"
//!    ([why](crate::guide::problems#when-to-answer)). For other answers the client waits forever (*described*), so each call has a deadline, except
//!    `openDiff` and `executeCode`, which wait for a person.
//! 10. **The end.** The client sends a close frame with 1000, or its transport ends without one (*measured*). Every
//!     open diff ends, then you get [`ServerEvent::Closed`]. If the editor comes back on the same port with the same
//!     token, the client connects again within some 12 s (*measured*). [`Reconnect`](discovery::Reconnect) tells an
//!     agent when to do so.
//!
//! [The conformance page](crate::guide::conformance), which our tests generate, shows the messages of each case. This
//! program is both sides without a socket, from the lock file to the end of the connection:
//!
//! ```
//! use ide_mcp::ide::discovery::matching::{AgentContext, Candidate, choose};
//! use ide_mcp::ide::discovery::{AuthToken, LockFile};
//! use ide_mcp::ide::tool::{DiffOutcome, OpenDiff, Tool, ToolCall};
//! use ide_mcp::ide::{Client, ClientConfig, ClientEvent, Server, ServerConfig, ServerEvent};
//! use ide_mcp::{Output, Time, mcp::Implementation, rpc::SessionId};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let random = ide_mcp::testing::Random::new(1).source();
//! const PORT: u16 = 41111; // that the editor listens on
//! let (now, token) = (Time::ZERO, AuthToken::from_text("550e8400-e29b-41d4-a716-446655440000")?);
//! let editor = ServerConfig::new("Editor", "1.0").folder("/w").listening(PORT, token).tools([Tool::OpenDiff]);
//! let published = editor.lock_file(4711).to_json();
//! let mut editor = Server::new(editor);
//!
//! // The agent finds the file, and with it the editor.
//! let file = LockFile::parse(&published)?;
//! let listed = Candidate { port: PORT, file: Ok::<_, String>(file.clone()), pid_alive: Some(true), modified: None };
//! let matching = choose(&[listed], &AgentContext { cwd: "/w/src", ..AgentContext::default() });
//! assert_eq!(matching.unique().map(|file| file.port), Some(PORT));
//! let config = ClientConfig::of_lock_file(Implementation::new("agent", "1.0"), PORT, &file).ok_or("no WebSocket")?;
//! let mut agent = Client::new(config, random, SessionId::new(1), now)?;
//! let conn = editor.connect(now); // for the socket that it accepted
//!
//! let (mut pending, mut verdict, mut is_over) = (None, None, false);
//! while !is_over {
//!     loop {
//!         match agent.poll(now) {
//!             Output::Event(ClientEvent::Ready(_)) => {
//!                 pending = Some(agent.call_tool(&OpenDiff::new("/w/a.txt", "proposed", "a.txt"))?);
//!             }
//!             Output::Event(ClientEvent::Outcome { outcome, .. }) => {
//!                 verdict = pending.take().map(|pending| pending.answer(outcome));
//!                 agent.close();
//!             }
//!             Output::Event(_) => {}
//!             Output::Write { bytes, .. } => {
//!                 editor.feed(now, conn, bytes);
//!                 let n = bytes.len();
//!                 agent.written(n);
//!             }
//!             Output::Close(()) => is_over = true,
//!             Output::Wait(_) => break,
//!         }
//!     }
//!     loop {
//!         match editor.poll(now) {
//!             // A person reviews the change and edits the text.
//!             Output::Event(ServerEvent::Call { call: ToolCall::OpenDiff(call, _), .. }) => {
//!                 editor.answer(call, &DiffOutcome::Accepted { contents: "edited".into() })?;
//!             }
//!             Output::Event(_) | Output::Close(_) => {}
//!             Output::Write { bytes, .. } => {
//!                 agent.feed(now, bytes);
//!                 let n = bytes.len();
//!                 editor.written(conn, n);
//!             }
//!             Output::Wait(_) => break,
//!         }
//!     }
//! }
//! assert!(matches!(verdict, Some(Ok(DiffOutcome::Accepted { contents })) if contents == "edited"));
//! # Ok(())
//! # }
//! ```
//!
//! A [`Policy`] judges every opening handshake; [the guide](crate::guide::errors#the-editor-refuses-a-client) lists the
//! refusals.

mod client;
mod connection;
mod dialect;
pub mod discovery;
pub mod kit;
pub mod paths;
mod pending;
mod pump;
mod push;
mod server;
pub mod tool;

pub use client::{Client, ClientConfig, ClientEvent};
pub use connection::{Auth, AuthFailure, DiffEnd, EditEnd, MODELS_TARGET, OpenCall, Policy, TOKEN_FIELD};
pub use dialect::Dialect;
pub use pending::{FromResult, Pending, RequestError};
pub use push::*;
pub use server::{
    Agent, AgentId, AgentMut, ConnId, Filter, LockFileEvent, MentionError, Selected, Server, ServerConfig,
    ServerEvent, Unauthenticated,
};
