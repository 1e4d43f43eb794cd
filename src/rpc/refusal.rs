//! Why a session refuses to send or to answer. A refused operation changes nothing.

use core::fmt;

/// Why a message was not sent.
///
/// [Causes and reactions](crate::guide::errors#a-method-of-yours-was-refused).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotSent {
    /// The session is not ready yet, or no longer, so the peer would not take this message.
    NotReady,
    /// The send buffer is full and takes only answers. Try again when there is room.
    Full,
    /// As many requests are waiting for their answers as the limit allows.
    TooManyInFlight,
    /// The session has ended.
    Closed,
    /// The capability of the message was not declared when the session was opened: by this side or, for a form, by the
    /// peer that would show it.
    Undeclared,
    /// The parameters cannot be written as JSON, or are not an object.
    Unserializable,
}

impl fmt::Display for NotSent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotReady => "the session is not ready for this message: send it after `Ready`",
            Self::Full => "the send buffer is full: send later, when the peer has read",
            Self::TooManyInFlight => "too many requests wait for their answers: wait for an outcome first",
            Self::Closed => "the session has ended",
            Self::Undeclared => "the capability was not declared: declare it before the session is opened",
            Self::Unserializable => {
                "the parameters cannot be written as a JSON object: pass a struct or a map"
            }
        })
    }
}

impl core::error::Error for NotSent {}

/// Why a call was not answered. Nothing was sent.
///
/// [Causes and reactions](crate::guide::errors#a-method-of-yours-was-refused).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotAnswered {
    /// The call has been answered before.
    Answered,
    /// The peer cancelled the call, and expects no answer.
    Cancelled,
    /// The deadline of the call passed, and the session answered it for you.
    Expired,
    /// The session ended before the answer.
    Closed,
    /// The call is of another session, or ended so long ago that the session no longer has the reason.
    Unknown,
    /// The result cannot be written as JSON, or isn't an object. The call is still open and waits for another answer.
    Unserializable,
    /// The result isn't an answer to this call: it is the result of another tool, or of a tool although a prompt was
    /// requested. The call is still open and waits for another answer.
    NotAnAnswer,
}

impl NotAnswered {
    /// Returns true if the call has ended: no other answer helps. Otherwise it still waits for one.
    #[must_use]
    pub const fn is_over(self) -> bool {
        !matches!(self, Self::Unserializable | Self::NotAnAnswer)
    }
}

impl fmt::Display for NotAnswered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Answered => "the call has been answered",
            Self::Cancelled => "the peer cancelled the call and expects no answer",
            Self::Expired => "the deadline of the call has passed, and the session has answered: answer sooner, or set a timeout",
            Self::Closed => "the session ended before the call was answered",
            Self::Unknown => "no such call in this session",
            Self::Unserializable => "the result cannot be written as a JSON object, and the call is still open: answer with one",
            Self::NotAnAnswer => "the result does not answer this kind of call: answer as its tool does, or fail it",
        })
    }
}

impl core::error::Error for NotAnswered {}
