//! The consent of the person to a client that has introduced itself.
//!
//! ```text
//!              initialized, consent required                 allow
//!  NotNeeded ───────────────────────────────▶ Pending { held } ─────▶ Allowed { held }
//!      │ initialized                             │ close frame, disconnect, …      │ each held call
//!      ▼                                         ▼ no event of a held call         ▼ becomes an event
//!    Ready                                     Ended                             Ready
//! ```
//!
//! Invariants: a held call is open in the session, so its deadline, its cancellation and the limits apply. The
//! application has not received the call, so the end of a held call is not reported.

use crate::ide::tool::toolset::ReceivedCall;
use crate::mcp::Event;
use crate::rpc::CallId;
use alloc::collections::VecDeque;

/// The consent to one client, and the calls that wait for it.
#[derive(Debug, Default)]
pub(super) struct Consent {
    is_pending: bool,
    /// The events of calls, in the order in which they came.
    held: VecDeque<Event<ReceivedCall>>,
}

impl Consent {
    pub(super) const fn is_pending(&self) -> bool {
        self.is_pending
    }

    pub(super) const fn ask(&mut self) {
        self.is_pending = true;
    }

    /// Gives the consent. Returns false if it is not pending.
    pub(super) const fn give(&mut self) -> bool {
        core::mem::replace(&mut self.is_pending, false)
    }

    /// Holds the event of a call while the consent is pending; otherwise returns the event.
    pub(super) fn hold(&mut self, event: Event<ReceivedCall>) -> Option<Event<ReceivedCall>> {
        if !self.is_pending || call_of(&event).is_none() {
            return Some(event);
        }
        self.held.push_back(event);
        None
    }

    /// Returns the next held event once the consent is given.
    pub(super) fn next(&mut self) -> Option<Event<ReceivedCall>> {
        if self.is_pending { None } else { self.held.pop_front() }
    }

    pub(super) fn has_next(&self) -> bool {
        !self.is_pending && !self.held.is_empty()
    }

    /// Drops the event of a held call that has ended. Returns false if the call was not held.
    pub(super) fn forget(&mut self, ended: CallId) -> bool {
        let at = self.held.iter().position(|event| call_of(event) == Some(ended));
        at.and_then(|at| self.held.remove(at)).is_some()
    }
}

/// Returns the call that an event announces to the application.
const fn call_of(event: &Event<ReceivedCall>) -> Option<CallId> {
    match event {
        Event::Call { call, .. }
        | Event::GetPrompt { call, .. }
        | Event::ReadResource { call, .. }
        | Event::Request { call, .. } => Some(*call),
        Event::Ready
        | Event::ToolsListed
        | Event::CallEnded { .. }
        | Event::Notification { .. }
        | Event::Progress { .. }
        | Event::Outcome { .. }
        | Event::PeerError(_)
        | Event::PeerFault(_)
        | Event::TooManyFaults
        | Event::PingTimeout
        | Event::Failed(_)
        | Event::Form { .. } => None,
    }
}
