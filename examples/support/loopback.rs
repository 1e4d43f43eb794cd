//! Connecting to a port of this machine.

use ide_mcp_link::refuse_itself;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::Duration;

/// Connects to this port of 127.0.0.1, unless it finds but itself there.
///
/// # Errors
/// Whatever the system reports; [`TimedOut`](io::ErrorKind::TimedOut) where it takes longer than that.
pub fn connect(port: u16, at_most: Duration) -> io::Result<TcpStream> {
    let stream = TcpStream::connect_timeout(&SocketAddr::from((Ipv4Addr::LOCALHOST, port)), at_most)?;
    refuse_itself(stream.local_addr(), stream.peer_addr())?;
    Ok(stream)
}
