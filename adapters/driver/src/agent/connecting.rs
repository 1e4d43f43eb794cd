//! What we check about an editor before we send it the first byte.

use crate::socket::refuse_itself;
use ide_mcp_lockfile::{Error, Unknown, check_server};
use std::io;
use std::net::{SocketAddr, ToSocketAddrs as _};

/// Which servers an agent trusts with its token.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Trust {
    /// Servers of our own user, and those whose owner the system does not report.
    #[default]
    OurUser,
    /// Servers of any user. You need this when the editor runs in a container and another user forwards its
    /// port.
    EveryUser,
}

impl Trust {
    /// Checks the server before you send anything: the socket must not be connected to itself, and we must
    /// trust the user who owns the other end. `local` and `peer` are the two addresses of the socket. When
    /// the system does not report the owner, you get the reason; show it to the person.
    ///
    /// # Errors
    /// [`ConnectError::Io`] for a socket that is connected to itself or has no address, and
    /// [`ConnectError::NotTrusted`] for a server of another user. Send nothing then.
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

/// Why there is no connection to an editor.
///
/// [Causes and reactions](ide_mcp::guide::errors#an-agent-finds-no-editor).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// An error of the system, or a socket that is connected to itself.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The server belongs to another user, or its owner was not found. Nothing was sent.
    #[error("{0}; trust every user only if the editor runs in a container")]
    NotTrusted(Error),
}

/// Returns the first address of a host, so that you can connect without blocking. The host is a name or an
/// address without brackets, and looking up a name can take a while. IPv4 comes first: an editor listens on
/// 127.0.0.1, and `localhost` is often `::1` too.
///
/// # Errors
/// The system's error for an unknown name, and [`NotFound`](io::ErrorKind::NotFound) for a name without an
/// address.
pub fn address_of(host: &str, port: u16) -> io::Result<SocketAddr> {
    let address = (host, port).to_socket_addrs()?.min_by_key(SocketAddr::is_ipv6);
    let missing = || io::Error::new(io::ErrorKind::NotFound, format!("the host {host:?} has no address"));
    address.ok_or_else(missing)
}
