//! The sockets of a server, all of them non-blocking.

use ide_mcp_driver::{Guarding, Transport, Wake, WakeSet};
use ide_mcp_lockfile::GuardMode;
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};

#[derive(Debug)]
pub(crate) struct Sockets {
    /// `None` once it is closed.
    listener: Option<TcpListener>,
    wakes: WakeSet,
}

impl Sockets {
    pub(crate) fn new(listener: TcpListener, wakes: WakeSet) -> io::Result<Self> {
        listener.set_nonblocking(true)?;
        Ok(Self { listener: Some(listener), wakes })
    }

    pub(crate) const fn listener(&self) -> Option<&TcpListener> {
        self.listener.as_ref()
    }
}

impl Transport for Sockets {
    type Incoming = TcpStream;
    type Socket = TcpStream;

    const IS_LEVEL_TRIGGERED: bool = true;

    fn accept(&mut self) -> io::Result<TcpStream> {
        let listener = self.listener.as_ref().ok_or(io::ErrorKind::WouldBlock)?;
        listener.accept().map(|(stream, _)| stream)
    }

    fn adopt(&mut self, _number: usize, stream: TcpStream) -> io::Result<TcpStream> {
        stream.set_nonblocking(true)?;
        // A turn writes all of its output at once, so Nagle's algorithm would only add delay. A socket that
        // refuses the option still works.
        let _ = stream.set_nodelay(true);
        Ok(stream)
    }

    fn ends(stream: &TcpStream) -> io::Result<(SocketAddr, SocketAddr)> {
        Ok((stream.local_addr()?, stream.peer_addr()?))
    }

    /// Runs the guard on a thread of its own, because its descriptor is not a socket, and Windows can wait
    /// only for sockets.
    fn guarding(&self) -> Guarding {
        let waker = self.wakes.guard_waker();
        Guarding::OnThread(GuardMode::default(), Wake::new(move || waker.wake_by_ref()))
    }

    fn close(&mut self) {
        self.listener = None;
    }
}
