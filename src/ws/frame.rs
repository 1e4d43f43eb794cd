//! Frame headers and masking of RFC 6455 (sections 5.2 and 5.3). Fragments (5.4), UTF-8 and the close handshake are up
//! to the caller.
//!
//! A header is refused as soon as an invalid field is complete, and no claimed length causes an allocation.
//!
//! ```
//! use ide_mcp::ws::frame::{self, Header, Opcode};
//!
//! let mut bytes = *b"\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58";
//! let (header, size) = Header::parse(&bytes, true)?.expect("it is complete");
//! assert_eq!((header.opcode, header.len, size), (Opcode::Text, 5, 6));
//! frame::mask(header.key.unwrap_or_default(), 0, &mut bytes[size..]);
//! assert_eq!(&bytes[size..], b"Hello");
//! assert_eq!(header.encode().bytes(), &bytes[..size]);
//! # Ok::<(), ide_mcp::ws::ProtocolError>(())
//! ```

use super::ProtocolError;

/// The type of a frame (RFC 6455 section 5.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "the other ten values are reserved and refused")]
pub enum Opcode {
    /// A continuation of the message in progress.
    Continuation = 0x0,
    /// The beginning of a text message.
    Text = 0x1,
    /// The beginning of a binary message.
    Binary = 0x2,
    /// A close frame.
    Close = 0x8,
    /// A ping.
    Ping = 0x9,
    /// A pong.
    Pong = 0xa,
}

impl Opcode {
    /// Returns true for a close, ping or pong frame, which has at most 125 bytes and is never
    /// fragmented.
    #[must_use]
    pub const fn is_control(self) -> bool {
        matches!(self, Self::Close | Self::Ping | Self::Pong)
    }
}

/// A frame header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "the fields of RFC 6455 without extensions")]
pub struct Header {
    /// True if the frame ends its message.
    pub fin: bool,
    /// The type of the frame.
    pub opcode: Opcode,
    /// Length of the payload in bytes; below 2^63 in a header that was read.
    pub len: u64,
    /// The masking key: clients mask their frames, servers do not.
    pub key: Option<[u8; 4]>,
}

impl Header {
    /// Reads a header and returns it with its length in bytes, or `None` if you need more bytes. Pass `masked` if the
    /// peer must mask its frames, as clients must.
    ///
    /// # Errors
    /// [`ProtocolError`] as soon as the bytes break a rule.
    pub fn parse(bytes: &[u8], masked: bool) -> Result<Option<(Self, usize)>, ProtocolError> {
        let Some(Prefix { fin, opcode, len, size }) = prefix(bytes, masked)? else { return Ok(None) };
        if !masked {
            return Ok(Some((Self { fin, opcode, len, key: None }, size)));
        }
        let key = bytes.get(size..).and_then(<[u8]>::first_chunk::<4>).copied();
        Ok(key.map(|key| (Self { fin, opcode, len, key: Some(key) }, size.saturating_add(4))))
    }

    /// Writes the header, with the length in the shortest form.
    #[must_use]
    pub fn encode(&self) -> Encoded {
        let mut out = Encoded { bytes: [0; MAX_HEADER], size: 0 };
        let mask_bit = if self.key.is_some() { 0x80 } else { 0 };
        out.push(&[if self.fin { 0x80 } else { 0 } | self.opcode as u8]);
        if let Ok(short @ ..126) = u8::try_from(self.len) {
            out.push(&[mask_bit | short]);
        } else if let Ok(medium) = u16::try_from(self.len) {
            out.push(&[mask_bit | 126]);
            out.push(&medium.to_be_bytes());
        } else {
            out.push(&[mask_bit | 127]);
            out.push(&self.len.to_be_bytes());
        }
        if let Some(key) = self.key {
            out.push(&key);
        }
        out
    }
}

