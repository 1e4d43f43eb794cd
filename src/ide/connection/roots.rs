//! The folders that the client works in. The editor requests `roots/list` as soon as the session is ready, and again
//! after each `notifications/roots/list_changed`.
//!
//! ```text
//! Idle ──Ready, list_changed──▶ Due ──room in the send buffer──▶ Asked ──answer, error, 10 s──▶ Idle
//!                                ▲                                 │ list_changed
//!                                └───────── the end of this request ◀┘
//! ```
//!
//! The editor sends `roots/list` only if `ServerConfig::ask_for_roots` is true, and only to an agent that has declared
//! roots and answers requests (see [`Quirks`](super::quirks::Quirks)). After an error or a timeout the known folders
//! stay.

use super::Connection;
use crate::ide::ServerEvent;
use crate::ide::paths::{LocalPath, Platform, closest_window};
use crate::mcp::{Outcome, Root, Timeout};
use crate::rpc::RequestId;
use alloc::vec::Vec;
use core::time::Duration;

/// How long the client may take to answer. Nothing in the editor waits for the folders, so a slow client gets enough
/// time.
const TIMEOUT: Duration = Duration::from_secs(10);

/// How a client reports that its folders have changed.
pub(super) const LIST_CHANGED: &str = "notifications/roots/list_changed";

#[derive(Debug, Default)]
pub(super) struct Roots {
    /// True if `roots/list` must be sent.
    pub(super) is_due: bool,
    /// The `roots/list` that waits for its answer.
    pub(super) pending: Option<RequestId>,
    /// The latest answer; `None` before the first.
    list: Option<Vec<Root>>,
    folders: Vec<LocalPath>,
}

impl Connection {
    /// Returns the folders that the client works in, as it wrote them in its answer to `roots/list`: at most 64. Empty
    /// before the answer, and for a client that the editor does not ask.
    #[must_use]
    pub(crate) fn roots(&self) -> &[Root] {
        self.roots.list.as_deref().unwrap_or_default()
    }

    /// Returns the [`roots`](Self::roots) of the client that are absolute paths on this machine.
    #[must_use]
    pub(crate) fn folders(&self) -> &[LocalPath] {
        &self.roots.folders
    }

    /// Returns the index of the window for a call of this client, as [`closest_window`] finds it by the folders of the
    /// client. `file` is the file of the call, such as the file of a diff.
    #[must_use]
    pub(crate) fn closest_window<W: AsRef<[LocalPath]>>(
        &self,
        windows: &[W],
        file: Option<&LocalPath>,
    ) -> Option<usize> {
        closest_window(windows, file, self.folders())
    }

    /// Returns true if the editor asks the client for its folders. Only agents have folders, so connections for models
    /// are not asked.
    pub(super) fn asks_for_roots(&self) -> bool {
        self.config.ask_for_roots
            && !self.is_for_models()
            && self.quirks().answers_requests
            && self.mcp.client_has_roots()
    }

    /// Sends `roots/list` if it is due and no earlier one is open. If it cannot be sent yet, it stays due.
    pub(super) fn ask_for_roots(&mut self) {
        if !self.roots.is_due || self.roots.pending.is_some() {
            return;
        }
        if let Ok(request) = self.request("roots/list", None::<&()>, Timeout::After(TIMEOUT)) {
            self.roots.is_due = false;
            self.roots.pending = Some(request);
        }
    }

    /// Takes the outcome of `roots/list`. Returns an event if the list has changed.
    pub(super) fn on_roots(&mut self, outcome: &Outcome) -> Option<ServerEvent> {
        self.roots.pending = None;
        let Outcome::Result(result) = outcome else { return None };
        let list = Root::read_list(result)?;
        if self.roots.list.as_ref() == Some(&list) {
            return None;
        }
        let parse = |root: &Root| LocalPath::parse(&root.uri, Platform::native()).ok();
        self.roots.folders = list.iter().filter_map(parse).collect();
        self.roots.list = Some(list.clone());
        Some(ServerEvent::RootsChanged { agent: self.agent(), roots: list })
    }
}
