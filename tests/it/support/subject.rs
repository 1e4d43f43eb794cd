//! What the laws are tested on: machines, and what surrounds them.

use ide_mcp::{Machine, Time};
use std::collections::BTreeSet;
use std::fmt;

/// A machine under test, with its input and its application.
///
/// A set of connections (`ide::Server`) is wrapped into one type that shows one of them.
pub trait Subject {
    type Machine: Machine<Conn = ()>;
    /// The application: its state between events.
    type App;

    /// The high-water mark of the machine, as `make` made it: the size of the output above which the
    /// machine stops delivering. A large mark makes the test slow.
    const MARK: usize;

    /// The number of bytes that the machine, as `make` made it, takes above the mark without delivering
    /// any of them: one message and the mark.
    const ROOM: usize;

    /// Returns the name of the subject for failures.
    fn name(&self) -> String;

    /// Makes a machine, identical each time: the randomness of a client has a fixed seed.
    fn make(&self, now: Time) -> Self::Machine;

    /// Makes an application. Different seeds make different behavior; equal seeds make equal behavior.
    /// The seeds are below [`LATE`], or [`LATE`] for an application that also decides late.
    fn app(&self, seed: u64) -> Self::App;

    /// Passes an event to the application, which can act on the machine. The application uses
    /// nothing but the events.
    fn react(&self, app: &mut Self::App, machine: &mut Self::Machine, event: &EventOf<Self>);

    /// Lets the application with the seed [`LATE`] take a decision that it has put off. Called after each tick.
    fn act_late(&self, _app: &mut Self::App, _machine: &mut Self::Machine) {}

    /// Returns true if this is the last event.
    fn is_closed(event: &EventOf<Self>) -> bool;

    /// Returns scripts of valid input from the first byte on, each of a few kilobytes at most. Together they
    /// have every message that the machine reads, and each has two rounds of its messages, since a machine
    /// can keep state from the first. The laws change bytes in them to make invalid input.
    fn scripts(&self) -> Vec<Vec<u8>>;

    /// Returns the input that opens the connection, up to the first [`message`](Subject::message).
    fn opening(&self) -> Vec<u8>;

    /// Returns a valid message of about `len` bytes. It can be repeated without end. Each
    /// repetition makes the machine, or the application of seed 0, send at least one byte.
    fn message(&self, len: usize) -> Vec<u8>;

    /// Returns the number of bytes by which the output can exceed the mark: the answers to messages
    /// that were parsed below the mark.
    fn slack(&self) -> usize {
        64 * 1024
    }

    /// Tries the sends and answers that the machine must refuse in this state. `is_full` says that its unwritten output
    /// is at or above the mark.
    fn refuse(&self, app: &Self::App, machine: &mut Self::Machine, is_full: bool, refusals: &mut Refusals);

    /// Returns the names of everything that [`refuse`](Subject::refuse) must have tried once the
    /// machine was in all its states.
    fn must_refuse(&self) -> &'static [&'static str];

    /// Acts on another connection of the same server, which tells the time to all connections and has no other effect
    /// on this one. Returns false if there is no other connection.
    fn aside(&self, _machine: &mut Self::Machine, _now: Time) -> bool {
        false
    }

    /// Returns the calls of a run in both directions, and their ends.
    fn calls(&self, _record: &Record<EventOf<Self>>) -> Calls {
        Calls::default()
    }

    /// Cuts new output into messages. [`Mutant`](super::mutant::Mutant) plants bugs in them.
    fn messages(output: &[u8]) -> Vec<Vec<u8>> {
        vec![output.to_vec()]
    }

    /// Returns the message under an id that no request has, if the message answers a call.
    fn under_another_id(_message: &[u8]) -> Option<Vec<u8>> {
        None
    }

    /// Returns a copy of an event, for planted bugs; `None` if the event cannot be copied.
    fn copied(event: &EventOf<Self>) -> Option<EventOf<Self>>;

    /// Returns true if the event reports the end of a call.
    fn ends_a_call(_event: &EventOf<Self>) -> bool {
        false
    }
}

/// The seed of an application that takes its decisions at a tick after the event, when other timeouts of the
/// connection are over. The effect of a cut can depend on such an application, so law 2 leaves it out.
pub const LATE: u64 = 8;

/// The event of the machine of a subject.
pub type EventOf<S> = <<S as Subject>::Machine as Machine>::Event;

/// The input, events and output of a run so far.
#[derive(Debug)]
pub struct Record<E> {
    /// All fed bytes.
    pub input: Vec<u8>,
    pub events: Vec<E>,
    /// All bytes that were ever offered, even if the machine dropped them unwritten.
    pub output: Vec<u8>,
}

impl<E> Default for Record<E> {
    fn default() -> Self {
        Self { input: Vec::new(), events: Vec::new(), output: Vec::new() }
    }
}

/// The calls of a run and their ends. Both lists name a call in the same way, for example by its
/// direction and id.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Calls {
    /// The calls that the machine accepted from the peer, and the calls of the application.
    pub begun: Vec<String>,
    /// One entry for each end: an answer on the wire, an outcome, or an event that reports the end.
    pub ended: Vec<String>,
}

/// The sends and answers that the machine must refuse: the names of those tried, and the first that was not refused.
#[derive(Debug, Default)]
pub struct Refusals {
    pub tried: BTreeSet<&'static str>,
    pub granted: Option<String>,
}

impl Refusals {
    /// Records that `what` was tried and whether the machine refused it.
    pub fn expect(&mut self, what: &'static str, refused: bool) {
        self.tried.insert(what);
        if !refused {
            self.granted.get_or_insert_with(|| what.to_owned());
        }
    }

    /// Records that `what` was tried, and checks that its result is one of the allowed errors.
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
