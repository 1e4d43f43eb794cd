//! How a machine with one connection hands out its [`Output`] in passes.
//!
//! ```text
//!           poll(now)                        poll                     nothing left
//!  Idle ───────────────▶ Passing ──▶ Event, Close, Write ──▶ … ──▶ Wait ─────────▶ Idle
//!                           │  Write: written(n) removes n bytes of the offer; after 0 or no report, no more this pass
//! ```

use crate::{Machine, Output, Time};
use core::fmt::Debug;

/// Where a pass over a single connection stands.
#[derive(Clone, Copy, Debug, Default)]
#[allow(unnameable_types, reason = "a part of `Single`")]
pub struct Pass {
    /// Flags in one byte: with thousands of connections, size counts.
    flags: u8,
    /// The number of bytes in the last offer; 4 bytes can count them. More may have been added since.
    offered: u32,
}

impl Pass {
    /// From the first poll of a pass to its `Wait`.
    const OPEN: u8 = 1;
    /// A `Write` was offered, and `written` has not come yet.
    const OFFERED: u8 = 2;
    /// The socket took nothing in this pass.
    const FULL: u8 = 4;
    /// `Close` was returned.
    const OVER: u8 = 8;

    const fn is(self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// Sets a flag. Returns whether it was set before.
    const fn set(&mut self, flag: u8) -> bool {
        let was_set = self.is(flag);
        self.flags |= flag;
        was_set
    }

    /// Clears a flag. Returns whether it was set.
    const fn clear(&mut self, flag: u8) -> bool {
        let was_set = self.is(flag);
        self.flags &= !flag;
        was_set
    }
}

/// What a socket did with a read or a write.
#[cfg(feature = "std")]
pub(crate) enum Moved {
    Bytes(usize),
    /// It would block.
    Nothing,
    /// The stream has ended, or can take nothing any more.
    End,
    Failed,
}

/// Reads or writes once, and tries again if a signal interrupts it.
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

/// Reads from a socket until it would block, or until no more is wanted; then it returns true. `end` is called at the
/// end of the stream, and twice after an error.
#[cfg(feature = "std")]
pub(crate) fn read_all<M: Machine>(
    machine: &mut M,
    now: Time,
    conn: M::Conn,
    socket: &mut (impl std::io::Read + ?Sized),
    end: impl Fn(&mut M),
) -> bool {
    let mut has_ended = false;
    while machine.wants_input(conn) {
        match moved(|| socket.read(machine.space(conn))) {
            Moved::Bytes(n) => machine.filled(now, conn, n),
            Moved::Nothing => return false,
            Moved::End => {
                has_ended = true;
                end(machine);
            }
            Moved::Failed => {
                has_ended = true;
                end(machine);
                end(machine);
            }
        }
    }
    !has_ended
}

/// Answers the last offer with what the socket did.
#[cfg(feature = "std")]
pub(crate) fn report<M: Machine>(machine: &mut M, now: Time, conn: M::Conn, moved: Moved) {
    match moved {
        Moved::Bytes(n) => machine.written(conn, n),
        Moved::Nothing => machine.written(conn, 0),
        Moved::End | Moved::Failed => machine.feed_eof(now, conn),
    }
}

/// A machine with one connection, as a pass sees it: the methods of [`Machine`] are built from these.
#[allow(unnameable_types, reason = "only the machines of this crate are made of these parts")]
pub trait Single: Sized {
    type Event: Debug;

    fn feed(&mut self, now: Time, bytes: &[u8]);

    fn wants_input(&self) -> bool;

    fn space(&mut self) -> &mut [u8];

    fn filled(&mut self, now: Time, n: usize);

    fn trim(&mut self);

    fn pass(&self) -> Pass;

    fn pass_mut(&mut self) -> &mut Pass;

    /// Advances the clock. The timers that this makes due fire when events are polled.
    fn tick(&mut self, now: Time);

    /// Returns the next event. Effects come in this order: bytes, the end of the stream, timers.
    fn poll_event(&mut self) -> Option<Self::Event>;

    /// Returns when the next event is due; [`Time::ZERO`] while one can be polled.
    fn due(&self) -> Time;

    /// Returns the bytes that were not written.
    fn outgoing(&self) -> &[u8];

    /// Removes the first `n` bytes of [`outgoing`](Self::outgoing).
    fn sent(&mut self, n: usize);

    /// Records the end of the peer's stream. A second call means that nothing can be written either.
    fn end_stream(&mut self, now: Time);

    /// Returns true once the last event was polled and the output was written, or the time for that is up.
    fn is_done(&self) -> bool;

    /// Returns when the next pass is due.
    fn next_pass(&self) -> Option<Time> {
        let pass = self.pass();
        let closes = || self.is_done() && !pass.is(Pass::OVER);
        if pass.is(Pass::OPEN) || closes() { Some(Time::ZERO) } else { self.due().finite() }
    }

