//! The endings of `ws` connections: close frames, the end of the transport, timeouts, and peers
//! that do not read.

use crate::support::cuts;
use crate::support::frames::{self, masked, plain};
use crate::support::joined::{self, at, drain, waiting, write};
use ide_mcp::rpc::NotSent;
use ide_mcp::testing::{Pair, Random, pass};
use ide_mcp::ws::{self, CloseCode, Closed, OwnedEvent, ProtocolError, SendError};
use ide_mcp::{Machine, Outbox as _, Output, Time, To};
use std::time::Duration;

fn server() -> ws::Server {
    joined::server(ws::Limits::default(), Time::ZERO)
}

/// Returns both roles, open and quiet.
fn pair(limits: &ws::Limits) -> Pair<ws::Server, ws::Client> {
    let mut pair = joined::open(limits, Time::from_millis(1000));
    pair.to_client.forget();
    pair.to_server.forget();
    pair
}

const fn by_us(clean: bool) -> OwnedEvent {
    OwnedEvent::Closed(Closed::Local { clean })
}

fn by_peer(code: Option<u16>, reason: &str) -> OwnedEvent {
    let code = code.map(|code| CloseCode::new(code).unwrap());
    OwnedEvent::Closed(Closed::Remote { code, reason: reason.into() })
}

#[test]
fn close_frame_is_answered_and_nothing_follows() {
    let cases: &[(&str, &[u8], Option<u16>, &str, &[u8])] = &[
        ("F18: 1000", b"\x03\xe8", Some(1000), "", b"\x03\xe8"),
        ("F18: 3000", b"\x0b\xb8", Some(3000), "", b"\x0b\xb8"),
        ("F18: 4999", b"\x13\x87", Some(4999), "", b"\x13\x87"),
        ("with a reason", b"\x03\xe9bye", Some(1001), "bye", b"\x03\xe9"),
        ("without a code", b"", None, "", b""),
    ];
    for (name, body, code, reason, answer) in cases {
        // F20: frames after the close frame are ignored, pings and texts alike.
        let bytes = [masked(0x88, body), masked(0x81, b"Hi"), masked(0x89, b""), masked(0x88, body)].concat();
        for cut in cuts::ways(&bytes) {
            let mut server = server();
            let mut found = Vec::new();
            for piece in cut.pieces {
                server.feed(Time::ZERO, piece);
                let (events, is_closed) = at(&mut server, Time::ZERO);
                assert!(!is_closed, "{name}");
                found.extend(events);
            }
            assert_eq!(found, [by_peer(*code, reason)], "{name}, {}", cut.name);
            let passed = pass(&mut server, Time::ZERO, usize::MAX);
            assert_eq!(passed.written_bytes(), plain(0x88, answer), "{name}, {}", cut.name);
            assert_eq!(passed.closed, [()], "{name}");
            assert_eq!(server.deadline(), None, "{name}");
        }
    }
}

#[test]
fn codes_for_local_outcomes_cannot_be_sent() {
    for code in [0, 999, 1004, 1005, 1006, 1015, 1016, 2999, 5000, u16::MAX] {
        assert_eq!(CloseCode::new(code), None, "{code}");
    }
    for code in [1000, 1001, 1011, 1014, 3000, 4999] {
        assert_eq!(CloseCode::new(code).map(CloseCode::get), Some(code), "{code}");
    }
}

#[test]
fn close_of_one_side_ends_both() {
    for server_closes in [true, false] {
        let mut pair = pair(&ws::Limits::default());
        if server_closes {
            pair.server.sender().close(CloseCode::GOING_AWAY, "the editor exits").unwrap();
        } else {
            pair.client.sender().close(CloseCode::GOING_AWAY, "the editor exits").unwrap();
        }
        let rounds = pair.settle();
        assert!(rounds <= 4, "{rounds} rounds");
        let (closer, other) = if server_closes {
            (&pair.server_events, &pair.client_events)
        } else {
            (&pair.client_events, &pair.server_events)
        };
        assert_eq!(*closer, [by_us(true)]);
        assert_eq!(*other, [by_peer(Some(1001), "the editor exits")]);
        assert!(pair.is_over());
        assert_eq!(
            (frames::read(pair.to_client.carried()).len(), frames::read(pair.to_server.carried()).len()),
            (1, 1)
        );
    }
}

