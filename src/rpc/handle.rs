//! The names by which an application refers to sessions, calls and requests: plain numbers that are
//! never reused.

/// The name of one session of a program. The code that creates sessions numbers them and does not
/// reuse a number. So a handle of one session is not valid in another session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId {
    number: u64,
    /// The index of the session in a table of sessions, which can be reused.
    pub(crate) place: u32,
}

impl SessionId {
    /// Returns the name of the session with this number.
    #[must_use]
    pub const fn new(number: u64) -> Self {
        Self { number, place: 0 }
    }

    /// Returns the number of the session.
    #[must_use]
    pub const fn number(self) -> u64 {
        self.number
    }

    /// Returns the name of the session with this number at this place. The place is an index into
    /// the table of sessions of the code that creates them. A place can be reused; a number must not
    /// be reused.
    #[cfg(feature = "ide")]
    pub(crate) const fn at_place(number: u64, place: u32) -> Self {
        Self { number, place }
    }
}

/// The name of one request of the peer that waits for our answer.
///
/// A `CallId` never names another call. If the call has ended or belongs to another session, the
/// session refuses the `CallId` with a [`NotAnswered`](crate::rpc::NotAnswered), which contains the reason.
/// This is also true if the peer uses the id of an earlier call again.
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

    /// Returns the number of the call. The calls of a session are numbered from 1, in the order of
    /// their arrival. The number is for display, and for bindings to other languages.
    #[must_use]
    pub const fn number(self) -> u64 {
        self.serial
    }
}

/// The name of one request of ours that waits for the answer of the peer.
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
