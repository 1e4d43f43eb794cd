//! Checks UTF-8 that arrives in pieces: each byte once, as it arrives. The check fails at the first byte that cannot be
//! part of any text (RFC 6455 section 8.1).

use alloc::string::String;

/// The piece does not continue valid UTF-8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct InvalidUtf8;

/// Checks a whole text, with vectors if it is long enough for them to pay off.
#[inline]
pub(crate) fn check(bytes: &[u8]) -> Result<&str, InvalidUtf8> {
    #[cfg(feature = "simd")]
    if bytes.len() >= 64 {
        return simdutf8::basic::from_utf8(bytes).map_err(|_| InvalidUtf8);
    }
    core::str::from_utf8(bytes).map_err(|_| InvalidUtf8)
}

/// The incomplete character at the end of the last piece: at most three bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Carry {
    bytes: [u8; 4],
    len: u8,
}

impl Carry {
    /// Appends the characters that `piece` completes to `text`, and keeps the incomplete one at its end.
    pub(crate) fn push(&mut self, mut piece: &[u8], text: &mut String) -> Result<(), InvalidUtf8> {
        // A single ASCII byte comes this way, so that bytes that arrive one at a time stay cheap.
        if let ([byte @ 0..=0x7f], 0) = (piece, self.len) {
            text.push(char::from(*byte));
            return Ok(());
        }
        while self.len != 0 {
            let [first, rest @ ..] = piece else { return Ok(()) };
            self.keep(&[*first]);
            piece = rest;
            match core::str::from_utf8(self.held()) {
                Ok(character) => {
                    text.push_str(character);
                    self.len = 0;
                }
                Err(error) if error.error_len().is_none() => {}
                Err(_) => return Err(InvalidUtf8),
            }
        }
        let (whole, begun) = piece.split_at(piece.len().saturating_sub(begun_character(piece)));
        text.push_str(check(whole)?);
        self.keep(begun);
        // `e0 80` begins no character although `e0` does: the kept bytes must be the beginning of one.
        match core::str::from_utf8(self.held()) {
            Err(error) if error.error_len().is_some() => Err(InvalidUtf8),
            Ok(_) | Err(_) => Ok(()),
        }
    }

    /// Returns the number of kept bytes.
    pub(crate) const fn len(&self) -> usize {
        self.len as usize
    }

    /// Ends the text: fails if a character is incomplete.
    pub(crate) const fn finish(&mut self) -> Result<(), InvalidUtf8> {
        let open = self.len > 0;
        self.len = 0;
        if open { Err(InvalidUtf8) } else { Ok(()) }
    }

    fn held(&self) -> &[u8] {
        self.bytes.get(..usize::from(self.len)).unwrap_or_default()
    }

    fn keep(&mut self, bytes: &[u8]) {
        for byte in bytes {
            if let Some(slot) = self.bytes.get_mut(usize::from(self.len)) {
                *slot = *byte;
                self.len = self.len.saturating_add(1);
            }
        }
    }
}

/// Returns how many bytes at the end of `piece` belong to an incomplete character: at most three.
fn begun_character(piece: &[u8]) -> usize {
    for (after, byte) in piece.iter().rev().take(3).enumerate() {
        let needs = match byte {
            0x80..=0xbf => continue,
            0xc0..=0xdf => 2,
            0xe0..=0xef => 3,
            0xf0..=0xff => 4,
            _ => 1,
        };
        let has = after.saturating_add(1);
        return if needs > has { has } else { 0 };
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut_every(bytes: &[u8], cut: usize) -> Result<String, InvalidUtf8> {
        let (mut carry, mut text) = (Carry::default(), String::new());
        for piece in bytes.chunks(cut.max(1)) {
            carry.push(piece, &mut text)?;
        }
        carry.finish()?;
        Ok(text)
    }

    #[test]
    fn agrees_with_core_however_it_is_cut() {
        arbtest::arbtest(|u| {
            let mut bytes: alloc::vec::Vec<u8> =
                if u.arbitrary()? { u.arbitrary::<String>()?.into_bytes() } else { u.arbitrary()? };
            if u.ratio(1, 4)? {
                bytes.extend_from_slice(u.choose(&[&b"\xe2\x82"[..], b"\xf0\x9f\x92", b"\xed\xa0\x80"])?);
            }
            for cut in 1..=bytes.len().clamp(1, 9) {
                let expected = String::from_utf8(bytes.clone()).map_err(|_| InvalidUtf8);
                assert_eq!(cut_every(&bytes, cut), expected, "{bytes:x?} in pieces of {cut}");
            }
            Ok(())
        });
    }

    #[test]
    fn a_cut_character_waits_for_its_other_bytes() {
        for text in ["\u{e9}\u{20ac}\u{1d11e}a", "a\u{1d11e}\u{1d11e}", &"\u{20ac}".repeat(30)] {
            for cut in 0..=text.len() {
                let (mut carry, mut found) = (Carry::default(), String::new());
                carry.push(&text.as_bytes()[..cut], &mut found).unwrap();
                assert_eq!((found.len() + carry.len(), carry.len() > 0), (cut, !text.is_char_boundary(cut)));
                carry.push(&text.as_bytes()[cut..], &mut found).unwrap();
                assert_eq!((found.as_str(), carry.finish()), (text, Ok(())), "cut at {cut}");
            }
            assert_eq!(check(text.as_bytes()), Ok(text));
            assert_eq!(check(&text.as_bytes()[1..]).is_ok(), text.is_char_boundary(1));
        }
    }

    #[test]
    fn fails_at_the_first_invalid_byte() {
        for (name, bytes) in [
            ("no lead byte", &b"\x80"[..]),
            ("overlong, two bytes", b"\xc0"),
            ("overlong, three bytes", b"\xe0\x80"),
            ("surrogate", b"\xed\xa0"),
            ("overlong, four bytes", b"\xf0\x80"),
            ("above U+10FFFF", b"\xf4\x90"),
            ("a byte that UTF-8 never uses", b"\xf5"),
            ("broken continuation", b"\xe2\x82A"),
        ] {
            let (mut carry, mut text) = (Carry::default(), String::new());
            let whole = carry.push(bytes, &mut text);
            assert_eq!(whole, Err(InvalidUtf8), "{name}");
            let (mut carry, mut text) = (Carry::default(), String::new());
            let bytewise = bytes.iter().try_for_each(|byte| carry.push(&[*byte], &mut text));
            assert_eq!(bytewise, Err(InvalidUtf8), "{name}, a byte at a time");
        }
    }
}
