//! Lines of JSON, for programs. `ide-mcp help findings` documents their members.

use super::Report;
use crate::doctor::kinds::Status;
use crate::doctor::rules::{Finding, Verdict};
use crate::support::{Shell, json_line};
use serde::Serialize;
use std::io;

/// Returns a line for each finding, and one for the verdict.
pub(crate) fn json(report: &Report<'_>) -> io::Result<Vec<String>> {
    let mut lines = Vec::new();
    for finding in report.findings {
        lines.push(json_line(&Line::of(finding, report.shell))?);
    }
    lines.push(json_line(&Last::of(report))?);
    Ok(lines)
}

#[derive(Serialize)]
pub(super) struct Line<'a> {
    event: &'static str,
    id: &'static str,
    status: Status,
    message: &'a str,
    meaning: &'static str,
    #[serde(skip_serializing_if = "str::is_empty")]
    advice: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    command: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    shell: Option<Shell>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    port: Option<u16>,
}

impl<'a> Line<'a> {
    pub(super) fn of(finding: &'a Finding, shell: Shell) -> Self {
        let Finding { kind, message, path, port, advice, command, is_of_another: _ } = finding;
        let (id, status, meaning, path) = (kind.id, kind.status, kind.meaning, path.as_deref());
        let shell = (!command.is_empty()).then_some(shell);
        Self { event: "finding", id, status, message, meaning, advice, command, shell, path, port: *port }
    }
}

#[derive(Serialize)]
pub(super) struct Last<'a> {
    event: &'static str,
    verdict: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    port: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    cwd: &'a str,
    problems: usize,
    warnings: usize,
    notes: usize,
    ok: usize,
    status: u8,
}

impl<'a> Last<'a> {
    pub(super) fn of(report: &Report<'a>) -> Self {
        let (verdict, port, name) = match report.verdict {
            Verdict::Attaches { port, name } => ("attaches", Some(*port), Some(name.as_str())),
            Verdict::NotProbed { port, name } => ("not_probed", Some(*port), Some(name.as_str())),
            Verdict::Fails { port, name } => ("fails", Some(*port), Some(name.as_str())),
            Verdict::Refrains { port, name } => ("refrains", Some(*port), Some(name.as_str())),
            Verdict::MustChoose(_) => ("must_choose", None, None),
            Verdict::FindsNothing => ("finds_nothing", None, None),
            Verdict::Unknown => ("unknown", None, None),
        };
        Self {
            event: "verdict",
            verdict,
            port,
            name,
            cwd: report.cwd,
            problems: report.count(Status::Problem),
            warnings: report.count(Status::Warning),
            notes: report.count(Status::Note),
            ok: report.count(Status::Ok),
            status: report.exit_status(),
        }
    }
}
