//! A machine that is small enough to be obviously correct: lines in, lines out, and calls with answers.
//!
//! The toy is the machine with calls for the tests of the laws themselves. `call 7` is an event and
//! waits for [`Toy::answer`], for 30 s at most; `bye` ends the connection; the answer to any other
//! line is `what`.

use super::laws::{Calls, EventOf, Record, Subject};
use super::subject::Refusals;
use ide_mcp::testing::Random;
use ide_mcp::{Machine, Output, Time};
use std::collections::BTreeMap;
use std::time::Duration;

const MARK: usize = 2048;
const UNPOLLED: usize = 256 * 1024;
const LONGEST_LINE: usize = 128 * 1024;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToyEvent {
    Call(u32),
    /// The end of a call without an answer: the connection has ended.
    Ended(u32),
    Closed(&'static str),
}

#[derive(Debug)]
pub struct Toy {
    now: Time,
    input: Vec<u8>,
    /// The end of the consumed input.
    start: usize,
    /// The position up to which the rest of the input was searched and has no line ending.
    seen: usize,
    /// The number of bytes that can come before the next poll.
    allowed: usize,
    eof: bool,
    output: Vec<u8>,
    calls: BTreeMap<u32, Time>,
    /// The reason of the end.
    ending: Option<&'static str>,
    /// When the rest of the output is dropped, once `Closed` is reported.
    drop_at: Option<Time>,
    room: [u8; 512],
    /// True from the first poll of a pass to its `Wait`.
    is_passing: bool,
    /// True if the socket took nothing in this pass, or has not answered yet.
    is_full: bool,
    /// True from `Close` on.
    is_over: bool,
}

impl Toy {
    fn new(now: Time) -> Self {
        Self {
            now,
            input: Vec::new(),
            start: 0,
            seen: 0,
            allowed: UNPOLLED,
            eof: false,
            output: Vec::new(),
            calls: BTreeMap::new(),
            ending: None,
            drop_at: None,
            room: [0; 512],
            is_passing: false,
            is_full: false,
            is_over: false,
        }
    }

    /// Answers a call. Returns false if the call is not open.
    pub fn answer(&mut self, call: u32) -> bool {
        let open = self.ending.is_none() && self.calls.remove(&call).is_some();
        if open {
            self.write_line(&format!("answer {call}"));
        }
        open
    }

    fn write_line(&mut self, line: &str) {
        self.output.extend_from_slice(line.as_bytes());
        self.output.push(b'\n');
    }

    fn is_full(&self) -> bool {
        self.output.len() >= MARK
    }

    fn line(&mut self) -> Option<String> {
        let found = self.input[self.seen..].iter().position(|byte| *byte == b'\n');
        let Some(end) = found.map(|at| self.seen + at) else {
            self.seen = self.input.len();
            return None;
        };
        let line = String::from_utf8_lossy(&self.input[self.start..end]).into_owned();
        self.start = end + 1;
        self.seen = self.start;
        if self.start > self.input.len() / 2 {
            self.input.drain(..self.start);
            self.start = 0;
            self.seen = 0;
        }
        Some(line)
    }

    fn take(&mut self, bytes: &[u8]) {
        if self.ending.is_some() || self.eof || bytes.is_empty() {
            return;
        }
        if !self.wants_input(()) || bytes.len() > self.allowed {
            self.ending = Some("overfed");
        } else {
            self.input.extend_from_slice(bytes);
            self.allowed -= bytes.len();
        }
    }

    fn sees(&mut self, now: Time) {
        self.now = self.now.max(now);
    }

    fn drop_is_over(&self) -> bool {
        self.drop_at.is_some_and(|at| at <= self.now)
    }

    fn outgoing(&self) -> &[u8] {
        if self.drop_is_over() { &[] } else { &self.output }
    }

    fn is_done(&self) -> bool {
        self.drop_at.is_some() && self.outgoing().is_empty()
    }

    fn next_event(&mut self) -> Option<ToyEvent> {
        while self.drop_at.is_none() {
            if let Some(why) = self.ending {
                if let Some((call, _)) = self.calls.pop_first() {
                    return Some(ToyEvent::Ended(call));
                }
                self.drop_at = Some(self.now.saturating_add(Duration::from_secs(2)));
                return Some(ToyEvent::Closed(why));
            }
            if self.is_full() && !self.eof {
                let held = self.input.len() - self.start;
                self.allowed = (LONGEST_LINE + MARK + 2).saturating_sub(held).min(UNPOLLED - 1);
            } else {
                if let Some(line) = self.line() {
                    let call = line.strip_prefix("call ").and_then(|id| id.parse().ok());
                    match call {
                        Some(call) if !self.calls.contains_key(&call) => {
                            self.calls.insert(call, self.now.saturating_add(Duration::from_secs(30)));
                            return Some(ToyEvent::Call(call));
                        }
                        _ if line == "bye" => self.ending = Some("bye"),
                        _ => self.write_line("what"),
                    }
                    continue;
                }
                self.allowed = UNPOLLED;
                if self.input.len() - self.start > LONGEST_LINE {
                    self.ending = Some("line too long");
                    continue;
                }
            }
            let due = self.calls.iter().find(|(_, at)| **at <= self.now).map(|(call, _)| *call);
            match due {
                _ if self.eof => self.ending = Some("eof"),
                Some(call) => {
                    self.answer(call);
                }
                None => return None,
            }
        }
        None
    }
}

impl Machine for Toy {
    type Event = ToyEvent;
    type Conn = ();

    fn poll(&mut self, now: Time) -> Output<'_, ToyEvent> {
        if !std::mem::replace(&mut self.is_passing, true) {
            self.sees(now);
            self.is_full = false;
        }
        if let Some(event) = self.next_event() {
            return Output::Event(event);
        }
        if self.is_done() && !std::mem::replace(&mut self.is_over, true) {
            return Output::Close(());
        }
        if !self.outgoing().is_empty() && !std::mem::replace(&mut self.is_full, true) {
            return Output::Write { conn: (), bytes: self.outgoing() };
        }
        self.is_passing = false;
        Output::Wait(self.deadline())
    }

    fn written(&mut self, (): (), n: usize) {
        self.output.drain(..n.min(self.output.len()));
        self.is_full = n == 0;
    }

    fn feed(&mut self, now: Time, (): (), bytes: &[u8]) {
        self.sees(now);
        self.take(bytes);
    }

    fn feed_eof(&mut self, now: Time, (): ()) {
        self.sees(now);
        self.eof = true;
    }

    fn wants_input(&self, (): ()) -> bool {
        self.ending.is_none() && !self.eof && self.allowed > 0
    }

    fn wants_output(&self, (): ()) -> bool {
        !self.outgoing().is_empty()
    }

    fn space(&mut self, (): ()) -> &mut [u8] {
        let len = if self.wants_input(()) { self.room.len().min(self.allowed) } else { 0 };
        &mut self.room[..len]
    }

    fn filled(&mut self, now: Time, (): (), n: usize) {
        self.sees(now);
        let len = self.space(()).len().min(n);
        let room = self.room;
        self.take(&room[..len]);
    }

    fn trim(&mut self, (): ()) {
        self.input.shrink_to_fit();
    }

    fn deadline(&self) -> Option<Time> {
        if self.is_passing {
            return Some(self.now);
        }
        let work = self.ending.is_some() || self.eof || self.allowed < UNPOLLED && !self.is_full();
        match self.drop_at {
            Some(at) => Some(at).filter(|_| !self.is_over),
            None if work => Some(self.now),
            None => self.calls.values().min().copied(),
        }
    }
}

