//! The notifications to a client.

use std::time::Duration;

use ide_mcp::Time;

use super::Ledger;
use crate::model::Message;
use crate::sim_support::{
    oracle::{Invariant as I, Oracle},
    tap::selection_in,
};

/// The actions of the person, by the clock of the server.
#[derive(Debug)]
pub struct Past {
    pub debounce: Duration,
    /// The times of the changes of the tools.
    pub changes: Vec<Time>,
    /// The times of the selections, from the first on.
    pub selections: Vec<Time>,
}

impl Past {
    /// Returns the time of this change of the tools; the first one is 1.
    fn changed_at(&self, number: usize) -> Option<Time> {
        self.changes.get(number.checked_sub(1)?).copied()
    }

    /// Returns the time of this selection; the first one is 1.
    pub fn selected_at(&self, number: u64) -> Option<Time> {
        self.selections.get(usize::try_from(number.checked_sub(1)?).ok()?).copied()
    }
}

impl Ledger {
    pub(super) fn push(
        &mut self,
        (now, method): (Time, &str),
        message: &Message<'_>,
        past: &Past,
        oracle: &mut Oracle,
    ) {
        let params = message.get("params").unwrap_or_default();
        let member = |name: &str| Message::read(params).and_then(|params| params.get(name));
        let of_a_call = matches!(method, "notifications/progress" | "notifications/cancelled");
        oracle.claim(self.initialized || of_a_call, I::Selection, || format!("{method} comes too early"));
        self.check_push(method, oracle);
        match method {
            "notifications/progress" => {
                let token = member("progressToken").unwrap_or_default();
                let reached =
                    member("progress").and_then(|text| text.parse::<f64>().ok()).unwrap_or(f64::NAN);
                // Progress that was reported before a cancellation may be written after it.
                let all = self.pending.iter_mut().chain(&mut self.echoes);
                let request = all.into_iter().find(|request| request.token.as_deref() == Some(token));
                let before = request.as_ref().map(|request| request.reached);
                oracle.claim(before.is_some_and(|before| reached > before), I::Progress, || {
                    format!("{token} goes to {reached} from {before:?}")
                });
                if let Some(request) = request {
                    request.reached = reached;
                }
                oracle.hit("progress sent");
            }
            "notifications/cancelled" => {
                let id = member("requestId").unwrap_or_default();
                let request = id.parse().is_ok_and(|id| self.own_ids.contains(&id));
                let fresh = self.own_given_up.insert(id.to_owned());
                oracle.claim(request && fresh, I::OneCancel, || format!("{id} is given up"));
                if self.own_open.remove(id).is_some_and(|method| method == "roots/list") {
                    oracle.hit("folders: timed out");
                }
            }
            "notifications/tools/list_changed" => {
                self.changes_announced += 1;
                let happened = past.changes.len() - self.changes_before;
                oracle.claim(
                    !self.list_changed && self.changes_announced <= happened,
                    I::ListChanged,
                    || {
                        format!(
                            "announced {} times for {happened} changes, not listed: {}",
                            self.changes_announced, self.list_changed
                        )
                    },
                );
                self.list_changed = true;
                let changed = past.changed_at(self.changes_before + self.changes_announced);
                self.repeats.settle(now, changed.unwrap_or(now));
                self.is_selection_known = false;
                oracle.hit("tools changed");
            }
            _ if method.ends_with("selection_changed") => self.select(now, params, past, oracle),
            _ if method.ends_with("at_mentioned") => {
                let number = params.split("mention-").nth(1).and_then(|rest| rest.get(..8)?.parse().ok());
                self.mentions.push(number.unwrap_or(0));
            }
            _ => {}
        }
    }

    /// Records a list of the tools. With any list a client may forget the selection, and it ignores
    /// pushes for a while.
    pub(super) fn listed(&mut self, now: Time, request: Time) {
        self.is_selection_known = false;
        self.repeats.list(now, request);
    }

    /// I30: the same selection comes once, and again if the client may have ignored or forgotten
    /// it (see [`Repeats`](super::Repeats)).
    fn select(&mut self, now: Time, params: &str, past: &Past, oracle: &mut Oracle) {
        let (number, last) = (selection_in(params).unwrap_or(0), self.last_selection);
        oracle.claim(number >= last, I::Coalescing, || format!("selection {number} comes after {last}"));
        if number == last {
            oracle.claim(self.repeats.take(now), I::Coalescing, || {
                format!("selection {number} comes once too often, or too soon: {:?}", self.repeats)
            });
            oracle.hit("selection sent again");
        } else if let Some(at) = past.selected_at(last) {
            // The debounce of this selection started after that of the last one had ended, and so after the last one
            // was made. When it entered the send buffer cannot be observed.
            let paced = now >= at.saturating_add(past.debounce);
            oracle.claim(paced, I::Coalescing, || format!("selection {number} comes too soon after {last}"));
        }
        self.last_selection = number;
        self.is_selection_known = true;
    }
}
