//! The ports of the running editors, by their lock files.

use ide_mcp::ide::discovery::locate::Extras;
use ide_mcp_lockfile::{from_environment, scan_for};

/// Returns the ports, one in each line, the newest editor first.
pub(super) fn ports() -> String {
    // A directory that cannot be read has no ports: a completion shows no errors.
    let dirs = from_environment(Extras::default()).unwrap_or_default();
    let found = dirs.into_iter().flat_map(|dir| scan_for(dir.form(), dir.dir).unwrap_or_default());
    let running = found.filter(|found| found.file.is_ok() && found.pid_alive != Some(false));
    running.filter_map(|found| found.port).map(|port| port.to_string()).collect::<Vec<_>>().join("\n")
}
