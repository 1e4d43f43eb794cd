//! `calls`: as many at a time as come, each outcome when it comes. Ends with the input, once all have an outcome.

use super::{Verdict, print_json};
use crate::request::request;
use crate::session::{Failure, Session};
use ide_mcp::ide::ClientEvent;
use ide_mcp::mcp::{Outcome, ToolResult};
use ide_mcp::rpc::{RequestId, SendError};
use serde::Serialize;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::io::{self, BufRead as _, ErrorKind};
use std::sync::mpsc::{self, TryRecvError};
use std::thread;
use std::time::Duration;

/// How long the connection is listened to before the next look at standard input.
const SLICE: Duration = Duration::from_millis(20);

pub(crate) fn calls(session: &mut Session) -> Result<Verdict, Failure> {
    let (sender, lines) = mpsc::channel();
    // Standard input cannot be waited for together with a socket, so a thread of its own does.
    thread::spawn(move || {
        (1..).zip(io::stdin().lock().lines()).try_for_each(|numbered| sender.send(numbered))
    });
    let mut open = BTreeMap::new();
    let (mut more, mut verdict) = (true, Verdict::Good);
    while more || !open.is_empty() {
        let said = match lines.try_recv() {
            Ok((line, text)) => match begin(session, line, text)? {
                Begun::Nothing => continue,
                Begun::Call(request, call) => {
                    open.insert(request, call);
                    continue;
                }
                Begun::Bad(error) => Said::new(line, None, Happened::Error(error)),
            },
            Err(end) => {
                more = more && end != TryRecvError::Disconnected;
                match session.next_within(SLICE)? {
                    Some(ClientEvent::Outcome { request, outcome }) => match open.remove(&request) {
                        Some(Call { line, tool }) => {
                            Said::new(line, Some(tool), Happened::Outcome(End::of(outcome)))
                        }
                        None => continue,
                    },
                    _ => continue,
                }
            }
        };
        if !said.is_good() {
            verdict = Verdict::Bad;
        }
        if !print_json(&said)? {
            break;
        }
    }
    Ok(verdict)
}

/// A call that has no outcome yet.
struct Call {
    line: u64,
    tool: String,
}

/// What became of a line.
enum Begun {
    Nothing,
    Call(RequestId, Call),
    Bad(String),
}

fn begin(session: &mut Session, line: u64, text: io::Result<String>) -> Result<Begun, Failure> {
    let text = match text {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::InvalidData => {
            return Ok(Begun::Bad("the line is not UTF-8".into()));
        }
        Err(error) => return Err(format!("standard input cannot be read: {error}")),
    };
    let text = text.trim();
    if text.is_empty() {
        return Ok(Begun::Nothing);
    }
    let (tool, arguments) = text.split_once(char::is_whitespace).unwrap_or((text, "{}"));
    let request = match request(tool, arguments) {
        Ok(request) => request,
        Err(problem) => return Ok(Begun::Bad(problem)),
    };
    match session.call(&request) {
        Ok(request) => Ok(Begun::Call(request, Call { line, tool: tool.into() })),
        // The end of the connection is the next event, and says why.
        Err(SendError::Closed) => Ok(Begun::Nothing),
        Err(error) => Ok(Begun::Bad(error.to_string())),
    }
}

/// What is printed: a tool and its outcome, or what is wrong with the line.
#[derive(Serialize)]
struct Said {
    event: &'static str,
    line: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool: Option<String>,
    #[serde(flatten)]
    happened: Happened,
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Happened {
    Outcome(End),
    Error(String),
}

/// How a call ended.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum End {
    Result(Box<RawValue>),
    Error { code: i64, message: String },
    Ended(&'static str),
}

impl Said {
    const fn new(line: u64, tool: Option<String>, happened: Happened) -> Self {
        Self { event: "outcome", line, tool, happened }
    }

    fn is_good(&self) -> bool {
        match &self.happened {
            Happened::Outcome(End::Result(raw)) => {
                !ToolResult::read(raw).is_some_and(|result| result.is_error)
            }
            _ => false,
        }
    }
}

impl End {
    fn of(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Result(raw) => Self::Result(raw),
            Outcome::Error(error) => Self::Error { code: error.code, message: error.message },
            Outcome::TimedOut => Self::Ended("no answer in time"),
            Outcome::Closed => Self::Ended("the connection ended first"),
            Outcome::Cancelled => Self::Ended("cancelled"),
            _ => Self::Ended("the answer cannot be read"),
        }
    }
}
