//! A host whose client does not read, or whose application does not poll: its memory, and the
//! number of its wakeups while nothing happens (E1, E2, I36).

use std::time::Duration;

use crate::support::ide::{
    CONNECTED, HEAD, INITIALIZE, INITIALIZED, at, call, cancelled, config, drain, masked, request, selection,
    text, texts, written,
};
use allocation_counter::measure;
use ide_mcp::ide::{ConnId, Server, ServerConfig, ServerEvent};
use ide_mcp::mcp::ToolResult;
use ide_mcp::rpc::CallId;
use ide_mcp::{Machine, Time, Wire};

/// Connects a client that sends these messages after its opening handshake.
fn connect(host: &mut Server, messages: &[&str]) -> ConnId {
    let conn = host.connect(at(0));
    let handshake = HEAD.as_bytes().to_vec();
    for bytes in [handshake].into_iter().chain(messages.iter().map(|message| text(message))) {
        host.wire(conn).unwrap().feed(at(0), &bytes);
        drain(host);
        written(&mut host.wire(conn).unwrap());
    }
    conn
}

fn attached(config: ServerConfig) -> (Server, ConnId) {
    let mut host = Server::new(config);
    let conn = connect(&mut host, &[INITIALIZE, INITIALIZED, CONNECTED]);
    while host.poll_transmit().is_some() {}
    (host, conn)
}

/// Runs a loop for ten seconds from `now` on, with a socket that takes nothing. Returns the number
/// of its turns.
fn idle(host: &mut Server, mut now: Time) -> usize {
    let until = now.saturating_add(Duration::from_secs(10));
    let mut turns = 0;
    while let Some(due) = host.deadline().filter(|due| *due < until) {
        assert!(due > now || turns == 0, "the loop would spin at {now:?}");
        now = now.max(due);
        host.tick(now);
        drain(host);
        while host.poll_transmit().is_some() {}
        turns += 1;
        assert!(turns < 100, "the loop spins");
    }
    turns
}

/// Checks a million selections of a kilobyte, with and without a debounce. The client sends pongs
/// and reads nothing.
#[test]
fn e01_selections_to_a_stalled_client_stay_bounded() {
    let pong = masked(0x8a, b"");
    for debounce in [50, 0] {
        let mut config = config();
        config.debounce = Duration::from_millis(debounce);
        let (mut host, conn) = attached(config);
        let mut now = at(0);
        let filler = "x".repeat(1000);
        let used = measure(|| {
            for count in 0..1_000_000_u64 {
                now = at(count);
                host.select(now, selection(&format!("{count} {filler}")));
                if count % 10_000 == 0 {
                    host.wire(conn).unwrap().feed(now, &pong);
                }
                host.tick(now);
                assert!(drain(&mut host).is_empty(), "the connection stays open");
                while host.poll_transmit().is_some() {}
            }
        });
        println!(
            "debounce {debounce} ms: {} bytes at most, {} allocations",
            used.bytes_max, used.count_total
        );
        assert!(used.bytes_max < 192 * 1024, "{} bytes with {debounce} ms", used.bytes_max);

        let turns = idle(&mut host, now.saturating_add(Duration::from_millis(300)));
        assert!(turns < 5, "{turns} turns in ten idle seconds");

        // The client reads again, a little at a time.
        let mut read = Vec::new();
        loop {
            let mut wire = host.wire(conn).unwrap();
            let some = wire.outgoing().len().min(1000);
            read.extend_from_slice(&wire.outgoing()[..some]);
            wire.sent(some);
            if some == 0 {
                break;
            }
        }
        let said = texts(&read);
        assert!(said.len() < 100, "{} selections were kept", said.len());
        assert!(said.last().unwrap().contains("\"999999 x"), "the last selection arrives");
    }
}

/// Checks a client that also sends requests. Above the mark the host reads one message and the
/// mark, and answers nothing.
#[test]
fn e01_requests_of_a_stalled_client_are_bounded() {
    const MARK: usize = 256 * 1024;
    let mut config = config();
    config.ws.outgoing = MARK;
    config.ws.message = MARK;
    let (mut host, conn) = attached(config);
    let ping = text(&request(7, "ping"));
    let mut fed = 0_u32;
    let used = measure(|| {
        for count in 0..1_000_000_u64 {
            let now = at(count / 1000);
            host.select(now, selection(&format!("{count}")));
            let mut wire = host.wire(conn).unwrap();
            if wire.wants_input() {
                wire.feed(now, &ping);
                fed += 1;
            }
            host.tick(now);
            drain(&mut host);
        }
    });
    println!("{} bytes at most, {fed} requests", used.bytes_max);
    let waiting = host.wire(conn).unwrap().outgoing().len();
    assert!((MARK..MARK + 64 * 1024).contains(&waiting), "{waiting} wait");
    // The buffers double as they grow.
    assert!(used.bytes_max < 6 * u64::try_from(MARK).unwrap() + 64 * 1024, "{} bytes", used.bytes_max);
    assert!(idle(&mut host, at(1001)) < 5);
}

