//! The names under which an application holds calls and requests: plain numbers that are never reused.

/// Names one session of a program. The code that makes sessions numbers them and does not reuse a number, so that a
/// handle of one session means nothing to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId {
    number: u64,
    /// The place at which the owner of the session finds it.
    place: u32,
}

impl SessionId {
    /// The session with this number.
    #[must_use]
    pub const fn new(number: u64) -> Self {
        Self { number, place: 0 }
    }

    /// The number it was made with.
    #[must_use]
    pub const fn number(self) -> u64 {
        self.number
    }

    /// The session with this number, which its owner finds at this place: an index into a table of sessions. A place may
    /// be used again, a number may not.
    #[must_use]
    pub const fn at_place(number: u64, place: u32) -> Self {
        Self { number, place }
    }

    /// Returns the place that the session was made with; 0 by default.
    #[must_use]
    pub const fn place(self) -> u32 {
        self.place
    }
}

/// Names one request of the peer that waits for our answer.
///
/// It stays what it is for ever: once the call has ended, or in another session, it is refused with a
/// [`NotOpen`](crate::rpc::NotOpen) that says why, even where the peer uses the same id again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallId {
    session: SessionId,
    serial: u64,
}

impl CallId {
    pub(crate) const fn new(session: SessionId, serial: u64) -> Self {
        Self { session, serial }
    }

    /// The session that the call came in.
    #[must_use]
    pub const fn session(self) -> SessionId {
        self.session
    }

    /// Returns the number of the call, in the order in which the calls of its session came, from 1: for people, and for
    /// other languages.
    #[must_use]
    pub const fn number(self) -> u64 {
        self.serial
    }
}

/// Names one request of ours that waits for the peer's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId {
    session: SessionId,
    serial: u64,
}

impl RequestId {
    pub(crate) const fn new(session: SessionId, serial: u64) -> Self {
        Self { session, serial }
    }

    /// The session that the request was sent in.
    #[must_use]
    pub const fn session(self) -> SessionId {
        self.session
    }

    /// The id that it has on the wire: an integer from 1, increasing.
    pub(crate) const fn serial(self) -> u64 {
        self.serial
    }
}
