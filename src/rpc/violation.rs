//! What a peer sent that it should not have, and what that is answered with where an answer is possible.

use core::fmt;

use super::code;

/// A rule that a message of the peer broke. The session goes on; the owner may log it.
///
/// The marks are the rows of the table that [`classify`](crate::rpc::classify) implements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Violation {
    /// C1: the text is not JSON.
    NotJson,
    /// C2: JSON, but neither an object that is a message nor an array.
    NotAMessage,
    /// C4: an array of messages, which the negotiated version does not have.
    Batch,
    /// C3: an array of messages that is empty or has more than 64. None of them was looked at.
    BatchLength,
    /// C7, C8: `id` is null, no string and no integer, too long, or there twice.
    InvalidId,
    /// C9: `method` is not a string.
    InvalidMethod,
    /// The method name is longer than the limit.
    MethodTooLong,
    /// C9: `method` beside `result` or `error`.
    MixedMembers,
    /// C10: `jsonrpc` is missing or is not `"2.0"`.
    WrongVersion,
    /// C13: `params` is neither an object nor null.
    InvalidParams,
    /// C18: a member of the envelope is there twice.
    DuplicateMember,
    /// The message nests deeper than the limit.
    TooDeep,
    /// C17: a response with both or neither of `result` and `error`, or with an error that is none.
    MalformedResponse,
    /// A response to a request that has already ended: a second answer, or one that crossed our cancellation or came
    /// after our timeout. The last two are nobody's fault.
    LateResponse,
    /// A response to a request that was never sent.
    UnknownResponse,
    /// C6: a method that is a request came without an id. It is not executed.
    RequestWithoutId,
    /// A notification before the session was opened. It is dropped.
    Premature,
    /// Progress that names no open request of ours that asked for it: it crossed our cancellation, or is made up.
    UnknownProgress,
    /// Progress that is not beyond what was reported before. It is dropped.
    StaleProgress,
    /// A list whose pages go round in a circle, or are more than the limit.
    EndlessList,
}

impl Violation {
    /// The error code of the answer, where the id could be read.
    #[must_use]
    pub const fn code(self) -> i64 {
        match self {
            Self::InvalidParams => code::INVALID_PARAMS,
            Self::NotJson
            | Self::NotAMessage
            | Self::Batch
            | Self::InvalidId
            | Self::InvalidMethod
            | Self::MethodTooLong
            | Self::MixedMembers
            | Self::WrongVersion
            | Self::DuplicateMember
            | Self::TooDeep
            | Self::MalformedResponse
            | Self::LateResponse
            | Self::UnknownResponse
            | Self::RequestWithoutId
            | Self::Premature
            | Self::BatchLength
            | Self::UnknownProgress
            | Self::StaleProgress
            | Self::EndlessList => code::INVALID_REQUEST,
        }
    }

    pub(crate) const fn text(self) -> &'static str {
        match self {
            Self::NotJson => "not JSON",
            Self::NotAMessage => "not a JSON-RPC message",
            Self::Batch => "this version has no batches",
            Self::BatchLength => "a batch of no messages, or of too many",
            Self::InvalidId => "the id is neither a string nor an integer, or is too long",
            Self::InvalidMethod => "the method is not a string",
            Self::MethodTooLong => "the method name is too long",
            Self::MixedMembers => "a method beside a result or an error",
            Self::WrongVersion => "jsonrpc is not \"2.0\"",
            Self::InvalidParams => "params is not an object",
            Self::DuplicateMember => "a member of the envelope is there twice",
            Self::TooDeep => "the message is nested too deeply",
            Self::MalformedResponse => "a response without exactly one of result and error",
            Self::LateResponse => "a response to a request that has ended",
            Self::UnknownResponse => "a response to a request that was never sent",
            Self::RequestWithoutId => "a request without an id",
            Self::Premature => "a notification before the session was opened",
            Self::UnknownProgress => "progress of no open request",
            Self::StaleProgress => "progress that does not go on",
            Self::EndlessList => "a list without end",
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}
