//! What a thread has read from a socket, until the application takes it.

use crate::lock;
use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read};
use std::net::TcpStream;
use std::sync::{Condvar, Mutex, PoisonError};
use std::task::Waker;

/// So much may lie there; then the thread waits, and with it the peer.
const ROOM: usize = 64 * 1024;

/// How much is read at a time.
const PIECE: usize = 16 * 1024;

/// Filled by one thread, emptied by another that never waits.
#[derive(Debug, Default)]
pub(crate) struct Inbound {
    state: Mutex<State>,
    /// There is room again, or nobody takes any more.
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    bytes: VecDeque<u8>,
    /// The transport ended.
    has_ended: bool,
    /// Why, if it was an error that has not been told.
    error: Option<io::Error>,
    /// Nobody takes any more.
    is_closed: bool,
}

impl Inbound {
    /// Takes what is there: what a socket that does not block would have read.
    pub(crate) fn take(&self, space: &mut [u8]) -> io::Result<usize> {
        let mut state = lock(&self.state);
        if state.bytes.is_empty() {
            let error = state.error.take();
            return if state.has_ended {
                error.map_or(Ok(0), Err)
            } else {
                Err(ErrorKind::WouldBlock.into())
            };
        }
        let was_full = state.bytes.len() >= ROOM;
        let taken = state.bytes.read(space);
        if was_full {
            self.changed.notify_one();
        }
        if state.bytes.is_empty() {
            // A large one is given back after use.
            state.bytes.shrink_to(PIECE);
        }
        taken
    }

    /// Whether nothing will be added before something is taken.
    pub(crate) fn is_stuck(&self) -> bool {
        let state = lock(&self.state);
        state.has_ended || state.bytes.len() >= ROOM
    }

    /// Nobody takes any more.
    pub(crate) fn close(&self) {
        lock(&self.state).is_closed = true;
        self.changed.notify_one();
    }

    /// Reads until the end; rings when there is something after there was nothing.
    pub(crate) fn fill(&self, mut stream: &TcpStream, bell: &Waker) {
        let mut piece = vec![0; PIECE];
        loop {
            let read = stream.read(&mut piece);
            let mut state = lock(&self.state);
            while state.bytes.len() >= ROOM && !state.is_closed {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            let was_empty = state.bytes.is_empty();
            match read {
                Ok(n) if n > 0 => state.bytes.extend(piece.iter().take(n)),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                end => {
                    state.has_ended = true;
                    state.error = end.err();
                }
            }
            let is_over = state.has_ended || state.is_closed;
            drop(state);
            if was_empty || is_over {
                bell.wake_by_ref();
            }
            if is_over {
                return;
            }
        }
    }
}
