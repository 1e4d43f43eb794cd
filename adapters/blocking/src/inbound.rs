//! The bytes that a thread has read from a socket, until the application takes them.

use crate::sync::{Condvar, Mutex, lock};
use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read};
use std::mem;
use std::sync::PoisonError;
use std::task::Waker;

/// The number of buffered bytes at which the thread stops reading, which holds up the peer.
const ROOM: usize = 64 * 1024;

/// The number of buffered bytes at which the thread reads on. Under load a turn takes one piece from
/// each connection. If each piece woke the thread, 15 clients that flood would lose 4 % of their
/// throughput.
const LOW: usize = ROOM / 4;

/// The size of a read.
const PIECE: usize = 16 * 1024;

/// A buffer that one thread fills. The application empties it and never waits.
#[derive(Debug, Default)]
pub(crate) struct Inbound {
    state: Mutex<State>,
    /// The signal that the buffer has room again, or is closed.
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    bytes: VecDeque<u8>,
    /// True if `bytes` has reached [`ROOM`] and has not fallen to [`LOW`] since. The thread waits
    /// meanwhile.
    is_full: bool,
    /// The result of the last read. `take` returns an error once, and `Ok(0)` from then on.
    end: Option<io::Result<usize>>,
    /// True if the application takes no more bytes.
    is_closed: bool,
}

impl Inbound {
    /// Takes buffered bytes. The result is that of a read from a non-blocking socket.
    pub(crate) fn take(&self, space: &mut [u8]) -> io::Result<usize> {
        let mut state = lock(&self.state);
        if state.bytes.is_empty() {
            let end = state.end.as_mut().map(|end| mem::replace(end, Ok(0)));
            return end.unwrap_or_else(|| Err(ErrorKind::WouldBlock.into()));
        }
        let taken = state.bytes.read(space);
        if state.is_full && state.bytes.len() <= LOW {
            state.is_full = false;
            self.changed.notify_one();
        }
        if state.bytes.is_empty() {
            // A large buffer is freed after use.
            state.bytes.shrink_to(PIECE);
        }
        taken
    }

    /// Returns true if the thread adds no bytes now: the input has ended, or the buffer was full and has
    /// not fallen to [`LOW`] since.
    pub(crate) fn is_stuck(&self) -> bool {
        let state = lock(&self.state);
        state.end.is_some() || state.is_full
    }

    /// Ends the thread, since the application takes no more bytes.
    pub(crate) fn close(&self) {
        lock(&self.state).is_closed = true;
        self.changed.notify_one();
    }