#[test]
fn both_close_at_once() {
    let mut pair = pair(&ws::Limits::default());
    pair.server.sender().close(CloseCode::NORMAL, "a").unwrap();
    pair.client.sender().close(CloseCode::GOING_AWAY, "b").unwrap();
    assert!(pair.settle() <= 4);
    assert_eq!(pair.server_events, [by_us(true)]);
    assert_eq!(pair.client_events, [by_us(true)]);
    assert!(pair.is_over());
    assert_eq!(
        (frames::read(pair.to_client.carried()).len(), frames::read(pair.to_server.carried()).len()),
        (1, 1)
    );
}

#[test]
fn messages_before_the_close_frame_arrive_first() {
    let mut pair = pair(&ws::Limits::default());
    pair.cut_into(3);
    for text in ["one", "two"] {
        pair.server.sender().text(text).unwrap();
    }
    pair.server.sender().close(CloseCode::NORMAL, "").unwrap();
    pair.settle();
    let text = |text: &str| OwnedEvent::Text(text.into());
    assert_eq!(pair.client_events, [text("one"), text("two"), by_peer(Some(1000), "")]);
}

#[test]
fn our_close_frame_ends_sending_and_delivery() {
    let mut server = server();
    server.sender().close(CloseCode::NORMAL, "").unwrap();
    let farewell = waiting(&mut server);
    assert!(!server.is_open());
    assert_eq!(server.sender().text("x"), Err(SendError::Closed));
    assert_eq!(server.sender().ping(b""), Err(SendError::Closed));
    assert_eq!(server.sender().close(CloseCode::NORMAL, ""), Err(SendError::Closed));
    assert_eq!(server.sender().message(To::Unsolicited, |out| out.extend(b"x")), Err(NotSent::Closed));
    let bytes = [masked(0x81, b"Hi"), masked(0x89, b"x"), masked(0x02, b"a"), masked(0x80, b"b")].concat();
    server.feed(Time::ZERO, &bytes);
    assert_eq!(drain(&mut server), []);
    assert_eq!(waiting(&mut server), farewell);
    server.feed(Time::ZERO, &masked(0x88, b"\x03\xe8"));
    assert_eq!(drain(&mut server), [by_us(true)]);
    assert_eq!(waiting(&mut server), farewell);
}

#[test]
fn close_handshake_times_out_after_two_seconds() {
    assert_eq!(ws::Limits::default().close, Duration::from_secs(2));
    let mut server = joined::server(ws::Limits::default(), Time::from_millis(500));
    server.sender().close(CloseCode::NORMAL, "").unwrap();
    pass(&mut server, Time::from_millis(500), usize::MAX);
    // Further messages of the peer do not extend the timeout.
    server.feed(Time::from_millis(2499), &masked(0x81, b"still here"));
    assert_eq!(at(&mut server, Time::from_millis(2499)).0, []);
    assert_eq!(server.deadline(), Some(Time::from_millis(2500)));
    assert_eq!(at(&mut server, Time::from_millis(2500)), (vec![by_us(false)], true));
}

#[test]
fn received_close_answer_wins_over_its_timeout() {
    let mut server = server();
    server.sender().close(CloseCode::NORMAL, "").unwrap();
    server.feed(Time::from_millis(2500), &masked(0x88, b"\x03\xe8"));
    assert_eq!(at(&mut server, Time::from_millis(2500)).0, [by_us(true)]);
}

