//! Sockets in memory. A connection is two links, and each of its ends can be asleep, gone, or gone
//! without notice.

use std::time::Duration;

use ide_mcp::{
    Time, Wire,
    ide::ConnId,
    testing::{Link, Random},
};

use super::plan::{Plan, Quality};

/// The peer at the far end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    Agent(usize),
    Hostile(usize),
    /// The process is gone, and its system has closed the connection.
    Dead,
    /// The peer is gone, and its system does not report it.
    Lost,
}

/// A connection.
#[derive(Debug)]
pub struct Cable {
    /// The id of the connection at the host; `None` once the host has removed the connection.
    pub conn: Option<ConnId>,
    pub peer: Peer,
    pub up: Link,
    pub down: Link,
    /// True if `poll_transmit` has returned the connection, and not all of the output has been taken
    /// since.
    pub is_named: bool,
    /// True if the end of the transport came while the receiver slept.
    pub missed_by_host: bool,
    pub missed_by_peer: bool,
    /// True if the line is broken: nothing arrives on it.
    pub is_dead: bool,
    /// True if the traffic is so large that it moves in large pieces.
    is_bulky: bool,
}

impl Cable {
    pub fn new(conn: ConnId, peer: Peer, is_bulky: bool, plan: &Plan, random: &mut Random) -> Self {
        let mut cable = Self {
            conn: Some(conn),
            peer,
            up: Link::new(),
            down: Link::new(),
            is_named: false,
            missed_by_host: false,
            missed_by_peer: false,
            is_dead: false,
            is_bulky,
        };
        cable.vary(plan, random);
        cable
    }

    /// Chooses other delays and pieces.
    pub fn vary(&mut self, plan: &Plan, random: &mut Random) {
        let longest = match plan.quality {
            Quality::Clean => 0,
            Quality::Usual => 5,
            Quality::Bad => 300,
            Quality::Awful => 2_000,
        };
        for link in [&mut self.up, &mut self.down] {
            link.delay = Duration::from_micros(random.number() % (longest * 1_000 + 1));
            link.piece = match plan.quality {
                Quality::Clean => usize::MAX,
                _ if self.is_bulky => [usize::MAX, 10_000, 3_000][random.below(3)],
                _ => [usize::MAX, 1_000, 100, 20, 7, 1][random.below(6)],
            };
        }
    }

    /// Ends all delays. A dead line stays dead.
    pub fn heal(&mut self) {
        for link in [&mut self.up, &mut self.down] {
            link.delay = Duration::ZERO;
            link.pace = Duration::ZERO;
            link.piece = usize::MAX;
        }
    }

    /// Breaks the line: nothing arrives any more, and neither end gets an error.
    pub fn die(&mut self) {
        self.is_dead = true;
        for link in [&mut self.up, &mut self.down] {
            link.stall(Time::new(Duration::MAX));
        }
    }

    /// Returns the time of the next arrival.
    pub fn next_arrival(&self, now: Time) -> Option<Time> {
        [self.up.next_arrival(now), self.down.next_arrival(now)].into_iter().flatten().min()
    }
}

/// Moves bytes from one end of a link to the other. Returns true if any moved, or if the end did.
pub fn carry(link: &mut Link, from: &mut End<'_>, to: &mut End<'_>, now: Time) -> bool {
    if to.is_done() {
        link.abandon();
    }
    let taken = link.write(now, from.outgoing());
    from.sent(taken);
    if from.is_done() && !link.is_abandoned() {
        link.finish();
    }
    let read = if to.wants_input() { link.read(now, to.space()) } else { 0 };
    if read > 0 {
        to.filled(now, read);
    }
    let ends = link.take_end();
    if ends {
        to.feed_eof(now);
    }
    taken > 0 || read > 0 || ends
}

/// One end of a link, as the link sees it: with its own clock, perhaps asleep, and recorded.
pub struct End<'a> {
    wire: &'a mut dyn Wire,
    time: Time,
    /// True if the end reads and writes.
    active: bool,
    missed: Option<&'a mut bool>,
    overheard: &'a mut Vec<u8>,
    /// True if the end of the transport has arrived.
    pub has_ended: bool,
}

