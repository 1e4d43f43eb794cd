//! An open WebSocket server, alone or joined to a client by links without delay; and helpers for one pass of a
//! machine.

use super::frames::HEAD;
use ide_mcp::testing::{Pair, Random, pass, pass_with};
use ide_mcp::ws::{self, ClientRequest, OwnedEvent};
use ide_mcp::{Machine, Time};

/// Returns an open server that has written its answer to the request.
pub fn server(limits: ws::Limits, now: Time) -> ws::Server {
    let mut server = ws::Server::new(limits, now);
    server.feed(now, HEAD.as_bytes());
    let passed = pass_with(&mut server, now, usize::MAX, |server, _| server.accept(None).unwrap());
    assert!(matches!(passed.events[..], [OwnedEvent::Upgrade(_)]));
    server
}

/// Returns both roles with an open connection at `now`, and no events.
pub fn open(limits: &ws::Limits, now: Time) -> Pair<ws::Server, ws::Client> {
    let server = ws::Server::new(limits.clone(), now);
    let client =
        ws::Client::new(ClientRequest::new("h"), Random::new(1).source(), limits.clone(), now).unwrap();
    let mut pair = Pair::new(server, client, now);
    pair.settle_with(
        |server, event| {
            if matches!(event, OwnedEvent::Upgrade(_)) {
                server.accept(None).unwrap();
            }
        },
        |_, _| {},
    );
    assert!(pair.server.is_open() && pair.client.is_open());
    pair.server_events.clear();
    pair.client_events.clear();
    pair
}

/// Returns the events of a pass at [`Time::ZERO`], the only time of many tests, without room in the socket.
pub fn drain<M: Machine<Conn = ()>>(machine: &mut M) -> Vec<M::Event> {
    pass(machine, Time::ZERO, 0).events
}

/// Returns the bytes that a machine would write at [`Time::ZERO`].
pub fn waiting(machine: &mut impl Machine<Conn = ()>) -> Vec<u8> {
    pass(machine, Time::ZERO, 0).unwritten_bytes()
}

/// Lets the socket take at most `n` bytes at [`Time::ZERO`].
pub fn write(machine: &mut impl Machine<Conn = ()>, n: usize) -> Vec<u8> {
    pass(machine, Time::ZERO, n).written_bytes()
}

/// Returns the events of a pass at this time, and whether the connection was closed.
pub fn at<M: Machine<Conn = ()>>(machine: &mut M, now: Time) -> (Vec<M::Event>, bool) {
    let passed = pass(machine, now, 0);
    (passed.events, !passed.closed.is_empty())
}