#[test]
fn unread_last_bytes_drop_after_two_seconds() {
    assert_eq!(ws::Limits::default().drain, Duration::from_secs(2));
    let mut server = server();
    server.feed(Time::from_millis(100), &masked(0x88, b"\x03\xe8"));
    assert_eq!(at(&mut server, Time::from_millis(100)).0, [by_peer(Some(1000), "")]);
    assert_eq!(server.deadline(), Some(Time::from_millis(2100)));
    pass(&mut server, Time::from_millis(100), 1);
    let passed = pass(&mut server, Time::from_millis(2099), 0);
    assert_eq!((passed.unwritten_bytes(), passed.closed), (plain(0x88, b"\x03\xe8")[1..].to_vec(), vec![]));
    let passed = pass(&mut server, Time::from_millis(2100), 0);
    assert_eq!((passed.unwritten_bytes(), passed.closed), (vec![], vec![()]));
    assert_eq!(server.deadline(), None);
}

#[test]
fn transport_end_is_reported_after_received_bytes() {
    let vanished = || OwnedEvent::Closed(Closed::Abnormal);
    let text = || OwnedEvent::Text("Hi".into());
    let cases: Vec<(&str, Vec<u8>, Vec<OwnedEvent>)> = vec![
        ("nothing before it", vec![], vec![vanished()]),
        ("a message before it", masked(0x81, b"Hi"), vec![text(), vanished()]),
        ("half a message before it", masked(0x81, b"Hi")[..7].to_vec(), vec![vanished()]),
        ("a close frame before it", masked(0x88, b"\x03\xe8"), vec![by_peer(Some(1000), "")]),
        (
            "a violation before it",
            masked(0xc1, b""),
            vec![OwnedEvent::Closed(Closed::ProtocolError(ProtocolError::ReservedBit))],
        ),
    ];
    for (name, bytes, expected) in cases {
        for polls_before_the_end in [false, true] {
            let (mut server, mut found) = (server(), Vec::new());
            server.feed(Time::ZERO, &bytes);
            if polls_before_the_end {
                found.extend(drain(&mut server));
            }
            server.feed_eof(Time::ZERO);
            if found != expected {
                assert_eq!(server.deadline(), Some(Time::ZERO), "{name}");
            }
            found.extend(drain(&mut server));
            assert_eq!(found, expected, "{name}, {polls_before_the_end}");
        }
    }
    let mut server = server();
    server.sender().close(CloseCode::NORMAL, "").unwrap();
    server.feed_eof(Time::ZERO);
    assert_eq!(at(&mut server, Time::ZERO), (vec![by_us(false)], false), "the peer can read on");
    server.feed_eof(Time::ZERO);
    assert_eq!(server.deadline(), Some(Time::ZERO));
    assert_eq!(at(&mut server, Time::ZERO), (vec![], true), "nothing can be written any more");
}

#[test]
fn a_reason_is_cut_at_a_character() {
    for (len, expected) in [(122, 122), (123, 123), (124, 123)] {
        let mut server = server();
        server.sender().close(CloseCode::NORMAL, &"a".repeat(len)).unwrap();
        assert_eq!(frames::read(&waiting(&mut server))[0].payload.len(), 2 + expected, "{len}");
    }
    let mut server = server();
    server.sender().close(CloseCode::NORMAL, &"\u{e9}".repeat(100)).unwrap();
    assert_eq!(frames::read(&waiting(&mut server))[0].payload[2..], *"\u{e9}".repeat(61).as_bytes());
}

fn small() -> ws::Limits {
    let mut limits = ws::Limits::default();
    limits.outgoing = 1000;
    limits
}

