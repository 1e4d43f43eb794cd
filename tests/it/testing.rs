//! The test harness itself: what a link does to bytes, and that scripts of any bytes end.

use std::time::Duration;

use crate::support::joined;
use ide_mcp::{
    Time,
    testing::{Change, Link, Pair, Random, Span, Step, Way, pass, script},
    ws::{self, Closed, OwnedEvent},
};

type Sockets = Pair<ws::Server, ws::Client>;

/// Returns a server and a client, open, at 0 ms.
fn open() -> Sockets {
    joined::open(&ws::Limits::default(), Time::ZERO)
}

fn wait(pair: &mut Sockets, millis: u64) {
    pair.advance(Duration::from_millis(millis));
}

/// Returns the messages that the server has received, and a mark for the end of the transport.
fn received(pair: &Sockets) -> Vec<&str> {
    let texts = pair.server_events.iter().filter_map(|event| match event {
        OwnedEvent::Text(text) => Some(text.as_str()),
        OwnedEvent::Closed(Closed::Abnormal) => Some("the end"),
        _ => None,
    });
    texts.collect()
}

#[test]
fn delay_is_exact_and_keeps_the_order() {
    let mut pair = open();
    pair.to_server.delay = Duration::from_millis(100);
    pair.client.sender().text("slow").unwrap();
    pair.settle();
    assert_eq!(pair.deadline(), Some(Time::from_millis(100)));
    pair.to_server.delay = Duration::ZERO;
    pair.client.sender().text("fast").unwrap();
    wait(&mut pair, 99);
    assert_eq!(received(&pair), [""; 0]);
    wait(&mut pair, 1);
    assert_eq!(received(&pair), ["slow", "fast"]);
}

#[test]
fn stalled_link_holds_64_kib_then_resumes() {
    let mut pair = open();
    pair.to_server.stall(Time::from_millis(500));
    let text = "x".repeat(100_000);
    pair.client.sender().text(&text).unwrap();
    wait(&mut pair, 499);
    assert_eq!(received(&pair), [""; 0]);
    let waiting = pass(&mut pair.client, pair.now, 0).unwritten_bytes().len();
    assert_eq!(waiting, 100_000 + 14 - 64 * 1024, "the link takes 64 KiB");
    wait(&mut pair, 1);
    assert!(received(&pair) == [text]);
}

#[test]
fn pieces_never_exceed_their_limit() {
    for (piece, rounds) in [(1, 11), (4, 3), (100, 1)] {
        let (mut pair, mut link) = (open(), Link::default());
        link.piece = piece;
        pair.client.sender().text("hello").unwrap();
        // A header of two bytes, a key of four, and the text.
        let written = pass(&mut pair.client, Time::ZERO, usize::MAX).written_bytes();
        assert_eq!(link.write(Time::ZERO, &written), 11);
        let mut carried = 0;
        for _ in 0..rounds {
            assert!(link.deliver(Time::ZERO, &mut pair.server, ()), "{piece}");
            assert!(link.carried().len() - carried <= piece, "{piece}");
            carried = link.carried().len();
        }
        assert_eq!(carried, 11, "{piece}");
        assert!(!link.deliver(Time::ZERO, &mut pair.server, ()), "{piece}");
    }
}

#[test]
fn slow_reader_takes_one_piece_per_pace() {
    let mut pair = open();
    (pair.to_server.piece, pair.to_server.pace) = (4, Duration::from_millis(10));
    // Eleven bytes: three pieces.
    pair.client.sender().text("hello").unwrap();
    pair.settle();
    assert_eq!(pair.deadline(), Some(Time::from_millis(10)));
    wait(&mut pair, 19);
    assert_eq!(received(&pair), [""; 0]);
    wait(&mut pair, 1);
    assert_eq!(received(&pair), ["hello"]);
}

#[test]
fn finished_link_delivers_and_cut_link_drops() {
    type End = fn(&mut Sockets);
    let cases: &[(&str, End, &[&str])] = &[
        ("finished", |pair| pair.to_server.finish(), &["before", "the end"]),
        ("cut", Pair::cut, &["the end"]),
    ];
    for (name, end, expected) in cases {
        let mut pair = open();
        pair.to_server.delay = Duration::from_millis(10);
        pair.client.sender().text("before").unwrap();
        pair.settle();
        end(&mut pair);
        let _ = pair.client.sender().text("behind");
        wait(&mut pair, 10);
        assert_eq!(received(&pair), *expected, "{name}");
        assert!(!pair.to_server.is_open(), "{name}");
    }
}

#[test]
fn each_step_has_its_effect() {
    let mut pair = open();
    let steps = [
        Step::Link(Way::ToServer, Change::Delay(Span::from_millis(70))),
        Step::Act("first"),
        Step::Link(Way::ToServer, Change::Stall(Span::from_millis(200))),
        Step::Wait(Span::from_millis(100)),
        Step::Act("second"),
        Step::Due,
    ];
    for step in &steps {
        if let Some(text) = pair.play(step, |_, _| {}, |_, _| {}) {
            pair.client.sender().text(text).unwrap();
            pair.settle();
        }
    }
    assert_eq!(pair.now, Time::from_millis(200));
    assert_eq!(received(&pair), ["first", "second"]);
    // Keepalive pings once after a sleep of an hour, and 120 times during a wait of an hour.
    for (step, pings) in [
        (Step::<()>::Sleep(Span::from_millis(3_600_000)), 0..3),
        (Step::Wait(Span::from_millis(3_600_000)), 100..130),
    ] {
        pair.to_client.forget();
        let _ = pair.play(&step, |_, _| {}, |_, _| {});
        pair.settle();
        wait(&mut pair, 200);
        let pending = crate::support::frames::read(pair.to_client.carried())
            .iter()
            .filter(|frame| frame.first == 0x89)
            .count();
        assert!(pings.contains(&pending), "{step:?}: {pending}");
    }
    let _ = pair.play(&Step::<()>::Link(Way::ToClient, Change::Cut), |_, _| {}, |_, _| {});
    pair.finish_with(|_, _| {}, |_, _| {});
    assert_eq!(pair.client_events.last(), Some(&OwnedEvent::Closed(Closed::Abnormal)));
}

#[test]
fn random_bytes_yield_scripts_of_all_steps() {
    let mut random = Random::new(3);
    let (mut acts, mut links, mut waits, mut dues) = (0, 0, 0, 0);
    for _ in 0..200 {
        let bytes = random.bytes(64);
        let steps: Vec<Step<u8>> = script(&bytes).collect();
        assert_eq!(steps, script(&bytes).collect::<Vec<_>>());
        for step in steps {
            match step {
                Step::Act(_) => acts += 1,
                Step::Link(..) => links += 1,
                Step::Wait(_) | Step::Sleep(_) => waits += 1,
                Step::Due => dues += 1,
            }
        }
    }
    assert!([acts, links, waits, dues].iter().all(|many| *many > 300), "{acts} {links} {waits} {dues}");
    assert_eq!(script::<u8>(b"").count(), 0);
}
