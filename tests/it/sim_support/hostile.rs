//! Peers that break rules, one behavior per row, after the table of threats: strangers that must not be accepted, and
//! insiders that have the token. Each row has its actions and the answer that is due.

use std::{collections::VecDeque, time::Duration};

use ide_mcp::{
    Time,
    ide::AuthFailure,
    testing::{Link, Random},
};

mod threats;

use super::{
    client_messages::{CONNECTED, HEAD, INITIALIZE, INITIALIZED, text},
    ledger::{Owed, Standing},
    oracle::{Invariant as I, Oracle},
    tap::{Item, Tap},
};
use threats::{Due, INSIDERS, OUTSIDERS, Script};

pub use threats::names;

/// A hostile peer with its socket.
#[derive(Debug, Default)]
pub struct Hostile {
    pub name: &'static str,
    pub standing: Standing,
    due: Due,
    sends: VecDeque<(Time, Vec<u8>)>,
    pub meanings: Vec<(String, Vec<Owed>)>,
    pub reads: bool,
    /// True if the peer leaves when it has sent everything.
    pub leaves: bool,
    out: Vec<u8>,
    sent: usize,
    room: Vec<u8>,
    received: Tap,
    status: Option<u16>,
    code: Option<u16>,
    pub has_ended: bool,
    /// True if the peer has left.
    pub is_over: bool,
}

impl Hostile {
    /// Chooses a behavior, which begins now.
    pub fn new(now: Time, auth_failure: AuthFailure, random: &mut Random, serial: &mut u64) -> Self {
        let at = random.below(OUTSIDERS.len() + INSIDERS.len());
        let (standing, (name, due, act)) = match OUTSIDERS.get(at) {
            Some(row) => (Standing::Outsider, *row),
            None => (Standing::Insider, INSIDERS[at - OUTSIDERS.len()]),
        };
        let mut script = Script {
            random,
            serial,
            sends: VecDeque::new(),
            meanings: Vec::new(),
            version: "2025-11-25",
            opens: true,
            reads: true,
            leaves: false,
            pause: Duration::ZERO,
        };
        act(&mut script);
        let Script { mut sends, meanings, reads, leaves, opens, version, pause, .. } = script;
        if standing == Standing::Insider {
            if opens {
                let initialize = INITIALIZE.replace("2025-11-25", version);
                for message in [CONNECTED, INITIALIZED, &initialize] {
                    sends.push_front((Duration::ZERO, text(message)));
                }
            }
            sends.push_front((Duration::ZERO, HEAD.as_bytes().to_vec()));
        }
        let mut at = now;
        let timed = |(pause, bytes)| {
            at = at.saturating_add(pause);
            (at, bytes)
        };
        let mut sends: VecDeque<_> = sends.into_iter().map(timed).collect();
        if leaves {
            sends.push_back((at.saturating_add(pause), Vec::new()));
        }
        let due = match due {
            Due::Unauthorized if auth_failure == AuthFailure::CloseAfterUpgrade => Due::Close(1008),
            Due::Unauthorized => Due::Status(401),
            due => due,
        };
        Self { name, standing, due, sends, meanings, reads, leaves, room: vec![0; 4096], ..Self::default() }
    }

    /// Returns true if the peer sends more than is sensible byte by byte.
    pub fn is_bulky(&self) -> bool {
        self.sends.iter().map(|(_, bytes)| bytes.len()).sum::<usize>() > 4_000
    }

    /// Returns when the peer sends next.
    pub fn next(&self) -> Option<Time> {
        self.sends.front().filter(|_| !self.is_over).map(|(at, _)| *at)
    }

    /// Does everything that is due. Returns true if there was anything.
    pub fn turn(&mut self, now: Time) -> bool {
        let before = self.sends.len();
        while self.sends.front().is_some_and(|(at, _)| *at <= now) {
            let (_, bytes) = self.sends.pop_front().unwrap_or_default();
            self.out.extend_from_slice(&bytes);
        }
        let any = self.sends.len() < before;
        if self.sends.is_empty() && self.leaves && self.out.is_empty() {
            self.is_over = true;
        }
        any
    }

    /// Checks, after the end of its connection, that the peer got the due answer.
    pub fn judge(&self, oracle: &mut Oracle) {
        let (status, code) = (self.status, self.code);
        let right = match self.due {
            // The server may have needed the room for other peers, or the peer left first.
            _ if status.is_none() || status == Some(408) => code.is_none(),
            Due::Status(due) => status == Some(due),
            Due::Close(due) => code == Some(due) || code.is_none() || code == Some(1001),
            Due::Stays => code.is_none_or(|code| code == 1001),
            Due::Unauthorized => false,
        };
        let turned_away = status == Some(503) && self.standing == Standing::Insider;
        let invariant = if self.standing == Standing::Outsider { I::NoToken } else { I::Refusal };
        oracle.claim(right || turned_away, invariant, || {
            format!("{}: {:?} is due, and it got {status:?}, {code:?}", self.name, self.due)
        });
        let complete = match self.due {
            Due::Status(due) => status == Some(due) || self.leaves,
            Due::Close(due) => code == Some(due),
            Due::Stays | Due::Unauthorized => status == Some(101) || !self.reads,
        };
        if complete {
            oracle.hit(self.name);
        }
    }
}

impl Hostile {
    /// Writes what has room. Returns true if that is anything.
    pub fn write(&mut self, now: Time, up: &mut Link) -> bool {
        let n = up.write(now, &self.out[self.sent..]);
        self.sent += n;
        if self.sent == self.out.len() {
            self.out.clear();
            self.sent = 0;
        }
        n > 0
    }

    /// Reads a piece of what has arrived. Returns true if that is anything.
    pub fn read(&mut self, now: Time, down: &mut Link) -> bool {
        let n = if self.reads && !self.is_over { down.read(now, &mut self.room) } else { 0 };
        for item in self.received.take(&self.room[..n]) {
            match item {
                Item::Head(head) => self.status = head.get(9..12).and_then(|code| code.parse().ok()),
                Item::Close(code) => self.code = code,
                _ => {}
            }
        }
        n > 0
    }
}
