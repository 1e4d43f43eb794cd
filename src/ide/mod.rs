//! The IDE dialect: how a coding agent's command line attaches to an editor, both sides.
//!
//! The editor publishes a [`LockFile`] with its port and a token, the agent finds it ([`locate`], [`matching`]) and
//! opens a WebSocket with the sub-protocol `mcp`; over it runs an MCP session in which the editor is the server. The
//! agent calls tools ([`ToolCall`]) and gets an [`Answer`], the editor pushes [`Selection`]s, [`Mention`]s and
//! [`DiagnosticsChanged`].
//!
//! - [`Host`] is what an editor holds: all its connections, and what they share.
//! - [`Server`] is one connection of an editor, [`Client`] the agent's side of one.
//! - [`ToolSet`] is what an editor offers: the [`Tool`]s of the protocol that it handles, and its own.
//! - [`Dialect`] is how it speaks: what the known editors say differently stands in one table there. What is received is
//!   understood in all dialects.
//! - [`LockFile`], [`locate`], [`matching`], [`client_env`] and [`launch_env`] are discovery as pure values. No file, variable or
//!   clock is read here; `ide-mcp-lockfile` does that. [`Reconnect`] says when an agent tries again.
//! - [`paths`] says what a path of an agent is before anybody opens it, [`Filter`] what leaves the editor unasked, and
//!   [`display_safe`] makes a text of an agent one that a screen shows and does not obey.
//!
//! # From lock file to closed socket
//!
//! The protocol is not specified anywhere, so each claim has its evidence behind it. *Measured*: the real client was run
//! against an editor that did just this (docs/evidence.md in the repository). *Recorded*: it stands in a session of the
//! real client that the tests replay. *Documented*: its makers say so. *Described*: several independent editors agree,
//! and nobody here has seen it.
//!
//! 1. **The lock file.** The editor listens on 127.0.0.1 and then writes its [`LockFile`], `<port>.lock`, below
//!    `CLAUDE_CONFIG_DIR` or else `~/.claude` (*documented*; below `~/.config` it is never found: *measured*). So
//!    [`locate`] says. A client deletes the file of a process that it takes for dead (*measured*), hence the guard in
//!    `ide-mcp-lockfile`.
//! 2. **The choice.** The client takes a file with a folder that is its working directory or contains it, and none
//!    without a folder or without `transport`; among several it takes the one whose port `CLAUDE_CODE_SSE_PORT` names, else
//!    none (*measured*): [`matching`] decides so and gives the reason of each refusal. [`client_env`] has the variables of a
//!    client, [`launch_env`] sets those of a terminal of the editor.
//! 3. **The request to open.** `GET /` with the sub-protocol `mcp` and the token in a header, never an `Origin`
//!    (*measured*). [`Policy`] answers 101, or refuses before anything is heard. A client that is refused does not try
//!    again; one that is let in without `mcp` leaves without a word (*measured*).
//! 4. **The session.** `initialize`, `notifications/initialized`, `ide_connected {pid}`, `tools/list` (*recorded*):
//!    [`ServerEvent::Ready`], then [`ServerEvent::IdeConnected`]. No message marks the moment from which the client accepts
//!    pushes: it comes up to 500 ms after the answer to its list of tools (*measured*). So the selection is sent at once,
//!    again 1.6 s after that answer and once more 5 s later; mentions wait for these 1.6 s.
//! 5. **The tools.** The [`ToolSet`] is listed. The model of the client sees only `getDiagnostics` and `executeCode`, and
//!    the client calls `closeAllDiffTabs` even where nothing is listed (*measured*), `close_tab` and `set_permission_mode`
//!    too (*described*): these three are always answered here.
//! 6. **The selection.** [`Host::select`] as often as it changes, [`Host::mention`] for files: a selection goes into the
//!    next prompt, unasked (*measured*), so a [`Filter`] stands before it. After each change of the tools the client lists
//!    them again and forgets the selection (*measured*), so every list begins the time of step 4 anew.
//! 7. **A prompt** begins with `closeAllDiffTabs` (*measured*): the diffs of this client end, and those of no other.
//! 8. **An edit** comes as [`ToolCall::OpenDiff`] and waits for a person. The answer is a [`DiffOutcome`], two blocks of
//!    text; one block is not understood; the client writes the file, with the text of the answer (*measured*). Where the
//!    person decides in the terminal, the call is never cancelled: `close_tab` is the only sign (*measured*). It is
//!    answered here, and [`ServerEvent::DiffClosed`] says that the view can go.
//! 9. **Around the edit** come `close_tab`, twice, and [`ToolCall::GetDiagnostics`], for the file before the client writes
//!    it and for all files after that. The client waits 500 ms for the first and 2 s for the second (*measured*), so their
//!    deadlines are 400 ms and 1.9 s. On other calls it waits without end (*described*), so each has a deadline.
//! 10. **The end.** A close frame with 1000, or the client is just gone (*measured*): every open diff ends, then comes
//!     [`ServerEvent::Closed`]. An editor that comes back on its port with its token has its client back within some 12 s
//!     (*measured*); [`Reconnect`] does so for an agent.
//!
//! What goes over the wire in each case stands in docs/conformance.md in the repository, written by the tests. The same
//! way without a socket, both sides in one program:
//!
//! ```
//! use ide_mcp::ide::matching::{AgentContext, Candidate, choose};
//! use ide_mcp::ide::{
//!     AuthToken, Client, ClientConfig, ClientEvent, DiffOutcome, LockFile, OpenDiff, Pending, Policy, Server,
//!     ServerConfig, ServerEvent, Tool, ToolCall, ToolSet,
//! };
//! use ide_mcp::{Machine, Time, Wire, mcp::Implementation, rpc::SessionId};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let random = ide_mcp::testing::Random::new(1);
//! const PORT: u16 = 41111; // that the editor listens on
//! let (now, token) = (Time::ZERO, AuthToken::from_text("550e8400-e29b-41d4-a716-446655440000")?);
//! let published = LockFile::new(4711, vec!["/w".into()], "Editor", token.clone()).to_json();
//! let config = ServerConfig::new(
//!     Implementation::new("editor", "1.0"),
//!     Policy::new(PORT, token),
//!     ToolSet::new().handle(Tool::OpenDiff),
//! );
//! let mut editor = Server::new(config, SessionId::new(1), now); // for a connection that it accepted
//!
//! let file = LockFile::parse(&published)?;
//! let listed = Candidate { port: PORT, file: Ok::<_, String>(file.clone()), pid_alive: Some(true), modified: None };
//! let matching = choose(&[listed], &AgentContext { cwd: "/w/src", ..AgentContext::default() });
//! assert_eq!(matching.unique().map(|file| file.port), Some(PORT));
//! let config = ClientConfig::of_lock_file(Implementation::new("agent", "1.0"), PORT, &file).ok_or("no WebSocket")?;
//! let mut agent = Client::new(config, random, SessionId::new(2), now)?;
//!
//! let (mut asked, mut verdict, mut ends) = (None, None, 0);
//! while ends < 2 {
//!     editor.feed(now, agent.outgoing());
//!     agent.sent(usize::MAX);
//!     while let Some(event) = editor.poll_event() {
//!         match event {
//!             // A person looks at it, and changes it.
//!             ServerEvent::Call(ToolCall::OpenDiff(call, _)) => {
//!                 editor.answer(call, &DiffOutcome::Accepted { contents: "edited".into() })?;
//!             }
//!             ServerEvent::Closed(_) => ends += 1,
//!             _ => {}
//!         }
//!     }
//!     agent.feed(now, editor.outgoing());
//!     editor.sent(usize::MAX);
//!     while let Some(event) = agent.poll_event() {
//!         match event {
//!             ClientEvent::Ready(_) => {
//!                 asked = Some(agent.call(&OpenDiff::new("/w/a.txt", "proposed", "a.txt"))?);
//!             }
//!             ClientEvent::Outcome { request, outcome } => {
//!                 let asked: Option<Pending<DiffOutcome>> = asked.take_if(|asked| asked.id() == request);
//!                 verdict = asked.map(|asked| asked.answer(outcome));
//!                 agent.close();
//!             }
//!             ClientEvent::Closed(_) => ends += 1,
//!             _ => {}
//!         }
//!     }
//! }
//! assert!(matches!(verdict, Some(Ok(DiffOutcome::Accepted { contents })) if contents == "edited"));
//! # Ok(())
//! # }
//! ```
//!
//! Every connection is judged by a [`Policy`] before it is let in; the table of refusals stands there.

mod client;
mod dialect;
mod discovery;
mod host;
pub mod paths;
mod push;
mod server;
mod tool;

pub use client::{CallError, Client, ClientConfig, ClientEvent, Pending};
pub use dialect::Dialect;
pub use discovery::*;
pub use host::{
    AgentId, AttachedClient, ConnId, Filter, Host, HostConfig, HostEvent, HostWire, LockFileEvent,
    MentionError, Selected, Unauthenticated,
};
pub use paths::display::{display_safe, display_safe_lines, is_display_unsafe};
pub use push::*;
pub use server::{
    Auth, AuthFailure, DiffEnd, OpenCall, Policy, Server, ServerConfig, ServerEvent, TOKEN_FIELD,
};
pub use tool::*;
