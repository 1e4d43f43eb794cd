//! Flow control between two joined machines: send buffers above the high-water mark, and bytes that arrive before the
//! transport ends.

use std::time::Duration;

use crate::support::ide::{PORT, config, masked, save, token};
use crate::support::joined::{self, drain};
use ide_mcp::ide::tool::{DiffOutcome, OpenDiff, ToolCall};
use ide_mcp::{
    Output, Time,
    ide::{Client, ClientConfig, ClientEvent, Server, ServerEvent},
    mcp::{Implementation, Outcome},
    rpc::SessionId,
    testing::{Pair, Random, pass, pass_with},
    ws::{self, CloseCode, Closed, OwnedEvent, SendError},
};

const MIB: usize = 1 << 20;

/// Returns an open server with a high-water mark of 1,000 bytes.
fn small_server() -> ws::Server {
    let mut limits = ws::Limits::default();
    limits.outgoing = 1000;
    joined::server(limits, Time::ZERO)
}

fn binary_lens(events: &[OwnedEvent]) -> Vec<usize> {
    let len = |event: &OwnedEvent| match event {
        OwnedEvent::Binary(bytes) => bytes.len(),
        other => panic!("{other:?}"),
    };
    events.iter().map(len).collect()
}

#[test]
fn both_ends_send_more_than_the_mark() {
    for mib in [7, 9, 16, 24, 40] {
        let mut pair = joined::open(&ws::Limits::default(), Time::ZERO);
        pair.server.sender().binary(&vec![1; mib * MIB]).unwrap();
        pair.client.sender().binary(&vec![2; mib * MIB]).unwrap();
        pair.settle();
        assert!(pair.is_at_rest(), "{mib} MiB each");
        for events in [&pair.server_events, &pair.client_events] {
            assert_eq!(binary_lens(events), [mib * MIB], "{mib} MiB each");
        }
    }
}

/// Checks law 10 with random marks, message sizes and piece lengths, and several messages in each
/// direction.
#[test]
fn joined_sockets_come_to_rest_at_any_size() {
    for seed in 0..600 {
        let mut random = Random::new(seed);
        let mut limits = ws::Limits::default();
        limits.outgoing = 1 + random.below(400);
        limits.message = 1 + random.below(3 * limits.outgoing);
        let mut pair = joined::open(&limits, Time::ZERO);
        pair.to_server.piece = 1 + random.below(100);
        pair.to_client.piece = 1 + random.below(100);
        let mut input = [Vec::new(), Vec::new()];
        for _ in 0..6 {
            // Each side sends until it is refused: never more than the mark and one message.
            for (to, input) in input.iter_mut().enumerate() {
                loop {
                    let bytes = vec![7; limits.message - random.below(limits.message.min(9))];
                    let sent = match to {
                        0 => pair.client.sender().binary(&bytes),
                        _ => pair.server.sender().binary(&bytes),
                    };
                    match sent {
                        Ok(()) => input.push(bytes.len()),
                        Err(error) => break assert_eq!(error, SendError::Full),
                    }
                }
            }
            pair.settle();
            assert!(pair.is_at_rest(), "seed {seed}, {limits:?}");
        }
        let reported = [binary_lens(&pair.server_events), binary_lens(&pair.client_events)];
        assert_eq!(reported, input, "seed {seed}, {limits:?}");
    }
}

#[test]
fn reading_above_the_mark_is_bounded() {
    let mut limits = ws::Limits::default();
    (limits.outgoing, limits.message) = (1000, 5000);
    let mut pair = joined::open(&limits, Time::ZERO);
    let part = masked(0x82, &[7; 4000]);
    pair.server.feed(Time::ZERO, &part[..2000]);
    assert_eq!(drain(&mut pair.server), []);
    pair.server.sender().binary(&[1; 2000]).unwrap();
    let mut taken = 0;
    while pair.server.wants_input() {
        let len = pair.server.space().len().min(100);
        pair.server.filled(Time::ZERO, len);
        taken += len;
        assert_eq!(drain(&mut pair.server), []);
    }
    // The rest of the message in progress, one message, the mark, and the longest header.
    assert_eq!(taken, part.len() - 2000 + 5000 + 1000 + 14);
    assert!(pair.server.space().is_empty());
}

