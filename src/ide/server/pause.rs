//! The pause of a server: a filter that hides everything, until the person ends it.

use super::{Filter, Selected, Server};
use crate::Time;
use crate::ide::{ContentLimits, Selection};
use alloc::sync::Arc;
use core::mem;

/// The state that a pause replaces.
#[derive(Debug)]
pub(super) struct Paused {
    /// The filter of the configuration.
    filter: Filter,
    /// The latest selection that this filter let through, which is sent when the pause ends.
    selection: Option<Arc<Selection>>,
}

impl Server {
    /// Hides everything until [`resume`](Server::resume), as a [`Filter`] that hides every file does:
    ///
    /// - Each client receives an empty selection at once, and so does each client that attaches.
    /// - [`mention`](Server::mention) is refused. Mentions that wait already go on waiting, and can
    ///   [expire](super::ServerEvent::MentionExpired).
    /// - [`diagnostics_changed`](Server::diagnostics_changed) sends nothing.
    /// - The answers of the tools name no file and contain no text, also if a client reads them as
    ///   resources. The open folders stay in the answer of `getWorkspaceFolders`: the lock file, which
    ///   each client has read, names them too.
    ///
    /// Diffs go on, since their text is the agent's own. So do `executeCode`, and the answers and
    /// notifications that the application writes itself, about which [`Filter`] has a list: the
    /// application checks [`is_paused`](Server::is_paused) for those. The bytes that are in a send buffer
    /// already are sent. A second pause has no effect.
    pub fn pause(&mut self, now: Time) {
        self.connections.set_now(now);
        if self.is_paused() {
            return;
        }
        let filter = mem::replace(&mut self.filter, Filter::everything());
        self.paused = Some(Paused { filter, selection: self.debounce.latest() });
        self.replace_selection(Arc::new(Selection::cleared()));
    }

    /// Ends a [`pause`](Server::pause): the clients receive the latest selection at once, and the waiting
    /// mentions, as far as the filter lets them through by now. The server does not repeat changes of
    /// diagnostics. Without a pause nothing happens.
    pub fn resume(&mut self, now: Time) {
        self.connections.set_now(now);
        let Some(Paused { filter, selection }) = self.paused.take() else { return };
        self.filter = filter;
        if let Some(mut selection) = selection {
            // The filter can decide otherwise by now: an ignore file has changed.
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

    /// Sends this selection to every client without the pause of the debounce.
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
