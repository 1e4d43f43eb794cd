//! Decodes a request in one pass: the parameters are decoded while the envelope around them is read.
//! [`classify`](super::classify) followed by a decoder needs three passes.
//!
//! It accepts only the usual form: the method comes before the parameters, as every observed sender writes it, and the
//! message has no fault. It leaves every other message to `classify`. So the two never disagree: a request found here
//! is the one that `classify` would have found, and only `classify` refuses.

use core::fmt;

use serde::{
    Deserializer,
    de::{DeserializeSeed, Error, IgnoredAny, MapAccess, Visitor},
};
use serde_json::value::RawValue;

use super::{Id, SessionLimits, depth, message::Member};

/// Returns the id and the decoded parameters, if `text` is a flawless request of this method. `None` does not mean that
/// the text is invalid: `classify` decides.
///
/// `params` decodes the parameters from the members of their object. It fails if they do not fit, or if it does not
/// read them in one pass: a member is out of order, or comes twice.
pub(crate) fn request<'t, P: Visitor<'t>>(
    text: &'t str,
    limits: &SessionLimits,
    method: &str,
    params: P,
) -> Option<(Id, P::Value)> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    // `classify` refuses a method that is too long.
    if method.len() > limits.method {
        return None;
    }
    // If the method is another one, the attempt ends at its name.
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let found = deserializer.deserialize_map(Envelope { limits, method, params }).ok()?;
    deserializer.end().ok()?;
    if depth::exceeds(text, limits.depth) { None } else { Some(found) }
}

struct Envelope<'l, P> {
    limits: &'l SessionLimits,
    method: &'l str,
    params: P,
}

impl<'t, P: Visitor<'t>> Visitor<'t> for Envelope<'_, P> {
    type Value = (Id, P::Value);

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a request")
    }

    fn visit_map<A: MapAccess<'t>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let (mut version, mut id, mut method, mut value) = (false, None, false, None);
        let mut decoder = Some(self.params);
        while let Some(member) = map.next_key()? {
            match member {
                Member::Jsonrpc if !version => {
                    version = map.next_value::<&RawValue>()?.get() == r#""2.0""#;
                    if !version {
                        return Err(use_slow_path());
                    }
                }
                Member::Id if id.is_none() => {
                    id = Some(Id::read(map.next_value()?, self.limits).ok_or_else(use_slow_path)?);
                }
                Member::Method if !method => {
                    method = map.next_value::<&str>()? == self.method;
                    if !method {
                        return Err(use_slow_path());
                    }
                }
                Member::Params if method => {
                    let decoder = decoder.take().ok_or_else(use_slow_path)?;
                    value = Some(map.next_value_seed(Seed(decoder))?);
                }
                Member::Other => {
                    map.next_value::<IgnoredAny>()?;
                }
                // The member is out of order, is present twice, or belongs to a response.
                Member::Jsonrpc
                | Member::Id
                | Member::Method
                | Member::Params
                | Member::Result
                | Member::Error => return Err(use_slow_path()),
            }
        }
        match (version, id, value) {
            (true, Some(id), Some(value)) => Ok((id, value)),
            _ => Err(use_slow_path()),
        }
    }
}

/// Returns the error that ends an attempt. Its message is never shown.
pub(crate) fn use_slow_path<E: Error>() -> E {
    E::custom("")
}

/// Returns true if the value of the member `name` in `text` is an object; false if it is not, or if we cannot tell. An
/// object can be decoded without being kept raw first, but a [`Deserializer`] does not report the kind of the next value,
/// so we look into the text. `name` must be a slice of it: the value begins after the name.
pub(crate) fn precedes_object(name: &str, text: &str) -> bool {
    let after = name.as_ptr().addr().wrapping_add(name.len()).checked_sub(text.as_ptr().addr());
    let Some(mut rest) = text.get(after.unwrap_or(usize::MAX)..) else { return false };
    // `trim_ascii_start` also skips form feeds. A text with a form feed between tokens is not JSON, so the result does
    // not matter.
    for wanted in ['"', ':', '{'] {
        let Some(after) = rest.trim_ascii_start().strip_prefix(wanted) else { return false };
        rest = after;
    }
    true
}

struct Seed<P>(P);