#[test]
fn e02_unpolled_host_reads_at_most_256_kib() {
    let (mut host, conn) = attached(config());
    let ping = text(&request(7, "ping"));
    let mut taken = 0;
    let used = measure(|| {
        for _ in 0..1_000_000 {
            let mut wire = host.wire(conn).unwrap();
            let space = wire.space();
            let said = &ping[taken % ping.len()..];
            let some = said.len().min(space.len());
            space[..some].copy_from_slice(&said[..some]);
            if some > 0 {
                wire.filled(at(1), some);
                taken += some;
            }
        }
    });
    println!("{} bytes at most, {taken} taken", used.bytes_max);
    assert_eq!(taken, 256 * 1024);
    assert!(used.bytes_max < 768 * 1024, "{} bytes", used.bytes_max);
    assert!(host.wire(conn).unwrap().space().is_empty());
    assert!(drain(&mut host).is_empty() && host.wire(conn).unwrap().wants_input());
    assert_eq!(texts(&written(&mut host.wire(conn).unwrap())).len(), taken / ping.len());
}

/// Checks sixteen clients that open as many of the largest diffs as they can, and leave another
/// message unfinished.
#[test]
fn e09_sixteen_clients_stay_within_the_budget() {
    let config = config();
    let (message, budget) = (config.ws.message, config.open_bytes);
    let max_held = config.max_held();
    let mut host = Server::new(config);
    let clients: Vec<ConnId> = (0..16).map(|_| connect(&mut host, &[INITIALIZE, INITIALIZED])).collect();
    let frames: Vec<Vec<u8>> = (1000..1007).map(|id| largest_diff(id, message)).collect();
    let (mut held, mut busy) = (Vec::new(), 0);
    let used = measure(|| {
        for frame in frames.iter().take(6) {
            for conn in &clients {
                for piece in frame.chunks(256 * 1024) {
                    host.wire(*conn).unwrap().feed(at(1), piece);
                    held.extend(drain(&mut host));
                }
                let answers = written(&mut host.wire(*conn).unwrap());
                busy += usize::from(!answers.is_empty());
            }
        }
        // A diff without its last byte.
        for conn in &clients {
            let frame = frames.last().unwrap();
            for piece in frame[..frame.len() - 1].chunks(256 * 1024) {
                host.wire(*conn).unwrap().feed(at(2), piece);
                assert!(drain(&mut host).is_empty());
            }
        }
    });
    let open: usize = host.connections().map(|(_, server)| server.open_bytes()).sum();
    println!(
        "{} of {budget} bytes open in {} diffs, {busy} busy; {} of {max_held} at most",
        open,
        held.len(),
        used.bytes_max
    );
    assert_eq!(held.len() + busy, 6 * 16);
    // The pool is half the budget. The other half is divided into sixteen shares; each diff uses
    // the share of its client first.
    assert_eq!((held.len(), open), (5, 5 * message), "{open} of {budget}");
    assert!(open <= budget);
    assert!(used.bytes_max < u64::try_from(max_held).unwrap(), "{} of {max_held} bytes", used.bytes_max);
}

