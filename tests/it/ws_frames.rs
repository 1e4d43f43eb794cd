//! Frames and messages of `ws`: RFC 6455 section 5, each vector fed whole, byte by byte, and cut at
//! every two points.

use crate::support::cost;
use crate::support::cuts::{self, CutName};
use crate::support::frames::{self, HEAD, head_len, masked, plain};
use crate::support::joined::{self, drain, waiting, write};
use ide_mcp::testing::Random;
use ide_mcp::ws::{self, Closed, OwnedEvent, Part, ProtocolError, SendError};
use ide_mcp::{Outbox as _, Output, Time, To};

fn server(limits: ws::Limits) -> ws::Server {
    joined::server(limits, Time::ZERO)
}

/// Returns an open client that has written its request.
fn client(seed: u64) -> ws::Client {
    let limits = ws::Limits::default();
    let mut client =
        ws::Client::new(ws::ClientRequest::new("h"), Random::new(seed).source(), limits, Time::ZERO).unwrap();
    let mut server = ws::Server::new(ws::Limits::default(), Time::ZERO);
    server.feed(Time::ZERO, &waiting(&mut client));
    assert!(matches!(drain(&mut server)[..], [OwnedEvent::Upgrade(_)]));
    server.accept(None).unwrap();
    client.feed(Time::ZERO, &waiting(&mut server));
    assert!(matches!(drain(&mut client)[..], [OwnedEvent::Open { .. }]));
    write(&mut client, usize::MAX);
    client
}

/// The events and the output that some bytes lead to.
#[derive(Debug, PartialEq, Eq)]
struct Outcome {
    events: Vec<OwnedEvent>,
    output: Vec<u8>,
}

/// Feeds a machine these pieces. Returns the outcome, and the number of bytes after which the
/// machine ended.
macro_rules! feed {
    ($machine:expr, $pieces:expr) => {{
        let (mut machine, mut events, mut fed, mut ended) = ($machine, Vec::new(), 0, None);
        for piece in $pieces {
            machine.feed(Time::ZERO, piece);
            events.extend(drain(&mut machine));
            fed += piece.len();
            if ended.is_none() && matches!(events.last(), Some(OwnedEvent::Closed(_))) {
                ended = Some(fed);
            }
        }
        (Outcome { events, output: waiting(&mut machine) }, ended)
    }};
}

fn text(text: &str) -> OwnedEvent {
    OwnedEvent::Text(text.into())
}

fn ping(payload: &[u8]) -> OwnedEvent {
    OwnedEvent::Ping(payload.into())
}

/// A mask of zeros, which keeps vectors readable.
const M: [u8; 4] = [0; 4];

fn bytes(parts: &[&[u8]]) -> Vec<u8> {
    parts.concat()
}

