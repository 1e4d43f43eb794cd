//! Arguments as clients spell them: several names for one argument, null or an empty string for an absent one, and
//! unknown arguments.
//!
//! A call may contain two spellings of one argument if their values agree; a file may be a path in one and a `file:`
//! URI in the other. If they contradict each other, we cannot know which is meant, and the call is refused.

use crate::ide::kit::Range;
use crate::ide::paths::unescaped;
use crate::rpc::leniently;
use alloc::{borrow::Cow, format, string::String, vec::Vec};
use serde::{Deserialize, Deserializer, de};

/// Defines a struct of arguments that is read tolerantly and written in the first spelling of each argument.
///
/// After its type, each field has three parts: the function of [`kind`] that reads it, its spellings, and its
/// description in the JSON Schema. Without a description it is not in the schema. A struct without fields is for a tool
/// without arguments, and is read from any object.
macro_rules! arguments {
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident;
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        #[allow(clippy::exhaustive_structs, reason = "the tool has no arguments")]
        $vis struct $name;

        impl $crate::ide::tool::arguments::Described for $name {
            const ARGUMENTS: &'static [$crate::ide::tool::arguments::Argument] = &[];

            fn read<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                <serde::de::IgnoredAny as serde::Deserialize>::deserialize(deserializer)?;
                Ok(Self)
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
        #[derive(serde::Serialize)]
        $vis struct $name {
            $(
                $(#[$doc])*
                #[serde(rename = $first, skip_serializing_if = "crate::ide::tool::arguments::Member::is_absent")]
                $field_vis $field: $type,
            )*
        }

        impl $crate::ide::tool::arguments::Described for $name {
            const ARGUMENTS: &'static [$crate::ide::tool::arguments::Argument] = {
                use $crate::ide::tool::arguments::{first, schema};
                &[$(schema::$kind($first, first(&[$($description)?]) $(, $default)?),)*]
            };

            fn read<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
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
                        use $crate::ide::tool::arguments::{Spelling, kind, merge, invalid_value};
                        $(let mut $field = None;)*
                        while let Some(member) = members.next_key::<Spelling<'de>>()? {
                            let spelled = &*member.0;
                            match spelled {
                                $($first $(| $more)* => {
                                    let value = members.next_value().map_err(|error| invalid_value(spelled, &error))?;
                                    merge(&mut $field, value, spelled, $first)?;
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
    };
}

pub(crate) use arguments;

/// Returns the error for a value that does not fit, with the name of its argument as the peer spells it.
#[cold]
pub(crate) fn invalid_value<E: de::Error>(spelled: &str, error: &E) -> E {
    E::custom(format_args!("the argument {spelled}: {error}"))
}

/// Arguments that have a JSON Schema.
pub(crate) trait Described: Sized {
    /// The arguments, in the order of the schema.
    const ARGUMENTS: &'static [Argument];

    /// Reads the arguments as clients spell them.
    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error>;
}

/// Reads arguments from JSON text.
pub(crate) fn from_text<T: Described>(json: &str) -> serde_json::Result<T> {
    leniently(json, |json| T::read(&mut serde_json::Deserializer::from_str(json)))
}

/// An argument as the schema shows it.
pub(crate) struct Argument {
    /// The name, as VS Code spells it.
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    /// True if the schema requires the argument.
    pub(crate) is_required: bool,
    /// True if a dialect with a [short schema](crate::ide::dialect::Rules::short_diff) does not require the argument.
    pub(crate) can_be_left_out: bool,
    /// What the argument means; `None` if it is read but not in the schema.
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
    /// Returns the type as members of the schema.
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

/// Returns the first element, if there is one.
pub(crate) const fn first(texts: &[&'static str]) -> Option<&'static str> {
    match texts {
        [text, ..] => Some(text),
        [] => None,
    }
}

/// Makes the entry of an argument in the schema. Each function is named like the one in [`kind`] that reads the
/// argument.
pub(crate) mod schema {
    use super::{Argument, Kind};

    pub(crate) use self::{required as contents, required as schema_required};

    type Text = &'static str;

    pub(crate) const fn required(name: Text, description: Option<Text>) -> Argument {
        Argument { name, kind: Kind::Text, is_required: true, can_be_left_out: false, description }
    }

    pub(crate) const fn usually_required(name: Text, description: Option<Text>) -> Argument {
        Argument { name, kind: Kind::Text, is_required: true, can_be_left_out: true, description }
    }

    pub(crate) const fn optional(name: Text, description: Option<Text>) -> Argument {
        Argument { name, kind: Kind::Text, is_required: false, can_be_left_out: false, description }
    }

    pub(crate) const fn flag(name: Text, description: Option<Text>, default: bool) -> Argument {
        Argument { name, kind: Kind::Flag(default), is_required: false, can_be_left_out: false, description }
    }

    pub(crate) const fn count(name: Text, description: Option<Text>) -> Argument {
        Argument { name, kind: Kind::Count, is_required: true, can_be_left_out: false, description }
    }

    pub(crate) const fn optional_value(name: Text, description: Option<Text>) -> Argument {
        Argument { name, kind: Kind::Count, is_required: false, can_be_left_out: false, description }
    }

    pub(crate) const fn texts(name: Text, description: Option<Text>) -> Argument {
        Argument { name, kind: Kind::Texts, is_required: true, can_be_left_out: false, description }
    }

    pub(crate) const fn range(name: Text, description: Option<Text>) -> Argument {
        Argument { name, kind: Kind::Range, is_required: true, can_be_left_out: false, description }
    }
}

/// The name of a member, borrowed if it has no escape.
#[derive(Deserialize)]
pub(crate) struct Spelling<'a>(#[serde(borrow)] pub(crate) Cow<'a, str>);

/// Merges the value under one spelling into the value of the argument; an error if the two contradict each other. The
/// value under the `first` spelling wins. If neither has that spelling, the earlier one stays.
pub(crate) fn merge<T: ArgumentValue, E: de::Error>(
    slot: &mut Option<T>,
    value: Option<T>,
    spelled: &str,
    first: &str,
) -> Result<(), E> {
    let Some(value) = value else { return Ok(()) };
    match slot.as_ref().filter(|before| before.is_something()) {
        Some(_) if !value.is_something() => {}
        Some(before) if !before.agrees(&value) => {
            return Err(E::custom(format!("{spelled} contradicts the earlier value of {first}")));
        }
        Some(_) if spelled != first => {}
        Some(_) | None => *slot = Some(value),
    }
    Ok(())
}

/// A value that a client may send as an argument.
pub(crate) trait ArgumentValue: PartialEq {
    /// Returns true if the value has content. The real client sends `""` for an absent value, so an empty string has
    /// none.
    fn is_something(&self) -> bool {
        true
    }

    fn agrees(&self, other: &Self) -> bool {
        self == other
    }
}

impl ArgumentValue for String {
    fn is_something(&self) -> bool {
        !self.is_empty()
    }

    fn agrees(&self, other: &Self) -> bool {
        self == other || path_of(self).eq(path_of(other))
    }
}

impl ArgumentValue for bool {}
impl ArgumentValue for u32 {}
impl ArgumentValue for Vec<String> {}
impl ArgumentValue for Range {}

/// The text of a file, which may be empty.
#[derive(Deserialize, PartialEq)]
#[serde(transparent)]
pub(crate) struct Contents(String);

impl ArgumentValue for Contents {}

/// Returns the bytes of a path, written as a `file:` URI or as a path. They are only compared: which file they name is
/// determined later.
fn path_of(file: &str) -> impl Iterator<Item = u8> {
    // Either `uri` or `path` is empty.
    let (uri, path) = file.strip_prefix("file://").map_or(("", file), |path| (path, ""));
    unescaped(uri).chain(path.bytes())
}

/// Turns an argument, present or absent, into the value of a field.
pub(crate) mod kind {
    use super::{ArgumentValue, Contents};
    use alloc::{format, string::String};
    use serde::de::Error;

    /// Takes a string that the schema requires, but accepts a call without it.
    pub(crate) use self::optional as schema_required;
    /// Takes a string that the schema requires in most dialects, but accepts a call without it.
    pub(crate) use self::optional as usually_required;
    /// `count` takes a line or a column, `range` a range, and `texts` a list of strings, which can be empty.
    pub(crate) use self::{required_value as count, required_value as range, required_value as texts};

    /// Takes a required string. An empty string counts as absent.
    pub(crate) fn required<E: Error>(value: Option<String>, name: &str) -> Result<String, E> {
        required_value(value.filter(ArgumentValue::is_something), name)
    }

    /// Takes a required string, which can be empty.
    pub(crate) fn contents<E: Error>(value: Option<Contents>, name: &str) -> Result<String, E> {
        required_value(value, name).map(|contents| contents.0)
    }

    /// Takes an optional string. An empty string counts as absent.
    pub(crate) fn optional<E: Error>(value: Option<String>, _: &str) -> Result<Option<String>, E> {
        Ok(value.filter(ArgumentValue::is_something))
    }

    /// Takes a boolean, or the default if it is absent.
    pub(crate) fn flag<E: Error>(value: Option<bool>, _: &str, default: bool) -> Result<bool, E> {
        Ok(value.unwrap_or(default))
    }

    /// Takes an optional value.
    pub(crate) fn optional_value<T, E: Error>(value: Option<T>, _: &str) -> Result<Option<T>, E> {
        Ok(value)
    }

    /// Takes a required value.
    pub(crate) fn required_value<T, E: Error>(value: Option<T>, name: &str) -> Result<T, E> {
        value.ok_or_else(|| E::custom(format!("the argument {name} is missing")))
    }
}

/// The value of a member, which is not written if it is absent.
pub(crate) trait Member {
    fn is_absent(&self) -> bool {
        false
    }
}

impl<T: ArgumentValue> Member for T {}

impl<T> Member for Option<T> {
    fn is_absent(&self) -> bool {
        self.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    arguments! {
        #[derive(Debug, PartialEq)]
        struct Sample {
            file: Option<String> = optional["file", "path", "uri"] "The file.",
            text: String = contents["text", "contents"],
            front: bool = flag(true)["front"],
        }
    }

    #[test]
    fn spellings_agree_or_are_refused() {
        let cases: &[(&str, &str, Result<Option<&str>, &str>)] = &[
            ("one spelling", r#"{"path":"/a","text":""}"#, Ok(Some("/a"))),
            ("an escape in the name", r#"{"p\u0061th":"/a","text":""}"#, Ok(Some("/a"))),
            ("two spellings that agree", r#"{"path":"/a","file":"/a","text":""}"#, Ok(Some("/a"))),
            ("the first spelling wins", r#"{"uri":"file:///a","file":"/a","text":""}"#, Ok(Some("/a"))),
            (
                "the first spelling wins, in the other order",
                r#"{"file":"/a","uri":"file:///a","text":""}"#,
                Ok(Some("/a")),
            ),
            (
                "two other spellings, of which the earlier wins",
                r#"{"uri":"file:///a","path":"/a","text":""}"#,
                Ok(Some("file:///a")),
            ),
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
            ("empty and null spellings", r#"{"file":"","path":"/a","uri":null,"text":""}"#, Ok(Some("/a"))),
            ("an empty later spelling", r#"{"path":"/a","file":"","text":""}"#, Ok(Some("/a"))),
            (
                "two spellings that differ",
                r#"{"path":"/a","uri":"file:///b","text":""}"#,
                Err("uri contradicts"),
            ),
            ("the same name twice, equal", r#"{"path":"/a","path":"/a","text":""}"#, Ok(Some("/a"))),
            (
                "the same name twice, different",
                r#"{"path":"/a","path":"/b","text":""}"#,
                Err("path contradicts"),
            ),
            ("contents that agree", r#"{"text":"x","contents":"x"}"#, Ok(None)),
            ("empty contents count as a value", r#"{"text":"","contents":"x"}"#, Err("contents contradicts")),
            ("required and missing", r#"{"path":"/a"}"#, Err("text is missing")),
            ("required and null", r#"{"text":null}"#, Err("text is missing")),
            ("an empty argument and an unknown one", r#"{"text":"","uri":"","other":[{}]}"#, Ok(None)),
            ("a value of the wrong type", r#"{"text":1}"#, Err("invalid type")),
            (
                "broken escapes",
                r#"{"uri":"file:///%+1%","path":"/%+1%","text":""}"#,
                Ok(Some("file:///%+1%")),
            ),
        ];
        for (name, text, expected) in cases {
            match (from_text::<Sample>(text), expected) {
                (Ok(read), Ok(file)) => assert_eq!(read.file.as_deref(), *file, "{name}"),
                (Err(error), Err(value)) => assert!(error.to_string().contains(value), "{name}: {error}"),
                (other, _) => panic!("{name}: {other:?}"),
            }
        }
    }

    #[test]
    fn only_described_argument_has_description() {
        let described = Sample::ARGUMENTS.iter().map(|argument| (argument.name, argument.description));
        assert!(described.eq([("file", Some("The file.")), ("text", None), ("front", None)]));
    }
}
