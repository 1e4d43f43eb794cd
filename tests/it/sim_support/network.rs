//! Sockets in memory. A connection is two links, and each of its ends can be asleep, gone, or gone
//! without notice.

use std::time::Duration;

use ide_mcp::{
    Time,
    ide::ConnId,
    testing::{Link, Random},
};

use super::plan::{Plan, Quality};

/// The peer at the far end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    Agent(usize),
    Hostile(usize),
    /// The process is gone, and its kernel has closed the connection.
    Dead,
    /// The peer is gone, and nothing reports it.
    Lost,
}

/// A connection.
#[derive(Debug)]
pub struct Cable {
    /// The id of the connection at the server; `None` once the server has closed the connection.
    pub conn: Option<ConnId>,
    pub peer: Peer,
    pub up: Link,
    pub down: Link,
    /// The number of bytes that the last write of the server left unwritten.
    pub unwritten: usize,
    /// True if the last write has found no room for all of its bytes, and the reader has read nothing since.
    pub up_is_full: bool,
    pub down_is_full: bool,
    /// True if the end of the transport came while the receiver slept.
    pub missed_by_server: bool,
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
            up: Link::default(),
            down: Link::default(),
            unwritten: 0,
            up_is_full: false,
            down_is_full: false,
            missed_by_server: false,
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

    /// Returns true if the peer can write.
    pub fn takes_up(&self) -> bool {
        !self.up_is_full || !self.up.is_open() || self.up.is_abandoned()
    }

    /// Returns true if the server can write.
    pub fn takes_down(&self) -> bool {
        !self.down_is_full || !self.down.is_open() || self.down.is_abandoned()
    }

    /// Returns the time of the next arrival.
    pub fn next_arrival(&self, now: Time) -> Option<Time> {
        [self.up.next_arrival(now), self.down.next_arrival(now)].into_iter().flatten().min()
    }
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

    /// Returns the time that the clock shows, or sometimes an earlier one. A machine that gets an earlier time must go
    /// on from the latest time that it got before.
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

    /// Returns the moment the clock shows this time.
    pub fn shows(&self, at: Time) -> Time {
        Time::new(at.since_start().saturating_sub(self.ahead))
    }
}
