//! Whether the peer is still there, asked with JSON-RPC pings where the transport has none of its own.
//!
//! ```text
//!  Off ──session ready──▶ Idle ──due──▶ ping sent: Waiting ──answered──▶ Idle
//!                          ▲                        │ patience over
//!                          └──ping again ── much later than due (a laptop slept)
//!                                                   └── else: the peer is reported as unresponsive, once; Off
//! ```

use core::time::Duration;

use crate::{Time, rpc::RequestId};

/// Pings a peer that is silent. Off unless configured: over WebSocket its own pings serve the same and are invisible
/// to MCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Keepalive {
    /// How long after the last ping, or the last sign of life, the next one is sent. Default 5 s, as the JetBrains
    /// plugin.
    pub every: Duration,
    /// How long the answer may take. Default 3 s, as there.
    pub patience: Duration,
    /// Whether any message of the peer is as good as an answer, and puts off the next ping. Default true.
    pub any_message: bool,
}

impl Default for Keepalive {
    fn default() -> Self {
        Self { every: Duration::from_secs(5), patience: Duration::from_secs(3), any_message: true }
    }
}

/// The pings of one session.
#[derive(Debug)]
pub(super) struct Pulse {
    keepalive: Option<Keepalive>,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Off,
    Idle {
        due: Time,
        /// A ping whose answer did not come, but something else did.
        unanswered: Option<RequestId>,
    },
    Waiting {
        ping: RequestId,
        sent: Time,
        until: Time,
    },
}

/// What the time demands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Beat {
    /// Send a ping; forget the one that waits.
    Ping { instead_of: Option<RequestId> },
    /// The peer did not answer this one.
    GiveUp(RequestId),
}

impl Pulse {
    pub(super) const fn new(keepalive: Option<Keepalive>) -> Self {
        Self { keepalive, state: State::Off }
    }

    pub(super) fn start(&mut self, now: Time) {
        if let Some(keepalive) = self.keepalive {
            self.rest_until(now.after(keepalive.every), None);
        }
    }

    pub(super) const fn stop(&mut self) {
        self.state = State::Off;
    }

    pub(super) const fn deadline(&self) -> Option<Time> {
        match self.state {
            State::Off => None,
            State::Idle { due, .. } => Some(due),
            State::Waiting { until, .. } => Some(until),
        }
    }

    /// A message came, whatever it is.
    pub(super) fn heard(&mut self, now: Time) {
        let Some(keepalive) = self.keepalive.filter(|keepalive| keepalive.any_message) else { return };
        let unanswered = match self.state {
            State::Off => return,
            State::Idle { unanswered, .. } => unanswered,
            State::Waiting { ping, .. } => Some(ping),
        };
        self.rest_until(now.after(keepalive.every), unanswered);
    }

    /// The ping was answered, by whatever.
    pub(super) fn answered(&mut self, ping: RequestId, now: Time) {
        let Some(keepalive) = self.keepalive else { return };
        match self.state {
            State::Waiting { ping: waiting, sent, .. } if waiting == ping => {
                self.rest_until(now.max(sent.after(keepalive.every)), None);
            }
            State::Idle { due, unanswered } if unanswered == Some(ping) => self.rest_until(due, None),
            State::Off | State::Idle { .. } | State::Waiting { .. } => {}
        }
    }

    pub(super) fn due(&self, now: Time) -> Option<Beat> {
        let keepalive = self.keepalive?;
        match self.state {
            State::Idle { due, unanswered } if due <= now => Some(Beat::Ping { instead_of: unanswered }),
            State::Waiting { ping, until, .. } if until <= now => {
                Some(if now.since(until) > keepalive.every {
                    // So late that it was this side that was away.
                    Beat::Ping { instead_of: Some(ping) }
                } else {
                    Beat::GiveUp(ping)
                })
            }
            State::Off | State::Idle { .. } | State::Waiting { .. } => None,
        }
    }

    /// A ping was sent, or could not be for want of room, in which case it is tried again later.
    pub(super) fn pinged(&mut self, ping: Option<RequestId>, now: Time) {
        let Some(keepalive) = self.keepalive else { return };
        match ping {
            Some(ping) => {
                self.state = State::Waiting { ping, sent: now, until: now.after(keepalive.patience) }
            }
            None if now.after(keepalive.every) > now => self.rest_until(now.after(keepalive.every), None),
            // At the end of time, or with no time between pings, it would be tried for ever.
            None => self.state = State::Off,
        }
    }

    const fn rest_until(&mut self, due: Time, unanswered: Option<RequestId>) {
        self.state = State::Idle { due, unanswered };
    }
}
