//! Reads objects and their members. An error names the member and says what it must be.

use crate::table::Row;
use ide_mcp::rpc::from_json;
use serde::de::{DeserializeOwned, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;

/// An object that the editor writes. `inputs!` implements this trait.
pub(crate) trait Object: Sized {
    const ROW: Row;
    /// The name in [`ROW`](Self::ROW), and the names of the members. They are separate constants, so that a
    /// program which only reads objects does not contain the documentation of the row.
    const NAME: &'static str;
    const MEMBERS: &'static [&'static str];

    fn take(members: &mut Members<'_>) -> Result<Self, Fault>;
}

/// A type of a member that the editor writes.
pub(crate) trait Input: Sized {
    /// What the value must be, for `docs/sidecar.md` and for errors, such as "a string".
    const KIND: &'static str;
    const IS_REQUIRED: bool = true;

    /// Returns the value of an absent member; `None` if the member is required.
    fn absent() -> Option<Self> {
        None
    }

    fn read(raw: &RawValue) -> Result<Self, Wrong>;
}

/// Why a value cannot be used.
#[derive(Debug)]
pub(crate) enum Wrong {
    /// It is of another kind.
    Kind,
    /// It is of the right kind, but has this problem, such as "has 3 bytes: it needs at least 16".
    Value(String),
    /// A part of it cannot be used.
    Part(String, Box<Fault>),
}

/// A member that cannot be used.
#[derive(Debug)]
pub(crate) struct Fault {
    member: String,
    problem: String,
}

impl Wrong {
    fn of_member(self, name: &str, kind: &str) -> Fault {
        match self {
            Self::Kind => Fault::new(name, format!("must be {kind}")),
            Self::Value(problem) => Fault::new(name, problem),
            Self::Part(part, inner) => {
                Fault { member: format!("{name}{part}.{}", inner.member), problem: inner.problem }
            }
        }
    }
}

impl Fault {
    fn new(name: &str, problem: String) -> Self {
        Self { member: name.into(), problem }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` {}", self.member, self.problem)
    }
}

/// The members of an object that are still to be taken.
pub(crate) struct Members<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'a> Members<'a> {
    /// Reads an object. The error is that of `serde_json`.
    pub(crate) fn read(text: &'a str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }

    pub(crate) fn take<T: Input>(&mut self, name: &'static str) -> Result<T, Fault> {
        match self.take_raw(name)? {
            Some(raw) => T::read(raw).map_err(|wrong| wrong.of_member(name, T::KIND)),
            None => {
                T::absent().ok_or_else(|| Fault::new(name, format!("is missing: it must be {}", T::KIND)))
            }
        }
    }

    /// Refuses what is left: the object with this name has only the `known` members.
    fn refuse(&self, object: &str, known: &[&str]) -> Result<(), Fault> {
        let Some((unknown, _)) = self.0.first() else { return Ok(()) };
        let known = if known.is_empty() { "none".into() } else { known.join(", ") };
        let problem = format!("is not a member of {object}, which has {known}");
        Err(Fault { member: unknown.chars().take(MAX_SHOWN).collect(), problem })
    }

    /// Takes the member with this name; there must be only one.
    fn take_raw(&mut self, name: &str) -> Result<Option<&'a RawValue>, Fault> {
        let Some(at) = self.0.iter().position(|member| member.0 == name) else { return Ok(None) };
        let (_, raw) = self.0.swap_remove(at);
        if self.0.iter().any(|member| member.0 == name) {
            return Err(Fault::new(name, "is given twice".into()));
        }
        Ok(Some(raw))
    }
}

impl fmt::Debug for Members<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|member| &member.0)).finish()
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
                let mut members = Vec::new();
                while let Some((Name(name), value)) = map.next_entry::<Name<'de>, &RawValue>()? {
                    members.push((name, value));
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}

/// A name, borrowed unless it has an escape.
#[derive(Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

/// Takes an object from its members, and refuses those that it does not have.
pub(crate) fn read_members<T: Object>(members: &mut Members<'_>) -> Result<T, Fault> {
    let object = T::take(members)?;
    members.refuse(T::NAME, T::MEMBERS)?;
    Ok(object)
}

/// How many characters of an unknown member an error shows: more than any known name has.
const MAX_SHOWN: usize = 64;

/// Reads an object of this type.
pub(crate) fn read_object<T: Object>(raw: &RawValue) -> Result<T, Wrong> {
    let mut members = Members::read(raw.get()).map_err(|_| Wrong::Kind)?;
    read_members(&mut members).map_err(|fault| Wrong::Part(String::new(), Box::new(fault)))
}

/// A list of objects.
#[derive(Debug)]
pub(crate) struct List<T>(pub(crate) Vec<T>);

impl<T: Object> Input for List<T> {
    const KIND: &'static str = "a list of objects";
    const IS_REQUIRED: bool = false;

    fn absent() -> Option<Self> {
        Some(Self(Vec::new()))
    }

    fn read(raw: &RawValue) -> Result<Self, Wrong> {
        let items: Vec<&RawValue> = serde_json::from_str(raw.get()).map_err(|_| Wrong::Kind)?;
        let read = items.into_iter().enumerate().map(|(at, item)| {
            read_object(item).map_err(|wrong| match wrong {
                Wrong::Part(part, fault) => Wrong::Part(format!("[{at}]{part}"), fault),
                Wrong::Kind | Wrong::Value(_) => Wrong::Kind,
            })
        });
        read.collect::<Result<_, _>>().map(Self)
    }
}

/// An optional member; null counts as absent.
impl<T: Input> Input for Option<T> {
    const KIND: &'static str = T::KIND;
    const IS_REQUIRED: bool = false;

    fn absent() -> Option<Self> {
        Some(None)
    }

    fn read(raw: &RawValue) -> Result<Self, Wrong> {
        if raw.get() == "null" { Ok(None) } else { T::read(raw).map(Some) }
    }
}

/// Any JSON, as it was written.
impl Input for Box<RawValue> {
    const KIND: &'static str = "JSON";

    fn read(raw: &RawValue) -> Result<Self, Wrong> {
        Ok(raw.to_owned())
    }
}

/// A JSON object, as it was written.
#[derive(Debug)]
pub(crate) struct JsonObject(pub(crate) Box<RawValue>);

impl Input for JsonObject {
    const KIND: &'static str = "a JSON object";

    fn read(raw: &RawValue) -> Result<Self, Wrong> {
        if raw.get().starts_with('{') { Ok(Self(raw.to_owned())) } else { Err(Wrong::Kind) }
    }
}

/// Implements [`Input`] for types that serde reads.
macro_rules! read_by_serde {
    ($($kind:ty: $expected:literal,)*) => {$(
        impl Input for $kind {
            const KIND: &'static str = $expected;

            fn read(raw: &RawValue) -> Result<Self, Wrong> {
                of_json(raw)
            }
        }
    )*};
}

read_by_serde! {
    bool: "true or false",
    u16: "a number from 0 to 65535",
    u32: "a number from 0 to 4294967295",
    u64: "a number from 0",
    f64: "a number",
    String: "a string",
    Vec<String>: "a list of strings",
    Place: "a list of a line and a UTF-16 column, from 0",
    Lines: "a list of the first and the last line, from 0",
}

fn of_json<T: DeserializeOwned>(raw: &RawValue) -> Result<T, Wrong> {
    from_json(raw.get()).map_err(|_| Wrong::Kind)
}

/// A line and a UTF-16 column, both from 0.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(crate) struct Place(pub(crate) u32, pub(crate) u32);

/// The first and the last line, from 0.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(crate) struct Lines(pub(crate) u32, pub(crate) u32);

/// Defines an enum whose variants are strings in JSON, and reads them.
macro_rules! words {
    ($($(#[$attribute:meta])* $name:ident: $expected:literal { $($word:literal => $variant:ident,)* })*) => {$(
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum $name {
            $($variant,)*
        }

        impl $crate::input::Input for $name {
            const KIND: &'static str = $expected;

            fn read(raw: &serde_json::value::RawValue) -> Result<Self, $crate::input::Wrong> {
                match serde_json::from_str::<String>(raw.get()).as_deref() {
                    $(Ok($word) => Ok(Self::$variant),)*
                    _ => Err($crate::input::Wrong::Kind),
                }
            }
        }
    )*};
}

pub(crate) use words;
