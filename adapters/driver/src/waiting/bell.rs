//! A wake-up for a loop that can only wait for sockets.

use std::io;
use std::net::{Ipv4Addr, UdpSocket};
#[cfg(unix)]
use std::os::fd::{AsFd, BorrowedFd};
#[cfg(windows)]
use std::os::windows::io::{AsSocket, BorrowedSocket};
use std::sync::Arc;
use std::task::Wake;

/// A socket that is connected to itself, so that other threads can end a wait for sockets: it is readable
/// from [`ring`](Self::ring) until [`silence`](Self::silence).
#[derive(Debug)]
pub struct Bell(UdpSocket);

impl Bell {
    /// Creates a silent bell.
    ///
    /// # Errors
    /// The error of the system.
    pub fn new() -> io::Result<Self> {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
        // From now on no other socket can send to it.
        socket.connect(socket.local_addr()?)?;
        socket.set_nonblocking(true)?;
        Ok(Self(socket))
    }

    /// Ends the current wait for the bell, or the next one.
    pub fn ring(&self) {
        // If there is no room for another ring, an earlier one still ends the wait.
        let _ = self.0.send(&[1]);
    }

    /// Clears all rings, so that the next wait blocks again.
    pub fn silence(&self) {
        while self.0.recv(&mut [0; 8]).is_ok() {}
    }
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.ring();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.ring();
    }
}

#[cfg(unix)]
impl AsFd for Bell {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

#[cfg(windows)]
impl AsSocket for Bell {
    fn as_socket(&self) -> BorrowedSocket<'_> {
        self.0.as_socket()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::ErrorKind;

    #[test]
    fn nobody_else_rings() {
        let bell = Bell::new().unwrap();
        let other = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        // The send may fail, since the bell accepts packets only from itself.
        let _ = other.send_to(&[1], bell.0.local_addr().unwrap());
        std::thread::sleep(std::time::Duration::from_millis(20));
        assert_eq!(bell.0.recv(&mut [0; 8]).unwrap_err().kind(), ErrorKind::WouldBlock);
        bell.ring();
        while bell.0.peek(&mut [0; 8]).is_err() {}
        bell.silence();
        assert_eq!(bell.0.recv(&mut [0; 8]).unwrap_err().kind(), ErrorKind::WouldBlock);
    }
}
