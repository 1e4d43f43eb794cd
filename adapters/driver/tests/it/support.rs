//! Sockets in memory: two pipes of a given capacity, non-blocking, with faults on request.

use ide_mcp_driver::Shutdown;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read, Write};
use std::rc::Rc;

/// Which calls of one end fail, and how.
#[derive(Debug)]
pub(crate) enum Fault {
    None,
    /// About every third call, chosen by random numbers from this seed.
    Often(u32, ErrorKind),
    /// The n-th call and all later ones.
    From(usize, ErrorKind),
}

#[derive(Debug, Default)]
struct Pipe {
    bytes: VecDeque<u8>,
    /// True if the writer has finished.
    finished: bool,
    /// True if the reader has gone.
    unread: bool,
}

/// One end of two pipes.
#[derive(Debug)]
pub(crate) struct End {
    incoming: Rc<RefCell<Pipe>>,
    outgoing: Rc<RefCell<Pipe>>,
    capacity: usize,
    calls: usize,
    moves: Rc<Cell<usize>>,
    pub(crate) fault: Fault,
}

/// Creates two ends, each with room for `capacity` bytes on the way to the other.
pub(crate) fn pair(capacity: usize) -> (End, End) {
    let (one, two) = (Rc::<RefCell<Pipe>>::default(), Rc::<RefCell<Pipe>>::default());
    let moves = Rc::<Cell<usize>>::default();
    let end = |incoming: &Rc<_>, outgoing: &Rc<_>| End {
        incoming: Rc::clone(incoming),
        outgoing: Rc::clone(outgoing),
        capacity,
        calls: 0,
        moves: Rc::clone(&moves),
        fault: Fault::None,
    };
    (end(&one, &two), end(&two, &one))
}

impl End {
    /// Returns how many calls have moved something, in either direction.
    pub(crate) fn moves(&self) -> usize {
        self.moves.get()
    }

    /// Closes both directions, as dropping a socket does.
    pub(crate) fn close_if(&mut self, over: bool) {
        if over {
            self.outgoing.borrow_mut().finished = true;
            self.incoming.borrow_mut().unread = true;
        }
    }

    fn check(&mut self) -> io::Result<()> {
        self.calls += 1;
        match &mut self.fault {
            Fault::Often(state, kind) => {
                *state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                if *state >> 16 < 0x5555 { Err((*kind).into()) } else { Ok(()) }
            }
            Fault::From(n, kind) if self.calls >= *n => Err((*kind).into()),
            Fault::None | Fault::From(..) => Ok(()),
        }
    }

    fn moved(&self) {
        self.moves.set(self.moves.get() + 1);
    }
}

impl Read for End {
    fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
        self.check()?;
        let mut pipe = self.incoming.borrow_mut();
        let n = pipe.bytes.len().min(space.len());
        if n == 0 {
            return if pipe.finished { Ok(0) } else { Err(ErrorKind::WouldBlock.into()) };
        }
        for (space, byte) in space.iter_mut().zip(pipe.bytes.drain(..n)) {
            *space = byte;
        }
        self.moved();
        Ok(n)
    }
}

impl Write for End {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.check()?;
        let mut pipe = self.outgoing.borrow_mut();
        if pipe.unread {
            return Err(ErrorKind::BrokenPipe.into());
        }
        let n = bytes.len().min(self.capacity - pipe.bytes.len());
        if n == 0 {
            return Err(ErrorKind::WouldBlock.into());
        }
        pipe.bytes.extend(bytes.iter().take(n));
        self.moved();
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Shutdown for End {
    fn shutdown_write(&mut self) -> io::Result<()> {
        self.check()?;
        self.outgoing.borrow_mut().finished = true;
        self.moved();
        Ok(())
    }
}
