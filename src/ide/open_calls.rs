//! The tool calls of one client that wait for the application: which tool each calls, and which tab an `openDiff` opened.
//!
//! One registry per connection, so that a client can end only its own diffs. The client never cancels an `openDiff` that
//! was decided in its terminal (measured): `close_tab` is the only sign.

use super::Tool;
use crate::rpc::CallId;
use alloc::{string::String, vec::Vec};

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
    /// The time that the application gave it is over ([`OpenCall::set_timeout`](super::OpenCall::set_timeout)). The call
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
    /// One of the protocol; calls of the application's own tools are not kept.
    tool: Tool,
    /// The tab that an `openDiff` opened.
    tab_name: Option<String>,
}

impl OpenCalls {
    pub(crate) fn open(&mut self, call: CallId, tool: Tool, tab_name: Option<String>) {
        self.0.push(Entry { call, tool, tab_name });
    }

    /// Returns which tool of the protocol a call calls.
    pub(crate) fn tool(&self, call: CallId) -> Option<Tool> {
        self.place(call).and_then(|place| self.0.get(place)).map(|entry| entry.tool)
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
        self.0.binary_search_by_key(&call, |entry| entry.call).ok()
    }
}
