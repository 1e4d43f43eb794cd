//! `diff PATH NEWFILE` does what the real client does (measured): ask for the problems of the file, write the file
//! with the text that the editor returns, and ask for all problems. That is how the editor learns what was written.

use super::{Verdict, print, print_json, print_texts};
use crate::agent::session::{Failure, Session};
use crate::support::hunks::compare::compare;
use crate::support::hunks::hunk::Hunk;
use crate::support::hunks::lines::Lines;
use crate::support::local;
use crate::support::save::{self, NotSaved, Seen, save};
use crate::support::{FAILED, complain};
use ide_mcp::ide::kit::display_safe;
use ide_mcp::ide::tool::{CloseTab, GetDiagnostics, OpenDiff, ToolArguments};
use ide_mcp::mcp::{Outcome, ToolResult};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// A change that the agent proposes, and writes if the editor accepts it.
#[derive(Debug)]
pub(crate) struct Proposal {
    /// The path as the user wrote it.
    path: PathBuf,
    /// The file with the proposed text.
    new: PathBuf,
    absolute: String,
    contents: String,
    tab_name: String,
    /// The text of the file, empty for a new one; `None` if it is not known.
    old: Option<String>,
    /// What the file contained when the change was proposed; `None` with `--force`, which writes the file whatever it
    /// contains by then.
    seen: Option<Seen>,
}

impl Proposal {
    /// Prepares a proposal; `None` if the file has these contents already.
    pub(crate) fn prepare(path: &Path, new: &Path, force: bool) -> Result<Option<Self>, Failure> {
        let fails = |path: &Path, error: &dyn std::error::Error| format!("{}: {error}", path.display());
        let bytes = fs::read(new).map_err(|error| fails(new, &error))?;
        let contents = String::from_utf8(bytes)
            .map_err(|_| format!("{} is not UTF-8; a proposal is text", new.display()))?;
        let absolute = local::absolute(path).map_err(|error| fails(path, &error))?;
        match fs::metadata(&absolute) {
            Ok(metadata) if metadata.is_dir() => {
                return Err(format!("{} is a directory; propose a file in it", path.display()));
            }
            Ok(metadata) if !metadata.is_file() => return Err(format!("{} is not a file", path.display())),
            Ok(_) => {}
            Err(_) => {
                let parent = absolute.parent().unwrap_or(&absolute);
                if !parent.is_dir() {
                    let (path, parent) = (path.display(), parent.display());
                    return Err(format!("{path} could not be written: there is no directory {parent}"));
                }
            }
        }
        // A file that cannot be read may still be writable. The user at the editor decides about the proposal.
        let unread = Seen::unread(&absolute);
        let (seen, old) = match fs::read(&absolute) {
            Ok(text) => (unread.with_text(&text), String::from_utf8(text).ok()),
            Err(_) => (unread, unread.is_absent().then(String::new)),
        };
        if seen.is_text(contents.as_bytes()) {
            return Ok(None);
        }
        for copy in save::cut_short(&absolute) {
            complain("agent", &save::note(copy.display(), path.display()));
        }
        Ok(Some(Self {
            seen: (!force).then_some(seen),
            old,
            tab_name: tab_name(&absolute)?,
            absolute: absolute.to_str().ok_or_else(|| format!("{} is not Unicode", path.display()))?.into(),
            path: path.into(),
            new: new.into(),
            contents,
        }))
    }
}

pub(crate) fn diff(session: &mut Session, proposal: &Proposal, json: bool) -> Result<Verdict, Failure> {
    let Proposal { path, absolute, contents, tab_name, seen, .. } = proposal;
    let open = OpenDiff::new(absolute.as_str(), contents.as_str(), tab_name.as_str());
    let id = session.call(&open).map_err(|error| error.to_string())?;
    let raw = match session.outcome_of(id, "the verdict")? {
        Outcome::Closed => {
            return Err(format!("there is no verdict: {}", session.end()));
        }
        outcome => session.answer(outcome)?,
    };
    let result = ToolResult::read(&raw).ok_or("the verdict has no content")?;
    let texts: Vec<&str> = result.texts().collect();
    match texts.as_slice() {
        ["FILE_SAVED", text] => {
            // The verdict counts even if the editor has ended since, so that a call fails. The end alone
            // would have rejected the diff.
            let _ = tidy(session, tab_name);
            let uri = Some(local::uri_unencoded(absolute));
            let _ = call(session, &GetDiagnostics::new(uri));
            if let Err(error) = save(Path::new(absolute), text.as_bytes(), seen.as_ref()) {
                return not_written(proposal, text, &error, json);
            }
            let made = proposal.old.as_deref().map(|old| Made::of(old, contents, text));
            let how = if *text == contents { String::new() } else { how(made) };
            let words = format!("accepted{how}: {} was written", path.display());
            print_line(&Line { made, ..Line::new("accepted", path) }, &words, json)?;
            let _ = call(session, &GetDiagnostics::new(None));
            Ok(Verdict::Good)
        }
        ["DIFF_REJECTED", ..] => {
            print_verdict("rejected", "rejected", path, json)?;
            let _ = tidy(session, tab_name);
            Ok(Verdict::Bad)
        }
        other => {
            let text = display_safe(&other.join(" ")).into_owned();
            Err(format!("the editor's answer is not a verdict: {text}"))
        }
    }
}

