//! A request that waits for the peer, typed by its result.

use crate::ide::Answer;
use crate::mcp::{FormAnswer, Outcome, PromptResult, ResourceResult, ToolResult};
use crate::rpc::{ErrorObject, RequestId};
use alloc::{string::String, vec::Vec};
use core::fmt;
use core::marker::PhantomData;
use serde_json::value::RawValue;

/// A request whose result is an `A`. The agent calls a tool, or asks for a prompt or a resource; the
/// editor asks the person at the agent with a form. The outcome of the request
/// ([agent](super::ClientEvent::Outcome), [editor](super::ServerEvent::Outcome)) has the same
/// [name](Pending::id).
pub struct Pending<A> {
    id: RequestId,
    answer: PhantomData<fn() -> A>,
}

/// A result that a [`Pending`] request can have: the [`Answer`] of a tool, the messages of a prompt, the
/// contents of a resource, or the answer to a form.
pub trait FromResult: Sized {
    /// Reads the result.
    ///
    /// # Errors
    ///
    /// [`RequestError::Failed`] if the tool failed, and [`RequestError::Unreadable`] if the result is of
    /// another kind.
    fn from_result(raw: &RawValue) -> Result<Self, RequestError>;
}

impl<A: Answer> FromResult for A {
    fn from_result(raw: &RawValue) -> Result<Self, RequestError> {
        let result = ToolResult::read(raw).ok_or(RequestError::Unreadable)?;
        match A::read(&result) {
            Some(answer) => Ok(answer),
            None if result.is_error => {
                let texts: Vec<&str> = result.texts().collect();
                Err(RequestError::Failed(texts.join("\n")))
            }
            None => Err(RequestError::Unreadable),
        }
    }
}

impl FromResult for PromptResult<'static> {
    fn from_result(raw: &RawValue) -> Result<Self, RequestError> {
        PromptResult::read(raw).map(PromptResult::into_owned).ok_or(RequestError::Unreadable)
    }
}

impl FromResult for ResourceResult<'static> {
    fn from_result(raw: &RawValue) -> Result<Self, RequestError> {
        ResourceResult::read(raw).map(ResourceResult::into_owned).ok_or(RequestError::Unreadable)
    }
}

impl FromResult for FormAnswer {
    fn from_result(raw: &RawValue) -> Result<Self, RequestError> {
        Self::read(raw).ok_or(RequestError::Unreadable)
    }
}

impl<A: FromResult> Pending<A> {
    pub(super) const fn new(id: RequestId) -> Self {
        Self { id, answer: PhantomData }
    }

    /// Returns the name of the request.
    #[must_use]
    pub const fn id(&self) -> RequestId {
        self.id
    }

    /// Reads the outcome of the request.
    ///
    /// # Errors
    ///
    /// [`RequestError`] if the peer did not answer with an `A`. The result of an
    /// [`OtherTool`](crate::ide::OtherTool) is returned even if it reports that the tool failed.
    pub fn answer(self, outcome: Outcome) -> Result<A, RequestError> {
        let raw = match outcome {
            Outcome::Result(raw) => raw,
            Outcome::Error(error) => return Err(RequestError::Refused(error)),
            Outcome::TimedOut => return Err(RequestError::TimedOut),
            Outcome::Cancelled => return Err(RequestError::Cancelled),
            Outcome::Malformed => return Err(RequestError::Unreadable),
            Outcome::Closed => return Err(RequestError::Closed),
        };
        A::from_result(&raw)
    }
}

impl<A> fmt::Debug for Pending<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Pending").field(&self.id).finish()
    }
}

/// The reason for which a request has no answer of its kind.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum RequestError {
    /// The peer refused the request.
    Refused(ErrorObject),
    /// The tool failed. The text gives the reason.
    Failed(String),
    /// No answer came in time.
    TimedOut,
    /// This side cancelled the request.
    Cancelled,
    /// The result is of another kind than the request asks for, or does not fit the form.
    Unreadable,
    /// The session ended before the answer.
    Closed,
}

impl fmt::Display for RequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(error) => write!(f, "the peer refused the request: {error}"),
            Self::Failed(text) => write!(f, "the tool failed: {text}"),
            Self::TimedOut => f.write_str("the peer did not answer in time"),
            Self::Cancelled => f.write_str("the request was cancelled"),
            Self::Unreadable => f.write_str("the answer of the peer does not fit the request"),
            Self::Closed => f.write_str("the connection ended before the peer answered"),
        }
    }
}

impl core::error::Error for RequestError {}
