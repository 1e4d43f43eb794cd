//! The changes between two reports, for a user or as lines of JSON.

use super::Report;
use super::json::{Last, Line};
use super::text::{Paint, bounded, head, headline, shown, title};
use crate::doctor::kinds::Status;
use crate::doctor::rules::Finding;
use crate::support::json_line;
use ide_mcp::ide::kit::display_safe;
use serde::Serialize;
use std::io;

/// The change of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Change {
    Added,
    Removed,
}

/// Returns the lines for a user: the verdict, and the changes. `time` is in milliseconds since the
/// Unix epoch.
pub(crate) fn text_of(
    changes: &[(Change, &Finding)],
    report: &Report<'_>,
    time: u64,
    paint: Paint,
) -> Vec<String> {
    let mut lines = vec![String::new()];
    lines.extend(title(&format!("{} {}", utc(time), display_safe(&headline(report))), paint));
    let key = |(change, finding): &(Change, &Finding)| (*change, finding.kind);
    for alike in changes.chunk_by(|one, next| key(one) == key(next)) {
        let (some, more) = bounded(alike, alike.first().map(|(_, finding)| finding.kind));
        for (change, finding) in some {
            let (mark, text) = match change {
                Change::Added if finding.kind.status == Status::Ok => ('+', head(finding, paint)),
                Change::Added => ('+', shown(finding, report.shell, paint)),
                Change::Removed => ('-', head(finding, paint)),
            };
            let mut text = text.into_iter();
            lines.extend(text.next().map(|first| format!("{mark} {first}")));
            lines.extend(text);
        }
        lines.extend(more);
    }
    lines
}

/// Returns the lines of JSON: the changes, and the verdict.
pub(crate) fn json_of(
    changes: &[(Change, &Finding)],
    report: &Report<'_>,
    time: u64,
) -> io::Result<Vec<String>> {
    let mut lines = Vec::new();
    for (change, finding) in changes {
        lines.push(json_line(&At { time, change: Some(*change), line: Line::of(finding, report.shell) })?);
    }
    lines.push(json_line(&At { time, change: None, line: Last::of(report) })?);
    Ok(lines)
}

#[derive(Serialize)]
struct At<T> {
    #[serde(flatten)]
    line: T,
    #[serde(skip_serializing_if = "Option::is_none")]
    change: Option<Change>,
    /// Milliseconds since the Unix epoch.
    time: u64,
}

/// Returns the time of the day. Std has no time zones, so the time is that of UTC.
fn utc(time: u64) -> String {
    let seconds = time.wrapping_div(1000);
    let part = |unit: u64, modulus: u64| seconds.wrapping_div(unit).wrapping_rem(modulus);
    format!("{:02}:{:02}:{:02}Z", part(3600, 24), part(60, 60), part(1, 60))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::kinds;
    use crate::doctor::rules::Verdict;

    #[test]
    fn changes_have_a_time_and_a_mark() {
        let finding = |kind: &'static kinds::Kind, message: &str| Finding {
            kind,
            message: message.into(),
            path: None,
            port: None,
            advice: kind.advice.into(),
            command: String::new(),
            is_of_another: false,
        };
        let removed = finding(&kinds::PORT_VARIABLE_INVALID, "a");
        let added = [finding(&kinds::NO_USABLE_EDITOR, "b"), finding(&kinds::LOCK_SOUND, "c")];
        let changes = [(Change::Removed, &removed), (Change::Added, &added[0]), (Change::Added, &added[1])];
        let verdict = Verdict::FindsNothing;
        let report = Report::of(&added, &verdict);
        // 2001-09-09T01:46:40Z
        let time = 1_000_000_000_000;
        let expected = [
            "",
            "01:46:40Z An agent started in /w finds no editor: 1 problem.",
            "- warning: a [port-variable-invalid]",
            "+ problem: b [no-usable-editor]",
            "    The lock file of the editor that has the directory open, or may have it open, cannot be used;",
            "    the finding about that file says why.",
            "    → Do what that finding advises, or start the editor again, which writes a new lock file; or run",
            "      `ide-mcp editor` here.",
            "+ ok: c [lock-sound]",
        ];
        let paint = Paint { colored: false, columns: None };
        assert_eq!(text_of(&changes, &report, time, paint), expected);
        let many = vec![(Change::Removed, &removed); 10_000];
        let lines = text_of(&many, &report, time, paint);
        let more = "… and 9980 more [port-variable-invalid]; --json has all";
        assert_eq!((lines.len(), lines.last().map(String::as_str)), (2 + 20 + 1, Some(more)));
        let lines = json_of(&changes, &report, time).unwrap();
        let members = |line: &String| {
            let line: serde_json::Value = serde_json::from_str(line).unwrap();
            (line["event"].clone(), line["change"].clone(), line["time"].clone())
        };
        let all: Vec<_> = lines.iter().map(members).collect();
        let at = || serde_json::json!(time);
        let row = |event: &str, change: Option<&str>| (event.into(), change.into(), at());
        let expected = [
            row("finding", Some("removed")),
            row("finding", Some("added")),
            row("finding", Some("added")),
            row("verdict", None),
        ];
        assert_eq!(all, expected);
    }
}
