//! The bytes on the cables, cut as the seed decides, and recorded at the end of the host.

use ide_mcp::{Time, Wire, ide::ConnId, testing::Link};

use super::{Cuts, World};
use crate::sim_support::{
    agent::Agent,
    hostile::Hostile,
    network::{Cable, End, Nobody, Peer, carry},
    oracle::Invariant as I,
};

impl World {
    /// Moves all bytes that can move on one cable, both ways.
    pub(super) fn carry(&mut self, at: usize) -> bool {
        let mut any = false;
        while self.oracle.is_content() && self.carry_up(at) {
            any = true;
        }
        while self.oracle.is_content() && self.carry_down(at) {
            any = true;
        }
        any
    }

    /// Moves bytes from the peer to the host, and turns the host.
    fn carry_up(&mut self, at: usize) -> bool {
        let (mut said, mut heard) = (Vec::new(), Vec::new());
        let mut ended = false;
        let awake = self.host_asleep_until.is_none();
        let host_time = self.host_clock.read(self.now);
        let piece = self.cuts.of(&self.cables[at].up);
        let mut nobody = Nobody { says_so: self.cables[at].peer != Peer::Lost };
        let Self { cables, subject, agents, hostiles, now, .. } = self;
        let cable = &mut cables[at];
        let Cable { peer, up, missed_by_host, conn, .. } = cable;
        up.piece = piece;
        let (peer_wire, active, time) = far_end(*peer, agents, hostiles, &mut nobody, *now);
        let mut from = End::new(peer_wire, time, active, &mut said);
        let moved = match *conn {
            Some(conn) => subject.with_wire(conn, |wire| {
                let mut to = End::new(wire, host_time, awake, &mut heard).noting(missed_by_host);
                let moved = carry(up, &mut from, &mut to, *now);
                ended = to.has_ended;
                moved
            }),
            None => {
                let mut gone = Nobody { says_so: true };
                let mut nothing = Vec::new();
                Some(carry(up, &mut from, &mut End::new(&mut gone, *now, true, &mut nothing), *now))
            }
        };
        // A process that has sent its last byte is gone.
        let over = match *peer {
            Peer::Agent(at) => agents[at].client.as_ref().is_some_and(Wire::is_done),
            Peer::Hostile(at) => hostiles[at].is_over || hostiles[at].has_ended,
            Peer::Dead | Peer::Lost => false,
        };
        if over && (conn.is_none() || !up.is_open()) {
            match std::mem::replace(peer, Peer::Dead) {
                Peer::Agent(at) => agents[at].client = None,
                Peer::Hostile(at) => {
                    hostiles[at].is_over = true;
                    hostiles[at].judge(&mut self.oracle);
                }
                Peer::Dead | Peer::Lost => {}
            }
        }
        let conn = *conn;
        if let Some(book) = conn.and_then(|conn| self.books.get_mut(&conn)) {
            book.hear(self.host_clock.time_at(self.now), &heard, &mut self.oracle);
        }
        let heard_any = !heard.is_empty() || ended;
        if heard_any && awake {
            self.turn_host();
        }
        moved.unwrap_or(false)
    }

    /// Moves bytes from the host to the peer, and turns the peer.
    fn carry_down(&mut self, at: usize) -> bool {
        let (mut said, mut heard) = (Vec::new(), Vec::new());
        let host_time = self.host_clock.read(self.now);
        let piece = self.cuts.of(&self.cables[at].down);
        let awake = self.host_asleep_until.is_none();
        let mut nobody = Nobody { says_so: self.cables[at].peer != Peer::Lost };
        let Self { cables, subject, agents, hostiles, now, plan, .. } = self;
        let cable = &mut cables[at];
        let Cable { peer, down, missed_by_peer, conn, is_named, .. } = cable;
        down.piece = piece;
        let (peer_wire, active, time) = far_end(*peer, agents, hostiles, &mut nobody, *now);
        let mut to = End::new(peer_wire, time, active, &mut heard).noting(missed_by_peer);
        let mut is_done = false;
        let moved = match *conn {
            Some(conn) => subject.with_wire(conn, |wire| {
                let mut from = End::new(wire, host_time, awake && *is_named, &mut said);
                let moved = carry(down, &mut from, &mut to, *now);
                is_done = from.is_done();
                *is_named &= !from.outgoing().is_empty();
                moved
            }),
            None => {
                let mut gone = Nobody { says_so: true };
                let mut nothing = Vec::new();
                Some(carry(down, &mut End::new(&mut gone, *now, true, &mut nothing), &mut to, *now))
            }
        };
        let has_ended = to.has_ended;
        if plan.trims {
            conn.and_then(|conn| subject.with_wire(conn, |wire| wire.trim()));
            to.trim();
        }
        let turns = !heard.is_empty() || has_ended;
        let (peer, conn_id) = (*peer, *conn);
        if let Some((conn, book)) = conn_id.and_then(|conn| Some((conn, self.books.get_mut(&conn)?))) {
            book.say(self.host_clock.latest(), &said, &self.editor.past, &mut self.oracle);
            self.editor.mentioned(conn, book, &mut self.oracle);
        }
        if let (true, Some(conn)) = (is_done, conn_id) {
            self.cables[at].conn = None;
            self.let_go(conn);
        }
        if let (Peer::Agent(at), true) = (peer, turns) {
            if self.agents[at].is_awake() {
                self.agents[at].turn(self.now, &mut self.oracle);
                self.agents[at].relist(&self.plan);
            }
        }
        moved.unwrap_or(false)
    }

    /// Removes a connection that is done from the host.
    pub(super) fn let_go(&mut self, conn: ConnId) {
        let time = self.host_clock.read(self.now);
        self.subject.remove(time, conn);
        self.stranger_ended(conn);
    }

    /// Records the end of a connection that the host has finished. If the host reported no end, the
    /// connection was never let in, and the host counts its end.
    pub(super) fn stranger_ended(&mut self, conn: ConnId) {
        let Some(book) = self.books.get_mut(&conn).filter(|book| !book.has_ended) else { return };
        book.has_ended = true;
        self.strangers += 1;
        let counted = self.subject.host.unauthenticated().total();
        self.oracle.claim(counted >= self.strangers, I::OneEnding, || {
            format!("{conn:?} is done, and its end was neither an event nor counted")
        });
        self.oracle.hit(match book.status {
            Some(_) => "host: a stranger was refused",
            None => "host: a stranger ended",
        });
    }
}

impl Cuts {
    fn of(self, link: &Link) -> usize {
        match self {
            Self::Into(piece) if link.pace.is_zero() => piece,
            Self::Seeded | Self::Into(_) => link.piece,
        }
    }
}

/// Returns the wire at the far end, whether it moves, and its time.
fn far_end<'a>(
    peer: Peer,
    agents: &'a mut [Agent],
    hostiles: &'a mut [Hostile],
    nobody: &'a mut Nobody,
    now: Time,
) -> (&'a mut dyn Wire, bool, Time) {
    match peer {
        Peer::Agent(at) => {
            let agent = &mut agents[at];
            let (awake, time) = (agent.is_awake(), agent.clock.read(now));
            match &mut agent.client {
                Some(client) => (client, awake, time),
                None => (nobody, true, now),
            }
        }
        Peer::Hostile(at) => (&mut hostiles[at], true, now),
        Peer::Dead | Peer::Lost => (nobody, true, now),
    }
}
