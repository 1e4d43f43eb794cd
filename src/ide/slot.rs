//! The selection that a client is to know: the latest wins, and it is sent only when it can be heard.
//!
//! ```text
//!  Deaf ──initialized──▶ Expecting ──ide_connected, 500 ms──▶ Hearing ──our list_changed──▶ Relisting
//!              (at once if ide_connected came first) │             ▲                          ▲  │
//!                                                    │             └────tools/list, 1 s───────┼──┘
//!                                                    └──────────our list_changed──────────────┘
//! ```
//!
//! Measured: what is sent before `initialized` is lost, and `tools/list_changed` makes the client forget the
//! selection, so that it has to be sent again once the tools have been listed. Which of its lists is the answer to that
//! cannot be known, for one may have been under way and another may take longer than a second: so from then on the
//! selection is sent after every list. The same again does no harm.

use super::Selection;
use crate::Time;
use alloc::sync::Arc;
use core::time::Duration;

/// The real client says `ide_connected` right after `initialized`; one that never does is not kept waiting longer.
const GRACE: Duration = Duration::from_millis(500);

/// The real client lists again at once; one that does not has forgotten nothing.
const RELIST: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(crate) struct Slot {
    latest: Option<Arc<Selection>>,
    /// The latest has not been sent since the client last could have forgotten it.
    owed: bool,
    /// The client was told of a change of the tools.
    relists: bool,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Deaf { connected: bool },
    Expecting { until: Time },
    Hearing,
    Relisting { until: Time },
}

impl Slot {
    pub(crate) const fn new() -> Self {
        Self { latest: None, owed: false, relists: false, state: State::Deaf { connected: false } }
    }

    pub(crate) fn set(&mut self, selection: Arc<Selection>) {
        self.latest = Some(selection);
        self.owed = true;
    }

    pub(crate) fn initialized(&mut self, now: Time) {
        if let State::Deaf { connected } = self.state {
            self.state =
                if connected { State::Hearing } else { State::Expecting { until: now.after(GRACE) } };
        }
    }

    pub(crate) fn ide_connected(&mut self) {
        match self.state {
            State::Deaf { .. } => self.state = State::Deaf { connected: true },
            State::Expecting { .. } => self.state = State::Hearing,
            State::Hearing | State::Relisting { .. } => {}
        }
    }

    pub(crate) fn list_changed(&mut self, now: Time) {
        // One that is not initialized is not told of the change.
        if !matches!(self.state, State::Deaf { .. }) {
            self.state = State::Relisting { until: now.after(RELIST) };
            self.relists = true;
            self.owed = self.latest.is_some();
        }
    }

    pub(crate) fn tools_listed(&mut self) {
        if self.relists {
            self.state = State::Hearing;
            self.owed = self.latest.is_some();
        }
    }

    /// Lets the time pass.
    pub(crate) fn expire(&mut self, now: Time) {
        if self.deadline().is_some_and(|until| until <= now) {
            self.state = State::Hearing;
        }
    }

    pub(crate) const fn deadline(&self) -> Option<Time> {
        match self.state {
            State::Expecting { until } | State::Relisting { until } => Some(until),
            State::Deaf { .. } | State::Hearing => None,
        }
    }

    /// Whether the client hears what is pushed.
    pub(crate) fn is_hearing(&self) -> bool {
        self.state == State::Hearing
    }

    /// What is to be sent now, if anything.
    pub(crate) fn due(&self) -> Option<Arc<Selection>> {
        if self.owed && self.is_hearing() { self.latest.clone() } else { None }
    }

    /// It has been sent.
    pub(crate) const fn sent(&mut self) {
        self.owed = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Time {
        Time::from_millis(millis)
    }

    fn slot() -> Slot {
        let mut slot = Slot::new();
        slot.set(Arc::new(Selection::default()));
        slot
    }

    #[test]
    fn nothing_is_due_before_the_client_can_hear() {
        let mut slot = slot();
        slot.expire(at(10_000));
        assert!(slot.due().is_none() && slot.deadline().is_none());
        slot.initialized(at(10_000));
        assert!(slot.due().is_none());
        slot.expire(at(10_499));
        assert!(slot.due().is_none());
        assert_eq!(slot.deadline(), Some(at(10_500)));
        slot.expire(at(10_500));
        assert!(slot.due().is_some() && slot.deadline().is_none());
        slot.sent();
        assert!(slot.due().is_none());
    }

    #[test]
    fn ide_connected_opens_in_either_order() {
        for first in [true, false] {
            let mut slot = slot();
            if first {
                slot.ide_connected();
                assert!(slot.due().is_none());
                slot.initialized(at(0));
            } else {
                slot.initialized(at(0));
                slot.ide_connected();
            }
            assert!(slot.due().is_some());
        }
    }

    #[test]
    fn the_selection_is_owed_again_after_a_list_change() {
        for by_time in [true, false] {
            let mut slot = slot();
            slot.initialized(at(0));
            slot.ide_connected();
            slot.sent();
            slot.list_changed(at(100));
            slot.expire(at(1099));
            assert!(slot.due().is_none());
            if by_time {
                slot.expire(at(1100))
            } else {
                slot.tools_listed()
            }
            assert!(slot.due().is_some());
            // A list that was under way may have come first, or the one that is meant comes late.
            slot.sent();
            slot.tools_listed();
            assert!(slot.due().is_some());
        }
        let mut slot = slot();
        slot.initialized(at(0));
        slot.ide_connected();
        slot.sent();
        slot.tools_listed();
        assert!(slot.due().is_none(), "who was told of no change forgets nothing");
    }
}
