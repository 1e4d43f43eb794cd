//! The calls of one client that the application knows of: the tool that each calls, and the tab that an `openDiff` opened.
//!
//! One registry per connection, so that a client can end only its own diffs. The client never cancels an `openDiff` that
//! was decided in its terminal (measured): `close_tab` is the only sign.

use crate::ide::Tool;
use crate::rpc::CallId;
use alloc::{string::String, vec::Vec};

/// The end of a diff that the application did not answer.
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
    /// The time that the application gave it is over ([`OpenCall::set_timeout`](crate::ide::OpenCall::set_timeout)). The call
    /// has been answered.
    Expired,
    /// The connection ended; nothing can be answered.
    Disconnected,
}

/// The open calls of one connection, in the order in which they came, which is that of their ids.
#[derive(Debug, Default)]
pub(crate) struct OpenCalls(Vec<Entry>);

#[derive(Debug)]
struct Entry {
    call: CallId,
    kind: CallKind,
    /// The tab that an `openDiff` opened.
    tab_name: Option<String>,
}

/// The kind of a call, which decides what can answer it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallKind {
    /// A call of a tool of the protocol.
    Tool(Tool),
    /// A call of a tool of the application's own.
    OwnTool,
    /// A request that is no call of a tool.
    Request,
}

impl OpenCalls {
    pub(crate) fn open(&mut self, call: CallId, kind: CallKind, tab_name: Option<String>) {
        self.0.push(Entry { call, kind, tab_name });
    }

    /// Returns the kind of a call; `None` if the application does not know of it, or it has ended.
    pub(crate) fn kind(&self, call: CallId) -> Option<CallKind> {
        self.place(call).and_then(|place| self.0.get(place)).map(|entry| entry.kind)
    }

    /// Notes that a call has ended. Returns the name of its tab if it was a diff.
    pub(crate) fn remove(&mut self, call: CallId) -> Option<String> {
        self.0.remove(self.place(call)?).tab_name
    }

    /// Returns the open diffs: the call and its tab.
    pub(crate) fn diffs(&self) -> impl Iterator<Item = (CallId, &str)> {
        self.0.iter().filter_map(|entry| Some((entry.call, entry.tab_name.as_deref()?)))
    }

    fn place(&self, call: CallId) -> Option<usize> {
        // Most often the latest is answered first.
        match self.0.split_last() {
            Some((last, others)) if last.call == call => Some(others.len()),
            _ => self.0.binary_search_by_key(&call, |entry| entry.call).ok(),
        }
    }
}
