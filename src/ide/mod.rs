//! The IDE dialect: how a coding agent's command line attaches to an editor, both sides.
//!
//! The editor publishes a [`LockFile`] with its port and a token, the agent finds it ([`locate`], [`matching`]) and
//! opens a WebSocket with the sub-protocol `mcp`; over it runs an MCP session in which the editor is the server. The
//! agent calls tools ([`ToolRequest`]) and gets an [`Answer`], the editor pushes [`Selection`]s, [`Mention`]s and
//! [`DiagnosticsChanged`].
//!
//! - [`Host`] is what an editor holds: all its connections, and what they share.
//! - [`Server`] is one connection of an editor, [`Client`] the agent's side of one.
//! - [`ToolSet`] is what an editor offers: the [`Tool`]s of the protocol that it handles, and its own.
//! - [`Dialect`] is how it speaks: what the known editors say differently stands in one table there. What is received is
//!   understood in all dialects.
//! - [`LockFile`], [`locate`], [`matching`] and [`launch_env`] are discovery as pure values. No file, variable or
//!   clock is read here; `ide-mcp-lockfile` does that. [`Reconnect`] says when an agent tries again.
//! - [`paths`] says what a path of an agent is before anybody opens it, [`Filter`] what leaves the editor unasked, and
//!   [`display_safe`] makes a text of an agent one that a screen shows and does not obey.
//!
//! # From lock file to closed socket
//!
//! 1. The editor publishes its [`LockFile`]; the agent finds it, asks for a WebSocket with the token in a header, and is
//!    let in or refused ([`Policy`]).
//! 2. `initialize`, `notifications/initialized`, `ide_connected {pid}`: [`ServerEvent::Ready`], then
//!    [`ServerEvent::IdeConnected`]. What is pushed before is lost on the real client (measured), so it waits here.
//! 3. `tools/list` is answered with what the [`ToolSet`] lists. The model sees only `getDiagnostics` and `executeCode`; the
//!    client calls `closeAllDiffTabs`, `close_tab` and `set_permission_mode` even where nothing is listed (measured).
//! 4. The editor says what is selected ([`Server::select`]) and mentioned ([`Server::mention`]); the client lists the tools
//!    again after each change of them, forgets the selection (measured), and is told it again.
//! 5. A prompt begins with `closeAllDiffTabs`. An edit comes as [`ToolRequest::OpenDiff`] and waits for a person: the answer
//!    is a [`DiffOutcome`], and the client writes the file. If the person decides in the terminal, `close_tab` is the only
//!    sign of it (measured): the machine answers the diff and says [`ServerEvent::DiffClosed`].
//! 6. After an edit the client asks for the problems ([`ToolRequest::GetDiagnostics`]), which have 400 ms.
//! 7. The client closes with 1000, or is just gone: every open diff ends, then [`ServerEvent::Closed`].
//!
//! What goes over the wire in each case stands in docs/conformance.md in the repository, written by the tests.
//!
//! Every connection is judged by a [`Policy`] before it is let in; the table of refusals stands there. What the real
//! client does was measured (docs/evidence.md in the repository); where this module does something odd, that is why.

mod arguments;
mod client;
mod context;
mod dialect;
mod diffs;
mod direct;
mod display;
mod host;
mod leftover;
mod lock_file;
mod policy;
mod position;
mod reconnect;
mod server;
mod slot;
mod token;
mod tool;
mod toolset;

pub mod launch_env;
pub mod locate;
pub mod matching;
pub mod paths;

pub use client::{Client, ClientConfig, ClientEvent};
pub use context::{DiagnosticsChanged, Mention, Selection};
pub use dialect::{Dialect, Notice};
pub use diffs::DiffEnd;
pub use direct::{DirectAnswer, DirectRequest, ListFiles, ReadFile, WorkspaceInfo, WriteFile};
pub use display::{display_safe, display_safe_lines, is_display_unsafe};
pub use host::{ConnId, Filter, Host, HostConfig, HostEvent, HostWire, MentionError, Selected};
pub use leftover::{Kept, is_left_over};
pub use lock_file::{LockFile, LockFileError, LockForm, Transport};
pub use policy::{Auth, AuthFailure, Policy};
pub use position::{Position, Range};
pub use reconnect::{Backoff, GivenUp, Reconnect};
pub use server::{Server, ServerConfig, ServerEvent};
pub use token::{AuthToken, InvalidToken};
pub use tool::{
    Answer, CheckDocumentDirty, CloseTab, ClosedDiffTabs, CodeOutput, CurrentSelection, CursorPosition,
    Diagnostic, Diagnostics, DiffOutcome, DocumentSaved, DocumentState, Done, EditorTab, ExecuteCode,
    FileDiagnostics, FilePaths, GetDiagnostics, LatestSelection, MissingText, OpenDiff, OpenEditors,
    OpenFile, OpenFiles, OpenedFile, OpenedFiles, OtherTool, OutputBlock, Passage, ReformatFile, Reformatted,
    SaveDocument, SetCursorPosition, SetPermissionMode, SetSelection, Severity, TabClosed, Tool, ToolRequest,
    WorkspaceFolder, WorkspaceFolders,
};
pub use toolset::ToolSet;

/// How many bytes of selected text are sent; the rest is cut off at a character. The text goes into a prompt, where
/// more of it does harm.
pub const MAX_SELECTION: usize = 256 * 1024;
