//! Any bytes as the head of a request or of a response.

use super::{check_display, outcome_of_any_cut};
use crate::support::frames::head_len;
use crate::support::laws::Subject as _;
use crate::support::sockets::{WsClient, WsServer};
use ide_mcp::Time;
use ide_mcp::testing::{Random, pass};
use ide_mcp::ws::{Client, ClientRequest, Closed, HeaderField, Limits, OwnedEvent, Request, Server};
use tungstenite::handshake::machine::TryParse as _;
use tungstenite::handshake::server;

/// Checks that an accepted request has a valid key, and that tungstenite accepts the request with
/// the same answer. Every other request is refused in a complete HTTP response.
pub fn handshake_server(data: &[u8]) {
    let found = outcome_of_any_cut(&WsServer, &[data], 0);
    check_display(&found.events);
    match found.events.first() {
        Some(OwnedEvent::Upgrade(upgrade)) => {
            let request = upgrade.request();
            assert!(request.target().starts_with('/'));
            assert_eq!(
                request.fields().filter(|field| field.0.eq_ignore_ascii_case(b"sec-websocket-key")).count(),
                1
            );
            assert!(found.output.starts_with(b"HTTP/1.1 101 "), "an accepted request gets another answer");
            let answered = contains(&found.output, b"\r\nSec-WebSocket-Protocol: mcp\r\n");
            assert_eq!(answered, request.offers("mcp"), "the sub-protocol that was offered, and no other");
            assert_eq!(
                request.has("Sec-WebSocket-Protocol"),
                request.single("sec-websocket-protocol") != HeaderField::Absent
            );
            if let Some(proof) = their_proof(&data[..head_len(data)], request) {
                assert!(contains(&found.output, &proof), "the accept key differs from that of tungstenite");
            }
        }
        Some(OwnedEvent::Closed(Closed::Refused(refusal))) => {
            let shown = refusal.to_string();
            let status = shown.split_once(": ").map_or(&*shown, |(status, _)| status);
            let line = format!("HTTP/1.1 {status}\r\nConnection: close\r\n");
            assert!(found.output.starts_with(line.as_bytes()));
            assert_eq!(found.events.len(), 1, "a refusal is the only event");
        }
        Some(OwnedEvent::Closed(Closed::Abnormal)) | None => assert_eq!(found.output, b""),
        other => panic!("{other:?}"),
    }
}

/// Checks that only a 101 response with the accept key of the request opens the connection, and that a server accepts
/// every request that a client can be configured to send.
pub fn handshake_client(data: &[u8]) {
    client_handshake(data);
    let found = outcome_of_any_cut(&WsClient, &[data], 0);
    check_display(&found.events);
    if matches!(found.events.first(), Some(OwnedEvent::Open { .. })) {
        let answer = last_answer(data);
        assert!(answer.starts_with(b"HTTP/1.1 101"), "opened by another status");
        let good = WsClient.opening();
        let proof = good.windows(29).find(|bytes| bytes.ends_with(b"=")).unwrap();
        assert!(contains(&answer[..head_len(answer)], proof.trim_ascii()), "opened without the accept key");
    } else {
        let ended = matches!(
            found.events.as_slice(),
            [OwnedEvent::Closed(Closed::NotAccepted(_) | Closed::Abnormal)]
        );
        assert!(ended, "{:?}", found.shown);
    }
}

/// Returns the bytes from the status line of the final answer on: after an empty line and interim answers.
fn last_answer(data: &[u8]) -> &[u8] {
    let answer = data.strip_prefix(b"\r\n").or_else(|| data.strip_prefix(b"\n")).unwrap_or(data);
    if answer.starts_with(b"HTTP/1.1 1") && !answer.starts_with(b"HTTP/1.1 101") {
        return last_answer(&answer[head_len(answer)..]);
    }
    answer
}

/// Sends a request that is made of the parts between line feeds: a target, a sub-protocol, the name and the value of a
/// field, and last the host.
fn client_handshake(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let mut parts = text.splitn(5, '\n');
    let [target, subprotocol, name, value, host] = std::array::from_fn(|_| parts.next().unwrap_or_default());
    let ask = ClientRequest::new(host)
        .target(target)
        .subprotocol("mcp")
        .subprotocol(subprotocol)
        .field(name, value);
    assert!(!format!("{ask:?}").is_empty());
    let mut client = match Client::new(ask, Random::new(1).source(), Limits::default(), Time::ZERO) {
        Ok(client) => client,
        Err(invalid) => return assert!(!invalid.to_string().is_empty()),
    };
    let mut server = Server::new(Limits::default(), Time::ZERO);
    server.feed(Time::ZERO, &pass(&mut client, Time::ZERO, usize::MAX).written_bytes());
    match pass(&mut server, Time::ZERO, 0).events.first() {
        Some(OwnedEvent::Upgrade(upgrade)) => {
            let request = upgrade.request();
            assert_eq!(request.target(), target);
            assert!(request.offers("mcp") && request.offers(subprotocol));
        }
        // The configured request repeats a field, or is longer than servers accept.
        Some(OwnedEvent::Closed(Closed::Refused(_))) => {}
        other => panic!("{other:?}"),
    }
}

/// Returns the accept key in tungstenite's answer to this head. Returns `None` for heads that RFC 9110 allows and
/// tungstenite refuses: some characters in targets and values, and `Upgrade` and `Connection` in several fields, with
/// other protocols, with tabs or with characters above ASCII.
fn their_proof(head: &[u8], request: Request<'_>) -> Option<Vec<u8>> {
    let plain = |name| matches!(request.single(name), HeaderField::One(value) if value.is_ascii() && !value.contains(&b'\t'));
    let alone = matches!(request.single("upgrade"), HeaderField::One(value) if value.eq_ignore_ascii_case(b"websocket"));
    if !alone || !plain("connection") {
        return None;
    }
    let (_, theirs) = server::Request::try_parse(head).ok().flatten()?;
    let answer = server::create_response(&theirs).expect("tungstenite accepts it too");
    Some(answer.headers()["sec-websocket-accept"].as_bytes().to_vec())
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}
