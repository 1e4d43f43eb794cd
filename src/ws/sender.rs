//! Sends on an open connection.

use super::SendError;
use super::close::CloseCode;
use super::mask::{Masked, Unmasked};
use super::message::Kind;
use super::output::Output;
#[cfg(feature = "mcp")]
use crate::outbox::{NotSent, Outbox, To};
#[cfg(feature = "mcp")]
use alloc::vec::Vec;

/// Says whether this part of a message is its last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(clippy::exhaustive_enums, reason = "a frame has one bit for it")]
pub enum Part {
    /// More follows.
    More,
    /// This part ends the message.
    Last,
}

/// Sends on a connection, even while you borrow one of its events.
///
/// `poll_borrowed` returns it beside the event: the two borrow different fields.
#[derive(Debug)]
pub struct Sender<'a>(pub(super) Half<'a>);

/// The send half of either role.
#[derive(Debug)]
pub(super) enum Half<'a> {
    Server(&'a mut Output<Unmasked>),
    Client(&'a mut Output<Masked>),
}

/// Calls a method of the send half of either role.
macro_rules! half {
    ($matched:expr, $half:ident => $act:expr) => {
        match $matched {
            Half::Server($half) => $act,
            Half::Client($half) => $act,
        }
    };
}

impl Sender<'_> {
    /// Sends a text message.
    ///
    /// # Errors
    /// [`SendError`] if the connection is not open, the send buffer is at or above the high-water mark,
    /// or a fragmented message is in progress; then nothing has changed. [`SendError::Entropy`] ends the
    /// connection.
    #[inline]
    pub fn text(&mut self, text: &str) -> Result<(), SendError> {
        half!(&mut self.0, half => half.send_whole(Kind::Text, text.as_bytes()))
    }

    /// Sends a binary message.
    ///
    /// # Errors
    /// [`SendError`] as for [`text`](Sender::text).
    #[inline]
    pub fn binary(&mut self, bytes: &[u8]) -> Result<(), SendError> {
        half!(&mut self.0, half => half.send_whole(Kind::Binary, bytes))
    }

    /// Sends a part of a text message, as one fragment (RFC 6455 section 5.4); [`Part::Last`] ends the message. Until
    /// then the connection cannot send other messages, not even through the `Outbox`, only pings.
    ///
    /// # Errors
    /// [`SendError`] as for [`text`](Sender::text), but [`SendError::Unfinished`] only if a binary message has begun.
    pub fn text_part(&mut self, text: &str, part: Part) -> Result<(), SendError> {
        half!(&mut self.0, half => half.send(Kind::Text, text.as_bytes(), part == Part::Last))
    }

    /// Sends a part of a binary message, as [`text_part`](Sender::text_part) does for text.
    ///
    /// # Errors
    ///
    /// [`SendError`] as for [`text`](Sender::text), but [`SendError::Unfinished`] only if a text message has begun.
    pub fn binary_part(&mut self, bytes: &[u8], part: Part) -> Result<(), SendError> {
        half!(&mut self.0, half => half.send(Kind::Binary, bytes, part == Part::Last))
    }

    /// Sends a ping with a payload of at most 125 bytes.
    ///
    /// # Errors
    /// [`SendError`] as for [`text`](Sender::text), but never [`SendError::Unfinished`]; and
    /// [`SendError::TooLong`] for a longer payload.
    pub fn ping(&mut self, payload: &[u8]) -> Result<(), SendError> {
        half!(&mut self.0, half => half.ping(payload))
    }

    /// Begins the close handshake. The close frame is the last one that this side sends. A reason above 123 bytes is
    /// truncated at a character boundary.
    ///
    /// # Errors
    /// [`SendError`] if the connection is not open.
    pub fn close(&mut self, code: CloseCode, reason: &str) -> Result<(), SendError> {
        half!(&mut self.0, half => half.close(code, reason))
    }
}

#[cfg(feature = "mcp")]
impl Outbox for Sender<'_> {
    fn message(&mut self, _: To<'_>, write: impl FnOnce(&mut Vec<u8>)) -> Result<(), NotSent> {
        // Only `write` depends on the type of the message, so only that part is compiled once for each type.
        let body = half!(&mut self.0, half => half.begin_message())?;
        write(half!(&mut self.0, half => half.tx.buffer()));
        half!(&mut self.0, half => half.end_message(body))
    }

    fn is_full(&self) -> bool {
        half!(&self.0, half => half.tx.is_full())
    }
}
