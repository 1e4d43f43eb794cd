//! An outbox that keeps what is said.

use alloc::{string::String, vec::Vec};

use crate::Outbox;

/// Keeps the messages of a session, for tests of [`mcp`](crate::mcp) without any framing.
#[derive(Debug, Default)]
#[allow(clippy::exhaustive_structs, reason = "its owner takes it apart")]
pub struct Messages {
    /// What was said, oldest first.
    pub sent: Vec<String>,
    /// Whether it claims that too much waits to be written.
    pub full: bool,
}

impl Messages {
    /// What was said since the last time.
    pub fn take(&mut self) -> Vec<String> {
        core::mem::take(&mut self.sent)
    }
}

impl Outbox for Messages {
    fn message(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        let mut text = Vec::new();
        write(&mut text);
        if !text.is_empty() {
            self.sent.push(String::from_utf8_lossy(&text).into_owned());
        }
    }

    fn is_full(&self) -> bool {
        self.full
    }
}
