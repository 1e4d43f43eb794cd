//! Detects the system on which this program runs, which decides how paths can be spelled.

use std::env;
use std::sync::OnceLock;

use ide_mcp::ide::discovery::client_env::DISTRIBUTION_VARIABLE;
use ide_mcp::ide::paths::System;

/// Returns the system on which this program runs: the compile target, or WSL if `/proc/version` names
/// Microsoft's kernel. That file and `WSL_DISTRO_NAME` are read once.
#[must_use]
pub fn system() -> System<'static> {
    static SYSTEM: OnceLock<System<'static>> = OnceLock::new();
    *SYSTEM.get_or_init(|| {
        if !cfg!(target_os = "linux") {
            return System::native();
        }
        static DISTRIBUTION: OnceLock<Option<String>> = OnceLock::new();
        let distribution = DISTRIBUTION.get_or_init(|| env::var(DISTRIBUTION_VARIABLE).ok());
        // Without this file, it is not WSL.
        let version = std::fs::read_to_string("/proc/version").unwrap_or_default();
        System::on_kernel(&version, distribution.as_deref())
    })
}
