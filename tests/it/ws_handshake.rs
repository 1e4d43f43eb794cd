//! The opening handshake of `ws`, both roles: RFC 6455 section 4, the limits of a head, and
//! timeouts.
//!
//! The rules for a single head are tables beside the function that judges it. The tests here feed
//! heads as a transport delivers them: in pieces, too long, too slow, with bytes after them.

use crate::support::frames::{HEAD, head_len, masked};
use crate::support::joined::{at, drain, waiting, write};
use crate::support::{cost, cuts, frames};
use ide_mcp::Time;
use ide_mcp::testing::{Random, pass, pass_with};
use ide_mcp::ws::{self, Closed, NotAccepted, OwnedEvent, Refusal, SendError, Status};

/// Feeds a server these pieces. Returns the status code of its answer (0 without an answer) and its
/// events.
fn server_with<'a>(
    limits: &ws::Limits,
    pieces: impl IntoIterator<Item = &'a [u8]>,
) -> (u32, Vec<OwnedEvent>) {
    let mut server = ws::Server::new(limits.clone(), Time::ZERO);
    let mut events = Vec::new();
    for piece in pieces {
        let mut rest = piece;
        while server.wants_input() && !rest.is_empty() {
            let space = server.space();
            let n = space.len().min(rest.len());
            space[..n].copy_from_slice(&rest[..n]);
            rest = &rest[n..];
            server.filled(Time::ZERO, n);
            poll(&mut server, &mut events);
        }
    }
    poll(&mut server, &mut events);
    let output = waiting(&mut server);
    let output = String::from_utf8_lossy(&output);
    let line = output.lines().next().unwrap_or("HTTP/1.1 0");
    (line.split(' ').nth(1).unwrap().parse().unwrap(), events)
}

fn poll(server: &mut ws::Server, events: &mut Vec<OwnedEvent>) {
    let passed = pass_with(server, Time::ZERO, 0, |server, event| {
        if matches!(event, OwnedEvent::Upgrade(_)) {
            server.accept(None).unwrap();
        }
    });
    events.extend(passed.events);
}

/// Checks that a server that accepts gives the same answer under every cut of the bytes. Returns
/// the status code.
fn answer(limits: &ws::Limits, bytes: &[u8], name: &str) -> u32 {
    let whole = server_with(limits, [bytes]);
    for cut in cuts::ways(bytes) {
        assert_eq!(server_with(limits, cut.pieces), whole, "{name}, {}", cut.name);
    }
    whole.0
}

/// Returns a valid head of exactly this length.
fn head_of(len: usize) -> String {
    let filler = len - HEAD.len() - "X: \r\n".len();
    HEAD.replace("Host", &format!("X: {}\r\nHost", "x".repeat(filler)))
}

#[test]
fn rfc_key_gets_its_answer_however_cut() {
    for cut in cuts::ways(HEAD.as_bytes()) {
        let mut server = ws::Server::new(ws::Limits::default(), Time::ZERO);
        let mut events = Vec::new();
        for piece in cut.pieces {
            server.feed(Time::ZERO, piece);
            poll(&mut server, &mut events);
        }
        assert!(matches!(events.as_slice(), [OwnedEvent::Upgrade(_)]), "{events:?}");
        let expected = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
            Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n";
        assert_eq!(String::from_utf8(waiting(&mut server)).as_deref(), Ok(expected));
        assert!(server.is_open());
    }
}

#[test]
fn head_above_the_limit_is_refused() {
    let limits = ws::Limits::default();
    assert_eq!(limits.head, 8192);
    let endless = "GET / HTTP/1.1\r\nX: ".to_owned() + &"x".repeat(9000);
    let cases = [
        ("8191 bytes", head_of(8191), 101),
        ("8192 bytes", head_of(8192), 101),
        ("8193 bytes", head_of(8193), 431),
        ("8192 bytes without an end", endless[..8192].to_owned(), 0),
        ("8193 bytes without an end", endless[..8193].to_owned(), 431),
        ("a line feed alone as the last byte", endless[..8191].to_owned() + "\n", 400),
        ("a line feed alone after the limit", endless[..8192].to_owned() + "\n", 431),
        ("bytes after a head at the limit", head_of(8192) + "\u{1}\u{2}", 101),
        ("an empty line in front", "\r\n".to_owned() + HEAD, 101),
        ("8192 bytes with an empty line in front", "\r\n".to_owned() + &head_of(8190), 101),
        ("8193 bytes with an empty line in front", "\r\n".to_owned() + &head_of(8191), 431),
    ];
    for (name, head, expected) in cases {
        assert_eq!(answer(&limits, head.as_bytes(), name), expected, "{name}");
    }
}

