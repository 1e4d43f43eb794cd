//! A JSON-RPC message, as far as a replay needs it.

use crate::replay::script::Expected;
use serde::Deserialize;
use serde_json::value::RawValue;

/// One message, or one element of a batch.
#[derive(Deserialize)]
pub(crate) struct Message {
    pub(crate) id: Option<Box<RawValue>>,
    pub(crate) method: Option<String>,
    pub(crate) params: Option<Box<RawValue>>,
    pub(crate) result: Option<Box<RawValue>>,
    pub(crate) error: Option<Fault>,
}

#[derive(Deserialize)]
pub(crate) struct Fault {
    pub(crate) code: i64,
    #[serde(default)]
    pub(crate) message: String,
}

/// The kind of a message.
pub(crate) enum Kind<'a> {
    Request { id: &'a str, method: &'a str },
    Notification { method: &'a str },
    Answer { id: &'a str },
}

impl Message {
    /// Parses the messages of a text: one, or those of a batch; none if it is no message.
    pub(crate) fn read(text: &str) -> Vec<Self> {
        match serde_json::from_str(text) {
            Ok(one) => vec![one],
            Err(_) => serde_json::from_str(text).unwrap_or_default(),
        }
    }

    /// Parses the message of an expected unit, if it is a single one.
    pub(crate) fn of(expected: &Expected) -> Option<Self> {
        serde_json::from_str(expected.message.as_deref()?).ok()
    }

    pub(crate) fn kind(&self) -> Option<Kind<'_>> {
        match (self.id.as_deref(), self.method.as_deref()) {
            (Some(id), Some(method)) => Some(Kind::Request { id: id.get(), method }),
            (None, Some(method)) => Some(Kind::Notification { method }),
            (Some(id), None) => Some(Kind::Answer { id: id.get() }),
            (None, None) => None,
        }
    }

    /// Returns a member of the parameters.
    pub(crate) fn param(&self, name: &str) -> Option<Box<RawValue>> {
        member(self.params.as_deref(), name)
    }
}

/// Returns a member of an object.
pub(crate) fn member(object: Option<&RawValue>, name: &str) -> Option<Box<RawValue>> {
    let members: std::collections::BTreeMap<String, Box<RawValue>> =
        serde_json::from_str(object?.get()).ok()?;
    members.into_iter().find(|(member, _)| member == name).map(|(_, value)| value)
}

/// Returns a member of an object that can be read as a `T`.
pub(crate) fn read_member<T: for<'a> Deserialize<'a>>(object: Option<&RawValue>, name: &str) -> Option<T> {
    serde_json::from_str(member(object, name)?.get()).ok()
}
