//! ide

mod lock_file;
mod token;

pub mod launch_env;
pub mod locate;
pub mod matching;

pub use lock_file::{LockFile, LockFileError, Transport};
pub use token::{AuthToken, InvalidToken};