#[test]
fn h03_head_has_at_most_64_fields() {
    let with = |count: usize| HEAD.replace("Host", &format!("{}Host", "a: b\r\n".repeat(count - 5)));
    assert_eq!(answer(&ws::Limits::default(), with(64).as_bytes(), "64"), 101);
    assert_eq!(answer(&ws::Limits::default(), with(65).as_bytes(), "65"), 431);
}

#[test]
fn impossible_head_is_refused_at_once() {
    let cases: &[(&str, &str, u32)] = &[
        ("bare line feed", "GET / HTTP/1.1\n", 400),
        ("an empty line", "\r\n", 0),
        ("two empty lines in front", "\r\n\r\n", 400),
        ("not complete", "GET / HTTP/1.1\r\nHost: x\r\n", 0),
        ("frames without a head", "\u{1}\u{2}\r\n\r\n", 400),
        ("HTTP/1.0", "GET / HTTP/1.0\r\n\r\n", 505),
        ("HTTP/2", "PRI * HTTP/2.0\r\n\r\n", 505),
        ("TLS", "\u{16}\u{3}\u{1}\n", 400),
    ];
    for (name, bytes, expected) in cases {
        assert_eq!(answer(&ws::Limits::default(), bytes.as_bytes(), name), *expected, "{name}");
    }
}

#[test]
fn head_has_five_seconds_despite_new_bytes() {
    let start = Time::from_millis(1000);
    let mut server = ws::Server::new(ws::Limits::default(), start);
    assert_eq!(server.deadline(), Some(Time::from_millis(6000)));
    let mut head = HEAD.bytes();
    for step in 1..50 {
        let now = Time::from_millis(1000 + step * 100);
        server.feed(now, &[head.next().unwrap()]);
        assert_eq!(at(&mut server, now).0, []);
    }
    assert_eq!(server.deadline(), Some(Time::from_millis(6000)));
    assert_eq!(at(&mut server, Time::from_millis(5999)).0, []);
    let passed = pass(&mut server, Time::from_millis(6000), 0);
    let [OwnedEvent::Closed(Closed::Refused(refusal))] = passed.events[..] else { panic!("{passed:?}") };
    assert_eq!(refusal.status, Status::RequestTimeout);
    assert!(passed.unwritten_bytes().starts_with(b"HTTP/1.1 408 "));
}

#[test]
fn bytes_after_a_refused_head_are_dropped() {
    let mut server = ws::Server::new(ws::Limits::default(), Time::ZERO);
    server.feed(Time::ZERO, &[HEAD.as_bytes(), &masked(0x81, b"Hi")].concat());
    assert!(matches!(drain(&mut server)[..], [OwnedEvent::Upgrade(_)]));
    let refusal = Refusal::new(Status::Unauthorized, "no");
    server.reject(refusal).unwrap();
    assert_eq!(server.accept(None), Err(SendError::NoPendingRequest));
    assert_eq!(drain(&mut server), [OwnedEvent::Closed(Closed::Refused(refusal))]);
    assert_eq!(drain(&mut server), []);
    assert!(waiting(&mut server).starts_with(b"HTTP/1.1 401 "));
    assert!(!waiting(&mut server).windows(3).any(|three| three == b"101"));
}

#[test]
fn h10_second_head_is_a_protocol_error() {
    // The second request comes before the first answer is written.
    let (code, events) = server_with(&ws::Limits::default(), [(HEAD.to_owned() + HEAD).as_bytes()]);
    assert_eq!(code, 101);
    assert!(matches!(
        events.as_slice(),
        [OwnedEvent::Upgrade(_), OwnedEvent::Closed(Closed::ProtocolError(ws::ProtocolError::ReservedBit))]
    ));
}

