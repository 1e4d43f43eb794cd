//! The checks of a connection to an editor, before its first byte.

use crate::socket::refuse_itself;
use ide_mcp_lockfile::{Error, Unknown, check_server};
use std::io;
use std::net::{SocketAddr, ToSocketAddrs as _};

/// The servers to which an agent sends its token.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Trust {
    /// Servers of our own user, and servers whose owner the system does not report.
    #[default]
    OurUser,
    /// Servers of every user, for an editor in a container whose port another user forwards.
    EveryUser,
}

impl Trust {
    /// Checks the server of a connection on which nothing was sent yet: the two ends are different sockets,
    /// and the user of the server is trusted. `local` and `peer` are the addresses of the socket. If the
    /// system does not report the owner, returns the reason, which a program shows to the person.
    ///
    /// # Errors
    /// [`ConnectError::Io`] for a socket that is connected to itself or has no address, and
    /// [`ConnectError::NotTrusted`] for a server of another user. Nothing is to be sent then.
    pub fn check(
        self,
        local: io::Result<SocketAddr>,
        peer: io::Result<SocketAddr>,
    ) -> Result<Option<Unknown>, ConnectError> {
        let (local, peer) = (local?, peer?);
        refuse_itself(Ok(local), Ok(peer))?;
        match self {
            Self::OurUser => check_server(local, peer).map_err(ConnectError::NotTrusted),
            Self::EveryUser => Ok(None),
        }
    }
}

/// The reason why there is no connection to an editor.
///
/// [Causes and reactions](ide_mcp::guide::errors#an-agent-finds-no-editor).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// An error of the system, or a socket that is connected to itself.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// A server of another user, or one whose owner is not found. Nothing was sent.
    #[error("{0}; trust every user only if the editor runs in a container")]
    NotTrusted(Error),
}

/// Returns the first address of a host, a name or an address without brackets, for a connection that does
/// not block. IPv4 comes before IPv6, since an editor listens on 127.0.0.1 and `localhost` also has the
/// address `::1`. The look-up of a name can take some time.
///
/// # Errors
/// The error of the system for an unknown name; [`NotFound`](io::ErrorKind::NotFound) for a name without
/// an address.
pub fn address_of(host: &str, port: u16) -> io::Result<SocketAddr> {
    let address = (host, port).to_socket_addrs()?.min_by_key(SocketAddr::is_ipv6);
    let missing = || io::Error::new(io::ErrorKind::NotFound, format!("the host {host:?} has no address"));
    address.ok_or_else(missing)
}
