//! Turns the bytes of a connection and the passing of time into events, one at a time. Editor and agent share this
//! code.
//!
//! ```text
//!        ┌──▶ an event waits ─────────────────────▶ it is returned
//!        │      │ none
//!        │      ▼
//!        │    what waits for room is sent
//!        ├──◀ the WebSocket has something
//!        │      │ nothing
//!        │      ▼
//!        └──◀ a timer is due
//!               │ none
//!               ▼
//!             nothing to do before `due`
//! ```

use crate::Time;
use crate::ws::{Masking, Output};

/// One end of a connection, as the pump drives it: the editor's or the agent's.
pub(super) trait Pumped {
    /// The event type of this end.
    type Event;
    /// How its WebSocket masks the frames that it sends.
    type Mask: Masking;

    /// Returns the send half of the WebSocket. It also holds the only clock of the connection.
    fn output(&self) -> &Output<Self::Mask>;

    /// Returns true if an event waits to be polled.
    fn has_event(&self) -> bool;

    /// Returns the next event that waits.
    fn next_event(&mut self) -> Option<Self::Event>;

    /// Sends what waits for room in the send buffer, or for the session.
    fn flush(&mut self);

    /// Handles one event of the WebSocket. Returns false if there is none.
    fn take_bytes(&mut self) -> bool;

    /// Returns when the next event of the WebSocket is due.
    fn transport_due(&self) -> Time;

    /// Returns when the next timer of the session and of this end is due.
    fn session_due(&self) -> Time;

    /// Handles one timer of the session or of this end that is due.
    fn keep_time(&mut self);
}

/// Returns the next event.
pub(super) fn poll<P: Pumped>(end: &mut P) -> Option<P::Event> {
    loop {
        if let Some(event) = end.next_event() {
            return Some(event);
        }
        end.flush();
        if end.take_bytes() {
            continue;
        }
        if !due_above(end).is_due(end.output().now) {
            return None;
        }
        end.keep_time();
    }
}

/// Returns when the next event is due; [`Time::ZERO`] while one can be polled.
pub(super) fn due<P: Pumped>(end: &P) -> Time {
    if end.has_event() { Time::ZERO } else { end.transport_due().min(due_above(end)) }
}

/// Returns when the next timer above the WebSocket is due. While the send buffer is above its high-water mark, some
/// received bytes are not delivered yet. They may contain the answer that a timer waits for, so no such timer runs.
#[inline]
fn due_above<P: Pumped>(end: &P) -> Time {
    let output = end.output();
    if output.has_ended() || output.tx.is_full() { Time::NEVER } else { end.session_due() }
}
