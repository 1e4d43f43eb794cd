//! Machines with one planted bug each, which show that the test of the laws can fail.
//!
//! A [`Mutant`] wraps a real machine and has an output of its own, so that it can lose, double and
//! change the messages that pass through it. Each bug breaks one law.

use super::bug::Bug;
use super::laws::{Calls, EventOf, Record, Subject};
use super::subject::Refusals;
use ide_mcp::{Machine, Time, Wire};
use std::fmt::Debug;
use std::time::Duration;

/// A subject whose machine has a bug.
#[derive(Debug)]
pub struct MutantSubject<S> {
    pub inner: S,
    pub bug: Bug,
}

/// A machine with a bug.
#[derive(Debug)]
pub struct Mutant<M: Machine> {
    inner: M,
    bug: Bug,
    now: Time,
    /// The output, distorted by the bug.
    out: Vec<u8>,
    /// The number of bytes of the inner output that were written.
    written: usize,
    /// The number of bytes of the inner output that were ever in the buffer.
    produced: usize,
    /// True if output was added that was not named.
    unnamed: bool,
    /// Input that the inner machine did not want.
    backlog: Vec<u8>,
    /// All input, for the bugs that read or copy it again.
    kept: Vec<u8>,
    room: [u8; 64],
    feeds: usize,
    mark: usize,
    drop_next: bool,
    eof: bool,
    refused: bool,
    closed: bool,
    is_closed: fn(&M::Event) -> bool,
    copied: fn(&M::Event) -> Option<M::Event>,
    ends_a_call: fn(&M::Event) -> bool,
    messages: fn(&[u8]) -> Vec<Vec<u8>>,
    under_another_id: fn(&[u8]) -> Option<Vec<u8>>,
    /// An event to report before the events of the inner machine.
    extra: Option<M::Event>,
    first: Option<M::Event>,
}

impl<M: Wire + Machine<Event: Debug>> Mutant<M> {
    /// Takes all input, on the way to the inner machine.
    fn pass(&mut self, now: Time, bytes: &[u8]) {
        self.sees(now);
        self.feeds += 1;
        match self.bug {
            Bug::PanicsOnAByte => assert!(!bytes.contains(&0xfe), "planted"),
            Bug::DropsAnEventAtACut => self.drop_next |= bytes.len() == 1 && self.feeds % 7 == 0,
            Bug::OutputTellsOfCuts if !self.closed && self.feeds == 300 => self.out.push(b'!'),
            Bug::ActsAfterClosed if self.closed => self.out.push(b'!'),
            Bug::CopiesAllForEachByte => self.kept = [&self.kept, bytes].concat(),
            Bug::ReadsAllForEachByte => {
                self.kept.extend_from_slice(bytes);
                for absent in [0xf8, 0xf9, 0xfa, 0xfb, 0xfc, 0xfd] {
                    std::hint::black_box(self.kept.contains(&absent));
                }
            }
            _ => {}
        }
        let too_much = !self.inner.wants_input() || !self.backlog.is_empty() || bytes.len() > 256 * 1024;
        match self.bug {
            Bug::AlwaysWantsInput | Bug::TakesEverythingUnpolled if too_much => {
                self.backlog.extend_from_slice(bytes);
                self.inner.feed(now, &[]);
            }
            Bug::OverfedInSilence if too_much => self.inner.feed(now, &[]),
            _ => self.inner.feed(now, bytes),
        }
        self.pull();
    }

    fn sees(&mut self, now: Time) {
        match self.bug {
            Bug::PanicsWhenTimeGoesBack => assert!(now >= self.now, "planted"),
            Bug::PanicsAtTheEndOfTime => {
                assert!(now != Time::new(Duration::MAX), "planted");
            }
            _ => {}
        }
        self.now = self.now.max(now);
    }

    /// Takes over the new bytes of the inner output.
    fn pull(&mut self) {
        let waiting = self.inner.outgoing();
        let end = self.written + waiting.len();
        if end > self.produced {
            let new = waiting[self.produced - self.written..].to_vec();
            self.produced = end;
            self.unnamed = true;
            let new = self.distort(new);
            self.out.extend(new);
        } else if waiting.is_empty() && self.closed {
            self.out.clear();
        }
    }