#[test]
fn valid_frames_are_delivered() {
    let cases: Vec<(&str, Vec<u8>, Vec<OwnedEvent>, Vec<u8>)> = vec![
        ("F1: a text", bytes(&[b"\x81\x82", &M, b"Hi"]), vec![text("Hi")], vec![]),
        (
            "F12: a ping inside a fragmented text",
            bytes(&[b"\x01\x81", &M, b"H\x89\x80", &M, b"\x80\x81", &M, b"i"]),
            vec![ping(b""), text("Hi")],
            plain(0x8a, b""),
        ),
        (
            "F13: a character split over fragments",
            bytes(&[b"\x01\x81", &M, b"\xc3\x80\x81", &M, b"\xa9"]),
            vec![text("\u{e9}")],
            vec![],
        ),
        ("a binary message", masked(0x82, b"\xff\0"), vec![OwnedEvent::Binary(b"\xff\0".into())], vec![]),
        (
            "a binary message in three fragments",
            bytes(&[&masked(0x02, b"a"), &masked(0x00, b""), &masked(0x80, b"b")]),
            vec![OwnedEvent::Binary(b"ab".into())],
            vec![],
        ),
        (
            "ASCII first, then characters of every length",
            masked(0x81, "plain \u{e9}\u{20ac}\u{1f980}\u{10ffff} plain".as_bytes()),
            vec![text("plain \u{e9}\u{20ac}\u{1f980}\u{10ffff} plain")],
            vec![],
        ),
        (
            "a text, a ping, and another text",
            bytes(&[&masked(0x81, b"first"), &masked(0x89, b"?"), &masked(0x81, "z\u{e4}".as_bytes())]),
            vec![text("first"), ping(b"?"), text("z\u{e4}")],
            plain(0x8a, b"?"),
        ),
        ("an empty text", masked(0x81, b""), vec![text("")], vec![]),
        (
            "an empty text in two fragments",
            bytes(&[&masked(0x01, b""), &masked(0x80, b"")]),
            vec![text("")],
            vec![],
        ),
        (
            "a pong that was not asked for",
            masked(0x8a, b"x"),
            vec![OwnedEvent::Pong(b"x"[..].into())],
            vec![],
        ),
        ("a ping of 125 bytes", masked(0x89, &[7; 125]), vec![ping(&[7; 125])], plain(0x8a, &[7; 125])),
        ("125 bytes", masked(0x81, &[b'a'; 125]), vec![text(&"a".repeat(125))], vec![]),
        ("126 bytes", masked(0x81, &[b'a'; 126]), vec![text(&"a".repeat(126))], vec![]),
        ("65,535 bytes", masked(0x81, &[b'a'; 65_535]), vec![text(&"a".repeat(65_535))], vec![]),
        ("65,536 bytes", masked(0x81, &[b'a'; 65_536]), vec![text(&"a".repeat(65_536))], vec![]),
    ];
    for (name, bytes, events, output) in cases {
        let expected = Outcome { events, output };
        for cut in cuts::ways(&bytes) {
            let (found, _) = feed!(server(ws::Limits::default()), cut.pieces);
            assert_eq!(found, expected, "{name}, {}", cut.name);
        }
    }
}

