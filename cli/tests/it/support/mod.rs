//! The shared helpers of the tests of the commands.

mod process;
#[cfg(target_os = "linux")]
pub mod stranger;
pub mod terminal;
pub mod tmux;

pub use process::{Editor, Place, Process, dead, ended, rewrite, skip};
