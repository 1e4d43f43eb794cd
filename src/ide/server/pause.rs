//! Pauses a server: a filter hides everything until the person ends the pause.

use super::{Filter, Selected, Server};
use crate::Time;
use crate::ide::{ContentLimits, Selection};
use alloc::sync::Arc;
use core::mem;

/// What a pause replaces.
#[derive(Debug)]
pub(super) struct Paused {
    /// The filter of the configuration.
    filter: Filter,
    /// The latest selection that this filter let through, to be sent when the pause ends.
    selection: Option<Arc<Selection>>,
}

impl Server {
    /// Hides everything until [`resume`](Server::resume), like a [`Filter`] that hides every file. Bind this to a key
    /// for a person who opens something private:
    ///
    /// - Each client gets an empty selection at once, and so does each that attaches.
    /// - [`mention`](Server::mention) is refused. Mentions that already wait go on waiting, and may
    ///   [expire](super::ServerEvent::MentionExpired).
    /// - [`diagnostics_changed`](Server::diagnostics_changed) sends nothing.
    /// - The answers of the tools name no file and contain no text, even if a client reads them as resources. The open
    ///   folders stay in the answer of `getWorkspaceFolders`: the lock file, which each client has read, names them
    ///   too.
    ///
    /// Diffs go on, because their text is the agent's own. So does `executeCode`, and so do the answers and
    /// notifications that you write yourself (listed at [`Filter`]): check [`is_paused`](Server::is_paused) for those.
    /// What is already in a send buffer is sent. A second pause has no effect.
    pub fn pause(&mut self, now: Time) {
        self.connections.set_now(now);
        if self.is_paused() {
            return;
        }
        let filter = mem::replace(&mut self.filter, Filter::everything());
        self.paused = Some(Paused { filter, selection: self.debounce.latest() });
        self.replace_selection(Arc::new(Selection::cleared()));
    }

    /// Ends a [`pause`](Server::pause): the clients get the latest selection at once, and the waiting mentions, as far
    /// as the filter then lets them through. Changes of diagnostics are not repeated. Without a pause nothing happens.
    pub fn resume(&mut self, now: Time) {
        self.connections.set_now(now);
        let Some(Paused { filter, selection }) = self.paused.take() else { return };
        self.filter = filter;
        if let Some(mut selection) = selection {
            // By now the filter may decide otherwise, because an ignore file has changed.
            self.filter.selection(Arc::make_mut(&mut selection), &self.config.content_limits);
            self.replace_selection(selection);
        }
        self.send_mentions();
    }

    /// Returns true between [`pause`](Server::pause) and [`resume`](Server::resume).
    #[must_use]
    pub const fn is_paused(&self) -> bool {
        self.paused.is_some()
    }

    /// Sends this selection to every client at once, without debouncing.
    fn replace_selection(&mut self, selection: Arc<Selection>) {
        if self.debounce.replace(self.connections.now, selection.clone()) {
            self.send_selection(&selection);
        }
    }
}

impl Paused {
    /// Keeps a selection for the end of the pause.
    pub(super) fn select(&mut self, mut selection: Selection, limits: &ContentLimits) -> Selected {
        self.filter.selection(&mut selection, limits);
        self.selection = Some(Arc::new(selection));
        Selected::Hidden
    }
}