    /// Takes the next step of a pass.
    fn next_output(&mut self, now: Time) -> Output<'_, Self::Event> {
        if !self.pass_mut().set(Pass::OPEN) {
            self.tick(now);
        }
        if let Some(event) = self.poll_event() {
            return Output::Event(event);
        }
        // No report means that the socket took nothing.
        self.take_written(0);
        let (is_done, unwritten) = (self.is_done(), self.outgoing().len());
        let pass = self.pass_mut();
        if is_done && !pass.set(Pass::OVER) {
            return Output::Close(());
        }
        if unwritten > 0 && !pass.is(Pass::FULL | Pass::OVER) {
            pass.set(Pass::OFFERED);
            pass.offered = u32::try_from(unwritten).unwrap_or(u32::MAX);
            return Output::Write { conn: (), bytes: self.offer() };
        }
        pass.clear(Pass::OPEN);
        pass.clear(Pass::FULL);
        Output::Wait(self.next_pass())
    }

    /// Returns the bytes of the last offer: the first ones that were not written.
    fn offer(&self) -> &[u8] {
        let offered = usize::try_from(self.pass().offered).unwrap_or(usize::MAX);
        self.outgoing().get(..offered).unwrap_or_else(|| self.outgoing())
    }

    /// Takes the report of how many bytes of the last offer were written, unless one was taken already.
    fn take_written(&mut self, n: usize) {
        if !self.pass_mut().clear(Pass::OFFERED) {
            return;
        }
        let taken = n.min(self.offer().len());
        if taken > 0 {
            self.sent(taken);
        } else {
            self.pass_mut().set(Pass::FULL);
        }
    }

    #[cfg(feature = "std")]
    fn read_socket(&mut self, now: Time, socket: &mut (impl std::io::Read + ?Sized)) -> bool {
        // The end of the input says nothing about the offer.
        read_all(self, now, (), socket, |machine| machine.end_stream(now))
    }

    /// Writes the last offer to the socket, once, and takes the result.
    #[cfg(feature = "std")]
    fn write_socket(&mut self, now: Time, socket: &mut (impl std::io::Write + ?Sized)) {
        if self.pass().is(Pass::OFFERED) {
            let moved = moved(|| socket.write(self.offer()));
            report(self, now, (), moved);
        }
    }

    /// Takes the end of the transport, or a failed write; after the latter, nothing more can be written.
    fn take_end(&mut self, now: Time) {
        if self.pass_mut().clear(Pass::OFFERED) {
            self.end_stream(now);
        }
        self.end_stream(now);
    }
}

impl<S: Single> Machine for S {
    type Event = S::Event;
    type Conn = ();

    fn poll(&mut self, now: Time) -> Output<'_, S::Event> {
        self.next_output(now)
    }

    fn written(&mut self, (): (), n: usize) {
        self.take_written(n);
    }

    fn feed(&mut self, now: Time, (): (), bytes: &[u8]) {
        Single::feed(self, now, bytes);
    }

    fn feed_eof(&mut self, now: Time, (): ()) {
        self.take_end(now);
    }

    fn wants_input(&self, (): ()) -> bool {
        Single::wants_input(self)
    }

    fn wants_output(&self, (): ()) -> bool {
        !self.outgoing().is_empty()
    }

    fn space(&mut self, (): ()) -> &mut [u8] {
        Single::space(self)
    }

    fn filled(&mut self, now: Time, (): (), n: usize) {
        Single::filled(self, now, n);
    }

    fn trim(&mut self, (): ()) {
        Single::trim(self);
    }

    fn deadline(&self) -> Option<Time> {
        self.next_pass()
    }
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use super::{Moved, moved};
    use alloc::vec::Vec;
    use std::io::{Error, ErrorKind, Result};

    #[test]
    fn io_is_retried_only_after_a_signal() {
        let signal = || Err(ErrorKind::Interrupted.into());
        let full = || Err(ErrorKind::WouldBlock.into());
        let gone = || Err(ErrorKind::ConnectionReset.into());
        // What the socket returns each time, the outcome, and how many of these results are left unused.
        let rows: [(&str, Vec<Result<usize>>, &str, usize); 6] = [
            ("bytes", Vec::from([Ok(3), Ok(4)]), "3 bytes", 1),
            ("the end", Vec::from([Ok(0), Ok(4)]), "end", 1),
            ("full", Vec::from([full(), Ok(4)]), "nothing", 1),
            ("an error", Vec::from([gone(), Ok(4)]), "failed", 1),
            ("two signals, then bytes", Vec::from([signal(), signal(), Ok(3)]), "3 bytes", 0),
            ("a signal, then an error", Vec::from([signal(), gone()]), "failed", 0),
        ];
        for (name, answers, expected, left) in rows {
            let mut answers = answers.into_iter();
            let outcome = moved(|| answers.next().unwrap_or_else(|| Err(Error::other("tried too often"))));
            let outcome = match outcome {
                Moved::Bytes(n) => alloc::format!("{n} bytes"),
                Moved::Nothing => "nothing".into(),
                Moved::End => "end".into(),
                Moved::Failed => "failed".into(),
            };
            assert_eq!((outcome.as_str(), answers.len()), (expected, left), "{name}");
        }
    }
}
