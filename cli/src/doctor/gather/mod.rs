//! Collects the facts. Only [`remove`] changes anything, and no fact displays a token.

mod directories;
mod leftovers;
mod probe;
mod probes;
mod surroundings;

use crate::doctor::facts::{Facts, Here, Lock, Removed, Variables};
use crate::doctor::rules::NAMES;
use crate::support::{Progress, Shell};
use ide_mcp_driver::Trust;
use ide_mcp_lockfile::system;
use std::env;

pub(crate) use leftovers::remove;
pub(crate) use surroundings::{Surroundings, surroundings};

/// Collects the current facts. With `connects` it probes the editors that have changed since `before`,
/// which takes a few seconds at most, and sends nothing to a port that is not trusted.
pub(crate) fn gather(
    here: Here,
    connects: Option<Trust>,
    removed: Vec<Removed>,
    before: &[Lock],
    progress: &mut Progress,
) -> Facts {
    let (directories, mut locks) = match directories::candidates() {
        Ok(candidates) => {
            let (directories, locks) = directories::look(candidates);
            (Ok(directories), locks)
        }
        Err(error) => (Err(error.to_string()), Vec::new()),
    };
    let variables = variables();
    if let Some(trust) = connects {
        probes::take_over(before, &mut locks);
        probes::ask(variables.client().host(), trust, &mut locks, progress);
    }
    Facts {
        variables,
        here,
        system: system(),
        shell: Shell::here(),
        has_agent: surroundings::has_agent(),
        directories,
        locks,
        removed,
        now: None,
    }
}

fn variables() -> Variables {
    let value = |name| Some((name, env::var_os(name)?.to_string_lossy().into_owned()));
    Variables(NAMES.iter().copied().filter_map(value).collect())
}