    fn distort(&mut self, new: Vec<u8>) -> Vec<u8> {
        if self.bug == Bug::RefusalShowsLater && std::mem::take(&mut self.refused) {
            return [b"!", &new[..]].concat();
        }
        (self.messages)(&new)
            .into_iter()
            .flat_map(|message| match (self.under_another_id)(&message) {
                Some(_) if self.bug == Bug::AnswersTwice => message.repeat(2),
                Some(_) if self.bug == Bug::NeverAnswers => Vec::new(),
                Some(another) if self.bug == Bug::AnswersUnderAnotherId => another,
                _ => message,
            })
            .collect()
    }
}

impl<M: Wire + Machine<Event: Debug>> Wire for Mutant<M> {
    fn space(&mut self) -> &mut [u8] {
        match self.bug {
            Bug::AlwaysWantsInput | Bug::TakesEverythingUnpolled | Bug::StopsReadingAboveItsMark
                if !self.wants_input() =>
            {
                &mut []
            }
            Bug::AlwaysWantsInput | Bug::TakesEverythingUnpolled | Bug::OffersSpaceItDoesNotWant => {
                &mut self.room
            }
            _ => self.inner.space(),
        }
    }

    fn filled(&mut self, now: Time, n: usize) {
        let space = self.space();
        assert!(n <= space.len() || self.bug != Bug::PanicsOnMoreThanItsSpace, "planted");
        let space = self.space();
        let bytes = space[..space.len().min(n)].to_vec();
        self.pass(now, &bytes);
    }

    fn feed(&mut self, now: Time, bytes: &[u8]) {
        self.pass(now, bytes);
    }

    fn feed_eof(&mut self, now: Time) {
        self.sees(now);
        self.eof = true;
        self.inner.feed_eof(now);
        self.pull();
    }

    fn outgoing(&self) -> &[u8] {
        &self.out
    }

    fn sent(&mut self, n: usize) {
        self.out.drain(..self.out.len().min(n));
        self.written += self.inner.outgoing().len().min(n);
        self.inner.sent(n);
        self.pull();
    }

    fn wants_input(&self) -> bool {
        match self.bug {
            Bug::AlwaysWantsInput => !self.closed,
            Bug::TakesEverythingUnpolled => !self.closed && self.out.len() < self.mark,
            Bug::StopsReadingAboveItsMark => self.inner.wants_input() && self.out.len() < self.mark,
            _ => self.inner.wants_input(),
        }
    }

    fn is_done(&self) -> bool {
        self.inner.is_done() && self.out.is_empty() && self.bug != Bug::NeverDone
    }

    fn trim(&mut self) {
        if self.bug == Bug::TrimLosesOutput {
            self.out.clear();
        }
        self.inner.trim();
    }
}

impl<M: Wire + Machine<Event: Debug>> Machine for Mutant<M> {
    type Event = M::Event;

    fn tick(&mut self, now: Time) {
        self.sees(now);
        self.inner.tick(now);
        self.pull();
    }

    fn poll_event(&mut self) -> Option<M::Event> {
        self.refused &= self.bug == Bug::RefusalShowsLater;
        if self.extra.is_some() {
            let event = self.extra.take();
            if self.bug == Bug::NeverIdle {
                self.extra = event.as_ref().and_then(self.copied);
            }
            return event;
        }
        let event = loop {
            let event = self.inner.poll_event();
            self.pull();
            if event.is_some() || self.backlog.is_empty() || !self.inner.wants_input() {
                break event;
            }
            let bytes: Vec<u8> = self.backlog.drain(..self.backlog.len().min(1000)).collect();
            self.inner.feed(self.now, &bytes);
        };
        self.eof = false;
        let event = event?;
        if (self.is_closed)(&event) {
            self.closed = true;
            match self.bug {
                Bug::ClosedTwice => self.extra = (self.copied)(&event),
                Bug::EventAfterClosed => self.extra = self.first.take(),
                Bug::NeverCloses => return None,
                _ => {}
            }
        } else {
            // Not the first event: without it, the application would have the wrong state from the
            // start.
            let drops = self.first.is_some() && std::mem::take(&mut self.drop_next);
            if self.first.is_none() {
                self.first = (self.copied)(&event);
            }
            if self.bug == Bug::NeverIdle {
                self.extra = (self.copied)(&event);
            }
            let ends = (self.ends_a_call)(&event);
            if ends && self.bug == Bug::SaysTwiceThatACallEnded {
                self.extra = (self.copied)(&event);
            }
            let forgets = ends && self.bug == Bug::ForgetsToSayThatACallEnded;
            if forgets || drops {
                return self.poll_event();
            }
        }
        Some(event)
    }