/// Checks the choice of the application. The spellings of an offer are tested in
/// `h04_subprotocol_is_chosen_and_never_echoed`.
#[test]
fn only_offered_subprotocols_are_accepted() {
    let cases: &[(&str, &str, bool)] = &[
        ("alone", "Sec-WebSocket-Protocol: mcp\r\n", true),
        ("in a list", "Sec-WebSocket-Protocol: foo,  mcp\r\n", true),
        ("only a longer one", "Sec-WebSocket-Protocol: mcpx\r\n", false),
        ("none", "", false),
    ];
    for (name, fields, offered) in cases {
        let mut server = ws::Server::new(ws::Limits::default(), Time::ZERO);
        server.feed(Time::ZERO, HEAD.replace("Host", &format!("{fields}Host")).as_bytes());
        assert!(matches!(drain(&mut server)[..], [OwnedEvent::Upgrade(_)]), "{name}");
        let accepted = server.accept(Some("mcp"));
        assert_eq!(accepted, if *offered { Ok(()) } else { Err(SendError::NotOffered) }, "{name}");
        let answer = String::from_utf8(waiting(&mut server)).unwrap();
        let chosen = answer.matches("Sec-WebSocket-Protocol: mcp\r\n").count();
        assert_eq!(chosen, usize::from(*offered), "{name}");
    }
}

#[test]
fn an_offer_of_compression_is_not_answered() {
    let field = "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits\r\nHost";
    let mut server = ws::Server::new(ws::Limits::default(), Time::ZERO);
    server.feed(Time::ZERO, HEAD.replace("Host", field).as_bytes());
    assert!(matches!(drain(&mut server)[..], [OwnedEvent::Upgrade(_)]));
    server.accept(None).unwrap();
    let answer = String::from_utf8_lossy(&waiting(&mut server)).to_lowercase();
    assert!(answer.starts_with("http/1.1 101") && !answer.contains("extensions"), "{answer}");
}

#[test]
fn pending_connection_costs_at_most_16_kib() {
    let head = head_of(8192);
    let cost = cost::of(|| {
        let mut server = ws::Server::new(ws::Limits::default(), Time::ZERO);
        for piece in head.as_bytes()[..8191].chunks(16) {
            let space = server.space();
            space[..piece.len()].copy_from_slice(piece);
            server.filled(Time::ZERO, piece.len());
            assert_eq!(drain(&mut server), []);
        }
    });
    assert!(cost.peak <= 16 * 1024, "{cost:?}");
}

#[test]
fn h02_byte_by_byte_head_has_linear_cost() {
    let mut limits = ws::Limits::default();
    limits.head = 1 << 20;
    let found = cost::four_times_the_work_costs_four_times(|times| {
        let head = head_of(64 * 1024 * times);
        let mut server = ws::Server::new(limits.clone(), Time::ZERO);
        let cost = cost::of(|| {
            for byte in &head.as_bytes()[..head.len() - 1] {
                server.feed(Time::ZERO, &[*byte]);
                assert_eq!(drain(&mut server), []);
            }
        });
        server.feed(Time::ZERO, b"\n");
        assert!(matches!(drain(&mut server)[..], [OwnedEvent::Upgrade(_)]));
        cost
    });
    assert_eq!(found, Ok(()));
}

fn client() -> ws::Client {
    let ask = ws::ClientRequest::new("127.0.0.1:1").subprotocol("mcp").field("X-Token", "secret");
    ws::Client::new(ask, Random::new(3).source(), ws::Limits::default(), Time::ZERO).unwrap()
}

/// Returns the answer of a server to the request of this client.
fn acceptance(client: &mut ws::Client) -> String {
    let mut server = ws::Server::new(ws::Limits::default(), Time::ZERO);
    server.feed(Time::ZERO, &waiting(client));
    assert!(matches!(drain(&mut server)[..], [OwnedEvent::Upgrade(_)]));
    server.accept(Some("mcp")).unwrap();
    String::from_utf8(waiting(&mut server)).unwrap()
}

