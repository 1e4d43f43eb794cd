//! What a client is told unasked.

use std::time::Duration;

use ide_mcp::Time;

use super::Ledger;
use crate::sim_support::{
    oracle::{Invariant as I, Oracle},
    tap::{Message, selection_in},
};

impl Ledger {
    pub(super) fn push(&mut self, method: &str, message: &Message<'_>, changes: u64, oracle: &mut Oracle) {
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
                let happened = changes - self.changes_before;
                oracle.claim(!self.list_changed && self.changes_told <= happened, I::ListChanged, || {
                    format!(
                        "told {} times of {happened} changes, not listed: {}",
                        self.changes_told, self.list_changed
                    )
                });
                self.list_changed = true;
                self.relists += 1;
                self.is_selection_known = false;
                oracle.hit("tools changed");
            }
            _ if method.ends_with("selection_changed") => self.select(params, oracle),
            _ if method.ends_with("at_mentioned") => {
                let number = params.split("mention-").nth(1).and_then(|rest| rest.get(..8)?.parse().ok());
                self.mentions.push(number.unwrap_or(0));
            }
            _ => {}
        }
    }

    fn select(&mut self, params: &str, oracle: &mut Oracle) {
        let number = selection_in(params).unwrap_or(0);
        oracle.claim(number >= self.last_selection, I::Coalescing, || {
            format!("selection {number} comes after {}", self.last_selection)
        });
        let again = number == self.last_selection && self.selections > 0;
        oracle.claim(!again || self.relists > 0, I::Coalescing, || format!("selection {number} comes twice"));
        if again {
            self.relists -= self.relists.min(1);
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
