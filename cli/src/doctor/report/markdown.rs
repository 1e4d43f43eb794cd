//! The Markdown for a bug report: what a stranger needs to understand the fault, without tokens,
//! and with `~` instead of the home directory.

use super::Report;
use super::text::headline;
use crate::doctor::diagnosis::Diagnosis;
use crate::doctor::facts::{Answer, Lock, Probe};
use crate::doctor::gather::Surroundings;
use crate::doctor::kinds::Status;
use crate::doctor::rules::{NAMES, shown_value};
use ide_mcp::ide::kit::display_safe;
use std::fmt::Write as _;

/// The maximum number of rows in a table. Findings come worst first and lock files newest first, and further
/// ones are mostly leftovers.
const MAX_ROWS: usize = 20;

/// Returns the report.
pub(crate) fn markdown(report: &Report<'_>, diagnosis: &Diagnosis, around: &Surroundings) -> String {
    let page = Page { diagnosis, homes: &around.homes };
    let headline = page.code(&headline(report));
    let client = page.code(&around.client);
    let system = page.code(&around.system);
    let version = env!("CARGO_PKG_VERSION");
    let mut text =
        format!("{headline}\n\n- `ide-mcp`: `{version}`\n- `claude`: {client}\n- system: {system}\n\n");
    for part in [page.variables(), page.findings(report), page.locks()] {
        text.push_str(&part);
        text.push('\n');
    }
    text.trim_end().into()
}

struct Page<'a> {
    diagnosis: &'a Diagnosis,
    homes: &'a [String],
}

impl Page<'_> {
    fn variables(&self) -> String {
        let set = NAMES.iter().filter_map(|name| Some((name, self.diagnosis.facts.variables.get(name)?)));
        let rows: Vec<[String; 2]> =
            set.map(|(name, value)| [self.code(name), self.code(&shown_value(name, value))]).collect();
        table("Variables", ["name", "value"], &rows)
    }

    fn findings(&self, report: &Report<'_>) -> String {
        let faults = report.findings.iter().filter(|finding| finding.kind.status != Status::Ok);
        let rows: Vec<[String; 3]> = faults
            .map(|finding| {
                [finding.kind.status.word().into(), self.code(finding.kind.id), self.code(&finding.message)]
            })
            .collect();
        table("Findings", ["status", "id", "details"], &rows)
    }

    fn locks(&self) -> String {
        let locks = &self.diagnosis.facts.locks;
        let rows: Vec<[String; 7]> = locks.iter().map(|lock| self.lock(lock)).collect();
        let header = ["lock file", "editor", "process", "transport", "folders", "token, mode", "port"];
        table("Lock files", header, &rows)
    }

    fn lock(&self, lock: &Lock) -> [String; 7] {
        let unused = if lock.used { "" } else { ", not read by the agent" };
        let path = self.code(&format!("{}{unused}", lock.path));
        let mode = lock.mode.map_or_else(|| "no mode".into(), |mode| format!("{mode:03o}"));
        let Ok(file) = &lock.file else {
            let unread = || String::from("not read");
            return [path, unread(), unread(), unread(), unread(), mode, answer(lock).into()];
        };
        let life = match lock.pid_alive {
            Some(true) => "runs",
            Some(false) => "does not run",
            None => "unknown",
        };
        let windows = if file.running_in_windows { ", on Windows" } else { "" };
        let process = file.pid.map_or_else(|| "none".into(), |pid| format!("{pid}, {life}{windows}"));
        let token = if file.auth_token.is_some() { "yes" } else { "none" };
        [
            path,
            self.code(&format!("{:?}", file.ide_name)),
            process,
            self.code(&format!("{:?}", file.transport.as_str())),
            self.code(&format!("{:?}", file.workspace_folders)),
            format!("{token}, {mode}"),
            answer(lock).into(),
        ]
    }

    /// Returns a peer's text as code, so that Markdown in it has no effect.
    fn code(&self, text: &str) -> String {
        let mut text = self.diagnosis.secrets.hide(text);
        for home in self.homes {
            text = shortened(&text, home);
        }
        // A code span ends at a backtick, and a cell of a table at a bar.
        format!("`{}`", display_safe(&text).replace('`', "'").replace('|', "¦"))
    }
}

/// Returns the result of the probe in a few words. The findings have its details.
fn answer(lock: &Lock) -> &'static str {
    match &lock.probe {
        None => "not tried",
        Some(Probe::Refused) => "refuses",
        Some(Probe::Unreachable(_)) => "unreachable",
        Some(Probe::Open { .. }) => "answers, but the process is gone",
        Some(Probe::NotOurs { .. }) => "belongs to another user",
        Some(Probe::WithoutOwner) => "owner not found",
        Some(Probe::Attempted { with_token, .. }) => match with_token {
            Answer::Attached => "attaches",
            Answer::Refused(_) => "refuses the token",
            Answer::Declined(_) => "declines",
            Answer::Full => "full",
            Answer::NoSubprotocol => "no sub-protocol",
            Answer::NoSession(_) => "no session",
            Answer::Silent => "silent",
            Answer::Alien(_) => "not an editor",
        },
    }
}

fn table<const N: usize>(title: &str, header: [&str; N], rows: &[[String; N]]) -> String {
    let mut text = format!("#### {title}\n\n");
    if rows.is_empty() {
        text.push_str("None.\n");
        return text;
    }
    let _ = writeln!(text, "| {} |\n|{}", header.join(" | "), " --- |".repeat(N));
    for row in rows.iter().take(MAX_ROWS) {
        let _ = writeln!(text, "| {} |", row.join(" | "));
    }
    if let Some(more @ 1..) = rows.len().checked_sub(MAX_ROWS) {
        let _ = writeln!(text, "\nAnd {more} more.");
    }
    text
}

/// Replaces the home directory in a text by `~`, except where a longer name begins with it.
fn shortened(text: &str, home: &str) -> String {
    let mut pieces = text.split(home);
    let mut short = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let is_longer = piece.starts_with(|c: char| c.is_alphanumeric() || "-_.".contains(c));
        short.push_str(if is_longer { home } else { "~" });
        short.push_str(piece);
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn further_rows_are_counted() {
        for (rows, last) in [(1, "| r |"), (20, "| r |"), (21, "And 1 more."), (50, "And 30 more.")] {
            let text = table("T", ["h"], &vec![["r".to_owned()]; rows]);
            assert_eq!(text.lines().last(), Some(last), "{rows}");
            assert_eq!(text.matches("| r |").count(), rows.min(MAX_ROWS));
        }
        assert_eq!(table("T", ["h"], &[]), "#### T\n\nNone.\n");
    }

    #[test]
    fn home_is_shortened_as_whole_name() {
        let cases = [
            ("itself", "/home/me", "~"),
            ("below it", "\"/home/me/a\" and /home/me/b", "\"~/a\" and ~/b"),
            ("another user", "/home/meyer and /home/me-2", "/home/meyer and /home/me-2"),
            ("elsewhere", "/srv", "/srv"),
        ];
        for (name, text, expected) in cases {
            assert_eq!(shortened(text, "/home/me"), expected, "{name}");
        }
    }
}
