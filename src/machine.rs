//! The contract between a machine of this crate and its driver: two traits and ten laws.
//!
//! [`Wire`] is the interface of a *socket*; [`Machine`] is the interface of a *loop*. A single
//! connection has both; a set of connections ([`ide::Host`](crate::ide::Host)) is a `Machine` and hands
//! out a `Wire` for each of them.
//!
//! `feed`, `filled`, `feed_eof` and `tick` only take note. The effects come in `poll_event`, in this
//! order: bytes, the end of the transport, timers. So a timeout never overtakes an answer that lies in
//! the buffer and would have prevented it. A method takes `now` if and only if the method brings new
//! time in. All other methods act at the latest time that the machine has received. A `now` older than
//! the latest time counts as the latest.

use crate::Time;

/// The interface between a socket and one connection: bytes in, bytes out.
///
/// # The laws
///
/// The laws hold for every [`Wire`] and [`Machine`] of this crate and are asserted by
/// `tests/it/laws.rs`.
///
/// 1. **Total**: no input, order of calls or sequence of times panics.
/// 2. **Cuts do not matter**: for any cutting of the same bytes at the same times with the same `sent`
///    calls, and any application that reacts only to events, events and output are identical. (A timer
///    that is due at the very time of the bytes acts at the first poll without bytes to process, which
///    can lie between two pieces.)
/// 3. **One ending**: the `Closed` event comes exactly once and last; afterwards only `outgoing`, `sent`
///    and `tick` act, until [`is_done`](Wire::is_done).
/// 4. **The clock moves on**: after `tick(now)` and polling to `None` (a host: and `poll_transmit` to
///    `None`), `deadline()` is later than `now` or absent.
/// 5. **Nothing waits unseen**: while an event can be polled, or a host has output that `poll_transmit`
///    has not named, `deadline()` is not in the future.
/// 6. **Bounded**: the limits bound the memory, for any behaviour of the peer and however slowly the
///    caller writes.
/// 7. **Every call is answered once**: outgoing, one outcome per call; incoming, one response on the
///    wire or one event with the reason of its end.
/// 8. **Refusals are free**: a refused send leaves output, timers and tables as they were.
/// 9. **Linear**: the work is proportional to the bytes, however they are cut.
/// 10. **Both come to rest**: two machines joined by a link of any capacity write and read everything
///     without a timer, as long as one of them has sent no more than one message and the high-water mark
///     that the other has not reported. Above its high-water mark a machine reads on without delivering,
///     up to that size behind the message in progress. So the peer empties its send buffer, reads, and
///     lets this machine empty its own.
pub trait Wire {
    /// Returns the room for the next bytes. Read into this slice, then pass the number of bytes to
    /// [`filled`](Wire::filled).
    ///
    /// The slice is empty exactly while [`wants_input`](Wire::wants_input) is false. Call `wants_input`
    /// first: a read into an empty slice returns `Ok(0)` and looks like the end of the transport.
    ///
    /// The room is valid until the next call that can move the receive buffer: a poll,
    /// [`feed`](Wire::feed), another `space`, or [`trim`](Wire::trim).
    fn space(&mut self) -> &mut [u8];

    /// Takes the first `n` bytes of [`space`](Wire::space).
    ///
    /// The connection ends (`InputOverflow`) if `n` is larger than the room, or if `n` is not 0 and the
    /// receive buffer has moved since. Those bytes are lost, and nothing is lost in silence.
    fn filled(&mut self, now: Time, n: usize);

    /// Takes bytes from the caller's own slice, as `space` and `filled` do from the room.
    ///
    /// The connection ends (`InputOverflow`) if bytes arrive while [`wants_input`](Wire::wants_input) is
    /// false, or if more than 256 KiB arrive between two polls to `None`. Nothing is dropped in silence.
    fn feed(&mut self, now: Time, bytes: &[u8]);

    /// Notes that the transport has ended, for any reason: no byte will arrive, and the machine cannot
    /// count on any byte being written.
    fn feed_eof(&mut self, now: Time);

    /// Returns the bytes to write. Write some, then pass their number to [`sent`](Wire::sent).
    fn outgoing(&self) -> &[u8];

    /// Removes the first `n` bytes of [`outgoing`](Wire::outgoing): they were written. A larger `n`
    /// counts as all of them.
    fn sent(&mut self, n: usize);

    /// Returns false if the driver has to stop reading for now. Either too many bytes are not polled
    /// yet, or the send buffer is above its high-water mark and the machine has meanwhile read as much
    /// as law 10 demands.
    fn wants_input(&self) -> bool;

    /// Returns true if the machine has delivered the last event, and everything was written or its time
    /// is over: the driver can drop the connection.
    ///
    /// The driver first shuts its write side down and discards further input for a moment (64 KiB or 1
    /// s, so that a reset does not overtake the last bytes). Then it drops the socket.
    fn is_done(&self) -> bool;

    /// Releases memory that an idle connection does not need. Never changes the observable behaviour,
    /// unless it is called between [`space`](Wire::space) and [`filled`](Wire::filled), which can then
    /// end the connection.
    fn trim(&mut self);
}

/// The interface between a loop and a machine: one connection or a set of them. The laws are those of
/// [`Wire`].
pub trait Machine {
    /// The event that [`poll_event`](Machine::poll_event) reports.
    type Event;

    /// Takes the current time. Early and repeated calls are harmless; the effects come in `poll_event`.
    fn tick(&mut self, now: Time);

    /// Returns the next event. `None` means that only input, room in the output, or time can bring
    /// another event.
    fn poll_event(&mut self) -> Option<Self::Event>;

    /// Returns the latest time for the next `tick` and poll: a time in the past or "now" while there is
    /// work to poll, `None` if the machine waits for no time.
    fn deadline(&self) -> Option<Time>;
}

/// Writes methods of a [`Wire`] that call the method of a field: `delegate_wire!(stream: filled
/// feed_eof)`.
macro_rules! delegate_wire {
    ($field:ident: $($method:ident)*) => { $(crate::machine::delegate_wire!(@$method $field);)* };
    (@space $field:ident) => {
        #[inline]
        fn space(&mut self) -> &mut [u8] {
            self.$field.space()
        }
    };
    (@filled $field:ident) => {
        #[inline]
        fn filled(&mut self, now: Time, n: usize) {
            self.$field.filled(now, n);
        }
    };
    (@feed $field:ident) => {
        fn feed(&mut self, now: Time, bytes: &[u8]) {
            self.$field.feed(now, bytes);
        }
    };
    (@feed_eof $field:ident) => {
        fn feed_eof(&mut self, now: Time) {
            self.$field.feed_eof(now);
        }
    };
    (@outgoing $field:ident) => {
        #[inline]
        fn outgoing(&self) -> &[u8] {
            self.$field.outgoing()
        }
    };
    (@sent $field:ident) => {
        #[inline]
        fn sent(&mut self, n: usize) {
            self.$field.sent(n);
        }
    };
    (@wants_input $field:ident) => {
        fn wants_input(&self) -> bool {
            self.$field.wants_input()
        }
    };
    (@is_done $field:ident) => {
        fn is_done(&self) -> bool {
            self.$field.is_done()
        }
    };
    (@trim $field:ident) => {
        fn trim(&mut self) {
            self.$field.trim();
        }
    };
}

pub(crate) use delegate_wire;