#[test]
fn above_the_mark_only_answers_are_sent() {
    let mut server = joined::server(small(), Time::ZERO);
    server.sender().binary(&[0; 995]).unwrap();
    assert_eq!(waiting(&mut server).len(), 999);
    assert!(server.wants_input() && !server.sender().is_full());
    write(&mut server, 1);
    server.feed(Time::ZERO, &[masked(0x81, b"a"), masked(0x81, b"b")].concat());
    server.sender().text("").unwrap();
    assert_eq!(waiting(&mut server).len(), 1000);
    assert!(server.wants_input() && server.sender().is_full() && !server.space().is_empty());
    assert_eq!(server.sender().text("x"), Err(SendError::Full));
    assert_eq!(server.sender().ping(b""), Err(SendError::Full));
    assert_eq!(drain(&mut server), [], "nothing is parsed above the mark");
    server.sender().message(To::Unsolicited, |out| out.extend(b"an answer")).unwrap();
    assert_eq!(waiting(&mut server).len(), 1011);
    assert_eq!(pass(&mut server, Time::ZERO, 11).events, []);
    let delivered = pass(&mut server, Time::ZERO, 1).events;
    assert_eq!(delivered, [OwnedEvent::Text("a".into()), OwnedEvent::Text("b".into())]);
    assert!(server.wants_input());
}

#[test]
fn peer_that_reads_nothing_has_thirty_seconds() {
    assert_eq!(ws::Limits::default().stalled, Duration::from_secs(30));
    assert_eq!(ws::Limits::default().outgoing, 8 * 1024 * 1024);
    let mut server = joined::server(small(), Time::from_millis(100));
    server.sender().binary(&[0; 2000]).unwrap();
    assert_eq!(server.deadline(), Some(Time::from_millis(30_100)));
    // Reading less than the mark is not enough.
    pass(&mut server, Time::from_millis(20_000), 999);
    assert_eq!(at(&mut server, Time::from_millis(30_099)).0, []);
    let ending = vec![OwnedEvent::Closed(Closed::Stalled)];
    let passed = pass(&mut server, Time::from_millis(30_100), 0);
    assert_eq!((passed.unwritten_bytes(), passed.events, passed.closed), (vec![], ending, vec![()]));
}

#[test]
fn each_written_mark_buys_another_thirty_seconds() {
    let mut server = joined::server(small(), Time::ZERO);
    server.sender().binary(&[0; 4000]).unwrap();
    let mut at = |millis: u64, n: usize| pass(&mut server, Time::from_millis(millis), n).wait;
    let seconds = |seconds: u64| Some(Time::from_millis(seconds * 1000));
    assert_eq!(at(20_000, 999), seconds(30));
    assert_eq!(at(25_000, 1), seconds(55));
    assert_eq!(at(50_000, 1500), seconds(80), "bytes beyond the mark do not count toward the next mark");
    assert_eq!(at(79_999, 499), seconds(80));
    let passed = pass(&mut server, Time::from_millis(80_000), 0);
    assert_eq!(passed.events, [OwnedEvent::Closed(Closed::Stalled)]);
}

/// Queues this many bytes at the default limits, and lets the peer read `pace` bytes a second.
/// Returns the seconds until the end, the number of written bytes, and the ending.
fn read_slowly(queued: usize, pace: usize, closes: bool) -> (u64, usize, Option<OwnedEvent>) {
    let mut limits = ws::Limits::default();
    limits.keepalive = None;
    let mut server = joined::server(limits, Time::ZERO);
    server.sender().binary(&vec![7; queued]).unwrap();
    if closes {
        server.sender().close(CloseCode::NORMAL, "").unwrap();
    }
    let mut written = 0;
    for second in 1..10_000 {
        if !server.wants_output() {
            return (second, written, None);
        }
        // The peer reads four times a second.
        let mut room = [pace / 4; 4].into_iter();
        loop {
            match server.poll(Time::from_millis(second * 1000)) {
                Output::Event(event) => return (second, written, Some(event)),
                Output::Write { bytes, .. } => {
                    let n = bytes.len().min(room.next().unwrap_or(0));
                    server.written(n);
                    written += n;
                }
                Output::Close(()) => panic!("it is closed without an event"),
                Output::Wait(_) => break,
            }
        }
    }
    panic!("it has no end");
}