/// [`Toy`] with an application that answers at once, later, never or twice.
#[derive(Debug)]
pub struct ToySubject;

pub struct ToyApp {
    random: Option<Random>,
    later: Vec<u32>,
}

impl Subject for ToySubject {
    type Machine = Toy;
    type App = ToyApp;
    const MARK: usize = MARK;
    const ROOM: usize = LONGEST_LINE + MARK;

    fn name(&self) -> String {
        "the toy".into()
    }

    fn make(&self, now: Time) -> Toy {
        Toy::new(now)
    }

    fn app(&self, seed: u64) -> ToyApp {
        ToyApp { random: (seed != 0).then(|| Random::new(seed)), later: Vec::new() }
    }

    fn react(&self, app: &mut ToyApp, machine: &mut Toy, event: &ToyEvent) {
        let ToyEvent::Call(call) = event else { return };
        match app.random.as_mut().map_or(0, |random| random.below(4)) {
            0 => {
                machine.answer(*call);
            }
            1 => {
                machine.answer(*call);
                machine.answer(*call);
            }
            2 => app.later.push(*call),
            _ => {
                for call in app.later.drain(..) {
                    machine.answer(call);
                }
            }
        }
    }

    fn copied(event: &ToyEvent) -> Option<ToyEvent> {
        Some(event.clone())
    }

    fn is_closed(event: &ToyEvent) -> bool {
        matches!(event, ToyEvent::Closed(_))
    }

    fn scripts(&self) -> Vec<Vec<u8>> {
        vec![
            b"call 1\ncall 2\nhello\ncall 2\ncall 3\n\n".to_vec(),
            b"call 7\ncall 8\ncall 9\ncall 10\ncall 11\nbye\ncall 12\n".to_vec(),
            (0..40).flat_map(|call| format!("call {call}\n").into_bytes()).collect(),
        ]
    }

    fn opening(&self) -> Vec<u8> {
        Vec::new()
    }

    fn message(&self, len: usize) -> Vec<u8> {
        [&vec![b'm'; len][..], b"\n"].concat()
    }

    fn refuse(&self, _app: &ToyApp, machine: &mut Toy, _is_full: bool, refusals: &mut Refusals) {
        refusals.expect("a foreign call", !machine.answer(4_000_000));
    }

    fn must_refuse(&self) -> &'static [&'static str] {
        &["a foreign call"]
    }

    fn calls(&self, record: &Record<EventOf<Self>>) -> Calls {
        let mut calls = Calls::default();
        for event in &record.events {
            match event {
                ToyEvent::Call(call) => calls.begun.push(call.to_string()),
                ToyEvent::Ended(call) => calls.ended.push(call.to_string()),
                ToyEvent::Closed(_) => {}
            }
        }
        let output = String::from_utf8_lossy(&record.output);
        calls.ended.extend(output.lines().filter_map(|line| line.strip_prefix("answer ")).map(Into::into));
        calls
    }

    fn messages(output: &[u8]) -> Vec<Vec<u8>> {
        output.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect()
    }

    fn under_another_id(message: &[u8]) -> Option<Vec<u8>> {
        message.starts_with(b"answer ").then(|| b"answer 4000000\n".to_vec())
    }

    fn ends_a_call(event: &ToyEvent) -> bool {
        matches!(event, ToyEvent::Ended(_))
    }
}
