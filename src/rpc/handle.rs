//! How you refer to sessions, calls and requests: by plain numbers that are never reused.

/// Identifies one session of your program. Whoever creates sessions numbers them and never reuses a number, so a handle
/// of one session is not valid in another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId {
    number: u64,
    /// The index of the session in a table; may be reused.
    pub(crate) place: u32,
}

impl SessionId {
    /// Returns the id of the session with this number.
    #[must_use]
    pub const fn new(number: u64) -> Self {
        Self { number, place: 0 }
    }

    /// Returns the number of the session.
    #[must_use]
    pub const fn number(self) -> u64 {
        self.number
    }

    /// Returns the id of the session with this number at this place. The place is an index into the table in which the
    /// code that creates the sessions keeps them. A place may be reused, a number must not.
    #[cfg(feature = "ide")]
    pub(crate) const fn at_place(number: u64, place: u32) -> Self {
        Self { number, place }
    }
}

/// Identifies one request of the peer, for you to answer.
///
/// A `CallId` never names another call, even if the peer uses an id again. Once the call has ended, or in another
/// session, it is refused with a [`NotAnswered`](crate::rpc::NotAnswered) that says why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallId {
    session: SessionId,
    serial: u64,
}

impl CallId {
    pub(crate) const fn new(session: SessionId, serial: u64) -> Self {
        Self { session, serial }
    }

    /// Returns the session of the call.
    #[must_use]
    pub const fn session(self) -> SessionId {
        self.session
    }

    /// Returns the number of the call, counted from 1 in each session in the order of arrival: for display, and for
    /// bindings to other languages.
    #[must_use]
    pub const fn number(self) -> u64 {
        self.serial
    }
}

/// Identifies one request of ours that waits for the answer of the peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId {
    session: SessionId,
    serial: u64,
}

impl RequestId {
    pub(crate) const fn new(session: SessionId, serial: u64) -> Self {
        Self { session, serial }
    }

    /// Returns the session that sent the request.
    #[must_use]
    pub const fn session(self) -> SessionId {
        self.session
    }

    /// Returns the id of the request on the wire: an integer from 1, increasing.
    pub(crate) const fn serial(self) -> u64 {
        self.serial
    }
}
