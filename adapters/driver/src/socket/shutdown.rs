//! What a [`Link`](crate::Link) needs from a socket besides [`Read`](std::io::Read) and
//! [`Write`](std::io::Write).

use std::io;
use std::net;

/// A socket whose write side can be closed while the read side stays open.
pub trait Shutdown {
    /// Shuts down the write side, so that the peer reads the end of the stream. What was written before is
    /// still sent.
    ///
    /// # Errors
    /// The error of the system; the link then gives up the socket.
    fn shutdown_write(&mut self) -> io::Result<()>;
}

impl Shutdown for net::TcpStream {
    fn shutdown_write(&mut self) -> io::Result<()> {
        self.shutdown(net::Shutdown::Write)
    }
}

#[cfg(unix)]
impl Shutdown for std::os::unix::net::UnixStream {
    fn shutdown_write(&mut self) -> io::Result<()> {
        self.shutdown(net::Shutdown::Write)
    }
}

#[cfg(feature = "mio")]
impl Shutdown for mio::net::TcpStream {
    fn shutdown_write(&mut self) -> io::Result<()> {
        self.shutdown(net::Shutdown::Write)
    }
}

#[cfg(all(test, unix))]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test states what it expects")]

    use super::*;
    use std::io::Read as _;
    use std::os::unix::net::UnixStream;

    #[test]
    fn peer_of_a_shut_down_socket_reads_the_end() {
        let (mut ours, mut theirs) = UnixStream::pair().unwrap();
        ours.shutdown_write().unwrap();
        theirs.set_nonblocking(true).unwrap();
        assert_eq!(theirs.read(&mut [0; 8]).unwrap(), 0);
    }
}
