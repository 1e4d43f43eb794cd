//! [`Outbox`]: the trait through which a session writes messages independently of their framing.

use alloc::vec::Vec;

use crate::rpc::Id;
pub(crate) use crate::rpc::NotSent;

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
    /// [`NotSent::Closed`] if the connection is closing or has ended, or, in a WebSocket, a fragmented message is in
    /// progress. Then nothing is sent, and the call that the message answers stays open until the session is closed.
    fn message(&mut self, to: To<'_>, write: impl FnOnce(&mut Vec<u8>)) -> Result<(), NotSent>;

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