#[test]
fn invalid_frames_end_the_connection() {
    use ProtocolError as V;
    let long = |prefix: &[u8]| bytes(&[prefix, &M, &[b'x'; 300]]);
    // The number of bytes of the vector after which the violation must be reported.
    let cases: Vec<(&str, Vec<u8>, ProtocolError, usize)> = vec![
        ("F2: not masked", b"\x81\x02Hi".to_vec(), V::Unmasked, 2),
        ("F3: RSV1", masked(0xc1, b"Hi"), V::ReservedBit, 1),
        ("F3: RSV2", masked(0xa1, b"Hi"), V::ReservedBit, 1),
        ("F3: RSV3", masked(0x91, b"Hi"), V::ReservedBit, 1),
        ("F4: opcode 3", masked(0x83, b""), V::ReservedOpcode, 1),
        ("F4: opcode 7", masked(0x87, b""), V::ReservedOpcode, 1),
        ("F4: opcode 11", masked(0x8b, b""), V::ReservedOpcode, 1),
        ("F4: opcode 15", masked(0x8f, b""), V::ReservedOpcode, 1),
        ("F5: a ping above 125 bytes", long(b"\x89\xfe\x01\x2c"), V::LongControlFrame, 2),
        ("F5: a close frame above 125 bytes", long(b"\x88\xff"), V::LongControlFrame, 2),
        ("F6: a fragmented ping", masked(0x09, b""), V::FragmentedControlFrame, 1),
        ("F6: a fragmented close frame", masked(0x08, b""), V::FragmentedControlFrame, 1),
        (
            "F7: a 64-bit length with its top bit set",
            b"\x81\xff\x80\0\0\0\0\0\0\0".to_vec(),
            V::LengthOutOfRange,
            10,
        ),
        ("F8: 2^63-1", b"\x81\xff\x7f\xff\xff\xff\xff\xff\xff\xff".to_vec(), V::MessageTooBig, 10),
        ("F9: a length of 2 in 16 bits", bytes(&[b"\x81\xfe\0\x02", &M, b"Hi"]), V::LengthNotMinimal, 4),
        (
            "F9: a length of 2 in 64 bits",
            bytes(&[b"\x81\xff\0\0\0\0\0\0\0\x02", &M, b"Hi"]),
            V::LengthNotMinimal,
            10,
        ),
        ("F10: a continuation first", masked(0x80, b""), V::StrayContinuation, 1),
        (
            "F11: a text inside a text",
            bytes(&[&masked(0x01, b""), &masked(0x81, b"")]),
            V::InterleavedMessage,
            7,
        ),
        (
            "F11: a binary message inside a text",
            bytes(&[&masked(0x01, b"a"), &masked(0x02, b"")]),
            V::InterleavedMessage,
            8,
        ),
        ("F14: not UTF-8, not finished", masked(0x01, b"\xff"), V::InvalidUtf8, 7),
        ("F14: at its first wrong byte", masked(0x81, b"ab\xffcdef"), V::InvalidUtf8, 9),
        ("F14: after a valid character", masked(0x81, b"ab\xc3\xa9\x80f"), V::InvalidUtf8, 11),
        ("F15: a surrogate", masked(0x81, b"\xed\xa0\x80"), V::InvalidUtf8, 8),
        ("F15: overlong", masked(0x81, b"\xc0\xaf"), V::InvalidUtf8, 7),
        ("F15: above U+10FFFF", masked(0x81, b"\xf4\x90\x80\x80"), V::InvalidUtf8, 8),
        ("a text that ends within a character", masked(0x81, b"a\xe2\x82"), V::InvalidUtf8, 9),
        (
            "a text whose last fragment is empty and ends within a character",
            bytes(&[&masked(0x01, b"\xe2\x82"), &masked(0x80, b"")]),
            V::InvalidUtf8,
            14,
        ),
        ("F16: a close frame of one byte", masked(0x88, b"\x03"), V::TruncatedCloseCode, 7),
        ("F17: 999", masked(0x88, b"\x03\xe7"), V::InvalidCloseCode(999), 8),
        ("F17: 1004", masked(0x88, b"\x03\xec"), V::InvalidCloseCode(1004), 8),
        ("F17: 1005", masked(0x88, b"\x03\xed"), V::InvalidCloseCode(1005), 8),
        ("F17: 1006", masked(0x88, b"\x03\xee"), V::InvalidCloseCode(1006), 8),
        ("F17: 1015", masked(0x88, b"\x03\xf7"), V::InvalidCloseCode(1015), 8),
        ("F17: 1016", masked(0x88, b"\x03\xf8"), V::InvalidCloseCode(1016), 8),
        ("F17: 2999", masked(0x88, b"\x0b\xb7"), V::InvalidCloseCode(2999), 8),
        ("F17: 5000", masked(0x88, b"\x13\x88"), V::InvalidCloseCode(5000), 8),
        ("F19: a reason that is not UTF-8", masked(0x88, b"\x03\xe8\xff"), V::InvalidUtf8, 9),
    ];
    for (name, vector, violation, known_at) in cases {
        let before = masked(0x82, b"in front");
        let behind = [masked(0x81, b"behind"), masked(0x89, b""), masked(0x88, b"\x03\xe8")].concat();
        let vector = [before.clone(), vector, behind].concat();
        for cut in cuts::ways(&vector) {
            let (found, ended) = feed!(server(ws::Limits::default()), cut.pieces);
            let events = [
                OwnedEvent::Binary(b"in front".into()),
                OwnedEvent::Closed(Closed::ProtocolError(violation)),
            ];
            assert_eq!(found.events, events, "{name}, {}", cut.name);
            assert_close(&found.output, violation.close_code().get(), name);
            if cut.name == CutName::Every(1) {
                assert_eq!(ended, Some(before.len() + known_at), "{name}");
            }
        }
    }
}

/// Asserts that the output is one close frame with this code.
fn assert_close(output: &[u8], code: u16, name: &str) {
    let frames = frames::read(output);
    let [frame] = frames.as_slice() else { panic!("{name}: {frames:?}") };
    assert_eq!((frame.first, frame.key), (0x88, None), "{name}");
    assert_eq!(frame.payload[..2], code.to_be_bytes(), "{name}");
}

#[test]
fn violations_have_their_rfc_close_codes() {
    for (violation, code) in [
        (ProtocolError::ReservedBit, 1002),
        (ProtocolError::Unmasked, 1002),
        (ProtocolError::InvalidCloseCode(1006), 1002),
        (ProtocolError::InvalidUtf8, 1007),
        (ProtocolError::TooManyEmptyFragments, 1008),
        (ProtocolError::MessageTooBig, 1009),
        (ProtocolError::UnexpectedBinary, 1003),
    ] {
        assert_eq!(violation.close_code().get(), code, "{violation:?}");
    }
}