#[test]
fn slow_reader_gets_all_trickling_reader_ends() {
    const MIB: usize = 1 << 20;
    let whole = 40 * MIB + 10;
    assert_eq!(read_slowly(40 * MIB, MIB, false), (42, whole, None), "40 MiB at 1 MiB/s");
    let (seconds, written, event) = read_slowly(40 * MIB, 500, false);
    assert_eq!(event, Some(OwnedEvent::Closed(Closed::Stalled)));
    assert_eq!((seconds, written), (30, 29 * 500));
    // A peer that needs 31 s for a mark is too slow.
    let (seconds, _, event) = read_slowly(64 * MIB, 8 * MIB / 31, false);
    assert_eq!((seconds, event), (30, Some(OwnedEvent::Closed(Closed::Stalled))));
}

#[test]
fn close_timeout_starts_with_the_written_frame() {
    const MIB: usize = 1 << 20;
    // The frame is written after 7 s; then the peer has 2 s to answer.
    assert_eq!(read_slowly(6 * MIB, MIB, true).2, None, "all is written");
    let mut server = joined::server(ws::Limits::default(), Time::ZERO);
    server.sender().binary(&vec![7; 6 * MIB]).unwrap();
    server.sender().close(CloseCode::NORMAL, "").unwrap();
    for second in 1..=6 {
        assert_eq!(pass(&mut server, Time::from_millis(second * 1000), MIB).events, [], "{second} s");
    }
    pass(&mut server, Time::from_millis(6_000), usize::MAX);
    assert_eq!(server.deadline(), Some(Time::from_millis(8_000)));
    assert_eq!(at(&mut server, Time::from_millis(7_999)).0, []);
    assert_eq!(at(&mut server, Time::from_millis(8_000)), (vec![by_us(false)], true));
    // A trickling reader delays the end by at most the stall timeout of one mark.
    let (seconds, _, event) = read_slowly(6 * MIB, 500, true);
    assert_eq!((seconds, event), (30, Some(by_us(false))));
}

#[test]
fn written_close_frame_ends_the_stall_timeout() {
    let mut limits = ws::Limits::default();
    (limits.stalled, limits.close) = (Duration::from_secs(1), Duration::from_secs(5));
    let mut server = joined::server(limits, Time::ZERO);
    server.sender().close(CloseCode::NORMAL, "").unwrap();
    let farewell = waiting(&mut server).len();
    write(&mut server, farewell - 1);
    assert_eq!(server.deadline(), Some(Time::from_millis(1_000)), "one byte is not written");
    write(&mut server, 1);
    assert_eq!(server.deadline(), Some(Time::from_millis(5_000)), "the frame is written");
    assert_eq!(at(&mut server, Time::from_millis(4_999)).0, []);
    assert_eq!(at(&mut server, Time::from_millis(5_000)).0, [by_us(false)]);
}

#[test]
fn close_and_drain_have_separate_timeouts() {
    let mut limits = ws::Limits::default();
    (limits.close, limits.drain) = (Duration::from_secs(3), Duration::from_secs(5));
    let mut server = joined::server(limits, Time::ZERO);
    server.sender().binary(&[7; 1000]).unwrap();
    server.sender().close(CloseCode::NORMAL, "").unwrap();
    assert_eq!(server.deadline(), Some(Time::from_millis(3_000)));
    assert_eq!(at(&mut server, Time::from_millis(3_000)), (vec![by_us(false)], false));
    assert_eq!(server.deadline(), Some(Time::from_millis(8_000)));
    assert_eq!(at(&mut server, Time::from_millis(7_999)), (vec![], false));
    assert_eq!(at(&mut server, Time::from_millis(8_000)), (vec![], true));
}

