//! [`Outbox`]: how a session writes messages without knowing their framing.

use alloc::vec::Vec;

use crate::rpc::Id;
pub(crate) use crate::rpc::NotSent;

/// Where a session writes its messages. An outbox frames each of them: as a WebSocket text frame
/// ([`ws::Sender`](crate::ws::Sender)), as a line over stdio ([`mcp::Lines`](crate::mcp::Lines)), or as you need it.
/// Implement it to run MCP over a transport of your own.
///
/// ```
/// use ide_mcp::mcp::{Client, ClientConfig, Implementation};
/// use ide_mcp::{Outbox, Time, To, rpc::NotSent, rpc::SessionId};
///
/// /// Keeps each message as a string.
/// #[derive(Default)]
/// struct Texts(Vec<String>);
///
/// impl Outbox for Texts {
///     fn message(&mut self, _: To<'_>, write: impl FnOnce(&mut Vec<u8>)) -> Result<(), NotSent> {
///         let mut text = Vec::new();
///         write(&mut text);
///         if !text.is_empty() {
///             self.0.push(String::from_utf8(text).expect("sessions write UTF-8"));
///         }
///         Ok(())
///     }
///
///     fn is_full(&self) -> bool {
///         false
///     }
/// }
///
/// let mut outbox = Texts::default();
/// let mut client = Client::new(ClientConfig::new(Implementation::new("agent", "1.0")), SessionId::new(1));
/// client.start(Time::ZERO, &mut outbox);
/// assert!(outbox.0[0].contains(r#""method":"initialize""#));
/// ```
pub trait Outbox {
    /// Sends one message: `write` appends its text (JSON in UTF-8) to the buffer you pass it. If it appends nothing,
    /// there is no message to send.
    ///
    /// `to` is for framings in which each answer has its own place, such as the response to an HTTP request. Other
    /// framings ignore it.
    ///
    /// # Errors
    ///
    /// [`NotSent::Closed`] if the connection is closing or has ended or, in a WebSocket, a fragmented message is in
    /// progress. Then nothing is sent, and the call that the message would have answered stays open until the session
    /// is closed.
    fn message(&mut self, to: To<'_>, write: impl FnOnce(&mut Vec<u8>)) -> Result<(), NotSent>;

    /// Returns true if the send buffer is full. The session then still sends answers, and refuses, drops or delays
    /// everything that can wait.
    fn is_full(&self) -> bool;
}

/// How a message relates to the requests of the peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum To<'a> {
    /// Answers the request with this id. An array of answers to a batch has the id of the first one.
    Answer(&'a Id),
    /// A request or a notification of this side.
    Unsolicited,
}
