//! Detects a socket that is connected to itself.

use std::io::{self, ErrorKind};
use std::net::SocketAddr;

/// Refuses a connection whose two ends are the same socket. If nothing listens on a port of this machine, the
/// system may give that port to the very socket that connects to it (RFC 9293 section 3.5, simultaneous
/// open). It would receive its own bytes, and keep the port from the program that wants to listen there.
///
/// # Errors
/// [`ErrorKind::ConnectionRefused`], as for a closed port, or the error of looking up an address.
pub fn refuse_itself(local: io::Result<SocketAddr>, peer: io::Result<SocketAddr>) -> io::Result<()> {
    if local? == peer? {
        let why = "nothing listens there: the socket was connected to itself";
        return Err(io::Error::new(ErrorKind::ConnectionRefused, why));
    }
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use rustix::net::{AddressFamily, SocketType, bind, connect, getsockname, socket};
    use std::net::{Ipv4Addr, TcpListener, TcpStream};

    #[test]
    fn socket_connected_to_itself_is_refused() {
        let itself = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
        bind(&itself, &SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).unwrap();
        let addr = SocketAddr::try_from(getsockname(&itself).unwrap()).unwrap();
        connect(&itself, &addr).unwrap();
        let itself = TcpStream::from(itself);
        let refused = refuse_itself(itself.local_addr(), itself.peer_addr()).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);

        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let other = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        assert!(refuse_itself(other.local_addr(), other.peer_addr()).is_ok());
    }
}
