//! A request of the agent that waits for the editor, typed by its result.

use crate::ide::Answer;
use crate::mcp::{Outcome, PromptResult, ResourceResult, ToolResult};
use crate::rpc::{ErrorObject, RequestId};
use alloc::{string::String, vec::Vec};
use core::fmt;
use core::marker::PhantomData;
use serde_json::value::RawValue;

/// A request whose result is an `A`: a call of a tool, or a request for a prompt or a resource. The
/// [outcome](super::ClientEvent::Outcome) of the request has the same [name](Pending::id).
pub struct Pending<A> {
    id: RequestId,
    answer: PhantomData<fn() -> A>,
}

/// A result that a [`Pending`] request can have: the [`Answer`] of a tool, the messages of a prompt, or
/// the contents of a resource.
pub trait FromResult: Sized {
    /// Reads the result.
    ///
    /// # Errors
    ///
    /// [`CallError::Failed`] if the tool failed, and [`CallError::Unreadable`] if the result is of
    /// another kind.
    fn from_result(raw: &RawValue) -> Result<Self, CallError>;
}

impl<A: Answer> FromResult for A {
    fn from_result(raw: &RawValue) -> Result<Self, CallError> {
        let result = ToolResult::read(raw).ok_or(CallError::Unreadable)?;
        match A::read(&result) {
            Some(answer) => Ok(answer),
            None if result.is_error => {
                let texts: Vec<&str> = result.texts().collect();
                Err(CallError::Failed(texts.join("\n")))
            }
            None => Err(CallError::Unreadable),
        }
    }
}

impl FromResult for PromptResult<'static> {
    fn from_result(raw: &RawValue) -> Result<Self, CallError> {
        PromptResult::read(raw).map(PromptResult::into_owned).ok_or(CallError::Unreadable)
    }
}

impl FromResult for ResourceResult<'static> {
    fn from_result(raw: &RawValue) -> Result<Self, CallError> {
        ResourceResult::read(raw).map(ResourceResult::into_owned).ok_or(CallError::Unreadable)
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
    /// [`CallError`] if the editor did not answer with an `A`. The result of an
    /// [`OtherTool`](crate::ide::OtherTool) is returned even if it reports that the tool failed.
    pub fn answer(self, outcome: Outcome) -> Result<A, CallError> {
        let raw = match outcome {
            Outcome::Result(raw) => raw,
            Outcome::Error(error) => return Err(CallError::Refused(error)),
            Outcome::TimedOut => return Err(CallError::TimedOut),
            Outcome::Cancelled => return Err(CallError::Cancelled),
            Outcome::Malformed => return Err(CallError::Unreadable),
            Outcome::Closed => return Err(CallError::Closed),
        };
        A::from_result(&raw)
    }
}

impl<A> fmt::Debug for Pending<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Pending").field(&self.id).finish()
    }
}

/// The reason for which a call of a tool has no answer.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum CallError {
    /// The editor refused the call.
    Refused(ErrorObject),
    /// The tool failed. The text gives the reason.
    Failed(String),
    /// No answer came in time.
    TimedOut,
    /// The agent cancelled the call.
    Cancelled,
    /// The result is no answer of this tool.
    Unreadable,
    /// The session ended before the answer.
    Closed,
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(error) => write!(f, "the editor refused the call: {error}"),
            Self::Failed(text) => write!(f, "the tool failed: {text}"),
            Self::TimedOut => f.write_str("the editor did not answer in time"),
            Self::Cancelled => f.write_str("the call was cancelled"),
            Self::Unreadable => {
                f.write_str("the editor answered with something else than an answer of this tool")
            }
            Self::Closed => f.write_str("the connection ended before the editor answered"),
        }
    }
}

impl core::error::Error for CallError {}
