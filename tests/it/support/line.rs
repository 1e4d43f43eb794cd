//! A simulated socket whose peer and network follow a plan, and two loops over it: one sleeps as the rules of `Output`
//! allow, and one never sleeps.

use super::law::{Law, broken};
use super::subject::Subject;
use ide_mcp::testing::Random;
use ide_mcp::{Machine as _, Output, Time};
use std::collections::VecDeque;
use std::fmt;

/// The number of turns, and the length of a turn in ms. Together they are longer than any timeout of the subjects.
const TURNS: u64 = 1400;
const TURN: u64 = 50;

/// What a peer and a network do to one connection.
pub struct Line {
    /// The bytes of the peer, and the turn at which they arrive.
    pieces: Vec<(u64, Vec<u8>)>,
    /// The number of bytes that one write takes at most, that the socket holds, and that the peer reads in a turn.
    most: usize,
    capacity: usize,
    rate: usize,
    /// The turn at which the peer ends its stream.
    ends_at: Option<u64>,
    /// The turn at which the socket breaks: it returns errors from then on.
    breaks_at: Option<u64>,
}

impl fmt::Debug for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { most, capacity, rate, ends_at, breaks_at, .. } = self;
        write!(f, "{most} of {capacity} bytes, {rate} a turn, ends at {ends_at:?}, breaks at {breaks_at:?}")
    }
}

impl Line {
    pub fn new(input: &[u8], random: &mut Random) -> Self {
        let (mut turn, mut rest, mut pieces) = (0, input, Vec::new());
        while !rest.is_empty() {
            let (piece, behind) = rest.split_at(1 + random.below(rest.len().min(900)));
            pieces.push((turn, piece.to_vec()));
            rest = behind;
            turn +=
                u64::try_from(if random.one_in(9) { random.below(200) } else { random.below(3) }).unwrap();
        }
        let [ends_at, breaks_at] =
            [3, 4].map(|often| random.one_in(often).then(|| turn + random.number() % 40));
        Self {
            pieces,
            most: [7, 100, usize::MAX][random.below(3)],
            capacity: [7, 300, 1 << 20][random.below(3)],
            rate: [1, 90, usize::MAX][random.below(3)],
            ends_at,
            breaks_at,
        }
    }

    /// Runs a loop over this line, with the application of this seed. Returns its events, its writes and its end, each
    /// with its turn.
    pub fn play<S: Subject>(&self, subject: &S, app: u64, sleeps: bool) -> Vec<String> {
        let (mut machine, mut app) = (subject.make(Time::ZERO), subject.app(app));
        let (mut pieces, mut input) = (self.pieces.iter().peekable(), VecDeque::new());
        let (mut held, mut record, mut wait, mut has_ended) = (0_usize, Vec::new(), Some(Time::ZERO), false);
        for turn in 0..TURNS {
            let now = Time::from_millis(turn * TURN);
            while let Some((_, piece)) = pieces.next_if(|(at, _)| *at <= turn) {
                input.extend(piece);
            }
            held = held.saturating_sub(self.rate);
            let is_broken = self.breaks_at.is_some_and(|at| at <= turn);
            let ends = is_broken || self.ends_at.is_some_and(|at| at <= turn) && input.is_empty();
            if is_broken {
                input.clear();
            }
            let can_read = machine.wants_input(()) && (!input.is_empty() || ends && !has_ended);
            let can_write = machine.wants_output(()) && (held < self.capacity || is_broken);
            let is_due = wait.is_some_and(|until| until <= now);
            if sleeps && !can_read && !can_write && !is_due {
                continue;
            }
            while machine.wants_input(()) && !input.is_empty() {
                let space = machine.space(());
                let n = space.len().min(input.len());
                for (into, byte) in space.iter_mut().zip(input.drain(..n)) {
                    *into = byte;
                }
                machine.filled(now, (), n);
            }
            if can_read && input.is_empty() && ends && !has_ended {
                has_ended = true;
                machine.feed_eof(now, ());
            }
            let (mut written, mut writes) = (Vec::new(), 0_u8);
            let is_over = loop {
                match machine.poll(now) {
                    Output::Event(event) => {
                        record.push(format!("{turn}: {event:?}"));
                        subject.react(&mut app, &mut machine, &event);
                    }
                    Output::Write { .. } if is_broken => {
                        writes = writes.saturating_add(1);
                        machine.feed_eof(now, ());
                    }
                    Output::Write { bytes, .. } => {
                        writes = writes.saturating_add(1);
                        let n = bytes.len().min(self.most).min(self.capacity - held);
                        written.extend_from_slice(&bytes[..n]);
                        held += n;
                        machine.written((), n);
                    }
                    Output::Close(()) => break true,
                    Output::Wait(until) => {
                        wait = until;
                        break false;
                    }
                }
            };
            if !written.is_empty() {
                record.push(format!("{turn}: {}", written.escape_ascii()));
            }
            if is_over {
                record.push(format!("{turn}: closed"));
                break;
            }
            if can_write && writes == 0 && machine.wants_output(()) {
                broken(Law::LosesNothing, format_args!("{}: a loop wakes for room in vain", subject.name()));
            }
        }
        record
    }
}
