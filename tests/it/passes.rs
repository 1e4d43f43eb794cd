//! The loop that follows `Output`: it sees and writes what the single verbs do, over sockets that are short, full or
//! broken, and each mistake in it is either harmless or found at the first try.

use crate::support::agents::IdeClient;
use crate::support::hosts::{IdeHost, OneOfHost};
use crate::support::ide::{HEAD, PORT, config, token};
use crate::support::laws::Subject;
use crate::support::sockets::{WsClient, WsServer};
use ide_mcp::ide::{
    Client, ClientConfig, ClientEvent, ConnId, GetOpenEditors, OpenEditors, Server, ServerEvent, Tool,
    ToolCall, ToolSet,
};
use ide_mcp::mcp::{Implementation, Outcome};
use ide_mcp::rpc::SessionId;
use ide_mcp::testing::Random;
use ide_mcp::{Machine, Output, Time, Wire, ws};
use std::collections::BTreeMap;
use std::io::{self, ErrorKind, Read, Write};
use std::time::Duration;

/// A machine with one connection, by both sets of verbs.
trait BothWays: Machine + Wire {
    fn next(&mut self, now: Time) -> Output<'_, Self::Event>;
    fn took(&mut self, n: usize);
    fn ended(&mut self, now: Time);
    fn due(&self) -> Option<Time>;
}

macro_rules! both_ways {
    ($($machine:ty)*) => { $(impl BothWays for $machine {
        fn next(&mut self, now: Time) -> Output<'_, Self::Event> {
            self.poll(now)
        }
        fn took(&mut self, n: usize) {
            self.written(n);
        }
        fn ended(&mut self, now: Time) {
            <$machine>::feed_eof(self, now);
        }
        fn due(&self) -> Option<Time> {
            <$machine>::deadline(self)
        }
    })* };
}

both_ways!(ws::Server ws::Client Client);

impl BothWays for OneOfHost {
    fn next(&mut self, now: Time) -> Output<'_, Self::Event> {
        self.poll(now)
    }
    fn took(&mut self, n: usize) {
        self.written(n);
    }
    fn ended(&mut self, now: Time) {
        self.end(now);
    }
    fn due(&self) -> Option<Time> {
        self.deadline()
    }
}

/// What a socket does with the writes of one turn.
#[derive(Clone, Copy, Debug)]
struct Socket {
    /// The number of bytes that one write takes at most.
    most: usize,
    /// The number of bytes after which it would block.
    room: usize,
    /// Whether it fails where it would block.
    breaks: bool,
}

impl Socket {
    fn random(random: &mut Random) -> Self {
        let most = [7, 100, usize::MAX][random.below(3)];
        let room = [0, 1, 90, usize::MAX, usize::MAX][random.below(5)];
        Self { most, room, breaks: random.one_in(40) }
    }

    /// Writes bytes: returns how many of them it takes, or `None` if it is broken.
    fn write(&mut self, bytes: &[u8]) -> Option<usize> {
        let taken = bytes.len().min(self.most).min(self.room);
        self.room -= taken;
        (taken > 0 || !self.breaks).then_some(taken)
    }
}

/// What a driver has seen.
#[derive(Debug, Default, PartialEq, Eq)]
struct Seen {
    events: Vec<String>,
    written: Vec<u8>,
    /// The times to wait for, one for each turn, and whether the connection is over. A host has forgotten it then.
    waits: Vec<(Option<Time>, bool)>,
}

/// A turn by the single verbs.
fn by_verbs<S: Subject>(
    subject: &S,
    app: &mut S::App,
    machine: &mut S::Machine,
    now: Time,
    mut socket: Socket,
    seen: &mut Seen,
) {
    machine.tick(now);
    let mut is_full = false;
    loop {
        while let Some(event) = machine.poll_event() {
            seen.events.push(format!("{event:?}"));
            subject.react(app, machine, &event);
        }
        while subject.transmit(machine) {}
        if is_full || machine.outgoing().is_empty() || machine.is_done() {
            break;
        }
        match socket.write(machine.outgoing()) {
            Some(0) => is_full = true,
            Some(n) => {
                seen.written.extend_from_slice(&machine.outgoing()[..n]);
                machine.sent(n);
            }
            None => {
                machine.feed_eof(now);
                machine.feed_eof(now);
            }
        }
    }
    seen.waits.push((Machine::deadline(machine).filter(|_| !machine.is_done()), machine.is_done()));
}

