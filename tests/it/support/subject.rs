//! What the laws are asserted for, and what they are told about it.

use ide_mcp::{Machine, Time, Wire};
use std::collections::BTreeSet;
use std::fmt;

/// A machine to be judged, with everything around it that the laws do not know.
///
/// A set of connections (`ide::Host`) is wrapped into one type that is the `Wire` of one of them.
pub trait Subject {
    type Machine: Wire + Machine<Event: fmt::Debug>;
    /// The application: what it remembers between events.
    type App;

    /// What failures call it.
    fn name(&self) -> String;

    /// A new machine. The same each time: a client's randomness has a fixed seed.
    fn make(&self, now: Time) -> Self::Machine;

    /// A new application. Seeds make applications that behave differently, the same seed the same.
    fn app(&self, seed: u64) -> Self::App;

    /// The application hears of an event and may act on the machine. It knows nothing but the events.
    fn react(&self, app: &mut Self::App, machine: &mut Self::Machine, event: &EventOf<Self>);

    /// Whether this is the last event.
    fn is_closed(event: &EventOf<Self>) -> bool;

    /// Valid input from the first byte on, each of a few kilobytes at most: everything that the machine has words
    /// for. What is broken is made of it by changing bytes.
    fn scripts(&self) -> Vec<Vec<u8>>;

    /// Input that opens the connection: what [`message`](Subject::message) may follow.
    fn opening(&self) -> Vec<u8>;

    /// One valid message of about `len` bytes. It can be repeated without end, and each provokes at least one byte
    /// of output, by the machine or by the application of seed 0.
    fn message(&self, len: usize) -> Vec<u8>;

    /// Bytes in the output above which the machine, as `make` made it, stops delivering. Small, or the test is slow.
    fn mark(&self) -> usize;

    /// Returns the number of bytes that the machine, as `make` made it, takes above the mark without delivering any of
    /// them: one message and the mark.
    fn room(&self) -> usize;

    /// How far the output may rise above the mark: the answers to what was parsed below it.
    fn slack(&self) -> usize {
        64 * 1024
    }

    /// Tries the sends and answers that must be refused in this state.
    fn refuse(&self, app: &Self::App, machine: &mut Self::Machine, refusals: &mut Refusals);

    /// What [`refuse`](Subject::refuse) has tried, by name, once the machine was in all of its states.
    fn must_refuse(&self) -> &'static [&'static str];

    /// `Host::poll_transmit`: true if a connection was named. Nothing else has it.
    fn transmit(&self, _machine: &mut Self::Machine) -> bool {
        false
    }

    /// Something beside the connection happens, if there is anything: it brings the new time in for all, and may not
    /// be noticed otherwise. False if there is nothing beside it.
    fn aside(&self, _machine: &mut Self::Machine, _now: Time) -> bool {
        false
    }

    /// The calls of a run, both directions, and how they ended.
    fn calls(&self, _record: &Record<EventOf<Self>>) -> Calls {
        Calls::default()
    }

    /// New output cut into messages, in which bugs are planted.
    fn messages(output: &[u8]) -> Vec<Vec<u8>> {
        vec![output.to_vec()]
    }

    /// If the message answers a call: the same answer, to a question that nobody asked.
    fn under_another_id(_message: &[u8]) -> Option<Vec<u8>> {
        None
    }

    /// The same event once more, in which bugs are planted. `None` if there cannot be two of it.
    fn copied(event: &EventOf<Self>) -> Option<EventOf<Self>>;

    /// Whether the event says that a call has ended.
    fn ends_a_call(_event: &EventOf<Self>) -> bool {
        false
    }
}

/// What the machine of a subject reports.
pub type EventOf<S> = <<S as Subject>::Machine as Machine>::Event;

/// What happened in a run so far.
#[derive(Debug)]
pub struct Record<E> {
    /// Everything that was fed.
    pub input: Vec<u8>,
    pub events: Vec<E>,
    /// Everything that ever waited to be written, also if it was dropped in the end.
    pub output: Vec<u8>,
}

impl<E> Default for Record<E> {
    fn default() -> Self {
        Self { input: Vec::new(), events: Vec::new(), output: Vec::new() }
    }
}

/// Both lists name a call in the same way, for example by its direction and id.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Calls {
    /// The calls that were accepted from the peer, and those made by the application.
    pub begun: Vec<String>,
    /// One entry for each ending: an answer on the wire, an outcome, an event that says it ended.
    pub ended: Vec<String>,
}

/// What was tried that has to be refused, and what was not.
#[derive(Debug, Default)]
pub struct Refusals {
    pub tried: BTreeSet<&'static str>,
    pub granted: Option<String>,
}

impl Refusals {
    /// `what` was tried; whether it was refused.
    pub fn expect(&mut self, what: &'static str, refused: bool) {
        self.tried.insert(what);
        if !refused {
            self.granted.get_or_insert_with(|| what.to_owned());
        }
    }

    /// `what` was tried; how it may be refused.
    pub fn expect_err<T: fmt::Debug, E: fmt::Debug + PartialEq>(
        &mut self,
        what: &'static str,
        found: Result<T, E>,
        allowed: &[E],
    ) {
        self.tried.insert(what);
        if !found.as_ref().is_err_and(|error| allowed.contains(error)) {
            self.granted.get_or_insert_with(|| format!("{what}: {found:?}, expected {allowed:?}"));
        }
    }
}
