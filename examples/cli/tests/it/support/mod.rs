//! The shared helpers of the tests of the commands.

mod process;
#[cfg(target_os = "linux")]
pub mod stranger;
pub mod terminal;
pub mod tmux;

pub use process::{Editor, Place, Process, dead, ended, rewrite};

use std::env;
use std::io::{Write as _, stderr};

/// Writes the reason for which a test does not run on this machine, past the capture of libtest. Fails if
/// `IDE_MCP_NO_SKIPS` is set, as in `.ci/full`.
pub fn skip(reason: &str) {
    assert!(env::var_os("IDE_MCP_NO_SKIPS").is_none(), "a skipped test is a failure here: {reason}");
    let name = std::thread::current().name().unwrap_or_default().to_owned();
    writeln!(stderr(), "skipped {name}: {reason}").unwrap();
}