#[test]
fn bytes_before_eof_are_reported_above_mark() {
    let text = |text: &str| OwnedEvent::Text(text.into());
    let by_peer = Closed::Remote { code: CloseCode::new(1000), reason: "".into() };
    for with_close in [true, false] {
        for full in [true, false] {
            let mut server = small_server();
            let last = if with_close { masked(0x88, b"\x03\xe8") } else { Vec::new() };
            let bytes = [masked(0x81, b"ask"), masked(0x81, b"answer"), last].concat();
            server.feed(Time::ZERO, &bytes);
            server.feed_eof(Time::ZERO);
            let passed = pass_with(&mut server, Time::ZERO, 0, |server, event| {
                if full && *event == text("ask") {
                    server.sender().text(&"x".repeat(2000)).unwrap();
                }
            });
            let closed = if with_close { by_peer.clone() } else { Closed::Abnormal };
            let expected = [text("ask"), text("answer"), OwnedEvent::Closed(closed)];
            assert_eq!(passed.events, expected, "close frame {with_close}, full {full}");
        }
    }
}

/// Returns an attached agent and its editor.
fn attached() -> Pair<Server, Client> {
    let client = ClientConfig::new(Implementation::new("agent", "1"), PORT, Some(token()));
    let client = Client::new(client, Random::new(1).source(), SessionId::new(2), Time::ZERO).unwrap();
    let mut server = Server::new(config());
    let conn = server.connect(Time::ZERO);
    let mut pair = Pair::joined(server, conn, client, Time::ZERO);
    pair.settle();
    assert!(pair.client.is_ready());
    pair.server_events.clear();
    pair.client_events.clear();
    pair
}

fn open_diff(pair: &mut Pair<Server, Client>, text: String, tab: &str) -> ide_mcp::rpc::RequestId {
    pair.client.call_tool(&OpenDiff::new("/w/a", text, tab)).unwrap().id()
}

#[test]
fn large_verdict_and_large_call_pass_each_other() {
    for mib in [9, 15] {
        let mut pair = attached();
        let first = open_diff(&mut pair, "new".into(), "first");
        pair.settle();
        let call = crate::support::ide::called(&std::mem::take(&mut pair.server_events));
        // The person saves while the agent sends a second call.
        let saved = DiffOutcome::Accepted { contents: "s".repeat(mib * MIB) };
        pair.server.call(call).respond(&crate::support::ide::vs_code(&saved)).unwrap();
        let second = open_diff(&mut pair, "n".repeat(mib * MIB), "second");
        pair.settle();
        assert!(pair.is_at_rest());
        let [ServerEvent::Call { call: ToolCall::OpenDiff(call, diff), .. }] = &pair.server_events[..] else {
            panic!("{mib} MiB: the call did not arrive")
        };
        assert_eq!(diff.new_file_contents.len(), mib * MIB);
        pair.server
            .call(call.id())
            .respond(&crate::support::ide::vs_code(&DiffOutcome::Rejected { tab_name: "second".into() }))
            .unwrap();
        pair.settle();
        let ended: Vec<_> = pair
            .client_events
            .iter()
            .map(|event| match event {
                ClientEvent::Outcome { request, outcome: Outcome::Result(_) } => *request,
                other => panic!("{mib} MiB: {other:?}"),
            })
            .collect();
        assert_eq!(ended, [first, second]);
    }
}

#[test]
fn verdict_before_eof_is_reported_above_mark() {
    let mut pair = attached();
    let first = open_diff(&mut pair, "new".into(), "first");
    pair.settle();
    let call = crate::support::ide::called(&std::mem::take(&mut pair.server_events));
    save(&mut pair.server, call, "saved").unwrap();
    let now = pair.now;
    pair.server.shutdown(now);
    pair.client.feed(now, &pass(&mut pair.server, now, 0).unwritten_bytes());
    // The agent sends a second call in the turn in which the end of the transport arrives.
    let second = open_diff(&mut pair, "n".repeat(9 * MIB), "second");
    pair.client.feed_eof(now);
    let events = drain(&mut pair.client);
    let [
        ClientEvent::Outcome { request: saved, outcome: Outcome::Result(_) },
        ClientEvent::Outcome { request: lost, outcome: Outcome::Closed },
        ClientEvent::Closed(Closed::Remote { .. }),
    ] = &events[..]
    else {
        panic!("{events:?}")
    };
    assert_eq!((*saved, *lost), (first, second));
}

/// Checks a client that fills the editor with requests, reads nothing and disconnects. Nobody will read the answers
/// above the mark, so they must not take memory.
#[test]
fn answers_after_the_end_take_no_memory() {
    let mut config = config();
    (config.ws.outgoing, config.ws.message) = (64 * 1024, 1 << 20);
    let mut editor = crate::support::ide::Editor::attached(config);
    let list = crate::support::ide::text(&crate::support::ide::request(7, "tools/list"));
    let mut taken = 0;
    let (server, conn) = (&mut editor.server, editor.conn);
    while server.wants_input(conn) {
        let space = server.space(conn);
        let len = space.len().min(list.len() - taken % list.len());
        space[..len].copy_from_slice(&list[taken % list.len()..][..len]);
        server.filled(Time::ZERO, conn, len);
        taken += len;
        poll_all(server);
    }
    assert!(server.agent(conn.into()).is_some() && taken > 1 << 20);
    server.feed_eof(Time::ZERO, conn);
    let used = allocation_counter::measure(|| poll_all(server));
    assert!(used.bytes_max < 64 * 1024, "{} bytes", used.bytes_max);
    assert!(server.agent(conn.into()).is_none());
    let late = Time::ZERO.saturating_add(Duration::from_secs(10));
    assert_eq!(pass(server, late, 0).closed, [conn]);
}