/// A turn by a pass.
fn by_pass<S: Subject<Machine: BothWays>>(
    subject: &S,
    app: &mut S::App,
    machine: &mut S::Machine,
    now: Time,
    mut socket: Socket,
    seen: &mut Seen,
    is_over: &mut bool,
) {
    loop {
        match machine.next(now) {
            Output::Event(event) => {
                assert!(!*is_over, "{event:?} after the end");
                seen.events.push(format!("{event:?}"));
                subject.react(app, machine, &event);
            }
            Output::Write { bytes, .. } => match socket.write(bytes) {
                Some(n) => {
                    seen.written.extend_from_slice(&bytes[..n]);
                    machine.took(n);
                }
                None => machine.ended(now),
            },
            Output::Close(()) => assert!(!std::mem::replace(is_over, true), "closed twice"),
            Output::Wait(until) => {
                assert!(until.is_none_or(|until| until > now), "waits until {until:?} at {now:?}");
                assert_eq!(until, machine.due());
                seen.waits.push((until.filter(|_| !*is_over), *is_over));
                return;
            }
        }
    }
}

/// Plays the same course by both sets of verbs: pieces of valid and damaged input at random times, each with a turn over
/// a random socket.
fn both_ways_agree<S: Subject<Machine: BothWays>>(subject: &S) {
    for script in subject.scripts() {
        for seed in 0..60 {
            let mut random = Random::new(seed);
            let mut input = script.clone();
            if random.one_in(3) {
                let at = random.below(input.len());
                input[at] ^= 1 << random.below(8);
            }
            let start = Time::from_millis(10);
            let (mut old, mut new) = (subject.make(start), subject.make(start));
            let (mut old_app, mut new_app) = (subject.app(seed % 8), subject.app(seed % 8));
            let (mut old_seen, mut new_seen) = (Seen::default(), Seen::default());
            let (mut now, mut rest, mut is_over) = (start, input.as_slice(), false);
            for turn in 0..400 {
                let wants = Wire::wants_input(&old);
                assert_eq!(wants, Wire::wants_input(&new), "seed {seed}, turn {turn}");
                if wants && !rest.is_empty() {
                    let (piece, behind) = rest.split_at(1 + random.below(rest.len().min(700)));
                    rest = behind;
                    Wire::feed(&mut old, now, piece);
                    Wire::feed(&mut new, now, piece);
                } else if rest.is_empty() && random.one_in(8) {
                    Wire::feed_eof(&mut old, now);
                    Wire::feed_eof(&mut new, now);
                }
                let socket = Socket::random(&mut random);
                by_verbs(subject, &mut old_app, &mut old, now, socket, &mut old_seen);
                by_pass(subject, &mut new_app, &mut new, now, socket, &mut new_seen, &mut is_over);
                assert_eq!(new_seen, old_seen, "{}, seed {seed}, turn {turn}, {socket:?}", subject.name());
                if is_over {
                    break;
                }
                let due = old_seen.waits.last().and_then(|(due, _)| *due).filter(|_| random.one_in(3));
                now = due
                    .unwrap_or_else(|| now.saturating_add(Duration::from_millis(random.below(300) as u64)));
            }
        }
    }
}

#[test]
fn ws_server() {
    both_ways_agree(&WsServer);
}

#[test]
fn ws_client() {
    both_ways_agree(&WsClient);
}

#[test]
fn ide_client() {
    both_ways_agree(&IdeClient);
}

#[test]
fn ide_host() {
    both_ways_agree(&IdeHost::default());
}

/// What a loop does otherwise than the six rules of `Output` say.
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
    /// Reads also while `wants_input` is false.
    ReadsOn,
}

