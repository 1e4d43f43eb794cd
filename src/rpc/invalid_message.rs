//! What can be wrong with a message from the peer, and the error code that answers it.

use core::fmt;

use super::code;

/// The rule of JSON-RPC that a message of the peer breaks, as found by [`classify`](crate::rpc::classify). A fault that
/// only a session can find is a [`mcp::PeerFault`](crate::mcp::PeerFault).
///
/// [Causes and reactions](crate::guide::errors#errors-for-the-peer-and-faults-of-the-peer).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InvalidMessage {
    /// The text is not JSON.
    NotJson,
    /// It is JSON, but neither an array nor an object that is a message.
    NotAMessage,
    /// `id` is null, neither a string nor an integer, too long, present twice, or missing in a response.
    InvalidId,
    /// `method` is not a string.
    InvalidMethod,
    /// The method name is longer than the limit.
    MethodTooLong,
    /// There is a `method` together with a `result` or an `error`.
    MixedMembers,
    /// `jsonrpc` is missing or is not `"2.0"`.
    WrongVersion,
    /// `params` is neither an object nor null.
    InvalidParams,
    /// A member of the envelope is present twice.
    DuplicateMember,
    /// The message nests deeper than the limit.
    TooDeep,
    /// A response has both or neither of `result` and `error`, or its `error` is not an error object.
    MalformedResponse,
}

impl InvalidMessage {
    /// Returns the error code of the answer. The session can answer only if it could read the id.
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
            Self::InvalidId => "the id must be a single string or integer within the length limit",
            Self::InvalidMethod => "the method is not a string",
            Self::MethodTooLong => "the method name is too long",
            Self::MixedMembers => "a message must not have both a method and a result or error",
            Self::WrongVersion => "jsonrpc is not \"2.0\"",
            Self::InvalidParams => "params is not an object",
            Self::DuplicateMember => "a member of the envelope is present twice",
            Self::TooDeep => "the message is nested too deeply",
            Self::MalformedResponse => {
                "a response must have either a result or a valid error object, not both"
            }
        }
    }
}

impl fmt::Display for InvalidMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}
