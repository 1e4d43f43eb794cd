//! Messages as they are written. Nothing here asks the code under test to read one.

use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// A message of JSON-RPC: its members as they are written.
#[derive(Debug)]
pub struct Message<'a> {
    members: BTreeMap<&'a str, &'a RawValue>,
}

/// An answer: the id that it repeats, and the result as JSON text or the code of the error.
#[derive(Clone, Debug)]
pub struct Answer {
    pub id: String,
    pub result: Option<String>,
    pub code: Option<i64>,
}

impl<'a> Message<'a> {
    pub fn read(text: &'a str) -> Option<Self> {
        serde_json::from_str(text).ok().map(|members| Self { members })
    }

    /// Reads what one of our machines has sent: a message, or a batch of them. An error says what is wrong with its
    /// form (I10, I24).
    pub fn sent(text: &'a str) -> Result<Vec<Self>, String> {
        let texts: Vec<&RawValue> = match text.starts_with('[') {
            true => serde_json::from_str(text).unwrap_or_default(),
            false => serde_json::from_str(text).into_iter().collect(),
        };
        if texts.is_empty() {
            return Err(format!("no message: {text}"));
        }
        let read = |text: &&'a RawValue| Self::read(text.get()).filter(Self::is_in_form);
        texts
            .iter()
            .map(|text| read(text).ok_or_else(|| format!("not in the form of JSON-RPC: {text}")))
            .collect()
    }

    fn is_in_form(&self) -> bool {
        let names: Vec<&str> = self.members.keys().copied().collect();
        let is_object = |name| self.get(name).is_some_and(|value| value.starts_with('{'));
        let is_known = match names[..] {
            ["id", "jsonrpc", "result"] => is_object("result"),
            ["error", "id", "jsonrpc"] => {
                let error = self.member("error");
                self.code().is_some()
                    && error.is_some_and(|error| error.get("message").is_some_and(|it| it.starts_with('"')))
            }
            ["jsonrpc", "method"] | ["id", "jsonrpc", "method"] => true,
            ["jsonrpc", "method", "params"] | ["id", "jsonrpc", "method", "params"] => is_object("params"),
            _ => false,
        };
        is_known && self.get("jsonrpc") == Some(r#""2.0""#) && self.get("id") != Some("null")
    }

    pub fn get(&self, name: &str) -> Option<&'a str> {
        self.members.get(name).map(|value| value.get())
    }

    /// Returns the members of a member that is an object.
    pub fn member(&self, name: &str) -> Option<Self> {
        Self::read(self.get(name)?)
    }

    /// Returns the method, if it is a plain name.
    pub fn method(&self) -> Option<&'a str> {
        self.get("method")?.strip_prefix('"')?.strip_suffix('"')
    }

    /// Returns the code, if the message answers with an error.
    pub fn code(&self) -> Option<i64> {
        self.member("error")?.get("code")?.parse().ok()
    }

    /// Returns the answer, if the message is one.
    pub fn answer(&self) -> Option<Answer> {
        let id = self.get("id").filter(|_| self.get("method").is_none())?;
        Some(Answer { id: id.into(), result: self.get("result").map(Into::into), code: self.code() })
    }
}
