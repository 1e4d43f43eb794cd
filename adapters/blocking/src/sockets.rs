//! The sockets of a server: each connection and the listener have threads of their own.

use crate::acceptor::Acceptor;
use crate::pipe::Pipe;
use ide_mcp_driver::{Guarding, Transport, Wake, WakeSet};
use ide_mcp_lockfile::GuardMode;
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};

/// The thread that accepts connections, and the wake-ups of all threads.
#[derive(Debug)]
pub(crate) struct Sockets {
    acceptor: Acceptor,
    wakes: WakeSet,
}

impl Sockets {
    pub(crate) fn new(listener: TcpListener, wakes: WakeSet) -> io::Result<Self> {
        Ok(Self { acceptor: Acceptor::new(listener, wakes.listener_waker())?, wakes })
    }
}

impl Transport for Sockets {
    type Incoming = TcpStream;
    type Socket = Pipe;

    fn accept(&mut self) -> io::Result<TcpStream> {
        self.acceptor.next()
    }

    fn adopt(&mut self, number: usize, stream: TcpStream) -> io::Result<Pipe> {
        Pipe::new(stream, &self.wakes.socket_waker(number))
    }

    fn ends(pipe: &Pipe) -> io::Result<(SocketAddr, SocketAddr)> {
        pipe.ends()
    }

    /// Returns a guard on a thread, because this adapter has no loop that waits for descriptors.
    fn guarding(&self) -> Guarding {
        let waker = self.wakes.guard_waker();
        Guarding::OnThread(GuardMode::default(), Wake::new(move || waker.wake_by_ref()))
    }

    fn close(&mut self) {
        self.acceptor.close();
    }
}
