//! One machine with its application, driven pass by pass. Each output asserts the laws about single outputs.

use super::laws::{EventOf, Law, Record, Subject, broken};
use super::subject::Refusals;
use ide_mcp::{Machine as _, Output, Time};
use std::collections::BTreeSet;
use std::time::Duration;

/// More outputs than any machine has in a pass over a few kilobytes of input.
const NEVER_IDLE: usize = 300_000;
/// The time within which a run must end by itself.
const PATIENCE: Duration = Duration::from_secs(600);

/// A machine under observation.
pub struct Run<'a, S: Subject> {
    subject: &'a S,
    machine: S::Machine,
    app: S::App,
    /// The seed, for messages.
    seed: u64,
    now: Time,
    /// True between the first poll of a pass and its `Wait`.
    is_passing: bool,
    /// True if the run has left the pass, and can have changed the machine since.
    has_left: bool,
    /// True if the run has trimmed the machine since the last pass, or had a send refused. Neither may have an effect.
    has_trimmed: bool,
    has_refused: bool,
    /// True from the last event on.
    closed: bool,
    /// True from `Close` on.
    is_over: bool,
    /// True once all output up to the last event was offered.
    sealed: bool,
    /// The bytes of the output that the last pass has left unwritten.
    unwritten: usize,
    /// True if the socket has taken nothing in this pass.
    is_full: bool,
    /// The number of bytes of the output that were written.
    written: usize,
    /// The number of bytes that were ever offered.
    produced: usize,
    /// The number of offered bytes that the record no longer has.
    forgotten: usize,
    record: Record<EventOf<S>>,
    /// The events as text.
    shown: Vec<String>,
    /// The names of everything that was refused so far.
    refused: BTreeSet<&'static str>,
}

impl<'a, S: Subject> Run<'a, S> {
    /// Makes a run. `seed` names the run in messages, and `app` is the seed of the application.
    pub fn new(subject: &'a S, seed: u64, app: u64) -> Self {
        let now = Time::from_millis(10);
        Self {
            subject,
            machine: subject.make(now),
            app: subject.app(app),
            seed,
            now,
            is_passing: false,
            has_left: false,
            has_trimmed: false,
            has_refused: false,
            closed: false,
            is_over: false,
            sealed: false,
            unwritten: 0,
            is_full: false,
            written: 0,
            produced: 0,
            forgotten: 0,
            record: Record::default(),
            shown: Vec::new(),
            refused: BTreeSet::new(),
        }
    }