#[test]
fn client_judges_the_answer_under_any_cut() {
    let good = acceptance(&mut client());
    let line = "HTTP/1.1 101 Switching Protocols";
    let filler = |len: usize| {
        good.replace("Upgrade: ", &format!("X: {}\r\nUpgrade: ", "x".repeat(len - good.len() - 5)))
    };
    // An answer with this status, and with this length if it is not 0.
    let interim = |status: &str, len: usize| {
        let field = len.checked_sub(status.len() + "HTTP/1.1 \r\nX: \r\n\r\n".len());
        let field = field.map_or(String::new(), |rest| format!("X: {}\r\n", "x".repeat(rest)));
        format!("HTTP/1.1 {status}\r\n{field}\r\n")
    };
    let cases: Vec<(&str, String, Option<NotAccepted>)> = vec![
        ("good", good.clone(), None),
        ("8192 bytes", filler(8192), None),
        ("8193 bytes", filler(8193), Some(NotAccepted::TooLong)),
        ("an interim answer before the 101", interim("100 Continue", 0) + &good, None),
        (
            "several interim answers",
            interim("103 Early Hints", 40) + &interim("102 X", 0) + &interim("199", 0) + &good,
            None,
        ),
        (
            "8192 bytes of interim answers",
            interim("100", 4000).repeat(2) + &interim("100", 192) + &good,
            None,
        ),
        (
            "8193 bytes of interim answers",
            interim("100", 4000).repeat(2) + &interim("100", 193) + &good,
            Some(NotAccepted::TooLong),
        ),
        (
            "a refusal after an interim answer",
            interim("100 Continue", 0) + "HTTP/1.1 401 No\r\n\r\n",
            Some(NotAccepted::Status(401, "No".into())),
        ),
        (
            "a wrong Sec-WebSocket-Accept",
            good.replace("Accept: ", "Accept: x"),
            Some(NotAccepted::WrongAccept),
        ),
        ("not offered", good.replace(": mcp", ": mcp2"), Some(NotAccepted::UnknownSubprotocol)),
        ("HTTP/1.0", good.replace("HTTP/1.1", "HTTP/1.0"), Some(NotAccepted::Malformed)),
        ("bare line feed", good.replace("\r\n", "\n"), Some(NotAccepted::Malformed)),
        (
            "refused",
            good.replace(line, "HTTP/1.1 403 Forbidden"),
            Some(NotAccepted::Status(403, "Forbidden".into())),
        ),
    ];
    for (name, answer, expected) in cases {
        for cut in cuts::ways(answer.as_bytes()) {
            let mut client = client();
            let mut events = Vec::new();
            for piece in cut.pieces {
                client.feed(Time::ZERO, piece);
                events.extend(drain(&mut client));
            }
            let expected = match &expected {
                None => OwnedEvent::Open { subprotocol: Some("mcp".into()) },
                Some(error) => OwnedEvent::Closed(Closed::NotAccepted(error.clone())),
            };
            assert_eq!(events, [expected], "{name}, {}", cut.name);
        }
    }
}

#[test]
fn client_waits_five_seconds_for_the_answer() {
    let mut client = client();
    let answer = acceptance(&mut client);
    write(&mut client, usize::MAX);
    client.feed(Time::from_millis(4999), &answer.as_bytes()[..answer.len() - 1]);
    assert_eq!(at(&mut client, Time::from_millis(4999)).0, []);
    assert_eq!((client.deadline(), client.has_ended()), (Some(Time::from_millis(5000)), false));
    let expected = OwnedEvent::Closed(Closed::NotAccepted(NotAccepted::TimedOut));
    assert_eq!(at(&mut client, Time::from_millis(5000)), (vec![expected], true));
    assert!(client.has_ended());
}

#[test]
fn frame_may_follow_the_answer_at_once() {
    let mut client = client();
    let answer = acceptance(&mut client);
    client.feed(Time::ZERO, &[answer.as_bytes(), &frames::plain(0x81, b"early")].concat());
    let events = drain(&mut client);
    assert!(matches!(&events[..], [OwnedEvent::Open { .. }, OwnedEvent::Text(early)] if early == "early"));
}

