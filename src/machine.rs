//! What every machine of this crate has in common: [`Output`], which says what a loop has to do, and [`Machine`], its
//! verbs and its eleven laws.

use crate::Time;
use core::fmt::Debug;

/// The next thing that a loop has to do for a machine: what `poll` returns.
///
/// Call `poll` again and again until it returns [`Wait`](Output::Wait); that is one *pass*. Its time is the `now` of
/// its first `poll`. Within a pass the events come first, then the closings, then the writes, so that the answers to
/// eight requests are one write.
///
/// A loop that keeps six rules loses no byte, does not spin, and misses no timer:
///
/// 1. Read the sockets first, then poll, both with the same `now`. So no timeout overtakes an answer that has arrived.
/// 2. Poll until [`Wait`](Output::Wait).
/// 3. Report each [`Write`](Output::Write): `write_to` does it, or `written` with what the socket took (0 if it would
///    block), or `feed_eof` if it failed.
/// 4. Drop the socket at [`Close`](Output::Close).
/// 5. Read a socket only while `wants_input`, as `read_from` does, and wait for room in it while `wants_output`. If your
///    poller tells you of a socket only once (mio, epoll with EPOLLET), run the loop again before you wait when
///    `read_from` returned true: it has left bytes in the socket.
/// 6. After you used the machine outside of the loop, run the loop before you wait.
///
/// `E` is the event of the machine. `C` names a connection of a machine that has several; a machine with a single one
/// has `()`.
#[allow(clippy::exhaustive_enums, reason = "a loop that matches each output does all that a machine needs")]
#[derive(Debug, PartialEq, Eq)]
pub enum Output<'a, E, C = ()> {
    /// Something has happened. React now, or answer later; do slow work elsewhere, because the timers of this pass count
    /// from its `now`.
    Event(E),
    /// Write these bytes to the socket of the connection, as many as it takes.
    Write {
        /// The connection.
        conn: C,
        /// The bytes, at least one.
        bytes: &'a [u8],
    },
    /// The connection is over: shut its socket down and drop it. No later output names the connection.
    ///
    /// A socket that is dropped while unread input lies in it sends a reset, and that can overtake the last bytes. The
    /// adapters shut down the write side, and read on for a moment (64 KiB or 1 s) before they drop it.
    Close(C),
    /// Nothing to do before this time, or before a socket is ready. `None`: no timer runs.
    Wait(Option<Time>),
}

/// What a driver needs of a machine: the verbs of every machine under one name, for code that drives any of them.
///
/// The machines are the server and the client of `ide` and of [`ws`](crate::ws). Their methods have these names too, and
/// document them. A machine with a single connection names it `()`; only the server of `ide` has several.
///
/// # Order and time
///
/// `feed`, `filled` and `feed_eof` only record their input; its effects come in [`poll`](Machine::poll), in this order:
/// bytes, the end of the transport, timers. So a timeout never overtakes an answer that already lies in the receive
/// buffer. A method takes `now` if it brings new time in, and every other one acts at the latest time that the machine
/// has seen. An older `now` counts as the latest, so `poll(Time::ZERO)` means "no time has passed".
///
/// # The laws
///
/// You can rely on these for every machine of this crate. `tests/it/laws.rs` asserts them.
///
/// 1. **Total**: no input, order of calls or sequence of times panics.
/// 2. **Cuts do not matter**: events and output do not depend on the pieces into which the input is cut, given equal
///    bytes, equal times of the bytes, equal room in the socket, and an application that reacts only to events. (A timer
///    that is due at the very time of the bytes fires in the first pass without bytes to process, which can come between
///    two pieces.)
/// 3. **One ending**: the event of the end comes exactly once, and it is the last one of its connection.
///    [`Output::Close`] follows it, once. In between, only what was sent before is written, until that is done or the
///    time for it is over.
/// 4. **The clock moves on**: [`Output::Wait`] names a later time than that of its pass, or none.
/// 5. **Nothing waits unseen**: while an event or a closing waits to be polled, [`deadline`](Machine::deadline) is not in
///    the future. Bytes to write show in [`wants_output`](Machine::wants_output); a machine with several connections shows
///    those that it has not offered yet in its deadline as well.
/// 6. **Bounded**: the limits bound the memory, whatever the peer does, and even if you write slowly.
/// 7. **Every call is answered once**: each request of ours has one outcome. Each call of the peer gets one response on
///    the wire, or ends with one event that says why.
/// 8. **Refusals are free**: a refused send leaves output, timers and tables as they were.
/// 9. **Linear**: the work is proportional to the number of bytes, for any cutting.
/// 10. **Both come to rest**: two machines, joined by a link of any capacity, write and read everything without a timer.
///     The condition is that one of the two has sent at most one message and the high-water mark of bytes that the other
///     has not reported yet. A machine above its high-water mark goes on reading without delivering, up to this size
///     behind the message in progress. So the peer can empty its send buffer and read again, and then this machine can
///     empty its own.
/// 11. **A loop that keeps the rules loses nothing**: a loop that follows [`Output`] and its six rules cannot lose a
///     byte, spin, or miss a timer.
pub trait Machine {
    /// What [`Output::Event`] reports.
    type Event: Debug;
    /// The name of a connection.
    type Conn: Copy;

    /// Returns the next thing to do.
    fn poll(&mut self, now: Time) -> Output<'_, Self::Event, Self::Conn>;

    /// Reports how many bytes of the last [`Output::Write`] the socket took.
    fn written(&mut self, conn: Self::Conn, n: usize);

    /// Feeds bytes from the socket.
    fn feed(&mut self, now: Time, conn: Self::Conn, bytes: &[u8]);

    /// Tells the end of the peer's stream, or that the last write has failed.
    fn feed_eof(&mut self, now: Time, conn: Self::Conn);

    /// Returns true if more bytes may be read.
    fn wants_input(&self, conn: Self::Conn) -> bool;

    /// Returns true if bytes wait for room in the socket.
    fn wants_output(&self, conn: Self::Conn) -> bool;

    /// Returns room for a read.
    fn space(&mut self, conn: Self::Conn) -> &mut [u8];

    /// Feeds the first `n` bytes of [`space`](Machine::space).
    fn filled(&mut self, now: Time, conn: Self::Conn, n: usize);

    /// Frees the memory that an idle connection does not need.
    fn trim(&mut self, conn: Self::Conn);

    /// Returns the time of the next pass: not in the future while there is something to do.
    fn deadline(&self) -> Option<Time>;
}
