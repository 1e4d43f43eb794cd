//! The bytes that the application has written, until a thread has written them to the socket.
//!
//! ```text
//!  Open ──finish──▶ Finishing ──▶ the buffer is written, and the write side is shut down
//!    │                  │
//!    └──────abandon─────┴──────▶ Abandoned ──▶ the buffer is written within 4 s, and the socket is shut down
//! ```

use crate::sync::{Condvar, Mutex, lock};
use ide_mcp::Clock;
use std::io::{self, ErrorKind, Write};
use std::mem;
use std::net::Shutdown;
use std::sync::PoisonError;
use std::task::Waker;
use std::time::Duration;

/// The greatest number of bytes that the buffer holds. The thread can hold another 64 KiB, which it is
/// writing. Further bytes stay in the send buffer of the machine.
const ROOM: usize = 64 * 1024;

/// The time for which the thread writes the remaining bytes after the application has dropped the
/// socket.
const DRAIN: Duration = Duration::from_secs(2);

/// The longest time that one write can block. After this time the thread checks whether the
/// application has dropped the socket.
pub(crate) const PATIENCE: Duration = Duration::from_secs(1);

/// A buffer that the application fills without waiting. A thread empties it.
#[derive(Debug, Default)]
pub(crate) struct Outbound {
    state: Mutex<State>,
    /// The signal that the writing thread has work.
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    bytes: Vec<u8>,
    /// True while the thread writes bytes that it has taken from `bytes`.
    is_writing: bool,
    stage: Stage,
    /// True if a write of the application has found no room since the thread last took bytes.
    lacked_room: bool,
    /// The kind of the error of the socket.
    failed: Option<ErrorKind>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stage {
    #[default]
    Open,
    /// The stage in which the application adds no more bytes. The thread still writes the remaining
    /// bytes.
    Finishing,
    /// The stage after the application has dropped the socket.
    Abandoned,
}

impl Outbound {
    /// Accepts bytes to send, and returns what a write to a non-blocking socket would return.
    ///
    /// `send` writes as many bytes as the socket has room for, without waiting. `may_report` returns
    /// true if the reading thread has ended or its buffer is full. While the reading thread can
    /// still add bytes, an error of the socket is held back as `WouldBlock`, so that the
    /// application gets the bytes that the peer sent before the error.
    pub(crate) fn put(
        &self,
        bytes: &[u8],
        send: impl FnOnce(&[u8]) -> io::Result<usize>,
        may_report: impl FnOnce() -> bool,
    ) -> io::Result<usize> {
        let mut state = lock(&self.state);
        let is_first = state.bytes.is_empty() && !state.is_writing && state.failed.is_none();
        // An error of `send` is ignored here: the thread gets the same error when it writes, and reports
        // it.
        if let Some(n) = is_first.then(|| send(bytes).ok()).flatten().filter(|n| *n > 0) {
            return Ok(n);
        }
        if let Some(failed) = state.failed.filter(|_| may_report()) {
            return Err(failed.into());
        }
        let room = ROOM.saturating_sub(state.bytes.len());
        if room == 0 || state.failed.is_some() {
            state.lacked_room = true;
            return Err(ErrorKind::WouldBlock.into());
        }
        let n = room.min(bytes.len());
        state.bytes.extend(bytes.iter().take(n));
        self.changed.notify_one();
        Ok(n)
    }

    /// Moves on to `stage`. An earlier stage than the current one has no effect.
    pub(crate) fn go_on_to(&self, stage: Stage) {
        let mut state = lock(&self.state);
        state.stage = state.stage.max(stage);
        self.changed.notify_one();
    }