/// A frame header without its masking key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Prefix {
    pub(crate) fin: bool,
    pub(crate) opcode: Opcode,
    /// Length of the payload in bytes.
    pub(crate) len: u64,
    /// Length of the header without the masking key, in bytes: 2, 4 or 10.
    pub(crate) size: usize,
}

/// Reads the first byte: FIN, RSV1–3, opcode.
pub(crate) const fn opening(first: u8) -> Result<(bool, Opcode), ProtocolError> {
    if first & 0x70 != 0 {
        return Err(ProtocolError::ReservedBit);
    }
    let fin = first & 0x80 != 0;
    let opcode = match first & 0x0f {
        0x0 => Opcode::Continuation,
        0x1 => Opcode::Text,
        0x2 => Opcode::Binary,
        0x8 => Opcode::Close,
        0x9 => Opcode::Ping,
        0xa => Opcode::Pong,
        _ => return Err(ProtocolError::ReservedOpcode),
    };
    if opcode.is_control() && !fin {
        return Err(ProtocolError::FragmentedControlFrame);
    }
    Ok((fin, opcode))
}

/// Reads a header up to its masking key; returns `None` if more bytes are needed. `masked`: whether the peer must mask
/// its frames, or must not.
pub(crate) fn prefix(bytes: &[u8], masked: bool) -> Result<Option<Prefix>, ProtocolError> {
    let [first, rest @ ..] = bytes else { return Ok(None) };
    let (fin, opcode) = opening(*first)?;
    let [second, rest @ ..] = rest else { return Ok(None) };
    match (second & 0x80 != 0, masked) {
        (false, true) => return Err(ProtocolError::Unmasked),
        (true, false) => return Err(ProtocolError::Masked),
        (true, true) | (false, false) => {}
    }
    let short = second & 0x7f;
    if opcode.is_control() && short > 125 {
        return Err(ProtocolError::LongControlFrame);
    }
    let (len, size) = match short {
        126 => {
            let Some(bytes) = rest.first_chunk::<2>() else { return Ok(None) };
            (u64::from(u16::from_be_bytes(*bytes)), 4)
        }
        127 => {
            let Some(bytes) = rest.first_chunk::<8>() else { return Ok(None) };
            (u64::from_be_bytes(*bytes), 10)
        }
        short => (u64::from(short), 2),
    };
    if len > i64::MAX.unsigned_abs() {
        return Err(ProtocolError::LengthOutOfRange);
    }
    if size == 4 && len < 126 || size == 10 && len <= u64::from(u16::MAX) {
        return Err(ProtocolError::LengthNotMinimal);
    }
    Ok(Some(Prefix { fin, opcode, len, size }))
}

/// The longest header: 2 bytes, 8 of length, 4 of masking key.
pub(super) const MAX_HEADER: usize = 14;

/// The bytes of a header, ready to be sent.
#[derive(Clone, Copy, Debug)]
pub struct Encoded {
    bytes: [u8; MAX_HEADER],
    size: usize,
}

impl Encoded {
    /// Returns the bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.size).unwrap_or_default()
    }

    fn push(&mut self, bytes: &[u8]) {
        let end = self.size.saturating_add(bytes.len());
        if let Some(room) = self.bytes.get_mut(self.size..end) {
            room.copy_from_slice(bytes);
            self.size = end;
        }
    }
}

/// Returns the byte of the key for the byte of the payload at `offset`.
#[inline]
pub(crate) fn key_byte(key: [u8; 4], offset: usize) -> u8 {
    rotated(key, offset).to_le_bytes()[0]
}

#[inline]
fn rotated(key: [u8; 4], offset: usize) -> u32 {
    // Rotate in a word: rotating an array of bytes compiles to a call.
    let turn = u32::try_from(offset % 4).unwrap_or(0).wrapping_mul(8);
    u32::from_le_bytes(key).rotate_right(turn)
}

/// Masks or unmasks `data`, which is the part of a payload that begins at `offset` (RFC 6455 section 5.3).
pub fn mask(key: [u8; 4], offset: usize, data: &mut [u8]) {
    // With the key rotated once, the loop runs in words at every offset, and the compiler vectorizes it.
    mask_whole(rotated(key, offset).to_le_bytes(), data);
}

