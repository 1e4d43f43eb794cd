//! Reads raw values: objects and strings. Structs with serde's derived `Deserialize` accept arrays as well as objects,
//! so the functions here check the kind.

use alloc::{borrow::Cow, string::String};
use core::fmt;

use serde::{
    Deserialize, Deserializer as _,
    de::{DeserializeOwned, MapAccess, Visitor},
};
use serde_json::value::RawValue;

use super::from_json;

pub(crate) fn is_object(raw: &RawValue) -> bool {
    raw.get().starts_with('{')
}

/// Reads an object. Returns `None` if `raw` is not an object, or does not fit `T`.
pub(crate) fn read_object<'a, T: Deserialize<'a>>(raw: &'a RawValue) -> Option<T> {
    if is_object(raw) { serde_json::from_str(raw.get()).ok() } else { None }
}

/// Reads an object as JavaScript writes it ([`from_json`]). Returns `None` if `raw` is not an object, or does not fit
/// `T`.
pub(crate) fn read_owned<T: DeserializeOwned>(raw: &RawValue) -> Option<T> {
    if is_object(raw) { from_json(raw.get()).ok() } else { None }
}

/// Returns the values of the members with these names. If a name is present twice, the last one counts, as in
/// JavaScript; null counts as absent. Returns `None` if `object` is not an object.
pub(crate) fn members<'a, const N: usize>(
    object: &'a RawValue,
    names: [&str; N],
) -> Option<[Option<&'a RawValue>; N]> {
    // The error that a failed read builds would cost more than this check.
    if !is_object(object) {
        return None;
    }
    let mut found = [None; N];
    each_member(object, |name, value| {
        let Some(name) = name_of(name) else { return };
        if let Some((_, slot)) = names.iter().zip(&mut found).find(|(wanted, _)| **wanted == name) {
            *slot = Some(value).filter(|value| value.get() != "null");
        }
    })?;
    Some(found)
}

/// Passes the name and value of each member to `see`, in order and as they are written, without storing any. Returns
/// `None` if `object` is not an object.
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

/// Returns the content of a JSON string, to show, write or return it; borrowed unless it has escapes. Half of a
/// surrogate pair becomes U+FFFD. Returns `None` if `raw` is not a string.
pub(crate) fn text_of(raw: &RawValue) -> Option<Cow<'_, str>> {
    content(raw, from_json)
}

/// Returns the content of a JSON string, to compare it with other names. Like [`text_of`], but `None` if it is not
/// Unicode: with U+FFFD in them, two different names could become equal.
pub(crate) fn name_of(raw: &RawValue) -> Option<Cow<'_, str>> {
    content(raw, |token| serde_json::from_str(token))
}

fn content(raw: &RawValue, undo: impl Fn(&str) -> serde_json::Result<String>) -> Option<Cow<'_, str>> {
    let token = raw.get();
    let inner = token.strip_prefix('"')?.strip_suffix('"')?;
    if inner.contains('\\') { undo(token).ok().map(Cow::Owned) } else { Some(Cow::Borrowed(inner)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

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
    fn string_is_returned_without_escapes() {
        // The content by `text_of`, and by `name_of`.
        const CASES: &[(&str, Option<&str>, Option<&str>)] = &[
            (r#""""#, Some(""), Some("")),
            (r#""é\u0041\"""#, Some("éA\""), Some("éA\"")),
            (r#""\ud83d\n""#, Some("\u{fffd}\n"), None),
            ("7", None, None),
            ("null", None, None),
        ];
        for (token, text, name) in CASES {
            let raw: &RawValue = serde_json::from_str(token).unwrap();
            assert_eq!(text_of(raw).as_deref(), *text, "{token}");
            assert_eq!(name_of(raw).as_deref(), *name, "{token}");
        }
    }

    #[test]
    fn last_member_with_a_name_counts() {
        let rows = [
            ("none", "{}", Some([None, None])),
            ("in any order", r#"{"b":2,"x":[],"a":1}"#, Some([Some("1"), Some("2")])),
            ("twice", r#"{"a":1,"b":2,"a":{}}"#, Some([Some("{}"), Some("2")])),
            ("null", r#"{"a":1,"b":null,"a":null}"#, Some([None, None])),
            ("an escape", r#"{"\u0061":1}"#, Some([Some("1"), None])),
            ("a name that is not Unicode", r#"{"\ud800":0,"a":1}"#, Some([Some("1"), None])),
            ("an array", "[]", None),
        ];
        for (name, object, want) in rows {
            let found = members(serde_json::from_str(object).unwrap(), ["a", "b"]);
            assert_eq!(found.map(|found| found.map(|value| value.map(RawValue::get))), want, "{name}");
        }
    }
}
