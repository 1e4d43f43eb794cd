//! What a client is told unasked.

use std::time::Duration;

use ide_mcp::Time;

use super::Ledger;
use crate::sim_support::{
    oracle::{Invariant as I, Oracle},
    tap::{Message, selection_in},
};

/// How long a client that was told of other tools is waited for.
const RELIST: Duration = Duration::from_secs(1);

impl Ledger {
    pub(super) fn push(
        &mut self,
        (now, method): (Time, &str),
        message: &Message<'_>,
        changes: &[Time],
        oracle: &mut Oracle,
    ) {
        let params = message.get("params").unwrap_or_default();
        let member = |name: &str| Message::read(params).and_then(|params| params.get(name));
        let of_a_call = matches!(method, "notifications/progress" | "notifications/cancelled");
        oracle.claim(self.initialized || of_a_call, I::Selection, || format!("{method} comes too early"));
        match method {
            "notifications/progress" => {
                let token = member("progressToken").unwrap_or_default();
                let reached =
                    member("progress").and_then(|text| text.parse::<f64>().ok()).unwrap_or(f64::NAN);
                // What was said before a call was given up may be written after it.
                let all = self.pending.iter_mut().chain(&mut self.echoes);
                let asked = all.into_iter().find(|asked| asked.token.as_deref() == Some(token));
                let before = asked.as_ref().map(|asked| asked.reached);
                oracle.claim(before.is_some_and(|before| reached > before), I::Progress, || {
                    format!("{token} goes to {reached} from {before:?}")
                });
                if let Some(asked) = asked {
                    asked.reached = reached;
                }
                oracle.hit("progress sent");
            }
            "notifications/cancelled" => {
                let id = member("requestId").unwrap_or_default();
                let asked = id.parse().is_ok_and(|id: u64| (1..=self.own_ids).contains(&id));
                let fresh = self.own_given_up.insert(id.to_owned());
                oracle.claim(asked && fresh, I::OneCancel, || format!("{id} is given up"));
            }
            "notifications/tools/list_changed" => {
                self.changes_told += 1;
                let happened = changes.len() - self.changes_before;
                oracle.claim(!self.list_changed && self.changes_told <= happened, I::ListChanged, || {
                    format!(
                        "told {} times of {happened} changes, not listed: {}",
                        self.changes_told, self.list_changed
                    )
                });
                self.list_changed = true;
                // It is not told before it happens; when it was put behind what waits, nobody saw.
                let happened_at = changes.get(self.changes_before + self.changes_told - 1);
                self.relists_until = happened_at.map(|at| at.after(RELIST));
                self.is_selection_known = false;
                oracle.hit("tools changed");
            }
            _ if method.ends_with("selection_changed") => self.select(now, params, oracle),
            _ if method.ends_with("at_mentioned") => {
                let number = params.split("mention-").nth(1).and_then(|rest| rest.get(..8)?.parse().ok());
                self.mentions.push(number.unwrap_or(0));
            }
            _ => {}
        }
    }

    /// The tools were listed. A client that was ever told that they have changed may forget with any of its lists what is
    /// selected, so that it is told again after each.
    pub(super) fn listed(&mut self) {
        self.is_selection_known &= self.changes_told == 0;
        self.relists_until = None;
    }

    /// I30: the same selection comes once, and once more where the client may have forgotten it: after a change of the
    /// tools, and after each list from then on. After a change it waits for the list, or for a second.
    fn select(&mut self, now: Time, params: &str, oracle: &mut Oracle) {
        let number = selection_in(params).unwrap_or(0);
        oracle.claim(number >= self.last_selection, I::Coalescing, || {
            format!("selection {number} comes after {}", self.last_selection)
        });
        let again = number == self.last_selection && self.selections > 0;
        oracle.claim(!again || !self.is_selection_known, I::Coalescing, || {
            format!("selection {number} comes twice")
        });
        let early = self.relists_until.take().filter(|until| now < *until);
        oracle.claim(early.is_none(), I::Selection, || {
            format!("selection {number} comes before the tools are listed, and not at {early:?}")
        });
        if again {
            oracle.hit("selection told again");
        }
        self.last_selection = number;
        self.is_selection_known = true;
        self.selections += 1;
    }

    /// I30: not more selections than the debounce lets through since the client could hear.
    pub fn check_pace(&self, now: Time, debounce: Duration, oracle: &mut Oracle) {
        if debounce.is_zero() || !self.initialized {
            return;
        }
        let windows = now.since(self.ready_since).as_millis() / debounce.as_millis();
        let told = self.selections;
        oracle.claim(u128::from(told) <= windows + 3, I::Coalescing, || {
            format!("{told} selections in {windows} windows of the debounce")
        });
    }
}
