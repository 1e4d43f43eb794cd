//! The sockets of a server, registered in the application's `Poll`.

use crate::conn::prepare;
use ide_mcp_driver::Transport;
#[cfg(unix)]
use ide_mcp_lockfile::Guard;
use mio::net::{TcpListener, TcpStream};
#[cfg(unix)]
use mio::unix::SourceFd;
use mio::{Interest, Registry, Token};
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
#[cfg(unix)]
use std::os::fd::{AsRawFd as _, OwnedFd};

/// How many tokens a server owns: one for the listener, one for the guard of the lock file, and one for each
/// connection.
pub(crate) const TOKENS: usize = 1024;

/// The token of the guard, counted from `base`.
pub(crate) const GUARD: usize = TOKENS - 1;

/// The listener, and the tokens of the sockets, from `base` on. The listener has the first one.
#[derive(Debug)]
pub(crate) struct Sockets {
    listener: Option<TcpListener>,
    registry: Registry,
    base: usize,
    /// The descriptor of a guard.
    #[cfg(unix)]
    guard: Option<OwnedFd>,
}

impl Sockets {
    pub(crate) fn new(
        listener: std::net::TcpListener,
        registry: &Registry,
        Token(base): Token,
    ) -> io::Result<Self> {
        listener.set_nonblocking(true)?;
        let (mut listener, registry) = (TcpListener::from_std(listener), registry.try_clone()?);
        registry.register(&mut listener, Token(base), Interest::READABLE)?;
        Ok(Self {
            listener: Some(listener),
            registry,
            base,
            #[cfg(unix)]
            guard: None,
        })
    }
}

/// epoll and kqueue report each arrival of bytes, and also the end of the stream. mio promises less: on
/// Windows, and where it uses poll(2), it reports again only after a read that would have blocked.
pub(crate) const SHORT_READS_DRAIN: bool = cfg!(all(
    any(
        target_os = "android",
        target_os = "linux",
        target_os = "dragonfly",
        target_os = "freebsd",
        target_os = "netbsd",
        target_os = "openbsd",
        target_vendor = "apple",
    ),
    not(mio_unsupported_force_poll_poll),
));

impl Transport for Sockets {
    type Incoming = TcpStream;
    type Socket = TcpStream;

    const SHORT_READS_DRAIN: bool = SHORT_READS_DRAIN;

    fn accept(&mut self) -> io::Result<TcpStream> {
        let listener = self.listener.as_ref().ok_or(ErrorKind::WouldBlock)?;
        listener.accept().map(|(stream, _)| stream)
    }

    fn adopt(&mut self, number: usize, mut stream: TcpStream) -> io::Result<TcpStream> {
        // The first token belongs to the listener, and the last to the guard.
        if number >= GUARD.saturating_sub(1) {
            return Err(ErrorKind::QuotaExceeded.into());
        }
        let token = Token(self.base.saturating_add(1).saturating_add(number));
        prepare(&mut stream, &self.registry, token)?;
        Ok(stream)
    }

    fn ends(stream: &TcpStream) -> io::Result<(SocketAddr, SocketAddr)> {
        Ok((stream.local_addr()?, stream.peer_addr()?))
    }

    fn release(&mut self, mut stream: TcpStream) {
        // An error means that the `Poll` is gone, so nothing is registered any more.
        let _ = self.registry.deregister(&mut stream);
    }

    #[cfg(unix)]
    fn watch(&mut self, guard: &Guard) -> bool {
        let Some(fd) = guard.as_fd().and_then(|fd| fd.try_clone_to_owned().ok()) else { return false };
        let token = Token(self.base.saturating_add(GUARD));
        let registered = self.registry.register(&mut SourceFd(&fd.as_raw_fd()), token, Interest::READABLE);
        self.guard = registered.is_ok().then_some(fd);
        self.guard.is_some()
    }

    #[cfg(unix)]
    fn unwatch(&mut self) {
        if let Some(fd) = self.guard.take() {
            // An error means that the `Poll` is gone.
            let _ = self.registry.deregister(&mut SourceFd(&fd.as_raw_fd()));
        }
    }

    fn close(&mut self) {
        if let Some(mut listener) = self.listener.take() {
            // An error means that the `Poll` is gone.
            let _ = self.registry.deregister(&mut listener);
        }
    }
}

impl Drop for Sockets {
    fn drop(&mut self) {
        self.unwatch();
        self.close();
    }
}
