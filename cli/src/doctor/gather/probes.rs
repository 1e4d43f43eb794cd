//! Probes all editors at the same time.

use super::probe::{Place, probe};
use crate::doctor::facts::Lock;
use crate::support::Progress;
use ide_mcp::ide::discovery::{AuthToken, Transport};
use ide_mcp_driver::Trust;
use std::thread;

/// The maximum number of editors to probe, the newest first. Nobody has more editors open: further
/// lock files are leftovers.
const MOST: usize = 64;

/// Takes over the earlier answers of the editors that have not changed.
pub(super) fn take_over(before: &[Lock], locks: &mut [Lock]) {
    for lock in locks {
        if let Some(before) = before.iter().find(|before| lock.is_unchanged_since(before)) {
            (lock.probe, lock.listener) = (before.probe.clone(), before.listener);
            lock.unknown_owner = before.unknown_owner;
        }
    }
}

/// Probes the editors of `locks` on `host` that have no answer yet; `trust` says whether to connect to
/// ports of other users.
pub(super) fn ask(host: &str, trust: Trust, locks: &mut [Lock], progress: &mut Progress) {
    let mut askable: Vec<(&mut Lock, Question)> =
        locks.iter_mut().filter_map(|lock| question(lock).map(|question| (lock, question))).collect();
    askable.sort_by_key(|(lock, _)| std::cmp::Reverse(lock.modified));
    askable.truncate(MOST);
    match askable.len() {
        0 => return,
        1 => progress.show("asking the editor …"),
        several => progress.show(&format!("asking {several} editors …")),
    }
    thread::scope(|scope| {
        for (lock, question) in askable {
            scope.spawn(move || {
                let place = Place { host, port: question.port, trust };
                let found = probe(place, question.token.as_ref(), question.dead);
                (lock.probe, lock.listener) = (Some(found.answer), found.process);
                lock.unknown_owner = found.unknown_owner;
            });
        }
    });
    progress.clear();
}

struct Question {
    port: u16,
    token: Option<AuthToken>,
    /// True if its process does not run, so that the listener can be any program.
    dead: bool,
}

fn question(lock: &Lock) -> Option<Question> {
    if lock.probe.is_some() {
        return None;
    }
    let file = lock.file.as_ref().ok().filter(|file| lock.used && file.transport == Transport::WebSocket)?;
    Some(Question { port: lock.port?, token: file.auth_token.clone(), dead: lock.pid_alive == Some(false) })
}