/// Reports that an accepted text was not written. If the user edited it before accepting, it exists nowhere else, so it
/// is kept in another file, or printed if no file can be written.
fn not_written(proposal: &Proposal, text: &str, error: &NotSaved, json: bool) -> Result<Verdict, Failure> {
    let path = proposal.path.display();
    let reason = match error {
        NotSaved::Changed(change) => {
            format!("{path} was not written: it {change} since it was proposed; --force writes it anyway")
        }
        error => format!("{path} was not written: {error}"),
    };
    if text == proposal.contents {
        return Err(reason);
    }
    let not_kept = match save::keep(&proposal.new, text.as_bytes()) {
        Ok(kept) => return Err(format!("{reason}; the accepted text is in {}", kept.display())),
        Err(error) => format!("{reason}; the accepted text could not be kept ({error})"),
    };
    if json {
        let message = format!("{not_kept}: it is in the member `accepted` of the event");
        print_json(&NotKept { event: "error", message: &message, status: FAILED, accepted: text })
            .map_err(|error| format!("{not_kept}, and {error}"))?;
        complain("agent", &message);
        return Ok(Verdict::Bad);
    }
    print_texts([text.strip_suffix('\n').unwrap_or(text)].into_iter())
        .map_err(|error| format!("{not_kept}, and {error}"))?;
    Err(format!("{not_kept}: it is on standard output"))
}

/// The error about a text that exists nowhere else.
#[derive(Serialize)]
struct NotKept<'a> {
    event: &'static str,
    message: &'a str,
    status: u8,
    accepted: &'a str,
}

/// Prints the verdict on a proposal for `path`, as text or as a line of JSON.
pub(crate) fn print_verdict(verdict: &str, words: &str, path: &Path, json: bool) -> Result<Verdict, Failure> {
    print_line(&Line::new(verdict, path), words, json)
}

fn print_line(line: &Line<'_>, words: &str, json: bool) -> Result<Verdict, Failure> {
    if json {
        print_json(line)?;
    } else {
        print(words)?;
    }
    Ok(Verdict::Good)
}

#[derive(Serialize)]
struct Line<'a> {
    event: &'static str,
    verdict: &'a str,
    path: String,
    #[serde(flatten)]
    made: Option<Made>,
}

impl<'a> Line<'a> {
    fn new(verdict: &'a str, path: &Path) -> Self {
        Self { event: "diff", verdict, path: path.display().to_string(), made: None }
    }
}

/// What the user made of a proposal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
struct Made {
    /// The number of differences between the file and the proposal.
    hunks: usize,
    /// How many of them are in the accepted text.
    kept: usize,
    /// True if the accepted text has other differences too.
    edited: bool,
}

impl Made {
    fn of(old: &str, proposed: &str, accepted: &str) -> Self {
        let [old, proposed, accepted] = [old, proposed, accepted].map(|text| Lines::new(text.into()));
        let hunks = compare(&old, &proposed);
        if let Some(kept) = kept_alone(&old, &proposed, &hunks, accepted.as_str()) {
            return Self { hunks: hunks.len(), kept, edited: false };
        }
        let made = compare(&old, &accepted);
        let is_made = |hunk: &&Hunk| {
            let lines = proposed.get(hunk.target.clone());
            made.iter().any(|made| made.base == hunk.base && accepted.get(made.target.clone()) == lines)
        };
        Self { hunks: hunks.len(), kept: hunks.iter().filter(is_made).count(), edited: true }
    }
}

/// Returns how many hunks turn the old text into the accepted one; `None` if no selection of them does.
///
/// Where lines repeat, a new comparison could find other hunks than the user saw. So this tries every selection: after
/// each hunk it knows how far into the accepted text a selection can reach, and for each such place the largest number
/// of kept hunks.
fn kept_alone(old: &Lines, proposed: &Lines, hunks: &[Hunk], accepted: &str) -> Option<usize> {
    let mut reached = BTreeMap::from([(0_usize, 0_usize)]);
    let mut line = 0;
    for hunk in hunks {
        let before = old.get(line..hunk.base.start);
        let (refused, kept) = (old.get(hunk.base.clone()), proposed.get(hunk.target.clone()));
        let mut next = BTreeMap::new();
        for (at, count) in reached {
            let Some(rest) = accepted.get(at..).and_then(|rest| rest.strip_prefix(before)) else { continue };
            for (piece, count) in [(refused, count), (kept, count.saturating_add(1))] {
                if let Some(rest) = rest.strip_prefix(piece) {
                    let most = next.entry(accepted.len().saturating_sub(rest.len())).or_insert(count);
                    *most = count.max(*most);
                }
            }
        }
        (reached, line) = (next, hunk.base.end);
    }
    let end = old.get(line..old.len());
    let whole = reached.into_iter().filter(|(at, _)| accepted.get(*at..) == Some(end));
    whole.map(|(_, count)| count).max()
}

