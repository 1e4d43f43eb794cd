//! The system on which this program runs, as far as it decides about the spellings of paths.

use std::env;
use std::sync::OnceLock;

use ide_mcp::ide::client_env::DISTRIBUTION_VARIABLE;
use ide_mcp::ide::paths::System;

/// Returns the system on which this program runs: that which it was compiled for or, by `/proc/version` and
/// `WSL_DISTRO_NAME`, Linux on Windows. Both are read once.
#[must_use]
pub fn system() -> System<'static> {
    static SYSTEM: OnceLock<System<'static>> = OnceLock::new();
    *SYSTEM.get_or_init(|| {
        if !cfg!(target_os = "linux") {
            return System::native();
        }
        static DISTRIBUTION: OnceLock<Option<String>> = OnceLock::new();
        let distribution = DISTRIBUTION.get_or_init(|| env::var(DISTRIBUTION_VARIABLE).ok());
        // Without the file there is no Microsoft in it.
        let version = std::fs::read_to_string("/proc/version").unwrap_or_default();
        System::on_kernel(&version, distribution.as_deref())
    })
}
