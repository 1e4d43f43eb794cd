//! Roots: the folders that a client works in (MCP 2025-11-25, roots).

use alloc::{string::String, vec::Vec};
use core::fmt;

use serde::{
    Deserialize, Deserializer, Serialize,
    de::{SeqAccess, Visitor},
};
use serde_json::value::RawValue;

use crate::{
    rpc::{read_object, text_of},
    text::truncate,
};

/// A folder that a client works in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Root {
    /// The URI of the folder, such as `file:///home/u/project`.
    pub uri: String,
    /// A name of the folder, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

impl Root {
    /// Returns a root without a name.
    pub fn new(uri: impl Into<String>) -> Self {
        Self { uri: uri.into(), name: None }
    }

    /// Sets the name of the root.
    #[must_use]
    pub fn name(self, name: impl Into<String>) -> Self {
        Self { name: Some(name.into()), ..self }
    }

    /// Reads the result of `roots/list`: the first 64 roots. Entries whose URI is unreadable or longer than 4 KiB are
    /// left out, and names are truncated to 256 bytes. Returns `None` if `raw` has no array of roots.
    #[must_use]
    pub fn read_list(raw: &RawValue) -> Option<Vec<Self>> {
        #[derive(Deserialize)]
        struct Members {
            roots: Roots,
        }
        read_object(raw).map(|Members { roots: Roots(roots) }| roots)
    }

    fn read(raw: &RawValue) -> Option<Self> {
        #[derive(Deserialize)]
        struct Entry<'a> {
            #[serde(borrow)]
            uri: &'a RawValue,
            #[serde(borrow)]
            name: Option<&'a RawValue>,
        }
        let entry: Entry<'_> = read_object(raw)?;
        let uri = text_of(entry.uri).filter(|uri| uri.len() <= MAX_URI)?;
        let name = entry.name.and_then(text_of).map(|name| truncate(&name, MAX_NAME).into());
        Some(Self { uri: uri.into(), name })
    }
}

/// The maximum number of roots of a client, which has one for each directory that its user has added.
const MAX_ROOTS: usize = 64;

/// The maximum length of the URI of a root, in bytes: that of the longest path of common systems.
const MAX_URI: usize = 4096;

/// The maximum length of the name of a root, in bytes: more than fits on a line of a screen.
const MAX_NAME: usize = 256;

/// The first roots of a list. The others are not stored.
struct Roots(Vec<Root>);

impl<'de> Deserialize<'de> for Roots {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct List;

        impl<'de> Visitor<'de> for List {
            type Value = Roots;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of roots")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Roots, A::Error> {
                let (mut roots, mut count) = (Vec::new(), 0_usize);
                while let Some(entry) = list.next_element::<&RawValue>()? {
                    count = count.saturating_add(1);
                    if count <= MAX_ROOTS {
                        roots.extend(Root::read(entry));
                    }
                }
                Ok(Roots(roots))
            }
        }

        deserializer.deserialize_seq(List)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn list_keeps_the_readable_roots() {
        let (a, b) = (Root::new("file:///a"), Root::new("file:///b").name("b"));
        let rows = [
            ("one", r#"{"roots":[{"uri":"file:///a"}]}"#, Some(vec![a.clone()])),
            ("none", r#"{"roots":[]}"#, Some(vec![])),
            (
                "two, with a name",
                r#"{"roots":[{"uri":"file:///a"},{"name":"b","uri":"file:///b"}]}"#,
                Some(vec![a.clone(), b]),
            ),
            (
                "an entry that cannot be read, and a name that is not a string",
                r#"{"roots":[1,{"uri":1},{"uri":"file:///a","name":2}]}"#,
                Some(vec![a]),
            ),
            ("roots that are not an array", r#"{"roots":{}}"#, None),
            ("not an object", "[]", None),
            ("no roots", "{}", None),
        ];
        for (name, text, want) in rows {
            let raw = RawValue::from_string(text.into()).unwrap();
            assert_eq!(Root::read_list(&raw), want, "{name}");
        }
    }

    #[test]
    fn list_is_limited_in_number_and_size() {
        let read = |count: usize, uri: usize, name: usize| {
            let root = Root::new("u".repeat(uri)).name("é".repeat(name));
            let list = serde_json::json!({ "roots": vec![root; count] });
            Root::read_list(&serde_json::value::to_raw_value(&list).unwrap()).unwrap()
        };
        assert_eq!((read(64, 1, 0).len(), read(65, 1, 0).len()), (64, 64));
        assert_eq!((read(1, 4096, 0).len(), read(1, 4097, 0).len()), (1, 0));
        let name = |bytes: usize| read(1, 1, bytes).remove(0).name.unwrap().len();
        assert_eq!((name(128), name(129)), (256, 256));
    }
}
