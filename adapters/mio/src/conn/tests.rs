//! States that a test outside this crate cannot set up.

use super::*;
use ide_mcp::ws::{Client, ClientRequest, Closed, Limits, OwnedEvent};
use mio::{Events, Poll};
use rustix::net::{AddressFamily, SocketType, bind, connect, getsockname, socket};
use std::net::{Ipv4Addr, TcpStream as Std};

#[test]
fn socket_connected_to_itself_is_refused() {
    let itself = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
    bind(&itself, &SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).unwrap();
    connect(&itself, &SocketAddr::try_from(getsockname(&itself).unwrap()).unwrap()).unwrap();
    let stream = Std::from(itself);
    stream.set_nonblocking(true).unwrap();
    let (link, request) = (Link::connecting(TcpStream::from_std(stream)), ClientRequest::new("127.0.0.1:1"));
    let machine = Client::new(request, getrandom::fill, Limits::default(), Time::ZERO).unwrap();
    let (mut poll, mut events) = (Poll::new().unwrap(), Events::with_capacity(8));
    let mut conn = Conn::register(link, machine, poll.registry(), Token(0), true).unwrap();
    poll.poll(&mut events, None).unwrap();
    for event in &events {
        assert!(conn.handle_event(event));
    }
    assert_eq!(conn.next_event(Time::ZERO), Some(OwnedEvent::Closed(Closed::Abnormal)));
    assert_eq!(conn.next_event(Time::ZERO), None);
    assert!(conn.is_over());
    assert_eq!(conn.error().map(io::Error::kind), Some(io::ErrorKind::ConnectionRefused));
}
