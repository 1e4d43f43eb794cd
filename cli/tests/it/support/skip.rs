//! Tests that need more than every machine has.

use std::io::Write as _;
use std::thread;

/// The variables of the user who runs the tests that would change what a program does.
pub const FOREIGN: [&str; 12] = [
    "CLAUDE_CONFIG_DIR",
    "CLAUDE_CODE_SSE_PORT",
    "CLAUDE_CODE_AUTO_CONNECT_IDE",
    "CLAUDE_CODE_IDE_HOST_OVERRIDE",
    "CLAUDE_CODE_IDE_SKIP_VALID_CHECK",
    "KILO_EDITOR_SSE_PORT",
    "NO_COLOR",
    "OPENCODE_EDITOR_SSE_PORT",
    "TMUX",
    "WSL_DISTRO_NAME",
    "XDG_CONFIG_HOME",
    "XDG_STATE_HOME",
];

/// Returns true if this process ignores SIGHUP, as under `nohup`, and so do the programs that it starts. In that case
/// the test is skipped.
pub fn ignores_hangup() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    let ignores = mask & 1 == 1;
    if ignores {
        skip("SIGHUP is ignored here, as under nohup");
    }
    ignores
}

/// Prints why a test does not run on this machine, in a way that libtest does not capture. Fails if `IDE_MCP_NO_SKIPS`
/// is set, as in `tests/lab/run skips`.
pub fn skip(reason: &str) {
    assert!(std::env::var_os("IDE_MCP_NO_SKIPS").is_none(), "a skipped test is a failure here: {reason}");
    let name = thread::current().name().unwrap_or_default().to_owned();
    std::io::stderr().write_all(format!("skipped {name}: {reason}\n").as_bytes()).unwrap();
}
