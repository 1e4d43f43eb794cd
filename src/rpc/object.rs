//! The reading of raw values: objects and strings. Structs with serde's derived `Deserialize`
//! accept arrays as well as objects, so the functions here check the kind.

use alloc::borrow::Cow;
use core::fmt;

use serde::{
    Deserialize, Deserializer as _,
    de::{MapAccess, Visitor},
};
use serde_json::value::RawValue;

pub(crate) fn is_object(raw: &RawValue) -> bool {
    raw.get().starts_with('{')
}

/// Reads an object. Returns `None` if `raw` is no object, or does not fit `T`.
pub(crate) fn read_object<'a, T: Deserialize<'a>>(raw: &'a RawValue) -> Option<T> {
    if is_object(raw) { serde_json::from_str(raw.get()).ok() } else { None }
}

/// Passes the name and the value of each member to `see`, one member after the other and as they
/// are written. Stores no members. Returns `None` if `object` is no object.
pub(crate) fn each_member<'a>(
    object: &'a RawValue,
    see: impl FnMut(&'a RawValue, &'a RawValue),
) -> Option<()> {
    struct Each<F>(F);

    impl<'de, F: FnMut(&'de RawValue, &'de RawValue)> Visitor<'de> for Each<F> {
        type Value = ();

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
            while let Some((name, value)) = map.next_entry()? {
                (self.0)(name, value);
            }
            Ok(())
        }
    }

    serde_json::Deserializer::from_str(object.get()).deserialize_map(Each(see)).ok()
}

/// Returns the content of a JSON string, borrowed unless an escape has to be undone. Returns `None`
/// if `raw` is no string, or is not Unicode.
pub(crate) fn text_of(raw: &RawValue) -> Option<Cow<'_, str>> {
    let token = raw.get();
    let inner = token.strip_prefix('"')?.strip_suffix('"')?;
    if inner.contains('\\') {
        serde_json::from_str(token).ok().map(Cow::Owned)
    } else {
        Some(Cow::Borrowed(inner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::{string::String, vec::Vec};

    #[test]
    fn members_are_shown_as_they_are_written() {
        const CASES: &[(&str, Option<&[(&str, &str)]>)] = &[
            ("{}", Some(&[])),
            (r#"{ "a" : 1 , "a":[ 2]}"#, Some(&[("\"a\"", "1"), ("\"a\"", "[ 2]")])),
            (r#"{"\u0061\ud83d":null}"#, Some(&[(r#""\u0061\ud83d""#, "null")])),
            ("[1]", None),
            ("null", None),
        ];
        for (text, want) in CASES {
            let mut seen = Vec::new();
            let raw: &RawValue = serde_json::from_str(text).unwrap();
            let all = each_member(raw, |name, value| seen.push((name.get(), value.get())));
            assert_eq!(all.map(|()| seen.as_slice()), *want, "{text}");
        }
    }

    #[test]
    fn text_is_undone_of_its_escapes() {
        const CASES: &[(&str, Option<&str>)] = &[
            (r#""""#, Some("")),
            (r#""é\u0041\"""#, Some("éA\"")),
            (r#""\ud83d""#, None),
            ("7", None),
            ("null", None),
        ];
        for (token, want) in CASES {
            let raw: &RawValue = serde_json::from_str(token).unwrap();
            assert_eq!(text_of(raw).map(String::from).as_deref(), *want, "{token}");
        }
    }
}
