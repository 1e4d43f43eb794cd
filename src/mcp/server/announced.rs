//! The lists of a server as the client has them, to notify the client of each change once.

/// A list as the client has it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Announced {
    /// The digest of the list that was last sent or announced to the client.
    digest: u64,
    /// True if a change was announced, and the client has not requested the list since.
    is_pending: bool,
}

impl Announced {
    /// Creates the state of a session in which no list was sent. A client requests each list at the
    /// beginning, so the first list counts as known.
    pub(super) const fn new(digest: u64) -> Self {
        Self { digest, is_pending: false }
    }

    /// Notes that the client receives the list with this digest.
    pub(super) const fn on_listed(&mut self, digest: u64) {
        *self = Self { digest, is_pending: false };
    }

    /// Notes that the application answers the request of the client for the list.
    pub(super) const fn on_forwarded(&mut self) {
        self.is_pending = false;
    }

    /// Notes that the client was notified of the list with this digest.
    pub(super) const fn on_announced(&mut self, digest: u64) {
        *self = Self { digest, is_pending: true };
    }

    /// Returns true if the client needs a notification of the list with this digest.
    pub(super) const fn is_change(&self, digest: u64) -> bool {
        !self.is_pending && self.digest != digest
    }
}
