//! A scripted socket, and a machine that only records.

use ide_mcp::{Machine, Output, Time};
use ide_mcp_driver::{Link, Shutdown};
use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read, Write};

/// A socket that follows a script, with one entry for each call. After the script every call would block.
#[derive(Debug, Default)]
pub(crate) struct Script {
    pub(crate) reads: VecDeque<Result<usize, ErrorKind>>,
    pub(crate) writes: VecDeque<Result<usize, ErrorKind>>,
    pub(crate) read_calls: usize,
    pub(crate) write_calls: usize,
    pub(crate) discarded: usize,
    pub(crate) shutdowns: usize,
    pub(crate) shutdown_fails: bool,
}

impl Script {
    pub(crate) fn reads(reads: &[Result<usize, ErrorKind>]) -> Self {
        Self { reads: reads.iter().copied().collect(), ..Self::default() }
    }

    pub(crate) fn writes(mut self, writes: &[Result<usize, ErrorKind>]) -> Self {
        self.writes.extend(writes);
        self
    }
}

impl Read for Script {
    fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
        assert!(!space.is_empty(), "a read into an empty buffer");
        self.read_calls += 1;
        let n = self.reads.pop_front().unwrap_or(Err(ErrorKind::WouldBlock))?.min(space.len());
        if self.shutdowns > 0 {
            self.discarded += n;
        }
        Ok(n)
    }
}

impl Write for Script {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        assert!(!bytes.is_empty(), "a write of nothing");
        self.write_calls += 1;
        Ok(self.writes.pop_front().unwrap_or(Err(ErrorKind::WouldBlock))?.min(bytes.len()))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Shutdown for Script {
    fn shutdown_write(&mut self) -> io::Result<()> {
        self.shutdowns += 1;
        if self.shutdown_fails { Err(ErrorKind::NotConnected.into()) } else { Ok(()) }
    }
}

/// A machine that counts its calls.
#[derive(Debug)]
pub(crate) struct Tape {
    pub(crate) space: Vec<u8>,
    pub(crate) wants: bool,
    pub(crate) filled: usize,
    pub(crate) ends: usize,
    pub(crate) outgoing: Vec<u8>,
    pub(crate) done: bool,
    pub(crate) trims: usize,
}

impl Tape {
    pub(crate) fn new(outgoing: usize) -> Self {
        Self {
            space: vec![0; 1000],
            wants: true,
            filled: 0,
            ends: 0,
            outgoing: vec![7; outgoing],
            done: false,
            trims: 0,
        }
    }
}

impl Tape {
    /// Writes until the socket would block, as a driver does, and ends the turn.
    pub(crate) fn write_to(&mut self, link: &mut Link<Script>, now: Time) {
        while !self.outgoing.is_empty() {
            match link.write(&self.outgoing, now) {
                Some(0) => break,
                Some(n) => self.written((), n),
                None => {
                    link.sever(self, (), now);
                    break;
                }
            }
        }
        if self.done {
            link.close(now);
        }
        link.rest(self, (), now);
    }
}

impl Machine for Tape {
    type Event = ();
    type Conn = ();

    fn poll(&mut self, _now: Time) -> Output<'_, ()> {
        Output::Wait(None)
    }

    fn written(&mut self, (): (), n: usize) {
        self.outgoing.drain(..n);
    }

    fn feed(&mut self, _now: Time, (): (), bytes: &[u8]) {
        self.filled += bytes.len();
    }

    fn feed_eof(&mut self, _now: Time, (): ()) {
        self.ends += 1;
    }

    fn wants_input(&self, (): ()) -> bool {
        self.wants
    }

    fn wants_output(&self, (): ()) -> bool {
        !self.outgoing.is_empty()
    }

    fn space(&mut self, (): ()) -> &mut [u8] {
        if self.wants { &mut self.space } else { &mut [] }
    }

    fn filled(&mut self, _now: Time, (): (), n: usize) {
        self.filled += n;
    }

    fn trim(&mut self, (): ()) {
        self.trims += 1;
    }

    fn deadline(&self) -> Option<Time> {
        None
    }
}
