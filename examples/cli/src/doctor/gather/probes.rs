//! The probes of all editors, several at a time.

use super::probe::{Place, probe};
use crate::doctor::facts::Lock;
use crate::support::Progress;
use ide_mcp::ide::{AuthToken, Transport};
use ide_mcp_driver::Trust;
use std::thread;

/// The maximum number of editors to probe, newest first. Nobody has more of them open; further lock
/// files are leftovers.
const MOST: usize = 64;
/// The number of probes at a time. Each takes some seconds at worst.
const AT_A_TIME: usize = 16;

/// Probes the editors of `locks` on `host`; `trust` decides about ports of other users.
pub(super) fn ask(host: &str, trust: Trust, locks: &mut [Lock], progress: &mut Progress) {
    let mut askable: Vec<(&mut Lock, Question)> =
        locks.iter_mut().filter_map(|lock| question(lock).map(|question| (lock, question))).collect();
    askable.sort_by_key(|(lock, _)| std::cmp::Reverse(lock.modified));
    askable.truncate(MOST);
    let all = askable.len();
    for (turn, some) in askable.chunks_mut(AT_A_TIME).enumerate() {
        let first = turn.saturating_mul(AT_A_TIME).saturating_add(1);
        let last = first.saturating_add(some.len()).saturating_sub(1);
        match all {
            1 => progress.show("asking the editor …"),
            _ => progress.show(&format!("asking editors {first} to {last} of {all} …")),
        }
        thread::scope(|scope| {
            for (lock, question) in some {
                scope.spawn(|| {
                    let place = Place { host, port: question.port, trust };
                    let (answer, listener) = probe(place, question.token.as_ref(), question.dead);
                    (lock.probe, lock.listener) = (Some(answer), listener);
                });
            }
        });
    }
    progress.clear();
}

struct Question {
    port: u16,
    token: Option<AuthToken>,
    /// True if its process does not run, so that the listener can be any program.
    dead: bool,
}

fn question(lock: &Lock) -> Option<Question> {
    let file = lock.file.as_ref().ok().filter(|file| lock.used && file.transport == Transport::WebSocket)?;
    Some(Question { port: lock.port?, token: file.auth_token.clone(), dead: lock.pid_alive == Some(false) })
}
