//! The proposed changes that wait for a person: which call opened which tab.
//!
//! One registry per connection, so that a client can end only its own. The client never cancels
//! an `openDiff` that was decided in its terminal (measured): `close_tab` is the only sign.

use crate::rpc::CallId;
use alloc::{collections::BTreeMap, string::String};

/// How a diff ended that the application did not answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DiffEnd {
    /// The client closed its tab: it was decided elsewhere. The call has been answered.
    TabClosed,
    /// The client closed all its tabs. The call has been answered.
    AllClosed,
    /// We shut down. The call has been answered.
    ShutDown,
    /// The client cancelled the call; nothing is answered.
    Cancelled,
    /// The time that the application gave it is over ([`Server::set_call_timeout`](super::Server::set_call_timeout)). The call has been answered.
    Expired,
    /// The connection ended; nothing can be answered.
    Disconnected,
}

/// The open diffs of one connection by their calls, whose order is that in which they were opened.
#[derive(Debug, Default)]
pub(crate) struct Diffs(BTreeMap<CallId, String>);

impl Diffs {
    pub(crate) fn open(&mut self, call: CallId, tab_name: String) {
        self.0.insert(call, tab_name);
    }

    /// The diff of this call has ended: the name of its tab, if it is one.
    pub(crate) fn remove(&mut self, call: CallId) -> Option<String> {
        self.0.remove(&call)
    }

    /// All open diffs.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (CallId, &str)> {
        self.0.iter().map(|(call, tab_name)| (*call, tab_name.as_str()))
    }
}
