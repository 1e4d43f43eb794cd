//! [`Outbox`]: the trait through which a session writes messages independently of their framing.

use alloc::vec::Vec;
use core::fmt;

use crate::rpc::Id;

/// A sink for the messages of a session, which does not frame them itself. An outbox frames each
/// message: as a WebSocket text frame ([`ws::Sender`](crate::ws::Sender)), as a line over stdio, or in a
/// framing of the application.
pub trait Outbox {
    /// Sends one message: `write` appends its text (UTF-8 JSON) to the buffer that it receives. If
    /// `write` appends nothing, there is no message.
    ///
    /// `to` is for framings in which each answer has its own place, such as the response to an HTTP
    /// request. Other framings ignore `to`.
    ///
    /// # Errors
    ///
    /// [`OutboxClosed`] if the outbox cannot send the message. Then nothing is sent, and the call that
    /// the message answers stays open until the session is closed.
    fn message(&mut self, to: To<'_>, write: impl FnOnce(&mut Vec<u8>)) -> Result<(), OutboxClosed>;

    /// Returns true if the send buffer is full. Then a session refuses, omits or delays each message
    /// that is not necessary at once. It still sends answers.
    fn is_full(&self) -> bool;
}

/// The relation of a message to the requests of the peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum To<'a> {
    /// An answer to the request of the peer with this id. The array of answers to a batch has the id of
    /// the first answer.
    Answer(&'a Id),
    /// A request or a notification of this side.
    Unasked,
}

/// The error of an [`Outbox`] that cannot send this message: the connection is closing or has ended, or,
/// in a WebSocket, a fragmented message is in progress.
///
/// [Causes and reactions](crate::guide::errors#a-method-of-yours-was-refused).
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
        f.write_str("the connection cannot send this message")
    }
}

impl core::error::Error for OutboxClosed {}