#[test]
fn a_client_takes_no_masked_frame() {
    for cut in cuts::ways(&masked(0x81, b"Hi")) {
        let (found, ended) = feed!(client(1), cut.pieces);
        assert_eq!(
            found.events,
            [OwnedEvent::Closed(Closed::ProtocolError(ProtocolError::Masked))],
            "{}",
            cut.name
        );
        if cut.name == CutName::Every(1) {
            assert_eq!(ended, Some(2));
        }
    }
}

/// The limit of unwritten pongs.
const PONGS: u32 = 16;

#[test]
fn ping_above_125_bytes_is_refused() {
    let mut server = server(ws::Limits::default());
    for (len, result) in [(126, Err(SendError::TooLong)), (200, Err(SendError::TooLong)), (125, Ok(()))] {
        assert_eq!(server.sender().ping(&vec![7; len]), result, "{len}");
    }
    assert_eq!(waiting(&mut server), plain(0x89, &[7; 125]));
}

#[test]
fn pongs_beyond_sixteen_shrink_to_the_latest() {
    // Cases 2.10 and 2.11 of the Autobahn test suite send ten pings.
    for sent in [1, 3, 10, PONGS, PONGS + 1, PONGS + 5] {
        let pings: Vec<u8> = (0..sent).flat_map(|n| masked(0x89, &n.to_be_bytes())).collect();
        let at_once: Vec<u8> = (0..sent.min(PONGS)).flat_map(|n| plain(0x8a, &n.to_be_bytes())).collect();
        let later = if sent > PONGS { plain(0x8a, &(sent - 1).to_be_bytes()) } else { Vec::new() };
        for piece in [pings.len(), 1] {
            let mut server = server(ws::Limits::default());
            for piece in pings.chunks(piece) {
                server.feed(Time::ZERO, piece);
                drain(&mut server);
            }
            assert_eq!(waiting(&mut server), at_once, "{sent} pings");
            write(&mut server, at_once.len() - 1);
            assert_eq!(waiting(&mut server), &at_once[at_once.len() - 1..], "{sent} pings");
            write(&mut server, 1);
            assert_eq!(waiting(&mut server), later, "{sent} pings");
            write(&mut server, later.len());
            assert_eq!(waiting(&mut server), b"", "{sent} pings");
            // The count starts anew.
            server.feed(Time::ZERO, &pings);
            drain(&mut server);
            assert_eq!(waiting(&mut server), at_once, "{sent} pings");
        }
    }
}

#[test]
fn released_pong_counts_in_the_next_flood() {
    let flood = |first: u32| (first..first + PONGS + 1).flat_map(|n| masked(0x89, &n.to_be_bytes()));
    let pongs = |numbers: std::ops::Range<u32>| numbers.flat_map(|n| plain(0x8a, &n.to_be_bytes()));
    let mut server = server(ws::Limits::default());
    let mut answered = |pings: Vec<u8>| {
        // The pong that waits comes after what is written.
        let unwritten = waiting(&mut server).len();
        write(&mut server, unwritten);
        server.feed(Time::ZERO, &pings);
        drain(&mut server);
        waiting(&mut server)
    };
    assert!(answered(flood(0).collect()).into_iter().eq(pongs(0..PONGS)));
    // The pong that waited is the first of the next sixteen.
    let second = answered(flood(100).collect());
    assert!(second.into_iter().eq(pongs(PONGS..PONGS + 1).chain(pongs(100..100 + PONGS - 1))));
    let third = answered(flood(200).collect());
    assert!(third.into_iter().eq(pongs(100 + PONGS..101 + PONGS).chain(pongs(200..200 + PONGS - 1))));
}

#[test]
fn ping_flood_without_reading_uses_bounded_memory() {
    let mut server = server(ws::Limits::default());
    let cost = cost::of(|| {
        for number in 0..100_000_u32 {
            server.feed(Time::ZERO, &masked(0x89, &number.to_be_bytes()));
            drain(&mut server);
        }
    });
    let first: Vec<u8> = (0..PONGS).flat_map(|n| plain(0x8a, &n.to_be_bytes())).collect();
    assert_eq!(write(&mut server, first.len()), first);
    assert_eq!(waiting(&mut server), plain(0x8a, &99_999_u32.to_be_bytes()));
    assert!(cost.peak < 64 * 1024, "{cost:?}");
}

