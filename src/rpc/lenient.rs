//! Reads JSON as JavaScript writes it.
//!
//! serde_json refuses two things that `JSON.parse` reads: half of a surrogate pair, which `JSON.stringify` writes as an
//! escape, and a whole number with a decimal point or an exponent where Rust wants an integer. Hardly any message has
//! either, so a text is first read as it is.

use super::id::whole;
use alloc::{borrow::Cow, format, string::String};
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

/// Reads a value from JSON as JavaScript writes it: each half of a surrogate pair is U+FFFD, as in Node's UTF-8, and
/// `3.0` and `3e0` are 3.
///
/// ```
/// use ide_mcp::rpc::from_json;
/// assert_eq!(from_json::<(u32, String)>(r#"[3.0,"a\ud800b"]"#)?, (3, "a\u{fffd}b".into()));
/// # Ok::<(), serde_json::Error>(())
/// ```
///
/// # Errors
///
/// The error of `serde_json`, if `json` is not JSON or does not fit `T`.
pub fn from_json<T: DeserializeOwned>(json: &str) -> serde_json::Result<T> {
    leniently(json, |json| serde_json::from_str(json))
}

/// Reads a text as [`from_json`] does, with the caller's reader.
pub(crate) fn leniently<T>(
    json: &str,
    read: impl Fn(&str) -> serde_json::Result<T>,
) -> serde_json::Result<T> {
    read(json).or_else(|error| match normalized(json) {
        Cow::Owned(normal) => read(&normal),
        Cow::Borrowed(_) => Err(error),
    })
}

/// Returns the same JSON in a form that serde_json reads: each escape of half a surrogate pair becomes `\ufffd`, and
/// each whole number of at most 64 bits is written in plain digits. Borrowed if nothing changes.
#[must_use]
pub fn normalized(json: &str) -> Cow<'_, str> {
    let mut normal = Normal { json, written: String::new(), end: 0 };
    let mut at = 0_usize;
    while let Some(byte) = json.as_bytes().get(at) {
        at = match byte {
            b'"' => normal.text(at.saturating_add(1)),
            b'-' | b'0'..=b'9' => normal.number(at),
            _ => at.saturating_add(1),
        };
    }
    if normal.end == 0 {
        return Cow::Borrowed(json);
    }
    normal.written.push_str(json.get(normal.end..).unwrap_or_default());
    Cow::Owned(normal.written)
}

struct Normal<'a> {
    json: &'a str,
    /// The normal form of the first `end` bytes, if `end` is not 0.
    written: String,
    end: usize,
}

impl Normal<'_> {
    /// Reads a string from its first character. Returns where it ends.
    fn text(&mut self, mut at: usize) -> usize {
        loop {
            let rest = self.json.as_bytes().get(at..).unwrap_or_default();
            let Some(plain) = rest.iter().position(|byte| matches!(byte, b'"' | b'\\')) else {
                return self.json.len();
            };
            at = at.saturating_add(plain);
            if rest.get(plain) == Some(&b'"') {
                return at.saturating_add(1);
            }
            at = match self.escape(at) {
                Some(0xd800..=0xdbff) => {
                    let next = at.saturating_add(ESCAPE);
                    match self.escape(next) {
                        Some(0xdc00..=0xdfff) => next.saturating_add(ESCAPE),
                        _ => self.replace(at, next, REPLACEMENT),
                    }
                }
                Some(0xdc00..=0xdfff) => self.replace(at, at.saturating_add(ESCAPE), REPLACEMENT),
                _ => at.saturating_add(2),
            };
        }
    }

    /// Returns the code unit that is written here as `\uXXXX`.
    fn escape(&self, at: usize) -> Option<u16> {
        let digits = self.json.get(at..at.saturating_add(ESCAPE))?.strip_prefix("\\u")?;
        u16::from_str_radix(digits, 16).ok()
    }

    /// Reads a number from its first character. Returns where it ends.
    fn number(&mut self, at: usize) -> usize {
        let rest = self.json.get(at..).unwrap_or_default();
        let is_other = |byte: char| !matches!(byte, '-' | '+' | '.' | 'e' | 'E' | '0'..='9');
        let token = rest.split(is_other).next().unwrap_or_default();
        let end = at.saturating_add(token.len());
        if !token.contains(['.', 'e', 'E']) {
            return end;
        }
        // An invalid number must not become a valid one.
        match whole(token).filter(|_| serde_json::from_str::<&RawValue>(token).is_ok()) {
            Some(value) => self.replace(at, end, &format!("{value}")),
            None => end,
        }
    }

    /// Writes `normal` instead of these bytes. Returns where they end.
    fn replace(&mut self, at: usize, end: usize, normal: &str) -> usize {
        self.written.push_str(self.json.get(self.end..at).unwrap_or_default());
        self.written.push_str(normal);
        self.end = end;
        end
    }
}

