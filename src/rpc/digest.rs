//! A digest of a text: equal texts have equal digests, different texts almost never.

/// Returns the 64-bit FNV-1a digest of `bytes`, for searching and comparing. It does not resist an attacker.
pub(crate) fn digest(bytes: impl Iterator<Item = u8>) -> u64 {
    bytes.fold(0xcbf2_9ce4_8422_2325, |digest, byte| {
        (digest ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
