//! Sockets in memory: a connection is two links, and what is at their ends may be asleep, gone, or gone without a word.

use std::time::Duration;

use ide_mcp::{
    Time, Wire,
    ide::ConnId,
    testing::{Link, Random},
};

use super::plan::{Plan, Quality};

/// Who is at the far end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    Agent(usize),
    Hostile(usize),
    /// The process is gone, and its system has said so.
    Dead,
    /// Nobody is there, and nobody will say so.
    Lost,
}

/// One connection.
#[derive(Debug)]
pub struct Cable {
    /// Its name at the host; `None` once that has let go of it.
    pub conn: Option<ConnId>,
    pub peer: Peer,
    pub up: Link,
    pub down: Link,
    /// The host has named it, and not all of what it had to say has been taken since.
    pub is_named: bool,
    /// The end of the transport came while the one who was to hear of it slept.
    pub missed_by_host: bool,
    pub missed_by_peer: bool,
    /// Something is wrong with the line, so that nothing is to be expected of it.
    pub is_dead: bool,
    /// So much goes over it that it does so in large pieces.
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

    /// Other delays and other pieces from here on.
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

    /// Everything arrives again, at once. A dead line stays dead.
    pub fn heal(&mut self) {
        for link in [&mut self.up, &mut self.down] {
            link.delay = Duration::ZERO;
            link.pace = Duration::ZERO;
            link.piece = usize::MAX;
        }
    }

    /// Nothing arrives any more, and nobody is told.
    pub fn die(&mut self) {
        self.is_dead = true;
        for link in [&mut self.up, &mut self.down] {
            link.stall(Time::new(Duration::MAX));
        }
    }

    /// When something arrives next.
    pub fn next_arrival(&self, now: Time) -> Option<Time> {
        [self.up.next_arrival(now), self.down.next_arrival(now)].into_iter().flatten().min()
    }
}

/// One end of a link, as the link sees it: with a clock of its own, perhaps asleep, and overheard.
pub struct End<'a> {
    wire: &'a mut dyn Wire,
    time: Time,
    /// It reads and writes.
    active: bool,
    missed: Option<&'a mut bool>,
    overheard: &'a mut Vec<u8>,
    /// It has heard of the end of the transport.
    pub has_ended: bool,
}

impl<'a> End<'a> {
    /// What goes in or out at this end is added to `overheard`.
    pub fn new(wire: &'a mut dyn Wire, time: Time, active: bool, overheard: &'a mut Vec<u8>) -> Self {
        Self { wire, time, active, missed: None, overheard, has_ended: false }
    }

    /// While it is asleep the end of the transport is noted there.
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

/// An end at which nobody is.
#[derive(Debug)]
pub struct Nobody {
    /// Its system says that nobody is.
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

/// The clock of one machine: ahead of the others by as much as it has jumped, and sometimes read wrongly.
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

    /// What it shows now.
    pub fn tell(&mut self, now: Time) -> Time {
        let shown = now.saturating_add(self.ahead);
        self.latest = self.latest.max(shown);
        shown
    }

    /// The same, but that it may show less than it did before, which must count as the latest.
    pub fn read(&mut self, now: Time) -> Time {
        let shown = now.saturating_add(self.ahead);
        if self.shaky && self.random.one_in(6) {
            let back = Duration::from_millis(1 << self.random.below(22));
            return Time::new(shown.since_start().saturating_sub(back));
        }
        self.tell(now)
    }

    /// The latest time that it has told.
    pub const fn latest(&self) -> Time {
        self.latest
    }

    pub fn jump(&mut self, span: Duration) {
        self.ahead += span;
    }

    /// When it is that it shows this.
    pub fn shows(&self, at: Time) -> Time {
        Time::new(at.since_start().saturating_sub(self.ahead))
    }
}
