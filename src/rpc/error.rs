//! The error object of a response (JSON-RPC 2.0, section 5.1).

use crate::rpc::Json;
use alloc::string::String;
use core::fmt;

use serde_json::value::RawValue;

use super::{code, from_json, members, text_of};

/// The error that answers a request instead of a result.
///
/// ```
/// use ide_mcp::rpc::{ErrorObject, code};
///
/// let error = ErrorObject::invalid_params("`line` must be at least 1");
/// assert_eq!(error.code, code::INVALID_PARAMS);
/// ```
///
/// [Causes and reactions](crate::guide::errors#errors-for-the-peer-and-faults-of-the-peer).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ErrorObject {
    /// The code: one of [`code`](crate::rpc::code), or any other integer. Peers use 0, -1 and codes of their own.
    pub code: i64,
    /// What went wrong, in a sentence.
    pub message: String,
    /// More data from the sender, as it was written.
    pub data: Option<Json>,
}

impl ErrorObject {
    /// Returns an error without data.
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    /// Returns the error for a method or tool that you do not have: -32601.
    pub fn method_not_found(reason: impl Into<String>) -> Self {
        Self::new(code::METHOD_NOT_FOUND, reason)
    }

    /// Returns the error for parameters that you cannot use: -32602. Say what is wrong: a client may show the text to
    /// its model.
    pub fn invalid_params(reason: impl Into<String>) -> Self {
        Self::new(code::INVALID_PARAMS, reason)
    }

    /// Returns the error for a resource that you do not have: -32002.
    pub fn resource_not_found(reason: impl Into<String>) -> Self {
        Self::new(code::RESOURCE_NOT_FOUND, reason)
    }

    /// Reads the `error` member of a response. Returns `None` unless it is an object with an integer `code`, in any
    /// spelling. A missing or unreadable message becomes the empty string.
    pub(crate) fn read(raw: &RawValue) -> Option<Self> {
        let [code, message, data] = members(raw, ["code", "message", "data"])?;
        let code = from_json(code?.get()).ok()?;
        let message = message.and_then(text_of).unwrap_or_default().into_owned();
        Some(Self { code, message, data: data.map(Json::from) })
    }
}

impl From<&str> for ErrorObject {
    fn from(reason: &str) -> Self {
        Self::new(code::INTERNAL_ERROR, reason)
    }
}

impl From<String> for ErrorObject {
    fn from(reason: String) -> Self {
        Self::new(code::INTERNAL_ERROR, reason)
    }
}

impl fmt::Display for ErrorObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let message = if self.message.is_empty() { "no message" } else { &self.message };
        write!(f, "{message} ({})", self.code)
    }
}

impl core::error::Error for ErrorObject {}
