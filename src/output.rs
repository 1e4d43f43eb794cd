//! What a machine wants from its loop: [`Output`], and the pass of polls that hands it out.
//!
//! ```text
//!           poll(now)                        poll                     nothing left
//!  Idle ───────────────▶ Passing ──▶ Event, Close, Write ──▶ … ──▶ Wait ─────────▶ Idle
//!                           │  Write: written(n) takes n of the offer; 0, or no answer: not again in this pass
//! ```

use crate::{Machine, Time, Wire};
use core::fmt::Debug;

/// The next thing that a loop has to do for a machine: what `poll` returns.
///
/// Call `poll` again and again until it returns [`Wait`](Output::Wait); that is one *pass*. Its time is the `now` of
/// its first `poll`. Within a pass the events come first, then the closings, then the writes, so that the answers to
/// eight requests are one write.
///
/// A loop that keeps six rules loses no byte, does not spin, and misses no timer:
///
/// 1. Read the sockets first, then poll, both with the same `now`.
/// 2. Poll until [`Wait`](Output::Wait).
/// 3. Report each [`Write`](Output::Write): `written` with what the socket took, 0 if it would block, or `feed_eof` if
///    it failed.
/// 4. Drop the socket at [`Close`](Output::Close).
/// 5. Read a socket only while `wants_input`. Wait for room in it while `wants_output`.
/// 6. After you used the machine outside of the loop, run the loop before you wait.
///
/// `E` is the event of the machine. `C` names a connection of a machine that has several; a machine with a single one
/// has `()`.
#[allow(clippy::exhaustive_enums, reason = "a loop that matches each output does all that a machine needs")]
#[derive(Debug, PartialEq, Eq)]
pub enum Output<'a, E, C = ()> {
    /// Something has happened. React now, or answer later.
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
/// The methods are those of the machine, which documents them. A machine with a single connection names it `()`.
///
/// # Order and time
///
/// `feed`, `filled` and `feed_eof` only record their input; its effects come in [`poll`](Polled::poll), in this order:
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
/// 5. **Nothing waits unseen**: while an event or a closing waits to be polled, [`deadline`](Polled::deadline) is not in
///    the future. Bytes to write show in [`wants_output`](Polled::wants_output); a machine with several connections shows
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
pub trait Polled {
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

    /// Feeds the first `n` bytes of [`space`](Polled::space).
    fn filled(&mut self, now: Time, conn: Self::Conn, n: usize);

    /// Frees the memory that an idle connection does not need.
    fn trim(&mut self, conn: Self::Conn);

    /// Returns the time of the next pass: not in the future while there is something to do.
    fn deadline(&self) -> Option<Time>;
}

/// Where a pass over a single connection stands: flags in one byte, since each of a thousand connections has them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pass(u8);

impl Pass {
    /// From the first poll of a pass to its `Wait`.
    const OPEN: u8 = 1;
    /// The bytes of a `Write` wait for `written`.
    const OFFERED: u8 = 2;
    /// The socket took nothing in this pass.
    const FULL: u8 = 4;
    /// `Close` was returned.
    const OVER: u8 = 8;

    const fn is(self, flag: u8) -> bool {
        self.0 & flag != 0
    }

    /// Sets a flag, and returns whether it was set before.
    const fn set(&mut self, flag: u8) -> bool {
        let was_set = self.is(flag);
        self.0 |= flag;
        was_set
    }

    /// Clears a flag, and returns whether it was set.
    const fn clear(&mut self, flag: u8) -> bool {
        let was_set = self.is(flag);
        self.0 &= !flag;
        was_set
    }
}

impl<M: Single> Polled for M {
    type Event = <M as Machine>::Event;
    type Conn = ();

    fn poll(&mut self, now: Time) -> Output<'_, Self::Event> {
        self.next_output(now)
    }

    fn written(&mut self, (): (), n: usize) {
        self.take_written(n);
    }

    fn feed(&mut self, now: Time, (): (), bytes: &[u8]) {
        Wire::feed(self, now, bytes);
    }

    fn feed_eof(&mut self, now: Time, (): ()) {
        self.take_end(now);
    }

    fn wants_input(&self, (): ()) -> bool {
        Wire::wants_input(self)
    }

    fn wants_output(&self, (): ()) -> bool {
        !self.outgoing().is_empty()
    }

    fn space(&mut self, (): ()) -> &mut [u8] {
        Wire::space(self)
    }

    fn filled(&mut self, now: Time, (): (), n: usize) {
        Wire::filled(self, now, n);
    }

    fn trim(&mut self, (): ()) {
        Wire::trim(self);
    }

    fn deadline(&self) -> Option<Time> {
        self.next_pass()
    }
}