#[test]
fn nothing_is_sent_after_a_close_frame() {
    for (name, peer_closes) in [("our close frame", false), ("our answer to the peer's close frame", true)] {
        let mut server = server();
        // Sixteen pings are answered at once, and one pong waits.
        server.feed(Time::ZERO, &masked(0x89, b"a").repeat(17));
        drain(&mut server);
        if peer_closes {
            server.feed(Time::ZERO, &masked(0x88, b"\x03\xe8"));
            assert_eq!(drain(&mut server), [by_peer(Some(1000), "")]);
        } else {
            server.sender().close(CloseCode::NORMAL, "").unwrap();
        }
        assert_eq!(
            write(&mut server, usize::MAX),
            [plain(0x8a, b"a").repeat(16), plain(0x88, b"\x03\xe8")].concat(),
            "{name}"
        );
    }
}

#[test]
fn stall_timeout_restarts_below_the_mark() {
    let mut server = joined::server(small(), Time::ZERO);
    server.sender().binary(&[0; 2000]).unwrap();
    assert_eq!(
        pass(&mut server, Time::from_millis(20_000), 1500).wait,
        Some(Time::from_millis(50_000)),
        "the ping"
    );
    at(&mut server, Time::from_millis(21_000));
    server.sender().binary(&[0; 2000]).unwrap();
    assert_eq!(server.deadline(), Some(Time::from_millis(51_000)));
}

#[test]
fn unread_output_does_not_delay_a_close() {
    let mut server = joined::server(small(), Time::ZERO);
    server.sender().binary(&[0; 2000]).unwrap();
    server.sender().close(CloseCode::GOING_AWAY, "").unwrap();
    assert_eq!(server.deadline(), Some(Time::from_millis(2000)));
    assert_eq!(at(&mut server, Time::from_millis(2000)), (vec![by_us(false)], false));
    let passed = pass(&mut server, Time::from_millis(4000), 0);
    assert_eq!((passed.unwritten_bytes(), passed.events, passed.closed), (vec![], vec![], vec![()]));
}

#[test]
fn unwanted_bytes_end_the_connection() {
    let mut server = server();
    let ping = masked(0x8a, &[0; 119]);
    assert_eq!(ping.len(), 125);
    let just_enough = ping.repeat(256 * 1024 / 125 + 1);
    server.feed(Time::ZERO, &just_enough[..256 * 1024]);
    assert!(!server.wants_input() && server.space().is_empty());
    assert!(matches!(server.poll(Time::ZERO), Output::Event(OwnedEvent::Pong(_))));
    server.feed(Time::ZERO, b"x");
    assert_eq!(drain(&mut server), [OwnedEvent::Closed(Closed::InputOverflow)]);
    assert_eq!(frames::read(&waiting(&mut server))[0].payload[..2], 1011_u16.to_be_bytes());
    let mut too_much = server_fed_too_much_at_once();
    assert_eq!(drain(&mut too_much), [OwnedEvent::Closed(Closed::InputOverflow)]);
    // Bytes after the end of the transport change nothing.
    let mut ended = self::server();
    ended.feed_eof(Time::ZERO);
    ended.filled(Time::ZERO, usize::MAX);
    ended.feed(Time::ZERO, b"x");
    assert_eq!(drain(&mut ended), [OwnedEvent::Closed(Closed::Abnormal)]);
    ended.feed(Time::ZERO, b"x");
    assert_eq!(drain(&mut ended), []);
}

#[test]
fn feeding_no_bytes_is_no_activity() {
    let pong = masked(0x8a, b"");
    for (name, bytes, is_pinged) in [("nothing", &b""[..], true), ("a pong", &pong, false)] {
        let mut server = pair(&ws::Limits::default()).server;
        let due = server.deadline().unwrap();
        let waits = due.saturating_since(Time::ZERO) - Duration::from_millis(1);
        let before = Time::ZERO.saturating_add(waits);
        server.feed(before, bytes);
        server.filled(before, 0);
        at(&mut server, before);
        let passed = pass(&mut server, due, 0);
        assert_eq!((!passed.unwritten_bytes().is_empty(), passed.events), (is_pinged, vec![]), "{name}");
    }
}

