//! The name of a connection of a host.

use crate::rpc::SessionId;

/// Names one connection of a [`Host`](super::Host), for ever: a later one in the same place has another name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnId {
    /// Never reused: at 100,000 connections a second it lasts for 5 million years.
    generation: u64,
    index: u32,
}

impl ConnId {
    pub(crate) const fn new(index: u32, generation: u64) -> Self {
        Self { generation, index }
    }

    /// A small number that no other connection has at the same time; later ones get it again. For tables and tokens of
    /// an event loop.
    #[must_use]
    pub const fn index(self) -> usize {
        self.index as usize
    }

    /// Returns the number of the connection, in the order in which they were accepted, from 1. For people.
    #[must_use]
    pub const fn number(self) -> u64 {
        self.generation
    }

    pub(crate) const fn session(self) -> SessionId {
        SessionId::at_place(self.generation, self.index)
    }

    pub(super) const fn of_session(session: SessionId) -> Self {
        Self { generation: session.number(), index: session.place() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_names_its_connection() {
        let beyond = u64::from(u32::MAX) + 1;
        for id in [ConnId::new(0, 1), ConnId::new(7, beyond), ConnId::new(u32::MAX, u64::MAX)] {
            assert_eq!(ConnId::of_session(id.session()), id);
        }
    }
}
