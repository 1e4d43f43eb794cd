//! A whole pass of a machine in one call.

use alloc::vec::Vec;

use super::pair::{NEVER_IDLE, assert_is_due, assert_moves_on, never_idle};
use crate::{Machine, Output, Time};

/// What a machine did in a pass: what [`pass`] and [`pass_with`] return.
#[derive(Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Passed<E, C = ()> {
    /// The events, in their order.
    pub events: Vec<E>,
    /// The bytes that the sockets took, write by write.
    pub written: Vec<(C, Vec<u8>)>,
    /// The bytes for which the socket had no room, for each connection that has any. They are still in the machine.
    pub unwritten: Vec<(C, Vec<u8>)>,
    /// The connections that were closed.
    pub closed: Vec<C>,
    /// The time until which the machine has nothing to do.
    pub wait: Option<Time>,
}

impl<E, C> Passed<E, C> {
    /// Returns the bytes of [`written`](Self::written), of all connections together.
    #[must_use]
    pub fn written_bytes(&self) -> Vec<u8> {
        self.written.iter().flat_map(|(_, bytes)| bytes).copied().collect()
    }

    /// Returns the bytes of [`unwritten`](Self::unwritten), of all connections together.
    #[must_use]
    pub fn unwritten_bytes(&self) -> Vec<u8> {
        self.unwritten.iter().flat_map(|(_, bytes)| bytes).copied().collect()
    }
}

/// Polls a machine until it waits, as your loop would, and returns everything that it did. Each socket has room for
/// `room` bytes: with 0 you see what the machine would write, but nothing is taken, and with `usize::MAX` everything is
/// taken.
///
/// `now` is the time of the pass, as in your loop. The laws are checked against it, so it must not be older than what
/// the machine has seen.
///
/// ```
/// use ide_mcp::testing::pass;
/// use ide_mcp::{Time, ws};
///
/// let mut server = ws::Server::new(ws::Limits::default(), Time::ZERO);
/// server.feed(Time::ZERO, b"GET /\r\n\r\n");
/// let passed = pass(&mut server, Time::ZERO, usize::MAX);
/// assert!(passed.written_bytes().starts_with(b"HTTP/1.1 400 "));
/// assert!(matches!(passed.events[..], [ws::OwnedEvent::Closed(_)]));
/// assert_eq!(passed.closed, [()]);
/// ```
///
/// # Panics
///
/// Panics if the machine breaks the fourth or the fifth law of [`Machine`]; if it never waits, or waits until another
/// time than its deadline; if an event or a closing follows a write for which there was no room; or if a write follows
/// the closing of its connection.
pub fn pass<M: Machine<Conn: PartialEq>>(
    machine: &mut M,
    now: Time,
    room: usize,
) -> Passed<M::Event, M::Conn> {
    pass_with(machine, now, room, |_, _| {})
}

/// Polls a machine until it waits, as [`pass`] does, and lets your application react to each event.
///
/// # Panics
///
/// Panics as [`pass`] does.
pub fn pass_with<M: Machine<Conn: PartialEq>>(
    machine: &mut M,
    now: Time,
    room: usize,
    mut react: impl FnMut(&mut M, &M::Event),
) -> Passed<M::Event, M::Conn> {
    let (mut events, mut written, mut closed) = (Vec::new(), Vec::new(), Vec::new());
    let mut unwritten: Vec<(M::Conn, Vec<u8>)> = Vec::new();
    let mut rooms: Vec<(M::Conn, usize)> = Vec::new();
    // A write comes only if there is neither an event nor a closing, and a write without room changes nothing, so only
    // other writes can follow it.
    let mut only_writes_follow = false;
    for _ in 0..NEVER_IDLE {
        let due = machine.deadline();
        match machine.poll(now) {
            Output::Event(event) => {
                assert!(
                    !only_writes_follow,
                    "an event comes after a write for which there was no room: {event:?}"
                );
                assert_is_due(due, now, &event);
                react(machine, &event);
                events.push(event);
            }
            Output::Close(conn) => {
                assert!(!only_writes_follow, "a closing comes after a write for which there was no room");
                assert_is_due(due, now, &"a closing");
                unwritten.retain(|(of, _)| *of != conn);
                closed.push(conn);
            }
            Output::Write { conn, bytes } => {
                assert!(!closed.contains(&conn), "a write after the closing");
                let at = rooms.iter().position(|(of, _)| *of == conn);
                let left = at.and_then(|at| rooms.get(at)).map_or(room, |(_, left)| *left);
                let (taken, rest) = bytes.split_at(left.min(bytes.len()));
                unwritten.retain(|(of, _)| *of != conn);
                if !rest.is_empty() {
                    unwritten.push((conn, rest.to_vec()));
                }
                let n = taken.len();
                if n > 0 {
                    written.push((conn, taken.to_vec()));
                }
                machine.written(conn, n);
                rooms.retain(|(of, _)| *of != conn);
                rooms.push((conn, left.saturating_sub(n)));
                only_writes_follow = n == 0;
            }
            Output::Wait(wait) => {
                assert_moves_on(wait, now);
                assert_eq!(
                    wait,
                    machine.deadline(),
                    "the machine waits until another time than its deadline"
                );
                return Passed { events, written, unwritten, closed, wait };
            }
        }
    }
    never_idle()
}
