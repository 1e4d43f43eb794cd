//! `calls`: makes the calls that it reads from standard input without waiting for earlier ones, and prints each outcome
//! as it arrives. Ends when the input has ended and every call has an outcome.

use super::{Verdict, print_json};
use crate::agent::events::{End, Link, Of, OutcomeLine};
use crate::agent::request::request;
use crate::agent::session::{Failure, Session, SessionEvent, Waiting};
use ide_mcp::ide::ClientEvent;
use ide_mcp::mcp::Outcome;
use ide_mcp::rpc::{NotSent, RequestId};
use std::collections::BTreeMap;
use std::io::{self, BufRead as _, ErrorKind};
use std::sync::mpsc::{self, TryRecvError};
use std::thread;
use std::time::Duration;

/// How often standard input is checked while we wait for the connection.
const SLICE: Duration = Duration::from_millis(20);

pub(crate) fn calls(session: &mut Session) -> Result<Verdict, Failure> {
    let (sender, lines) = mpsc::channel();
    // One call cannot wait for both standard input and a socket, so a thread reads standard input.
    thread::spawn(move || {
        (1..).zip(io::stdin().lock().lines()).try_for_each(|numbered| sender.send(numbered))
    });
    let mut open = BTreeMap::new();
    // The calls that ended with the connection. The next event has the reason.
    let mut ended = Vec::new();
    let (mut more, mut verdict, mut waiting) = (true, Verdict::Good, None);
    while more || !open.is_empty() || !ended.is_empty() {
        // The lines stay in the queue while the connection is lost.
        let line = if session.is_ready() { lines.try_recv() } else { Err(TryRecvError::Empty) };
        let outcome = match line {
            Ok((line, text)) => match begin(session, line, text)? {
                Started::Nothing => continue,
                Started::Call(request, call) => {
                    open.insert(request, call);
                    continue;
                }
                Started::Bad(error) => OutcomeLine::wrong(line, error),
            },
            Err(end) => {
                more = more && end != TryRecvError::Disconnected;
                let event = match session.next_within(SLICE) {
                    Ok(Some(event)) => event,
                    Ok(None) => {
                        if !open.is_empty() {
                            let what = || format!("waiting for the results of {}", session.name());
                            waiting.get_or_insert_with(|| Waiting::new(what())).show();
                        }
                        continue;
                    }
                    Err(reason) => {
                        print_ended(&mut ended, &reason)?;
                        return Err(reason);
                    }
                };
                if let (SessionEvent::Lost(reason), false) = (&event, ended.is_empty()) {
                    verdict = Verdict::Bad;
                    if !print_ended(&mut ended, reason)? {
                        break;
                    }
                }
                if let Some(link) = Link::of(&event, session) {
                    waiting = None;
                    if !print_json(&link)? {
                        break;
                    }
                    continue;
                }
                let SessionEvent::Client(ClientEvent::Outcome { request, outcome }) = event else { continue };
                let Some(call) = open.remove(&request) else { continue };
                if matches!(outcome, Outcome::Closed) {
                    ended.push(call);
                    continue;
                }
                call.outcome(End::of(outcome))
            }
        };
        if !outcome.is_good() {
            verdict = Verdict::Bad;
        }
        // Dropping it clears the progress line before the output.
        waiting = None;
        if !print_json(&outcome)? {
            break;
        }
    }
    Ok(verdict)
}

/// A call without an outcome so far.
struct Call {
    line: usize,
    tool: String,
}

impl Call {
    fn outcome(self, end: End) -> OutcomeLine {
        OutcomeLine::outcome(Some(self.line), Of::Tool(self.tool), end)
    }
}

/// Prints the outcomes of the calls that ended with the connection, for this reason. Returns false if nobody
/// reads them.
fn print_ended(ended: &mut Vec<Call>, reason: &str) -> Result<bool, Failure> {
    for call in ended.drain(..) {
        if !print_json(&call.outcome(End::by(reason)))? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The result of handling a line.
enum Started {
    Nothing,
    Call(RequestId, Call),
    Bad(String),
}

fn begin(session: &mut Session, line: usize, text: io::Result<String>) -> Result<Started, Failure> {
    let text = match text {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::InvalidData => {
            return Ok(Started::Bad("the line is not UTF-8".into()));
        }
        Err(error) => return Err(format!("standard input cannot be read: {error}")),
    };
    let text = text.trim();
    if text.is_empty() {
        return Ok(Started::Nothing);
    }
    let (tool, arguments) = text.split_once(char::is_whitespace).unwrap_or((text, "{}"));
    let request = match request(tool, arguments) {
        Ok(request) => request,
        Err(problem) => return Ok(Started::Bad(problem)),
    };
    match session.call(&request) {
        Ok(request) => Ok(Started::Call(request, Call { line, tool: tool.into() })),
        // The next event is the end of the connection, with the reason.
        Err(NotSent::Closed) => Ok(Started::Nothing),
        Err(error) => Ok(Started::Bad(error.to_string())),
    }
}
