//! What the caller of a session did that could not be done. Nothing changes when one of these is returned.

use core::fmt;

/// Why a message was not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotSent {
    /// The session is not yet, or no longer, in a state in which the peer takes this message.
    NotReady,
    /// The send buffer is full: only answers are taken. Try again when there is room.
    Full,
    /// As many requests as the limit allows wait for their answers.
    TooManyInFlight,
    /// The session has ended.
    Closed,
    /// The message announces what this side did not declare when the session was opened.
    Undeclared,
    /// The parameters could not be written as JSON, or are no object.
    Unserializable,
}

impl fmt::Display for NotSent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotReady => "the session is not ready for this message",
            Self::Full => "the send buffer is full",
            Self::TooManyInFlight => "too many requests wait for their answers",
            Self::Closed => "the session has ended",
            Self::Undeclared => "the capability was not declared",
            Self::Unserializable => "the parameters cannot be written as a JSON object",
        })
    }
}

impl core::error::Error for NotSent {}

/// Why a call was not answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RespondError {
    /// The call is not open: how it ended.
    NotOpen(NotOpen),
    /// The result could not be written as JSON, or is no object. The call is still open, and waits for another answer.
    Unserializable,
    /// The result is no answer of the tool that the call calls. The call is still open, and waits for another answer.
    NotAnAnswer,
}

impl From<NotOpen> for RespondError {
    fn from(reason: NotOpen) -> Self {
        Self::NotOpen(reason)
    }
}

impl fmt::Display for RespondError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotOpen(reason) => reason.fmt(f),
            Self::Unserializable => f.write_str("the result cannot be written as a JSON object"),
            Self::NotAnAnswer => f.write_str("the result is no answer of the tool that was called"),
        }
    }
}

impl core::error::Error for RespondError {}

/// Why a call can no longer be answered: how it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotOpen {
    /// It has been answered.
    Answered,
    /// The peer cancelled it and expects no answer.
    Cancelled,
    /// Its deadline passed, and it was answered for the application.
    Expired,
    /// The session ended first.
    Closed,
    /// It belongs to another session, or it ended so long ago that how is forgotten.
    Unknown,
}

impl fmt::Display for NotOpen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Answered => "the call has been answered",
            Self::Cancelled => "the call was cancelled by the peer",
            Self::Expired => "the deadline of the call has passed",
            Self::Closed => "the session ended before the call was answered",
            Self::Unknown => "no such call in this session",
        })
    }
}

impl core::error::Error for NotOpen {}