    /// Reads until the end of the input. Wakes the loop when the buffer was empty and gets bytes, and
    /// when the thread becomes stuck: [`Outbound::put`](crate::outbound::Outbound::put) can then report a
    /// failed socket.
    pub(crate) fn fill(&self, mut stream: impl Read, wakes: &Waker) {
        let mut piece = vec![0; PIECE];
        loop {
            let read = stream.read(&mut piece);
            let mut state = lock(&self.state);
            while state.is_full && !state.is_closed {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            let was_empty = state.bytes.is_empty();
            match read {
                Ok(n) if n > 0 => {
                    state.bytes.extend(piece.iter().take(n));
                    state.is_full = state.bytes.len() >= ROOM;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                end => state.end = Some(end),
            }
            let is_over = state.end.is_some() || state.is_closed;
            let is_stuck = is_over || state.is_full;
            drop(state);
            if was_empty || is_stuck {
                wakes.wake_by_ref();
            }
            if is_over {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ide_mcp::Clock;
    use std::io::Write as _;
    use std::net::{TcpListener, TcpStream};
    use std::sync::Arc;
    use std::task::Wake;
    use std::thread;
    use std::time::Duration;

    /// The results of the reads from a socket. After the last one the input has ended.
    struct Reads(Vec<Result<usize, ErrorKind>>);

    impl Read for Reads {
        fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
            let next = if self.0.is_empty() { Ok(0) } else { self.0.remove(0) };
            Ok(next?.min(space.len()))
        }
    }

    /// What the loop finds at each wake-up: the number of buffered bytes, and whether the thread is stuck.
    #[derive(Default)]
    struct Wakes {
        inbound: Inbound,
        found: Mutex<Vec<(usize, bool)>>,
    }

    impl Wake for Wakes {
        fn wake(self: Arc<Self>) {
            let bytes = lock(&self.inbound.state).bytes.len();
            lock(&self.found).push((bytes, self.inbound.is_stuck()));
        }
    }

    /// The loop takes nothing meanwhile: it can wait for room to write, and learns of a failed socket only
    /// if the end of the input wakes it.
    #[test]
    fn first_bytes_and_end_wake_the_loop() {
        use ErrorKind::{ConnectionReset, Interrupted};
        // (name, reads, what the loop finds at each wake-up)
        type Row = (&'static str, Vec<Result<usize, ErrorKind>>, Vec<(usize, bool)>);
        let rows: [Row; 8] = [
            ("the end", vec![], vec![(0, true)]),
            ("an error", vec![Err(ConnectionReset)], vec![(0, true)]),
            ("bytes, then the end", vec![Ok(5)], vec![(5, false), (5, true)]),
            ("bytes, then an error", vec![Ok(5), Err(ConnectionReset)], vec![(5, false), (5, true)]),
            ("bytes twice, then the end", vec![Ok(5), Ok(6)], vec![(5, false), (11, true)]),
            ("a signal, then the end", vec![Err(Interrupted)], vec![(0, true)]),
            ("bytes, a signal, bytes", vec![Ok(5), Err(Interrupted), Ok(6)], vec![(5, false), (11, true)]),
            ("a full piece", vec![Ok(PIECE), Ok(PIECE)], vec![(PIECE, false), (2 * PIECE, true)]),
        ];
        for (name, reads, expected) in rows {
            let wakes = Arc::new(Wakes::default());
            wakes.inbound.fill(Reads(reads.clone()), &Waker::from(wakes.clone()));
            assert_eq!(*lock(&wakes.found), expected, "{name}");
            // The application gets the bytes first, then the error once, then the end.
            let mut space = vec![0; 4 * PIECE];
            let bytes: usize = reads.iter().flatten().sum();
            let taken = if bytes > 0 { wakes.inbound.take(&mut space).unwrap() } else { 0 };
            assert_eq!(taken, bytes, "{name}");
            if reads.last() == Some(&Err(ConnectionReset)) {
                let error = wakes.inbound.take(&mut space).unwrap_err();
                assert_eq!(error.kind(), ConnectionReset, "{name}");
            }
            assert_eq!(wakes.inbound.take(&mut space).unwrap(), 0, "{name}");
        }
    }

    #[test]
    fn full_buffer_wakes_the_loop() {
        let wakes = Arc::new(Wakes::default());
        let fills = wakes.clone();
        let reads = vec![Ok(PIECE); 2 * ROOM / PIECE];
        let thread = thread::spawn(move || {
            fills.inbound.fill(Reads(reads), &Waker::from(fills.clone()));
        });
        let clock = Clock::new();
        while lock(&wakes.found).len() < 2 {
            assert!(clock.now().since_start() < Duration::from_secs(20), "a full buffer does not wake");
            thread::yield_now();
        }
        assert_eq!(*lock(&wakes.found), [(PIECE, false), (ROOM, true)]);
        wakes.inbound.close();
        thread.join().unwrap();
        assert_eq!(lock(&wakes.found).len(), 3, "the end of the thread");
    }

    /// Fills the buffer twice. Checks that the thread reads on at [`LOW`] and not before, and that all
    /// bytes arrive, in order.
    #[test]
    fn full_buffer_refills_when_low() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut peer = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (stream, _) = listener.accept().unwrap();
        let inbound = Arc::new(Inbound::default());
        let sent: Vec<u8> = (0..4 * ROOM).map(|n| u8::try_from(n % 251).unwrap()).collect();
        let (fills, text) = (inbound.clone(), sent.clone());
        thread::spawn(move || fills.fill(&stream, Waker::noop()));
        thread::spawn(move || peer.write_all(&text).unwrap());
        let mut got = Vec::new();
        // A read of the deque takes only contiguous bytes.
        let mut take = |mut n: usize| {
            let mut space = [0; PIECE];
            while n > 0 {
                let taken = inbound.take(&mut space[..n.min(PIECE)]).unwrap();
                got.extend_from_slice(&space[..taken]);
                n -= taken;
            }
        };
        let wait_until_stuck = || {
            let clock = Clock::new();
            while !inbound.is_stuck() {
                assert!(clock.now().since_start() < Duration::from_secs(20), "it is not filled again");
                thread::yield_now();
            }
        };
        for round in ["the first time", "the second time"] {
            wait_until_stuck();
            let held = lock(&inbound.state).bytes.len();
            assert!((ROOM..ROOM + PIECE).contains(&held), "{round}: {held}");
            take(held - LOW - 1);
            assert!(inbound.is_stuck(), "{round}: it is not low yet");
            take(1);
        }
        wait_until_stuck();
        let held = lock(&inbound.state).bytes.len();
        take(held);
        assert!(sent.starts_with(&got) && got.len() > 2 * ROOM, "{} bytes, or different ones", got.len());
    }
}

#[cfg(all(test, shuttle))]
mod orders {
    use super::*;
    use crate::parking::{park, waker};
    use crate::sync::thread;
    use ide_mcp::Time;
    use std::sync::Arc;

    /// A peer that sends this many bytes, each with its number.
    struct Peer {
        sent: usize,
        total: usize,
    }

    impl Read for Peer {
        fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
            let bytes = numbered(self.sent..self.total);
            let n = bytes.zip(space).map(|(byte, place)| *place = byte).count();
            self.sent += n;
            Ok(n)
        }
    }

    fn numbered(numbers: std::ops::Range<usize>) -> impl Iterator<Item = u8> {
        numbers.map(|n| u8::try_from(n % 251).unwrap())
    }

    /// The buffer is full twice. If a thread is not woken, shuttle reports a deadlock.
    #[test]
    fn no_order_loses_a_received_byte() {
        let test = || {
            let (inbound, total) = (Arc::new(Inbound::default()), 2 * ROOM + PIECE);
            let (fills, loop_waker) = (inbound.clone(), waker());
            let thread = thread::spawn(move || fills.fill(Peer { sent: 0, total }, &loop_waker));
            let (mut got, mut space) = (Vec::new(), vec![0; ROOM - LOW]);
            loop {
                match inbound.take(&mut space) {
                    Ok(0) => break,
                    Ok(n) => got.extend_from_slice(&space[..n]),
                    Err(_) => park(Time::ZERO, None),
                }
            }
            thread.join().unwrap();
            assert!(got.into_iter().eq(numbered(0..total)));
        };
        shuttle::check_random(test, 1_000);
        shuttle::check_pct(test, 1_000, 3);
    }

    #[test]
    fn no_order_lets_the_thread_outlive_its_socket() {
        let test = || {
            let inbound = Arc::new(Inbound::default());
            let (fills, loop_waker) = (inbound.clone(), waker());
            let peer = Peer { sent: 0, total: usize::MAX };
            let thread = thread::spawn(move || fills.fill(peer, &loop_waker));
            let _ = inbound.take(&mut [0; 16]);
            inbound.close();
            thread.join().unwrap();
        };
        shuttle::check_random(test, 1_000);
        shuttle::check_pct(test, 1_000, 3);
    }
}