/// What a socket did with a read or a write.
#[cfg(feature = "std")]
pub(crate) enum Moved {
    Bytes(usize),
    /// It would block.
    Nothing,
    /// The end of the stream, or a write that can take nothing any more.
    End,
    Failed,
}

/// Reads or writes once, and again where a signal has interrupted it.
#[cfg(feature = "std")]
pub(crate) fn moved(mut io: impl FnMut() -> std::io::Result<usize>) -> Moved {
    loop {
        return match io() {
            Ok(0) => Moved::End,
            Ok(n) => Moved::Bytes(n),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => Moved::Nothing,
            Err(_) => Moved::Failed,
        };
    }
}

/// Reads from a socket until it would block, or no more is wanted. `end` takes the end of the stream; an error is two.
#[cfg(feature = "std")]
pub(crate) fn read_all<M: Polled>(
    machine: &mut M,
    now: Time,
    conn: M::Conn,
    socket: &mut (impl std::io::Read + ?Sized),
    end: impl Fn(&mut M),
) {
    while machine.wants_input(conn) {
        match moved(|| socket.read(machine.space(conn))) {
            Moved::Bytes(n) => machine.filled(now, conn, n),
            Moved::Nothing => return,
            Moved::End => end(machine),
            Moved::Failed => {
                end(machine);
                end(machine);
            }
        }
    }
}

/// Answers the last offer with what the socket did.
#[cfg(feature = "std")]
pub(crate) fn report<M: Polled>(machine: &mut M, now: Time, conn: M::Conn, moved: Moved) {
    match moved {
        Moved::Bytes(n) => machine.written(conn, n),
        Moved::Nothing => machine.written(conn, 0),
        Moved::End | Moved::Failed => machine.feed_eof(now, conn),
    }
}

/// A machine with one connection, as a pass sees it.
pub(crate) trait Single: Machine<Event: Debug> + Wire {
    fn pass(&self) -> Pass;

    fn pass_mut(&mut self) -> &mut Pass;

    /// Returns the time of the next pass.
    fn next_pass(&self) -> Option<Time> {
        let pass = self.pass();
        let closes = || self.is_done() && !pass.is(Pass::OVER);
        if pass.is(Pass::OPEN) || closes() { Some(Time::ZERO) } else { Machine::deadline(self) }
    }

    /// Takes the next step of a pass.
    fn next_output(&mut self, now: Time) -> Output<'_, Self::Event> {
        if !self.pass_mut().set(Pass::OPEN) {
            self.tick(now);
        }
        self.take_written(0);
        if let Some(event) = self.poll_event() {
            return Output::Event(event);
        }
        let (is_done, has_output) = (self.is_done(), !self.outgoing().is_empty());
        let pass = self.pass_mut();
        if is_done && !pass.set(Pass::OVER) {
            return Output::Close(());
        }
        if has_output && !pass.is(Pass::FULL | Pass::OVER) {
            pass.set(Pass::OFFERED);
            return Output::Write { conn: (), bytes: self.outgoing() };
        }
        pass.clear(Pass::OPEN);
        pass.clear(Pass::FULL);
        Output::Wait(self.deadline())
    }

    /// Takes the answer to the last offer, if there is one without an answer.
    fn take_written(&mut self, n: usize) {
        if !self.pass_mut().clear(Pass::OFFERED) {
            return;
        }
        if n > 0 {
            self.sent(n);
        } else {
            self.pass_mut().set(Pass::FULL);
        }
    }

    #[cfg(feature = "std")]
    fn read_socket(&mut self, now: Time, socket: &mut (impl std::io::Read + ?Sized))
    where
        Self: Sized,
    {
        // The end of the input is no answer to an offer.
        read_all(self, now, (), socket, |machine| Wire::feed_eof(machine, now));
    }

    /// Writes the last offer to the socket, once, and takes the answer.
    #[cfg(feature = "std")]
    fn write_socket(&mut self, now: Time, socket: &mut (impl std::io::Write + ?Sized))
    where
        Self: Sized,
    {
        if self.pass().is(Pass::OFFERED) {
            let moved = moved(|| socket.write(self.outgoing()));
            report(self, now, (), moved);
        }
    }

    /// Takes the end of the transport. If a write has failed, nothing can be written either.
    fn take_end(&mut self, now: Time) {
        if self.pass_mut().clear(Pass::OFFERED) {
            self.feed_eof(now);
        }
        self.feed_eof(now);
    }
}
