//! Arguments as clients spell them: several names for one, nothing said as null or as an empty text, and more said than
//! is known.
//!
//! Two spellings of one argument in one call are fine where they agree; a file may be a path in one and a `file:` URI
//! in the other. Where they do not, nobody knows which file is meant, and the call is refused with -32602.

use crate::ide::Range;
use crate::ide::paths::unescaped;
use alloc::{borrow::Cow, format, string::String, vec::Vec};
use serde::{Deserialize, Serialize, de, ser::SerializeMap};

/// Defines a struct of arguments that is read tolerantly and written in the first of its spellings.
///
/// Each field names a function of [`kind`] that reads it, its spellings, and its description in the JSON Schema; a field
/// without a description is not in the schema. A struct without fields is a tool without arguments: any object is read.
macro_rules! arguments {
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident;
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[allow(clippy::exhaustive_structs, reason = "the tool has no arguments")]
        $vis struct $name;

        impl $crate::ide::tool::arguments::Described for $name {
            const ARGUMENTS: &'static [$crate::ide::tool::arguments::Argument] = &[];
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                serde::de::IgnoredAny::deserialize(deserializer).map(|_| Self)
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serde::ser::SerializeMap::end(serializer.serialize_map(Some(0))?)
            }
        }
    };
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident {
            $(
                $(#[$doc:meta])*
                $field_vis:vis $field:ident: $type:ty
                    = $kind:ident $(($default:expr))? [$first:literal $(, $more:literal)*]
                    $($description:literal)?
            ),* $(,)?
        }
    ) => {
        $(#[$meta])*
        $vis struct $name {
            $($(#[$doc])* $field_vis $field: $type,)*
        }

        impl $crate::ide::tool::arguments::Described for $name {
            const ARGUMENTS: &'static [$crate::ide::tool::arguments::Argument] = {
                use $crate::ide::tool::arguments::{first, schema};
                &[$(schema::$kind($first, first(&[$($description)?]) $(, $default)?),)*]
            };
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Members;
                impl<'de> serde::de::Visitor<'de> for Members {
                    type Value = $name;

                    fn expecting(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                        f.write_str("an object")
                    }

                    fn visit_map<A: serde::de::MapAccess<'de>>(
                        self,
                        mut members: A,
                    ) -> Result<$name, A::Error> {
                        use $crate::ide::tool::arguments::{Spelling, kind, merge};
                        $(let mut $field = None;)*
                        while let Some(member) = members.next_key::<Spelling<'de>>()? {
                            let spelled = &*member.0;
                            match spelled {
                                $($first $(| $more)* => {
                                    let said = members.next_value()?;
                                    merge(&mut $field, said, spelled, $first)?;
                                })*
                                _ => {
                                    members.next_value::<serde::de::IgnoredAny>()?;
                                }
                            }
                        }
                        Ok($name { $($field: kind::$kind($field, $first $(, $default)?)?,)* })
                    }
                }
                deserializer.deserialize_map(Members)
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let mut members = serializer.serialize_map(None)?;
                $($crate::ide::tool::arguments::write(&mut members, $first, &self.$field)?;)*
                serde::ser::SerializeMap::end(members)
            }
        }
    };
}

pub(crate) use arguments;

/// Arguments that have a JSON Schema.
pub(crate) trait Described {
    /// The arguments, in the order of the schema.
    const ARGUMENTS: &'static [Argument];
}

/// An argument as the schema shows it.
pub(crate) struct Argument {
    /// The name, as VS Code spells it.
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    /// True if the schema requires the argument.
    pub(crate) is_needed: bool,
    /// What the argument means; `None` for an argument that is read and is not in the schema.
    pub(crate) description: Option<&'static str>,
}

/// The type of an argument in the schema.
pub(crate) enum Kind {
    Text,
    Texts,
    Flag(bool),
    Count,
    Range,
}

impl Kind {
    /// Returns the members of the schema that give the type.
    pub(crate) const fn schema(&self) -> &'static str {
        match self {
            Self::Text => r#""type":"string""#,
            Self::Texts => r#""type":"array","items":{"type":"string"}"#,
            Self::Flag(false) => r#""type":"boolean","default":false"#,
            Self::Flag(true) => r#""type":"boolean","default":true"#,
            Self::Count => r#""type":"integer","minimum":0"#,
            Self::Range => {
                r#""type":"object","properties":{"start":{"type":"object","properties":{"line":{"type":"integer","minimum":0},"character":{"type":"integer","minimum":0}},"required":["line","character"]},"end":{"type":"object","properties":{"line":{"type":"integer","minimum":0},"character":{"type":"integer","minimum":0}},"required":["line","character"]}},"required":["start","end"]"#
            }
        }
    }
}

