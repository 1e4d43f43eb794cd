//! The rules about what answers on the ports of the lock files.

use super::words::{editor, listed, user};
use super::{Finding, shown_value};
use crate::doctor::facts::{Answer, Facts, Lock, Probe, System};
use crate::doctor::kinds::{self, Kind};
use ide_mcp::ide::discovery::Transport;
use ide_mcp::ide::discovery::client_env::{HOST_VARIABLE, LOOPBACK};

pub(super) fn look(facts: &Facts, findings: &mut Vec<Finding>) {
    for lock in facts.locks.iter().filter(|lock| lock.used) {
        let found =
            lock.probe.as_ref().map_or_else(|| not_probed(lock), |probe| answered(lock, probe, facts));
        findings.extend(found.into_iter().map(|(kind, message)| Finding::of(kind, lock, message)));
    }
    findings.extend(unknown_owners(facts));
}

/// Returns one finding for all ports whose owner is not known. On some systems that is every port.
fn unknown_owners(facts: &Facts) -> Option<Finding> {
    let unknown = |lock: &&Lock| lock.used && lock.unknown_owner.is_some();
    let locks: Vec<&Lock> = facts.locks.iter().filter(unknown).collect();
    let reason = locks.first()?.unknown_owner?;
    let editors: Vec<String> = locks.iter().map(|lock| editor(lock)).collect();
    let message =
        format!("the doctor cannot tell which user listens for {}: {reason}", listed(&editors, " and "));
    Some(Finding::new(&kinds::OWNER_UNKNOWN, message))
}

/// Returns the kind for a port on which nobody listens; it depends on what is known about the process.
fn refuses(lock: &Lock, facts: &Facts) -> &'static Kind {
    let is_on_windows = lock.file.as_ref().is_ok_and(|file| file.running_in_windows);
    match (lock.pid_alive, facts.system) {
        (Some(true), _) => &kinds::PORT_REFUSES,
        (_, System::Wsl { .. }) if is_on_windows => &kinds::PORT_OF_WINDOWS_REFUSES,
        _ => &kinds::PORT_REFUSES_PROCESS_UNKNOWN,
    }
}

fn not_probed(lock: &Lock) -> Vec<(&'static Kind, String)> {
    match &lock.file {
        Ok(file) if file.transport == Transport::WebSocket && lock.pid_alive != Some(false) => {
            vec![(&kinds::NOT_PROBED, format!("the doctor did not connect to {}", editor(lock)))]
        }
        _ => Vec::new(),
    }
}

fn answered(lock: &Lock, probe: &Probe, facts: &Facts) -> Vec<(&'static Kind, String)> {
    let who = match facts.variables.client().host() {
        LOOPBACK => editor(lock),
        host => format!("{} of {}", editor(lock), shown_value(HOST_VARIABLE, host)),
    };
    match probe {
        // The rules about each lock file have already reported the dead process.
        Probe::Open { .. } => Vec::new(),
        Probe::Refused | Probe::Unreachable(_) if lock.pid_alive == Some(false) => Vec::new(),
        Probe::Refused => vec![(refuses(lock, facts), format!("{who} does not listen"))],
        Probe::NotOurs { owner, us } => vec![(
            &kinds::PORT_OF_ANOTHER_USER,
            format!("the port of {who} belongs to {}, you are {}", user(*owner), user(*us)),
        )],
        Probe::WithoutOwner => {
            vec![(&kinds::PORT_WITHOUT_OWNER, format!("the owner of the socket of {who} is not found"))]
        }
        Probe::Unreachable(error) => {
            vec![(&kinds::PORT_SILENT, format!("{who} cannot be reached: {error}"))]
        }
        Probe::Attempted { with_token, without_token, with_origin } => {
            let who_answers = match lock.listener {
                Some(process) => format!("{who} (process {process})"),
                None => who.clone(),
            };
            let mut found = vec![attached(&who_answers, with_token)];
            found.extend(without_token.as_ref().and_then(|answer| tokenless(&who, answer)));
            found.extend(with_origin.as_ref().and_then(|answer| browser(&who, answer)));
            found
        }
    }
}

fn attached(who: &str, answer: &Answer) -> (&'static Kind, String) {
    match answer {
        Answer::Attached => (&kinds::EDITOR_ANSWERS, format!("{who} opens a session")),
        Answer::Refused(how) => {
            (&kinds::TOKEN_REFUSED, format!("{who} refuses the token of its own lock file: {how}"))
        }
        Answer::Declined(how) => (&kinds::EDITOR_DECLINES, format!("{who} declines: {how}")),
        Answer::Full => (&kinds::EDITOR_FULL, format!("{who} has no room for another agent")),
        Answer::NoSubprotocol => {
            (&kinds::SUBPROTOCOL_MISSING, format!("{who} does not choose the sub-protocol mcp"))
        }
        Answer::NoSession(reason) => (&kinds::SESSION_FAILS, format!("{who} opens no session: {reason}")),
        Answer::Silent => (&kinds::PORT_SILENT, format!("{who} does not answer")),
        Answer::Alien(reason) => {
            (&kinds::NOT_AN_EDITOR, format!("{who} does not answer as an editor: {reason}"))
        }
    }
}

/// Returns a finding if the editor accepts or refuses a client without the token.
fn tokenless(who: &str, answer: &Answer) -> Option<(&'static Kind, String)> {
    match answer {
        Answer::Attached => {
            Some((&kinds::ACCEPTS_WITHOUT_TOKEN, format!("{who} opens a session without its token")))
        }
        Answer::Refused(_) | Answer::Declined(_) => {
            Some((&kinds::REFUSES_WITHOUT_TOKEN, format!("{who} refuses clients without a token")))
        }
        _ => None,
    }
}

fn browser(who: &str, answer: &Answer) -> Option<(&'static Kind, String)> {
    match answer {
        Answer::Attached => Some((
            &kinds::ACCEPTS_WITH_ORIGIN,
            format!("{who} opens a session for a web page that has its token"),
        )),
        Answer::Refused(_) | Answer::Declined(_) => {
            Some((&kinds::REFUSES_ORIGIN, format!("{who} refuses web pages")))
        }
        _ => None,
    }
}
