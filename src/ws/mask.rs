//! Masking: none at a server, random keys at a client.

use super::output::Output;
use super::sender::{Half, Sender};
use alloc::boxed::Box;
use core::fmt;

/// How frames are masked: those of a server never, those of a client always (RFC 6455 section 5.1).
pub(crate) trait Masking: Sized {
    /// True if the frames are masked.
    const MASKS: bool;

    /// Returns the key for the next frame, or `None` if the frames are not masked.
    fn key(&mut self) -> Result<Option<[u8; 4]>, NoEntropy>;

    /// Lends the send half of a connection.
    fn lend(output: &mut Output<Self>) -> Sender<'_>;
}

/// The source of randomness has failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NoEntropy;

/// The masking of a server: none.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Unmasked;

impl Masking for Unmasked {
    const MASKS: bool = false;

    fn key(&mut self) -> Result<Option<[u8; 4]>, NoEntropy> {
        Ok(None)
    }

    #[inline]
    fn lend(output: &mut Output<Self>) -> Sender<'_> {
        Sender(Half::Server(output))
    }
}

/// The masking of a client: each frame has a fresh, unpredictable key (RFC 6455 section 5.3).
///
/// It draws 64 keys at a time, so that it seldom makes a system call.
pub(crate) struct Masked {
    /// Fills a slice with random bytes. Returns false if the source failed.
    fill: Box<dyn FnMut(&mut [u8]) -> bool + Send + Sync>,
    block: [u8; 256],
    used: usize,
}

impl Masked {
    pub(crate) fn new<E>(mut fill: impl FnMut(&mut [u8]) -> Result<(), E> + Send + Sync + 'static) -> Self {
        Self { fill: Box::new(move |bytes| fill(bytes).is_ok()), block: [0; 256], used: 256 }
    }

    /// Returns random bytes that are not part of any masking key, or `None` if the source failed.
    pub(crate) fn nonce(&mut self) -> Option<[u8; 16]> {
        let mut nonce = [0; 16];
        (self.fill)(&mut nonce).then_some(nonce)
    }
}

impl Masking for Masked {
    const MASKS: bool = true;

    #[inline]
    fn key(&mut self) -> Result<Option<[u8; 4]>, NoEntropy> {
        loop {
            if let Some(key) = self.block.get(self.used..).and_then(<[u8]>::first_chunk::<4>) {
                self.used = self.used.saturating_add(4);
                return Ok(Some(*key));
            }
            if !(self.fill)(&mut self.block) {
                return Err(NoEntropy);
            }
            self.used = 0;
        }
    }

    #[inline]
    fn lend(output: &mut Output<Self>) -> Sender<'_> {
        Sender(Half::Client(output))
    }
}

impl fmt::Debug for Masked {
    /// Shows nothing: the keys are secret until they are used.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Masked").finish_non_exhaustive()
    }
}
