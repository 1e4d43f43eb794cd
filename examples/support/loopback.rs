//! Connecting to a port of this machine.

use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::Duration;

/// Connects to this port of 127.0.0.1.
///
/// A port that nobody listens on may be given to the very socket that connects to it, which then talks to itself and
/// keeps who should listen from doing so. That is a refusal here.
///
/// # Errors
/// Whatever the system reports; [`ErrorKind::TimedOut`] where it takes longer than that.
pub fn connect(port: u16, at_most: Duration) -> io::Result<TcpStream> {
    let stream = TcpStream::connect_timeout(&SocketAddr::from((Ipv4Addr::LOCALHOST, port)), at_most)?;
    if is_itself(&stream)? { Err(ErrorKind::ConnectionRefused.into()) } else { Ok(stream) }
}

fn is_itself(stream: &TcpStream) -> io::Result<bool> {
    Ok(stream.local_addr()? == stream.peer_addr()?)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use rustix::net::{AddressFamily, SocketType, bind, connect as connect_to, getsockname, socket};
    use std::net::TcpListener;

    #[test]
    fn a_socket_that_talks_to_itself_has_found_nobody() {
        let itself = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
        bind(&itself, &SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).unwrap();
        let addr = SocketAddr::try_from(getsockname(&itself).unwrap()).unwrap();
        connect_to(&itself, &addr).unwrap();
        assert!(is_itself(&TcpStream::from(itself)).unwrap());

        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        assert!(!is_itself(&connect(port, Duration::from_secs(5)).unwrap()).unwrap());
    }
}
