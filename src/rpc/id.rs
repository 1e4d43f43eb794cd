//! The id of a request. An answer echoes the spelling of the id; a comparison uses its meaning.
//!
//! An answer repeats the id byte for byte, because each peer looks its ids up in its own way: one that sent `7.0`,
//! `"\u0041"` or 9007199254740993 may not recognize another spelling. Ids are equal if they mean the same: integers are
//! compared by value and strings by decoded content, and a number never equals a string.

use alloc::{boxed::Box, vec::Vec};
use core::{cmp::Ordering, fmt, hash};

use serde::{Serialize, Serializer, ser};
use serde_json::value::RawValue;

use super::{SessionLimits, digest, write::write_json};

/// The id of a request, as MCP allows it: a string or an integer.
///
/// Equality, order and hash depend only on the meaning; [`write`](Id::write) writes the spelling.
#[derive(Clone)]
pub struct Id {
    key: Key,
    /// The token as it was read; `None` if the key alone gives the same bytes.
    spelling: Option<Box<str>>,
}

/// The meaning of an id. Every integer has exactly one form: `Int` if it fits, otherwise `Big`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Key {
    Int(i64),
    /// The integer `digits` (without zeros at either end) times ten to the power of `zeros`.
    Big {
        negative: bool,
        digits: Box<str>,
        zeros: i64,
    },
    Text(Box<str>),
}

impl Id {
    /// Reads the `id` member of an envelope. Returns `None` if it is neither a string nor an integer, or is longer than
    /// [`SessionLimits::id`].
    ///
    /// `7.0` and `1e2` are integers in another spelling; `1.5` is not an integer. A string with half a surrogate pair
    /// has no content to compare and is refused.
    #[must_use]
    pub fn read(token: &RawValue, limits: &SessionLimits) -> Option<Self> {
        let token = token.get();
        if let Some(inner) = token.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
            if inner.len() > limits.id {
                return None;
            }
            if !inner.contains('\\') {
                return Some(Self { key: Key::Text(inner.into()), spelling: None });
            }
            return Some(Self {
                key: Key::Text(serde_json::from_str(token).ok()?),
                spelling: Some(token.into()),
            });
        }
        if token.len() > limits.id {
            return None;
        }
        let key = integer(token)?;
        let plain = matches!(key, Key::Int(_)) && token != "-0" && !token.contains(['.', 'e', 'E']);
        Some(Self { key, spelling: (!plain).then(|| token.into()) })
    }

    /// Appends the id to `buf` as it was read.
    pub fn write(&self, buf: &mut Vec<u8>) {
        if let Some(token) = &self.spelling {
            return buf.extend_from_slice(token.as_bytes());
        }
        let written = write_json(buf, self);
        debug_assert!(written.is_ok(), "ids are always JSON");
    }

    /// Returns a digest: equal ids have equal digests, different ids almost never.
    pub(crate) fn digest(&self) -> u64 {
        match &self.key {
            Key::Int(value) => u64::from_ne_bytes(value.to_ne_bytes()),
            Key::Big { digits, .. } => digest(digits.bytes()),
            Key::Text(text) => digest(text.bytes()),
        }
    }

    /// Returns the number of our request that this id can mean. A string of digits without a leading zero counts as its
    /// number, because some peers turn all ids into strings, and ours are always numbers.
    pub(crate) fn own_serial(&self) -> Option<u64> {
        match &self.key {
            Key::Int(value) => u64::try_from(*value).ok(),
            Key::Big { .. } => None,
            Key::Text(text) => {
                let plain = text.bytes().all(|byte| byte.is_ascii_digit()) && !text.starts_with('0');
                if plain { text.parse().ok() } else { None }
            }
        }
    }
}

impl Serialize for Id {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match (&self.spelling, &self.key) {
            (Some(token), _) => match serde_json::from_str::<&RawValue>(token) {
                Ok(token) => token.serialize(serializer),
                Err(error) => Err(ser::Error::custom(error)),
            },
            (None, Key::Int(value)) => value.serialize(serializer),
            (None, Key::Text(text)) => text.serialize(serializer),
            // A `Big` key is always read from a token, and so has a spelling.
            (None, Key::Big { .. }) => serializer.serialize_unit(),
        }
    }
}

impl From<u32> for Id {
    fn from(value: u32) -> Self {
        Self { key: Key::Int(value.into()), spelling: None }
    }
}

impl PartialEq for Id {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl Eq for Id {}

impl PartialOrd for Id {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Id {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key.cmp(&other.key)
    }
}

impl hash::Hash for Id {
    fn hash<H: hash::Hasher>(&self, state: &mut H) {
        self.key.hash(state);
    }
}

impl fmt::Debug for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut token = Vec::new();
        self.write(&mut token);
        write!(f, "Id({})", alloc::string::String::from_utf8_lossy(&token))
    }
}

/// Returns the value of a JSON number that is an integer, in any spelling:
///
/// ```text
/// number = [ "-" ] digits [ "." digits ] [ ( "e" / "E" ) [ "+" / "-" ] digits ]      RFC 8259 §6
/// ```
fn integer(token: &str) -> Option<Key> {
    let (negative, rest) = match token.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, token),
    };
    if !rest.as_bytes().first().is_some_and(u8::is_ascii_digit) {
        return None;
    }
    if let Ok(value) = token.parse() {
        return Some(Key::Int(value));
    }
    let (mantissa, exponent) = rest.split_once(['e', 'E']).unwrap_or((rest, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));

    let mut all = alloc::string::String::with_capacity(mantissa.len());
    all.push_str(whole);
    all.push_str(fraction);
    let significant = all.trim_start_matches('0');
    let digits = significant.trim_end_matches('0');
    if digits.is_empty() {
        return Some(Key::Int(0));
    }
    let exponent: i64 = exponent.parse().ok()?;
    let cut = i64::try_from(significant.len().checked_sub(digits.len())?).ok()?;
    let zeros = exponent.checked_sub(i64::try_from(fraction.len()).ok()?)?.checked_add(cut)?;
    if zeros < 0 {
        return None;
    }
    Some(
        small(negative, digits, zeros)
            .map_or_else(|| Key::Big { negative, digits: digits.into(), zeros }, Key::Int),
    )
}

