//! A number that equal texts share and others hardly ever do.

/// FNV-1a, 64 bits: a digest for searching and comparing, nothing that must withstand anybody.
pub(crate) fn digest(bytes: impl Iterator<Item = u8>) -> u64 {
    bytes.fold(0xcbf2_9ce4_8422_2325, |digest, byte| {
        (digest ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