#[test]
fn claimed_length_alone_costs_no_memory() {
    for (name, head) in [
        ("15 MiB", &b"\x82\xff\0\0\0\0\0\xf0\0\0"[..]),
        ("64 MiB", b"\x81\xff\0\0\0\0\x04\0\0\0"),
        ("2^63-1", b"\x81\xff\x7f\xff\xff\xff\xff\xff\xff\xff"),
    ] {
        let mut server = server(ws::Limits::default());
        let cost = cost::of(|| {
            server.feed(Time::ZERO, &bytes(&[head, &M, b"begun"]));
            drain(&mut server);
        });
        assert!(cost.peak < 64 * 1024, "{name}: {cost:?}");
    }
}

/// Memory grows with the bytes that were received, whatever length the header claims, and wherever a
/// text ceases to be ASCII.
#[test]
fn memory_follows_the_received_bytes() {
    const KIB: usize = 1024;
    let header = |first| bytes(&[&[first, 0xff], &(60_u64 << 20).to_be_bytes(), &M]);
    let cases: &[(&str, u8, usize, &str)] = &[
        ("binary", 0x82, 0, ""),
        ("ASCII", 0x81, 0, ""),
        ("not ASCII from the beginning", 0x81, 0, "\u{e9}"),
        ("not ASCII after a little", 0x81, 16, "\u{e9}"),
        ("not ASCII after a while", 0x81, 100, "\u{e9}"),
        ("not ASCII after long", 0x81, 700, "\u{e9}"),
    ];
    for (name, first, plain, strange) in cases {
        let beginning = [&header(*first)[..], &b"x".repeat(plain * KIB), strange.as_bytes()].concat();
        let sent = [beginning, b"y".repeat(1500 * KIB)].concat();
        for received in [20 * KIB, 100 * KIB, 600 * KIB, 705 * KIB, 1400 * KIB] {
            let mut server = server(ws::Limits::default());
            server.trim();
            let cost = cost::of(|| {
                let mut left = &sent[..received];
                while !left.is_empty() {
                    let space = server.space();
                    let n = space.len().min(left.len());
                    space[..n].copy_from_slice(&left[..n]);
                    server.filled(Time::ZERO, n);
                    assert_eq!(drain(&mut server), []);
                    left = &left[n..];
                }
            });
            // Twice the received bytes and 64 KiB, and the old buffer beside the new one while it
            // grows.
            let most = u64::try_from(3 * received + 64 * KIB).unwrap();
            assert!(cost.peak <= most, "{name}, {received} bytes: {cost:?}");
        }
    }
}

#[test]
fn messages_after_our_close_frame_are_dropped() {
    for first in [0x81, 0x82] {
        for begun in [0, 10, 100_000] {
            let mut server = server(ws::Limits::default());
            let mut frame = masked(first, &vec![b'x'; 4 << 20]);
            let rest = frame.split_off(14 + begun);
            server.feed(Time::ZERO, &frame);
            assert_eq!(drain(&mut server), []);
            server.sender().close(ws::CloseCode::NORMAL, "").unwrap();
            let cost = cost::of(|| {
                for piece in rest.chunks(10_000) {
                    server.feed(Time::ZERO, piece);
                    assert_eq!(drain(&mut server), []);
                }
            });
            let most = u64::try_from(2 * begun + 128 * 1024).unwrap();
            assert!(cost.peak < most, "{first:x}, {begun}: {cost:?}");
            server.feed(Time::ZERO, &masked(0x88, b"\x03\xe8"));
            let ending = [OwnedEvent::Closed(Closed::Local { clean: true })];
            assert_eq!(drain(&mut server), ending, "{first:x}, {begun}");
        }
    }
}

fn limited(message: usize) -> ws::Limits {
    let mut limits = ws::Limits::default();
    limits.message = message;
    limits
}

