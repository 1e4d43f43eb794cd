//! Where the masking keys of a client come from.

use alloc::boxed::Box;
use core::fmt;
use rand_core::TryCryptoRng;

/// The masking keys of a client: each is fresh, and nobody can predict it (RFC 6455 section 5.3).
///
/// Keys are drawn 64 at a time, so that a source behind a system call is asked rarely.
pub(crate) struct Keys {
    /// Fills a slice with random bytes. Returns false if the source failed.
    fill: Box<dyn FnMut(&mut [u8]) -> bool + Send>,
    block: [u8; 256],
    used: usize,
}

impl Keys {
    pub(crate) fn new(mut source: impl TryCryptoRng + Send + 'static) -> Self {
        Self { fill: Box::new(move |bytes| source.try_fill_bytes(bytes).is_ok()), block: [0; 256], used: 256 }
    }

    /// Returns a key; `None` if the source failed.
    pub(crate) fn next(&mut self) -> Option<[u8; 4]> {
        loop {
            if let Some(key) = self.block.get(self.used..).and_then(<[u8]>::first_chunk::<4>) {
                self.used = self.used.saturating_add(4);
                return Some(*key);
            }
            if !(self.fill)(&mut self.block) {
                return None;
            }
            self.used = 0;
        }
    }

    /// Returns random bytes that are no key; `None` if the source failed.
    pub(crate) fn nonce(&mut self) -> Option<[u8; 16]> {
        let mut nonce = [0; 16];
        (self.fill)(&mut nonce).then_some(nonce)
    }
}

impl fmt::Debug for Keys {
    /// Shows nothing: the keys are secret until they are used.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keys").finish_non_exhaustive()
    }
}
