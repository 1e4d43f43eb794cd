//! The rules about the editor that an agent would attach to in this directory.

use super::words::{editor, folders, listed, quoted};
use super::{Finding, editor_among};
use crate::doctor::facts::{Facts, Lock, Probe, State, Trouble};
use crate::doctor::kinds;
use ide_mcp::ide::discovery::matching::{AgentContext, Candidate, MatchReason, Matching, Refusal, choose};
use ide_mcp::ide::discovery::{LockFile, Transport};

/// The result for an agent that starts here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Attaches {
        port: u16,
        name: String,
    },
    /// The agent would choose this editor; the doctor did not connect to it.
    NotProbed {
        port: u16,
        name: String,
    },
    /// The agent would choose this editor, but cannot reach it or is refused.
    Fails {
        port: u16,
        name: String,
    },
    /// The agent would choose this editor, but its environment keeps it from attaching.
    Refrains {
        port: u16,
        name: String,
    },
    MustChoose(usize),
    FindsNothing,
    /// The real client reads a lock file or a directory that the doctor does not.
    Unknown,
}

impl Verdict {
    /// Returns the name of the editor, as its lock file has it.
    pub(crate) fn name_mut(&mut self) -> Option<&mut String> {
        match self {
            Self::Attaches { name, .. }
            | Self::NotProbed { name, .. }
            | Self::Fails { name, .. }
            | Self::Refrains { name, .. } => Some(name),
            Self::MustChoose(_) | Self::FindsNothing | Self::Unknown => None,
        }
    }
}

/// Returns the verdict for these facts. The findings tell whether a proxy is in the way.
pub(crate) fn verdict(facts: &Facts, findings: &[Finding]) -> Verdict {
    let by_proxy = findings.iter().any(|finding| finding.kind == &kinds::PROXY_TAKES_LOOPBACK);
    let (locks, Choice { matching, .. }) = matching(facts, &facts.here.canonical);
    let only = matching.unique().and_then(|only| Some((locks.get(only.index)?, &only.reason)));
    match (only, matching.accepted.len()) {
        // A file that was not read may belong to another editor with the same folder.
        (Some((_, reason)), _) if *reason != MatchReason::Port && leaves_unread(facts) => Verdict::Unknown,
        (Some((lock, _)), _) => {
            let port = lock.port.unwrap_or_default();
            let name = lock.file.as_ref().map(|file| file.ide_name.clone()).unwrap_or_default();
            if !facts.variables.client().auto_connects() {
                return Verdict::Refrains { port, name };
            }
            match &lock.probe {
                Some(_) if lock.attaches() && !by_proxy => Verdict::Attaches { port, name },
                None if !by_proxy => Verdict::NotProbed { port, name },
                _ => Verdict::Fails { port, name },
            }
        }
        (None, 0) if leaves_unread(facts) => Verdict::Unknown,
        (None, 0) => Verdict::FindsNothing,
        (None, several) => Verdict::MustChoose(several),
    }
}

/// Returns true if the real client reads a file that the doctor skips for safety, so that its choice is unknown.
fn leaves_unread(facts: &Facts) -> bool {
    let is_skipped = |lock: &Lock| matches!(lock.file, Err(Trouble::Link | Trouble::NotOurs { .. }));
    let directories = facts.directories.as_deref().unwrap_or_default();
    facts.locks.iter().any(|lock| lock.used && is_skipped(lock))
        || directories.iter().any(|directory| directory.used && directory.is_refused())
}