/// A socket in memory: what the peer has sent, and a buffer of the kernel that the peer empties slowly.
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
    host: &mut Server,
    sockets: &mut BTreeMap<ConnId, Pipe>,
    now: Time,
    mistake: Mistake,
) -> Option<Time> {
    let mut buf = [0; 4096];
    for (conn, socket) in sockets.iter_mut().filter(|(_, socket)| !socket.is_closed) {
        while host.wants_input(*conn) || mistake == Mistake::ReadsOn {
            match socket.read(&mut buf) {
                Ok(n) if n > 0 => host.feed(now, *conn, &buf[..n]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                _ => {
                    host.feed_eof(now, *conn);
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
        match host.poll(clock) {
            Output::Event(ServerEvent::Call { call, .. }) => {
                let ToolCall::GetOpenEditors(call, _) = call else { panic!("{call:?}") };
                host.answer(call, &OpenEditors::new(Vec::new())).unwrap();
                if mistake == Mistake::LeavesAtEvent {
                    return host.deadline();
                }
            }
            Output::Event(_) => {}
            Output::Write { conn, bytes } => {
                let len = bytes.len();
                let part = if mistake == Mistake::CutsOffers { &bytes[..len.min(7)] } else { bytes };
                match sockets.get_mut(&conn).map(|socket| socket.write(part)) {
                    _ if mistake == Mistake::NeverReports => {}
                    Some(Ok(n)) => {
                        host.written(conn, if mistake == Mistake::ReportsAll { len } else { n });
                        if mistake == Mistake::ReportsTwice {
                            host.written(conn, n);
                        }
                    }
                    Some(Err(error)) if error.kind() == ErrorKind::WouldBlock => {
                        if mistake != Mistake::OmitsFull {
                            host.written(conn, 0);
                        }
                    }
                    _ if mistake == Mistake::HidesFailure => host.written(conn, 0),
                    _ => host.feed_eof(clock, conn),
                }
                if mistake == Mistake::LeavesAtWrite {
                    return host.deadline();
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

/// How the course of a connection went.
#[derive(Debug, PartialEq, Eq)]
struct Course {
    answered: usize,
    /// How the connection ended for the agent.
    end: String,
    /// Whether the host has forgotten the connection, and the loop has closed its socket.
    is_over: (bool, bool),
}

/// Attaches an agent over a socket with room for `capacity` bytes, of which the agent reads `rate` in a millisecond. It
/// makes ten calls and closes, or the socket breaks after nine.
fn course(mistake: Mistake, capacity: usize, rate: usize, breaks: bool) -> Course {
    let mut now = Time::ZERO;
    let mut server = config();
    server.tools = ToolSet::new().handle(Tool::GetOpenEditors).into();
    let mut host = Server::new(server);
    let client = ClientConfig::new(Implementation::new("a", "1"), PORT, Some(token()));
    let mut agent = Client::new(client, Random::new(1), SessionId::new(1), now).unwrap();
    let conn = host.connect(now);
    let pipe = Pipe { input: Vec::new(), kernel: Vec::new(), capacity, is_broken: false, is_closed: false };
    let mut sockets = BTreeMap::from([(conn, pipe)]);
    let (mut asked, mut answered, mut end, mut due) = (0, 0, String::new(), Some(now));
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
        let has_room = socket.kernel.len() < capacity && host.wants_output(conn);
        let is_ready = !socket.is_closed && (socket.is_broken || !socket.input.is_empty() || has_room);
        if is_ready || due.is_some_and(|due| due <= now) {
            due = turn(&mut host, &mut sockets, now, mistake);
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
        if agent.is_ready() && asked < 10 && round % 100 == 0 {
            asked += usize::from(agent.call(&GetOpenEditors).is_ok());
        }
        if round == 3_000 {
            agent.close();
        }
    }
    let is_over = (host.is_idle(), sockets.values().all(|socket| socket.is_closed));
    Course { answered, end, is_over }
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
            let good = Course { answered, end: end.into(), is_over: (true, true) };
            let course = |mistake| course(mistake, capacity, rate, breaks);
            let row = |mistake| format!("{mistake:?}, {rate} of {capacity} bytes, breaks: {breaks}");
            assert_eq!(course(None), good, "{}", row(None));
            for mistake in harmless {
                assert_eq!(course(mistake), good, "{}", row(mistake));
            }
            // The host is done with the connection, and only the socket of the loop stays.
            let ignores = course(IgnoresClose);
            assert_eq!(
                (ignores.answered, ignores.is_over),
                (answered, (true, false)),
                "{}",
                row(IgnoresClose)
            );
            // A wrong count is not known here: what follows is not what the peer can read.
            for mistake in [NeverReports, ReportsAll] {
                let found = course(mistake);
                if mistake == ReportsAll && capacity == 100_000 {
                    assert_eq!(found, course(None), "{}: the socket takes all", row(mistake));
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

/// The end of the input says nothing about the output: an answer that was offered, and that the loop did not write yet, is
/// offered again and arrives.
#[test]
fn input_that_ends_beside_an_offer_leaves_the_answer() {
    let mut host = Server::new(config());
    let conn = host.connect(Time::ZERO);
    host.feed(Time::ZERO, conn, HEAD.as_bytes());
    assert!(matches!(host.poll(Time::ZERO), Output::Write { .. }));
    host.read_from(Time::ZERO, conn, &mut io::empty());
    let mut arrived = Vec::new();
    let is_over = (0..100).any(|_| {
        let is_over = matches!(host.poll(Time::ZERO), Output::Close(_));
        host.write_to(Time::ZERO, conn, &mut arrived);
        is_over
    });
    assert!(is_over, "the connection is never over");
    assert!(arrived.starts_with(b"HTTP/1.1 101"), "{}", arrived.escape_ascii());
}
