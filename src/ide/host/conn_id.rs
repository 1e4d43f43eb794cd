//! The name of a connection of a host.

use crate::rpc::SessionId;

/// Names one connection of a [`Host`](super::Host), for ever: a later one in the same place has another name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnId(pub(super) SessionId);

impl ConnId {
    /// Names the connection at this place. The number is never reused: at 100,000 connections a second the numbers last
    /// for 5 million years.
    pub(super) const fn new(index: u32, number: u64) -> Self {
        Self(SessionId::at_place(number, index))
    }

    /// A small number that no other connection has at the same time; later ones get it again. For tables and tokens of
    /// an event loop.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0.place() as usize
    }

    /// Returns the number of the connection, in the order in which they were accepted, from 1. For people.
    #[must_use]
    pub const fn number(self) -> u64 {
        self.0.number()
    }
}
