//! Connects to an editor: only to a server whose user we trust, and never a socket to itself.

use ide_mcp_driver::{ConnectError, Trust, refuse_itself};
use ide_mcp_lockfile::Unknown;
use std::io;
use std::net::{TcpStream, ToSocketAddrs as _};
use std::time::Duration;

/// Connects to this port of this host (address or name), checks that we trust the server, and sends nothing.
/// `timeout` applies to each address of the host. If the system does not report who owns the server, the
/// second value is the reason; show it to the person.
///
/// # Errors
/// [`ConnectError::Io`] with the error of the last address, [`TimedOut`](io::ErrorKind::TimedOut) after the
/// timeout, or the error of the system for an unknown name. [`ConnectError::NotTrusted`] for a server of
/// another user.
pub fn connect_checked(
    host: &str,
    port: u16,
    timeout: Duration,
    trust: Trust,
) -> Result<(TcpStream, Option<Unknown>), ConnectError> {
    let stream = connect_to(host, port, timeout)?;
    let unknown = trust.check(stream.local_addr(), stream.peer_addr())?;
    Ok((stream, unknown))
}

/// Connects as [`connect_checked`] does, without checking who owns the server.
pub(crate) fn connect_to(host: &str, port: u16, timeout: Duration) -> io::Result<TcpStream> {
    let mut failure = None;
    for address in (host, port).to_socket_addrs()? {
        let connected = TcpStream::connect_timeout(&address, timeout).and_then(|stream| {
            refuse_itself(stream.local_addr(), stream.peer_addr())?;
            Ok(stream)
        });
        match connected {
            Ok(stream) => return Ok(stream),
            Err(error) => failure = Some(error),
        }
    }
    Err(failure.unwrap_or_else(|| io::ErrorKind::NotFound.into()))
}
