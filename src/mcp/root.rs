//! Roots: the folders in which a client works (MCP 2025-11-25, roots).

use alloc::{string::String, vec::Vec};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::rpc::{read_object, text_of};

/// A folder in which a client works.
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

    /// Reads the result of `roots/list`. An entry without a readable URI is left out, and so is an
    /// entry after the first `most` entries. Returns `None` if `raw` has no list of roots.
    #[must_use]
    pub fn read_list(raw: &RawValue, most: usize) -> Option<Vec<Self>> {
        #[derive(Deserialize)]
        struct Members<'a> {
            #[serde(borrow)]
            roots: Vec<&'a RawValue>,
        }
        #[derive(Deserialize)]
        struct Entry<'a> {
            #[serde(borrow)]
            uri: &'a RawValue,
            #[serde(borrow)]
            name: Option<&'a RawValue>,
        }
        let read: Members<'_> = read_object(raw)?;
        let root = |entry: Entry<'_>| {
            let name = entry.name.and_then(text_of).map(String::from);
            Some(Self { uri: text_of(entry.uri)?.into(), name })
        };
        Some(read.roots.into_iter().take(most).filter_map(|raw| root(read_object(raw)?)).collect())
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
                "the first two",
                r#"{"roots":[{"uri":"file:///a"},{"name":"b","uri":"file:///b"},{"uri":"file:///c"}]}"#,
                Some(vec![a.clone(), b]),
            ),
            (
                "an entry that cannot be read, and a name that is no text",
                r#"{"roots":[{"uri":1},{"uri":"file:///a","name":2}]}"#,
                Some(vec![a]),
            ),
            ("no list", r#"{"roots":{}}"#, None),
            ("no object", "[]", None),
            ("no roots", "{}", None),
        ];
        for (name, text, want) in rows {
            let raw = RawValue::from_string(text.into()).unwrap();
            assert_eq!(Root::read_list(&raw, 2), want, "{name}");
        }
    }
}
