//! The faults of a text that is not a valid message, and the error code of the answer to each.

use core::fmt;

use super::code;

/// A rule of JSON-RPC that a text of the peer broke, as [`classify`](crate::rpc::classify) finds
/// it. A fault that only a session can find is a [`mcp::PeerFault`](crate::mcp::PeerFault).
///
/// [Causes and reactions](crate::guide::errors#errors-for-the-peer-and-faults-of-the-peer).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InvalidMessage {
    /// A text that is not JSON.
    NotJson,
    /// JSON, but neither an object that is a message nor an array.
    NotAMessage,
    /// An `id` that is null, neither a string nor an integer, too long, present twice, or missing
    /// in a response.
    InvalidId,
    /// A `method` that is not a string.
    InvalidMethod,
    /// A method name that is longer than the limit.
    MethodTooLong,
    /// A `method` beside a `result` or an `error`.
    MixedMembers,
    /// A `jsonrpc` member that is missing or is not `"2.0"`.
    WrongVersion,
    /// A `params` member that is neither an object nor null.
    InvalidParams,
    /// A member of the envelope that is present twice.
    DuplicateMember,
    /// A message that nests deeper than the limit.
    TooDeep,
    /// A response with both or neither of `result` and `error`, or with an `error` that is not an
    /// error object.
    MalformedResponse,
}

impl InvalidMessage {
    /// Returns the error code of the answer. The session can send this answer only if the id could
    /// be read.
    #[must_use]
    pub const fn code(self) -> i64 {
        match self {
            Self::InvalidParams => code::INVALID_PARAMS,
            Self::NotJson
            | Self::NotAMessage
            | Self::InvalidId
            | Self::InvalidMethod
            | Self::MethodTooLong
            | Self::MixedMembers
            | Self::WrongVersion
            | Self::DuplicateMember
            | Self::TooDeep
            | Self::MalformedResponse => code::INVALID_REQUEST,
        }
    }

    pub(crate) const fn text(self) -> &'static str {
        match self {
            Self::NotJson => "not JSON",
            Self::NotAMessage => "not a JSON-RPC message",
            Self::InvalidId => "the id is not one string or integer, or is too long",
            Self::InvalidMethod => "the method is not a string",
            Self::MethodTooLong => "the method name is too long",
            Self::MixedMembers => "a method beside a result or an error",
            Self::WrongVersion => "jsonrpc is not \"2.0\"",
            Self::InvalidParams => "params is not an object",
            Self::DuplicateMember => "a member of the envelope is present twice",
            Self::TooDeep => "the message is nested too deeply",
            Self::MalformedResponse => "a response without exactly one of a result and a valid error object",
        }
    }
}

impl fmt::Display for InvalidMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}
