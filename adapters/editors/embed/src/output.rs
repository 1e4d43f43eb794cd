//! The values of the members of events.

use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use std::sync::Arc;

/// The value of a member of an [`Event`](crate::Event).
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Value<'a> {
    /// A string, which may contain every character.
    Text(&'a str),
    /// A number.
    Number(u64),
    /// True or false.
    Bool(bool),
    /// A list or an object, or a value from an agent, as it was written.
    Json(&'a RawValue),
}

impl Serialize for Value<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => text.serialize(serializer),
            Self::Number(number) => number.serialize(serializer),
            Self::Bool(value) => value.serialize(serializer),
            Self::Json(raw) => raw.serialize(serializer),
        }
    }
}

/// A type that a member of an event can have.
pub(crate) trait Output {
    const KIND: &'static str;
    const IS_ALWAYS: bool = true;

    /// Returns the value; `None` if the event does not have the member.
    fn value(&self) -> Option<Value<'_>>;
}

impl Output for u64 {
    const KIND: &'static str = "a number";

    fn value(&self) -> Option<Value<'_>> {
        Some(Value::Number(*self))
    }
}

impl Output for bool {
    const KIND: &'static str = "true or false";

    fn value(&self) -> Option<Value<'_>> {
        Some(Value::Bool(*self))
    }
}

impl Output for String {
    const KIND: &'static str = "a string";

    fn value(&self) -> Option<Value<'_>> {
        Some(Value::Text(self))
    }
}

impl Output for Arc<String> {
    const KIND: &'static str = "a string";

    fn value(&self) -> Option<Value<'_>> {
        Some(Value::Text(self))
    }
}

impl Output for Box<RawValue> {
    const KIND: &'static str = "JSON";

    fn value(&self) -> Option<Value<'_>> {
        Some(Value::Json(self))
    }
}

impl<T: Output> Output for Option<T> {
    const KIND: &'static str = T::KIND;
    const IS_ALWAYS: bool = false;

    fn value(&self) -> Option<Value<'_>> {
        self.as_ref().and_then(T::value)
    }
}