fn server_fed_too_much_at_once() -> ws::Server {
    let mut server = server();
    server.feed(Time::ZERO, &[0x8a; 256 * 1024 + 1]);
    server
}

/// A source of randomness that fails after this many blocks. The key of the handshake takes one
/// block, and 64 masks take one.
fn runs_dry(mut draws: usize) -> impl FnMut(&mut [u8]) -> Result<(), std::fmt::Error> {
    move |out| {
        draws = draws.checked_sub(1).ok_or(std::fmt::Error)?;
        out.fill(7);
        Ok(())
    }
}

#[test]
fn a_client_without_randomness_ends() {
    let mut client =
        ws::Client::new(ws::ClientRequest::new("h"), runs_dry(0), ws::Limits::default(), Time::ZERO).unwrap();
    let passed = pass(&mut client, Time::ZERO, usize::MAX);
    assert_eq!(passed.written_bytes(), b"");
    assert_eq!((passed.events, passed.closed), (vec![OwnedEvent::Closed(Closed::Entropy)], vec![()]));

    for is_answer in [false, true] {
        let request = ws::ClientRequest::new("h");
        let client = ws::Client::new(request, runs_dry(2), ws::Limits::default(), Time::ZERO).unwrap();
        let mut pair = Pair::new(ws::Server::new(ws::Limits::default(), Time::ZERO), client, Time::ZERO);
        let accept = |server: &mut ws::Server, event: &OwnedEvent| {
            if matches!(event, OwnedEvent::Upgrade(_)) {
                server.accept(None).unwrap();
            }
        };
        pair.settle_with(accept, |_, _| {});
        for _ in 0..64 {
            pair.client.sender().text("masked").unwrap();
        }
        let masked = waiting(&mut pair.client);
        let mut sender = pair.client.sender();
        if is_answer {
            let answered = sender.message(To::Unsolicited, |out| out.extend(b"not any more"));
            assert_eq!(answered, Err(NotSent::Closed));
        } else {
            assert_eq!(sender.text("not any more"), Err(SendError::Entropy));
        }
        assert_eq!(sender.text("not any more"), Err(SendError::Closed));
        let passed = pass(&mut pair.client, Time::ZERO, 0);
        assert_eq!(passed.unwritten_bytes(), masked, "nothing is sent without a mask");
        assert_eq!(passed.events, [OwnedEvent::Closed(Closed::Entropy)]);
        pair.settle();
        let texts = pair.server_events.iter().filter(|event| matches!(event, OwnedEvent::Text(_))).count();
        assert_eq!(texts, 64, "messages that were masked before are sent");
    }
}

#[test]
fn a_conversation_at_any_pace() {
    for pace in [1, 2, 7, 100, usize::MAX] {
        let mut pair = pair(&ws::Limits::default());
        pair.cut_into(pace);
        for number in 0..20 {
            pair.client.sender().text(&format!("question {number}")).unwrap();
        }
        pair.client.sender().ping(b"there?").unwrap();
        let echo = |server: &mut ws::Server, event: &OwnedEvent| {
            if let OwnedEvent::Text(text) = event {
                server.sender().text(&text.replace("question", "answer")).unwrap();
            }
        };
        pair.settle_with(echo, |_, _| {});
        let mut expected: Vec<_> =
            (0..20).map(|number| OwnedEvent::Text(format!("answer {number}"))).collect();
        expected.push(OwnedEvent::Pong(b"there?"[..].into()));
        assert_eq!(pair.client_events, expected, "pace {pace}");
        pair.client.sender().close(CloseCode::NORMAL, "").unwrap();
        pair.settle();
        assert_eq!(pair.server_events.last(), Some(&by_peer(Some(1000), "")), "pace {pace}");
    }
}

