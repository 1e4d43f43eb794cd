//! A digest of bytes: equal bytes have equal digests, different bytes almost never do.

/// Returns the 64-bit FNV-1a digest of `bytes`, for searching and comparing. An attacker can find two inputs with the
/// same digest.
pub(crate) fn digest(bytes: impl Iterator<Item = u8>) -> u64 {
    bytes.fold(0xcbf2_9ce4_8422_2325, |digest, byte| {
        (digest ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
