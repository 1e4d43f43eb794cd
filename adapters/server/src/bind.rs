//! Where an editor listens.

use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::ops::RangeInclusive;

/// Where to listen. Every program that reaches the port can try tokens, so everything but the last stays on this machine.
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
    /// the policy.
    ///
    /// While no editor listened, every user of the machine could listen on the port, and agents offered the token to that user.
    /// So the token counts as known to others: a client that knows it is let in only if its socket belongs to our own user, and
    /// refused as one with a wrong token otherwise, as are clients of root, of another user in a container, and of another
    /// machine. Only Linux tells whose a socket is. Elsewhere the server asks for a fresh token, which agents read from the lock
    /// file; the real client then finds the editor by `/ide` and not by itself.
    Resume(u16),
    /// Any address. **Other machines may reach it.** For a client in a container or in WSL, and only with a token.
    ExposedToOtherMachines(SocketAddr),
}

/// How many connections may wait to be accepted. The standard library asks for 128, which one impolite program fills in
/// a moment; then everybody else has to knock again a second later.
#[cfg(unix)]
const BACKLOG: i32 = 1024;

impl Bind {
    /// Whether it can be reached from other machines.
    #[must_use]
    pub const fn is_exposed(&self) -> bool {
        matches!(self, Self::ExposedToOtherMachines(addr) if !addr.ip().is_loopback())
    }

    /// Binds once and keeps what it bound: a port that is probed and bound again may be lost in between.
    pub(crate) fn listen(self) -> io::Result<TcpListener> {
        let on = |port| TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
        let listener = match self {
            Self::AnyPort => on(0)?,
            Self::Port(port) => on(port)?,
            Self::Resume(port) => match on(port) {
                Err(error) if error.kind() == ErrorKind::AddrInUse => on(0)?,
                bound => bound?,
            },
            Self::Ports(mut ports) => ports.find_map(|port| on(port).ok()).ok_or(ErrorKind::AddrInUse)?,
            Self::ExposedToOtherMachines(addr) => TcpListener::bind(addr)?,
        };
        // It listens already; where it may not do so for more, it does for fewer.
        #[cfg(unix)]
        let _ = rustix::net::listen(&listener, BACKLOG);
        Ok(listener)
    }
}
