//! One look of the doctor: the facts, and the findings without secrets.

use super::facts::{Facts, Here, Lock, Removed};
use super::gather::gather;
use super::report::Report;
use super::rules::{self, Finding, Verdict};
use super::secrets::Secrets;
use crate::support::{Progress, unix_ms};
use ide_mcp_driver::Trust;
use ide_mcp_lockfile::WorkingDir;
use std::time::Duration;

/// The settings, the same for every look.
#[derive(Debug)]
pub(crate) struct Doctor {
    pub(crate) here: WorkingDir,
    /// Whose ports the doctor connects to; `None` if it connects to none.
    pub(crate) connects: Option<Trust>,
    pub(crate) removed: Vec<Removed>,
    /// True if the findings have ages, which differ from one look to the next.
    pub(crate) has_ages: bool,
}

impl Doctor {
    /// Looks at everything now. An editor that has not changed since `before` keeps its answers: the doctor
    /// does not connect to it again.
    pub(crate) fn look(&self, before: &[Lock], progress: &mut Progress) -> Diagnosis {
        let removed = self.removed.clone();
        let mut facts = gather(Here::from(&self.here), self.connects, removed, before, progress);
        facts.now = self.has_ages.then(|| Duration::from_millis(unix_ms()));
        Diagnosis::of(facts)
    }
}

/// The result of a look.
#[derive(Debug)]
pub(crate) struct Diagnosis {
    pub(crate) facts: Facts,
    pub(crate) findings: Vec<Finding>,
    pub(crate) verdict: Verdict,
    pub(crate) secrets: Secrets,
    /// The directory of the agent, as the user sees it.
    cwd: String,
}

impl Diagnosis {
    /// Judges the facts, and removes all secrets from the result.
    pub(crate) fn of(facts: Facts) -> Self {
        let secrets = Secrets::of(&facts);
        let mut findings = rules::judge(&facts);
        let mut verdict = rules::verdict(&facts, &findings);
        findings.iter_mut().for_each(|finding| secrets.clean(finding));
        if let Some(name) = verdict.name_mut() {
            *name = secrets.hide(name);
        }
        let cwd = secrets.hide(&facts.here.logical);
        Self { facts, findings, verdict, secrets, cwd }
    }

    pub(crate) fn report(&self) -> Report<'_> {
        let Facts { shell, has_agent, .. } = self.facts;
        Report { findings: &self.findings, verdict: &self.verdict, cwd: &self.cwd, shell, has_agent }
    }
}
