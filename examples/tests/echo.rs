//! `ws_echo` as a process, with either adapter.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    clippy::wildcard_enum_match_arm,
    dead_code,
    missing_docs,
    unreachable_pub,
    reason = "a test says what it expects, and waits for real processes"
)]

mod support;

use getrandom::SysRng;
use ide_mcp::{Time, ws};
use ide_mcp_blocking::Conn;
use support::{Place, Process};

const ADAPTERS: [&str; 2] = ["mio", "blocking"];

/// The process, listening, and its port.
fn echo(adapter: &str) -> (Process, u16) {
    let mut echo =
        Place::new("echo").start("ws_echo", &["--port", "0", "--subprotocol", "mcp", "--adapter", adapter]);
    let port = echo.event("listening")["port"].as_u64().unwrap();
    (echo, port.try_into().unwrap())
}

fn client(port: u16, ask: ws::ClientRequest) -> Conn<ws::Client> {
    let machine = ws::Client::new(ask, SysRng, ws::Limits::default(), Time::ZERO).unwrap();
    Conn::connect(("127.0.0.1", port), machine).unwrap()
}

fn open(conn: &mut Conn<ws::Client>, subprotocol: Option<&str>) {
    assert_eq!(conn.next_event(), Some(ws::OwnedEvent::Open { subprotocol: subprotocol.map(Into::into) }));
}

#[test]
fn everything_comes_back_on_every_connection() {
    for adapter in ADAPTERS {
        let (_echo, port) = echo(adapter);
        for offers in [true, false] {
            let mut ask = ws::ClientRequest::new(format!("127.0.0.1:{port}"));
            if offers {
                ask = ask.subprotocol("other").subprotocol("mcp");
            }
            let mut conn = client(port, ask);
            open(&mut conn, offers.then_some("mcp"));
            let (text, bytes) = ("schön ".repeat(100_000), vec![0xfe; 3 << 20]);
            conn.machine_mut().sender().text(&text).unwrap();
            conn.machine_mut().sender().binary(&bytes).unwrap();
            let what = format!("{adapter}, offering: {offers}");
            assert!(conn.next_event() == Some(ws::OwnedEvent::Text(text)), "{what}");
            assert!(conn.next_event() == Some(ws::OwnedEvent::Binary(bytes)), "{what}");
            conn.machine_mut().sender().close(ws::CloseCode::NORMAL, "").unwrap();
            let expected = ws::OwnedEvent::Closed(ws::Closed::Local { clean: true });
            assert_eq!(conn.next_event(), Some(expected), "{what}");
            assert_eq!(conn.next_event(), None, "{what}");
        }
    }
}

#[test]
#[cfg(unix)]
fn a_signal_ends_it_with_a_word_to_everyone() {
    for adapter in ADAPTERS {
        let (mut echo, port) = echo(adapter);
        let mut clients: Vec<_> =
            (0..3).map(|_| client(port, ws::ClientRequest::new(format!("127.0.0.1:{port}")))).collect();
        for conn in &mut clients {
            open(conn, None);
        }
        // This one has not come in, and does not keep the others waiting.
        let _silent = std::net::TcpStream::connect(("127.0.0.1", port)).unwrap();
        echo.terminate();
        for conn in &mut clients {
            let code = Some(ws::CloseCode::GOING_AWAY);
            let expected = ws::OwnedEvent::Closed(ws::Closed::Remote { code, reason: "".into() });
            assert_eq!(conn.next_event(), Some(expected), "{adapter}");
            assert_eq!(conn.next_event(), None, "{adapter}");
        }
        assert_eq!(echo.end(), (Some(0), String::new()), "{adapter}");
        assert!(std::net::TcpStream::connect(("127.0.0.1", port)).is_err(), "{adapter}: still listening");
    }
}
