//! Mistakes in a user's loop, over sockets that take little, are slow, or break: each is harmless, or shows at once.
//! The eleventh law (`laws.rs`) is about a loop without mistakes.

use crate::support::ide::{HEAD, PORT, TEXT, config, masked, token};
use crate::support::joined;
use ide_mcp::ide::tool::{GetOpenEditors, OpenEditors, Tool, ToolCall, ToolSet};
use ide_mcp::ide::{Client, ClientConfig, ClientEvent, ConnId, Server, ServerEvent};
use ide_mcp::mcp::{Implementation, Outcome};
use ide_mcp::rpc::SessionId;
use ide_mcp::testing::{Random, pass};
use ide_mcp::{Output, Time, ws};
use std::collections::BTreeMap;
use std::io::{self, ErrorKind, Read, Write};
use std::time::Duration;

/// What a loop does wrong, by the six rules of `Output`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mistake {
    None,
    /// Never calls `written`.
    NeverReports,
    /// Does not call `written` when the socket would block.
    OmitsFull,
    /// Reports the whole offer, whatever the socket took.
    ReportsAll,
    ReportsTwice,
    /// Gives the socket 7 bytes of an offer at most, and reports them.
    CutsOffers,
    LeavesAtEvent,
    LeavesAtWrite,
    /// Reports a failed write as one that took nothing.
    HidesFailure,
    IgnoresClose,
    /// Polls with a later time each time.
    FreshClock,
    /// Keeps reading while `wants_input` is false.
    ReadsOn,
}

/// A socket in memory: what the peer has sent, and a kernel buffer that the peer empties slowly.
struct Pipe {
    input: Vec<u8>,
    kernel: Vec<u8>,
    capacity: usize,
    is_broken: bool,
    is_closed: bool,
}

impl Read for Pipe {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if self.is_broken || self.input.is_empty() {
            return if self.is_broken { Ok(0) } else { Err(ErrorKind::WouldBlock.into()) };
        }
        let n = self.input.len().min(buf.len());
        buf[..n].copy_from_slice(&self.input[..n]);
        self.input.drain(..n);
        Ok(n)
    }
}

