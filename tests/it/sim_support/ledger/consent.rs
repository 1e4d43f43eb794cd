//! The consent to one client, and the calls that wait for it.

use ide_mcp::Time;

use super::{Ledger, Standing, same};
use crate::model::Message;
use crate::sim_support::oracle::{Invariant as I, Oracle};

/// The consent to a client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Consent {
    /// Given, or not required.
    #[default]
    Given,
    /// Required, and the person was not asked: the client is not initialized.
    NotAsked,
    Asked,
    /// Refused: the connection ends with 1008.
    Refused,
}

/// The wait of a call for the consent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wait {
    /// When the call was read.
    read_at: Time,
    /// The first rest after that with nothing unwritten: from then on the session has the call.
    held_at: Option<Time>,
    is_cancelled: bool,
}

/// The requests whose events wait for the consent. All others are answered at once.
const WAITING: [&str; 4] = ["tools/call", "prompts/get", "resources/read", "readFile"];

/// The notifications that a client can get before the consent: they contain nothing of the editor, or the
/// application itself sends them to this client.
const FREE: [&str; 4] = [
    "notifications/tools/list_changed",
    "notifications/resources/list_changed",
    "notifications/cancelled",
    "x/news",
];

impl Ledger {
    pub(super) fn lacks_consent(&self) -> bool {
        self.consent != Consent::Given
    }

    /// Returns true if the client is initialized, and the person was not asked about it.
    pub fn waits_for_a_question(&self) -> bool {
        let is_there = !self.has_ended && self.close_code.is_none() && self.standing != Standing::Outsider;
        is_there && self.initialized && self.consent == Consent::NotAsked
    }

    /// Returns the wait of a request that was read now; `None` if the request does not wait.
    pub(super) fn wait_of(&self, text: &str, ends_diffs: bool) -> Option<Wait> {
        let method = Message::read(text).and_then(|message| message.method().map(str::to_owned));
        let waits = method.is_some_and(|method| WAITING.contains(&&*method)) && !ends_diffs;
        (waits && self.lacks_consent()).then_some(Wait {
            read_at: self.now,
            held_at: None,
            is_cancelled: false,
        })
    }

    /// Checks a notification against the consent.
    pub(super) fn check_push(&self, method: &str, oracle: &mut Oracle) {
        let may_come = !self.lacks_consent() || FREE.contains(&method);
        oracle.claim(may_come, I::Consent, || format!("{method} comes at {:?}", self.consent));
    }

    /// Records that the client cancelled a request, perhaps one that waits for the consent.
    pub(super) fn cancel_waiting(&mut self, id: &str) {
        let all = self.pending.iter_mut().filter(|request| same(id, &request.id));
        let mut waits = all.filter_map(|request| request.wait.as_mut());
        if let Some(wait) = waits.find(|wait| !wait.is_cancelled) {
            wait.is_cancelled = true;
        }
    }

    /// Records a rest with nothing unwritten: by now the session has every call that was read, and has
    /// dropped those that were cancelled.
    pub(super) fn rest_waiting(&mut self, now: Time, oracle: &mut Oracle) {
        let Self { pending, silenced, .. } = self;
        pending.retain(|request| {
            let is_dropped = request.call.is_none() && request.wait.is_some_and(|wait| wait.is_cancelled);
            if is_dropped {
                silenced.insert(request.id.clone());
                oracle.hit("consent: waiting call cancelled");
            }
            !is_dropped
        });
        for wait in pending.iter_mut().filter_map(|request| request.wait.as_mut()) {
            wait.held_at.get_or_insert(now);
            oracle.hit("consent: call waits");
        }
    }

    /// Checks our close frame: it has the code of a refusal, and follows the answers to all calls that
    /// waited.
    pub(super) fn check_close(&self, code: Option<u16>, oracle: &mut Oracle) {
        if self.consent != Consent::Refused {
            return;
        }
        oracle.claim(code == Some(1008), I::Consent, || format!("a refused client gets {code:?}"));
        let waits = |wait: Wait| wait.held_at.is_some() && !wait.is_cancelled;
        let left = self.pending.iter().filter(|request| request.wait.is_some_and(waits)).count();
        oracle.claim(left == 0, I::Consent, || format!("{left} calls of a refused client are not answered"));
    }
}

impl Wait {
    /// Returns the earliest and the latest time at which the session can have begun the call, which the
    /// application got now. They differ if output was unwritten: bytes that were read can wait then.
    pub(super) fn begin(self, now: Time) -> [Time; 2] {
        [self.read_at, self.held_at.unwrap_or(now)]
    }
}