    pub const fn subject(&self) -> &'a S {
        self.subject
    }

    /// Returns the latest time that the machine has received.
    pub const fn now(&self) -> Time {
        self.now
    }

    pub const fn has_closed(&self) -> bool {
        self.closed
    }

    pub fn deadline(&self) -> Option<Time> {
        self.machine.deadline()
    }

    /// Returns the number of bytes that the last pass has left unwritten.
    pub const fn unwritten(&self) -> usize {
        self.unwritten
    }

    pub fn wants_input(&mut self) -> bool {
        let wants = self.machine.wants_input(());
        if self.machine.space(()).is_empty() == wants {
            self.broken(Law::Bounded, "`space` is not empty exactly while `wants_input` is false");
        }
        wants
    }

    /// Returns the events as text.
    pub fn shown(&self) -> &[String] {
        &self.shown
    }

    /// Returns the names of everything that was refused so far.
    pub const fn refused(&self) -> &BTreeSet<&'static str> {
        &self.refused
    }

    /// Returns the record of the run.
    pub const fn record(&self) -> &Record<EventOf<S>> {
        &self.record
    }

    /// Returns the number of written bytes.
    pub const fn written(&self) -> usize {
        self.written
    }

    /// Drops the record, so that a long run measures the machine and not the test.
    pub fn forget(&mut self) {
        self.forgotten = self.produced;
        self.record = Record::default();
        self.shown = Vec::new();
    }

    pub fn feed(&mut self, at: Time, bytes: &[u8]) {
        self.sees(at);
        self.record.input.extend_from_slice(bytes);
        self.machine.feed(at, (), bytes);
    }

    /// Feeds the bytes if the machine wants input, and otherwise only the time.
    pub fn feed_wanted(&mut self, at: Time, bytes: &[u8]) {
        let bytes = if self.wants_input() { bytes } else { &[] };
        self.feed(at, bytes);
    }

    /// Reads into `space` once. Returns the number of bytes that had room.
    pub fn read(&mut self, at: Time, bytes: &[u8]) -> usize {
        let space = self.machine.space(());
        let len = space.len().min(bytes.len());
        space[..len].copy_from_slice(&bytes[..len]);
        if self.machine.space(()).get(..len) != Some(&bytes[..len]) {
            self.broken(Law::Cuts, "a second `space` returns another room");
        }
        self.record.input.extend_from_slice(&bytes[..len]);
        self.sees(at);
        self.machine.filled(at, (), len);
        len
    }

    /// Reads all bytes into `space`. Drops the rest if the machine wants no input even after polling.
    pub fn read_all(&mut self, at: Time, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let read = self.read(at, bytes);
            bytes = &bytes[read..];
            if read == 0 {
                self.settle();
                if !self.wants_input() {
                    return;
                }
            }
        }
    }

    /// Calls `filled` with `n`, and leaves `space` as it is. An `n` beyond `space` ends the connection.
    pub fn fill_with(&mut self, at: Time, n: usize) {
        let len = self.machine.space(()).len();
        let taken = if n > len { 0 } else { n };
        let lies = self.machine.space(())[..taken].to_vec();
        self.record.input.extend_from_slice(&lies);
        self.sees(at);
        self.machine.filled(at, (), n);
    }

    pub fn eof(&mut self, at: Time) {
        self.sees(at);
        self.machine.feed_eof(at, ());
    }

    /// Feeds more bytes at once than a machine takes without a poll.
    pub fn overfeed(&mut self) {
        self.machine.feed(self.now, (), &vec![b' '; 256 * 1024 + 1]);
    }

    /// Acts on another connection, if the subject has one, which tells the machine the time.
    pub fn aside(&mut self, at: Time) {
        if self.subject.aside(&mut self.machine, at) {
            self.sees(at);
        }
    }

    /// Trims the machine, and checks that nothing observable changes.
    pub fn trim(&mut self) {
        let before = self.state();
        self.machine.trim(());
        self.has_trimmed = true;
        let after = self.state();
        if before != after {
            self.broken(Law::Cuts, &format!("`trim` changed something\n  {before:?}\n  {after:?}"));
        }
    }

    /// Runs a pass over a socket with room for at most `most` bytes.
    pub fn write(&mut self, most: usize) {
        self.pass(self.now, most);
    }

    /// Runs a pass at a new time, and then lets the application act late.
    pub fn tick(&mut self, at: Time) {
        self.pass(at, 0);
        self.subject.act_late(&mut self.app, &mut self.machine);
        self.settle();
    }

    /// Acts on the machine without an event.
    pub fn act(&mut self, act: impl FnOnce(&mut S::Machine)) {
        act(&mut self.machine);
    }

    /// Tries everything that the machine must refuse, and checks law 8.
    pub fn refuse(&mut self) {
        let before = self.state();
        let mut refusals = Refusals::default();
        let is_full = self.unwritten >= S::MARK;
        self.subject.refuse(&self.app, &mut self.machine, is_full, &mut refusals);
        if let Some(granted) = refusals.granted {
            self.broken(Law::RefusalsFree, &format!("the machine did not refuse: {granted}"));
        }
        if refusals.tried.is_empty() {
            self.broken(Law::RefusalsFree, "there is a state in which nothing is refused");
        }
        self.refused.extend(refusals.tried);
        self.has_refused = true;
        let after = self.state();
        if before != after {
            self.broken(
                Law::RefusalsFree,
                &format!("a refused send changed something\n  {before:?}\n  {after:?}"),
            );
        }
    }

    /// Polls once, over a socket without room. The pass stays open, as with a loop that leaves too early.
    pub fn poll(&mut self) {
        self.has_left = self.step(self.now, &mut 0, None);
    }

    /// Runs a pass at the latest time, over a socket without room.
    pub fn settle(&mut self) {
        self.pass(self.now, 0);
    }

    /// Runs a pass over a socket with this much room, and checks the laws. A pass that is open ends first.
    fn pass(&mut self, at: Time, mut room: usize) {
        if self.is_passing {
            self.pass_to_its_end(self.now, &mut 0, None);
        }
        self.sees(at);
        self.pass_to_its_end(at, &mut room, None);
    }

    fn pass_to_its_end(&mut self, at: Time, room: &mut usize, mut offer: Option<&mut Vec<u8>>) {
        for _ in 0..NEVER_IDLE {
            if !self.step(at, room, offer.as_deref_mut()) {
                return;
            }
        }
        self.broken(Law::ClockMovesOn, "the machine is never idle");
    }

    /// Polls once, and checks laws 3, 4, 5 and 11. Copies an offer into `offer`. Returns false if the machine waits.
    fn step(&mut self, at: Time, room: &mut usize, offer: Option<&mut Vec<u8>>) -> bool {
        let Self { machine, record, .. } = self;
        let (due, has_output) = (machine.deadline(), machine.wants_output(()));
        let is_due = due.is_some_and(|due| due <= self.now);
        if !std::mem::replace(&mut self.is_passing, true) {
            (self.unwritten, self.is_full) = (0, false);
        }
        match machine.poll(at) {
            Output::Event(event) => {
                if !is_due {
                    self.broken(
                        Law::NothingUnseen,
                        &format!("at {:?}, with the deadline {due:?}, came {event:?}", self.now),
                    );
                }
                if self.closed {
                    self.broken(Law::OneEnding, &format!("after the last event came {event:?}"));
                }
                self.closed = S::is_closed(&event);
                self.shown.push(format!("{event:?}"));
                self.subject.react(&mut self.app, &mut self.machine, &event);
                self.record.events.push(event);
            }
            Output::Write { bytes, .. } => {
                let (len, end) = (bytes.len(), self.written + bytes.len());
                let known = self.forgotten.max(self.written);
                let old = self.produced.min(end).saturating_sub(known);
                let skipped = known - self.written;
                let is_same = bytes.get(skipped..skipped + old)
                    == record.output.get(known - self.forgotten..known - self.forgotten + old);
                let is_new = end > self.produced;
                if is_new {
                    record.output.extend_from_slice(&bytes[self.produced - self.written..]);
                    self.produced = end;
                }
                if let Some(offer) = offer {
                    offer.clear();
                    offer.extend_from_slice(bytes);
                }
                let taken = len.min(*room);
                machine.written((), taken);
                let was_full = std::mem::replace(&mut self.is_full, taken == 0);
                self.unwritten = len - taken;
                let was_sealed = std::mem::replace(&mut self.sealed, self.closed);
                if self.is_over || is_new && was_sealed {
                    let law = if self.has_refused { Law::RefusalsFree } else { Law::OneEnding };
                    self.broken(law, "there is new output after the last event");
                }
                if !has_output && !is_due {
                    self.broken(
                        Law::NothingUnseen,
                        "bytes are offered that neither `wants_output` nor the deadline has shown",
                    );
                }
                if !is_same {
                    self.broken(
                        Law::LosesNothing,
                        "an offer does not begin with the bytes that were left of the last one",
                    );
                }
                if was_full {
                    self.broken(Law::LosesNothing, "bytes are offered again to a socket that is full");
                }
                self.written += taken;
                *room -= taken;
            }
            Output::Close(()) => {
                if !is_due {
                    let law = if self.has_trimmed { Law::Cuts } else { Law::NothingUnseen };
                    self.broken(law, "the connection is closed, and the deadline was not due");
                }
                if self.is_over || !self.closed {
                    self.broken(Law::OneEnding, "the connection is closed twice, or before its last event");
                }
                self.is_over = true;
            }
            Output::Wait(until) => {
                // Nothing is later than the end of time.
                let moves_on = self.now == Time::new(Duration::MAX) || until.is_none_or(|due| due > self.now);
                if !moves_on || until != machine.deadline() {
                    self.broken(
                        Law::ClockMovesOn,
                        &format!("after a pass at {:?} the machine waits until {until:?}", self.now),
                    );
                }
                let has_left = std::mem::take(&mut self.has_left);
                (self.has_trimmed, self.has_refused) = (false, false);
                if !has_left && machine.wants_output(()) != (self.unwritten > 0) {
                    self.broken(Law::NothingUnseen, "`wants_output` is not what the pass has left");
                }
                self.is_passing = false;
                self.sealed |= self.closed && self.unwritten == 0;
                return false;
            }
        }
        true
    }

    /// Ends the run by time, or else by the end of the transport, and checks law 3.
    pub fn finish(&mut self) {
        self.settle();
        let end = self.now.saturating_add(PATIENCE);
        for _ in 0..10_000 {
            match self.machine.deadline() {
                Some(due) if due <= end && !self.closed => self.tick(due),
                _ => break,
            }
        }
        if !self.closed {
            self.eof(self.now);
            self.settle();
        }
        if !self.closed {
            self.broken(Law::OneEnding, "the transport has ended and no last event came");
        }
        self.after_the_end();
    }

    /// Checks that after the last event only writes and time have an effect.
    fn after_the_end(&mut self) {
        let before = self.offer();
        self.machine.feed(self.now, (), b"\x81\x80\0\0\0\0GET / HTTP/1.1\r\n\r\n{}\n");
        self.machine.filled(self.now, (), 3);
        self.settle();
        self.trim();
        self.refuse();
        self.aside(self.now);
        if self.offer() != before {
            self.broken(Law::OneEnding, "input after the last event changed the output");
        }
        if self.seed % 2 == 0 {
            self.write(usize::MAX);
        }
        // The machine drops the unwritten output at a deadline.
        for _ in 0..100 {
            match self.machine.deadline() {
                Some(due) if !self.is_over => self.tick(due),
                _ => break,
            }
        }
        if !self.is_over || self.unwritten > 0 {
            self.broken(Law::OneEnding, "the connection is never closed after the last event");
        }
        self.tick(self.now.saturating_add(PATIENCE));
    }

    /// Returns the bytes that the machine offers, in a pass of their own.
    fn offer(&mut self) -> Vec<u8> {
        if self.is_passing {
            self.settle();
        }
        let mut offer = Vec::new();
        self.pass_to_its_end(self.now, &mut 0, Some(&mut offer));
        offer
    }

    /// Returns the observable state of the machine, after the pass that is open. An offer can be seen if nothing comes
    /// before it.
    fn state(&mut self) -> (Option<Time>, bool, bool, Option<Vec<u8>>) {
        if self.is_passing {
            self.settle();
        }
        let is_idle = self.machine.deadline().is_none_or(|due| due > self.now);
        let offer = is_idle.then(|| self.offer());
        let machine = &self.machine;
        (machine.deadline(), machine.wants_input(()), machine.wants_output(()), offer)
    }

    fn sees(&mut self, at: Time) {
        self.now = self.now.max(at);
    }

    #[track_caller]
    fn broken(&self, law: Law, message: &str) -> ! {
        broken(law, format_args!("{}, seed {}: {message}", self.subject.name(), self.seed))
    }
}
