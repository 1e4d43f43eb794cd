//! How an agent finds an editor: the lock file, its token, and the choice among several.
//!
//! The editor writes its [`LockFile`] into a directory that both sides know ([`locate`]). The name of the file is the
//! port; it contains the folders, the process and an [`AuthToken`]. The agent lists the directory and takes the file
//! with a folder that contains its working directory ([`matching`]). Nothing here does I/O: `ide-mcp-lockfile` reads
//! and writes the files.
//!
//! ```
//! use ide_mcp::ide::ServerConfig;
//! use ide_mcp::ide::discovery::matching::{AgentContext, Candidate, choose};
//! use ide_mcp::ide::discovery::{AuthToken, LockFile};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // The editor listens on port 41111; this is the text of its file 41111.lock.
//! let token = AuthToken::from_text("550e8400-e29b-41d4-a716-446655440000")?;
//! let editor = ServerConfig::new("Editor", "1.0").folder("/home/me/project").listening(41111, token);
//! let text = editor.lock_file(4711).to_json();
//!
//! // The agent runs below that folder.
//! let found = Candidate { port: 41111, file: LockFile::parse(&text), pid_alive: Some(true), modified: None };
//! let context = AgentContext { cwd: "/home/me/project/src", ..AgentContext::default() };
//! assert_eq!(choose(&[found], &context).unique().map(|file| file.port), Some(41111));
//! # Ok(())
//! # }
//! ```
//!
//! - [`client_env`] reads the variables that an agent obeys; [`launch_env`] sets them for your editor's terminals.
//! - [`is_left_over`] tells whether a file is left over from an editor that is gone.
//! - [`Reconnect`] tells an agent when to try again, and when to give up.
//! - [`McpConfig`] lets the model of a client call your tools: it is the configuration for a second connection of that
//!   client.

pub mod client_env;
pub mod launch_env;
mod leftover;
pub mod locate;
mod lock_file;
pub mod matching;
mod mcp_config;
mod reconnect;
mod token;

pub use leftover::{NotStaleReason, is_left_over};
pub use lock_file::{LockFile, LockFileError, LockForm, Transport};
pub use mcp_config::McpConfig;
pub use reconnect::{Backoff, GaveUp, Reconnect};
pub use token::{AuthToken, InvalidToken};
