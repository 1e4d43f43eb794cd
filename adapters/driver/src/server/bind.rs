//! The address of the listener.

use ide_mcp::ide::Auth;
use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::ops::RangeInclusive;

/// The address at which an editor listens. Every program that reaches the port can try tokens, so all
/// variants but the last accept only connections of this machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Bind {
    /// A port of 127.0.0.1 that the system chooses.
    #[default]
    AnyPort,
    /// This port of 127.0.0.1.
    Port(u16),
    /// The first free port of these, on 127.0.0.1.
    Ports(RangeInclusive<u16>),
    /// The port of the last run, on 127.0.0.1. If another program has that port now, the system
    /// chooses one.
    ///
    /// An agent that was attached looks for the editor on the same port, with the same token, and
    /// finds it again within about 12 s (measured). So the application has to keep both where no
    /// other user can read them, and give the token to the policy.
    ///
    /// While no editor listened, every user of the machine could listen on the port, and agents
    /// offered the token to that user. So the server treats the token as known to others. It admits a
    /// client that has the token only if the socket of the client belongs to our own user. It refuses
    /// every other client as it refuses a wrong token, also a client of root, of another user in a
    /// container, or of another machine. Only Linux reports the owner of a socket. On other systems the
    /// server requires a fresh token, which agents read from the lock file. The real client then finds
    /// the editor by `/ide` and not by itself.
    Resume(u16),
    /// Any address. **Other machines can reach it.** It is for a client in a container or in WSL, and
    /// requires a token.
    ExposedToOtherMachines(SocketAddr),
}

/// The number of connections that can wait to be accepted. The standard library requests 128, which one
/// program that floods the port fills in a moment. All other clients then have to connect again a second
/// later.
#[cfg(unix)]
const BACKLOG: i32 = 1024;

impl Bind {
    /// Returns true if other machines can reach the address.
    #[must_use]
    pub const fn is_exposed(&self) -> bool {
        matches!(self, Self::ExposedToOtherMachines(addr) if !addr.ip().is_loopback())
    }

    /// Binds the listener once, without a probe of the port before: another program could take the port
    /// between a probe and the binding.
    pub(crate) fn listen(self, auth: &Auth) -> io::Result<TcpListener> {
        if self.is_exposed() && auth.token().is_none() {
            let why = "without a token other machines must not reach the editor";
            return Err(io::Error::new(ErrorKind::InvalidInput, why));
        }
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
        // The listener already works. If the system refuses the longer queue, the shorter queue stays.
        #[cfg(unix)]
        let _ = rustix::net::listen(&listener, BACKLOG);
        Ok(listener)
    }
}
