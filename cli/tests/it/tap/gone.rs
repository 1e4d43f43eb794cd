//! An editor that has ended. If it had an ephemeral port, the kernel can give the port to a client
//! socket.

use super::HEAD;
use super::programs::{Tap, editor};
use crate::support::{Editor, Place};
use rustix::net::{Shutdown, shutdown};
use serde_json::json;
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};

/// Binds a listener to an even port. Linux prefers even ports for `connect` and odd ports for `bind`.
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

/// Connects until the kernel is likely to give the port of the listener to one of the next
/// connections.
fn approach(listener: &TcpListener) {
    let address = listener.local_addr().unwrap();
    // Linux goes through the ports in small steps, and this count covers them several times. Other
    // systems can give ports in any order.
    for _ in 0..30_000 {
        let here = TcpStream::connect(address).unwrap();
        let (there, _) = listener.accept().unwrap();
        let before = address.port().wrapping_sub(here.local_addr().unwrap().port());
        // The end that closes first keeps its port for a while, so the client closes first.
        drop(here);
        drop(there);
        if (1..=16).contains(&before) {
            return;
        }
    }
}

#[test]
fn tap_does_not_connect_to_itself() {
    let place = Place::new("tap-itself");
    let mut listener = even_listener();
    let port = listener.local_addr().unwrap().port();
    place.publish(port, &json!({}));
    let mut tap = Tap::start(&place, &port.to_string(), "t.jsonl");
    // Without the check, a tap connects to itself in one round of five.
    for round in 0..12 {
        approach(&listener);
        // A process that another test starts can inherit the listener for a moment, and would keep
        // it open.
        let _ = shutdown(&listener, Shutdown::Both);
        drop(listener);
        for _ in 0..8 {
            let mut agent = TcpStream::connect(("127.0.0.1", tap.port)).unwrap();
            agent.write_all(HEAD).unwrap();
            let mut status = [0; 12];
            agent.read_exact(&mut status).unwrap();
            assert_eq!(status, *b"HTTP/1.1 502", "round {round}: {}", String::from_utf8_lossy(&status));
        }
        listener = match TcpListener::bind(("127.0.0.1", port)) {
            Ok(listener) => listener,
            // The tap connected to itself and refused that connection, which keeps the port for a
            // while.
            Err(error) if error.kind() == ErrorKind::AddrInUse => break,
            Err(error) => panic!("{error}"),
        };
    }
    tap.stop();
}

/// After a restart the editor has another port, which the tap does not know.
#[test]
fn tap_ends_after_its_editor() {
    let ends: [(&str, fn(&mut Editor)); 2] =
        [("quits", |editor| editor.send_line(r#"{"cmd":"quit"}"#)), ("dies", |editor| editor.kill())];
    for (name, end) in ends {
        let place = Place::new("tap-after");
        let (mut first, port, _) = editor(&place, &[]);
        let mut tap = Tap::start(&place, &port, "t.jsonl");
        end(&mut first);
        first.end();
        assert_eq!(tap.agent(&place, &["tools"]).end().0, Some(1), "{name}");
        let (status, output) = tap.process.end();
        assert_eq!(status, Some(0), "{name}: {output}");
        assert!(output.contains("the editor is gone"), "{name}: {output}");
        assert!(!tap.lock.exists(), "{name}: the lock file is left behind");
    }
}
