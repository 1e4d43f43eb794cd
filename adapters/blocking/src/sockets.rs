//! The sockets of a server, on threads of their own.

use crate::acceptor::Acceptor;
use crate::pipe::Pipe;
use ide_mcp_link::WakeSet;
use ide_mcp_lockfile::GuardMode;
use ide_mcp_server::{Guarding, Transport, Wake};
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};

/// The thread that accepts, and the bell that all of them ring.
#[derive(Debug)]
pub(crate) struct Sockets {
    acceptor: Acceptor,
    bell: WakeSet,
}

impl Sockets {
    pub(crate) fn new(listener: TcpListener, bell: WakeSet) -> io::Result<Self> {
        Ok(Self { acceptor: Acceptor::new(listener, bell.of_listener())?, bell })
    }
}

impl Transport for Sockets {
    type Incoming = TcpStream;
    type Socket = Pipe;

    fn accept(&mut self) -> io::Result<TcpStream> {
        self.acceptor.next()
    }

    fn adopt(&mut self, number: usize, stream: TcpStream) -> io::Result<Pipe> {
        Pipe::new(stream, &self.bell.of_socket(number))
    }

    fn ends(pipe: &Pipe) -> io::Result<(SocketAddr, SocketAddr)> {
        pipe.ends()
    }

    fn release(&mut self, pipe: Pipe) {
        drop(pipe);
    }

    /// Returns a thread: no loop waits here for a descriptor, threads wait for everything else as well.
    fn guarding(&self) -> Guarding {
        let bell = self.bell.of_guard();
        Guarding::OnThread(GuardMode::default(), Wake::new(move || bell.wake_by_ref()))
    }

    fn close(&mut self) {
        self.acceptor.close();
    }
}
