//! Whether the peer is still there, asked with JSON-RPC pings where the transport has none of its own.
//!
//! ```text
//!  Off ──session ready──▶ Idle ──due──▶ ping sent: Waiting ──answered, or any message──▶ Idle
//!                         │  ▲                     │ timeout over
//!                         └──┘ no room: later      ├── much later than due (a laptop slept), once until a sign of
//!                                                  │   life: another ping, Waiting
//!                                                  └── else: PingTimeout is reported, once; Off
//! ```
//!
//! So a loop that is late every time finds a dead peer as well.

use core::time::Duration;

use crate::{Time, rpc::RequestId};

/// Pings a peer that is silent. Off unless configured: over WebSocket its own pings serve the same and are invisible
/// to MCP.
///
/// At most one ping is in flight. It does not count against [`SessionLimits::requests`](crate::rpc::SessionLimits::requests), so that
/// an application which asks a lot does not lose sight of its peer.
///
/// None is sent while the [`Outbox`](crate::Outbox) is full: it would lie behind what the peer does not read, and say
/// nothing of it. A peer that does not read is for the owner of the transport to end; over WebSocket
/// [`Limits::stalled`](crate::ws::Limits::stalled) does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Keepalive {
    /// How long after the last ping, or the last sign of life, the next one is sent. Default 5 s, as the JetBrains
    /// plugin.
    pub interval: Duration,
    /// How long the answer may take. Default 3 s, as there.
    pub timeout: Duration,
    /// Whether any message of the peer is as good as an answer, and puts off the next ping. Default true.
    pub any_message: bool,
}

impl Default for Keepalive {
    fn default() -> Self {
        Self { interval: Duration::from_secs(5), timeout: Duration::from_secs(3), any_message: true }
    }
}

/// How long it is at least from one attempt to send a ping to the next.
const LEAST: Duration = Duration::from_millis(1);

/// The pings of one session.
#[derive(Debug)]
pub(super) struct Pulse {
    keepalive: Option<Keepalive>,
    state: State,
    /// A ping was repeated because it was looked after too late, and nothing has come since.
    has_repeated: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Off,
    Idle { due: Time },
    Waiting { ping: RequestId, sent: Time, until: Time },
}

/// What is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeepaliveAction {
    /// Send a ping, in place of one that waits.
    Ping,
    /// The peer did not answer.
    TimeOut,
}

impl Pulse {
    pub(super) const fn new(keepalive: Option<Keepalive>) -> Self {
        Self { keepalive, state: State::Off, has_repeated: false }
    }

    pub(super) fn start(&mut self, now: Time) {
        if let Some(keepalive) = self.keepalive {
            self.rest_until(now.saturating_add(keepalive.interval));
        }
    }

    pub(super) const fn stop(&mut self) {
        self.state = State::Off;
    }

    pub(super) fn deadline(&self) -> Option<Time> {
        match self.state {
            State::Off => None,
            State::Idle { due } => due.finite(),
            State::Waiting { until, .. } => until.finite(),
        }
    }

    /// Notes that a message came.
    pub(super) fn on_message(&mut self, now: Time) {
        match self.keepalive {
            Some(keepalive) if keepalive.any_message && self.state != State::Off => {
                self.rest_until(now.saturating_add(keepalive.interval));
            }
            _ => {}
        }
    }

    /// A ping was answered, by whatever. Only the answer to the one that is waited for says something.
    pub(super) fn answered(&mut self, ping: RequestId, now: Time) {
        match (self.keepalive, self.state) {
            (Some(keepalive), State::Waiting { ping: waiting, sent, .. }) if waiting == ping => {
                self.rest_until(now.max(sent.saturating_add(keepalive.interval)));
            }
            _ => {}
        }
    }

    pub(super) fn due(&self, now: Time) -> Option<KeepaliveAction> {
        let keepalive = self.keepalive?;
        let due = self.deadline().filter(|due| *due <= now)?;
        Some(match self.state {
            // So late that it was this side that was away.
            State::Waiting { .. } if now.saturating_since(due) > keepalive.interval && !self.has_repeated => {
                KeepaliveAction::Ping
            }
            State::Waiting { .. } => KeepaliveAction::TimeOut,
            State::Idle { .. } | State::Off => KeepaliveAction::Ping,
        })
    }

    /// A ping was sent.
    pub(super) fn pinged(&mut self, ping: RequestId, now: Time) {
        if let Some(keepalive) = self.keepalive {
            self.has_repeated = matches!(self.state, State::Waiting { .. });
            self.state = State::Waiting { ping, sent: now, until: now.saturating_add(keepalive.timeout) };
        }
    }

    /// A ping could not be sent for want of room.
    pub(super) fn put_off(&mut self, now: Time) {
        if let Some(keepalive) = self.keepalive {
            // With no time at all between two attempts, they would never end.
            self.rest_until(now.saturating_add(keepalive.interval.max(LEAST)));
        }
    }

    const fn rest_until(&mut self, due: Time) {
        self.state = State::Idle { due };
    }
}
