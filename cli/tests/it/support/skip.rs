//! Tests that need more than every machine has.

use std::io::Write as _;
use std::thread;

/// Writes the reason for which a test does not run on this machine, past the capture of libtest. Fails if
/// `IDE_MCP_NO_SKIPS` is set, as in `tests/lab/run skips`.
pub fn skip(reason: &str) {
    assert!(std::env::var_os("IDE_MCP_NO_SKIPS").is_none(), "a skipped test is a failure here: {reason}");
    let name = thread::current().name().unwrap_or_default().to_owned();
    std::io::stderr().write_all(format!("skipped {name}: {reason}\n").as_bytes()).unwrap();
}
