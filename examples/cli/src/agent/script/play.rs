//! Plays a script in a session.

use super::{Script, Step, Verb, matches};
use crate::agent::commands::{Verdict, print, print_json};
use crate::agent::events::{End, Link, Pushed, Said};
use crate::agent::session::{Failure, Heard, Session, Waiting};
use crate::support::json_line;
use ide_mcp::Clock;
use ide_mcp::ide::ClientEvent;
use ide_mcp::rpc::RequestId;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

/// How many of the events that came are told where another was expected.
const TOLD: usize = 5;
/// How many events may come that nobody expects. An editor that pushes more has run away.
const UNEXPECTED: usize = 10_000;
/// How often a person who waits is told so.
const SECOND: Duration = Duration::from_secs(1);

impl Script {
    /// Plays every step, and ends at the first that comes out otherwise.
    pub(crate) fn play(&self, session: &mut Session, json: bool) -> Result<Verdict, Failure> {
        let mut stage = Stage { session, open: BTreeMap::new(), came: VecDeque::new(), ended: None };
        for step in &self.steps {
            let came =
                stage.play(step).map_err(|problem| format!("{}:{}: {problem}", self.name, step.line))?;
            if json && !print_json(&Done { event: "step", line: step.line, came: came.as_ref() })? {
                return Ok(Verdict::Good);
            }
        }
        let steps = self.steps.len();
        if json {
            print_json(&json!({"event": "script", "steps": steps}))?;
        } else {
            let plural = if steps == 1 { "" } else { "s" };
            print(&format!("{}: {steps} step{plural}, all as expected", self.name))?;
        }
        Ok(Verdict::Good)
    }
}

#[derive(Serialize)]
struct Done<'a> {
    event: &'static str,
    line: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    came: Option<&'a Value>,
}

/// Where a script is played.
struct Stage<'a> {
    session: &'a mut Session,
    /// The calls without an outcome: their line and tool.
    open: BTreeMap<RequestId, (usize, String)>,
    /// The events that nobody has expected so far.
    came: VecDeque<Value>,
    /// How the connection ended, if it did for good.
    ended: Option<Failure>,
}

impl Stage<'_> {
    /// The event that came, where one was expected.
    fn play(&mut self, Step { line, verb }: &Step) -> Result<Option<Value>, Failure> {
        match verb {
            Verb::Call { tool, request } => {
                self.is_attached()?;
                let asked = self.session.call(request).map_err(|error| format!("call {tool}: {error}"))?;
                self.open.insert(asked, (*line, tool.clone()));
                Ok(None)
            }
            Verb::Notify { method, params } => {
                self.is_attached()?;
                let sent = self.session.client().and_then(|client| client.notify(method, params.as_deref()));
                sent.map_err(|error| format!("notify {method}: {error}"))?;
                Ok(None)
            }
            Verb::Expect { event, within } => self.expect(event, *within).map(Some),
            Verb::Sleep(pause) => {
                self.listen(*pause, "sleeping", |_| false)?;
                Ok(None)
            }
        }
    }

    fn is_attached(&self) -> Result<(), Failure> {
        match &self.ended {
            Some(why) => Err(format!("the connection has ended: {why}")),
            None if !self.session.is_ready() => {
                Err("the connection is lost; expect {\"event\":\"attached\"} first".into())
            }
            None => Ok(()),
        }
    }

    fn expect(&mut self, expected: &Value, within: Duration) -> Result<Value, Failure> {
        let shown = shown(expected);
        self.listen(within, &format!("expecting {shown}"), |came| {
            came.iter().any(|came| matches(expected, came))
        })?;
        if let Some(index) = self.came.iter().position(|came| matches(expected, came)) {
            return Ok(self.came.remove(index).unwrap_or_default());
        }
        let came = match self.came.len() {
            0 => "; nothing came".into(),
            all => {
                let told: Vec<String> = self.came.iter().rev().take(TOLD).rev().map(shown_event).collect();
                let more = all.saturating_sub(TOLD);
                let before = if more == 0 { String::new() } else { format!("{more} others, then ") };
                format!("; came {before}{}", told.join(", "))
            }
        };
        let end = self.ended.as_ref().map_or(String::new(), |why| format!("; the connection ended: {why}"));
        Err(format!("expected {shown} within {} ms{came}{end}", within.as_millis()))
    }

    /// Takes what comes, until there is enough of it or this time is over.
    fn listen(
        &mut self,
        at_most: Duration,
        what: &str,
        is_enough: impl Fn(&VecDeque<Value>) -> bool,
    ) -> Result<(), Failure> {
        let clock = Clock::new();
        let until = clock.now().saturating_add(at_most);
        let mut waiting = Waiting::new(what.into());
        while !is_enough(&self.came) {
            let left = until.saturating_since(clock.now());
            if self.ended.is_some() {
                // Nothing more comes; a pause is a pause all the same.
                if what == "sleeping" {
                    std::thread::sleep(left);
                }
                return Ok(());
            }
            match self.session.next_within(left.min(SECOND)) {
                Ok(Some(heard)) => self.take(heard)?,
                Ok(None) if left.is_zero() => return Ok(()),
                Ok(None) => waiting.show(),
                Err(why) => {
                    self.came.push_back(json!({"event": "closed", "why": why}));
                    self.ended = Some(why);
                }
            }
        }
        Ok(())
    }

    fn take(&mut self, heard: Heard) -> Result<(), Failure> {
        let line = match (Link::of(&heard, self.session), heard) {
            (Some(link), _) => json_line(&link),
            (None, Heard::Event(ClientEvent::Outcome { request, outcome })) => {
                let Some((line, tool)) = self.open.remove(&request) else { return Ok(()) };
                json_line(&Said::outcome(Some(line), tool, End::of(outcome)))
            }
            (None, Heard::Event(event)) => match Pushed::of(event) {
                Some(pushed) => json_line(&pushed),
                None => return Ok(()),
            },
            (None, _) => return Ok(()),
        };
        if self.came.len() >= UNEXPECTED {
            return Err(format!("{UNEXPECTED} events came that no step has expected"));
        }
        let event = line.and_then(|line| Ok(serde_json::from_str(&line)?));
        self.came.push_back(event.map_err(|error| format!("an event is no JSON: {error}"))?);
        Ok(())
    }
}

fn shown(value: &Value) -> String {
    json_line(value).unwrap_or_default()
}

/// An event, cut where a person stops reading.
fn shown_event(value: &Value) -> String {
    let text = shown(value);
    match text.char_indices().nth(300) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text,
    }
}