#[test]
fn quiet_peers_without_keepalive_stay_open() {
    let mut limits = ws::Limits::default();
    limits.keepalive = None;
    let mut pair = pair(&limits);
    assert_eq!((pair.server.deadline(), pair.client.deadline()), (None, None));
    pair.advance(Duration::from_secs(3600));
    assert!(pair.server_events.is_empty() && pair.client_events.is_empty());
    assert!(pair.server.is_open() && pair.client.is_open());
}

#[test]
fn two_quiet_peers_keep_each_other_alive() {
    let mut pair = pair(&ws::Limits::default());
    pair.advance(Duration::from_secs(3600));
    // Both sides ping at the same times, so each side receives a ping and a pong every 30 s.
    for events in [&pair.server_events, &pair.client_events] {
        assert_eq!(events.iter().filter(|event| **event == OwnedEvent::Ping(Box::default())).count(), 120);
        assert_eq!(events.len(), 240);
    }
    assert!(pair.server.is_open() && pair.client.is_open());
}

/// K1 and K7, both roles: a silent peer is pinged after 30 s, and the connection ends after 60 s. A
/// side that has slept pings first.
#[test]
fn silent_peer_is_pinged_then_closed() {
    fn check(mut peer: impl Machine<Event = OwnedEvent, Conn = ()>, ping_len: usize) {
        // Both sides opened at 1 s.
        let seconds = |seconds| Time::new(Duration::from_secs(seconds + 1));
        pass(&mut peer, seconds(0), usize::MAX);
        let mut at = |now: u64| {
            let passed = pass(&mut peer, seconds(now), usize::MAX);
            (passed.written_bytes().len(), passed.events, passed.closed)
        };
        assert_eq!(at(29), (0, vec![], vec![]));
        assert_eq!(at(30), (ping_len, vec![], vec![]));
        assert_eq!(at(59), (0, vec![], vec![]));
        // The computer sleeps.
        assert_eq!(at(8 * 3600), (ping_len, vec![], vec![]));
        assert_eq!(at(8 * 3600 + 29), (0, vec![], vec![]));
        let ending = vec![OwnedEvent::Closed(Closed::TimedOut)];
        assert_eq!(at(8 * 3600 + 30), (0, ending, vec![()]));
    }
    let both = pair(&ws::Limits::default());
    check(both.server, 2);
    check(both.client, 6);
}

#[test]
fn random_closing_order_ends_both_once() {
    for seed in 0..2000 {
        let mut random = Random::new(seed);
        let mut pair = pair(&small());
        pair.cut_into(1 + random.below(40));
        for _ in 0..12 {
            let _ = match random.below(9) {
                0 => pair.server.sender().close(CloseCode::NORMAL, "s"),
                1 => pair.client.sender().close(CloseCode::GOING_AWAY, "c"),
                2 => pair.server.sender().text("from the server"),
                3 => pair.client.sender().binary(&[3; 900]),
                4 => pair.client.sender().ping(b"?"),
                5 if random.one_in(4) => {
                    pair.server.feed_eof(pair.now);
                    Ok(())
                }
                6 if random.one_in(4) => {
                    pair.client.feed_eof(pair.now);
                    Ok(())
                }
                7 => {
                    pair.advance(Duration::from_millis(random.below(1500).try_into().unwrap()));
                    Ok(())
                }
                _ => {
                    pair.settle();
                    Ok(())
                }
            };
        }
        let _ = pair.server.sender().close(CloseCode::NORMAL, "at last");
        pair.advance(Duration::from_secs(60));
        assert!(pair.is_over(), "seed {seed}");
        for events in [&pair.server_events, &pair.client_events] {
            let endings = events.iter().filter(|event| matches!(event, OwnedEvent::Closed(_))).count();
            assert_eq!(endings, 1, "seed {seed}: {events:?}");
            assert!(matches!(events.last(), Some(OwnedEvent::Closed(_))), "seed {seed}");
        }
    }
}
