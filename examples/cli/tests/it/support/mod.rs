//! What the tests of the commands share.

mod process;
pub mod stranger;
pub mod tmux;

pub use process::{Place, Process, dead};
