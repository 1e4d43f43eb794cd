//! Keeps track of what the client knows of a server's lists, so that each change is announced once.

/// A list as the client has it; `L` is the list, or a digest of it.
#[derive(Clone, Debug)]
pub(super) struct Announced<L> {
    /// What was last sent or announced to the client.
    list: L,
    /// True if a change was announced, and the client has not requested the list since.
    is_pending: bool,
}

impl<L> Announced<L> {
    /// Creates the state of a session in which nothing was sent yet. Clients request each list at the beginning, so the
    /// first list counts as known.
    pub(super) const fn new(list: L) -> Self {
        Self { list, is_pending: false }
    }

    /// Records that the client receives this list.
    pub(super) fn on_listed(&mut self, list: L) {
        *self = Self { list, is_pending: false };
    }

    /// Records that the application answers the request of the client for the list.
    pub(super) const fn on_forwarded(&mut self) {
        self.is_pending = false;
    }

    /// Records that the client was notified of this list.
    pub(super) fn on_announced(&mut self, list: L) {
        *self = Self { list, is_pending: true };
    }

    /// Returns true if the client needs a notification. `is_other` says whether the list that the client has differs
    /// from the current one.
    pub(super) fn is_change(&self, is_other: impl FnOnce(&L) -> bool) -> bool {
        !self.is_pending && is_other(&self.list)
    }
}