/// Returns an `openDiff` whose message has this size.
fn largest_diff(id: usize, size: usize) -> Vec<u8> {
    let diff = |contents: &str| {
        let paths = r#""old_file_path":"/w/a","new_file_path":"/w/a","tab_name":"t""#;
        call(id, "openDiff", &format!(r#"{{{paths},"new_file_contents":"{contents}"}}"#))
    };
    text(&diff(&"x".repeat(size - diff("").len())))
}

/// Checks that other clients cannot use up the share of a client. The bytes beyond the shares go to
/// the first client that needs them.
#[test]
fn e09_each_client_keeps_its_budget_share() {
    // A share of 1,000 bytes for each of two, and 2,000 for the first that ask.
    let mut config = config();
    (config.open_bytes, config.max_clients) = (4_000, 2);
    let mut host = Server::new(config);
    let [greedy, modest] = [0, 1].map(|_| connect(&mut host, &[INITIALIZE, INITIALIZED]));
    let mut is_taken = |conn: ConnId, id: usize, size: usize| {
        host.wire(conn).unwrap().feed(at(1), &largest_diff(id, size));
        let events = drain(&mut host);
        let answers = texts(&written(&mut host.wire(conn).unwrap()));
        assert_eq!(events.len() + answers.len(), 1, "{events:?} {answers:?}");
        assert!(answers.iter().all(|answer| answer.contains("-32603")), "{answers:?}");
        answers.is_empty()
    };
    assert!(!is_taken(greedy, 1000, 3_001));
    assert!(is_taken(greedy, 1001, 3_000));
    assert!(!is_taken(greedy, 1002, 300));
    assert!(!is_taken(modest, 1000, 1_001));
    assert!(is_taken(modest, 1001, 700));
    assert!(!is_taken(modest, 1002, 301));
    assert!(is_taken(modest, 1003, 300));
    host.wire(greedy).unwrap().feed(at(2), &text(&cancelled(1001)));
    drain(&mut host);
    let mut is_taken = |id: usize, size: usize| {
        host.wire(modest).unwrap().feed(at(3), &largest_diff(id, size));
        drain(&mut host).len() == 1
    };
    assert!(!is_taken(1004, 2_001));
    assert!(is_taken(1005, 2_000));
}

/// Checks an application that answers 100 deferred calls while the client reads nothing.
#[test]
fn e10_deferred_answers_to_stalled_client_are_bounded() {
    let mut config = config();
    config.ws.outgoing = 64 * 1024;
    config.mcp.limits.open_bytes = 64 * 1024;
    let (mut host, conn) = attached(config);
    for id in 0..100 {
        host.wire(conn).unwrap().feed(at(1), &text(&call(id, "countLines", "{}")));
    }
    let calls: Vec<CallId> = drain(&mut host)
        .into_iter()
        .filter_map(|event| match event {
            ServerEvent::Call { call, .. } => Some(call.id()),
            _ => None,
        })
        .collect();
    assert_eq!(calls.len(), 100);
    let large = ToolResult::text("x".repeat(10_000));
    for call in calls {
        assert_eq!(host.call(call).respond(&large), Ok(()));
    }
    let said = texts(&written(&mut host.wire(conn).unwrap()));
    assert_eq!(said.len(), 100, "each is answered");
    let busy = |said: &&String| {
        said.contains(r#""code":-32603,"message":"busy: too many bytes wait to be written""#)
    };
    let (sent, refused) = said.split_at(7);
    assert_eq!(sent.iter().filter(busy).count(), 0, "the seventh is the one that reaches 64 KiB");
    assert_eq!(refused.iter().filter(busy).count(), 93);
}

/// Checks a thousand connections that send single bytes and never a whole head, and one client with
/// the token.
#[test]
fn n05_at_most_eight_connections_are_pending() {
    let mut host = Server::new(config());
    let mut friend = None;
    let used = measure(|| {
        let mut conns: Vec<ConnId> = Vec::with_capacity(1_000);
        for second in 0..4 {
            let now = at(second * 1_000);
            for _ in 0..250 {
                conns.push(host.connect(now));
                // The loop polls and writes between any two connections that it accepts, and drops
                // those that are done.
                conns.retain(|conn| {
                    let Some(mut wire) = host.wire(*conn) else { return false };
                    if wire.wants_input() {
                        wire.feed(now, b"G");
                    }
                    true
                });
                drain(&mut host);
                while let Some(conn) = host.poll_transmit() {
                    if host.wire(conn).is_some_and(|wire| wire.is_done()) {
                        host.remove(now, conn);
                    }
                }
                assert!(host.connections().count() <= 8);
            }
            if second == 2 {
                let conn = host.connect(now);
                host.wire(conn).unwrap().feed(now, HEAD.as_bytes());
                drain(&mut host);
                assert!(written(&mut host.wire(conn).unwrap()).starts_with(b"HTTP/1.1 101 "), "at once");
                host.remove(now, conn);
                drain(&mut host);
                friend = Some(conn);
            }
        }
    });
    println!("{} bytes at most", used.bytes_max);
    assert!(friend.is_some() && used.bytes_max < 8 * 16 * 1024, "{} bytes", used.bytes_max);
    // The deadline of 5 s for the head ends every pending connection.
    host.tick(at(8_000));
    drain(&mut host);
    assert!(host.connections().all(|(_, server)| !server.is_open() && !server.wants_input()));
}
