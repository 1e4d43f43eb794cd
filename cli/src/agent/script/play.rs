//! Plays a script in a session.

use super::{Script, Step, Verb};
use crate::agent::commands::{Verdict, print, print_json};
use crate::agent::events::{End, FormEvent, Link, Of, OutcomeLine, Pushed};
use crate::agent::session::{Failure, Session, SessionEvent, Waiting};
use crate::support::difference::{Extent, difference};
use crate::support::{counted, json_line};
use ide_mcp::Clock;
use ide_mcp::ide::ClientEvent;
use ide_mcp::mcp::{Form, FormAnswer, Timeout};
use ide_mcp::rpc::{CallId, RequestId, from_json};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

/// How many events the message about a missing event lists.
const SHOWN: usize = 5;
/// How many events may wait that no step has expected yet. An editor that sends more is out of control.
const UNEXPECTED: usize = 10_000;
/// The interval of the progress messages for a user who waits.
const SECOND: Duration = Duration::from_secs(1);

impl Script {
    /// Plays the steps in order, and ends at the first that fails.
    pub(crate) fn play(&self, session: &mut Session, json: bool) -> Result<Verdict, Failure> {
        let mut stage = Player {
            session,
            open: BTreeMap::new(),
            received: VecDeque::new(),
            forms: Vec::new(),
            ended: None,
        };
        for step in &self.steps {
            let received =
                stage.play(step).map_err(|problem| format!("{}:{}: {problem}", self.name, step.line))?;
            if json && !print_json(&StepDone { event: "step", line: step.line, received: received.as_ref() })?
            {
                return Ok(Verdict::Good);
            }
        }
        let steps = self.steps.len();
        if json {
            print_json(&json!({"event": "script", "steps": steps}))?;
        } else {
            print(&format!("{}: {}, all as expected", self.name, counted(steps, "step")))?;
        }
        Ok(Verdict::Good)
    }
}

#[derive(Serialize)]
struct StepDone<'a> {
    event: &'static str,
    line: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    received: Option<&'a Value>,
}

/// The state of a script that is being played.
struct Player<'a> {
    session: &'a mut Session,
    /// The requests without an outcome: their line and name.
    open: BTreeMap<RequestId, (usize, Of)>,
    /// The events that no step has taken so far.
    received: VecDeque<Value>,
    /// The open forms, the oldest first.
    forms: Vec<(CallId, Form)>,
    /// Why the connection ended, if it does not come back.
    ended: Option<Failure>,
}

