//! How an agent and an editor find each other: the lock file, its directory and its token, which file an agent chooses,
//! what is left over, and how an agent comes back.

pub mod client_env;
pub mod launch_env;
mod leftover;
pub mod locate;
mod lock_file;
pub mod matching;
mod reconnect;
mod token;

pub use client_env::ClientEnv;
pub use leftover::{NotStaleReason, is_left_over};
pub use lock_file::{LockFile, LockFileError, LockForm, Transport};
pub use reconnect::{Backoff, GaveUp, Reconnect};
pub use token::{AuthToken, InvalidToken};
