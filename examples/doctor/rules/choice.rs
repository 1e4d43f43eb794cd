//! Which editor an agent would attach to in this directory.

use super::{Finding, editor};
use crate::facts::{Answer, Facts, Lock, Probe, State};
use crate::kinds;
use ide_mcp::ide::LockFile;
use ide_mcp::ide::launch_env::PORT_VARIABLE;
use ide_mcp::ide::matching::{Because, Listed, Matching, Place, Refusal, choose};

/// How many editors are named, those that have ended among them, before the rest is counted.
const NAMED: usize = 5;

/// What an agent that starts here comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Attaches {
        port: u16,
        name: String,
    },
    /// It would choose this one; whether it is let in was not asked.
    NotAsked {
        port: u16,
        name: String,
    },
    /// It would choose this one, but does not reach it or is not let in.
    Fails {
        port: u16,
        name: String,
    },
    HasToChoose(usize),
    FindsNothing,
}

/// With what is known to be in the way.
pub(crate) fn verdict(facts: &Facts, findings: &[Finding]) -> Verdict {
    let by_proxy = findings.iter().any(|finding| finding.kind == &kinds::PROXY_TAKES_LOOPBACK);
    let (locks, matching) = matching(facts, &facts.here.canonical);
    match (matching.only().and_then(|only| locks.get(only.index)), matching.accepted.len()) {
        (Some(lock), _) => {
            let port = lock.port.unwrap_or_default();
            let name = lock.file.as_ref().map(|file| file.ide_name.clone()).unwrap_or_default();
            match &lock.probe {
                Some(Probe::Asked { with_token: Answer::Attached, .. }) if !by_proxy => {
                    Verdict::Attaches { port, name }
                }
                None if !by_proxy => Verdict::NotAsked { port, name },
                _ => Verdict::Fails { port, name },
            }
        }
        (None, 0) => Verdict::FindsNothing,
        (None, several) => Verdict::HasToChoose(several),
    }
}

pub(super) fn look(facts: &Facts, findings: &mut Vec<Finding>) {
    let cwd = &facts.here.canonical;
    let directories = facts.directories.as_deref().unwrap_or_default();
    if !facts.locks.iter().any(|lock| lock.used) {
        // Where there is no directory, or it cannot be read, that is said already.
        if let Some(directory) = directories
            .iter()
            .find(|directory| directory.used && matches!(directory.state, State::There { .. }))
        {
            let says = format!("there is no lock file in {:?}", directory.path);
            findings.push(Finding::new(&kinds::NO_LOCK_FILES, says).path(&directory.path));
        }
        return;
    }
    let (locks, matching) = matching(facts, cwd);
    for refused in &matching.refused {
        if let (Refusal::NoFolders { .. }, Some(lock)) = (&refused.reason, locks.get(refused.index)) {
            findings.push(Finding::of(
                &kinds::EDITOR_WITHOUT_FOLDERS,
                lock,
                format!("{} has no folder open", editor(lock)),
            ));
        }
    }
    let accepted: Vec<(&Lock, &Because)> = matching
        .accepted
        .iter()
        .filter_map(|accepted| Some((*locks.get(accepted.index)?, &accepted.because)))
        .collect();
    match accepted.as_slice() {
        [] => findings.extend(nothing(facts, &locks, &matching)),
        [(lock, because)] => {
            findings.push(Finding::of(
                &kinds::EDITOR_FOUND,
                lock,
                format!("{} has {cwd:?} open", editor(lock)),
            ));
            findings.extend(only_physically(facts, lock, because));
        }
        several => {
            let names: Vec<String> = several.iter().map(|(lock, _)| editor(lock)).collect();
            findings.push(Finding::new(
                &kinds::SEVERAL_EDITORS,
                format!("{} have {cwd:?} open", names.join(" and ")),
            ));
        }
    }
}

/// The lock files that the client looks at, and what it makes of them in this directory.
fn matching<'a>(facts: &'a Facts, cwd: &str) -> (Vec<&'a Lock>, Matching) {
    let (locks, listed): (Vec<&Lock>, Vec<_>) =
        facts.locks.iter().filter(|lock| lock.used).filter_map(|lock| Some((lock, lock.listed()?))).unzip();
    let port = facts.variables.get(PORT_VARIABLE).and_then(LockFile::parse_port);
    // The real client has no other form of its directory than the one without links.
    let matching = choose(&listed, &Place { cwd, canonical: None, port });
    (locks, matching)
}

fn nothing(facts: &Facts, locks: &[&Lock], matching: &Matching) -> Vec<Finding> {
    let logically = self::matching(facts, &facts.here.logical).1;
    let by_link = logically.accepted.iter().filter_map(|accepted| locks.get(accepted.index));
    let says =
        |lock: &Lock| format!("{} has only {:?} open, which leads here", editor(lock), facts.here.logical);
    let found: Vec<Finding> =
        by_link.map(|lock| Finding::of(&kinds::MATCHES_ONLY_LOGICALLY, lock, says(lock))).collect();
    if !found.is_empty() {
        return found;
    }
    let elsewhere =
        matching.refused.iter().filter_map(|refused| match (&refused.reason, locks.get(refused.index)) {
            (Refusal::Elsewhere { folders }, Some(lock)) => Some(format!("{} has {folders:?}", editor(lock))),
            _ => None,
        });
    // First who is the likeliest cause.
    let ended = ended(locks, &facts.here.canonical).into_iter();
    let others: Vec<String> =
        ended.map(|lock| format!("{} had, until its process ended", editor(lock))).chain(elsewhere).collect();
    let mut says = format!("no usable editor has {:?} open", facts.here.canonical);
    for (index, editor) in others.iter().take(NAMED).enumerate() {
        says.push_str(if index == 0 { ": " } else { "; " });
        says.push_str(editor);
    }
    match others.len().checked_sub(NAMED) {
        None | Some(0) => {}
        Some(more) => says.push_str(&format!("; and {more} more")),
    }
    vec![Finding::new(&kinds::NO_EDITOR_FOR_DIRECTORY, says)]
}

/// Those that had this directory open and have left their lock file behind. Where a port answers, the process may live
/// out of sight.
fn ended<'a>(locks: &[&'a Lock], cwd: &str) -> Vec<&'a Lock> {
    let answers = |lock: &Lock| matches!(lock.probe, Some(Probe::Open | Probe::Asked { .. }));
    let (ended, as_if_alive): (Vec<&Lock>, Vec<_>) = locks
        .iter()
        .filter(|lock| lock.pid_alive == Some(false) && !answers(lock))
        .filter_map(|lock| Some((*lock, Listed { pid_alive: None, ..lock.listed()? })))
        .unzip();
    let matching = choose(&as_if_alive, &Place { cwd, canonical: None, port: None });
    matching.accepted.iter().filter_map(|accepted| ended.get(accepted.index).copied()).collect()
}

fn only_physically(facts: &Facts, lock: &Lock, because: &Because) -> Option<Finding> {
    let by_link = matching(facts, &facts.here.logical).1;
    let matches = by_link.accepted.iter().any(|accepted| Some(accepted.port) == lock.port);
    (*because != Because::Port && !matches).then(|| {
        let says =
            format!("{} has {:?} open, and not {:?}", editor(lock), facts.here.canonical, facts.here.logical);
        Finding::of(&kinds::MATCHES_ONLY_PHYSICALLY, lock, says)
    })
}
