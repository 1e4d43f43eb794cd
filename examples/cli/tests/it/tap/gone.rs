//! An editor that is gone, and whose port is one of those that the system gives to whoever connects.

use super::programs::Tap;
use super::{HEAD, publish};
use crate::support::Place;
use rustix::net::{Shutdown, shutdown};
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};

/// Linux gives even ports to those that connect, and odd ones to those that listen.
fn even_listener() -> TcpListener {
    loop {
        let any = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        if let Some(listener) =
            (any & !1).checked_add(2).and_then(|even| TcpListener::bind(("127.0.0.1", even)).ok())
        {
            return listener;
        }
    }
}

/// Connects until the next port that is given is likely to be the one that is listened on.
fn approach(listener: &TcpListener) {
    let address = listener.local_addr().unwrap();
    // It goes round in steps of a few, so this is several times round; elsewhere than on Linux it may be in no order.
    for _ in 0..30_000 {
        let here = TcpStream::connect(address).unwrap();
        let (there, _) = listener.accept().unwrap();
        let before = address.port().wrapping_sub(here.local_addr().unwrap().port());
        // Whoever ends first keeps the port for a while.
        drop(here);
        drop(there);
        if (1..=16).contains(&before) {
            return;
        }
    }
}

#[test]
fn a_tap_does_not_take_itself_for_the_editor() {
    let place = Place::new("tap-itself");
    let mut listener = even_listener();
    let port = listener.local_addr().unwrap().port();
    publish(&place, port);
    let mut tap = Tap::start(&place, &port.to_string(), "t.jsonl");
    // One round in five meets itself where it does not take care.
    for round in 0..12 {
        approach(&listener);
        // A process that another test starts has it too for a moment, and would listen on.
        let _ = shutdown(&listener, Shutdown::Both);
        drop(listener);
        for _ in 0..8 {
            let mut agent = TcpStream::connect(("127.0.0.1", tap.port)).unwrap();
            agent.write_all(HEAD).unwrap();
            let mut heard = [0; 12];
            agent.read_exact(&mut heard).unwrap();
            assert_eq!(heard, *b"HTTP/1.1 502", "round {round}: {}", String::from_utf8_lossy(&heard));
        }
        listener = match TcpListener::bind(("127.0.0.1", port)) {
            Ok(listener) => listener,
            // What was connected to itself keeps the port for a while: so it was, and was refused.
            Err(error) if error.kind() == ErrorKind::AddrInUse => break,
            Err(error) => panic!("{error}"),
        };
    }
    tap.stop();
}
