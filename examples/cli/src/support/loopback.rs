//! Connections to an editor: to a socket of our own user, and never from a socket to itself.

use ide_mcp_driver::refuse_itself;
use ide_mcp_lockfile::{Error, Unknown, check_server};
use std::fmt;
use std::io;
use std::net::{SocketAddr, TcpStream, ToSocketAddrs as _};
use std::sync::Once;
use std::time::Duration;

use crate::support::complain;

/// The servers that a program connects to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Trust {
    /// Servers of our own user, and servers of an unknown owner; the program reports the first
    /// server of an unknown owner on standard error.
    #[default]
    OurUser,
    /// Servers of every user (`--trust-port`): the editor runs in a container, and another user
    /// forwards the port.
    Port,
}

impl Trust {
    /// Checks the owner of the server of a connection on which nothing was sent yet.
    ///
    /// # Errors
    /// [`Error::PortNotOurs`] and [`Error::PortWithoutOwner`], unless every port is trusted.
    pub(crate) fn check(
        self,
        program: &'static str,
        local: SocketAddr,
        peer: SocketAddr,
    ) -> Result<(), Error> {
        if self == Self::OurUser {
            if let Some(unknown) = check_server(local, peer)? {
                say_once(program, peer, unknown);
            }
        }
        Ok(())
    }
}

fn say_once(program: &'static str, peer: SocketAddr, unknown: Unknown) {
    static SAID: Once = Once::new();
    SAID.call_once(|| {
        complain(
            program,
            &format!("it is not known to which user {peer} belongs, and it is told the token: {unknown}"),
        );
    });
}

/// The reason why there is no connection.
#[derive(Debug)]
pub(crate) enum NotConnected {
    /// The error of the system.
    Io(io::Error),
    /// The server belongs to another user. Nothing was sent.
    NotOurs(Error),
}

impl fmt::Display for NotConnected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => error.fmt(f),
            Self::NotOurs(error) => write!(
                f,
                "{error}; if the editor runs in a container, --trust-port sends the token to whom the port belongs"
            ),
        }
    }
}

impl std::error::Error for NotConnected {}

impl From<io::Error> for NotConnected {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<Error> for NotConnected {
    fn from(error: Error) -> Self {
        Self::NotOurs(error)
    }
}

/// Connects to this port of this host for this program, if the server there is trusted. Nothing is
/// sent yet.
///
/// # Errors
/// [`NotConnected`]; [`TimedOut`](io::ErrorKind::TimedOut) if an address takes longer than
/// `at_most`.
pub(crate) fn connect_checked(
    program: &'static str,
    host: &str,
    port: u16,
    at_most: Duration,
    trust: Trust,
) -> Result<TcpStream, NotConnected> {
    let stream = connect_to(host, port, at_most)?;
    trust.check(program, stream.local_addr()?, stream.peer_addr()?)?;
    Ok(stream)
}

/// Connects to a port of a host (address or name), and refuses a connection of the socket to
/// itself. `at_most` applies to each address. The owner of the server is not checked.
///
/// # Errors
/// The error of the last address, [`TimedOut`](io::ErrorKind::TimedOut) after `at_most`, or the
/// system's error for an unknown name.
fn connect_to(host: &str, port: u16, at_most: Duration) -> io::Result<TcpStream> {
    let mut failure = no_address(host);
    for address in (host, port).to_socket_addrs()? {
        let connected = TcpStream::connect_timeout(&address, at_most).and_then(|stream| {
            refuse_itself(stream.local_addr(), stream.peer_addr())?;
            Ok(stream)
        });
        match connected {
            Ok(stream) => return Ok(stream),
            Err(error) => failure = error,
        }
    }
    Err(failure)
}

/// Returns the first address of a host, IPv4 before IPv6, for a connection that does not block.
/// Looking up a name can take some time.
///
/// # Errors
/// The system's error for an unknown name; [`NotFound`](io::ErrorKind::NotFound) for a name without
/// an address.
pub(crate) fn address_of(host: &str, port: u16) -> io::Result<SocketAddr> {
    // An editor listens on 127.0.0.1, so `::1` is the worse address of localhost.
    (host, port).to_socket_addrs()?.min_by_key(SocketAddr::is_ipv6).ok_or_else(|| no_address(host))
}

fn no_address(host: &str) -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, format!("the host {host:?} has no address"))
}
