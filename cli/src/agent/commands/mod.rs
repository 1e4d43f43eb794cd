//! The commands of the agent, one file each, and the code that they share.

pub(crate) mod call;
pub(crate) mod calls;
pub(crate) mod context;
pub(crate) mod diff;
pub(crate) mod tools;
pub(crate) mod watch;

use crate::agent::block::shown;
use crate::agent::events::{End, Of, OutcomeLine};
use crate::agent::session::{Failure, Session};
use crate::support::{json_line, write_line};
use ide_mcp::ide::kit::display_safe_lines;
use ide_mcp::mcp::{Content, Outcome};
use ide_mcp::rpc::RequestId;
use serde::Serialize;
use std::borrow::Cow;
use std::io::{self, ErrorKind, IsTerminal as _};

/// The outcome of a command: exit status 0 if `Good`, 1 if `Bad`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Good,
    Bad,
}

/// Writes a line to standard output. Returns false if the reader has closed the pipe. That is not a failure: `agent
/// tools | head -1` has what it wants.
pub(crate) fn print(line: &str) -> Result<bool, Failure> {
    match write_line(line) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(format!("standard output cannot be written: {error}")),
    }
}

/// Writes a value to standard output as a line of JSON, like [`print()`].
pub(crate) fn print_json<T: Serialize>(value: &T) -> Result<bool, Failure> {
    print(&json_line(value).map_err(|error| error.to_string())?)
}

/// Returns true if standard output still has a reader. Writes nothing.
#[cfg(unix)]
pub(crate) fn has_reader() -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let stdout = io::stdout();
    // macOS reports that the reader is gone only if we wait for some event; this one never happens on a pipe.
    let mut output = PollFd::new(&stdout, PollFlags::RDBAND);
    let polled = poll(std::slice::from_mut(&mut output), Some(&Timespec::default()));
    polled.is_err() || !output.revents().intersects(PollFlags::ERR | PollFlags::HUP)
}

/// On Windows only a write can tell.
#[cfg(windows)]
pub(crate) const fn has_reader() -> bool {
    true
}

/// Writes text from the editor to standard output: unchanged for a program, and made safe to display at a terminal.
pub(crate) fn print_texts<'a>(texts: impl Iterator<Item = &'a str>) -> Result<(), Failure> {
    let is_shown = io::stdout().is_terminal();
    for text in texts {
        let goes_on = if is_shown { print(&display_safe_lines(text))? } else { print(text)? };
        if !goes_on {
            break;
        }
    }
    Ok(())
}

/// Writes blocks of the editor to standard output. A block that is not text gets one line.
pub(crate) fn print_blocks<'a>(blocks: impl Iterator<Item = &'a Content<'a>>) -> Result<(), Failure> {
    let texts: Vec<Cow<'a, str>> = blocks.map(shown).collect();
    print_texts(texts.iter().map(|text| &**text))
}

/// Waits for the outcome of a request, and prints it as a line of JSON.
pub(crate) fn print_outcome(
    session: &mut Session,
    id: RequestId,
    what: &str,
    of: Of,
) -> Result<Verdict, Failure> {
    match session.outcome_of(id, what)? {
        Outcome::Closed => Err(format!("there is no answer: {}", session.end())),
        outcome => {
            let outcome = OutcomeLine::outcome(None, of, End::of(outcome));
            print_json(&outcome)?;
            Ok(if outcome.is_good() { Verdict::Good } else { Verdict::Bad })
        }
    }
}
