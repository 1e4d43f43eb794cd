//! Where an editor listens.

use ide_mcp::Time;
use mio::event::Event;
use mio::net::{TcpListener, TcpStream};
use mio::{Interest, Registry, Token};
use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, SocketAddr};
use std::ops::RangeInclusive;
use std::time::Duration;

/// Where to listen. Whoever reaches the port can try tokens, so everything but the last stays on this machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Bind {
    /// 127.0.0.1, on a port that the system chooses.
    #[default]
    AnyPort,
    /// 127.0.0.1, on this port.
    Port(u16),
    /// 127.0.0.1, on the first port of these that is free.
    Ports(RangeInclusive<u16>),
    /// 127.0.0.1, on the port of the last run; where another program has that by now, on one that the system chooses.
    ///
    /// An agent that was attached looks for the editor on the same port, with the same token, and finds it again within
    /// about 12 s (measured). So the application has to keep both, where nobody else can read them, and give the token to
    /// the policy. The price is a token that lives longer than a run.
    Resume(u16),
    /// Any address. **Other machines may reach it.** For a client in a container or in WSL, and only with a token.
    ExposedToOtherMachines(SocketAddr),
}

/// After this long it is tried again, where accepting failed for want of file descriptors or memory: no readiness
/// announces that there are some again.
const RETRY: Duration = Duration::from_millis(100);

/// A bound socket, and whether connections may wait there.
#[derive(Debug)]
pub(crate) struct Listener {
    socket: TcpListener,
    registry: Registry,
    addr: SocketAddr,
    token: Token,
    /// Accepting has not said yet that it would block.
    readable: bool,
    retry_at: Option<Time>,
}

impl Listener {
    /// Binds once and keeps what it bound: a port that is probed and bound again may be lost in between.
    pub(crate) fn new(bind: Bind, registry: &Registry, token: Token) -> io::Result<Self> {
        let on = |port| TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
        let mut socket = match bind {
            Bind::AnyPort => on(0)?,
            Bind::Port(port) => on(port)?,
            Bind::Resume(port) => match on(port) {
                Err(error) if error.kind() == ErrorKind::AddrInUse => on(0)?,
                bound => bound?,
            },
            Bind::Ports(mut ports) => ports.find_map(|port| on(port).ok()).ok_or(ErrorKind::AddrInUse)?,
            Bind::ExposedToOtherMachines(addr) => TcpListener::bind(addr)?,
        };
        let (addr, registry) = (socket.local_addr()?, registry.try_clone()?);
        registry.register(&mut socket, token, Interest::READABLE)?;
        Ok(Self { socket, registry, addr, token, readable: true, retry_at: None })
    }

    pub(crate) const fn addr(&self) -> SocketAddr {
        self.addr
    }

    pub(crate) fn handle(&mut self, event: &Event) {
        if event.token() == self.token {
            self.readable = true;
        }
    }

    /// The next connection that waits.
    pub(crate) fn accept(&mut self, now: Time) -> Option<TcpStream> {
        if self.retry_at.is_some_and(|at| at <= now) {
            self.retry_at = None;
            self.readable = true;
        }
        while self.readable {
            match self.socket.accept() {
                Ok((stream, _)) => return Some(stream),
                Err(error) if error.kind() == ErrorKind::WouldBlock => self.readable = false,
                // One that has given up while it waited; the next may be there.
                Err(error)
                    if matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::ConnectionAborted) => {}
                Err(_) => {
                    self.readable = false;
                    self.retry_at = Some(now.after(RETRY));
                }
            }
        }
        None
    }

    pub(crate) fn deadline(&self, now: Time) -> Option<Time> {
        if self.readable { Some(now) } else { self.retry_at }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        // It fails if the `Poll` has gone, and then nothing is registered.
        let _ = self.registry.deregister(&mut self.socket);
    }
}
