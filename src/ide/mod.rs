//! The IDE dialect: how a coding agent's command line attaches to an editor, both sides.
//!
//! The editor publishes a [`LockFile`] with its port and a token, the agent finds it ([`locate`], [`matching`]) and
//! opens a WebSocket with the sub-protocol `mcp`; over it runs an MCP session in which the editor is the server. The
//! agent calls tools ([`ToolRequest`]), the editor pushes [`Selection`]s and [`Mention`]s.
//!
//! - [`Host`] is what an editor holds: all its connections, and what they share.
//! - [`Server`] is one connection of an editor, [`Client`] the agent's side of one.
//! - [`LockFile`], [`locate`], [`matching`] and [`launch_env`] are discovery as pure values. No file, variable or
//!   clock is read here; `ide-mcp-lockfile` does that.
//!
//! Every connection is judged by a [`Policy`] before it is let in; the table of refusals stands there. What the real
//! client does was measured (docs/evidence.md in the repository); where this module does something odd, that is why.

mod answers;
mod client;
mod context;
mod diffs;
mod event;
mod host;
mod lock_file;
mod policy;
mod position;
mod server;
mod slot;
mod token;
mod tool;
mod toolset;

pub mod launch_env;
pub mod locate;
pub mod matching;

pub use answers::{Diagnostic, DiffOutcome, FileDiagnostics, Severity};
pub use client::{Client, ClientConfig, ClientEvent};
pub use context::{Mention, Selection};
pub use diffs::DiffEnd;
pub use event::ServerEvent;
pub use host::{ConnId, Host, HostConfig, HostEvent, HostWire, MentionError};
pub use lock_file::{LockFile, LockFileError, Transport};
pub use policy::{Auth, Policy};
pub use position::{Position, Range};
pub use server::{Server, ServerConfig};
pub use token::{AuthToken, InvalidToken};
pub use tool::{CloseTab, GetDiagnostics, OpenDiff, OpenFile, OtherTool, ToolRequest};
pub use toolset::{Tool, ToolSet};

/// How many bytes of selected text are sent; the rest is cut off at a character. The text goes into a prompt, where
/// more of it does harm.
pub const MAX_SELECTION: usize = 256 * 1024;