#[test]
fn message_above_the_limit_is_refused() {
    let cases: Vec<(&str, Vec<u8>, Option<usize>)> = vec![
        ("1000 bytes", masked(0x82, &[1; 1000]), None),
        ("1001 bytes", masked(0x82, &[1; 1001]), Some(4)),
        ("F24: 600 and 400 bytes", bytes(&[&masked(0x02, &[1; 600]), &masked(0x80, &[1; 400])]), None),
        (
            "F24: 600 and 401 bytes",
            bytes(&[&masked(0x02, &[1; 600]), &masked(0x80, &[1; 401])]),
            Some(608 + 4),
        ),
        (
            "1000 bytes and two empty fragments",
            bytes(&[&masked(0x02, &[1; 1000]), &masked(0x00, b""), &masked(0x80, b"")]),
            None,
        ),
        ("1000 bytes and one more", bytes(&[&masked(0x02, &[1; 1000]), &masked(0x00, b"1")]), Some(1008 + 2)),
        (
            "a ping in between, which does not count",
            bytes(&[&masked(0x02, &[1; 1000]), &masked(0x89, &[1; 125]), &masked(0x80, b"")]),
            None,
        ),
    ];
    for (name, vector, known_at) in cases {
        for cut in cuts::ways(&vector) {
            let (found, ended) = feed!(server(limited(1000)), cut.pieces);
            match known_at {
                None => {
                    let expected = OwnedEvent::Binary(vec![1; 1000]);
                    assert_eq!(found.events.last(), Some(&expected), "{name}, {}", cut.name);
                }
                Some(known_at) => {
                    let expected = [OwnedEvent::Closed(Closed::ProtocolError(ProtocolError::MessageTooBig))];
                    assert_eq!(found.events, expected, "{name}, {}", cut.name);
                    assert_close(&found.output, 1009, name);
                    if cut.name == CutName::Every(1) {
                        assert_eq!(ended, Some(known_at), "{name}");
                    }
                }
            }
        }
    }
}

#[test]
fn each_message_has_the_whole_limit() {
    let whole = masked(0x82, &[1; 10]);
    let in_parts = [masked(0x02, &[1; 6]), masked(0x80, &[1; 4])].concat();
    for (name, message) in [("whole", whole), ("in parts", in_parts)] {
        for piece in [usize::MAX, 5, 1] {
            let messages = message.repeat(3);
            let (found, _) = feed!(server(limited(10)), messages.chunks(piece.min(messages.len())));
            assert_eq!(
                found.events,
                vec![OwnedEvent::Binary(vec![1; 10]); 3],
                "{name}, in pieces of {piece}"
            );
        }
    }
}

#[test]
fn empty_fragments_have_a_limit() {
    assert_eq!(ws::Limits::default().empty_fragments, 1024);
    let message =
        |empty: usize| bytes(&[&masked(0x01, b"a"), &masked(0x00, b"").repeat(empty), &masked(0x80, b"b")]);
    for piece in [usize::MAX, 1] {
        let piece = piece.min(message(1025).len());
        let (found, _) = feed!(server(ws::Limits::default()), message(1024).chunks(piece));
        assert_eq!(found.events, [text("ab")]);
        let (found, _) = feed!(server(ws::Limits::default()), message(1025).chunks(piece));
        let expected = OwnedEvent::Closed(Closed::ProtocolError(ProtocolError::TooManyEmptyFragments));
        assert_eq!(found.events, [expected]);
        assert_close(&found.output, 1008, "1025 empty fragments");
    }
}

#[test]
fn tiny_fragments_cost_only_their_payload() {
    let fragment = masked(0x00, b"a");
    let all = bytes(&[&masked(0x01, b"a"), &fragment.repeat(99_998), &masked(0x80, b"a")]);
    let mut server = server(ws::Limits::default());
    let mut events = 0;
    let cost = cost::of(|| {
        for piece in all.chunks(4096) {
            server.feed(Time::ZERO, piece);
            while let Some((event, _)) = server.poll_borrowed() {
                assert!(matches!(event, ws::Event::Text(text) if text.len() == 100_000));
                events += 1;
            }
        }
    });
    assert_eq!(events, 1);
    // The buffer of the message may have doubled just below its length, and the receive buffer is
    // beside it.
    assert!(cost.peak < 2 * 100_000 + 32 * 1024, "{cost:?}");
}

