//! The sockets of a server, on the reactor.

use crate::socket::Socket;
use async_io::Async;
use ide_mcp_driver::{Transport, WakeSet};
#[cfg(unix)]
use ide_mcp_lockfile::Guard;
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpListener, TcpStream};
#[cfg(unix)]
use std::os::fd::OwnedFd;
use std::task::{Context, Waker};

/// The listener, and the wake-ups of all sockets.
#[derive(Debug)]
pub(crate) struct Sockets {
    listener: Option<Async<TcpListener>>,
    of_listener: Waker,
    wakes: WakeSet,
    /// The descriptor of a guard, and its waker.
    #[cfg(unix)]
    guard: Option<(Async<OwnedFd>, Waker)>,
}

impl Sockets {
    pub(crate) fn new(listener: TcpListener, wakes: WakeSet) -> io::Result<Self> {
        Ok(Self {
            listener: Some(Async::new(listener)?),
            of_listener: wakes.listener_waker(),
            wakes,
            #[cfg(unix)]
            guard: None,
        })
    }
}

impl Transport for Sockets {
    type Incoming = TcpStream;
    type Socket = Socket;

    const SHORT_READS_DRAIN: bool = true;

    fn accept(&mut self) -> io::Result<TcpStream> {
        let listener = self.listener.as_ref().ok_or(ErrorKind::WouldBlock)?;
        loop {
            match listener.get_ref().accept() {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    // Arms the reactor, unless it has something to report.
                    let mut context = Context::from_waker(&self.of_listener);
                    if listener.poll_readable(&mut context)?.is_pending() {
                        return Err(error);
                    }
                }
                accepted => return accepted.map(|(stream, _)| stream),
            }
        }
    }

    fn adopt(&mut self, number: usize, stream: TcpStream) -> io::Result<Socket> {
        Ok(Socket::new(Async::new(stream)?, self.wakes.socket_waker(number)))
    }

    fn ends(socket: &Socket) -> io::Result<(SocketAddr, SocketAddr)> {
        Ok((socket.stream().local_addr()?, socket.stream().peer_addr()?))
    }

    #[cfg(unix)]
    fn watch(&mut self, guard: &Guard) -> bool {
        let fd = guard.as_fd().and_then(|fd| fd.try_clone_to_owned().ok());
        self.guard = fd.and_then(|fd| Async::new(fd).ok()).map(|fd| (fd, self.wakes.guard_waker()));
        if self.watch_again() {
            // A notification has already arrived.
            self.wakes.guard_waker().wake();
        }
        self.guard.is_some()
    }

    /// Arms the reactor, unless it has something to report.
    #[cfg(unix)]
    fn watch_again(&mut self) -> bool {
        let Some((fd, waker)) = &self.guard else { return false };
        matches!(fd.poll_readable(&mut Context::from_waker(waker)), std::task::Poll::Ready(Ok(())))
    }

    #[cfg(unix)]
    fn unwatch(&mut self) {
        self.guard = None;
    }

    fn close(&mut self) {
        self.listener = None;
    }
}
