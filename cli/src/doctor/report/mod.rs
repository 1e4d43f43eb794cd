//! The report of the findings: for a user, as lines of JSON, or as Markdown; and the changes between
//! two reports.

mod changes;
mod json;
mod markdown;
mod text;

pub(crate) use changes::{Change, json_of, text_of};
pub(crate) use json::json;
pub(crate) use markdown::markdown;
pub(crate) use text::{Paint, text};

use crate::doctor::kinds::Status;
use crate::doctor::rules::{Finding, Verdict};
use crate::support::Shell;

/// The contents of a report.
#[derive(Debug)]
pub(crate) struct Report<'a> {
    pub(crate) findings: &'a [Finding],
    pub(crate) verdict: &'a Verdict,
    /// The directory as the user sees it.
    pub(crate) cwd: &'a str,
    /// The shell that the commands are for.
    pub(crate) shell: Shell,
    /// True if a known agent is in PATH.
    pub(crate) has_agent: bool,
}

#[cfg(test)]
impl<'a> Report<'a> {
    /// Returns a report about `/w` for a POSIX shell, with an agent in PATH.
    const fn of(findings: &'a [Finding], verdict: &'a Verdict) -> Self {
        Self { findings, verdict, cwd: "/w", shell: Shell::Posix, has_agent: true }
    }
}

impl Report<'_> {
    fn count(&self, status: Status) -> usize {
        self.findings.iter().filter(|finding| finding.kind.status == status).count()
    }

    /// Returns the exit status: 0, or 1 with a problem or a warning, or 2 if the doctor could not
    /// inspect something.
    pub(crate) fn exit_status(&self) -> u8 {
        if self.findings.iter().any(|finding| finding.kind.blinds) {
            2
        } else {
            u8::from(self.count(Status::Problem) > 0 || self.count(Status::Warning) > 0)
        }
    }
}