impl<'a> End<'a> {
    /// Creates an end. All bytes that it reads or writes are added to `overheard`.
    pub fn new(wire: &'a mut dyn Wire, time: Time, active: bool, overheard: &'a mut Vec<u8>) -> Self {
        Self { wire, time, active, missed: None, overheard, has_ended: false }
    }

    /// Sets `missed` if the transport closes while this end is asleep.
    pub fn noting(mut self, missed: &'a mut bool) -> Self {
        self.missed = Some(missed);
        self
    }
}

impl Wire for End<'_> {
    fn space(&mut self) -> &mut [u8] {
        if self.active { self.wire.space() } else { &mut [] }
    }

    fn filled(&mut self, _: Time, n: usize) {
        let space = self.wire.space();
        let n = n.min(space.len());
        self.overheard.extend_from_slice(&space[..n]);
        self.wire.filled(self.time, n);
    }

    fn feed(&mut self, _: Time, bytes: &[u8]) {
        self.overheard.extend_from_slice(bytes);
        self.wire.feed(self.time, bytes);
    }

    fn feed_eof(&mut self, _: Time) {
        self.has_ended = true;
        match &mut self.missed {
            Some(missed) if !self.active => **missed = true,
            _ => self.wire.feed_eof(self.time),
        }
    }

    fn outgoing(&self) -> &[u8] {
        if self.active { self.wire.outgoing() } else { &[] }
    }

    fn sent(&mut self, n: usize) {
        if self.active {
            let waiting = self.wire.outgoing();
            self.overheard.extend_from_slice(&waiting[..waiting.len().min(n)]);
            self.wire.sent(n);
        }
    }

    fn wants_input(&self) -> bool {
        self.active && self.wire.wants_input()
    }

    fn is_done(&self) -> bool {
        self.active && self.wire.is_done()
    }

    fn trim(&mut self) {
        self.wire.trim();
    }
}

/// An end without a process.
#[derive(Debug)]
pub struct Nobody {
    /// True if the system closes the connection.
    pub says_so: bool,
}

impl Wire for Nobody {
    fn space(&mut self) -> &mut [u8] {
        &mut []
    }

    fn filled(&mut self, _: Time, _: usize) {}

    fn feed(&mut self, _: Time, _: &[u8]) {}

    fn feed_eof(&mut self, _: Time) {}

    fn outgoing(&self) -> &[u8] {
        &[]
    }

    fn sent(&mut self, _: usize) {}

    fn wants_input(&self) -> bool {
        false
    }

    fn is_done(&self) -> bool {
        self.says_so
    }

    fn trim(&mut self) {}
}

/// The clock of one machine: ahead of the others by the sum of its jumps, and sometimes read
/// wrongly.
#[derive(Debug)]
pub struct Clock {
    ahead: Duration,
    latest: Time,
    random: Random,
    shaky: bool,
}

impl Clock {
    pub fn new(shaky: bool, seed: u64) -> Self {
        Self { ahead: Duration::ZERO, latest: Time::ZERO, random: Random::new(seed), shaky }
    }

    /// Returns the time that the clock shows.
    pub fn time_at(&mut self, now: Time) -> Time {
        let shown = now.saturating_add(self.ahead);
        self.latest = self.latest.max(shown);
        shown
    }

    /// Returns the time that the clock shows, or sometimes an earlier one. A machine that gets an
    /// earlier time has to go on from the latest time that it got before.
    pub fn read(&mut self, now: Time) -> Time {
        let shown = now.saturating_add(self.ahead);
        if self.shaky && self.random.one_in(6) {
            let back = Duration::from_millis(1 << self.random.below(22));
            return Time::new(shown.since_start().saturating_sub(back));
        }
        self.time_at(now)
    }

    /// Returns the latest time that the clock has shown.
    pub const fn latest(&self) -> Time {
        self.latest
    }

    pub fn jump(&mut self, span: Duration) {
        self.ahead += span;
    }

    /// Returns the moment at which the clock shows this time.
    pub fn shows(&self, at: Time) -> Time {
        Time::new(at.since_start().saturating_sub(self.ahead))
    }
}