#[test]
fn transport_end_ends_the_handshake() {
    for cut in [0, 1, HEAD.len() - 1] {
        let mut server = ws::Server::new(ws::Limits::default(), Time::ZERO);
        server.feed(Time::ZERO, &HEAD.as_bytes()[..cut]);
        server.feed_eof(Time::ZERO);
        let ending = vec![OwnedEvent::Closed(Closed::Abnormal)];
        assert_eq!(at(&mut server, Time::ZERO), (ending, true), "cut at {cut}");
    }
    let mut client = client();
    client.feed_eof(Time::ZERO);
    assert_eq!(at(&mut client, Time::ZERO), (vec![OwnedEvent::Closed(Closed::Abnormal)], true));
    assert!(waiting(&mut client).is_empty());
}

#[test]
fn unread_answer_is_dropped_after_two_seconds() {
    let mut server = ws::Server::new(ws::Limits::default(), Time::ZERO);
    server.feed(Time::from_millis(100), b"\n");
    assert!(
        matches!(at(&mut server, Time::from_millis(100)), (ending, false) if matches!(ending[..], [OwnedEvent::Closed(_)]))
    );
    assert_eq!(server.deadline(), Some(Time::from_millis(2100)));
    let passed = pass(&mut server, Time::from_millis(2099), 0);
    assert_eq!((&passed.unwritten_bytes()[..12], passed.closed), (&b"HTTP/1.1 400"[..], vec![]));
    let passed = pass(&mut server, Time::from_millis(2100), 0);
    assert_eq!((passed.unwritten_bytes(), passed.closed), (vec![], vec![()]));
    assert_eq!(server.deadline(), None);
}

#[test]
fn client_sends_only_its_request_with_a_fresh_key() {
    let mut keys = Vec::new();
    for seed in 0..20 {
        let mut client = ws::Client::new(
            ws::ClientRequest::new("h"),
            Random::new(seed).source(),
            ws::Limits::default(),
            Time::ZERO,
        )
        .unwrap();
        let request = String::from_utf8(waiting(&mut client)).unwrap();
        assert_eq!(head_len(request.as_bytes()), request.len());
        let key = request.lines().find_map(|line| line.strip_prefix("Sec-WebSocket-Key: ")).unwrap();
        assert_eq!(key.len(), 24);
        keys.push(key.to_owned());
    }
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len(), 20);
}

#[test]
fn server_that_decides_late_has_no_deadline() {
    let mut server = ws::Server::new(ws::Limits::default(), Time::ZERO);
    server.feed(Time::ZERO, HEAD.as_bytes());
    assert!(matches!(drain(&mut server)[..], [OwnedEvent::Upgrade(_)]));
    server.feed(Time::ZERO, &masked(0x81, b"Hi"));
    let late = Time::from_millis(60_000);
    assert_eq!((at(&mut server, late), server.deadline()), ((vec![], false), None));
    server.accept(None).unwrap();
    assert_eq!(at(&mut server, late).0, [OwnedEvent::Text("Hi".into())], "the frame has waited");
    assert_eq!(at(&mut server, late).0, []);
    assert!(server.is_open() && server.deadline() > Some(late));
}

#[test]
fn limit_of_zero_is_an_error() {
    type Change = fn(&mut ws::Limits);
    let cases: &[(&str, Change)] = &[
        ("head", |limits| limits.head = 0),
        ("message", |limits| limits.message = 0),
        ("outgoing", |limits| limits.outgoing = 0),
    ];
    for (name, change) in cases {
        let mut limits = ws::Limits::default();
        change(&mut limits);
        let mut server = ws::Server::new(limits.clone(), Time::ZERO);
        assert!(!server.wants_input(), "{name}");
        let ending = vec![OwnedEvent::Closed(Closed::ZeroLimit(name))];
        assert_eq!(at(&mut server, Time::ZERO), (ending, true), "{name}");
        assert_eq!(at(&mut server, Time::ZERO), (vec![], false), "{name}");
        let client =
            ws::Client::new(ws::ClientRequest::new("h"), Random::new(1).source(), limits, Time::ZERO);
        assert_eq!(client.err(), Some(ws::InvalidClientRequest::ZeroLimit(name)));
    }
}