impl Write for Pipe {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        let n = buf.len().min(self.capacity - self.kernel.len());
        match n {
            _ if self.is_broken => Err(ErrorKind::BrokenPipe.into()),
            0 => Err(ErrorKind::WouldBlock.into()),
            n => {
                self.kernel.extend_from_slice(&buf[..n]);
                Ok(n)
            }
        }
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The loop of a user, with a mistake. Returns the time until which it waits.
fn turn(
    server: &mut Server,
    sockets: &mut BTreeMap<ConnId, Pipe>,
    now: Time,
    mistake: Mistake,
) -> Option<Time> {
    let mut buf = [0; 4096];
    for (conn, socket) in sockets.iter_mut().filter(|(_, socket)| !socket.is_closed) {
        while server.wants_input(*conn) || mistake == Mistake::ReadsOn {
            match socket.read(&mut buf) {
                Ok(n) if n > 0 => server.feed(now, *conn, &buf[..n]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                _ => {
                    server.feed_eof(now, *conn);
                    break;
                }
            }
        }
    }
    let mut clock = now;
    for _ in 0..5_000 {
        if mistake == Mistake::FreshClock {
            clock = clock.saturating_add(Duration::from_micros(1));
        }
        match server.poll(clock) {
            Output::Event(ServerEvent::Call { call, .. }) => {
                let ToolCall::GetOpenEditors(call, _) = call else { panic!("{call:?}") };
                server.answer(call, OpenEditors { tabs: Vec::new() }).unwrap();
                if mistake == Mistake::LeavesAtEvent {
                    return server.deadline();
                }
            }
            Output::Event(_) => {}
            Output::Write { conn, bytes } => {
                let len = bytes.len();
                let part = if mistake == Mistake::CutsOffers { &bytes[..len.min(7)] } else { bytes };
                match sockets.get_mut(&conn).map(|socket| socket.write(part)) {
                    _ if mistake == Mistake::NeverReports => {}
                    Some(Ok(n)) => {
                        server.written(conn, if mistake == Mistake::ReportsAll { len } else { n });
                        if mistake == Mistake::ReportsTwice {
                            server.written(conn, n);
                        }
                    }
                    Some(Err(error)) if error.kind() == ErrorKind::WouldBlock => {
                        if mistake != Mistake::OmitsFull {
                            server.written(conn, 0);
                        }
                    }
                    _ if mistake == Mistake::HidesFailure => server.written(conn, 0),
                    _ => server.feed_eof(clock, conn),
                }
                if mistake == Mistake::LeavesAtWrite {
                    return server.deadline();
                }
            }
            Output::Close(conn) => {
                let socket = sockets.get_mut(&conn).unwrap();
                assert!(!socket.is_closed, "closed twice");
                socket.is_closed = mistake != Mistake::IgnoresClose;
            }
            Output::Wait(until) => return until,
        }
    }
    panic!("the pass does not end")
}

/// What became of a connection.
#[derive(Debug, PartialEq, Eq)]
struct Played {
    answered: usize,
    /// How the connection ended for the agent.
    end: String,
    /// Whether the server has forgotten the connection, and the loop has closed its socket.
    is_over: (bool, bool),
}

/// Attaches an agent over a socket with room for `capacity` bytes, of which the agent reads `rate` per millisecond. The
/// agent makes ten calls and closes, or the socket breaks after nine calls.
fn play(mistake: Mistake, capacity: usize, rate: usize, breaks: bool) -> Played {
    let mut now = Time::ZERO;
    let mut server = config();
    server.tools = ToolSet::new().handle(Tool::GetOpenEditors).into();
    let mut server = Server::new(server);
    let client = ClientConfig::new(Implementation::new("a", "1"), PORT, Some(token()));
    let mut agent = Client::new(client, Random::new(1).source(), SessionId::new(1), now).unwrap();
    let conn = server.connect(now);
    let pipe = Pipe { input: Vec::new(), kernel: Vec::new(), capacity, is_broken: false, is_closed: false };
    let mut sockets = BTreeMap::from([(conn, pipe)]);
    let (mut pending, mut answered, mut end, mut due) = (0, 0, String::new(), Some(now));
    for round in 0..4_000_u64 {
        now = now.saturating_add(Duration::from_millis(if round < 2_000 { 1 } else { 50 }));
        let socket = sockets.get_mut(&conn).unwrap();
        while let output @ (Output::Event(_) | Output::Write { .. }) = agent.poll(now) {
            match output {
                Output::Event(ClientEvent::Outcome { outcome: Outcome::Result(_), .. }) => answered += 1,
                Output::Event(ClientEvent::Closed(closed)) => end = closed.to_string(),
                Output::Write { bytes, .. } => {
                    socket.input.extend_from_slice(bytes);
                    let len = bytes.len();
                    agent.written(len);
                }
                _ => {}
            }
        }
        // A loop that sleeps wakes when a socket is ready, or at its time.
        let has_room = socket.kernel.len() < capacity && server.wants_output(conn);
        let is_ready = !socket.is_closed && (socket.is_broken || !socket.input.is_empty() || has_room);
        if is_ready || due.is_some_and(|due| due <= now) {
            due = turn(&mut server, &mut sockets, now, mistake);
        }
        let socket = sockets.get_mut(&conn).unwrap();
        let arrived: Vec<u8> = socket.kernel.drain(..socket.kernel.len().min(rate)).collect();
        if agent.wants_input() {
            agent.feed(now, &arrived);
        }
        if socket.is_closed && socket.kernel.is_empty() {
            agent.feed_eof(now);
        }
        socket.is_broken |= breaks && round == 1_000;
        if agent.is_ready() && pending < 10 && round % 100 == 0 {
            pending += usize::from(agent.call_tool(&GetOpenEditors).is_ok());
        }
        if round == 3_000 {
            agent.close();
        }
    }
    let is_over = (server.is_idle(), sockets.values().all(|socket| socket.is_closed));
    Played { answered, end, is_over }
}

/// A mistake changes nothing, or the peer ends the connection with an error before the first answer.
#[test]
fn mistakes_of_a_loop_are_harmless_or_found_at_once() {
    use Mistake::*;
    let harmless = [
        OmitsFull,
        ReportsTwice,
        CutsOffers,
        LeavesAtEvent,
        LeavesAtWrite,
        HidesFailure,
        FreshClock,
        ReadsOn,
    ];
    for (capacity, rate) in [(100_000, 100_000), (100, 100), (100, 20), (7, 7)] {
        for breaks in [false, true] {
            let (answered, end) =
                if breaks { (9, "the connection ended without a close frame") } else { (10, "closed") };
            let good = Played { answered, end: end.into(), is_over: (true, true) };
            let play = |mistake| play(mistake, capacity, rate, breaks);
            let row = |mistake| format!("{mistake:?}, {rate} of {capacity} bytes, breaks: {breaks}");
            assert_eq!(play(None), good, "{}", row(None));
            for mistake in harmless {
                assert_eq!(play(mistake), good, "{}", row(mistake));
            }
            // The server is done with the connection, and only the socket of the loop stays.
            let ignores = play(IgnoresClose);
            assert_eq!(
                (ignores.answered, ignores.is_over),
                (answered, (true, false)),
                "{}",
                row(IgnoresClose)
            );
            // The server cannot notice a wrong count, but the peer cannot read what follows.
            for mistake in [NeverReports, ReportsAll] {
                let found = play(mistake);
                if mistake == ReportsAll && capacity == 100_000 {
                    assert_eq!(found, play(None), "{}: the socket takes all", row(mistake));
                } else {
                    assert_eq!(
                        (found.answered, found.is_over),
                        (0, (true, true)),
                        "{}: {found:?}",
                        row(mistake)
                    );
                    assert_ne!(found.end, "closed", "{}", row(mistake));
                }
            }
        }
    }
}

/// The end of the input says nothing about the output: an answer that was offered, but that the loop did not write yet,
/// is offered again and arrives.
#[test]
fn end_of_the_input_does_not_drop_an_offered_answer() {
    let mut server = Server::new(config());
    let conn = server.connect(Time::ZERO);
    server.feed(Time::ZERO, conn, HEAD.as_bytes());
    assert!(matches!(server.poll(Time::ZERO), Output::Write { .. }));
    server.read_from(Time::ZERO, conn, &mut io::empty());
    let mut arrived = Vec::new();
    let is_over = (0..100).any(|_| {
        let is_over = matches!(server.poll(Time::ZERO), Output::Close(_));
        server.write_to(Time::ZERO, conn, &mut arrived);
        is_over
    });
    assert!(is_over, "the connection is never over");
    assert!(arrived.starts_with(b"HTTP/1.1 101"), "{}", arrived.escape_ascii());
}

/// An edge-triggered poller reports a socket only once. A loop over such a poller must go round again while a read has
/// left bytes behind, and so reads everything.
#[test]
fn read_reports_that_bytes_are_left() {
    let count = 100;
    let message = masked(TEXT, &[b'x'; 20_000]).repeat(count);
    let (mut socket, now) = (io::Cursor::new(message), Time::ZERO);
    let mut server = joined::server(ws::Limits::default(), now);
    let (mut texts, mut rounds) = (0, 0);
    loop {
        let has_more = server.read_from(now, &mut socket);
        let events = pass(&mut server, now, usize::MAX).events;
        texts += events.iter().filter(|event| matches!(event, ws::OwnedEvent::Text(_))).count();
        rounds += 1;
        if !has_more {
            break;
        }
    }
    assert!(texts == count && rounds > 2, "{texts} texts in {rounds} rounds");
}

/// A loop with a buffer of its own reads while the machine wants input, whatever the size of the buffer.
#[test]
fn pieces_of_any_buffer_are_taken_while_input_is_wanted() {
    for size in [1000, 4000, 65_536, 100_000] {
        let (mut server, now) = (joined::server(ws::Limits::default(), Time::ZERO), Time::ZERO);
        let message = masked(TEXT, &[b'x'; 60_000]).repeat(10);
        let (mut rest, mut texts) = (&message[..], 0);
        while !rest.is_empty() {
            while server.wants_input() && !rest.is_empty() {
                let (piece, behind) = rest.split_at(size.min(rest.len()));
                server.feed(now, piece);
                rest = behind;
            }
            for event in pass(&mut server, now, usize::MAX).events {
                assert!(matches!(event, ws::OwnedEvent::Text(_)), "a buffer of {size}: {event:?}");
                texts += 1;
            }
        }
        assert_eq!(texts, 10, "a buffer of {size}");
    }
}

/// Bytes added after an offer do not count as written, and the output of a new connection in the place of an old one is
/// offered at once.
#[test]
fn offers_are_counted_and_forgotten() {
    let mut server = joined::server(ws::Limits::default(), Time::ZERO);
    server.sender().text("first").unwrap();
    assert!(matches!(server.poll(Time::ZERO), Output::Write { .. }));
    server.sender().text("second").unwrap();
    server.written(usize::MAX);
    assert!(pass(&mut server, Time::ZERO, usize::MAX).written_bytes().ends_with(b"second"));

    let mut server = Server::new(config());
    let first = server.connect(Time::ZERO);
    server.feed(Time::ZERO, first, HEAD.as_bytes());
    assert!(matches!(server.poll(Time::ZERO), Output::Write { conn, .. } if conn == first));
    server.written(first, 0);
    for _ in 0..2 {
        server.feed_eof(Time::ZERO, first);
    }
    while !matches!(server.poll(Time::ZERO), Output::Close(_)) {}
    let second = server.connect(Time::ZERO);
    server.feed(Time::ZERO, second, HEAD.as_bytes());
    assert_eq!(second.index(), first.index());
    assert!(matches!(server.poll(Time::ZERO), Output::Write { conn, .. } if conn == second));
}

/// A pass that a loop left too early stays due, so a loop that waits by `deadline` finishes it.
#[test]
fn unfinished_pass_is_due() {
    let mut server = Server::new(config());
    let conn = server.connect(Time::ZERO);
    server.feed(Time::ZERO, conn, HEAD.as_bytes());
    assert!(matches!(server.poll(Time::ZERO), Output::Write { .. }));
    server.written(conn, 0);
    assert_eq!(server.deadline(), Some(Time::ZERO));
    assert!(matches!(server.poll(Time::ZERO), Output::Wait(Some(until)) if until > Time::ZERO));
}
