//! The rules that turn facts into findings. They are pure: their input is [`Facts`], and their
//! findings are in [`kinds`](crate::doctor::kinds).

mod answers;
mod choice;
mod directories;
mod duplicates;
mod locks;
#[cfg(test)]
mod tests;
mod variables;

pub(crate) use choice::{Verdict, verdict};
pub(crate) use variables::NAMES;

use crate::doctor::facts::{Facts, Lock};
use crate::doctor::kinds::Kind;

/// The rules, in the order of the steps in which an agent would fail.
const RULES: &[fn(&Facts, &mut Vec<Finding>)] =
    &[choice::look, variables::look, directories::look, locks::look, answers::look, duplicates::look];

/// A finding, good or bad.
#[derive(Clone, Debug)]
pub(crate) struct Finding {
    pub(crate) kind: &'static Kind,
    /// The details, as a sentence without its period. Texts of a peer in it are quoted.
    pub(crate) says: String,
    pub(crate) path: Option<String>,
    pub(crate) port: Option<u16>,
    /// The advice of the kind with the values of this finding; empty if nothing is to be done.
    pub(crate) advice: String,
}

/// Returns the findings for these facts, worst first.
pub(crate) fn judge(facts: &Facts) -> Vec<Finding> {
    let mut findings = Vec::new();
    for look in RULES {
        look(facts, &mut findings);
    }
    for finding in &mut findings {
        finding.fill_in(&facts.here.canonical);
    }
    findings.sort_by_key(|finding| finding.kind.status);
    findings
}

impl Finding {
    fn new(kind: &'static Kind, says: impl Into<String>) -> Self {
        Self { kind, says: says.into(), path: None, port: None, advice: String::new() }
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
    fn of(kind: &'static Kind, lock: &Lock, says: impl Into<String>) -> Self {
        Self { port: lock.port, ..Self::new(kind, says).path(&lock.path) }
    }

    fn fill_in(&mut self, cwd: &str) {
        let path = self.path.as_deref().map(quoted).unwrap_or_default();
        let port = self.port.map(|port| port.to_string()).unwrap_or_default();
        let advice = self.kind.advice.replace("{port}", &port).replace("{cwd}", &quoted(cwd));
        // The path comes last, since it can contain the other placeholders.
        self.advice = advice.replace("{path}", &path);
    }
}

/// Returns the name of this editor for a person.
fn editor(lock: &Lock) -> String {
    let port = lock.port.unwrap_or_default();
    match lock.file.as_ref().map(|file| file.ide_name.as_str()) {
        Ok(name) if !name.is_empty() => format!("{name:?} on port {port}"),
        _ => format!("the editor on port {port}"),
    }
}

/// Returns a path quoted for a shell.
fn quoted(path: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+@:,".contains(c);
    if !path.is_empty() && path.chars().all(is_plain) {
        path.into()
    } else {
        format!("'{}'", path.replace('\'', r"'\''"))
    }
}