/// Masks or unmasks `data`, whose first byte belongs to the first byte of the key.
#[inline]
pub(crate) fn mask_whole(key: [u8; 4], data: &mut [u8]) {
    let _ = unmask_whole(key, data);
}

/// Unmasks `data`, which is the part of a payload that begins at `offset`. Returns true if the result is ASCII.
pub(crate) fn unmask(key: [u8; 4], offset: usize, data: &mut [u8]) -> bool {
    unmask_whole(rotated(key, offset).to_le_bytes(), data)
}

#[cfg(not(feature = "simd"))]
use unmask_words as unmask_whole;

/// Unmasks `data`. If it is long enough to repay the choice, uses the widest vectors of the processor.
#[cfg(feature = "simd")]
#[inline]
fn unmask_whole(key: [u8; 4], data: &mut [u8]) -> bool {
    #[inline(never)]
    fn long(key: [u8; 4], data: &mut [u8]) -> bool {
        fearless_simd::dispatch!(fearless_simd::Level::new(), _ => unmask_words(key, data))
    }
    if data.len() < 512 { unmask_words(key, data) } else { long(key, data) }
}

/// Unmasks `data`, and returns true if the result is ASCII. If the caller ignores that, the compiler removes the check.
#[inline(always)]
fn unmask_words(key: [u8; 4], data: &mut [u8]) -> bool {
    let key = u32::from_le_bytes(key);
    let wide = u64::from(key) | u64::from(key) << 32;
    let mut seen = 0;
    let mut words = data.chunks_exact_mut(8);
    for word in &mut words {
        if let Ok(word) = <&mut [u8; 8]>::try_from(word) {
            let plain = u64::from_le_bytes(*word) ^ wide;
            seen |= plain;
            *word = plain.to_le_bytes();
        }
    }
    for (byte, key) in words.into_remainder().iter_mut().zip(wide.to_le_bytes()) {
        *byte ^= key;
        seen |= u64::from(*byte);
    }
    seen & u64::from_ne_bytes([0x80; 8]) == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    type Outcome = Result<Option<(Opcode, u64, usize)>, ProtocolError>;

    #[test]
    fn prefixes_from_a_client() {
        let cases: &[(&str, &[u8], Outcome)] = &[
            ("nothing", b"", Ok(None)),
            ("one byte of a text frame", b"\x81", Ok(None)),
            ("text of two bytes", b"\x81\x82", Ok(Some((Opcode::Text, 2, 2)))),
            ("16-bit length, first byte missing", b"\x81\xfe", Ok(None)),
            ("16-bit length, second byte missing", b"\x81\xfe\x00", Ok(None)),
            ("16-bit length 126", b"\x81\xfe\x00\x7e", Ok(Some((Opcode::Text, 126, 4)))),
            ("16-bit length 125", b"\x81\xfe\x00\x7d", Err(ProtocolError::LengthNotMinimal)),
            ("64-bit length 65536", b"\x82\xff\0\0\0\0\0\x01\0\0", Ok(Some((Opcode::Binary, 65536, 10)))),
            ("64-bit length 65535", b"\x82\xff\0\0\0\0\0\0\xff\xff", Err(ProtocolError::LengthNotMinimal)),
            ("64-bit length, one byte missing", b"\x82\xff\0\0\0\0\0\0\xff", Ok(None)),
            (
                "64-bit length 2^63-1",
                b"\x81\xff\x7f\xff\xff\xff\xff\xff\xff\xff",
                Ok(Some((Opcode::Text, 0x7fff_ffff_ffff_ffff, 10))),
            ),
            ("64-bit length 2^63", b"\x81\xff\x80\0\0\0\0\0\0\0", Err(ProtocolError::LengthOutOfRange)),
            ("RSV1", b"\xc1", Err(ProtocolError::ReservedBit)),
            ("RSV2", b"\xa1", Err(ProtocolError::ReservedBit)),
            ("RSV3", b"\x91", Err(ProtocolError::ReservedBit)),
            ("opcode 3", b"\x83", Err(ProtocolError::ReservedOpcode)),
            ("opcode 7", b"\x87", Err(ProtocolError::ReservedOpcode)),
            ("opcode 11", b"\x8b", Err(ProtocolError::ReservedOpcode)),
            ("opcode 15", b"\x8f", Err(ProtocolError::ReservedOpcode)),
            ("unmasked", b"\x81\x02", Err(ProtocolError::Unmasked)),
            ("the last fragment", b"\x80\x82", Ok(Some((Opcode::Continuation, 2, 2)))),
            ("pong", b"\x8a\x80", Ok(Some((Opcode::Pong, 0, 2)))),
            ("close of 125", b"\x88\xfd", Ok(Some((Opcode::Close, 125, 2)))),
            ("ping of 125", b"\x89\xfd", Ok(Some((Opcode::Ping, 125, 2)))),
            ("ping of 126", b"\x89\xfe", Err(ProtocolError::LongControlFrame)),
            ("close with a 64-bit length", b"\x88\xff", Err(ProtocolError::LongControlFrame)),
            ("fragmented ping", b"\x09", Err(ProtocolError::FragmentedControlFrame)),
        ];
        for (name, bytes, expected) in cases {
            let found = prefix(bytes, true).map(|found| found.map(|p| (p.opcode, p.len, p.size)));
            assert_eq!(found, *expected, "{name}");
        }
        assert_eq!(prefix(b"\x81\x82", false), Err(ProtocolError::Masked));
        assert!(prefix(b"\x01\x02", false).unwrap().is_some_and(|p| !p.fin));
    }

    #[test]
    fn headers_are_minimal_and_read_back() {
        for len in [0, 1, 125, 126, 127, 65_535, 65_536, 1 << 24] {
            for key in [None, Some([1, 2, 3, 4])] {
                for fin in [true, false] {
                    let header = Header { fin, opcode: Opcode::Binary, len, key };
                    let encoded = header.encode();
                    let bytes = encoded.bytes();
                    assert_eq!(Header::parse(bytes, key.is_some()), Ok(Some((header, bytes.len()))));
                    assert_eq!(Header::parse(&bytes[..bytes.len() - 1], key.is_some()), Ok(None));
                }
            }
        }
    }

    #[test]
    fn masking_agrees_at_every_offset_and_length() {
        let key = [0x12, 0x34, 0x56, 0x78];
        for offset in 0..9 {
            for len in 0..70_usize {
                let plain: Vec<u8> = (0..len).map(|i| u8::try_from(i * 7 % 251).unwrap()).collect();
                let mut masked = plain.clone();
                mask(key, offset, &mut masked);
                let expected: Vec<u8> =
                    plain.iter().enumerate().map(|(i, byte)| byte ^ key[(offset + i) % 4]).collect();
                assert_eq!(masked, expected, "offset {offset}, length {len}");
            }
            assert_eq!(key_byte(key, offset), key[offset % 4]);
        }
        assert_eq!(key_byte(key, usize::MAX), key[3]);
    }

    #[test]
    fn unmasking_finds_any_single_non_ascii_byte() {
        let key = [0x92, 0x34, 0xd6, 0x78];
        for len in [0_usize, 1, 7, 8, 9, 31, 511, 512, 513, 600] {
            for wrong in (0..len).map(Some).chain([None]) {
                let mut plain = alloc::vec![b'a'; len];
                if let Some(wrong) = wrong {
                    plain[wrong] = 0x80;
                }
                let mut data = plain.clone();
                mask(key, 3, &mut data);
                assert_eq!(unmask(key, 3, &mut data), wrong.is_none(), "{wrong:?} of {len}");
                assert_eq!(data, plain);
            }
        }
    }
}
