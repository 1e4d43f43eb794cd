//! Counts the decoded messages, which are compared with the sent ones in the first pass.

use std::hint::black_box;

/// A count of messages. Counting costs every contestant the same.
#[derive(Default)]
pub struct Tally {
    messages: usize,
    expected: Option<&'static [String]>,
}

impl Tally {
    pub(crate) fn checking(expected: &'static [String]) -> Self {
        Self { messages: 0, expected: Some(expected) }
    }

    /// Takes one whole text.
    #[inline]
    pub fn take(&mut self, text: &str) {
        if let Some(expected) = self.expected {
            assert!(text == expected[self.messages % expected.len()], "message {} differs", self.messages);
        }
        black_box(text);
        self.messages += 1;
    }

    /// Takes one whole text that its decoder has validated, but returns as bytes.
    #[cfg(feature = "peers")]
    #[inline]
    pub fn take_bytes(&mut self, text: &[u8]) {
        if let Some(expected) = self.expected {
            let expected = &expected[self.messages % expected.len()];
            assert!(text == expected.as_bytes(), "message {} differs", self.messages);
        }
        black_box(text);
        self.messages += 1;
    }

    #[inline]
    pub fn messages(&self) -> usize {
        self.messages
    }
}
