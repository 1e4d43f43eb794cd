//! [`Outbox`]: the trait through which a session writes messages without knowing what frames them.

use alloc::vec::Vec;
use core::fmt;

use crate::rpc::Id;

/// Takes whole messages from a layer that does not know how they are framed: a WebSocket text frame
/// ([`ws::Sender`](crate::ws::Sender)), a line for stdio, or whatever an application makes of it.
pub trait Outbox {
    /// Sends one message: `write` appends its text (UTF-8 JSON) to the buffer it is given. Where it appends nothing,
    /// there is no message.
    ///
    /// `to` is for a framing that has a place for each answer, such as the response to an HTTP request; others ignore
    /// it.
    ///
    /// # Errors
    ///
    /// [`OutboxClosed`] if nothing can be sent any more. Then nothing is sent, and the call that the message answers
    /// stays open until the session is closed.
    fn message(&mut self, to: To<'_>, write: impl FnOnce(&mut Vec<u8>)) -> Result<(), OutboxClosed>;

    /// Returns true if so much waits to be written that nothing should be added that can also be left out or come
    /// later. Answers are added all the same.
    fn is_full(&self) -> bool;
}

/// The place of a message in the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum To<'a> {
    /// An answer to the request of the peer with this id. The array of answers to a batch has the id of the first.
    Answer(&'a Id),
    /// A request or a notification of this side.
    Unasked,
}

/// The error of an [`Outbox`] that can send nothing more: the connection is closing or has ended, or, in a WebSocket, a
/// message that is sent in parts has not ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct OutboxClosed;

impl OutboxClosed {
    /// Creates the error, for an [`Outbox`] of another crate.
    #[must_use]
    pub const fn new() -> Self {
        Self
    }
}

impl fmt::Display for OutboxClosed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the connection can send no more messages")
    }
}

impl core::error::Error for OutboxClosed {}
