//! A server whose client does not read, or whose application does not poll: its memory, and the
//! number of its wakeups while nothing happens (E1, E2, I36).

use std::time::Duration;

use crate::support::ide::{
    CONNECTED, HEAD, INITIALIZE, INITIALIZED, at, call, cancelled, config, masked, request, selection, text,
    texts,
};
use crate::support::passes::{events, lose, read_by};
use allocation_counter::measure;
use ide_mcp::ide::{AgentId, ConnId, Mention, Server, ServerConfig, ServerEvent};
use ide_mcp::mcp::ToolResult;
use ide_mcp::rpc::{CallId, ErrorObject};
use ide_mcp::testing::{pass, pass_with};
use ide_mcp::{Output, Time};

/// Connects a client that sends these messages after its opening handshake.
fn connect(server: &mut Server, messages: &[&str]) -> ConnId {
    let conn = server.connect(at(0));
    let handshake = HEAD.as_bytes().to_vec();
    for bytes in [handshake].into_iter().chain(messages.iter().map(|message| text(message))) {
        server.feed(at(0), conn, &bytes);
        events(server, at(0));
        read_by(server, conn);
    }
    conn
}

fn attached(config: ServerConfig) -> (Server, ConnId) {
    let mut server = Server::new(config);
    let conn = connect(&mut server, &[INITIALIZE, INITIALIZED, CONNECTED]);
    (server, conn)
}

/// Runs a loop for ten seconds from `now` on, with a socket that takes nothing. Returns the number
/// of its turns.
fn idle(server: &mut Server, mut now: Time) -> usize {
    let until = now.saturating_add(Duration::from_secs(10));
    let mut turns = 0;
    while let Some(due) = server.deadline().filter(|due| *due < until) {
        assert!(due > now || turns == 0, "the loop would spin at {now:?}");
        now = now.max(due);
        events(server, now);
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
        let (mut server, conn) = attached(config);
        let mut now = at(0);
        let filler = "x".repeat(1000);
        let used = measure(|| {
            for count in 0..1_000_000_u64 {
                now = at(count);
                server.select(now, selection(&format!("{count} {filler}")));
                if count % 10_000 == 0 {
                    server.feed(now, conn, &pong);
                }
                assert!(events(&mut server, now).is_empty(), "the connection stays open");
            }
        });
        println!(
            "debounce {debounce} ms: {} bytes at most, {} allocations",
            used.bytes_max, used.count_total
        );
        assert!(used.bytes_max < 192 * 1024, "{} bytes with {debounce} ms", used.bytes_max);

        let turns = idle(&mut server, now.saturating_add(Duration::from_millis(300)));
        assert!(turns < 5, "{turns} turns in ten idle seconds");

        // The client reads again, a little at a time.
        let mut read = Vec::new();
        while let Output::Write { conn, bytes } = server.poll(now) {
            let some = bytes.len().min(1000);
            read.extend_from_slice(&bytes[..some]);
            server.written(conn, some);
        }
        let input = texts(&read);
        assert!(input.len() < 100, "{} selections were kept", input.len());
        assert!(input.last().unwrap().contains("\"999999 x"), "the last selection arrives");
    }
}

/// Checks a client that also sends requests. Above the mark the server answers nothing, and reads at most one
/// message and as many bytes as the mark.
#[test]
fn e01_requests_of_a_stalled_client_are_bounded() {
    const MARK: usize = 256 * 1024;
    let mut config = config();
    config.ws.outgoing = MARK;
    config.ws.message = MARK;
    let (mut server, conn) = attached(config);
    let ping = text(&request(7, "ping"));
    let mut fed = 0_u32;
    let used = measure(|| {
        for count in 0..1_000_000_u64 {
            let now = at(count / 1000);
            server.select(now, selection(&format!("{count}")));
            if server.wants_input(conn) {
                server.feed(now, conn, &ping);
                fed += 1;
            }
            events(&mut server, now);
        }
    });
    println!("{} bytes at most, {fed} requests", used.bytes_max);
    let waiting = pass(&mut server, at(1000), 0).unwritten_bytes().len();
    assert!((MARK..MARK + 64 * 1024).contains(&waiting), "{waiting} wait");
    // The buffers double as they grow.
    assert!(used.bytes_max < 6 * u64::try_from(MARK).unwrap() + 64 * 1024, "{} bytes", used.bytes_max);
    assert!(idle(&mut server, at(1001)) < 5);
}