#[test]
fn more_than_the_space_ends_the_connection() {
    let mut server = server(ws::Limits::default());
    server.feed(Time::ZERO, &masked(0x82, &[0x8a; 100_000]));
    assert!(matches!(drain(&mut server)[..], [OwnedEvent::Binary(_)]));
    assert_eq!(drain(&mut server), []);
    // The buffer is larger than the space that it offers, and full of old bytes that are not frames.
    let space = server.space();
    let pongs = masked(0x8a, b"").repeat(space.len() / 6 + 1);
    let len = space.len();
    space.copy_from_slice(&pongs[..len]);
    server.filled(Time::ZERO, usize::MAX);
    let events: Vec<_> = drain(&mut server);
    assert_eq!(events, [OwnedEvent::Closed(Closed::InputOverflow)]);
    // After the end nothing changes.
    server.filled(Time::ZERO, usize::MAX);
    assert_eq!(drain(&mut server), []);
}

#[test]
fn unmasking_works_at_any_length_and_cut() {
    let mut random = Random::new(11);
    for round in 0..400 {
        let key = *random.bytes(4).first_chunk().unwrap();
        let len = match round % 20 {
            0 => 65_530 + random.below(12),
            1..5 => random.below(300),
            _ => random.below(70),
        };
        let payload = random.bytes(len);
        let cut = 1 + random.below(len + 1);
        let (found, _) =
            feed!(server(ws::Limits::default()), frames::frame(0x82, Some(key), &payload).chunks(cut));
        assert_eq!(found.events, [OwnedEvent::Binary(payload)], "key {key:?}, {len} bytes cut every {cut}");
    }
}

#[test]
fn a_server_never_masks() {
    let mut server = server(ws::Limits::default());
    let mut sender = server.sender();
    sender.text("text").unwrap();
    sender.binary(&[1; 70_000]).unwrap();
    sender.ping(b"ping").unwrap();
    sender.message(To::Unsolicited, |out| out.extend(b"written in place")).unwrap();
    server.feed(Time::ZERO, &masked(0x89, b"answered"));
    assert_eq!(drain(&mut server), [ping(b"answered")]);
    server.sender().close(ws::CloseCode::NORMAL, "bye").unwrap();
    let found = frames::read(&waiting(&mut server));
    let expected = [
        (0x81, b"text".to_vec()),
        (0x82, vec![1; 70_000]),
        (0x89, b"ping".to_vec()),
        (0x81, b"written in place".to_vec()),
        (0x8a, b"answered".to_vec()),
        (0x88, b"\x03\xe8bye".to_vec()),
    ];
    assert_eq!(found.len(), expected.len());
    for (found, (first, payload)) in found.into_iter().zip(expected) {
        assert_eq!(found, frames::Read { first, key: None, payload });
    }
}

#[test]
fn client_always_masks_with_a_fresh_key() {
    let mut client = client(5);
    for _ in 0..300 {
        client.sender().text("the same").unwrap();
        client.sender().message(To::Unsolicited, |out| out.extend(b"the same")).unwrap();
    }
    client.feed(Time::ZERO, &plain(0x89, b"answered"));
    assert_eq!(drain(&mut client), [ping(b"answered")]);
    client.sender().ping(b"").unwrap();
    client.sender().close(ws::CloseCode::NORMAL, "").unwrap();
    let found = frames::read(&waiting(&mut client));
    let mut keys: Vec<_> = found.iter().map(|frame| frame.key.unwrap()).collect();
    assert!(found[..600].iter().all(|frame| frame.first == 0x81 && frame.payload == b"the same"));
    let firsts: Vec<_> = found[600..].iter().map(|frame| frame.first).collect();
    assert_eq!(firsts, [0x8a, 0x89, 0x88]);
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), 603, "a key was used twice");
}

#[test]
fn messages_in_place_have_the_right_header() {
    for len in [1, 125, 126, 127, 65_535, 65_536, 70_000] {
        let payload = vec![b'x'; len];
        let mut server = server(ws::Limits::default());
        server.sender().text("in front").unwrap();
        server.sender().message(To::Unsolicited, |out| out.extend(&payload)).unwrap();
        server.sender().text("behind").unwrap();
        let expected = bytes(&[&plain(0x81, b"in front"), &plain(0x81, &payload), &plain(0x81, b"behind")]);
        assert_eq!(waiting(&mut server), expected, "{len} bytes");
        let mut client = client(9);
        client.sender().message(To::Unsolicited, |out| out.extend(&payload)).unwrap();
        assert_eq!(frames::read(&waiting(&mut client))[0].payload, payload, "{len} bytes");
    }
}