/// Describes for the user how the accepted text differs from the proposed one.
fn how(made: Option<Made>) -> String {
    match made {
        None => " with your changes".into(),
        Some(Made { kept: 0, edited: false, .. }) => ", but without any of its changes".into(),
        Some(Made { hunks, kept, edited: false }) => format!(" with your changes ({kept} of {hunks} hunks)"),
        Some(Made { hunks: 0 | 1, .. }) => " as you edited it".into(),
        Some(Made { hunks, kept, .. }) => format!(" as you edited it ({kept} of {hunks} hunks as proposed)"),
    }
}

/// Closes the tab of the proposal twice, as the real client does.
fn tidy(session: &mut Session, tab_name: &str) -> Result<(), Failure> {
    for _ in 0..2 {
        call(session, &CloseTab::new(tab_name))?;
    }
    Ok(())
}

fn call(session: &mut Session, arguments: &impl ToolArguments) -> Result<(), Failure> {
    let id = session.call(arguments).map_err(|error| error.to_string())?;
    session.outcome_of(id, "an answer").map(drop)
}

/// Returns a tab name in the form of the real client, different for each diff.
fn tab_name(path: &Path) -> Result<String, Failure> {
    let mut unlike = [0; 3];
    getrandom::fill(&mut unlike).map_err(|error| error.to_string())?;
    let [a, b, c] = unlike;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    Ok(format!("✻ [Claude Code] {name} ({a:02x}{b:02x}{c:02x}) ⧉"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdict_says_what_the_person_made_of_the_proposal() {
        let old = "a\nb\nc\nd\ne\nf\ng\n";
        let proposed = "A\nb\nC\nd\nE\nf\nG\n";
        let rows = [
            ("as proposed", old, proposed, proposed, " with your changes (4 of 4 hunks)"),
            ("one refused", old, proposed, "A\nb\nC\nd\ne\nf\nG\n", " with your changes (3 of 4 hunks)"),
            ("all refused", old, proposed, old, ", but without any of its changes"),
            (
                "one edited",
                old,
                proposed,
                "A\nb\nC\nd\nEE\nf\nG\n",
                " as you edited it (3 of 4 hunks as proposed)",
            ),
            (
                "a line added",
                old,
                proposed,
                "A\nb\nC\nd\nE\nf\nG\nh\n",
                " as you edited it (3 of 4 hunks as proposed)",
            ),
            ("a new file", "", "a\n", "b\n", " as you edited it"),
            ("a new file that stays empty", "", "a\n", "", ", but without any of its changes"),
            (
                "repeated lines",
                "x\nx\ny\nx\nx\n",
                "x\nx\nx\ny\nx\nx\nx\n",
                "x\nx\ny\nx\nx\nx\n",
                " with your changes (1 of 2 hunks)",
            ),
            ("only the last line end", "a\nb", "A\nb\n", "a\nb\n", " as you edited it"),
            (
                "a carriage return added",
                "a\nb\nc\n",
                "A\nb\nC\n",
                "A\r\nb\nC\n",
                " as you edited it (1 of 2 hunks as proposed)",
            ),
        ];
        for (name, old, proposed, accepted, expected) in rows {
            assert_eq!(how(Some(Made::of(old, proposed, accepted))), expected, "{name}");
        }
        assert_eq!(how(None), " with your changes");
    }

    #[test]
    fn any_selection_of_hunks_is_counted() {
        arbtest::arbtest(|u| {
            let mut text = |most| -> arbitrary::Result<String> {
                let lines = u.int_in_range(0..=most)?;
                (0..lines).map(|_| Ok(*u.choose(&["a\n", "b\n", "c\n"])?)).collect()
            };
            let (old, proposed) = (text(12)?, text(12)?);
            let [old, proposed] = [old, proposed].map(Lines::new);
            let hunks = compare(&old, &proposed);
            let (mut accepted, mut line, mut kept) = (String::new(), 0, 0);
            for hunk in &hunks {
                accepted += old.get(line..hunk.base.start);
                let is_kept = u.arbitrary()?;
                accepted +=
                    if is_kept { proposed.get(hunk.target.clone()) } else { old.get(hunk.base.clone()) };
                (line, kept) = (hunk.base.end, kept + usize::from(is_kept));
            }
            accepted += old.get(line..old.len());
            let made = Made::of(old.as_str(), proposed.as_str(), &accepted);
            // Another selection with more hunks can result in the same text.
            assert!(!made.edited && made.kept >= kept && made.hunks == hunks.len(), "{made:?}: {accepted:?}");
            Ok(())
        });
    }
}
