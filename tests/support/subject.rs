//! What the laws are asserted for, and what they are told about it.

use ide_mcp::{Machine, Time, Wire};
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

    /// Bytes in the output above which the machine, as `make` made it, stops reading. Small, or the test is slow.
    fn mark(&self) -> usize;

    /// How far the output may rise above the mark: the answers to what was parsed below it.
    fn slack(&self) -> usize {
        64 * 1024
    }

    /// Tries sends and answers that must be refused in this state; true if all of them were.
    fn refused(&self, machine: &mut Self::Machine) -> bool;

    /// `Host::poll_transmit`: true if a connection was named. Nothing else has it.
    fn transmit(&self, _machine: &mut Self::Machine) -> bool {
        false
    }

    /// The calls of a run, both directions, and how they ended.
    fn calls(&self, _record: &Record<EventOf<Self>>) -> Calls {
        Calls::default()
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
