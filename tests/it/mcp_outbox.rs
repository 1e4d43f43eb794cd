//! What a session hands to its outbox: which request each message answers, and how calls end if the outbox is closed.

use crate::mcp_support::{Bench, INITIALIZE, INITIALIZED, TestTools, config};
use ide_mcp::{
    Outbox, Time, To,
    mcp::{Client, ClientConfig, Implementation, Server, Timeout, ToolResult},
    rpc::{NotAnswered, NotSent, SessionId},
};

/// An outbox that records, for each message, the spelling of the id that the message answers, or a
/// dash.
#[derive(Default)]
struct Places(Vec<String>);

impl Outbox for Places {
    fn message(&mut self, to: To<'_>, write: impl FnOnce(&mut Vec<u8>)) -> Result<(), NotSent> {
        let (mut text, mut place) = (Vec::new(), Vec::new());
        write(&mut text);
        match to {
            To::Answer(id) => id.write(&mut place),
            To::Unsolicited | _ => place.push(b'-'),
        }
        if !text.is_empty() {
            self.0.push(String::from_utf8(place).unwrap());
        }
        Ok(())
    }

    fn is_full(&self) -> bool {
        false
    }
}

#[test]
fn message_names_the_request_it_answers() {
    let cases: &[(&str, &str, &[&str])] = &[
        ("initialize", INITIALIZE, &["0"]),
        ("ping", r#"{"jsonrpc":"2.0","id":"a","method":"ping"}"#, &["\"a\""]),
        ("unknown", r#"{"jsonrpc":"2.0","id":7.0,"method":"x"}"#, &["7.0"]),
        ("no such tool", r#"{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"x"}}"#, &["8"]),
        ("no request", r#"{"jsonrpc":"2.0","id":9,"method":"ping","params":[]}"#, &["9"]),
        ("a call", r#"{"jsonrpc":"2.0","id":10,"method":"tools/call","params":{"name":"plain"}}"#, &[]),
        ("notification", INITIALIZED, &[]),
    ];
    let mut server = Server::new(config(), TestTools::default(), SessionId::new(1));
    let mut out = Places::default();
    let mut call = None;
    for (name, text, places) in cases {
        server.receive(Time::ZERO, text, &mut out);
        while let Some(event) = server.poll(Time::ZERO, &mut out) {
            if let ide_mcp::mcp::ServerEvent::Call { call: open, .. } = event {
                call = Some(open);
            }
        }
        assert_eq!(std::mem::take(&mut out.0), *places, "{name}");
    }
    server.request("roots/list", None::<&()>, Timeout::Default, &mut out).unwrap();
    server.notify("n", None::<&()>, &mut out).unwrap();
    server.respond(call.unwrap(), &ToolResult::text("x"), &mut out).unwrap();
    assert_eq!(out.0, ["-", "-", "10"]);
}

#[test]
fn batch_of_answers_names_the_first_request() {
    let mut server = Server::new(config(), TestTools::default(), SessionId::new(1));
    let mut out = Places::default();
    server.receive(Time::ZERO, &INITIALIZE.replace("2025-11-25", "2025-03-26"), &mut out);
    let batch = r#"[{"jsonrpc":"2.0","id":3,"method":"ping"},{"jsonrpc":"2.0","id":4,"method":"ping"}]"#;
    server.receive(Time::ZERO, batch, &mut out);
    assert_eq!(out.0, ["0", "3"]);
}

#[test]
fn closed_outbox_leaves_calls_open() {
    let mut bench = Bench::ready();
    let (plain, never) = (bench.call("1", "plain"), bench.call("2", "never"));
    bench.out.closed = true;
    let result = ToolResult::text("late");
    assert_eq!(bench.server.respond(plain, &result, &mut bench.out), Err(NotAnswered::Closed));
    let raw = bench.server.respond_with(plain, &result, &mut bench.out);
    assert_eq!(raw, Err(NotAnswered::Closed));
    assert_eq!(bench.server.fail(plain, "late", &mut bench.out), Err(NotAnswered::Closed));
    assert!(bench.server.is_open(plain) && bench.server.is_open(never));
    let pending = bench.server.request("roots/list", None::<&()>, Timeout::Default, &mut bench.out);
    assert_eq!(pending, Err(NotSent::Closed));
    assert_eq!(bench.server.notify("n", None::<&()>, &mut bench.out), Err(NotSent::Closed));
    assert_eq!(bench.server.open_requests(), 0);
    bench.server.close();
    assert_eq!(bench.events(), ["ended Closed", "ended Closed"]);
    assert_eq!(bench.out.take(), [""; 0]);
}

#[test]
fn calls_end_as_closed_if_the_outbox_is_closed() {
    let mut bench = Bench::ready();
    let _ = bench.call("1", "soon");
    let _ = bench.call("2", "never");
    bench.out.closed = true;
    assert_eq!(bench.at(400).0, ["ended Closed"], "expired, and not answered");
    bench.server.shutdown("the editor shuts down", &mut bench.out);
    assert_eq!(bench.events(), ["ended Closed"], "shut down, and not answered");
}

#[test]
fn closed_outbox_counts_no_ping() {
    let mut bench = Bench::pinging();
    bench.out.closed = true;
    assert_eq!(bench.at(5_000), (vec![], vec![]));
    assert_eq!((bench.server.open_requests(), bench.server.deadline()), (0, Some(Time::from_millis(10_000))));
}

#[test]
fn client_that_cannot_send_does_not_start() {
    let mut client = Client::new(ClientConfig::new(Implementation::new("agent", "1")), SessionId::new(1));
    let mut out = crate::mcp_support::Messages { closed: true, ..Default::default() };
    assert_eq!(client.start(Time::ZERO, &mut out), Err(NotSent::Closed));
    out.closed = false;
    client.start(Time::ZERO, &mut out).unwrap();
    assert_eq!(out.take().len(), 1);
}