impl Player<'_> {
    /// Plays a step. Returns the event that an `expect` step took.
    fn play(&mut self, Step { line, verb }: &Step) -> Result<Option<Value>, Failure> {
        match verb {
            Verb::Call { tool, request } => {
                self.require_attached()?;
                let request = self.session.call(request).map_err(|error| format!("call {tool}: {error}"))?;
                self.open.insert(request, (*line, Of::Tool(tool.clone())));
                Ok(None)
            }
            Verb::Request { method, params } => {
                self.require_attached()?;
                let client = self.session.client();
                let request =
                    client.and_then(|client| client.request(method, params.as_deref(), Timeout::Default));
                let request = request.map_err(|error| format!("request {method}: {error}"))?;
                self.open.insert(request, (*line, Of::Method(method.clone())));
                Ok(None)
            }
            Verb::Notify { method, params } => {
                self.require_attached()?;
                let sent = self.session.client().and_then(|client| client.notify(method, params.as_deref()));
                sent.map_err(|error| format!("notify {method}: {error}"))?;
                Ok(None)
            }
            Verb::Expect { event, within } => self.expect(event, *within).map(Some),
            Verb::Answer { result, checked } => self.answer(result, checked.as_ref()).map(|()| None),
            Verb::Sleep(pause) => {
                self.collect(*pause, "sleeping", |_| false)?;
                Ok(None)
            }
        }
    }

    fn require_attached(&self) -> Result<(), Failure> {
        match &self.ended {
            Some(reason) => Err(format!("the connection has ended: {reason}")),
            None if !self.session.is_ready() => {
                Err("the connection is lost; expect {\"event\":\"attached\"} first".into())
            }
            None => Ok(()),
        }
    }

    /// Answers the oldest form. An unchecked answer is sent as it is.
    fn answer(&mut self, result: &RawValue, checked: Option<&FormAnswer>) -> Result<(), Failure> {
        self.require_attached()?;
        let (call, form) = self.forms.first().ok_or("no form is open; expect {\"event\":\"form\"} first")?;
        if let Some(answer) = checked {
            form.check(answer).map_err(|error| format!("the answer does not fit the form: {error}"))?;
        }
        let call = *call;
        let client = self.session.client().map_err(|error| error.to_string())?;
        client.respond_raw(call, result).map_err(|error| error.to_string())?;
        self.forms.remove(0);
        Ok(())
    }

    fn expect(&mut self, expected: &Value, within: Duration) -> Result<Value, Failure> {
        let shown = shown(expected);
        self.collect(within, &format!("expecting {shown}"), |received| {
            received
                .iter()
                .any(|received| matches(expected, received) || is_other_outcome(expected, received))
        })?;
        if let Some(index) = self.received.iter().position(|received| matches(expected, received)) {
            return Ok(self.received.remove(index).unwrap_or_default());
        }
        if let Some(received) = self.received.iter().find(|received| is_other_outcome(expected, received)) {
            let place = difference(expected, received, Extent::Part);
            let place = place.ok_or("the outcome differs")?;
            let name = ["tool", "method"].into_iter().find_map(|member| received.get(member)?.as_str());
            return Err(format!(
                "{} differs\n  where     {}\n  expected  {}\n  received  {}",
                name.map_or_else(|| "the outcome".into(), |name| format!("the outcome of {name}")),
                place.path,
                place.recorded,
                place.now
            ));
        }
        let received = match self.received.len() {
            0 => "; received nothing".into(),
            all => {
                let shown: Vec<String> =
                    self.received.iter().rev().take(SHOWN).rev().map(shown_event).collect();
                let more = all.saturating_sub(SHOWN);
                let before = if more == 0 { String::new() } else { format!("{more} others, then ") };
                format!("; received {before}{}", shown.join(", "))
            }
        };
        let end =
            self.ended.as_ref().map_or(String::new(), |reason| format!("; the connection ended: {reason}"));
        Err(format!("expected {shown} within {} ms{received}{end}", within.as_millis()))
    }

    /// Collects events until `is_enough` returns true or the time is up.
    fn collect(
        &mut self,
        at_most: Duration,
        what: &str,
        is_enough: impl Fn(&VecDeque<Value>) -> bool,
    ) -> Result<(), Failure> {
        let clock = Clock::new();
        let until = clock.now().saturating_add(at_most);
        let mut waiting = Waiting::new(what.into());
        while !is_enough(&self.received) {
            let left = until.saturating_since(clock.now());
            if self.ended.is_some() {
                // No more events come, but a pause still takes its time.
                if what == "sleeping" {
                    std::thread::sleep(left);
                }
                return Ok(());
            }
            match self.session.next_within(left.min(SECOND)) {
                Ok(Some(event)) => self.take(event)?,
                Ok(None) if left.is_zero() => return Ok(()),
                Ok(None) => waiting.show(),
                Err(reason) => {
                    self.received.push_back(json!({"event": "closed", "reason": reason}));
                    self.ended = Some(reason);
                }
            }
        }
        Ok(())
    }

    fn take(&mut self, event: SessionEvent) -> Result<(), Failure> {
        let line = match (Link::of(&event, self.session), event) {
            (Some(link), _) => json_line(&link),
            (None, SessionEvent::Client(ClientEvent::Outcome { request, outcome })) => {
                let Some((line, of)) = self.open.remove(&request) else { return Ok(()) };
                json_line(&OutcomeLine::outcome(Some(line), of, End::of(outcome)))
            }
            (None, SessionEvent::Client(ClientEvent::Form { call, form })) => {
                let line = json_line(&FormEvent::Form(&form));
                self.forms.push((call, form));
                line
            }
            (None, SessionEvent::Client(ClientEvent::CallEnded { call, reason })) => {
                self.forms.retain(|(open, _)| *open != call);
                json_line(&FormEvent::of_end(&reason))
            }
            (None, SessionEvent::Client(event)) => match Pushed::of(event) {
                Some(pushed) => json_line(&pushed),
                None => return Ok(()),
            },
            (None, _) => return Ok(()),
        };
        if self.received.len() >= UNEXPECTED {
            return Err(format!("{UNEXPECTED} events were received that no step expects"));
        }
        let event = line.and_then(|line| Ok(from_json(&line)?));
        self.received.push_back(event.map_err(|error| format!("an event is not JSON: {error}"))?);
        Ok(())
    }
}

fn matches(expected: &Value, received: &Value) -> bool {
    difference(expected, received, Extent::Part).is_none()
}

/// Returns true if `received` is an outcome of the expected line, but not the expected outcome. A line has only one
/// outcome, so there is nothing to wait for.
fn is_other_outcome(expected: &Value, received: &Value) -> bool {
    let outcome_of = |event: &Value| (event["event"] == "outcome").then(|| event["line"].as_u64())?;
    outcome_of(expected).is_some()
        && outcome_of(expected) == outcome_of(received)
        && !matches(expected, received)
}

fn shown(value: &Value) -> String {
    json_line(value).unwrap_or_default()
}

/// Returns an event as text, cut after 300 characters.
fn shown_event(value: &Value) -> String {
    let text = shown(value);
    match text.char_indices().nth(300) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text,
    }
}
