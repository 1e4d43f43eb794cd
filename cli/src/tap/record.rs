//! The record of all connections: the lines of the transcript for each sink, in the order of forwarding.

use crate::support::transcript::{Line, What, write};
use crate::tap::sink::Sink;
use ide_mcp::Clock;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How many bytes of a connection the recorder holds until the editor accepts it: more than the head of any request.
/// Further bytes are missing in the transcript.
const MAX_HELD: usize = 64 * 1024;

#[derive(Debug)]
pub(crate) struct Recorder {
    clock: Clock,
    sinks: Vec<Sink>,
    inner: Mutex<Inner>,
}

#[derive(Debug)]
struct Inner {
    /// The bytes of connections that the editor has not accepted. They are recorded once it has, or never.
    held: BTreeMap<u32, Held>,
    /// The connections that the editor has accepted.
    attached: BTreeSet<u32>,
}

/// The lines of a connection that the editor has not accepted so far.
#[derive(Debug, Default)]
struct Held {
    lines: Vec<(What, bool)>,
    bytes: usize,
}

impl Recorder {
    /// Creates a recorder that writes each line to all sinks.
    pub(crate) fn new(sinks: Vec<Sink>) -> Self {
        let inner = Inner { held: BTreeMap::new(), attached: BTreeSet::new() };
        Self { clock: Clock::new(), sinks, inner: Mutex::new(inner) }
    }

    /// Records an event, unless its connection has ended in favor of a newer one.
    pub(crate) fn record(&self, conn: u32, what: What, by_tap: bool) {
        let mut inner = self.lock();
        // A connection in neither list has been ended in favor of a newer one.
        if inner.attached.contains(&conn) {
            self.write(conn, what, by_tap);
        } else if let Some(held) = inner.held.get_mut(&conn) {
            held.push(what, by_tap);
        }
    }

    /// Holds the events of this connection from now on.
    pub(crate) fn hold(&self, conn: u32) {
        self.lock().held.insert(conn, Held::default());
    }

    /// Records the held events of a connection that the editor has accepted, with the current time.
    pub(crate) fn accept(&self, conn: u32) {
        let mut inner = self.lock();
        let Some(held) = inner.held.remove(&conn) else { return };
        inner.attached.insert(conn);
        for (what, by_tap) in held.lines {
            self.write(conn, what, by_tap);
        }
    }

    /// Drops the held events of a connection that is over, and records nothing more of it. Returns
    /// true if the editor had accepted it.
    pub(crate) fn forget(&self, conn: u32) -> bool {
        let mut inner = self.lock();
        inner.held.remove(&conn);
        inner.attached.remove(&conn)
    }

    /// Returns the connections that the editor has not accepted, oldest first.
    pub(crate) fn unauthenticated(&self) -> Vec<u32> {
        self.lock().held.keys().copied().collect()
    }

    /// Writes a line. The caller holds the lock, so the times never decrease.
    fn write(&self, conn: u32, what: What, by_tap: bool) {
        let line = write(&Line { at: self.clock.now(), conn, what, by_tap });
        self.sinks.iter().for_each(|sink| sink.put(&line));
    }

    /// Waits until the lines are written, but for no longer than `at_most`. Returns true if the
    /// transcript is complete.
    pub(crate) fn end(&self, at_most: Duration) -> bool {
        let clock = Clock::new();
        let end = clock.now().saturating_add(at_most);
        let ended = self.sinks.iter().map(|sink| sink.end(clock.until(Some(end)).unwrap_or_default()));
        // Every sink must end, even after one that is incomplete.
        !ended.collect::<Vec<bool>>().contains(&false)
    }

    /// Ends all waits for the sinks, written or not.
    pub(crate) fn abandon(&self) {
        self.sinks.iter().for_each(Sink::abandon);
    }

    /// Locks the state, which is valid even after a panic: the transcript has only complete lines.
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Held {
    fn push(&mut self, what: What, by_tap: bool) {
        if let What::Bytes(_, bytes) = &what {
            self.bytes = self.bytes.saturating_add(bytes.len());
        }
        if self.bytes <= MAX_HELD {
            self.lines.push((what, by_tap));
        }
    }
}
