//! All sequences, up to a depth, of the sixteen possible actions of two joined WebSocket machines
//! with limits of a few dozen bytes.
//!
//! The search is breadth-first: each sequence of actions is replayed from the beginning, and a
//! state that was reached before is not continued. After each action these rules are checked:
//!
//! - [`Fault::Deadlock`]: law 10. Without a timer both machines come to rest, with everything
//!   written and read.
//! - [`Fault::LostBeforeEnd`]: messages that arrived before the end of the transport are reported
//!   before the ending.
//! - [`Fault::StalledReader`]: a peer that read one high-water mark within the stall timeout is not
//!   cut off.
//! - [`Fault::EarlyClose`]: the timeout of the close handshake starts when the close frame has been
//!   written. Until then each write restarts it.
//! - [`Fault::Clock`], [`Fault::Ending`]: laws 4 and 3.
//!
//! `cargo test --release -p ide-mcp --test it -- --ignored small_scope` goes to the depth that a
//! minute allows.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::time::Duration;

use ide_mcp::testing::{Random, pass};
use ide_mcp::ws::{self, ClientRequest, CloseCode, Closed, OwnedEvent};
use ide_mcp::{Outbox as _, Output, Time, To};

const MARK: usize = 32;
const MESSAGE: usize = 96;
/// A message and the high-water mark, with the longest header of a frame.
const ROOM: usize = MESSAGE + MARK + 14;
/// The number of bytes that one write moves.
const WRITE: usize = 32;
/// The number of bytes that fit into a link.
const LINK: usize = 48;
const STALLED: Duration = Duration::from_secs(30);
const CLOSE: Duration = Duration::from_secs(2);
/// The number of messages of each kind that one machine sends.
const MOST: usize = 2;

#[test]
fn sequences_of_six_actions_break_no_rule() {
    assert_eq!(search(6), BTreeMap::new());
}

#[test]
#[ignore = "takes a minute in release"]
fn sequences_of_nine_actions_break_no_rule() {
    assert_eq!(search(9), BTreeMap::new());
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fault {
    Deadlock,
    LostBeforeEnd,
    StalledReader,
    EarlyClose,
    Clock,
    Ending,
}

/// An action of the machine with this number (0 is the server), or of the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Action {
    /// Sends a short message, which the application of the other machine answers later.
    Ask(usize),
    /// Sends a message of the maximum length.
    SendLong(usize),
    /// Answers the oldest message that awaits an answer, even above the high-water mark.
    Answer(usize),
    /// Begins the close handshake.
    Close(usize),
    /// Moves up to [`WRITE`] bytes into the link.
    Write(usize),
    /// Reads as many bytes from the link as the machine has space for.
    Read(usize),
    /// Ends the transport of this machine.
    End(usize),
    /// Lets one second pass, or less if a timer is due before.
    Second,
    /// Lets the time pass until the next timer is due.
    Due,
}

fn actions() -> Vec<Action> {
    use Action::*;
    let of =
        |side| [Ask(side), SendLong(side), Answer(side), Close(side), Write(side), Read(side), End(side)];
    [of(0), of(1)].concat().into_iter().chain([Second, Due]).collect()
}

/// Explores all sequences of up to `depth` actions. Returns the shortest sequence for each fault.
fn search(depth: usize) -> BTreeMap<Fault, (Vec<Action>, String)> {
    let actions = actions();
    let (mut known, mut faults) = (BTreeSet::new(), BTreeMap::new());
    let mut frontier = vec![Vec::new()];
    for level in 1..=depth {
        let mut next = Vec::new();
        for sequence in &frontier {
            for action in &actions {
                let mut world = World::new();
                for before in sequence {
                    world.act(*before);
                }
                if !world.act(*action) || !known.insert(world.digest()) {
                    continue;
                }
                let mut longer: Vec<Action> = sequence.clone();
                longer.push(*action);
                world.settle();
                for (fault, why) in world.faults {
                    faults.entry(fault).or_insert_with(|| (longer.clone(), why));
                }
                next.push(longer);
            }
        }
        frontier = next;
        eprintln!("depth {level}: {} new states", frontier.len());
    }
    for (fault, (sequence, why)) in &faults {
        println!("{fault:?}: {why}\n  {sequence:?}");
    }
    faults
}

