//! Machines with one planted bug each, to show that the test of the laws can fail.
//!
//! A [`Mutant`] wraps a real machine and has an output of its own, so that it can lose, double and change the messages
//! that pass through it. Each bug breaks one law.

use super::bug::Bug;
use super::laws::{Calls, EventOf, Record, Subject};
use super::subject::Refusals;
use ide_mcp::{Machine, Output, Time};
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
    /// The number of bytes of the offer of the inner machine that waits for its answer.
    inner_offer: usize,
    /// True from the first poll of a pass to its `Wait`.
    is_passing: bool,
    /// True if the socket took nothing in this pass, or has not answered yet.
    is_full: bool,
    /// True from the first offer of a pass on.
    has_offered: bool,
    /// True once the inner machine has closed, and once the mutant has.
    inner_is_over: bool,
    is_over: bool,
    /// When the rest of the output is dropped.
    drop_at: Option<Time>,
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

impl<M: Machine<Conn = ()>> Mutant<M> {
    /// Takes all input, on the way to the inner machine.
    fn pass(&mut self, now: Time, bytes: &[u8]) {
        self.sees(now);
        self.feeds += 1;
        match self.bug {
            Bug::PanicsOnAByte => assert!(!bytes.contains(&0xfe), "planted"),
            Bug::DropsAnEventAtACut => self.drop_next |= bytes.len() == 1 && self.feeds % 7 == 0,
            Bug::OutputShowsCuts if !self.closed && self.feeds == 300 => self.out.push(b'!'),
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
        let too_much = !self.inner.wants_input(()) || !self.backlog.is_empty() || bytes.len() > 256 * 1024;
        match self.bug {
            Bug::AlwaysWantsInput | Bug::TakesEverythingUnpolled if too_much => {
                self.backlog.extend_from_slice(bytes);
                self.inner.feed(now, (), &[]);
            }
            Bug::OverfedInSilence if too_much => self.inner.feed(now, (), &[]),
            _ => self.inner.feed(now, (), bytes),
        }
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

    /// Takes over the new bytes of an offer of the inner machine.
    fn pull(&mut self, offer: &[u8]) {
        let end = self.written + offer.len();
        if end > self.produced {
            let new = offer[self.produced - self.written..].to_vec();
            self.produced = end;
            let new = self.distort(new);
            self.out.extend(new);
        }
    }

    /// Polls the inner machine up to its next event, and takes over its output. Returns `None` if the pass of the inner
    /// machine is at its offer, or over.
    fn next_inner(&mut self, now: Time) -> Option<M::Event> {
        loop {
            match self.inner.poll(now) {
                Output::Event(event) => return Some(event),
                Output::Write { bytes, .. } => {
                    let offer = bytes.to_vec();
                    self.pull(&offer);
                    if !self.out.is_empty() {
                        self.inner_offer = offer.len();
                        return None;
                    }
                    // The bug has swallowed all of it.
                    self.written += offer.len();
                    self.inner.written((), offer.len());
                }
                Output::Close(()) => self.inner_is_over = true,
                Output::Wait(_) => {
                    let feeds = !self.backlog.is_empty() && self.inner.wants_input(());
                    if !feeds {
                        self.drop_late();
                        return None;
                    }
                    let bytes: Vec<u8> = self.backlog.drain(..self.backlog.len().min(1000)).collect();
                    self.inner.feed(self.now, (), &bytes);
                }
            }
        }
    }

    /// Drops what is left of the output a second after the inner machine has closed.
    fn drop_late(&mut self) {
        if self.inner_is_over && !self.out.is_empty() {
            let at = *self.drop_at.get_or_insert_with(|| self.now.saturating_add(Duration::from_secs(1)));
            if at <= self.now && !self.has_offered {
                self.out.clear();
            }
        }
    }

    /// Returns the next event, as the bug lets it through.
    fn next_event(&mut self, now: Time) -> Option<M::Event> {
        self.refused &= self.bug == Bug::RefusalShowsLater;
        if self.extra.is_some() {
            let event = self.extra.take();
            if self.bug == Bug::NeverIdle {
                self.extra = event.as_ref().and_then(self.copied);
            }
            return event;
        }
        let event = self.next_inner(now);
        self.eof = false;
        let event = event?;
        if (self.is_closed)(&event) {
            self.closed = true;
            match self.bug {
                Bug::ClosedTwice => self.extra = (self.copied)(&event),
                Bug::EventAfterClosed => self.extra = self.first.take(),
                Bug::NeverCloses => return self.next_event(now),
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
            if ends && self.bug == Bug::ReportsTheEndOfACallTwice {
                self.extra = (self.copied)(&event);
            }
            let forgets = ends && self.bug == Bug::OmitsTheEndOfACall;
            if forgets || drops {
                return self.next_event(now);
            }
        }
        Some(event)
    }

    /// Answers the offer of the inner machine: the socket took `n` bytes.
    fn answer_inner(&mut self, n: usize) {
        let taken = std::mem::take(&mut self.inner_offer).min(n);
        self.written += taken;
        self.inner.written((), taken);
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

impl<M: Machine<Conn = ()>> Machine for Mutant<M> {
    type Event = M::Event;
    type Conn = ();

    fn poll(&mut self, now: Time) -> Output<'_, M::Event> {
        if !std::mem::replace(&mut self.is_passing, true) {
            self.sees(now);
            (self.is_full, self.has_offered) = (false, false);
        }
        if self.inner_offer > 0 {
            self.answer_inner(0);
        }
        loop {
            if let Some(event) = self.next_event(now) {
                return Output::Event(event);
            }
            let has_output = !self.out.is_empty();
            let closes = self.inner_is_over && !has_output && self.bug != Bug::NeverDone;
            if closes && !std::mem::replace(&mut self.is_over, true) {
                return Output::Close(());
            }
            let was_full = has_output && std::mem::replace(&mut self.is_full, true);
            if has_output && (!was_full || self.bug == Bug::OffersAgainToAFullSocket) {
                self.has_offered = true;
                return Output::Write { conn: (), bytes: &self.out };
            }
            if self.inner_offer == 0 {
                break;
            }
            self.answer_inner(0);
        }
        self.is_passing = false;
        Output::Wait(self.deadline())
    }

    fn written(&mut self, (): (), n: usize) {
        let extra = usize::from(self.bug == Bug::ShortWriteLosesAByte && n > 0);
        self.out.drain(..self.out.len().min(n + extra));
        self.is_full = n == 0;
        if self.inner_offer > 0 {
            self.answer_inner(n);
        }
    }

    fn feed(&mut self, now: Time, (): (), bytes: &[u8]) {
        self.pass(now, bytes);
    }

    fn feed_eof(&mut self, now: Time, (): ()) {
        self.sees(now);
        self.eof = true;
        self.inner.feed_eof(now, ());
    }

    fn wants_input(&self, (): ()) -> bool {
        match self.bug {
            Bug::AlwaysWantsInput => !self.closed,
            Bug::TakesEverythingUnpolled => !self.closed && self.out.len() < self.mark,
            Bug::StopsReadingAboveItsMark => self.inner.wants_input(()) && self.out.len() < self.mark,
            _ => self.inner.wants_input(()),
        }
    }

    fn wants_output(&self, (): ()) -> bool {
        (!self.out.is_empty() || self.inner.wants_output(())) && self.bug != Bug::OutputUnseen
    }

    fn space(&mut self, (): ()) -> &mut [u8] {
        match self.bug {
            Bug::AlwaysWantsInput | Bug::TakesEverythingUnpolled | Bug::StopsReadingAboveItsMark
                if !self.wants_input(()) =>
            {
                &mut []
            }
            Bug::AlwaysWantsInput | Bug::TakesEverythingUnpolled | Bug::OffersSpaceItDoesNotWant => {
                &mut self.room
            }
            _ => self.inner.space(()),
        }
    }

    fn filled(&mut self, now: Time, (): (), n: usize) {
        let panics = self.bug == Bug::PanicsOnMoreThanItsSpace;
        let space = self.space(());
        assert!(n <= space.len() || !panics, "planted");
        let bytes = space[..space.len().min(n)].to_vec();
        self.pass(now, &bytes);
    }

    fn trim(&mut self, (): ()) {
        if self.bug == Bug::TrimLosesOutput {
            self.out.clear();
        }
        self.inner.trim(());
    }

    fn deadline(&self) -> Option<Time> {
        let honest = self.inner.deadline();
        let soon = Some(self.now);
        if self.is_passing {
            return soon;
        }
        match self.bug {
            Bug::DeadlineStuckInThePast => Some(Time::ZERO),
            Bug::DeadlineHidesAnEvent => {
                honest.map(|due| due.max(self.now.saturating_add(Duration::from_millis(1))))
            }
            Bug::DeadlineMissesTheEnd if self.eof => None,
            Bug::RefusalMovesTheDeadline if self.refused => soon,
            _ if self.extra.is_some() => soon,
            Bug::NeverDone if self.inner_is_over && self.out.is_empty() => honest,
            _ if self.inner_is_over && !self.is_over => {
                self.drop_at.filter(|_| !self.out.is_empty()).max(soon)
            }
            _ if !self.backlog.is_empty() && self.inner.wants_input(()) => soon,
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
        Mutant {
            inner: self.inner.make(now),
            bug: self.bug,
            now,
            out: Vec::new(),
            written: 0,
            produced: 0,
            inner_offer: 0,
            is_passing: false,
            is_full: false,
            has_offered: false,
            inner_is_over: false,
            is_over: false,
            drop_at: None,
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
        }
    }

    fn app(&self, seed: u64) -> S::App {
        self.inner.app(seed)
    }

    fn react(&self, app: &mut S::App, machine: &mut Mutant<S::Machine>, event: &EventOf<S>) {
        self.inner.react(app, &mut machine.inner, event);
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

    fn refuse(&self, app: &S::App, machine: &mut Mutant<S::Machine>, is_full: bool, refusals: &mut Refusals) {
        self.inner.refuse(app, &mut machine.inner, is_full, refusals);
        machine.refused = true;
        if self.bug == Bug::RefusalLeavesAByte {
            machine.out.push(b'!');
        }
    }

    fn must_refuse(&self) -> &'static [&'static str] {
        self.inner.must_refuse()
    }

    fn aside(&self, machine: &mut Mutant<S::Machine>, now: Time) -> bool {
        let brings_time = self.inner.aside(&mut machine.inner, now);
        if brings_time {
            machine.sees(now);
        }
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