/// Returns the only element, if there is one.
pub(crate) const fn first(texts: &[&'static str]) -> Option<&'static str> {
    match texts {
        [text, ..] => Some(text),
        [] => None,
    }
}

/// What the schema says of an argument, by the function of [`kind`] that reads it.
pub(crate) mod schema {
    use super::{Argument, Kind};

    pub(crate) use self::{needed as contents, needed as expected};

    type Text = &'static str;

    pub(crate) const fn needed(name: Text, description: Option<Text>) -> Argument {
        Argument { name, kind: Kind::Text, is_needed: true, description }
    }

    pub(crate) const fn optional(name: Text, description: Option<Text>) -> Argument {
        Argument { name, kind: Kind::Text, is_needed: false, description }
    }

    pub(crate) const fn flag(name: Text, description: Option<Text>, default: bool) -> Argument {
        Argument { name, kind: Kind::Flag(default), is_needed: false, description }
    }

    pub(crate) const fn count(name: Text, description: Option<Text>) -> Argument {
        Argument { name, kind: Kind::Count, is_needed: true, description }
    }

    pub(crate) const fn maybe(name: Text, description: Option<Text>) -> Argument {
        Argument { name, kind: Kind::Count, is_needed: false, description }
    }

    pub(crate) const fn texts(name: Text, description: Option<Text>) -> Argument {
        Argument { name, kind: Kind::Texts, is_needed: true, description }
    }

    pub(crate) const fn range(name: Text, description: Option<Text>) -> Argument {
        Argument { name, kind: Kind::Range, is_needed: true, description }
    }
}

/// The name of a member, borrowed where no escape has to be undone.
#[derive(Deserialize)]
pub(crate) struct Spelling<'a>(#[serde(borrow)] pub(crate) Cow<'a, str>);

/// Takes what was said under one spelling into account. What was said under the `first` one stands.
pub(crate) fn merge<T: Said, E: de::Error>(
    slot: &mut Option<T>,
    said: Option<T>,
    spelled: &str,
    first: &str,
) -> Result<(), E> {
    let Some(said) = said else { return Ok(()) };
    match slot.as_ref().filter(|before| before.is_something()) {
        Some(_) if !said.is_something() => {}
        Some(before) if !before.agrees(&said) => {
            return Err(E::custom(format!("{spelled} contradicts what was said before of {first}")));
        }
        Some(_) if spelled != first => {}
        Some(_) | None => *slot = Some(said),
    }
    Ok(())
}

/// What can be said as an argument.
pub(crate) trait Said: PartialEq {
    /// Whether it says anything. The real client sends `""` where it has nothing to say.
    fn is_something(&self) -> bool {
        true
    }

    fn agrees(&self, other: &Self) -> bool {
        self == other
    }
}

impl Said for String {
    fn is_something(&self) -> bool {
        !self.is_empty()
    }

    fn agrees(&self, other: &Self) -> bool {
        self == other || path_of(self).eq(path_of(other))
    }
}

impl Said for bool {}
impl Said for u32 {}
impl Said for Vec<String> {}
impl Said for Range {}

/// The text of a file, which may be empty.
#[derive(Deserialize, PartialEq)]
#[serde(transparent)]
pub(crate) struct Contents(String);

impl Said for Contents {}

/// The bytes of a path, be it written as a `file:` URI or not. Only to compare: which file it is has yet to be found out.
fn path_of(file: &str) -> impl Iterator<Item = u8> {
    // One of the two is empty.
    let (uri, path) = file.strip_prefix("file://").map_or(("", file), |path| (path, ""));
    unescaped(uri).chain(path.bytes())
}

/// What becomes of an argument, said or not.
pub(crate) mod kind {
    use super::{Contents, Said};
    use alloc::{format, string::String};
    use serde::de::Error;

    /// A text that the schema requires and that is read where it is missing too.
    pub(crate) use self::optional as expected;
    /// A line or a column; texts, at least as an empty list; two places.
    pub(crate) use self::{there as count, there as range, there as texts};

    /// A text that has to be there and says nothing if it is empty.
    pub(crate) fn needed<E: Error>(said: Option<String>, name: &str) -> Result<String, E> {
        there(said.filter(Said::is_something), name)
    }

    /// A text that has to be there and may be empty.
    pub(crate) fn contents<E: Error>(said: Option<Contents>, name: &str) -> Result<String, E> {
        there(said, name).map(|contents| contents.0)
    }

    /// A text that need not be there.
    pub(crate) fn optional<E: Error>(said: Option<String>, _: &str) -> Result<Option<String>, E> {
        Ok(said.filter(Said::is_something))
    }

    /// Yes or no.
    pub(crate) fn flag<E: Error>(said: Option<bool>, _: &str, default: bool) -> Result<bool, E> {
        Ok(said.unwrap_or(default))
    }

    /// What need not be there.
    pub(crate) fn maybe<T, E: Error>(said: Option<T>, _: &str) -> Result<Option<T>, E> {
        Ok(said)
    }

    /// What has to be there.
    pub(crate) fn there<T, E: Error>(said: Option<T>, name: &str) -> Result<T, E> {
        said.ok_or_else(|| E::custom(format!("the argument {name} is missing")))
    }
}

/// What is left out where it says nothing.
pub(crate) trait Member: Serialize {
    fn is_absent(&self) -> bool {
        false
    }
}

impl<T: Said + Serialize> Member for T {}

impl<T: Serialize> Member for Option<T> {
    fn is_absent(&self) -> bool {
        self.is_none()
    }
}

pub(crate) fn write<M: SerializeMap, T: Member>(
    members: &mut M,
    name: &str,
    value: &T,
) -> Result<(), M::Error> {
    if value.is_absent() { Ok(()) } else { members.serialize_entry(name, value) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    arguments! {
        #[derive(Debug, PartialEq)]
        struct Sample {
            file: Option<String> = optional["file", "path", "uri"],
            text: String = contents["text", "contents"],
            front: bool = flag(true)["front"],
        }
    }

    #[test]
    fn spellings_agree_or_are_refused() {
        let cases: &[(&str, &str, Result<Option<&str>, &str>)] = &[
            ("one", r#"{"path":"/a","text":""}"#, Ok(Some("/a"))),
            ("an escape in the name", r#"{"p\u0061th":"/a","text":""}"#, Ok(Some("/a"))),
            ("two that agree", r#"{"path":"/a","file":"/a","text":""}"#, Ok(Some("/a"))),
            ("the first spelling stands", r#"{"uri":"file:///a","file":"/a","text":""}"#, Ok(Some("/a"))),
            ("in either order", r#"{"file":"/a","uri":"file:///a","text":""}"#, Ok(Some("/a"))),
            ("else what came first", r#"{"uri":"file:///a","path":"/a","text":""}"#, Ok(Some("file:///a"))),
            (
                "an encoded URI",
                r#"{"uri":"file:///%C3%A9%20x","path":"/é x","text":""}"#,
                Ok(Some("file:///%C3%A9%20x")),
            ),
            (
                "a path is not decoded",
                r#"{"file":"/a%20b","path":"/a b","text":""}"#,
                Err("path contradicts"),
            ),
            ("nothing under one", r#"{"file":"","path":"/a","uri":null,"text":""}"#, Ok(Some("/a"))),
            ("nothing under the later", r#"{"path":"/a","file":"","text":""}"#, Ok(Some("/a"))),
            ("two that differ", r#"{"path":"/a","uri":"file:///b","text":""}"#, Err("uri contradicts")),
            ("the same name twice, alike", r#"{"path":"/a","path":"/a","text":""}"#, Ok(Some("/a"))),
            (
                "the same name twice, not alike",
                r#"{"path":"/a","path":"/b","text":""}"#,
                Err("path contradicts"),
            ),
            ("contents that agree", r#"{"text":"x","contents":"x"}"#, Ok(None)),
            ("empty contents are something", r#"{"text":"","contents":"x"}"#, Err("contents contradicts")),
            ("needed and not there", r#"{"path":"/a"}"#, Err("text is missing")),
            ("needed and null", r#"{"text":null}"#, Err("text is missing")),
            ("nothing else", r#"{"text":"","uri":"","other":[{}]}"#, Ok(None)),
            ("of another type", r#"{"text":1}"#, Err("invalid type")),
            (
                "broken escapes",
                r#"{"uri":"file:///%+1%","path":"/%+1%","text":""}"#,
                Ok(Some("file:///%+1%")),
            ),
        ];
        for (name, text, expected) in cases {
            match (serde_json::from_str::<Sample>(text), expected) {
                (Ok(read), Ok(file)) => assert_eq!(read.file.as_deref(), *file, "{name}"),
                (Err(error), Err(said)) => assert!(error.to_string().contains(said), "{name}: {error}"),
                (other, _) => panic!("{name}: {other:?}"),
            }
        }
    }
}
