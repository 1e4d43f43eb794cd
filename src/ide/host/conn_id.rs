//! The name of a connection of a host.

use crate::rpc::{CallId, RequestId, SessionId};

/// Names one connection of a [`Host`](super::Host), for ever: a later one in the same place has another name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnId {
    generation: u32,
    index: u32,
}

impl ConnId {
    pub(crate) const fn new(index: u32, generation: u32) -> Self {
        Self { generation, index }
    }

    /// A small number that no other connection has at the same time; later ones get it again. For tables and tokens of
    /// an event loop.
    #[must_use]
    pub const fn index(self) -> usize {
        self.index as usize
    }

    /// The number in which connections were accepted, from 1. For people.
    #[must_use]
    pub const fn number(self) -> u32 {
        self.generation
    }

    /// The connection that this call came in.
    #[must_use]
    pub const fn of_call(call: CallId) -> Self {
        Self::of_session(call.session())
    }

    /// The connection that this request went out on.
    #[must_use]
    pub const fn of_request(request: RequestId) -> Self {
        Self::of_session(request.session())
    }

    pub(crate) const fn session(self) -> SessionId {
        SessionId::new((self.generation as u64) << 32 | self.index as u64)
    }

    #[allow(clippy::cast_possible_truncation, reason = "the two halves of the number that `session` makes")]
    const fn of_session(session: SessionId) -> Self {
        Self { generation: (session.number() >> 32) as u32, index: session.number() as u32 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_names_its_connection() {
        for id in [ConnId::new(0, 1), ConnId::new(7, u32::MAX), ConnId::new(u32::MAX, 3)] {
            assert_eq!(ConnId::of_session(id.session()), id);
        }
    }
}
