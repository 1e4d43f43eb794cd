//! Compares a stream with one token.

/// A token to search for, byte by byte.
#[derive(Debug)]
pub(super) struct Secret {
    bytes: Vec<u8>,
    /// The number of bytes that still match after a mismatch (Knuth, Morris and Pratt), for each
    /// number of matched bytes.
    fallback: Vec<usize>,
}

impl Secret {
    pub(super) fn new(bytes: &[u8]) -> Self {
        let mut secret = Self { bytes: bytes.to_vec(), fallback: vec![0; bytes.len()] };
        let mut matched = 0;
        for (at, byte) in bytes.iter().enumerate().skip(1) {
            matched = secret.step(matched, *byte);
            if let Some(fallback) = secret.fallback.get_mut(at) {
                *fallback = matched;
            }
        }
        secret
    }

    /// Returns the number of bytes of the token.
    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Returns the number of bytes that still match after the whole token: its end can be the beginning of another
    /// one.
    pub(super) fn after_whole(&self) -> usize {
        self.fallback.last().copied().unwrap_or_default()
    }

    /// Returns the number of matched bytes after one more byte.
    pub(super) fn step(&self, mut matched: usize, byte: u8) -> usize {
        loop {
            if self.bytes.get(matched) == Some(&byte) {
                return matched.saturating_add(1);
            }
            let Some(shorter) = matched.checked_sub(1) else { return 0 };
            matched = self.fallback.get(shorter).copied().unwrap_or_default();
        }
    }
}