impl<'t, P: Visitor<'t>> DeserializeSeed<'t> for Seed<P> {
    type Value = P::Value;

    fn deserialize<D: Deserializer<'t>>(self, params: D) -> Result<P::Value, D::Error> {
        params.deserialize_map(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rpc::{Message, classify};
    use alloc::{format, string::String};

    /// A decoder of `{"n": number}`.
    struct Numbers;

    #[derive(Debug, PartialEq, serde::Deserialize)]
    struct Number {
        n: i64,
    }

    impl<'t> Visitor<'t> for Numbers {
        type Value = Number;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'t>>(self, params: A) -> Result<Number, A::Error> {
            serde::Deserialize::deserialize(serde::de::value::MapAccessDeserializer::new(params))
        }
    }

    fn found(text: &str) -> Option<(Id, Number)> {
        request(text, &SessionLimits::default(), "count", Numbers)
    }

    #[test]
    fn an_object_is_recognized_after_its_name() {
        const CASES: &[(&str, bool)] = &[
            (r#"{"a":{}}"#, true),
            ("{\"a\" \t:\r\n {}}", true),
            (r#"{"a":[]}"#, false),
            (r#"{"a":"{"}"#, false),
            (r#"{"a"#, false),
        ];
        for (text, want) in CASES {
            assert_eq!(precedes_object(text.get(2..3).unwrap(), text), *want, "{text}");
        }
        assert!(!precedes_object("a", r#"{"a":{}}"#), "the name is not a slice of the text");
    }

    #[test]
    fn single_pass_agrees_with_classification() {
        let members = [
            r#""jsonrpc":"2.0""#,
            r#""id":7"#,
            r#""method":"count""#,
            r#""params":{"n":1}"#,
            r#""params":{"n":1,"x":[]}"#,
            r#""params":{}"#,
            r#""params":null"#,
            r#""params":[1]"#,
            r#""method":"other""#,
            r#""method":"c\u006funt""#,
            r#""m\u0065thod":"count""#,
            r#""id":null"#,
            r#""jsonrpc":"1.0""#,
            r#""result":{}"#,
            r#""error":null"#,
            r#""count":{"n":2}"#,
            r#""x":"#,
        ];
        let mut hits = 0;
        arbtest::arbtest(|u| {
            let mut picked = members[..4].to_vec();
            for _ in 0..u.int_in_range(0..=4)? {
                picked.swap(u.choose_index(4)?, u.choose_index(4)?);
            }
            for _ in 0..u.int_in_range(0..=2)? {
                let (at, member) = (u.choose_index(4)?, *u.choose(&members)?);
                if u.arbitrary()? {
                    picked.insert(at, member);
                } else {
                    picked[at] = member;
                }
            }
            let text = format!(
                "{}{{{}}}{}",
                u.choose(&["", "\u{feff}"])?,
                picked.join(", "),
                u.choose(&["", " ", "x"])?
            );
            let Some((id, value)) = found(&text) else { return Ok(()) };
            hits += 1;
            let Message::Request { id: want, method, params } = classify(&text, &SessionLimits::default())
            else {
                unreachable!("{text}");
            };
            assert_eq!((id, &*method), (want, "count"), "{text}");
            assert_eq!(serde_json::from_str::<Number>(params.unwrap().get()).unwrap(), value, "{text}");
            Ok(())
        })
        .budget_ms(1_000);
        assert!(hits > 20, "{hits}");
    }

    #[test]
    fn single_pass_decodes_all_known_senders() {
        const CASES: &[(&str, &str, bool)] = &[
            ("TypeScript", r#"{"method":"count","params":{"n":1},"jsonrpc":"2.0","id":7}"#, true),
            ("Rust, Python", r#"{"jsonrpc":"2.0","id":7,"method":"count","params":{"n":1}}"#, true),
            (
                "with space",
                "{ \"jsonrpc\" : \"2.0\",\n\"id\":7,\"method\":\"count\",\"params\":{\"n\":1}}\n",
                true,
            ),
            ("parameters first", r#"{"params":{"n":1},"method":"count","jsonrpc":"2.0","id":7}"#, false),
            ("no id", r#"{"method":"count","params":{"n":1},"jsonrpc":"2.0"}"#, false),
            ("no version", r#"{"method":"count","params":{"n":1},"id":7}"#, false),
            (
                "parameters that do not fit",
                r#"{"method":"count","params":{"n":"x"},"jsonrpc":"2.0","id":7}"#,
                false,
            ),
            ("an id twice", r#"{"method":"count","params":{"n":1},"jsonrpc":"2.0","id":7,"id":7}"#, false),
            ("text after it", r#"{"method":"count","params":{"n":1},"jsonrpc":"2.0","id":7}{}"#, false),
        ];
        for (name, text, want) in CASES {
            assert_eq!(found(text).is_some(), *want, "{name}");
        }
        let text = CASES[0].1;
        for (method, want) in [(4, false), (5, true), (6, true)] {
            let limits = SessionLimits { method, ..SessionLimits::default() };
            assert_eq!(
                request(text, &limits, "count", Numbers).is_some(),
                want,
                "a method of at most {method} bytes"
            );
        }
        let deep = |levels: usize| {
            let x: String =
                core::iter::repeat_n('[', levels).chain(core::iter::repeat_n(']', levels)).collect();
            format!(r#"{{"method":"count","params":{{"n":1}},"jsonrpc":"2.0","id":7,"x":{x}}}"#)
        };
        assert!(found(&deep(127)).is_some() && found(&deep(128)).is_none());
    }
}
