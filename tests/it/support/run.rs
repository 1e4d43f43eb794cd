//! One machine with its application, driven step by step. Each step asserts the laws about single
//! steps.

use super::laws::{EventOf, Law, Record, Subject, broken};
use super::subject::Refusals;
use ide_mcp::{Machine as _, Time, Wire as _};
use std::collections::BTreeSet;
use std::time::Duration;

/// More events than any machine has for the few kilobytes of input between two calls of `settle`.
const NEVER_IDLE: usize = 300_000;
/// The time within which a run has to end by itself.
const PATIENCE: Duration = Duration::from_secs(600);

/// A machine under observation.
pub struct Run<'a, S: Subject> {
    subject: &'a S,
    machine: S::Machine,
    app: S::App,
    /// The seed, for messages.
    seed: u64,
    now: Time,
    closed: bool,
    done: bool,
    /// True after the last event and the reaction of the application to it.
    sealed: bool,
    /// The number of bytes of the output that were written.
    written: usize,
    /// The number of bytes that were ever in the output.
    produced: usize,
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
        let mut run = Self {
            subject,
            machine: subject.make(now),
            app: subject.app(app),
            seed,
            now,
            closed: false,
            done: false,
            sealed: false,
            written: 0,
            produced: 0,
            record: Record::default(),
            shown: Vec::new(),
            refused: BTreeSet::new(),
        };
        run.note_output();
        run
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

    pub fn outgoing(&self) -> &[u8] {
        self.machine.outgoing()
    }

    pub fn wants_input(&mut self) -> bool {
        let wants = self.machine.wants_input();
        if self.machine.space().is_empty() == wants {
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
        self.record = Record::default();
        self.shown = Vec::new();
    }

    pub fn feed(&mut self, at: Time, bytes: &[u8]) {
        self.sees(at);
        self.record.input.extend_from_slice(bytes);
        self.machine.feed(at, bytes);
    }

    /// Feeds the bytes if the machine wants input, and otherwise only the time.
    pub fn feed_wanted(&mut self, at: Time, bytes: &[u8]) {
        let bytes = if self.wants_input() { bytes } else { &[] };
        self.feed(at, bytes);
    }

    /// Reads into `space` once. Returns the number of bytes that had room.
    pub fn read(&mut self, at: Time, bytes: &[u8]) -> usize {
        let space = self.machine.space();
        let len = space.len().min(bytes.len());
        space[..len].copy_from_slice(&bytes[..len]);
        if self.machine.space().get(..len) != Some(&bytes[..len]) {
            self.broken(Law::Cuts, "a second `space` returns another room");
        }
        self.record.input.extend_from_slice(&bytes[..len]);
        self.sees(at);
        self.machine.filled(at, len);
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
        let len = self.machine.space().len();
        let taken = if n > len { 0 } else { n };
        let lies = self.machine.space()[..taken].to_vec();
        self.record.input.extend_from_slice(&lies);
        self.sees(at);
        self.machine.filled(at, n);
    }

    pub fn eof(&mut self, at: Time) {
        self.sees(at);
        self.machine.feed_eof(at);
    }

    /// Feeds more bytes at once than a machine takes without a poll.
    pub fn overfeed(&mut self) {
        self.machine.feed(self.now, &vec![b' '; 256 * 1024 + 1]);
    }

    /// Acts beside the connection, if the subject can, which brings in the time.
    pub fn aside(&mut self, at: Time) {
        if self.subject.aside(&mut self.machine, at) {
            self.sees(at);
        }
    }

    /// Trims the machine, and checks that nothing observable changes.
    pub fn trim(&mut self) {
        let before = self.state();
        self.machine.trim();
        let after = self.state();
        if before != after {
            self.broken(Law::Cuts, &format!("`trim` changed something\n  {before:?}\n  {after:?}"));
        }
    }

    /// Writes at most `most` bytes.
    pub fn write(&mut self, most: usize) {
        self.note_output();
        let n = self.machine.outgoing().len().min(most);
        self.written += n;
        self.machine.sent(n);
        self.note_output();
    }

    /// Ticks, polls all events, and checks law 4.
    pub fn tick(&mut self, at: Time) {
        self.sees(at);
        self.machine.tick(at);
        self.settle();
        let deadline = self.machine.deadline();
        // Nothing is later than the end of time.
        if self.now != Time::new(Duration::MAX) && deadline.is_some_and(|due| due <= self.now) {
            self.broken(
                Law::ClockMovesOn,
                &format!("after a tick at {:?} the deadline is {deadline:?}", self.now),
            );
        }
        self.subject.act_late(&mut self.app, &mut self.machine);
        self.settle();
    }

    /// Acts on the machine without an event.
    pub fn act(&mut self, act: impl FnOnce(&mut S::Machine)) {
        act(&mut self.machine);
        self.note_output();
    }

    /// Tries everything that the machine has to refuse, and checks law 8.
    pub fn refuse(&mut self) {
        let before = self.state();
        let mut refusals = Refusals::default();
        self.subject.refuse(&self.app, &mut self.machine, &mut refusals);
        if let Some(granted) = refusals.granted {
            self.broken(Law::RefusalsFree, &format!("the machine did not refuse: {granted}"));
        }
        if refusals.tried.is_empty() {
            self.broken(Law::RefusalsFree, "there is a state in which nothing is refused");
        }
        self.refused.extend(refusals.tried);
        let after = self.state();
        if before != after {
            self.broken(
                Law::RefusalsFree,
                &format!("a refused send changed something\n  {before:?}\n  {after:?}"),
            );
        }
    }

    /// Polls once, and checks laws 3 and 5. Returns false if there was no event.
    pub fn poll(&mut self) -> bool {
        let deadline = self.machine.deadline();
        let Some(event) = self.machine.poll_event() else { return false };
        if deadline.is_none_or(|due| due > self.now) {
            self.broken(
                Law::NothingUnseen,
                &format!("at {:?}, with the deadline {deadline:?}, came {event:?}", self.now),
            );
        }
        if self.closed {
            self.broken(Law::OneEnding, &format!("after the last event came {event:?}"));
        }
        self.closed = S::is_closed(&event);
        self.shown.push(format!("{event:?}"));
        self.subject.react(&mut self.app, &mut self.machine, &event);
        self.record.events.push(event);
        self.note_output();
        self.sealed = self.closed;
        true
    }

    /// Polls until there is no event.
    pub fn settle(&mut self) {
        for _ in 0..NEVER_IDLE {
            if self.poll() {
                continue;
            }
            self.note_output();
            let deadline = self.machine.deadline();
            if !self.subject.transmit(&mut self.machine) {
                return self.check_done();
            }
            if deadline.is_none_or(|due| due > self.now) {
                self.broken(Law::NothingUnseen, "output was named while the deadline was not due");
            }
        }
        self.broken(Law::ClockMovesOn, "the machine is never idle");
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

    /// Checks that only `outgoing`, `sent` and `tick` act after the last event.
    fn after_the_end(&mut self) {
        let before = self.machine.outgoing().to_vec();
        self.machine.feed(self.now, b"\x81\x80\0\0\0\0GET / HTTP/1.1\r\n\r\n{}\n");
        self.machine.filled(self.now, 3);
        self.trim();
        self.refuse();
        self.aside(self.now);
        self.settle();
        if self.machine.outgoing() != before {
            self.broken(Law::OneEnding, "input after the last event changed the output");
        }
        if self.seed % 2 == 0 {
            self.write(usize::MAX);
            self.settle();
        }
        // The machine drops the unwritten output at a deadline.
        for _ in 0..100 {
            match self.machine.deadline() {
                Some(due) if !self.machine.is_done() => self.tick(due),
                _ => break,
            }
        }
        if !self.machine.is_done() || !self.machine.outgoing().is_empty() {
            self.broken(Law::OneEnding, "the machine is never done after the last event");
        }
        self.tick(self.now.saturating_add(PATIENCE));
        self.check_done();
    }

    fn check_done(&mut self) {
        let done = self.machine.is_done();
        if done && !self.closed {
            self.broken(Law::OneEnding, "the machine is done before its last event");
        }
        if self.done && !done {
            self.broken(Law::OneEnding, "the machine was done and is not done any more");
        }
        self.done = done;
    }

    /// Returns the observable state of the machine.
    fn state(&self) -> (Vec<u8>, Option<Time>, bool, bool) {
        let machine = &self.machine;
        (machine.outgoing().to_vec(), machine.deadline(), machine.wants_input(), machine.is_done())
    }

    /// Records the new output, since the machine can drop it unwritten.
    fn note_output(&mut self) {
        let waiting = self.machine.outgoing();
        let end = self.written + waiting.len();
        if end > self.produced {
            if self.sealed {
                self.broken(Law::OneEnding, "there is new output after the last event");
            }
            self.record.output.extend_from_slice(&waiting[self.produced - self.written..]);
            self.produced = end;
        }
    }

    fn sees(&mut self, at: Time) {
        self.now = self.now.max(at);
    }

    #[track_caller]
    fn broken(&self, law: Law, message: &str) -> ! {
        broken(law, format_args!("{}, seed {}: {message}", self.subject.name(), self.seed))
    }
}
