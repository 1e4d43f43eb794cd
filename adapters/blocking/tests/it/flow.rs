//! Two ends that both send more than the high-water mark.

use crate::sockets::{accept, client};
use ide_mcp::{Machine, ws};
use ide_mcp_blocking::Conn;
use std::net::TcpListener;
use std::thread;
use std::time::Duration;

/// Runs a connection to its end. Returns the lengths of the received binary messages, and how the
/// connection ended.
fn exchange<M: Machine<Event = ws::OwnedEvent, Conn = ()>>(
    mut conn: Conn<M>,
    mut on_open: impl FnMut(&mut M),
    mut on_binary: impl FnMut(&mut M),
) -> (Vec<usize>, Option<ws::Closed>) {
    let (mut lens, mut end) = (Vec::new(), None);
    while let Some(event) = conn.next_event() {
        match event {
            ws::OwnedEvent::Upgrade(_) | ws::OwnedEvent::Open { .. } => on_open(conn.machine_mut()),
            ws::OwnedEvent::Binary(bytes) => {
                assert_eq!(bytes, payload(bytes.len()), "bytes are lost, doubled, or in another order");
                lens.push(bytes.len());
                on_binary(conn.machine_mut());
            }
            ws::OwnedEvent::Closed(closed) => end = Some(closed),
            _ => {}
        }
    }
    (lens, end)
}

fn payload(len: usize) -> Vec<u8> {
    (0..=250).cycle().take(len).collect()
}

#[test]
fn both_ends_send_more_than_the_mark() {
    // The client stops reading for so many milliseconds once it has begun to send.
    for (mib, stops) in [(9_usize, 0), (16, 0), (24, 3_000), (40, 0)] {
        let len = mib << 20;
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let addr = listener.local_addr().unwrap();
        let server = thread::spawn(move || {
            exchange(
                accept(&listener, ws::Limits::default()),
                |server| {
                    server.accept(None).unwrap();
                    server.sender().binary(&payload(len)).unwrap();
                },
                |_| {},
            )
        });
        let sends = |client: &mut ws::Client| {
            client.sender().binary(&payload(len)).unwrap();
            thread::sleep(Duration::from_millis(stops));
        };
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
