//! `diff PATH NEWFILE`, in the steps of the real client: the client asks for the problems of the file, writes the
//! file with the text that the editor returns, and asks for all problems (measured). So the editor knows what was
//! written.

use super::{Verdict, print, print_json, print_texts};
use crate::agent::session::{Failure, Session};
use crate::support::save::{self, NotSaved, Seen, save};
use crate::support::{FAILED, complain};
use ide_mcp::ide::kit::display_safe;
use ide_mcp::ide::tool::{CloseTab, GetDiagnostics, OpenDiff, ToolArguments};
use ide_mcp::mcp::{Outcome, ToolResult};
use serde::Serialize;
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
    /// What the file held when the change was proposed; `None` if it is written whatever it holds by then.
    seen: Option<Seen>,
}

impl Proposal {
    /// Prepares a proposal; `None` if the file has these contents already.
    pub(crate) fn prepare(path: &Path, new: &Path, force: bool) -> Result<Option<Self>, Failure> {
        let says = |path: &Path, error: &dyn std::error::Error| format!("{}: {error}", path.display());
        let bytes = fs::read(new).map_err(|error| says(new, &error))?;
        let contents = String::from_utf8(bytes)
            .map_err(|_| format!("{} is not UTF-8; a proposal is text", new.display()))?;
        let absolute = std::path::absolute(path).map_err(|error| says(path, &error))?;
        match fs::metadata(&absolute) {
            Ok(metadata) if metadata.is_dir() => {
                return Err(format!("{} is a directory; propose a file in it", path.display()));
            }
            Ok(metadata) if !metadata.is_file() => return Err(format!("{} is no file", path.display())),
            Ok(_) => {}
            Err(_) => {
                let parent = absolute.parent().unwrap_or(&absolute);
                if !parent.is_dir() {
                    let (path, parent) = (path.display(), parent.display());
                    return Err(format!("{path} could not be written: there is no directory {parent}"));
                }
            }
        }
        // A file that cannot be read can still be writable. The person at the editor decides about the proposal.
        let seen = Seen::now(&absolute);
        if seen.is_text(contents.as_bytes()) {
            return Ok(None);
        }
        for copy in save::cut_short(&absolute) {
            complain("agent", &save::note(copy.display(), path.display()));
        }
        Ok(Some(Self {
            seen: (!force).then_some(seen),
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
    let asked = session.call(&open).map_err(|error| error.to_string())?;
    let raw = match session.outcome_of(asked, "the verdict")? {
        Outcome::Closed => {
            return Err(format!("there is no verdict: {}", session.end()));
        }
        outcome => session.answer(outcome)?,
    };
    let result = ToolResult::read(&raw).ok_or("the verdict has no content")?;
    let texts: Vec<&str> = result.texts().collect();
    match texts.as_slice() {
        ["FILE_SAVED", text] => {
            // The verdict counts even if a call fails because the editor has ended: an editor that ends
            // rejects open diffs.
            let _ = tidy(session, tab_name);
            let uri = Some(format!("file://{absolute}"));
            let _ = call(session, &GetDiagnostics::new(uri));
            if let Err(error) = save(Path::new(absolute), text.as_bytes(), seen.as_ref()) {
                return not_written(proposal, text, &error, json);
            }
            print_verdict("accepted", &format!("accepted: {} was written", path.display()), path, json)?;
            let _ = call(session, &GetDiagnostics::new(None));
            Ok(Verdict::Good)
        }
        ["DIFF_REJECTED", ..] => {
            print_verdict("rejected", "rejected", path, json)?;
            let _ = tidy(session, tab_name);
            Ok(Verdict::Bad)
        }
        other => {
            let said = display_safe(&other.join(" ")).into_owned();
            Err(format!("the editor answered no verdict: {said}"))
        }
    }
}

/// Reports that an accepted text was not written. A text that the person has edited before they accepted it is
/// nowhere else, so it is kept, or printed where nothing can be written.
fn not_written(proposal: &Proposal, text: &str, error: &NotSaved, json: bool) -> Result<Verdict, Failure> {
    let path = proposal.path.display();
    let reason = match error {
        NotSaved::Changed(change) => {
            format!(
                "{path} was not written: it {change} since it was proposed; --force writes it all the same"
            )
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
        let message = format!("{not_kept}: it is the member accepted of the event");
        print_json(&NotKept { event: "error", message: &message, status: FAILED, accepted: text })
            .map_err(|error| format!("{not_kept}, and {error}"))?;
        complain("agent", &message);
        return Ok(Verdict::Bad);
    }
    print_texts([text.strip_suffix('\n').unwrap_or(text)].into_iter())
        .map_err(|error| format!("{not_kept}, and {error}"))?;
    Err(format!("{not_kept}: it is on standard output"))
}

/// The error about a text that is nowhere else.
#[derive(Serialize)]
struct NotKept<'a> {
    event: &'static str,
    message: &'a str,
    status: u8,
    accepted: &'a str,
}

/// Prints the verdict on a proposal for `path`, as text or as a line of JSON.
pub(crate) fn print_verdict(verdict: &str, words: &str, path: &Path, json: bool) -> Result<Verdict, Failure> {
    if json {
        let path = path.display().to_string();
        print_json(&Line { event: "diff", verdict, path: &path })?;
    } else {
        print(words)?;
    }
    Ok(Verdict::Good)
}

#[derive(Serialize)]
struct Line<'a> {
    event: &'static str,
    verdict: &'a str,
    path: &'a str,
}

/// Closes the tab of the proposal, as often as the real client does.
fn tidy(session: &mut Session, tab_name: &str) -> Result<(), Failure> {
    for _ in 0..2 {
        call(session, &CloseTab::new(tab_name))?;
    }
    Ok(())
}

fn call(session: &mut Session, arguments: &impl ToolArguments) -> Result<(), Failure> {
    let asked = session.call(arguments).map_err(|error| error.to_string())?;
    session.outcome_of(asked, "an answer").map(drop)
}

/// Returns a tab name in the form of the real client, different for each diff.
fn tab_name(path: &Path) -> Result<String, Failure> {
    let mut unlike = [0; 3];
    getrandom::fill(&mut unlike).map_err(|error| error.to_string())?;
    let [a, b, c] = unlike;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    Ok(format!("✻ [Claude Code] {name} ({a:02x}{b:02x}{c:02x}) ⧉"))
}