#[test]
fn e02_unpolled_server_reads_at_most_256_kib() {
    let (mut server, conn) = attached(config());
    let ping = text(&request(7, "ping"));
    let mut taken = 0;
    let used = measure(|| {
        for _ in 0..1_000_000 {
            let space = server.space(conn);
            let input = &ping[taken % ping.len()..];
            let some = input.len().min(space.len());
            space[..some].copy_from_slice(&input[..some]);
            if some > 0 {
                server.filled(at(1), conn, some);
                taken += some;
            }
        }
    });
    println!("{} bytes at most, {taken} taken", used.bytes_max);
    assert_eq!(taken, 256 * 1024);
    assert!(used.bytes_max < 768 * 1024, "{} bytes", used.bytes_max);
    assert!(server.space(conn).is_empty());
    assert!(events(&mut server, at(1)).is_empty() && server.wants_input(conn));
    assert_eq!(texts(&read_by(&mut server, conn)).len(), taken / ping.len());
}

/// Checks sixteen clients that open as many of the largest diffs as they can, and leave another
/// message unfinished.
#[test]
fn e09_sixteen_clients_stay_within_the_budget() {
    let config = config();
    let (message, budget) = (config.ws.message, config.open_bytes);
    let max_held = config.max_held();
    let mut server = Server::new(config);
    let clients: Vec<ConnId> = (0..16).map(|_| connect(&mut server, &[INITIALIZE, INITIALIZED])).collect();
    let frames: Vec<Vec<u8>> = (1000..1007).map(|id| largest_diff(id, message)).collect();
    let (mut held, mut busy) = (Vec::new(), 0);
    let used = measure(|| {
        for frame in frames.iter().take(6) {
            for conn in &clients {
                for piece in frame.chunks(256 * 1024) {
                    server.feed(at(1), *conn, piece);
                    held.extend(events(&mut server, at(1)));
                }
                let answers = read_by(&mut server, *conn);
                busy += usize::from(!answers.is_empty());
            }
        }
        // A diff without its last byte.
        for conn in &clients {
            let frame = frames.last().unwrap();
            for piece in frame[..frame.len() - 1].chunks(256 * 1024) {
                server.feed(at(2), *conn, piece);
                assert!(events(&mut server, at(2)).is_empty());
            }
        }
    });
    let open: usize = server.agents().map(|agent| agent.open_bytes()).sum();
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

/// Checks a client that reads nothing and sends as much as the server takes: a message in progress, and after it all
/// that may come above the mark. The last piece is the largest that a loop may feed.
#[test]
fn e09_received_bytes_reach_the_documented_number() {
    const PIECE: usize = 256 * 1024;
    // In the second row, more may come between two polls than above the mark.
    for (message, mark) in [(1 << 20, 100_000), (1_000, 500)] {
        let mut config = config();
        (config.ws.message, config.ws.outgoing, config.max_clients) = (message, mark, 1);
        let most = config.max_held() - config.max_unwritten() - config.open_bytes;
        let (mut server, conn) = attached(config);
        let diff = largest_diff(1000, message);
        let (header, payload) = diff.split_at(diff.len() - message);
        server.feed(at(1), conn, header);
        events(&mut server, at(1));
        while server.agent_mut(conn.into()).notify("x", None::<&()>).is_ok() {}
        let input = [payload, &text(&request(7, "ping")).repeat(most / 40)].concat();
        let is_polled = message > PIECE;
        let before = if is_polled { most - PIECE } else { PIECE - 1 };
        for piece in input[..before].chunks(PIECE) {
            server.feed(at(1), conn, piece);
            assert!(!is_polled || events(&mut server, at(1)).is_empty());
        }
        // A loop with a buffer of its own cannot know that one byte is left.
        assert_eq!(server.space(conn).len(), 1, "after {before} bytes");
        server.feed(at(1), conn, &input[before..before + PIECE]);
        assert!(!server.wants_input(conn) && before + PIECE <= most, "{before} and {PIECE} of {most} bytes");
        // The client reads again, so what it has sent is delivered.
        let read = (0..100).map(|_| pass(&mut server, at(1), usize::MAX).events.len());
        assert!(read.sum::<usize>() == 1 && server.wants_input(conn), "the diff is delivered");
    }
}

/// Returns an `openDiff` whose message has this size.
fn largest_diff(id: usize, size: usize) -> Vec<u8> {
    let diff = |contents: &str| {
        let paths = r#""old_file_path":"/w/a","new_file_path":"/w/a","tab_name":"t""#;
        call(id, "openDiff", &format!(r#"{{{paths},"new_file_contents":"{contents}"}}"#))
    };
    text(&diff(&"x".repeat(size - diff("").len())))
}

/// Checks that what the application does with an event counts for the next event of the same pass.
#[test]
fn released_place_and_bytes_are_free_at_once() {
    let mut limited = config();
    limited.max_clients = 1;
    let mut server = Server::new(limited);
    let leaving = connect(&mut server, &[INITIALIZE]);
    server.feed(at(1), leaving, &text(INITIALIZED));
    let next = server.connect(at(1));
    server.feed(at(1), next, HEAD.as_bytes());
    let passed = pass_with(&mut server, at(1), usize::MAX, |server, event| {
        if let ServerEvent::Ready { agent, .. } = event {
            server.agent_mut(*agent).disconnect(at(1));
        }
    });
    let answer = passed.written.iter().find(|(conn, _)| *conn == next).map(|(_, bytes)| &bytes[..13]);
    assert_eq!(answer, Some(&b"HTTP/1.1 101 "[..]), "the place of the client that was sent away");

    let mut limited = config();
    (limited.open_bytes, limited.max_clients) = (4_000, 2);
    let mut server = Server::new(limited);
    let [first, second] = [0, 1].map(|_| connect(&mut server, &[INITIALIZE, INITIALIZED]));
    server.feed(at(1), first, &largest_diff(1, 3_000));
    server.feed(at(1), second, &largest_diff(2, 1_500));
    let mut called = Vec::new();
    pass_with(&mut server, at(1), usize::MAX, |server, event| {
        if let ServerEvent::Call { agent, call } = event {
            called.push(*agent);
            server.call(call.id()).fail(ErrorObject::new(1, "no")).unwrap();
        }
    });
    assert_eq!(called, [first, second].map(AgentId::from), "the bytes of the first call are free");
}

/// Checks that other clients cannot use up the share of a client. The bytes beyond the shares go to
/// the first client that needs them.
#[test]
fn e09_each_client_keeps_its_budget_share() {
    // A share of 1,000 bytes for each of two, and 2,000 for the first that ask.
    let mut config = config();
    (config.open_bytes, config.max_clients) = (4_000, 2);
    let mut server = Server::new(config);
    let [greedy, modest] = [0, 1].map(|_| connect(&mut server, &[INITIALIZE, INITIALIZED]));
    let mut is_taken = |conn: ConnId, id: usize, size: usize| {
        server.feed(at(1), conn, &largest_diff(id, size));
        let events = events(&mut server, at(1));
        let answers = texts(&read_by(&mut server, conn));
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
    server.feed(at(2), greedy, &text(&cancelled(1001)));
    events(&mut server, at(2));
    let mut is_taken = |id: usize, size: usize| {
        server.feed(at(3), modest, &largest_diff(id, size));
        events(&mut server, at(3)).len() == 1
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
    let (mut server, conn) = attached(config);
    for id in 0..100 {
        server.feed(at(1), conn, &text(&call(id, "countLines", "{}")));
    }
    let calls: Vec<CallId> = events(&mut server, at(1))
        .into_iter()
        .filter_map(|event| match event {
            ServerEvent::Call { call, .. } => Some(call.id()),
            _ => None,
        })
        .collect();
    assert_eq!(calls.len(), 100);
    let large = ToolResult::text("x".repeat(10_000));
    for call in calls {
        assert_eq!(server.call(call).respond(&large), Ok(()));
    }
    let input = texts(&read_by(&mut server, conn));
    assert_eq!(input.len(), 100, "each is answered");
    let busy = |input: &&String| {
        input.contains(r#""code":-32603,"message":"busy: too many bytes wait to be written""#)
    };
    let (sent, refused) = input.split_at(7);
    assert_eq!(sent.iter().filter(busy).count(), 0, "the seventh is the one that reaches 64 KiB");
    assert_eq!(refused.iter().filter(busy).count(), 93);
}

/// Checks a thousand connections that send single bytes and never a whole head, and one client with
/// the token.
#[test]
fn n05_at_most_eight_connections_are_pending() {
    let mut server = Server::new(config());
    let mut friend = None;
    let used = measure(|| {
        let mut conns: Vec<ConnId> = Vec::with_capacity(1_000);
        for second in 0..4 {
            let now = at(second * 1_000);
            for _ in 0..250 {
                conns.push(server.connect(now));
                // The loop has a pass between any two connections that it accepts.
                for conn in &conns {
                    if server.wants_input(*conn) {
                        server.feed(now, *conn, b"G");
                    }
                }
                let passed = pass(&mut server, now, usize::MAX);
                conns.retain(|conn| !passed.closed.contains(conn));
                assert!(server.connections().count() <= 8);
            }
            if second == 2 {
                let conn = server.connect(now);
                server.feed(now, conn, HEAD.as_bytes());
                assert!(read_by(&mut server, conn).starts_with(b"HTTP/1.1 101 "), "at once");
                lose(&mut server, now, conn);
                events(&mut server, now);
                friend = Some(conn);
            }
        }
    });
    println!("{} bytes at most", used.bytes_max);
    assert!(friend.is_some() && used.bytes_max < 8 * 16 * 1024, "{} bytes", used.bytes_max);
    // The deadline of 5 s for the head ends every pending connection.
    events(&mut server, at(8_000));
    assert!(server.connections().all(|conn| !server.wants_input(conn)));
}

/// Checks a client that sends while the send buffer is full, and then reads everything: what it sent is delivered in
/// the same pass, no matter what filled the buffer and how long a slow reader may take.
#[test]
fn input_held_back_by_a_full_buffer_comes_once_there_is_room() {
    let never = Duration::MAX;
    // A name, the high-water mark, the time of a slow reader, and the messages before the last one.
    let rows: [(&str, usize, Duration, &[&str]); 3] = [
        ("an answer above the mark", 300, Duration::from_secs(30), &[INITIALIZE, INITIALIZED]),
        ("an answer above the mark, and no timeout for a reader", 300, never, &[INITIALIZE, INITIALIZED]),
        ("the 101 is above the mark", 60, never, &[]),
    ];
    for (name, mark, stalled, messages) in rows {
        let mut config = config();
        (config.ws.outgoing, config.ws.stalled) = (mark, stalled);
        let mut server = Server::new(config);
        let conn = server.connect(at(0));
        let mut bytes = HEAD.as_bytes().to_vec();
        for message in messages {
            bytes.extend(text(message));
        }
        for id in 0..20 {
            bytes.extend(text(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/list"}}"#)));
        }
        server.feed(at(0), conn, &bytes);
        let full = pass(&mut server, at(0), 0);
        assert!(full.unwritten_bytes().len() >= mark, "{name}");
        // One reader, one pass, and nothing more is fed.
        let read = pass(&mut server, at(0), usize::MAX);
        let answers = String::from_utf8_lossy(&read.written_bytes()).matches(r#""id":"#).count();
        assert!(answers >= 20, "{name}: {answers} answers");
        assert_eq!(pass(&mut server, at(0), usize::MAX).written_bytes(), b"", "{name}");
        assert!(server.deadline().is_none_or(|due| due > at(0)), "{name}");
    }
}

/// A client that fills the send buffer again in every pass still gets the selection a second time, at the end of its
/// settle time.
#[test]
fn flood_does_not_starve_the_selection() {
    let mut config = config();
    (config.ws.outgoing, config.settle, config.debounce) =
        (2_000, Some(Duration::from_millis(100)), Duration::ZERO);
    let (mut server, conn) = attached(config);
    server.select(at(1), selection("x"));
    let ping = text(&format!(r#"{{"jsonrpc":"2.0","id":"{}","method":"ping"}}"#, "i".repeat(200)));
    let (mut now, mut written) = (1, Vec::new());
    while now < 300 {
        server.feed(at(now), conn, &ping.repeat(12));
        // The socket takes everything, and after each write as much input arrives again.
        for _ in 0..1_000 {
            match server.poll(at(now)) {
                Output::Write { conn, bytes } => {
                    if bytes.windows(17).any(|window| window == b"selection_changed") {
                        written.push(now);
                    }
                    let n = bytes.len();
                    server.written(conn, n);
                    now += 1;
                    if server.wants_input(conn) {
                        server.feed(at(now), conn, &ping.repeat(12));
                    }
                }
                Output::Wait(_) => break,
                Output::Event(_) | Output::Close(_) => {}
            }
            if now > 300 {
                break;
            }
        }
        now += 1;
    }
    assert!(written.iter().any(|at| (100..=120).contains(at)), "written at {written:?} ms");
}

/// A mention that waits for an endless settle time must not keep a loop busy at the last time of the clock.
#[test]
fn mention_without_end_does_not_spin() {
    let mut config = config();
    (config.settle, config.mention_timeout) = (Some(Duration::MAX), Duration::MAX);
    let (mut server, _) = attached(config);
    server.mention(at(1), Mention::new("/a", None), None).unwrap();
    let end = Time::new(Duration::MAX);
    for _ in 0..3 {
        assert_eq!(pass(&mut server, end, usize::MAX).wait, None, "no time is later than the last one");
    }
}
