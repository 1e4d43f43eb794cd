//! The contract between a machine of this crate and its driver: two traits and ten laws.
//!
//! What a *socket* needs is [`Wire`]; what a *loop* needs is [`Machine`]. A single connection has both; a set of
//! connections ([`ide::Host`](crate::ide::Host)) is a `Machine` and hands out a `Wire` for each of them.
//!
//! `feed`, `filled`, `feed_eof` and `tick` only take note. All of it takes effect in `poll_event`, in this order:
//! bytes, the end of the transport, timers. So an answer that lies in the buffer is never overtaken by the timeout
//! it would have prevented. A method takes `now` if and only if it brings new time in; all others act at the latest
//! time seen, and a `now` older than the latest counts as the latest.

use crate::Time;

/// What a socket needs of one connection: bytes in, bytes out.
///
/// # The laws
///
/// They hold for every [`Wire`] and [`Machine`] of this crate and are asserted by `tests/it/laws.rs`.
///
/// 1. **Total**: no input, order of calls or sequence of times panics.
/// 2. **Cuts do not matter**: for any cutting of the same bytes at the same times with the same `sent` calls, and any
///    application that reacts only to events, events and output are identical. (A timer that is due at the very time
///    of the bytes acts at the first poll that has no bytes to work on, which may lie between two pieces.)
/// 3. **One ending**: the `Closed` event comes exactly once and last; afterwards only `outgoing`, `sent` and `tick`
///    act, until [`is_done`](Wire::is_done).
/// 4. **The clock moves on**: after `tick(now)` and polling to `None` (a host: and `poll_transmit` to `None`),
///    `deadline()` is later than `now` or absent.
/// 5. **Nothing waits unseen**: while an event could be polled, or a host has output that `poll_transmit` has not
///    named, `deadline()` is not in the future.
/// 6. **Bounded**: memory is bounded by the limits, whatever the peer does and however lazily the caller writes.
/// 7. **Every call is answered once**: outgoing, one outcome per call; incoming, one response on the wire or one
///    event that says how it ended.
/// 8. **Refusals are free**: a refused send leaves output, timers and tables as they were.
/// 9. **Linear**: the work is proportional to the bytes, however they are cut.
/// 10. **Both come to rest**: two machines joined by a link of any capacity write and read everything without a timer,
///     as long as one of them has sent no more than one message and the mark that the other has not reported. Above
///     its high-water mark a machine reads on without delivering, up to that much behind the message in progress, so
///     that the peer empties its send buffer, reads, and empties this one.
pub trait Wire {
    /// Where the next bytes go: read into this, then say how many came with [`filled`](Wire::filled).
    ///
    /// Empty exactly while [`wants_input`](Wire::wants_input) is false. Ask that first: a read into an empty slice
    /// returns `Ok(0)` and looks like the end of the transport.
    ///
    /// It holds until the next call that can move the receive buffer: a poll, [`feed`](Wire::feed), another `space`, or
    /// [`trim`](Wire::trim).
    fn space(&mut self) -> &mut [u8];

    /// Takes the first `n` bytes of [`space`](Wire::space).
    ///
    /// More than it had, or any while the receive buffer has moved since, end the connection (`InputOverflow`): those bytes are
    /// lost, and nothing is lost in silence.
    fn filled(&mut self, now: Time, n: usize);

    /// Takes bytes that lie elsewhere, as `space` and `filled` would.
    ///
    /// Bytes that are fed while [`wants_input`](Wire::wants_input) is false, or more than 256 KiB between two polls
    /// to `None`, end the connection (`InputOverflow`): nothing is dropped in silence.
    fn feed(&mut self, now: Time, bytes: &[u8]);

    /// The transport ended, for whatever reason: no byte will come, and none can be counted on to go.
    fn feed_eof(&mut self, now: Time);

    /// The bytes that wait to be written. Write some, then say how many with [`sent`](Wire::sent).
    fn outgoing(&self) -> &[u8];

    /// The first `n` bytes of [`outgoing`](Wire::outgoing) were written. More than it had counts as all of it.
    fn sent(&mut self, n: usize);

    /// False means: stop reading for now. Either too much lies unpolled, or the send buffer is above its mark and as much
    /// as law 10 demands was read meanwhile.
    fn wants_input(&self) -> bool;

    /// The last event was delivered, and everything was written or had its time: drop the connection.
    ///
    /// The driver then shuts its write side down, discards what still comes for a moment (64 KiB or 1 s, so that a
    /// reset does not overtake the farewell), and drops the socket.
    fn is_done(&self) -> bool;

    /// Gives back memory that an idle connection need not hold. Never changes what is observed, unless it is called
    /// between [`space`](Wire::space) and [`filled`](Wire::filled), which can then end the connection.
    fn trim(&mut self);
}

/// What a loop needs of whatever it drives: one connection or a set of them. The laws are those of [`Wire`].
pub trait Machine {
    /// What [`poll_event`](Machine::poll_event) reports.
    type Event;

    /// Time has passed. Early and repeated calls are harmless; the effects come out of `poll_event`.
    fn tick(&mut self, now: Time);

    /// Works on, one event at a time. `None` means that only input, room in the output, or time can bring more.
    fn poll_event(&mut self) -> Option<Self::Event>;

    /// When to call `tick` and poll again at the latest: in the past or "now" while work is unpolled, `None` if no
    /// time matters.
    fn deadline(&self) -> Option<Time>;
}

/// Writes methods of a [`Wire`] that hand everything to the one in a field: `delegate_wire!(stream: filled feed_eof)`.
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