#[test]
fn empty_message_in_place_sends_nothing() {
    let mut server = server(ws::Limits::default());
    server.sender().message(To::Unsolicited, |_| {}).unwrap();
    assert_eq!(waiting(&mut server), b"");
    let mut client = client(9);
    client.sender().message(To::Unsolicited, |_| {}).unwrap();
    assert_eq!(waiting(&mut client), b"");
}

#[test]
fn echo_allocates_no_memory() {
    let mut server = server(ws::Limits::default());
    let frame = masked(0x81, &[b'x'; 1000]);
    let mut round = || {
        server.feed(Time::ZERO, &frame);
        while let Some((event, mut sender)) = server.poll_borrowed() {
            if let ws::Event::Text(text) = event {
                sender.text(text).unwrap();
            }
        }
        let Output::Write { bytes, .. } = server.poll(Time::ZERO) else { panic!("no answer") };
        assert_eq!(bytes.len(), 1004);
        server.written(1004);
        assert!(matches!(server.poll(Time::ZERO), Output::Wait(_)));
    };
    round();
    round();
    assert_eq!(cost::of(round).allocated, 0);
}

#[test]
fn the_head_of_the_answer_is_whole() {
    let mut server = ws::Server::new(ws::Limits::default(), Time::ZERO);
    server.feed(Time::ZERO, HEAD.as_bytes());
    assert!(matches!(drain(&mut server)[..], [OwnedEvent::Upgrade(_)]));
    server.accept(None).unwrap();
    server.sender().text("first").unwrap();
    let output = waiting(&mut server);
    let (head, frames) = output.split_at(head_len(&output));
    assert!(head.starts_with(b"HTTP/1.1 101 "));
    assert_eq!(frames, plain(0x81, b"first"));
}

#[test]
fn a_message_can_be_sent_in_parts() {
    let mut server = server(ws::Limits::default());
    let mut sender = server.sender();
    sender.text_part("a", Part::More).unwrap();
    sender.ping(b"between").unwrap();
    sender.text_part("", Part::More).unwrap();
    assert_eq!(sender.text("whole"), Err(SendError::Unfinished));
    assert_eq!(sender.binary(b"whole"), Err(SendError::Unfinished));
    assert_eq!(sender.binary_part(b"other", Part::Last), Err(SendError::Unfinished));
    assert!(sender.message(To::Unsolicited, |out| out.extend(b"refused")).is_err());
    sender.text_part("b", Part::Last).unwrap();
    sender.binary_part(b"c", Part::Last).unwrap();
    sender.text("d").unwrap();
    let expected = [
        plain(0x01, b"a"),
        plain(0x89, b"between"),
        plain(0x00, b""),
        plain(0x80, b"b"),
        plain(0x82, b"c"),
        plain(0x81, b"d"),
    ];
    assert_eq!(waiting(&mut server), expected.concat());
}

#[test]
fn masked_parts_form_one_message() {
    let mut client = client(3);
    for (index, part) in ["h\u{e9}", "", "llo"].into_iter().enumerate() {
        client.sender().text_part(part, if index == 2 { Part::Last } else { Part::More }).unwrap();
    }
    let mut server = server(ws::Limits::default());
    server.feed(Time::ZERO, &waiting(&mut client));
    assert_eq!(drain(&mut server), [OwnedEvent::Text("h\u{e9}llo".into())]);
    assert_eq!(drain(&mut server), []);
}

#[test]
fn empty_fragments_are_counted_for_each_message() {
    let mut limits = ws::Limits::default();
    limits.empty_fragments = 2;
    let mut server = server(limits);
    let message = [masked(0x01, b""), masked(0x00, b""), masked(0x80, b"x")].concat();
    server.feed(Time::ZERO, &message.repeat(5));
    assert_eq!(drain(&mut server), vec![OwnedEvent::Text("x".into()); 5]);
    server.feed(Time::ZERO, &[masked(0x01, b""), masked(0x00, b"").repeat(2)].concat());
    let violation = ProtocolError::TooManyEmptyFragments;
    assert_eq!(drain(&mut server), [OwnedEvent::Closed(Closed::ProtocolError(violation))]);
}
