//! The token that proves that a client could read the lock file. It is an opaque string: editors use UUIDs, hexadecimal
//! and base64url. `Debug` never shows it, there is no `Display`, and the time of a comparison does not reveal where two
//! tokens differ.

use alloc::string::String;
use core::fmt;
use subtle::{Choice, ConstantTimeEq};

/// The secret in the lock file, which a client must send in its opening handshake (`X-Claude-Code-Ide-Authorization`).
///
/// ```
/// use ide_mcp::ide::discovery::AuthToken;
///
/// # fn random(bytes: &mut [u8]) -> Result<(), std::convert::Infallible> {
/// #     bytes.fill(7);
/// #     Ok(())
/// # }
/// let token = AuthToken::generate(random)?; // `getrandom::fill` in your program
/// assert!(token.matches(Some(token.as_bytes())));
/// assert!(!token.matches(None));
/// assert!(!format!("{token:?}").contains(token.as_str()));
/// # Ok::<(), std::convert::Infallible>(())
/// ```
///
/// A token has 1 to 1024 visible ASCII bytes, so that it fits into a header field. `==` takes the same time for all
/// tokens of the same length.
#[derive(Clone)]
pub struct AuthToken(String);

impl AuthToken {
    /// The maximum length of a token in bytes. The longest known tokens have 88; a request head may have 8 KiB in all.
    pub const MAX_LEN: usize = 1024;

    /// The minimum length of a token that you publish, in bytes: 16 random bytes cannot be guessed. A shorter token of
    /// another editor is still accepted.
    pub const MIN_PUBLISHED_LEN: usize = 16;

    /// Draws 32 random bytes and writes them as 64 lower-case hexadecimal characters. `random` must fill a slice with
    /// unpredictable bytes, as `getrandom::fill` does.
    ///
    /// # Errors
    /// The error of `random`. There is no weaker fallback.
    pub fn generate<E>(random: impl FnOnce(&mut [u8]) -> Result<(), E>) -> Result<Self, E> {
        let mut bytes = [0_u8; 32];
        random(&mut bytes)?;
        let halves = bytes.iter().flat_map(|byte| [byte >> 4, byte & 0x0f]);
        Ok(Self(halves.filter_map(|half| char::from_digit(u32::from(half), 16)).collect()))
    }

    /// Creates a token from a string, such as a setting or a member of a lock file.
    ///
    /// # Errors
    /// [`InvalidToken`] if the string is empty, longer than [`MAX_LEN`](Self::MAX_LEN), or contains a byte that is not
    /// visible ASCII (`0x21` to `0x7e`).
    pub fn from_text(text: impl Into<String>) -> Result<Self, InvalidToken> {
        let text = text.into();
        if text.is_empty() {
            return Err(InvalidToken::Empty);
        }
        if text.len() > Self::MAX_LEN {
            return Err(InvalidToken::TooLong { len: text.len() });
        }
        match text.bytes().position(|byte| !byte.is_ascii_graphic()) {
            Some(at) => Err(InvalidToken::NotVisibleAscii { at }),
            None => Ok(Self(text)),
        }
    }

    /// Returns the secret, for a lock file or a header field.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the bytes of the secret.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }

    /// Returns true if `offered`, the value of the header field, is this token. `None` means that the field is missing.
    ///
    /// The work depends only on the length of this token: a missing value, or one of another length, takes as many
    /// comparisons as the right one.
    #[must_use]
    pub fn matches(&self, offered: Option<&[u8]>) -> bool {
        self.matches_by(offered, |own, theirs| own.ct_eq(&theirs))
    }

    /// Compares like [`matches`](Self::matches), with `compare` for each pair of bytes, so that a test can count.
    fn matches_by(&self, offered: Option<&[u8]>, mut compare: impl FnMut(u8, u8) -> Choice) -> bool {
        let own = self.as_bytes();
        // Without a value of the right length, the token is compared with itself, and the result is false from the
        // start.
        let (theirs, comparable) = match offered {
            Some(bytes) if bytes.len() == own.len() => (bytes, 1),
            _ => (own, 0),
        };
        let mut equal = Choice::from(comparable);
        for (own, theirs) in own.iter().zip(theirs) {
            equal &= compare(*own, *theirs);
        }
        equal.into()
    }
}

impl PartialEq for AuthToken {
    fn eq(&self, other: &Self) -> bool {
        self.matches(Some(other.as_bytes()))
    }
}

impl Eq for AuthToken {}

impl fmt::Debug for AuthToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AuthToken(***)")
    }
}

/// Why a string is not a token. The error contains the position of a byte, never a byte of the string.
///
/// [Causes and reactions](crate::guide::errors#lock-files-tokens-paths).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InvalidToken {
    /// The string is empty, which anybody could guess.
    Empty,
    /// The string has more than [`AuthToken::MAX_LEN`] bytes.
    TooLong {
        /// The length of the string in bytes.
        len: usize,
    },
    /// A byte cannot be sent unchanged in a header field.
    NotVisibleAscii {
        /// The offset of the first such byte.
        at: usize,
    },
}

