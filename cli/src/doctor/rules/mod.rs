//! The rules that turn facts into findings. They are pure: all they read is [`Facts`]. [`kinds`] has
//! the possible findings.

mod advice;
mod answers;
mod choice;
mod directories;
mod duplicates;
mod locks;
#[cfg(test)]
mod tests;
mod variables;
mod words;

pub(crate) use choice::{Verdict, verdict};
pub(crate) use variables::{NAMES, shown_value};
pub(crate) use words::editor_named;

use crate::doctor::facts::{Facts, Lock};
use crate::doctor::kinds::{self, Kind};
use ide_mcp_lockfile::ago;
use words::editor;

/// The rules, in the order of the steps that an agent could fail at.
const RULES: &[fn(&Facts, &mut Vec<Finding>)] =
    &[choice::look, variables::look, directories::look, locks::look, answers::look, duplicates::look];

/// A finding, good or bad.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) kind: &'static Kind,
    /// The details, as a sentence without its period. Strings of a peer are quoted in it.
    pub(crate) message: String,
    pub(crate) path: Option<String>,
    pub(crate) port: Option<u16>,
    /// The advice of the kind, with the values of this finding; empty if there is nothing to do.
    pub(crate) advice: String,
    /// The command that follows the advice, for the user's shell; empty if only the user can follow it.
    pub(crate) command: String,
    /// True if the path belongs to another user, so that only its owner or root can change its mode.
    pub(crate) is_of_another: bool,
}

/// Returns the findings for these facts, worst first, and those of the same kind together.
pub(crate) fn judge(facts: &Facts) -> Vec<Finding> {
    let mut findings = Vec::new();
    for look in RULES {
        look(facts, &mut findings);
    }
    let finds_another =
        matches!(verdict(facts, &findings), Verdict::Attaches { .. } | Verdict::NotProbed { .. });
    for finding in
        findings.iter_mut().filter(|finding| finds_another && *finding.kind == kinds::LOCK_UNPARSABLE)
    {
        finding.kind = &kinds::LOCK_UNPARSABLE_BESIDE;
    }
    for finding in &mut findings {
        advice::fill_in(finding, &facts.here.canonical, facts.shell);
    }
    let mut order: Vec<&'static Kind> = Vec::new();
    for finding in &findings {
        if !order.contains(&finding.kind) {
            order.push(finding.kind);
        }
    }
    findings.sort_by_key(|Finding { kind, .. }| {
        // A cause stands before its consequence.
        let is_consequence = *kind == &kinds::NO_USABLE_EDITOR;
        (kind.status, is_consequence, order.iter().position(|other| other == kind))
    });
    findings
}

impl Finding {
    fn new(kind: &'static Kind, message: impl Into<String>) -> Self {
        let (advice, command) = (String::new(), String::new());
        Self { kind, message: message.into(), path: None, port: None, advice, command, is_of_another: false }
    }

    fn path(mut self, path: &str) -> Self {
        self.path = Some(path.into());
        self
    }

    fn port(mut self, port: u16) -> Self {
        self.port = Some(port);
        self
    }

    /// Creates a finding about this lock file.
    fn of(kind: &'static Kind, lock: &Lock, message: impl Into<String>) -> Self {
        Self { port: lock.port, ..Self::new(kind, message).path(&lock.path) }
    }
}

/// Returns the name of this editor for a user who must choose among several, often with the same name.
fn editor_among(lock: &Lock, facts: &Facts) -> String {
    let process = lock.file.as_ref().ok().and_then(|file| file.pid).map(|pid| format!("process {pid}"));
    let age = lock.age(facts.now).map(|age| format!("lock file written {}", ago(age)));
    let more: Vec<String> = process.into_iter().chain(age).collect();
    if more.is_empty() { editor(lock) } else { format!("{} ({})", editor(lock), more.join(", ")) }
}