#[allow(clippy::large_enum_variant, reason = "one of them at a time")]
enum Machine {
    Server(ws::Server),
    Client(ws::Client),
}

/// Evaluates an expression with either machine.
macro_rules! with {
    ($machine:expr, $name:ident => $act:expr) => {
        match $machine {
            Machine::Server($name) => $act,
            Machine::Client($name) => $act,
        }
    };
}

/// One end of the connection, and the facts by which a perfect observer judges it. Positions count
/// the bytes after the opening handshake.
struct End {
    machine: Machine,
    /// The bytes in flight from this end.
    link: VecDeque<u8>,
    /// The position after each sent message.
    sent: Vec<usize>,
    /// The position after the close frame that the application sent.
    close: Option<usize>,
    /// The times at which the application sent the close frame, and at which its last byte was
    /// written.
    closed_at: Option<Time>,
    close_written: Option<Time>,
    writes: Vec<(Time, usize)>,
    written: usize,
    /// The position after all that the application sent.
    queued: usize,
    /// The number of bytes taken from the other end.
    taken: usize,
    /// The number of reported messages of the other end, and of those that await an answer.
    reported: usize,
    unanswered: usize,
    pending: usize,
    sent_long: usize,
    transport_ended: bool,
    closed: Option<Closed>,
}

impl End {
    fn new(machine: Machine) -> Self {
        Self {
            machine,
            link: VecDeque::new(),
            sent: Vec::new(),
            close: None,
            closed_at: None,
            close_written: None,
            writes: Vec::new(),
            written: 0,
            queued: 0,
            taken: 0,
            reported: 0,
            unanswered: 0,
            pending: 0,
            sent_long: 0,
            transport_ended: false,
            closed: None,
        }
    }

    /// Counts a frame that the application sent, and returns the position after it. All frames are short.
    fn queue(&mut self, payload: usize) -> usize {
        assert!(payload < 126, "a longer frame has a longer header");
        let header = if matches!(self.machine, Machine::Client(_)) { 6 } else { 2 };
        self.queued += header + payload;
        self.queued
    }

    fn send(&mut self, len: usize) -> bool {
        let text = if len < 10 { "ask".to_owned() } else { "l".repeat(len) };
        let sent = with!(&mut self.machine, machine => machine.sender().text(&text).is_ok());
        if sent {
            let position = self.queue(text.len());
            self.sent.push(position);
        }
        sent
    }

    fn written_since(&self, start: Time) -> usize {
        self.writes.iter().filter(|(at, _)| *at > start).map(|(_, n)| n).sum()
    }

    /// Returns the number of bytes of messages that the other end has not reported.
    fn unreported(&self, other: &Self) -> usize {
        let reported = other.reported.checked_sub(1).map_or(0, |last| self.sent[last]);
        self.sent.last().map_or(0, |end| end - reported)
    }
}

struct World {
    ends: [End; 2],
    now: Time,
    faults: Vec<(Fault, String)>,
}

impl World {
    fn new() -> Self {
        let mut limits = ws::Limits::default();
        (limits.message, limits.outgoing, limits.keepalive) = (MESSAGE, MARK, None);
        (limits.stalled, limits.close, limits.drain) = (STALLED, CLOSE, Duration::from_secs(3));
        let now = Time::from_millis(1000);
        let mut server = ws::Server::new(limits.clone(), now);
        let mut client =
            ws::Client::new(ClientRequest::new("h"), Random::new(1).source(), limits, now).unwrap();
        server.feed(now, &pass(&mut client, now, usize::MAX).written_bytes());
        assert!(matches!(pass(&mut server, now, 0).events[..], [OwnedEvent::Upgrade(_)]));
        server.accept(None).unwrap();
        client.feed(now, &pass(&mut server, now, usize::MAX).written_bytes());
        assert!(matches!(pass(&mut client, now, 0).events[..], [OwnedEvent::Open { .. }]));
        let ends = [End::new(Machine::Server(server)), End::new(Machine::Client(client))];
        Self { ends, now, faults: Vec::new() }
    }

