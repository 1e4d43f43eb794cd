//! Looks at everything there is to look at. Nothing is changed here, and no value leaves with a token that is shown.

mod directories;
mod leftovers;
mod probe;
mod probes;

use crate::facts::{Facts, Removed, System, Variables};
use crate::rules::NAMES;
use ide_mcp_examples::Progress;
use ide_mcp_examples::find::Here;
use std::env;

pub(crate) use leftovers::remove;

/// The facts as they are now. With `connects` every editor that seems to live is asked, for at most some seconds.
pub(crate) fn gather(here: Here, connects: bool, removed: Vec<Removed>, progress: &mut Progress) -> Facts {
    let (directories, mut locks) = match directories::candidates() {
        Ok(candidates) => {
            let (directories, locks) = directories::look(candidates);
            (Ok(directories), locks)
        }
        Err(error) => (Err(error.to_string()), Vec::new()),
    };
    if connects {
        probes::ask(&mut locks, progress);
    }
    Facts { variables: variables(), here, system: system(), directories, locks, removed }
}

fn variables() -> Variables {
    let value = |name| Some((name, env::var_os(name)?.to_string_lossy().into_owned()));
    Variables(NAMES.iter().copied().filter_map(value).collect())
}

fn system() -> System {
    if cfg!(windows) {
        return System::Windows;
    }
    // As Microsoft's kernel calls itself.
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    if release.to_ascii_lowercase().contains("microsoft") { System::Wsl } else { System::Other }
}