pub(super) fn look(facts: &Facts, findings: &mut Vec<Finding>) {
    let cwd = &facts.here.canonical;
    let directories = facts.directories.as_deref().unwrap_or_default();
    if !facts.locks.iter().any(|lock| lock.used) {
        // Another rule has reported a directory that is missing, or that cannot be read or written.
        if let Some(directory) = directories.iter().find(|directory| {
            directory.used
                && matches!(directory.state, State::There { .. })
                && !directory.is_refused()
                && directory.unwritable.is_none()
        }) {
            let message = format!("there is no lock file in {}", quoted(&directory.path));
            findings.push(Finding::new(&kinds::NO_LOCK_FILES, message).path(&directory.path));
        }
        return;
    }
    let (locks, Choice { matching, spelled }) = matching(facts, cwd);
    for refused in &matching.refused {
        if let (Refusal::NoFolders { .. }, Some(lock)) = (&refused.reason, locks.get(refused.index)) {
            findings.push(Finding::of(
                &kinds::EDITOR_WITHOUT_FOLDERS,
                lock,
                format!("{} has no folder open", editor(lock)),
            ));
        }
    }
    let accepted: Vec<(&Lock, &MatchReason)> = matching
        .accepted
        .iter()
        .filter_map(|accepted| Some((*locks.get(accepted.index)?, &accepted.reason)))
        .collect();
    findings.extend(hidden(facts, &locks, &accepted));
    match accepted.as_slice() {
        [] => findings.extend(nothing(facts, &locks, &matching, &spelled)),
        [(lock, reason)] => {
            let message = match reason {
                MatchReason::Port => format!("{} is named by the environment", editor(lock)),
                MatchReason::Unchecked => {
                    format!("{} is the only usable editor, and the folder check is off", editor(lock))
                }
                _ => format!("{} has {} open", editor(lock), quoted(cwd)),
            };
            findings.push(Finding::of(&kinds::EDITOR_FOUND, lock, message));
            findings.extend(named(facts, &locks, lock, reason));
            findings.extend(only_physically(facts, lock, reason));
        }
        several => {
            let names: Vec<String> = several.iter().map(|(lock, _)| editor_among(lock, facts)).collect();
            let unchecked = several.iter().any(|(_, reason)| **reason == MatchReason::Unchecked);
            let what = if unchecked {
                "are running, and the folder check is off".into()
            } else {
                format!("have {} open", quoted(cwd))
            };
            findings
                .push(Finding::new(&kinds::SEVERAL_EDITORS, format!("{} {what}", listed(&names, " and "))));
        }
    }
}

/// The choice of the real client among the lock files.
struct Choice {
    /// The result without editors whose folder matches only in another spelling, since the real client does not
    /// recognize those.
    matching: Matching,
    /// The indices of the editors left out of `matching`.
    spelled: Vec<usize>,
}

/// Returns the lock files that the client reads, and its choice among them in this directory.
fn matching<'a>(facts: &'a Facts, cwd: &str) -> (Vec<&'a Lock>, Choice) {
    let port = facts.variables.client().port();
    matching_with(facts, cwd, port)
}

fn matching_with<'a>(facts: &'a Facts, cwd: &str, port: Option<u16>) -> (Vec<&'a Lock>, Choice) {
    let (locks, listed): (Vec<&Lock>, Vec<_>) =
        facts.locks.iter().filter(|lock| lock.used).filter_map(|lock| Some((lock, lock.listed()?))).unzip();
    let any_folder = facts.variables.client().skips_folder_check();
    // The real client compares only one form of its directory, which is `cwd`. So there is no second one in `canonical`.
    let mut matching =
        choose(&listed, &AgentContext { cwd, canonical: None, port, any_folder, system: facts.system });
    let mut spelled = Vec::new();
    if !any_folder {
        matching.accepted.retain(|accepted| {
            let is_spelled = matches!(accepted.reason, MatchReason::Spelling(_));
            spelled.extend(is_spelled.then_some(accepted.index));
            !is_spelled
        });
    }
    (locks, Choice { matching, spelled })
}

fn nothing(facts: &Facts, locks: &[&Lock], matching: &Matching, spelled: &[usize]) -> Vec<Finding> {
    let logically = self::matching(facts, &facts.here.logical).1.matching;
    let by_link = logically.accepted.iter().filter_map(|accepted| locks.get(accepted.index));
    let message = |lock: &Lock| {
        format!("{} has only {} open, which leads here", editor(lock), quoted(&facts.here.logical))
    };
    let found: Vec<Finding> =
        by_link.map(|lock| Finding::of(&kinds::MATCHES_ONLY_LOGICALLY, lock, message(lock))).collect();
    if !found.is_empty() {
        return found;
    }
    let spelled = spelled.iter().filter_map(|index| locks.get(*index));
    let found: Vec<Finding> = spelled
        .map(|lock| Finding::of(&kinds::FOLDER_SPELLED_DIFFERENTLY, lock, other_spelling(facts, lock)))
        .collect();
    // Another finding already names the unread file.
    if !found.is_empty() || leaves_unread(facts) {
        return found;
    }
    let elsewhere =
        matching.refused.iter().filter_map(|refused| match (&refused.reason, locks.get(refused.index)) {
            (Refusal::Elsewhere { folders }, Some(lock)) => {
                let is_inside = folders.iter().any(|folder| has_open(facts, folder, &facts.here.canonical));
                let remedy = if is_inside { " (/ide in the agent lists it)" } else { "" };
                Some(format!("{} has only {} open{remedy}", editor(lock), self::folders(folders)))
            }
            _ => None,
        });
    // The likeliest cause comes first.
    let ended = ended(facts, locks).into_iter();
    let others: Vec<String> = ended
        .map(|lock| format!("{} had it open until its process ended", editor(lock)))
        .chain(elsewhere)
        .collect();
    let mut message = format!("no usable editor has {} open", quoted(&facts.here.canonical));
    if !others.is_empty() {
        message.push_str(&format!(": {}", listed(&others, "; ")));
    }
    let is_useless = locks.iter().any(|lock| is_unread(lock)) || !open_in_useless(facts, locks).is_empty();
    let kind = if is_useless { &kinds::NO_USABLE_EDITOR } else { &kinds::NO_EDITOR_FOR_DIRECTORY };
    vec![Finding::new(kind, message)]
}

