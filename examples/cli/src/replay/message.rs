//! A message of JSON-RPC, as far as a replay has to know it.

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

/// What kind of message it is.
pub(crate) enum Kind<'a> {
    Request { id: &'a str, method: &'a str },
    Notification { method: &'a str },
    Answer { id: &'a str },
}

impl Message {
    /// The messages of a text: one, or those of a batch; none if it is no message.
    pub(crate) fn read(text: &str) -> Vec<Self> {
        match serde_json::from_str(text) {
            Ok(one) => vec![one],
            Err(_) => serde_json::from_str(text).unwrap_or_default(),
        }
    }

    /// The single message that something expected is.
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

    /// A member of the parameters.
    pub(crate) fn param(&self, name: &str) -> Option<Box<RawValue>> {
        member(self.params.as_deref(), name)
    }
}

/// A member of an object.
pub(crate) fn member(object: Option<&RawValue>, name: &str) -> Option<Box<RawValue>> {
    let members: std::collections::BTreeMap<String, Box<RawValue>> =
        serde_json::from_str(object?.get()).ok()?;
    members.into_iter().find(|(member, _)| member == name).map(|(_, value)| value)
}

/// A member that can be read as this.
pub(crate) fn read_member<T: for<'a> Deserialize<'a>>(object: Option<&RawValue>, name: &str) -> Option<T> {
    serde_json::from_str(member(object, name)?.get()).ok()
}