impl fmt::Display for InvalidToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("the token is empty: generate one"),
            Self::TooLong { len } => {
                write!(
                    f,
                    "the token has {len} bytes, more than the limit of {}: take a shorter one",
                    AuthToken::MAX_LEN
                )
            }
            Self::NotVisibleAscii { at } => {
                write!(f, "the token has a byte at offset {at} that is not visible ASCII: take hexadecimal")
            }
        }
    }
}

impl core::error::Error for InvalidToken {}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::{format, string::ToString, vec, vec::Vec};

    #[test]
    fn generated_token_is_its_bytes_in_hexadecimal() {
        let mut next = 0_u8;
        let mut counting = |bytes: &mut [u8]| {
            for byte in bytes {
                *byte = next;
                next = next.wrapping_add(7);
            }
            Ok::<(), ()>(())
        };
        let first = AuthToken::generate(&mut counting).unwrap();
        assert_eq!(first.as_str(), "00070e151c232a31383f464d545b626970777e858c939aa1a8afb6bdc4cbd2d9");
        assert_ne!(first, AuthToken::generate(&mut counting).unwrap(), "the second takes the next bytes");
    }

    #[test]
    fn l10_failing_random_source_is_an_error() {
        assert_eq!(AuthToken::generate(|_| Err("broken")).err(), Some("broken"));
    }

    #[test]
    fn token_has_to_fit_a_header() {
        let most = "x".repeat(AuthToken::MAX_LEN);
        let more = "x".repeat(AuthToken::MAX_LEN + 1);
        let cases: &[(&str, &str, Result<(), InvalidToken>)] = &[
            ("empty", "", Err(InvalidToken::Empty)),
            ("one byte", "x", Ok(())),
            ("uuid", "550e8400-e29b-41d4-a716-446655440000", Ok(())),
            ("first and last visible byte", "!~", Ok(())),
            ("the longest", &most, Ok(())),
            ("one more", &more, Err(InvalidToken::TooLong { len: 1025 })),
            ("space", "a b", Err(InvalidToken::NotVisibleAscii { at: 1 })),
            ("line feed", "ab\n", Err(InvalidToken::NotVisibleAscii { at: 2 })),
            ("delete", "\u{7f}", Err(InvalidToken::NotVisibleAscii { at: 0 })),
            ("not ASCII", "aé", Err(InvalidToken::NotVisibleAscii { at: 1 })),
        ];
        for (name, text, expected) in cases {
            assert_eq!(AuthToken::from_text(*text).map(|_| ()), *expected, "{name}");
        }
    }

    #[test]
    fn h08_every_value_takes_the_same_comparisons() {
        let token = AuthToken::from_text("0123456789abcdef").unwrap();
        let cases: &[(&str, Option<&[u8]>, bool)] = &[
            ("missing", None, false),
            ("empty", Some(b""), false),
            ("short", Some(b"0123456789abcde"), false),
            ("long", Some(b"0123456789abcdef0"), false),
            ("wrong at the first byte", Some(b"x123456789abcdef"), false),
            ("wrong at the last byte", Some(b"0123456789abcdex"), false),
            ("wrong everywhere", Some(b"xxxxxxxxxxxxxxxx"), false),
            ("right", Some(b"0123456789abcdef"), true),
        ];
        for (name, offered, expected) in cases {
            let mut compares = 0;
            let counted = token.matches_by(*offered, |own, theirs| {
                compares += 1;
                own.ct_eq(&theirs)
            });
            assert_eq!(compares, 16, "{name}");
            assert_eq!(counted, *expected, "{name}");
            assert_eq!(token.matches(*offered), *expected, "{name}");
        }
    }

    #[test]
    fn a_difference_in_any_bit_is_seen() {
        let token = AuthToken::from_text("0123456789abcdef").unwrap();
        let positions: Vec<(usize, u8)> = (0..16).flat_map(|at| (0..8).map(move |bit| (at, bit))).collect();
        for (at, bit) in positions {
            let mut offered = vec![];
            offered.extend_from_slice(token.as_bytes());
            offered[at] ^= 1 << bit;
            assert!(!token.matches(Some(&offered)), "byte {at} bit {bit}");
        }
    }

    #[test]
    fn l10_debug_and_errors_hide_the_token() {
        let token = AuthToken::from_text("QZ").unwrap();
        assert_eq!(format!("{token:?}{token:#?}"), "AuthToken(***)AuthToken(***)");
        let error = AuthToken::from_text("QZ QZ").unwrap_err();
        assert!(!format!("{error:?}").contains('Q') && !error.to_string().contains('Q'), "{error:?}");
    }

    #[test]
    fn refusals_say_what_to_do() {
        let texts = [
            ("", "the token is empty: generate one"),
            (&*"x".repeat(1025), "the token has 1025 bytes, more than the limit of 1024: take a shorter one"),
            ("a b", "the token has a byte at offset 1 that is not visible ASCII: take hexadecimal"),
        ];
        for (token, text) in texts {
            assert_eq!(AuthToken::from_text(token).unwrap_err().to_string(), text);
        }
    }
}
