//! Connecting to an editor.

use ide_mcp::ide::client_env::LOOPBACK;
use ide_mcp_link::refuse_itself;
use std::io;
use std::net::{SocketAddr, TcpStream, ToSocketAddrs as _};
use std::time::Duration;

/// Connects to this port of 127.0.0.1, unless it finds but itself there.
///
/// # Errors
/// Whatever the system reports; [`TimedOut`](io::ErrorKind::TimedOut) where it takes longer than that.
pub fn connect(port: u16, at_most: Duration) -> io::Result<TcpStream> {
    connect_to(LOOPBACK, port, at_most)
}

/// Connects to a port of a host (address or name), and refuses a connection of the socket to itself. `at_most`
/// applies to each address.
///
/// # Errors
/// Those of [`connect`] for the last address, and the system's error for an unknown name.
pub fn connect_to(host: &str, port: u16, at_most: Duration) -> io::Result<TcpStream> {
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

/// Returns the first address of a host, for a connection that must not wait. Looking up a name can take some time.
///
/// # Errors
/// The system's error for an unknown name; [`NotFound`](io::ErrorKind::NotFound) for a name without an address.
pub fn address_of(host: &str, port: u16) -> io::Result<SocketAddr> {
    (host, port).to_socket_addrs()?.next().ok_or_else(|| no_address(host))
}

fn no_address(host: &str) -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, format!("the host {host:?} has no address"))
}