    /// Writes the bytes of the application. After the last ones it shuts the write side down, and
    /// waits until the application has dropped the socket. Wakes the loop when the buffer has room
    /// after it had none.
    pub(crate) fn drain(&self, mut stream: impl Write, shutdown: impl Fn(Shutdown), wakes: &Waker) {
        let mut piece = Vec::new();
        let mut abandoned = None;
        loop {
            let mut state = lock(&self.state);
            state.is_writing = false;
            let is_idle = |state: &mut State| state.bytes.is_empty() && state.stage == Stage::Open;
            let mut state = self.changed.wait_while(state, is_idle).unwrap_or_else(PoisonError::into_inner);
            if state.bytes.is_empty() {
                break;
            }
            state.is_writing = true;
            mem::swap(&mut state.bytes, &mut piece);
            let lacked_room = mem::take(&mut state.lacked_room);
            drop(state);
            if lacked_room {
                wakes.wake_by_ref();
            }
            if let Err(error) = self.write(&mut stream, &piece, &mut abandoned) {
                lock(&self.state).failed = Some(error.kind());
                // This ends the reading thread, which does not get the error of a write.
                shutdown(Shutdown::Both);
                wakes.wake_by_ref();
                break;
            }
            piece.clear();
            // An idle connection keeps little memory.
            piece.shrink_to(1024);
        }
        shutdown(Shutdown::Write);
        drop(self.changed.wait_while(lock(&self.state), |state| state.stage != Stage::Abandoned));
        // This ends the reading thread.
        shutdown(Shutdown::Both);
    }

    /// Writes all bytes. `abandoned` starts when the application has dropped the socket; all writes from then
    /// on take at most [`DRAIN`], and the last one [`PATIENCE`] more.
    fn write(
        &self,
        stream: &mut impl Write,
        mut bytes: &[u8],
        abandoned: &mut Option<Clock>,
    ) -> io::Result<()> {
        while !bytes.is_empty() {
            match stream.write(bytes) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(n) => bytes = bytes.get(n..).unwrap_or_default(),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
                Err(error) => return Err(error),
            }
            if lock(&self.state).stage == Stage::Abandoned
                && abandoned.get_or_insert_with(Clock::new).now().since_start() >= DRAIN
            {
                return Err(ErrorKind::TimedOut.into());
            }
        }
        Ok(())
    }
}

#[cfg(all(test, shuttle))]
mod orders;

