//! A person's consent to a client, and the calls that wait for it.
//!
//! ```text
//!              no consent required
//!  connected ────────────────────────────────────────────────────────────▶ Given
//!      │ consent required         initialized                 allow         ▲
//!      └─────────────────▶ NotAsked ──────────▶ Asked ──────────────────────┘
//!                          holds each call      holds each call       each held call becomes an event
//! ```
//!
//! Invariants:
//!
//! - A call is held from the beginning of the connection on: a client can call before it is initialized.
//! - A held call is open in the session, so its deadline, its cancellation and the limits apply.
//! - The application has not seen a held call, so its end is not reported.

use crate::ide::tool::ToolRequest;
use crate::ide::tool::toolset::ReceivedCall;
use crate::mcp::ServerEvent;
use crate::rpc::CallId;
use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::vec::Vec;

/// The consent to one client, and the calls that wait for it.
#[derive(Debug)]
pub(super) struct Consent {
    state: State,
    /// The events of the calls that wait, in the order in which they came.
    held: VecDeque<ServerEvent<ReceivedCall>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    NotAsked,
    Asked,
    Given,
}

impl Consent {
    pub(super) const fn new(is_required: bool) -> Self {
        Self { state: if is_required { State::NotAsked } else { State::Given }, held: VecDeque::new() }
    }

    /// Returns true until the consent is given.
    pub(super) const fn is_missing(&self) -> bool {
        !matches!(self.state, State::Given)
    }

    /// Returns true if the application was asked and has not allowed the client yet.
    pub(super) fn is_asked(&self) -> bool {
        self.state == State::Asked
    }

    /// Asks for the consent. Returns false if it is given already.
    pub(super) fn ask(&mut self) -> bool {
        if self.is_missing() {
            self.state = State::Asked;
        }
        self.is_missing()
    }

    pub(super) const fn give(&mut self) {
        self.state = State::Given;
    }

    pub(super) fn hold(&mut self, event: ServerEvent<ReceivedCall>) {
        self.held.push_back(event);
    }

    /// Returns the next held event once the consent is given.
    pub(super) fn next(&mut self) -> Option<ServerEvent<ReceivedCall>> {
        if self.is_missing() { None } else { self.held.pop_front() }
    }

    pub(super) fn has_next(&self) -> bool {
        !self.held.is_empty() && !self.is_missing()
    }

    /// Drops the event of a held call that has ended. Returns false if the call was not held.
    pub(super) fn forget(&mut self, ended: CallId) -> bool {
        let at = self.held.iter().position(|event| call_of(event) == Some(ended));
        at.and_then(|at| self.held.remove(at)).is_some()
    }

    /// Frees memory that is not in use.
    pub(super) fn trim(&mut self) {
        self.held.shrink_to_fit();
    }

    /// Returns the held diffs: the call and its tab.
    pub(super) fn diffs(&self) -> Vec<(CallId, String)> {
        let diff = |event: &ServerEvent<ReceivedCall>| {
            let ServerEvent::Call { call, tool } = event else { return None };
            let ToolRequest::OpenDiff(diff) = &tool.request else { return None };
            Some((*call, diff.tab_name.clone()))
        };
        self.held.iter().filter_map(diff).collect()
    }
}

/// Returns the call that an event brings to the application. Such an event waits for the consent.
pub(super) const fn call_of(event: &ServerEvent<ReceivedCall>) -> Option<CallId> {
    match event {
        ServerEvent::Call { call, .. }
        | ServerEvent::GetPrompt { call, .. }
        | ServerEvent::ReadResource { call, .. }
        | ServerEvent::Request { call, .. } => Some(*call),
        ServerEvent::Ready
        | ServerEvent::ToolsListed
        | ServerEvent::CallEnded { .. }
        | ServerEvent::Notification { .. }
        | ServerEvent::Progress { .. }
        | ServerEvent::Outcome { .. }
        | ServerEvent::PeerError(_)
        | ServerEvent::PeerFault(_)
        | ServerEvent::TooManyFaults
        | ServerEvent::PingTimeout => None,
    }
}