    /// Does one action. Returns false if the action changes nothing.
    fn act(&mut self, action: Action) -> bool {
        let done = match action {
            Action::Ask(side) => {
                let end = &mut self.ends[side];
                end.pending += 1;
                end.pending <= MOST && end.send(3)
            }
            Action::SendLong(side) => {
                let end = &mut self.ends[side];
                end.sent_long += 1;
                end.sent_long <= MOST && end.send(MESSAGE)
            }
            Action::Answer(side) => self.answer(side),
            Action::Close(side) => {
                let end = &mut self.ends[side];
                let closed = with!(&mut end.machine, m => m.sender().close(CloseCode::NORMAL, "").is_ok());
                if closed {
                    end.close = Some(end.queue(2));
                    end.closed_at = Some(self.now);
                }
                closed
            }
            Action::Write(side) => self.write(side),
            Action::Read(side) => self.read(side),
            Action::End(side) => {
                let (end, now) = (&mut self.ends[side], self.now);
                with!(&mut end.machine, machine => machine.feed_eof(now));
                !std::mem::replace(&mut end.transport_ended, true) && end.closed.is_none()
            }
            Action::Second => self.tick(self.now.saturating_add(Duration::from_secs(1))),
            Action::Due => self.due().is_some_and(|due| self.tick(due)),
        };
        // An application can act between a read and the next poll.
        if matches!(action, Action::Write(_) | Action::End(_)) {
            self.poll();
        }
        done
    }

    fn answer(&mut self, side: usize) -> bool {
        self.poll();
        let end = &mut self.ends[side];
        if end.unanswered == 0 {
            return false;
        }
        end.unanswered -= 1;
        let answer = [b'a'; MARK + 8];
        let is_sent = with!(&mut end.machine, machine => {
            machine.sender().message(To::Unsolicited, |buf| buf.extend_from_slice(&answer)).is_ok()
        });
        if is_sent {
            let position = end.queue(answer.len());
            end.sent.push(position);
        }
        is_sent
    }

    fn write(&mut self, side: usize) -> bool {
        let now = self.now;
        let other_reads = self.ends[1 - side].closed.is_none() && !self.ends[1 - side].transport_ended;
        let end = &mut self.ends[side];
        if !other_reads {
            end.link.clear();
        }
        let room = LINK - end.link.len();
        if end.transport_ended {
            return false;
        }
        let piece = self.pass(side, WRITE.min(room));
        if piece.is_empty() {
            return false;
        }
        let end = &mut self.ends[side];
        end.written += piece.len();
        end.writes.push((now, piece.len()));
        if other_reads {
            end.link.extend(&piece);
        }
        if end.close.is_some_and(|close| end.written >= close) {
            end.close_written.get_or_insert(now);
        }
        true
    }

    fn read(&mut self, side: usize) -> bool {
        let now = self.now;
        let mut link = std::mem::take(&mut self.ends[1 - side].link);
        let end = &mut self.ends[side];
        let mut moved = 0;
        if !end.transport_ended {
            with!(&mut end.machine, machine => {
                let space = machine.space();
                moved = space.len().min(link.len());
                for (into, byte) in space.iter_mut().zip(link.drain(..moved)) {
                    *into = byte;
                }
                machine.filled(now, moved);
            });
        }
        end.taken += moved;
        self.ends[1 - side].link = link;
        moved > 0
    }

    fn due(&self) -> Option<Time> {
        let due = |end: &End| with!(&end.machine, machine => machine.deadline());
        self.ends.iter().filter_map(due).min()
    }

    fn tick(&mut self, at: Time) -> bool {
        let at = self.due().map_or(at, |due| at.min(due));
        if at <= self.now {
            return false;
        }
        self.now = at;
        self.poll();
        if self.due().is_some_and(|due| due <= at) {
            self.faults.push((Fault::Clock, "a deadline has passed after a pass".to_owned()));
        }
        true
    }

    fn poll(&mut self) {
        for side in 0..2 {
            self.pass(side, 0);
        }
    }

    /// Runs a pass of a machine whose socket has this much room. Returns the bytes that the socket took.
    fn pass(&mut self, side: usize, mut room: usize) -> Vec<u8> {
        let (mut taken, now) = (Vec::new(), self.now);
        loop {
            let event = with!(&mut self.ends[side].machine, machine => match machine.poll(now) {
                Output::Event(event) => event,
                Output::Write { bytes, .. } => {
                    let n = bytes.len().min(room);
                    taken.extend_from_slice(&bytes[..n]);
                    room -= n;
                    machine.written(n);
                    continue;
                }
                Output::Close(()) => continue,
                Output::Wait(_) => return taken,
            });
            self.on_event(side, event);
        }
    }

