//! The shared helpers of the tests of the commands.

mod process;
#[cfg(target_os = "linux")]
pub mod stranger;
pub mod terminal;
pub mod tmux;

pub use process::skip::{FOREIGN, ignores_hangup};
pub use process::{
    Editor, Place, Process, accept, await_port, dead, ended, lasting_port, quoted, rewrite, skip,
};