/// Returns the value of a JSON number that is an integer of at most 64 bits, in any spelling.
pub(super) fn whole(token: &str) -> Option<i64> {
    match integer(token)? {
        Key::Int(value) => Some(value),
        Key::Big { .. } | Key::Text(_) => None,
    }
}

/// Returns the value, if it fits in an `i64`.
fn small(negative: bool, digits: &str, zeros: i64) -> Option<i64> {
    let power = 10_i128.checked_pow(u32::try_from(zeros).ok()?)?;
    let magnitude = digits.parse::<i128>().ok()?.checked_mul(power)?;
    i64::try_from(if negative { magnitude.checked_neg()? } else { magnitude }).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::{format, string::String};

    fn read(token: &str) -> Option<Id> {
        Id::read(serde_json::from_str(token).unwrap(), &SessionLimits::default())
    }

    const VALID: &[&str] = &[
        "1",
        r#""1""#,
        "0",
        "-0",
        r#""""#,
        "-1",
        "9007199254740993",
        "9223372036854775807",
        "9223372036854775808",
        "-9223372036854775808",
        "18446744073709551616",
        "1234567890123456789012345678901234567890",
        "7.0",
        "7.000e0",
        "1e2",
        "1E+2",
        "1.5e1",
        "100e-2",
        "1e400",
        r#""é\u0041""#,
        r#""\ud83d\ude00""#,
    ];

    #[test]
    fn valid_ids_are_written_as_read() {
        for token in VALID {
            let mut out = Vec::new();
            read(token).unwrap_or_else(|| panic!("{token} is valid")).write(&mut out);
            assert_eq!(String::from_utf8(out).unwrap(), *token);
            assert_eq!(serde_json::to_string(&read(token).unwrap()).unwrap(), *token);
        }
    }

    #[test]
    fn other_values_are_no_ids() {
        for token in
            ["null", "true", "{}", "[]", "1.5", "-0.1", "1e-1", r#""\ud83d""#, "1e99999999999999999999"]
        {
            assert!(read(token).is_none(), "{token}");
        }
    }

    #[test]
    fn ids_are_compared_by_type_and_value() {
        const CASES: &[(&str, &str, bool)] = &[
            ("7", "7", true),
            ("7", r#""7""#, false),
            ("7", "7.0", true),
            ("7", "70e-1", true),
            ("100", "1e2", true),
            ("100", "1.00E2", true),
            ("0", "-0", true),
            ("0", "0e99999999999999999999", true),
            ("0", r#""""#, false),
            ("1", "-1", false),
            ("9007199254740993", "9007199254740992", false),
            ("18446744073709551616", "18446744073709551616.0", true),
            ("18446744073709551616", "18446744073709551617", false),
            ("18446744073709551616", "-18446744073709551616", false),
            ("1e20", "100000000000000000000", true),
            ("1e20", "1e21", false),
            ("9223372036854775807", "9223372036854775807.0", true),
            ("-9223372036854775808", "-9223372036854775808.0", true),
            (r#""A""#, r#""\u0041""#, true),
            (r#""A""#, r#""a""#, false),
        ];
        for (a, b, same) in CASES {
            let (a, b) = (read(a).unwrap(), read(b).unwrap());
            assert_eq!(a == b, *same, "{a:?} and {b:?}");
            assert_eq!(a.partial_cmp(&b), Some(a.cmp(&b)), "{a:?} and {b:?}");
            assert_eq!(hashed(&a) == hashed(&b), *same, "{a:?} and {b:?}");
        }
    }

    /// Returns the bytes that a hasher receives from the id.
    fn hashed(id: &Id) -> Vec<u8> {
        struct Recorded(Vec<u8>);

        impl hash::Hasher for Recorded {
            fn write(&mut self, bytes: &[u8]) {
                self.0.extend_from_slice(bytes);
            }

            fn finish(&self) -> u64 {
                0
            }
        }

        let mut recorded = Recorded(Vec::new());
        hash::Hash::hash(id, &mut recorded);
        recorded.0
    }

    #[test]
    fn an_id_is_shown_as_it_was_read() {
        assert_eq!(format!("{:?} {:?}", read("7.0").unwrap(), read(r#""x""#).unwrap()), r#"Id(7.0) Id("x")"#);
    }

    #[test]
    fn the_length_is_limited() {
        for (name, length, valid) in [("at the limit", 1024, true), ("beyond it", 1025, false)] {
            assert_eq!(read(&format!("\"{}\"", "x".repeat(length))).is_some(), valid, "string {name}");
            assert_eq!(read(&"1".repeat(length)).is_some(), valid, "number {name}");
        }
    }

    #[test]
    fn own_request_matches_number_or_digits() {
        let cases = [
            ("7", Some(7)),
            ("7.0", Some(7)),
            (r#""7""#, Some(7)),
            (r#""07""#, None),
            (r#""+7""#, None),
            (r#""""#, None),
            (r#""x""#, None),
            ("-7", None),
            ("1e30", None),
        ];
        for (token, serial) in cases {
            assert_eq!(read(token).unwrap().own_serial(), serial, "{token}");
        }
    }
}
