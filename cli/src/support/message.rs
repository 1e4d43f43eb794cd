//! A JSON-RPC message, as far as a view or a replay of a transcript needs it.

use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// One message, or one element of a batch.
#[derive(Debug, Deserialize)]
pub(crate) struct Message {
    pub(crate) id: Option<Box<RawValue>>,
    pub(crate) method: Option<String>,
    pub(crate) params: Option<Box<RawValue>>,
    pub(crate) result: Option<Box<RawValue>>,
    pub(crate) error: Option<Fault>,
}

/// The error of an answer.
#[derive(Debug, Deserialize)]
pub(crate) struct Fault {
    pub(crate) code: i64,
    #[serde(default)]
    pub(crate) message: String,
}

impl Fault {
    /// Returns true for the codes that JSON-RPC defines completely, so the message of the error can be
    /// any text: parse error, invalid request and method not found.
    pub(crate) const fn has_free_text(code: i64) -> bool {
        matches!(code, -32700 | -32600 | -32601)
    }
}

/// An element of the content of a result.
#[derive(Deserialize)]
struct Content {
    text: Option<String>,
}

/// The kind of a message.
pub(crate) enum Kind<'a> {
    Request { id: &'a str, method: &'a str },
    Notification { method: &'a str },
    Answer { id: &'a str },
}

impl Message {
    /// Parses a string with one message or a batch. Returns no message for any other string.
    pub(crate) fn read(text: &str) -> Vec<Self> {
        match serde_json::from_str(text) {
            Ok(one) => vec![one],
            Err(_) => serde_json::from_str(text).unwrap_or_default(),
        }
    }

    pub(crate) fn kind(&self) -> Option<Kind<'_>> {
        match (self.id.as_deref(), self.method.as_deref()) {
            (Some(id), Some(method)) => Some(Kind::Request { id: id.get(), method }),
            (None, Some(method)) => Some(Kind::Notification { method }),
            (Some(id), None) => Some(Kind::Answer { id: id.get() }),
            (None, None) => None,
        }
    }

    /// Returns the name of the tool if the message is a call.
    pub(crate) fn tool(&self) -> Option<String> {
        let is_call = self.method.as_deref() == Some("tools/call");
        is_call.then(|| read_member(self.params.as_deref(), "name"))?
    }

    /// Returns the arguments of a call, or the parameters of any other message, as they are written; an empty string if
    /// there are none.
    pub(crate) fn arguments(&self) -> String {
        let arguments = if self.tool().is_some() { self.param("arguments") } else { self.params.clone() };
        arguments.map(|raw| raw.get().to_owned()).unwrap_or_default()
    }

    /// Returns the outcome in an answer: the error, the texts of the result of a tool, or another
    /// result as it is written.
    pub(crate) fn outcome(&self) -> String {
        if let Some(Fault { code, message }) = &self.error {
            return format!("{code} {message}");
        }
        let texts: Option<Vec<Content>> = read_member(self.result.as_deref(), "content");
        match texts.filter(|texts| texts.iter().any(|content| content.text.is_some())) {
            Some(texts) => {
                texts.into_iter().filter_map(|content| content.text).collect::<Vec<_>>().join(" | ")
            }
            None => self.result.as_deref().map(|raw| raw.get().to_owned()).unwrap_or_default(),
        }
    }

    /// Returns true for an answer with an error, or with a result that the tool marks as an error.
    pub(crate) fn is_error(&self) -> bool {
        self.error.is_some() || read_member(self.result.as_deref(), "isError") == Some(true)
    }

    /// Returns a member of the parameters.
    pub(crate) fn param(&self, name: &str) -> Option<Box<RawValue>> {
        member(self.params.as_deref(), name)
    }
}

/// Returns a member of an object.
pub(crate) fn member(object: Option<&RawValue>, name: &str) -> Option<Box<RawValue>> {
    let mut members: BTreeMap<String, Box<RawValue>> = serde_json::from_str(object?.get()).ok()?;
    members.remove(name)
}

/// Returns a member of an object that can be read as a `T`.
pub(crate) fn read_member<T: for<'a> Deserialize<'a>>(object: Option<&RawValue>, name: &str) -> Option<T> {
    serde_json::from_str(member(object, name)?.get()).ok()
}
