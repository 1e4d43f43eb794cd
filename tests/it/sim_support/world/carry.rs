//! The bytes on the cables, cut as the seed decides, and recorded at the server's end of each cable.

use ide_mcp::{ide::ConnId, testing::Link};

use super::{Cuts, World};
use crate::sim_support::{
    network::{Cable, Peer},
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

    /// Moves bytes from the peer to the server, and turns the server.
    fn carry_up(&mut self, at: usize) -> bool {
        let wrote = self.peer_writes(at);
        let awake = self.server_asleep_until.is_none();
        let host_time = self.server_clock.read(self.now);
        let piece = self.cuts.of(&self.cables[at].up);
        let Self { cables, subject, now, .. } = self;
        let Cable { up, up_is_full, missed_by_server, conn, .. } = &mut cables[at];
        up.piece = piece;
        let (mut received, mut ended) = (Vec::new(), false);
        if let Some(conn) = *conn {
            if awake && subject.wants_input(conn) {
                let space = subject.space(conn);
                let read = up.read(*now, space);
                received.extend_from_slice(&space[..read]);
            }
            if !received.is_empty() {
                subject.filled(host_time, conn, received.len());
                *up_is_full = false;
            }
            ended = up.take_end();
            if ended && awake {
                subject.feed_eof(host_time, conn);
            }
            *missed_by_server |= ended && !awake;
        } else {
            up.abandon();
        }
        self.end_peer(at);
        let conn = self.cables[at].conn;
        if let Some(ledger) = conn.and_then(|conn| self.ledgers.get_mut(&conn)) {
            ledger.on_received(self.server_clock.time_at(self.now), &received, &mut self.oracle);
            ledger.has_hung_up |= ended && awake;
        }
        let received_any = !received.is_empty() || ended;
        if received_any && awake {
            self.turn_server();
        }
        wrote || received_any
    }

    /// Lets the peer write, if its end of the cable has room.
    fn peer_writes(&mut self, at: usize) -> bool {
        let Self { cables, agents, hostiles, now, .. } = self;
        let cable = &mut cables[at];
        match cable.peer {
            Peer::Agent(agent) => {
                let waits = agents[agent].client.as_ref().is_some_and(|client| client.wants_output());
                let writes = waits && agents[agent].is_awake() && cable.takes_up();
                writes && self.pass_of_agent(agent, true)
            }
            Peer::Hostile(hostile) => {
                let wrote = hostiles[hostile].write(*now, &mut cable.up);
                if hostiles[hostile].is_over {
                    cable.up.finish();
                }
                wrote
            }
            Peer::Dead => {
                cable.up.finish();
                false
            }
            Peer::Lost => false,
        }
    }

    /// Ends the process of a peer that has sent its last byte.
    fn end_peer(&mut self, at: usize) {
        let Self { cables, agents, hostiles, oracle, .. } = self;
        let Cable { peer, up, conn, .. } = &mut cables[at];
        let over = match *peer {
            Peer::Agent(at) => agents[at].is_over,
            Peer::Hostile(at) => hostiles[at].is_over || hostiles[at].has_ended,
            Peer::Dead | Peer::Lost => false,
        };
        if over && (conn.is_none() || !up.is_open()) {
            match std::mem::replace(peer, Peer::Dead) {
                Peer::Agent(at) => agents[at].client = None,
                Peer::Hostile(at) => {
                    hostiles[at].is_over = true;
                    hostiles[at].judge(oracle);
                }
                Peer::Dead | Peer::Lost => {}
            }
        }
    }

    /// Moves bytes from the server to the peer, and turns the peer.
    fn carry_down(&mut self, at: usize) -> bool {
        let piece = self.cuts.of(&self.cables[at].down);
        let cable = &self.cables[at];
        let waits = cable.conn.is_some_and(|conn| self.subject.wants_output(conn)) && cable.takes_down();
        let wrote = waits && self.server_asleep_until.is_none() && self.pass(Some(at));
        let Self { cables, subject, agents, hostiles, now, plan, .. } = self;
        let Cable { peer, down, down_is_full, missed_by_peer, conn, .. } = &mut cables[at];
        down.piece = piece;
        if conn.is_none() && !down.is_abandoned() {
            down.finish();
        }
        let (mut read, mut ended) = (false, false);
        match *peer {
            Peer::Agent(at) => {
                let agent = &mut agents[at];
                let (awake, time) = (agent.is_awake(), agent.clock.read(*now));
                if let Some(client) = &mut agent.client {
                    if awake && client.wants_input() {
                        let n = down.read(*now, client.space());
                        client.filled(time, n);
                        read = n > 0;
                    }
                    ended = down.take_end();
                    if ended && awake {
                        client.feed_eof(time);
                    }
                    *missed_by_peer |= ended && !awake;
                    if plan.trims {
                        client.trim();
                    }
                }
            }
            Peer::Hostile(at) => {
                let hostile = &mut hostiles[at];
                if hostile.is_over {
                    down.abandon();
                }
                read = hostile.read(*now, down);
                ended = down.take_end();
                hostile.has_ended |= ended;
            }
            Peer::Dead => down.abandon(),
            Peer::Lost => {}
        }
        *down_is_full &= !read;
        if let Some(conn) = conn.filter(|_| plan.trims) {
            subject.trim(conn);
        }
        if let (Peer::Agent(at), true) = (*peer, read || ended) {
            if self.agents[at].is_awake() {
                self.turn_agent(at);
            }
        }
        wrote || read || ended
    }

    /// Closes the socket at the server's end of a connection.
    pub(super) fn close_socket(&mut self, conn: ConnId) {
        for cable in self.cables.iter_mut().filter(|cable| cable.conn == Some(conn)) {
            cable.conn = None;
            cable.up.abandon();
            cable.down.finish();
        }
        self.outsider_ended(conn);
    }

    /// Records the end of a connection that the server has finished. If the server reported no end, the connection
    /// was never accepted, and the server counts its end.
    pub(super) fn outsider_ended(&mut self, conn: ConnId) {
        let Some(ledger) = self.ledgers.get_mut(&conn).filter(|ledger| !ledger.has_ended) else { return };
        ledger.has_ended = true;
        self.outsiders += 1;
        let counted = self.subject.server.unauthenticated().total();
        self.oracle.claim(counted >= self.outsiders, I::OneEnding, || {
            format!("{conn:?} is done, and its end was neither an event nor counted")
        });
        self.oracle.hit(match ledger.status {
            Some(_) => "server: an outsider was refused",
            None => "server: an outsider ended",
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