    fn on_event(&mut self, side: usize, event: OwnedEvent) {
        let end = &mut self.ends[side];
        if end.closed.is_some() {
            self.faults.push((Fault::Ending, format!("{event:?} after the ending")));
        }
        match event {
            OwnedEvent::Text(text) => {
                end.reported += 1;
                end.unanswered += usize::from(text == "ask");
            }
            OwnedEvent::Closed(closed) => {
                self.judge(side, &closed);
                self.ends[side].closed = Some(closed);
            }
            _ => {}
        }
    }

    /// Records a fault if an ending is wrong.
    fn judge(&mut self, side: usize, closed: &Closed) {
        let (end, other, now) = (&self.ends[side], &self.ends[1 - side], self.now);
        let ago = |span: Duration| Time::new(now.since_start().saturating_sub(span));
        let mut fault = |fault, why: String| self.faults.push((fault, why));
        match closed {
            Closed::Abnormal if end.close.is_none() => {
                let whole = other.sent.iter().filter(|position| **position <= end.taken).count();
                if end.reported != whole {
                    fault(Fault::LostBeforeEnd, format!("{} of {whole} messages reported", end.reported));
                }
                if other.close.is_some_and(|position| position <= end.taken) {
                    fault(Fault::LostBeforeEnd, "the close frame of the peer was lost".to_owned());
                }
            }
            Closed::Stalled => {
                let written = end.written_since(ago(STALLED));
                if written >= MARK {
                    fault(Fault::StalledReader, format!("{written} bytes were written in {STALLED:?}"));
                }
            }
            Closed::Local { clean: false } if !end.transport_ended => {
                let trickles = end.closed_at.is_some_and(|at| now.saturating_since(at) >= STALLED)
                    && end.written_since(ago(STALLED)) < MARK;
                match end.close_written {
                    Some(at) if now.saturating_since(at) < CLOSE => {
                        fault(
                            Fault::EarlyClose,
                            format!("{:?} after the close frame", now.saturating_since(at)),
                        );
                    }
                    None if end.written_since(ago(CLOSE)) > 0 && !trickles => {
                        fault(
                            Fault::EarlyClose,
                            "the peer was reading and the close frame waited".to_owned(),
                        );
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }

    /// Moves all bytes that can move without a timer, and checks that none is left.
    fn settle(&mut self) {
        let room = |end: &End, other: &End| end.unreported(other) <= ROOM;
        let [server, client] = &self.ends;
        let must_rest = room(server, client) || room(client, server);
        let joined = !server.transport_ended && !client.transport_ended;
        if !(must_rest && joined) {
            return;
        }
        loop {
            self.poll();
            let mut moved = false;
            for side in 0..2 {
                moved |= self.write(side);
                moved |= self.read(side);
                self.poll();
            }
            if !moved {
                break;
            }
        }
        for side in 0..2 {
            let end = &self.ends[side];
            let waits = with!(&end.machine, machine => machine.wants_output());
            let unread = if self.ends[1 - side].closed.is_none() { end.link.len() } else { 0 };
            if waits || unread > 0 {
                let why = format!("machine {side} has bytes unwritten: {waits}; {unread} bytes are unread");
                self.faults.push((Fault::Deadlock, why));
            }
        }
    }

    /// Returns a digest that distinguishes states.
    fn digest(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        for end in &self.ends {
            with!(&end.machine, machine => format!("{machine:?}").hash(&mut hasher));
            (end.link.len(), &end.sent, end.close, end.closed_at, end.close_written).hash(&mut hasher);
            (end.written, end.taken, end.reported, end.unanswered).hash(&mut hasher);
            (end.transport_ended, end.closed.is_some(), self.now).hash(&mut hasher);
            let recent: Vec<_> =
                end.writes.iter().filter(|(at, _)| self.now.saturating_since(*at) < STALLED).collect();
            recent.hash(&mut hasher);
        }
        hasher.finish()
    }
}
