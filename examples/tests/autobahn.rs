//! `ws_autobahn_client` as a process, examined by a server of two cases.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    dead_code,
    missing_docs,
    unreachable_pub,
    reason = "a test says what it expects, and waits for real processes"
)]

mod support;

use ide_mcp::{Time, ws};
use ide_mcp_blocking::Conn;
use std::net::TcpListener;
use support::Place;

/// Accepts one connection, sends it this, and gives back what it asked for and what came.
fn serve(listener: &TcpListener, send: &[&str]) -> (String, Vec<ws::OwnedEvent>) {
    let (stream, _) = listener.accept().unwrap();
    let machine = ws::Server::new(ws::Limits::default(), Time::ZERO);
    let mut conn = Conn::from_stream(stream, machine).unwrap();
    let Some(ws::OwnedEvent::Upgrade(upgrade)) = conn.next_event() else { panic!("no request to open") };
    conn.machine_mut().accept(None).unwrap();
    let target = upgrade.request().target().to_owned();
    for text in send {
        conn.machine_mut().sender().text(text).unwrap();
    }
    let expects_echo = target.starts_with("/runCase");
    let mut events = Vec::new();
    if expects_echo {
        events.extend(send.iter().map_while(|_| conn.next_event()));
    }
    conn.machine_mut().sender().close(ws::CloseCode::NORMAL, "").unwrap();
    events.extend(std::iter::from_fn(|| conn.next_event()));
    (target, events)
}

#[test]
fn it_asks_for_every_case_says_everything_back_and_has_the_report_written() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("ws://{}", listener.local_addr().unwrap());
    let mut client = Place::new("autobahn").start("ws_autobahn_client", &[&url, "us"]);

    let closed = || ws::OwnedEvent::Closed(ws::Closed::Local { clean: true });
    let text = |text: &str| ws::OwnedEvent::Text(text.into());
    let expected = [
        ("/getCaseCount", &["2"][..], vec![closed()]),
        ("/runCase?case=1&agent=us", &["a", "\u{e9}"], vec![text("a"), text("\u{e9}"), closed()]),
        ("/runCase?case=2&agent=us", &[], vec![closed()]),
        ("/updateReports?agent=us", &[], vec![closed()]),
    ];
    for (target, send, events) in expected {
        assert_eq!(serve(&listener, send), (target.to_owned(), events));
    }
    assert_eq!(client.event("finished")["cases"], 2);
    assert_eq!(client.end(), (Some(0), String::new()));
}

#[test]
fn a_server_without_cases_is_a_failure() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("ws://{}", listener.local_addr().unwrap());
    let mut client = Place::new("autobahn").start("ws_autobahn_client", &[&url, "us"]);
    serve(&listener, &["many"]);
    let (status, said) = client.end();
    assert_eq!(status, Some(1));
    assert!(said.contains("does not say how many cases"), "{said}");
}