    fn deadline(&self) -> Option<Time> {
        let honest = self.inner.deadline();
        let soon = Some(self.now);
        match self.bug {
            Bug::DeadlineStuckInThePast => Some(Time::ZERO),
            Bug::DeadlineHidesAnEvent => {
                honest.map(|due| due.max(self.now.saturating_add(Duration::from_millis(1))))
            }
            Bug::DeadlineMissesTheEnd if self.eof => None,
            Bug::RefusalMovesTheDeadline if self.refused => soon,
            _ if self.extra.is_some() => soon,
            _ if !self.backlog.is_empty() && self.inner.wants_input() => soon,
            _ => honest,
        }
    }
}

impl<S: Subject> Subject for MutantSubject<S> {
    type Machine = Mutant<S::Machine>;
    type App = S::App;
    const MARK: usize = S::MARK;
    const ROOM: usize = S::ROOM;

    fn name(&self) -> String {
        format!("{} with {:?}", self.inner.name(), self.bug)
    }

    fn make(&self, now: Time) -> Mutant<S::Machine> {
        let mut mutant = Mutant {
            inner: self.inner.make(now),
            bug: self.bug,
            now,
            out: Vec::new(),
            written: 0,
            produced: 0,
            unnamed: false,
            backlog: Vec::new(),
            kept: Vec::new(),
            room: [b' '; 64],
            feeds: 0,
            mark: S::MARK,
            drop_next: false,
            eof: false,
            refused: false,
            closed: false,
            is_closed: S::is_closed,
            copied: S::copied,
            ends_a_call: S::ends_a_call,
            messages: S::messages,
            under_another_id: S::under_another_id,
            extra: None,
            first: None,
        };
        mutant.pull();
        mutant
    }

    fn app(&self, seed: u64) -> S::App {
        self.inner.app(seed)
    }

    fn react(&self, app: &mut S::App, machine: &mut Mutant<S::Machine>, event: &EventOf<S>) {
        self.inner.react(app, &mut machine.inner, event);
        machine.pull();
    }

    fn is_closed(event: &EventOf<S>) -> bool {
        S::is_closed(event)
    }

    fn copied(event: &EventOf<S>) -> Option<EventOf<S>> {
        S::copied(event)
    }

    fn scripts(&self) -> Vec<Vec<u8>> {
        self.inner.scripts()
    }

    fn opening(&self) -> Vec<u8> {
        self.inner.opening()
    }

    fn message(&self, len: usize) -> Vec<u8> {
        self.inner.message(len)
    }

    fn refuse(&self, app: &S::App, machine: &mut Mutant<S::Machine>, refusals: &mut Refusals) {
        self.inner.refuse(app, &mut machine.inner, refusals);
        machine.pull();
        machine.refused = true;
        if self.bug == Bug::RefusalLeavesAByte {
            machine.out.push(b'!');
        }
    }

    fn must_refuse(&self) -> &'static [&'static str] {
        self.inner.must_refuse()
    }

    fn transmit(&self, machine: &mut Mutant<S::Machine>) -> bool {
        let named = self.inner.transmit(&mut machine.inner);
        named || self.bug == Bug::OutputNamedUnseen && std::mem::take(&mut machine.unnamed)
    }

    fn aside(&self, machine: &mut Mutant<S::Machine>, now: Time) -> bool {
        let brings_time = self.inner.aside(&mut machine.inner, now);
        if brings_time {
            machine.sees(now);
        }
        machine.pull();
        brings_time
    }

    fn calls(&self, record: &Record<EventOf<S>>) -> Calls {
        self.inner.calls(record)
    }

    fn messages(output: &[u8]) -> Vec<Vec<u8>> {
        S::messages(output)
    }

    fn under_another_id(message: &[u8]) -> Option<Vec<u8>> {
        S::under_another_id(message)
    }

    fn ends_a_call(event: &EventOf<S>) -> bool {
        S::ends_a_call(event)
    }
}
