//! A peer in memory.

use super::Shutdown;
use std::cell::RefCell;
use std::io::{self, ErrorKind, Read, Write};
use std::rc::Rc;

/// What the peer has sent and the server has not read yet. The peer takes everything that the server writes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Peer(pub(crate) Rc<RefCell<Vec<u8>>>);

impl Read for Peer {
    fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
        let mut unread = self.0.borrow_mut();
        let n = unread.len().min(space.len());
        space.get_mut(..n).unwrap().copy_from_slice(unread.get(..n).unwrap());
        unread.drain(..n);
        if n > 0 { Ok(n) } else { Err(ErrorKind::WouldBlock.into()) }
    }
}

impl Write for Peer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Shutdown for Peer {
    fn shutdown_write(&mut self) -> io::Result<()> {
        Ok(())
    }
}