const REPLACEMENT: &str = "\\ufffd";
/// The length of an escape, `\uXXXX`.
const ESCAPE: usize = REPLACEMENT.len();

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_surrogates_and_whole_numbers_become_readable() {
        // The text, and its normal form.
        let rows = [
            ("nothing to change", r#"{"a":[1,-2,1.5,"x\n\u0041é"]}"#, r#"{"a":[1,-2,1.5,"x\n\u0041é"]}"#),
            ("a high half", r#""x\ud800y""#, r#""x\ufffdy""#),
            ("a low half", r#""\uDFFF""#, r#""\ufffd""#),
            ("a pair in the wrong order", r#""\udc00\ud800""#, r#""\ufffd\ufffd""#),
            ("a high half before a pair", r#""\ud83d\ud83d\ude00""#, r#""\ufffd\ud83d\ude00""#),
            ("a pair with digits in capitals", r#""\uD83D\uDE00""#, r#""\uD83D\uDE00""#),
            ("in a member name", r#"{"\ud800":1}"#, r#"{"\ufffd":1}"#),
            ("an escaped backslash", r#""\\ud800""#, r#""\\ud800""#),
            ("an escaped quote", r#"["\"\ud800",1.0]"#, r#"["\"\ufffd",1]"#),
            ("a high half and half an escape", r#""\ud800\ud8""#, r#""\ufffd\ud8""#),
            ("a decimal point", "[3.0,-0.0,24.00]", "[3,0,24]"),
            ("an exponent", "[1e2,15.0E-1,2.5e1]", "[100,15.0E-1,25]"),
            ("at the end", "-7.0", "-7"),
            (
                "64 bits",
                "[9223372036854775807.0,-9223372036854775808.0]",
                "[9223372036854775807,-9223372036854775808]",
            ),
            ("beyond 64 bits", "9223372036854775808.0", "9223372036854775808.0"),
            ("a number in a string", r#""1.0""#, r#""1.0""#),
            ("invalid numbers", "[01.0,1.,1.0.0,--1.0,1.0e]", "[01.0,1.,1.0.0,--1.0,1.0e]"),
            ("a string without an end", r#""\ud800"#, r#""\ufffd"#),
            ("nothing", "", ""),
        ];
        for (name, json, normal) in rows {
            assert_eq!(normalized(json), normal, "{name}");
            assert_eq!(normalized(normal), normal, "{name}, again");
        }
    }

    #[test]
    fn normal_form_is_json_if_the_text_is() {
        let parts = [
            "\"", "\\", "\\u", "d800", "dc00", "\\ud83d", "\\ude00", "0", "1", ".", "e", "-", "+", "[", "]",
            ",", " ", "é", "😀", ":", "{", "}", "\"a\"", "1.0",
        ];
        arbtest::arbtest(|u| {
            let mut json = String::new();
            for _ in 0..u.int_in_range(0..=12)? {
                json.push_str(u.choose(&parts)?);
            }
            let is_json = |text: &str| serde_json::from_str::<&RawValue>(text).is_ok();
            let normal = normalized(&json);
            assert_eq!(is_json(&normal), is_json(&json), "{json} {normal}");
            if is_json(&json) {
                assert!(serde_json::from_str::<serde_json::Value>(&normal).is_ok(), "{json} {normal}");
            }
            Ok(())
        })
        .budget_ms(500);
    }

    #[test]
    fn values_are_read_as_javascript_writes_them() {
        assert_eq!(from_json::<u32>("3.0").ok(), Some(3));
        assert_eq!(from_json::<u32>("3.5").ok(), None);
        assert_eq!(from_json::<u32>("-3.0").ok(), None);
        assert_eq!(from_json::<i64>("-3.2601e4").ok(), Some(-32601));
        assert_eq!(from_json::<f64>("3.0").ok(), Some(3.0));
        assert_eq!(from_json::<String>(r#""\ud83d""#).ok().as_deref(), Some("\u{fffd}"));
        assert_eq!(from_json::<String>(r#""a"b"#).ok(), None);
    }
}
