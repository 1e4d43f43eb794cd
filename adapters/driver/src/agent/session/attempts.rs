//! The attempts to attach: how they begin, how they fail, and when the next one follows.

use super::{AgentSession, Stage};
use crate::agent::{AgentError, ConnectError, NotAdmitted};
use ide_mcp::Time;
use ide_mcp::ide::ClientEvent;
use ide_mcp::ide::discovery::GaveUp;
use ide_mcp::ws::{Closed, NotAccepted};
use ide_mcp_lockfile::{EditorSearch, Error, FoundEditor};
use std::mem;

impl AgentSession {
    /// Begins an attempt. Returns false if it has already failed.
    pub(super) fn begin(&mut self, now: Time) -> bool {
        self.reconnect.on_attempt();
        if self.attempts > 0 && !self.target.is_second() {
            match self.read_again() {
                Some(editor) => self.editor = editor,
                // The editor is not back yet.
                None => {
                    self.schedule_or_end(now, Closed::Abnormal, None);
                    return false;
                }
            }
        }
        self.attempts = self.attempts.saturating_add(1);
        self.stage = Stage::Connecting { until: now.saturating_add(self.options.connect_timeout) };
        true
    }

    /// Reads the lock file again.
    fn read_again(&self) -> Option<FoundEditor> {
        let mut search = EditorSearch::of_lock_file(&self.editor.lock_file);
        search.permits_dead_process = self.options.search.permits_dead_process;
        search.find().ok()
    }

    /// Call this when the socket could not be connected or used. Does nothing if no attempt waits for the
    /// socket any more.
    pub fn on_not_connected(&mut self, now: Time, error: impl Into<ConnectError>) {
        if !matches!(self.stage, Stage::Connecting { .. } | Stage::Opening) {
            return;
        }
        let error = error.into();
        // Another user who has taken the port may keep it forever, so do not ask again and again.
        let is_final = matches!(error, ConnectError::NotTrusted(Error::PortNotOurs { .. }));
        if self.server.is_none() || is_final || self.is_detached {
            return self.end(AgentError::NotConnected { editor: Box::new(self.editor.clone()), error });
        }
        self.schedule_or_end(now, Closed::Abnormal, None);
    }

    pub(super) fn on_closed(&mut self, now: Time, closed: Closed) {
        if mem::replace(&mut self.stage, Stage::Waiting) == Stage::Ready {
            self.events.push(ClientEvent::Closed(closed.clone()));
        }
        self.outcomes.on_closed();
        let not_admitted = self.not_admitted.take();
        if self.is_detached {
            return self.end(AgentError::Ended { closed, gave_up: None });
        }
        if matches!(closed, Closed::NotAccepted(NotAccepted::Status(404, _))) && self.target.switch() {
            return;
        }
        if self.server.is_none() {
            let reason = not_admitted.unwrap_or(NotAdmitted::Closed(closed));
            return self.end(AgentError::NotAdmitted { editor: Box::new(self.editor.clone()), reason });
        }
        if !self.options.reconnects {
            return self.end(AgentError::Ended { closed, gave_up: None });
        }
        self.schedule_or_end(now, closed, not_admitted);
    }

    /// Schedules the next attempt, or ends the session if there is none. `not_admitted` is why this attempt
    /// could not open its session.
    fn schedule_or_end(&mut self, now: Time, closed: Closed, not_admitted: Option<NotAdmitted>) {
        self.stage = Stage::Waiting;
        self.target.end_attempt();
        let scheduled = match self.reconnect.on_disconnected(now, &closed) {
            // The editor was restarted after we read its lock file: it has another token, or is about to
            // publish one.
            Err(GaveUp::Refused) if self.has_other_token() => {
                self.reconnect.on_disconnected(now, &Closed::Abnormal)
            }
            scheduled => scheduled,
        };
        if let Err(gave_up) = scheduled {
            self.end(match not_admitted {
                Some(reason) => AgentError::NotAdmitted { editor: Box::new(self.editor.clone()), reason },
                None => AgentError::Ended { closed, gave_up: Some(gave_up) },
            });
        }
    }

    fn has_other_token(&self) -> bool {
        self.read_again().is_none_or(|editor| editor.token != self.editor.token)
    }
}