/// Feeds pieces from a loop's own buffer, with a pass after each. The limit on input between two passes must start
/// again with each pass, or the pieces would add up to it and end the connection.
#[test]
fn pieces_above_the_mark_do_not_end_the_connection() {
    use crate::support::ide::{HEAD, INITIALIZE, INITIALIZED, request, text};
    let mut config = config();
    (config.ws.outgoing, config.ws.message) = (64 * 1024, 1 << 20);
    let mut server = Server::new(config);
    let conn = server.connect(Time::ZERO);
    let mut input = [HEAD.as_bytes(), &text(INITIALIZE), &text(INITIALIZED)].concat();
    let mut taken = 0;
    while server.wants_input(conn) && taken < 1 << 20 {
        server.feed(Time::ZERO, conn, &input);
        taken += input.len();
        pass(&mut server, Time::ZERO, 0);
        input = text(&request(7, "tools/list")).repeat(200);
    }
    assert!(server.agent(conn.into()).is_some() && taken > 1 << 20, "{taken} bytes were taken");
}

/// Polls an editor whose agent reads nothing. `pass` would also copy the waiting output.
fn poll_all(server: &mut Server) {
    while !matches!(server.poll(Time::ZERO), Output::Wait(_)) {}
}

/// Feeds valid text in pieces by `space` and `filled`, with other calls in between. The machine must report the text
/// unchanged, or end the connection as `InputOverflow`.
#[test]
fn space_that_moved_ends_the_connection() {
    let texts =
        ["short".to_owned(), "x".repeat(20_000) + "\u{e9}" + &"y".repeat(20_000), "\u{e9}".repeat(900)];
    let bytes: Vec<u8> = texts.iter().flat_map(|text| masked(0x81, text.as_bytes())).collect();
    let mut overfed = 0;
    for seed in 0..300 {
        let mut random = Random::new(seed);
        let mut server = small_server();
        let (mut rest, mut events) = (&bytes[..], Vec::new());
        while !rest.is_empty() && server.wants_input() {
            let piece = 1 + random.below(9000);
            let space = server.space();
            let len = space.len().min(rest.len()).min(piece);
            space[..len].copy_from_slice(&rest[..len]);
            match random.below(30) {
                0 => events.extend(drain(&mut server)),
                1 => server.trim(),
                2 if seed % 2 == 0 => server.feed(Time::ZERO, &rest[..1]),
                _ => {}
            }
            server.filled(Time::ZERO, len);
            rest = &rest[len..];
            events.extend(drain(&mut server));
        }
        let ended = events.last() == Some(&OwnedEvent::Closed(Closed::InputOverflow));
        overfed += usize::from(ended);
        let reported = &events[..events.len() - usize::from(ended)];
        for (event, text) in reported.iter().zip(&texts) {
            assert!(*event == OwnedEvent::Text(text.clone()), "seed {seed}: {event:?}");
        }
        assert!(ended || reported.len() == texts.len(), "seed {seed}: {events:?}");
    }
    assert!((50..290).contains(&overfed), "{overfed} of 300 ended");
}

#[test]
fn filled_beyond_the_space_ends_the_connection() {
    type Act = fn(&mut ws::Server, usize);
    let cases: &[(&str, Act)] = &[
        ("one byte more", |server, len| server.filled(Time::ZERO, len + 1)),
        ("twice", |server, len| {
            server.filled(Time::ZERO, len);
            server.filled(Time::ZERO, 1);
        }),
        ("a feed in between", |server, len| {
            server.feed(Time::ZERO, &masked(0x81, b"two"));
            server.filled(Time::ZERO, len);
        }),
        ("without space", |server, _| {
            server.feed(Time::ZERO, &masked(0x81, b"two"));
            server.filled(Time::ZERO, 1);
        }),
    ];
    for (name, act) in cases {
        let mut server = small_server();
        let len = server.space().len();
        act(&mut server, len);
        let events = drain(&mut server);
        assert_eq!(events.last(), Some(&OwnedEvent::Closed(Closed::InputOverflow)), "{name}: {events:?}");
    }
}
