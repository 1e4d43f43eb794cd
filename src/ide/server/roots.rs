//! The folders in which the client works. The editor asks for them with `roots/list` as soon as the
//! session is ready, and again after each `notifications/roots/list_changed`.
//!
//! ```text
//! Idle ──Ready, list_changed──▶ Due ──room in the send buffer──▶ Asked ──answer, error, 10 s──▶ Idle
//!                                ▲                                 │ list_changed
//!                                └───────── the end of this request ◀┘
//! ```
//!
//! A client that has not declared roots is never asked, and neither is a client that answers no request
//! (see [`Quirks`](super::quirks::Quirks)). After an error or a timeout the known folders stay.

use super::{Server, ServerEvent};
use crate::ide::paths::{LocalPath, Platform};
use crate::mcp::{Outcome, Root, Timeout};
use crate::rpc::RequestId;
use alloc::vec::Vec;
use core::time::Duration;

/// The time that the client has to answer. The editor does not wait for the folders, so a slow client
/// can take this long.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The notification of a client whose folders have changed.
pub(super) const LIST_CHANGED: &str = "notifications/roots/list_changed";

#[derive(Debug, Default)]
pub(super) struct Roots {
    /// True if the client has to be asked.
    pub(super) is_due: bool,
    /// The request that waits for its answer.
    pub(super) asked: Option<RequestId>,
    /// The latest answer; `None` before the first.
    list: Option<Vec<Root>>,
    folders: Vec<LocalPath>,
}

impl Server {
    /// Returns the folders in which the client works, as the client wrote them in its answer to
    /// `roots/list`: at most 64. Empty before the answer, and for a client that does not declare roots.
    #[must_use]
    pub fn roots(&self) -> &[Root] {
        self.roots.list.as_deref().unwrap_or_default()
    }

    /// Returns the [`roots`](Self::roots) of the client that are absolute paths on this machine.
    #[must_use]
    pub fn folders(&self) -> &[LocalPath] {
        &self.roots.folders
    }

    /// Returns the index of the folder to which this client belongs, among the folders of the windows of
    /// an editor. That is the innermost folder that contains a folder of the client; the earlier folders
    /// of the client come first. If there is none, it is the outermost folder below one of the client.
    /// The window with this folder is the right place for a diff of the client.
    #[must_use]
    pub fn closest_folder(&self, windows: &[LocalPath]) -> Option<usize> {
        let around = self.folders().iter().find_map(|folder| folder.innermost_around(windows));
        around.or_else(|| self.folders().iter().find_map(|folder| folder.outermost_below(windows)))
    }

    /// Returns true if the editor asks the client for its folders. The folders are those of an agent, so
    /// the connection of a model is not asked.
    pub(super) fn asks_for_roots(&self) -> bool {
        self.config.ask_for_roots
            && !self.is_for_models()
            && self.quirks().answers_requests
            && self.mcp.client_has_roots()
    }

    /// Sends `roots/list` as soon as the session is ready and there is room.
    pub(super) fn ask_for_roots(&mut self) {
        if !self.roots.is_due || self.roots.asked.is_some() {
            return;
        }
        if let Ok(request) = self.request("roots/list", None::<&()>, Timeout::After(TIMEOUT)) {
            self.roots.is_due = false;
            self.roots.asked = Some(request);
        }
    }

    /// Takes the outcome of `roots/list`. Returns an event if the list has changed.
    pub(super) fn on_roots(&mut self, outcome: &Outcome) -> Option<ServerEvent> {
        self.roots.asked = None;
        let Outcome::Result(result) = outcome else { return None };
        let list = Root::read_list(result)?;
        if self.roots.list.as_ref() == Some(&list) {
            return None;
        }
        let parse = |root: &Root| LocalPath::parse(&root.uri, Platform::native()).ok();
        self.roots.folders = list.iter().filter_map(parse).collect();
        self.roots.list = Some(list.clone());
        Some(ServerEvent::RootsChanged { roots: list })
    }
}