/// Returns true if we cannot tell which editor wrote the lock file.
const fn is_unread(lock: &Lock) -> bool {
    matches!(lock.file, Err(Trouble::Unparsable(_) | Trouble::Unreadable { .. }))
}

/// Returns the editors that had this directory open and left their lock file behind. An editor whose port answers is
/// not among them: its process may be alive but not visible.
fn ended<'a>(facts: &Facts, locks: &[&'a Lock]) -> Vec<&'a Lock> {
    let answers = |lock: &Lock| matches!(lock.probe, Some(Probe::Open { .. } | Probe::Attempted { .. }));
    let is_of_websocket =
        |lock: &Lock| lock.file.as_ref().is_ok_and(|file| file.transport == Transport::WebSocket);
    let mut ended = open_in_useless(facts, locks);
    ended.retain(|lock| lock.pid_alive == Some(false) && !answers(lock) && is_of_websocket(lock));
    ended
}

/// Returns the lock files of editors that have this directory open, but that no agent uses: the process is dead, or the
/// transport is not WebSocket.
fn open_in_useless<'a>(facts: &Facts, locks: &[&'a Lock]) -> Vec<&'a Lock> {
    let as_if_useful = |lock: &Lock| {
        let Candidate { file, pid_alive, .. } = lock.listed()?;
        let mut file = file.ok()?;
        let is_useless = pid_alive == Some(false) || file.transport != Transport::WebSocket;
        file.transport = Transport::WebSocket;
        is_useless.then_some(Candidate { file: Ok(file), pid_alive: None, ..lock.listed()? })
    };
    let (useless, as_if_useful): (Vec<&Lock>, Vec<_>) =
        locks.iter().filter_map(|lock| Some((*lock, as_if_useful(lock)?))).unzip();
    let cwd = &facts.here.canonical;
    let matching =
        choose(&as_if_useful, &AgentContext { cwd, system: facts.system, ..AgentContext::default() });
    matching.accepted.iter().filter_map(|accepted| useless.get(accepted.index).copied()).collect()
}

/// Returns a finding for each leftover that opencode and Kilo Code would take instead of a living editor. They take, of
/// the lock files with a folder that contains the directory, the one with the longest such folder, then the newest, and
/// do not look at its process (measured). A port in a variable takes precedence.
fn hidden(facts: &Facts, locks: &[&Lock], accepted: &[(&Lock, &MatchReason)]) -> Vec<Finding> {
    let rank = |lock: &Lock| {
        let folders = lock.file.as_ref().map(|file| file.workspace_folders.as_slice()).unwrap_or_default();
        let open = folders.iter().filter(|folder| has_open(facts, &facts.here.canonical, folder));
        Some((open.map(String::len).max()?, lock.modified))
    };
    let is_folder = |reason: &MatchReason| matches!(reason, MatchReason::Folder(_));
    let living = accepted.iter().filter(|(_, reason)| is_folder(reason)).filter_map(|(lock, _)| rank(lock));
    let Some(best) = living.max() else { return Vec::new() };
    let hides = |lock: &&&Lock| lock.is_left_over() && rank(lock).is_some_and(|rank| rank > best);
    locks
        .iter()
        .filter(hides)
        .map(|lock| {
            let message = format!("{} hides the living editor from opencode and Kilo Code", editor(lock));
            Finding::of(&kinds::LEFTOVER_HIDES_EDITOR, lock, format!("the lock file left over by {message}"))
        })
        .collect()
}

