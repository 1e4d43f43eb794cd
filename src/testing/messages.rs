//! An outbox that keeps its messages.

use alloc::{string::String, vec::Vec};

use crate::rpc::NotSent;
use crate::{Outbox, To};

/// Keeps the messages of a session, for tests of [`mcp`](crate::mcp) without any framing.
///
/// # Panics
///
/// [`message`](Outbox::message) panics if the message is not UTF-8. A session never writes such a message.
#[derive(Debug, Default)]
#[allow(clippy::exhaustive_structs, reason = "its owner takes it apart")]
pub struct Messages {
    /// The messages, oldest first.
    pub sent: Vec<String>,
    /// True if the outbox reports a full send buffer.
    pub full: bool,
    /// True if the outbox refuses every message.
    pub closed: bool,
}

impl Messages {
    /// Returns the messages since the last call, and removes them.
    pub fn take(&mut self) -> Vec<String> {
        core::mem::take(&mut self.sent)
    }
}

impl Outbox for Messages {
    #[allow(clippy::panic, reason = "a harness of tests reports a failure this way")]
    fn message(&mut self, _: To<'_>, write: impl FnOnce(&mut Vec<u8>)) -> Result<(), NotSent> {
        if self.closed {
            return Err(NotSent::Closed);
        }
        let mut text = Vec::new();
        write(&mut text);
        match String::from_utf8(text) {
            Ok(text) if text.is_empty() => {}
            Ok(text) => self.sent.push(text),
            Err(error) => panic!("a message is not UTF-8 ({error}): {}", error.as_bytes().escape_ascii()),
        }
        Ok(())
    }

    fn is_full(&self) -> bool {
        self.full
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_kept_as_sent() {
        let mut out = Messages::default();
        for text in ["é\u{fffd}", "", " "] {
            out.message(To::Unsolicited, |buf| buf.extend_from_slice(text.as_bytes())).unwrap();
        }
        assert_eq!(out.take(), ["é\u{fffd}", " "], "if nothing is written, there is no message");
        assert_eq!(out.take(), [""; 0]);
    }

    #[test]
    #[should_panic(expected = r"a\xff")]
    fn message_that_is_no_text_fails() {
        let _ = Messages::default().message(To::Unsolicited, |buf| buf.extend_from_slice(b"a\xff"));
    }
}
