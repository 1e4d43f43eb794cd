//! The discovery of editors by agents: the lock file, its directory and its token, the choice of a
//! file, the files left behind, and the reconnection of an agent.

pub mod client_env;
pub mod launch_env;
mod leftover;
pub mod locate;
mod lock_file;
pub mod matching;
mod mcp_config;
mod reconnect;
mod token;

pub use client_env::ClientEnv;
pub use leftover::{NotStaleReason, is_left_over};
pub use lock_file::{LockFile, LockFileError, LockForm, Transport};
pub use mcp_config::McpConfig;
pub use reconnect::{Backoff, GaveUp, Reconnect};
pub use token::{AuthToken, InvalidToken};
