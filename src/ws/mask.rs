//! Where masking keys come from: nowhere for a server, from a source of randomness for a client.

use core::fmt;
use rand_core::TryCryptoRng;

/// Whether frames are masked. Servers never do, clients always (RFC 6455 section 5.1); nobody else implements it.
pub trait Masking: sealed::Sealed {
    /// Whether there are keys.
    #[doc(hidden)]
    const MASKS: bool;

    /// The key for the next frame.
    #[doc(hidden)]
    fn key(&mut self) -> Result<Option<[u8; 4]>, NoEntropy>;
}

/// The source of randomness failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoEntropy;

/// A server's frames are not masked.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unmasked;

impl Masking for Unmasked {
    const MASKS: bool = false;

    fn key(&mut self) -> Result<Option<[u8; 4]>, NoEntropy> {
        Ok(None)
    }
}

/// A client's frames are masked, each with a fresh key that nobody can predict (RFC 6455 section 5.3).
///
/// Keys are drawn 64 at a time, so that a source behind a system call is asked rarely.
pub struct Masked<R> {
    source: R,
    block: [u8; 256],
    used: usize,
}

impl<R: TryCryptoRng> Masked<R> {
    pub(crate) const fn new(source: R) -> Self {
        Self { source, block: [0; 256], used: 256 }
    }

    pub(crate) const fn source(&mut self) -> &mut R {
        &mut self.source
    }
}

impl<R: TryCryptoRng> Masking for Masked<R> {
    const MASKS: bool = true;

    fn key(&mut self) -> Result<Option<[u8; 4]>, NoEntropy> {
        loop {
            if let Some(key) = self.block.get(self.used..).and_then(<[u8]>::first_chunk::<4>) {
                self.used = self.used.saturating_add(4);
                return Ok(Some(*key));
            }
            self.source.try_fill_bytes(&mut self.block).map_err(|_| NoEntropy)?;
            self.used = 0;
        }
    }
}

impl<R> fmt::Debug for Masked<R> {
    /// Shows nothing: the keys are secret until they are used.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Masked").finish_non_exhaustive()
    }
}

mod sealed {
    #[allow(unnameable_types, reason = "that it cannot be named is what seals `Masking`")]
    pub trait Sealed {}
    impl Sealed for super::Unmasked {}
    impl<R: rand_core::TryCryptoRng> Sealed for super::Masked<R> {}
}
