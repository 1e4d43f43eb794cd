//! Two ends that both send more than the high-water mark.

use crate::sockets::{accept, client};
use ide_mcp::{Machine, Wire, ws};
use ide_mcp_blocking::Conn;
use std::net::TcpListener;
use std::thread;

/// Runs a connection to its end. Returns the lengths of the received binary messages, and how the
/// connection ended.
fn exchange<M: Machine<Event = ws::OwnedEvent> + Wire>(
    mut conn: Conn<M>,
    mut on_open: impl FnMut(&mut M),
    mut on_binary: impl FnMut(&mut M),
) -> (Vec<usize>, Option<ws::Closed>) {
    let (mut lens, mut end) = (Vec::new(), None);
    while let Some(event) = conn.next_event() {
        match event {
            ws::OwnedEvent::Upgrade(_) | ws::OwnedEvent::Open { .. } => on_open(conn.machine_mut()),
            ws::OwnedEvent::Binary(bytes) => {
                lens.push(bytes.len());
                on_binary(conn.machine_mut());
            }
            ws::OwnedEvent::Closed(closed) => end = Some(closed),
            _ => {}
        }
    }
    (lens, end)
}

#[test]
fn both_ends_send_more_than_the_mark() {
    for mib in [9_usize, 16, 24, 40] {
        let len = mib << 20;
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let addr = listener.local_addr().unwrap();
        let server = thread::spawn(move || {
            exchange(
                accept(&listener, ws::Limits::default()),
                |server| {
                    server.accept(None).unwrap();
                    server.sender().binary(&vec![1; len]).unwrap();
                },
                |_| {},
            )
        });
        let sends = |client: &mut ws::Client| client.sender().binary(&vec![2; len]).unwrap();
        let closes = |client: &mut ws::Client| {
            client.sender().close(ws::CloseCode::NORMAL, "").unwrap();
        };
        let (lens, end) = exchange(client(addr), sends, closes);
        assert_eq!((lens, end), (vec![len], Some(ws::Closed::Local { clean: true })), "{mib} MiB");
        let (lens, end) = server.join().unwrap();
        assert_eq!(lens, [len], "{mib} MiB");
        assert!(matches!(end, Some(ws::Closed::Remote { .. })), "{mib} MiB: {end:?}");
    }
}