/// Returns true if `folder` is `path` or contains it, as the client compares them.
fn has_open(facts: &Facts, path: &str, folder: &str) -> bool {
    let file = LockFile::new(0, vec![folder.into()], "", None);
    let candidate = Candidate::<&str> { port: 1, file: Ok(file), pid_alive: None, modified: None };
    let context = AgentContext { cwd: path, system: facts.system, ..AgentContext::default() };
    let chosen = choose(&[candidate], &context);
    chosen.accepted.iter().any(|accepted| matches!(accepted.reason, MatchReason::Folder(_)))
}

/// Returns a finding if the environment names this editor, and it is not the only one that has the directory open.
fn named(facts: &Facts, locks: &[&Lock], lock: &Lock, reason: &MatchReason) -> Option<Finding> {
    if *reason != MatchReason::Port {
        return None;
    }
    let (_, unnamed) = matching_with(facts, &facts.here.canonical, None);
    let of_folder = |reason: &MatchReason| matches!(reason, MatchReason::Folder(_));
    let open = unnamed.matching.accepted.iter().filter(|accepted| of_folder(&accepted.reason));
    let open: Vec<&Lock> = open.filter_map(|accepted| locks.get(accepted.index).copied()).collect();
    let names: Vec<String> = open.iter().map(|lock| editor_among(lock, facts)).collect();
    let (names, folder) = (listed(&names, " and "), quoted(&facts.here.canonical));
    if !open.is_empty() && open.iter().all(|other| other.port != lock.port) {
        let message = format!("CLAUDE_CODE_SSE_PORT names {}, and {folder} is open in {names}", editor(lock));
        return Some(Finding::of(&kinds::PORT_VARIABLE_ELSEWHERE, lock, message));
    }
    if open.is_empty() {
        return only_elsewhere(facts, locks, lock, &unnamed);
    }
    (open.len() > 1)
        .then(|| Finding::of(&kinds::SEVERAL_EDITORS_ONE_NAMED, lock, format!("{names} have {folder} open")))
}

/// Returns a finding if the named editor has only other folders open, and no editor has the directory.
fn only_elsewhere(facts: &Facts, locks: &[&Lock], lock: &Lock, unnamed: &Choice) -> Option<Finding> {
    let others = lock.file.as_ref().map(|file| file.workspace_folders.as_slice()).unwrap_or_default();
    let here = [&facts.here.canonical, &facts.here.logical];
    let is_open = others.iter().any(|folder| here.iter().any(|path| has_open(facts, path, folder)));
    let mut spelled = unnamed.spelled.iter().filter_map(|index| locks.get(*index));
    let is_spelled = spelled.any(|spelled| spelled.port == lock.port);
    let is_fine = others.is_empty() || is_open || is_spelled || facts.variables.client().skips_folder_check();
    (!is_fine).then(|| {
        let (folder, others) = (quoted(&facts.here.canonical), folders(others));
        let message = format!(
            "CLAUDE_CODE_SSE_PORT names {}, which has only {others} open, and no editor has {folder}",
            editor(lock)
        );
        Finding::of(&kinds::PORT_VARIABLE_ONLY_ELSEWHERE, lock, message)
    })
}

fn other_spelling(facts: &Facts, lock: &Lock) -> String {
    let others = lock.file.as_ref().map(|file| file.workspace_folders.as_slice()).unwrap_or_default();
    format!(
        "{} has {} open in another spelling: {}",
        editor(lock),
        quoted(&facts.here.canonical),
        folders(others)
    )
}

fn only_physically(facts: &Facts, lock: &Lock, reason: &MatchReason) -> Option<Finding> {
    let by_link = matching(facts, &facts.here.logical).1.matching;
    let matches = by_link.accepted.iter().any(|accepted| Some(accepted.port) == lock.port);
    (matches!(reason, MatchReason::Folder(_)) && !matches).then(|| {
        let message = format!(
            "{} has {} open, and not {}",
            editor(lock),
            quoted(&facts.here.canonical),
            quoted(&facts.here.logical)
        );
        Finding::of(&kinds::MATCHES_ONLY_PHYSICALLY, lock, message)
    })
}
