//! What every machine of this crate has in common: [`Output`] tells your loop what to do next, and [`Machine`] has the
//! methods and the eleven laws.

use crate::Time;
use core::fmt::Debug;

/// What your loop must do next: the return value of `poll`.
///
/// Call `poll` until it returns [`Wait`](Output::Wait); that is one *pass*. Its time is the `now` of its first `poll`.
/// Within a pass, events come first, then closings, then writes, so eight answers go out in one write.
///
/// A loop that keeps six rules loses no byte, does not spin, and misses no timer:
///
/// 1. Read the sockets first, then poll, both with the same `now`. Otherwise a timeout could overtake an answer that
///    has already arrived.
/// 2. Poll until [`Wait`](Output::Wait).
/// 3. Report each [`Write`](Output::Write): `write_to` does it, or `written` with what the socket took (0 if it would
///    block), or `feed_eof` if it failed.
/// 4. Drop the socket at [`Close`](Output::Close).
/// 5. Read a socket only while `wants_input`, as `read_from` does, and wait for room in it while `wants_output`. If
///    your poller tells you of a socket only once (mio, epoll with EPOLLET), run the loop again before you wait when
///    `read_from` returned true: it has left bytes in the socket.
/// 6. If you used the machine outside the loop, run the loop before you wait.
///
/// `E` is the event type. `C` names a connection; a machine with a single connection has `()` here.
///
/// ```
/// use ide_mcp::{Output, Time, ws};
/// use std::io::{Read, Write};
///
/// /// One turn of a loop with a single connection. Returns when to wake up if the socket is not ready before.
/// fn turn(server: &mut ws::Server, socket: &mut (impl Read + Write), now: Time) -> Option<Time> {
///     server.read_from(now, socket);
///     loop {
///         match server.poll(now) {
///             Output::Event(event) => println!("{event:?}"), // react here
///             Output::Write { .. } => server.write_to(now, socket),
///             Output::Close(()) => return None, // shut the socket down
///             Output::Wait(until) => return until,
///         }
///     }
/// }
/// ```
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
    /// If you drop a socket with unread input in it, it sends a reset, which can overtake your last bytes. That is why
    /// the adapters shut down the write side first and read on for a moment (64 KiB or 1 s) before they drop it.
    Close(C),
    /// Nothing to do before this time, or before a socket is ready. `None`: no timer runs.
    Wait(Option<Time>),
}

/// The methods of every machine, for code that drives any of them, such as a driver of your own.
///
/// The machines are the server and the client of `ide` and of [`ws`](crate::ws). Each has methods of the same names,
/// and documents them. Only the server of `ide` has several connections; for the others `Conn` is `()`.
///
/// # Order and time
///
/// `feed`, `filled` and `feed_eof` only record their input; its effects come in [`poll`](Machine::poll), in this order:
/// bytes, the end of the transport, timers. So a timeout never overtakes an answer that already lies in the receive
/// buffer. Methods that take `now` advance the clock; all others act at the latest time that the machine was given. The
/// clock never goes back, so `poll(Time::ZERO)` means "no time has passed".
///
/// # The laws
///
/// You can rely on these for every machine of this crate; `tests/it/laws.rs` checks them.
///
/// 1. **Total**: no input, order of calls or sequence of times panics.
/// 2. **Cuts do not matter**: events and output do not depend on the pieces into which the input is cut, as long as the
///    bytes, their times, the room in the socket and the reactions of your application are the same. (A timer that is
///    due exactly when the bytes arrive fires in the first pass without bytes to process, and such a pass may come
///    between two pieces.)
/// 3. **One ending**: each connection reports its end in exactly one event, which is its last, and one
///    [`Output::Close`] follows. In between, the machine only writes what was sent earlier, until all of it is written
///    or the time for that is up.
/// 4. **The clock moves on**: the time in [`Output::Wait`] is later than that of its pass.
/// 5. **Nothing waits unseen**: while an event or a closing waits to be polled, [`deadline`](Machine::deadline) is not
///    in the future. While there are bytes to write, [`wants_output`](Machine::wants_output) is true; in a machine with
///    several connections, they also make a pass due until it has offered them.
/// 6. **Bounded**: memory stays within the limits, whatever the peer does and however slowly you write.
/// 7. **Every call is answered once**: each request of ours has one outcome. Each call of the peer gets one response,
///    or ends with one event that says why.
/// 8. **Refusals are free**: a send that is refused changes nothing: output, timers and tables stay as they were.
/// 9. **Linear**: the work is proportional to the number of bytes, into whatever pieces they are cut.
/// 10. **Both come to rest**: two machines, joined by a link of any capacity, write and read everything without a
///     timer. This holds if one of the two has sent at most one message plus one high-water mark of bytes that the
///     other has not reported yet. A machine above its mark still reads that much after the message in progress,
///     without delivering it. So the peer can empty its send buffer and read again, and then this machine can empty its
///     own.
/// 11. **A loop that keeps the rules loses nothing**: a loop that follows [`Output`] and its six rules cannot lose a
///     byte, spin, or miss a timer.
pub trait Machine {
    /// What [`Output::Event`] reports.
    type Event: Debug;
    /// The name of a connection.
    type Conn: Copy;

    /// Returns what to do next.
    fn poll(&mut self, now: Time) -> Output<'_, Self::Event, Self::Conn>;

    /// Reports how many bytes of the last [`Output::Write`] the socket took.
    fn written(&mut self, conn: Self::Conn, n: usize);

    /// Feeds bytes from the socket.
    fn feed(&mut self, now: Time, conn: Self::Conn, bytes: &[u8]);

    /// Tells the machine that the peer's stream has ended, or that the last write has failed.
    fn feed_eof(&mut self, now: Time, conn: Self::Conn);

    /// Returns true while you may read more bytes from the socket.
    fn wants_input(&self, conn: Self::Conn) -> bool;

    /// Returns true while bytes wait for room in the socket.
    fn wants_output(&self, conn: Self::Conn) -> bool;

    /// Returns room for a read, which saves the copy of [`feed`](Machine::feed).
    fn space(&mut self, conn: Self::Conn) -> &mut [u8];

    /// Feeds the first `n` bytes of [`space`](Machine::space).
    fn filled(&mut self, now: Time, conn: Self::Conn, n: usize);

    /// Frees memory that an idle connection does not need.
    fn trim(&mut self, conn: Self::Conn);

    /// Returns when the next pass is due: not in the future while there is something to do.
    fn deadline(&self) -> Option<Time>;
}
