//! What a machine wants from its loop: [`Output`], and the pass of polls that hands it out.
//!
//! ```text
//!           poll(now)                        poll                     nothing left
//!  Idle ───────────────▶ Passing ──▶ Event, Close, Write ──▶ … ──▶ Wait ─────────▶ Idle
//!                           │  Write: written(n) takes n of the offer; 0, or no answer: not again in this pass
//! ```

use crate::{Machine, Time, Wire};
use core::mem;

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

/// Where a pass over a single connection stands.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pass {
    /// True from the first poll of a pass to its `Wait`.
    is_open: bool,
    /// True once the socket took nothing in this pass.
    is_full: bool,
    /// True once `Close` was returned.
    is_over: bool,
    /// The length of the offer that waits for `written`.
    offered: usize,
}

impl Pass {
    /// Notes the answer to the last offer, and returns the number of bytes that it takes.
    pub(crate) fn answer(&mut self, n: usize) -> usize {
        let offered = mem::take(&mut self.offered);
        let taken = n.min(offered);
        self.is_full |= offered > 0 && taken == 0;
        taken
    }

    /// Returns true if the end of the transport answers an offer: nothing can be written either.
    pub(crate) fn is_severed(&mut self) -> bool {
        mem::take(&mut self.offered) > 0
    }

    /// Returns true if a driver has to run before it waits: it left a pass before the end.
    pub(crate) const fn is_due(self) -> bool {
        self.is_open
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

/// A machine with one connection, as a pass sees it.
pub(crate) trait Single: Machine + Wire {
    fn pass(&mut self) -> &mut Pass;

    /// Takes the next step of a pass.
    fn next_output(&mut self, now: Time) -> Output<'_, Self::Event> {
        if !mem::replace(&mut self.pass().is_open, true) {
            self.tick(now);
        }
        self.pass().answer(0);
        if let Some(event) = self.poll_event() {
            return Output::Event(event);
        }
        let (is_done, waiting) = (self.is_done(), self.outgoing().len());
        let pass = self.pass();
        if is_done && !mem::replace(&mut pass.is_over, is_done) {
            return Output::Close(());
        }
        if waiting > 0 && !pass.is_full && !pass.is_over {
            pass.offered = waiting;
            return Output::Write { conn: (), bytes: self.outgoing() };
        }
        (pass.is_open, pass.is_full) = (false, false);
        Output::Wait(self.deadline())
    }

    /// Takes the answer to the last offer.
    fn take_written(&mut self, n: usize) {
        let taken = self.pass().answer(n);
        if taken > 0 {
            self.sent(taken);
        }
    }

    /// Reads from the socket until it would block, or no more is wanted.
    #[cfg(feature = "std")]
    fn read_socket(&mut self, now: Time, socket: &mut (impl std::io::Read + ?Sized)) {
        while self.wants_input() {
            match moved(|| socket.read(self.space())) {
                Moved::Bytes(n) => self.filled(now, n),
                Moved::Nothing => return,
                Moved::End => self.feed_eof(now),
                Moved::Failed => {
                    self.feed_eof(now);
                    self.feed_eof(now);
                }
            }
        }
    }

    /// Writes the last offer to the socket, once, and takes the answer.
    #[cfg(feature = "std")]
    fn write_socket(&mut self, now: Time, socket: &mut (impl std::io::Write + ?Sized)) {
        let offered = self.pass().offered;
        if offered == 0 {
            return;
        }
        // More can have come since.
        match moved(|| socket.write(self.outgoing().get(..offered).unwrap_or_default())) {
            Moved::Bytes(n) => self.take_written(n),
            Moved::Nothing => self.take_written(0),
            Moved::End | Moved::Failed => self.take_end(now),
        }
    }

    /// Takes the end of the transport. If a write has failed, nothing can be written either.
    fn take_end(&mut self, now: Time) {
        if self.pass().is_severed() {
            self.feed_eof(now);
        }
        self.feed_eof(now);
    }
}
