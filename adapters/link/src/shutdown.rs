//! The one thing a link asks of a socket that [`Read`](std::io::Read) and [`Write`](std::io::Write) do not offer.

use std::io;
use std::net;

/// A socket whose write side can be closed while the read side stays open.
pub trait Shutdown {
    /// Tells the peer that nothing more will come. What was written before still goes out.
    ///
    /// # Errors
    /// Whatever the system reports; the link then gives the socket up.
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
