//! The contract between a machine of this crate and its driver: two traits and ten laws.
//!
//! [`Wire`] is the interface of a *socket*; [`Machine`] is the interface of a *loop*. A single
//! connection implements both; a set of connections ([`ide::Server`](crate::ide::Server)) implements
//! `Machine` and hands out a `Wire` for each connection.
//!
//! `feed`, `filled`, `feed_eof` and `tick` only record their input. The effects come in `poll_event`, in
//! this order: bytes, the end of the transport, timers. So a timeout never overtakes an answer that is
//! in the receive buffer and would prevent the timeout. A method takes `now` if and only if the method
//! brings new time in. All other methods act at the latest time that the machine has received. A `now`
//! older than the latest time counts as the latest.

use crate::Time;

/// The interface between a socket and one connection: bytes in, bytes out.
///
/// # The laws
///
/// The laws hold for every [`Wire`] and [`Machine`] of this crate and are asserted by
/// `tests/it/laws.rs`.
///
/// 1. **Total**: no input, order of calls or sequence of times panics.
/// 2. **Cuts do not matter**: events and output do not depend on the pieces into which the input bytes
///    are cut. The conditions are equal bytes, equal times of the bytes, equal `sent` calls, and an
///    application that reacts only to events. (A timer that is due at the very time of the bytes fires
///    at the first poll without bytes to process. This poll can come between two pieces.)
/// 3. **One ending**: the `Closed` event comes exactly once and last; afterwards only `outgoing`, `sent`
///    and `tick` act, until [`is_done`](Wire::is_done).
/// 4. **The clock moves on**: after `tick(now)` and polling to `None` (a host: and `poll_transmit` to
///    `None`), `deadline()` is later than `now` or absent.
/// 5. **Nothing waits unseen**: while an event can be polled, or a host has output that `poll_transmit`
///    has not named, `deadline()` is not in the future.
/// 6. **Bounded**: the limits bound the memory, for any behavior of the peer, and even if the caller
///    writes slowly.
/// 7. **Every call is answered once**: each request of ours has one outcome; each call of the peer gets
///    one response on the wire, or ends with one event that contains the reason.
/// 8. **Refusals are free**: a refused send leaves output, timers and tables unchanged.
/// 9. **Linear**: the work is proportional to the number of bytes, for any cutting.
/// 10. **Both come to rest**: two machines joined by a link of any capacity write and read everything
///     without a timer. The condition: one of the two has sent at most one message and the high-water
///     mark of bytes that the other has not reported yet. A machine above its high-water mark continues
///     to read without delivering, up to this size behind the message in progress. So the peer can empty
///     its send buffer and read again, and then this machine can empty its own.
pub trait Wire {
    /// Returns the room for the next bytes. Read into this slice, then pass the number of bytes to
    /// [`filled`](Wire::filled).
    ///
    /// The slice is empty exactly while [`wants_input`](Wire::wants_input) is false. Call `wants_input`
    /// first: a read into an empty slice returns `Ok(0)` and looks like the end of the transport.
    ///
    /// The room is valid until the next call that can move the receive buffer: a poll,
    /// [`feed`](Wire::feed), or [`trim`](Wire::trim). Until then, another `space` returns the same room
    /// with its contents.
    fn space(&mut self) -> &mut [u8];

    /// Takes the first `n` bytes of [`space`](Wire::space).
    ///
    /// The connection ends (`InputOverflow`) if `n` is larger than the room, or if `n` is not 0 and the
    /// receive buffer has moved since. Those bytes are lost, and the end of the connection reports the
    /// loss.
    fn filled(&mut self, now: Time, n: usize);

    /// Takes a copy of `bytes`. A caller that reads into [`space`](Wire::space) instead needs no copy.
    ///
    /// The connection ends (`InputOverflow`) if bytes arrive while [`wants_input`](Wire::wants_input) is
    /// false, or if more than 256 KiB arrive between two polls to `None`.
    fn feed(&mut self, now: Time, bytes: &[u8]);

    /// Notes that the peer's stream has ended: no byte will arrive. What it has sent before is still
    /// delivered and answered, because a peer can end its stream and read on (`nc -N`, a pipe).
    ///
    /// Call this once more if a write fails, and twice if a read fails: the second end says that no byte
    /// can be written either, and drops the output. Repeated calls after that do nothing.
    fn feed_eof(&mut self, now: Time);

    /// Returns the bytes to write. Write some, then pass their number to [`sent`](Wire::sent).
    fn outgoing(&self) -> &[u8];

    /// Removes the first `n` bytes of [`outgoing`](Wire::outgoing): they were written. A larger `n`
    /// counts as all of them.
    fn sent(&mut self, n: usize);

    /// Returns true if the driver can read more bytes. The driver has to stop reading while too many
    /// received bytes wait for a poll. It also has to stop while the send buffer is above its high-water
    /// mark, once the machine has read as much as law 10 demands.
    fn wants_input(&self) -> bool;

    /// Returns true if the machine has delivered the last event, and either all output was written or
    /// the time to write it is over. Then the driver can drop the connection.
    ///
    /// The driver first shuts down the write side of the socket, and discards further input for a moment
    /// (64 KiB or 1 s), so that a reset does not overtake the last bytes. Then the driver drops the
    /// socket.
    fn is_done(&self) -> bool;

    /// Releases memory that an idle connection does not need. Never changes the observable behavior,
    /// with one exception: after a `trim` between [`space`](Wire::space) and [`filled`](Wire::filled),
    /// `filled` can end the connection.
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

    /// Returns the latest time for the next `tick` and poll. The time is not in the future while there
    /// is work to poll. Returns `None` if there is neither work nor a timer.
    fn deadline(&self) -> Option<Time>;
}

/// Implements methods of [`Wire`] by the methods of a field with the same names: `delegate_wire!(stream:
/// filled feed_eof)`.
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