#[cfg(all(test, not(shuttle)))]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::mpsc::{Receiver, Sender, channel};
    use std::thread;

    /// More than any wait of a machine that is merely busy.
    const LONG: Duration = Duration::from_secs(20);

    fn full(_: &[u8]) -> io::Result<usize> {
        Err(ErrorKind::WouldBlock.into())
    }

    /// A socket whose writes begin when the test knows of it, and end when the test says so.
    struct Gate {
        begun: Sender<()>,
        go: Receiver<()>,
        peer: Arc<Mutex<Vec<u8>>>,
    }

    impl Write for Gate {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.begun.send(()).map_err(io::Error::other)?;
            self.go.recv().map_err(io::Error::other)?;
            lock(&self.peer).extend(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// While the thread writes, the application gives more bytes, for which the socket has room.
    #[test]
    fn bytes_given_during_a_write_come_after_it() {
        let (outbound, peer) = (Arc::<Outbound>::default(), Arc::<Mutex<Vec<u8>>>::default());
        let (begun, begins) = channel();
        let (goes, go) = channel();
        let gate = Gate { begun, go, peer: peer.clone() };
        let drains = outbound.clone();
        let thread = thread::spawn(move || drains.drain(gate, drop, Waker::noop()));
        let put = |byte: u8, has_room: bool| {
            let send = |bytes: &[u8]| {
                lock(&peer).extend(bytes);
                Ok(bytes.len())
            };
            let sent = if has_room {
                outbound.put(&[byte], send, || false)
            } else {
                outbound.put(&[byte], full, || false)
            };
            assert_eq!(sent.unwrap(), 1);
        };
        put(0, false);
        for write in 0..4 {
            begins.recv_timeout(LONG).unwrap();
            let before = lock(&peer).len();
            // Nothing is in the buffer at the first byte, and the first byte at the second.
            for byte in 1..3 {
                put(2 * write + byte, true);
                assert_eq!(lock(&peer).len(), before, "byte {byte} overtakes write {write}");
            }
            goes.send(()).unwrap();
        }
        begins.recv_timeout(LONG).unwrap();
        goes.send(()).unwrap();
        outbound.go_on_to(Stage::Abandoned);
        thread.join().unwrap();
        assert_eq!(*lock(&peer), [0, 1, 2, 3, 4, 5, 6, 7, 8]);
    }

    /// A socket without any bytes on the way is written directly; after that no thread is woken.
    #[test]
    fn idle_socket_is_written_directly() {
        let outbound = Outbound::default();
        for (name, room, expected) in [("room for all", 9, 9), ("room for some", 4, 4), ("no room", 0, 9)] {
            let send = |bytes: &[u8]| if room == 0 { full(bytes) } else { Ok(bytes.len().min(room)) };
            assert_eq!(outbound.put(&[1; 9], send, || false).unwrap(), expected, "{name}");
            assert_eq!(lock(&outbound.state).bytes.len(), if room == 0 { 9 } else { 0 }, "{name}");
        }
    }

    /// The order of what a peer sees: all bytes, the end of our output, and the end of the connection.
    #[test]
    fn write_side_ends_before_the_socket() {
        #[derive(Clone, Copy, Debug, PartialEq)]
        enum Seen {
            Bytes(usize),
            Shutdown(Shutdown),
        }
        struct Peer(Sender<Seen>);
        impl Write for Peer {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                self.0.send(Seen::Bytes(bytes.len())).unwrap();
                Ok(bytes.len())
            }

            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let (write_end, end) = (Seen::Shutdown(Shutdown::Write), Seen::Shutdown(Shutdown::Both));
        for (name, bytes, stages) in [
            ("dropped", 0, &[Stage::Abandoned][..]),
            ("dropped with bytes", 9, &[Stage::Abandoned]),
            ("finished and dropped", 0, &[Stage::Finishing, Stage::Abandoned]),
            ("finished and dropped with bytes", 9, &[Stage::Finishing, Stage::Abandoned]),
            ("finished after it was dropped", 9, &[Stage::Abandoned, Stage::Finishing]),
        ] {
            // Everything has happened before the thread begins.
            let (outbound, (saw, seen)) = (Outbound::default(), channel());
            if bytes > 0 {
                outbound.put(&vec![1; bytes], full, || false).unwrap();
            }
            for stage in stages {
                outbound.go_on_to(*stage);
            }
            let shutdown = |how| saw.send(Seen::Shutdown(how)).unwrap();
            outbound.drain(Peer(saw.clone()), shutdown, Waker::noop());
            let seen: Vec<Seen> = seen.try_iter().collect();
            let expected = [Seen::Bytes(9), write_end, end];
            assert_eq!(seen, expected[usize::from(bytes == 0)..], "{name}");
        }
    }

    /// A socket whose peer reads nothing for this time, then one piece, and then nothing any more.
    struct Slow {
        first: Option<Duration>,
        clock: Clock,
    }

    impl Write for Slow {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            thread::sleep(Duration::from_millis(20));
            if self.first.is_none_or(|first| self.clock.now().since_start() < first) {
                return Err(ErrorKind::WouldBlock.into());
            }
            self.first = None;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// The time is for all remaining bytes, and not for each piece of them.
    #[test]
    fn dropped_socket_has_one_time_to_drain() {
        let outbound = Outbound::default();
        outbound.put(b"first", full, || false).unwrap();
        let clock = Clock::new();
        let socket = Slow { first: Some(DRAIN.mul_f64(0.75)), clock };
        thread::scope(|scope| {
            scope.spawn(|| outbound.drain(socket, drop, Waker::noop()));
            while !lock(&outbound.state).is_writing {
                thread::yield_now();
            }
            outbound.put(b"second", full, || false).unwrap();
            outbound.go_on_to(Stage::Abandoned);
        });
        let took = clock.now().since_start();
        assert!(took >= DRAIN && took < DRAIN.mul_f64(1.5), "{took:?}");
        assert_eq!(lock(&outbound.state).failed, Some(ErrorKind::TimedOut));
    }
}
