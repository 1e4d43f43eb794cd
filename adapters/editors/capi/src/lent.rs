//! The strings that C may read until the next event.

use std::ptr;

/// A string for C, with a NUL after it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Text(Vec<u8>);

impl Text {
    pub(crate) fn new(text: &str) -> Self {
        let mut bytes = Vec::with_capacity(text.len().saturating_add(1));
        bytes.extend_from_slice(text.as_bytes());
        bytes.push(0);
        Self(bytes)
    }

    pub(crate) fn lend(&self) -> Lent {
        Lent { ptr: self.0.as_ptr(), len: self.0.len().saturating_sub(1) }
    }
}

/// The address and the length of bytes that a handle owns.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lent {
    pub(crate) ptr: *const u8,
    pub(crate) len: usize,
}

impl Lent {
    pub(crate) const NONE: Self = Self { ptr: ptr::null(), len: 0 };

    /// Lends bytes that are not a string; NULL if there are none.
    pub(crate) const fn bytes(bytes: &[u8]) -> Self {
        if bytes.is_empty() { Self::NONE } else { Self { ptr: bytes.as_ptr(), len: bytes.len() } }
    }
}

/// The strings that are lent until the next event.
#[derive(Debug, Default)]
pub(crate) struct Texts(Vec<(Key, Text)>);

/// What a lent string is.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Key {
    /// A member of the event.
    Member(String),
    /// The whole event.
    Event,
    LockFile,
}

impl Texts {
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    pub(crate) fn find(&self, is_it: impl Fn(&Key) -> bool) -> Option<Lent> {
        self.0.iter().find(|(key, _)| is_it(key)).map(|(_, text)| text.lend())
    }

    /// Lends a string. An equal one under the same key is lent again, so that repeated calls need no more
    /// memory.
    pub(crate) fn lend(&mut self, key: Key, text: &str) -> Lent {
        let entry = (key, Text::new(text));
        if let Some((_, text)) = self.0.iter().find(|lent| **lent == entry) {
            return text.lend();
        }
        let lent = entry.1.lend();
        self.0.push(entry);
        lent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_call_lends_the_same_string() {
        let mut texts = Texts::default();
        let first = texts.lend(Key::LockFile, "a");
        let _ = texts.lend(Key::Event, "a");
        // The folders have changed. The first string stays.
        let second = texts.lend(Key::LockFile, "b");
        for (text, lent) in [("a", first), ("b", second), ("a", first), ("b", second)] {
            let again = texts.lend(Key::LockFile, text);
            assert_eq!((again.ptr, again.len), (lent.ptr, lent.len));
        }
        assert_eq!(texts.0.len(), 3);
        texts.clear();
        assert!(texts.find(|_| true).is_none());
    }
}
