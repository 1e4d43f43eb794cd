//! A request that waits for the peer, typed by its result.

use crate::ide::tool::Shape;
use crate::mcp::{
    FormAnswer, List, Outcome, PromptResult, PromptSpec, ResourceResult, ResourceSpec, ResourceTemplate,
    ToolResult, ToolSpec,
};
use crate::rpc::{ErrorObject, RequestId};
use alloc::{string::String, vec::Vec};
use core::fmt;
use core::marker::PhantomData;
use serde_json::value::RawValue;

/// A request that waits for its answer, which will be an `A`. You get one from each method that sends a request: of an
/// agent that calls a tool or asks for a list, a prompt or a resource, and of an editor that asks the person at the
/// agent with a form. Keep it; when the outcome with the same [id](Pending::id) comes
/// ([agent](super::ClientEvent::Outcome), [editor](super::ServerEvent::Outcome)), [`answer`](Pending::answer) reads it.
///
/// ```
/// use ide_mcp::ide::tool::{GetOpenEditors, OpenEditors};
/// use ide_mcp::ide::{Client, ClientEvent, Pending};
///
/// /// Asks for the open tabs once the agent is attached, and prints them when the answer comes.
/// fn on_event(client: &mut Client, tabs: &mut Option<Pending<OpenEditors>>, event: ClientEvent) {
///     match event {
///         ClientEvent::Ready(_) => *tabs = client.call_tool(&GetOpenEditors).ok(),
///         ClientEvent::Outcome { request, outcome } => {
///             if let Some(pending) = tabs.take_if(|pending| pending.id() == request) {
///                 println!("{:?}", pending.answer(outcome));
///             }
///         }
///         _ => {}
///     }
/// }
/// ```
pub struct Pending<A> {
    id: RequestId,
    answer: PhantomData<fn() -> A>,
}

/// What a [`Pending`] request can return: the [`Answer`](crate::ide::tool::Answer) of a tool, a list, the messages of a
/// prompt, the contents of a resource, or the answer to a form. No other type can implement it.
pub trait FromResult: ReadResult {}

impl<A: ReadResult> FromResult for A {}

/// How a result is read.
#[allow(unnameable_types, reason = "that it cannot be named is what seals `FromResult`")]
pub trait ReadResult: Sized {
    /// Reads the result.
    ///
    /// # Errors
    ///
    /// [`RequestError::Failed`] if the tool failed, and [`RequestError::Unreadable`] if the result is of
    /// another kind.
    fn from_result(raw: &RawValue) -> Result<Self, RequestError>;
}

impl<A: Shape> ReadResult for A {
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

impl ReadResult for Vec<ToolSpec> {
    fn from_result(raw: &RawValue) -> Result<Self, RequestError> {
        List::Tools.read(raw).ok_or(RequestError::Unreadable)
    }
}

impl ReadResult for Vec<PromptSpec> {
    fn from_result(raw: &RawValue) -> Result<Self, RequestError> {
        List::Prompts.read(raw).ok_or(RequestError::Unreadable)
    }
}

impl ReadResult for Vec<ResourceSpec> {
    fn from_result(raw: &RawValue) -> Result<Self, RequestError> {
        List::Resources.read(raw).ok_or(RequestError::Unreadable)
    }
}

impl ReadResult for Vec<ResourceTemplate> {
    fn from_result(raw: &RawValue) -> Result<Self, RequestError> {
        List::ResourceTemplates.read(raw).ok_or(RequestError::Unreadable)
    }
}

impl ReadResult for PromptResult<'static> {
    fn from_result(raw: &RawValue) -> Result<Self, RequestError> {
        PromptResult::read(raw).map(PromptResult::into_owned).ok_or(RequestError::Unreadable)
    }
}

impl ReadResult for ResourceResult<'static> {
    fn from_result(raw: &RawValue) -> Result<Self, RequestError> {
        ResourceResult::read(raw).map(ResourceResult::into_owned).ok_or(RequestError::Unreadable)
    }
}

impl ReadResult for FormAnswer {
    fn from_result(raw: &RawValue) -> Result<Self, RequestError> {
        Self::read(raw).ok_or(RequestError::Unreadable)
    }
}

impl<A: FromResult> Pending<A> {
    pub(super) const fn new(id: RequestId) -> Self {
        Self { id, answer: PhantomData }
    }

    /// Returns the id of the request.
    #[must_use]
    pub const fn id(&self) -> RequestId {
        self.id
    }

    /// Reads the outcome of the request.
    ///
    /// # Errors
    ///
    /// [`RequestError`] if the peer did not answer with an `A`. The result of an
    /// [`OtherTool`](crate::ide::tool::OtherTool) is returned even if it reports that the tool failed.
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

/// Why a request did not get the answer it asked for.
///
/// [Causes and reactions](crate::guide::errors#a-request-has-no-answer).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RequestError {
    /// The peer refused the request.
    Refused(ErrorObject),
    /// The tool failed. The text says why.
    Failed(String),
    /// No answer came in time.
    TimedOut,
    /// This side cancelled the request.
    Cancelled,
    /// The result is not what the request asks for, or does not fit the form.
    Unreadable,
    /// The session ended before the answer came.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ide::tool::{Diagnostics, Done};
    use alloc::{borrow::ToOwned, string::ToString};

    /// Reads a list and serializes its items again; `None` if it cannot be read.
    fn read<T>(text: &str) -> Option<String>
    where
        Vec<T>: FromResult + serde::Serialize,
    {
        let raw: &RawValue = serde_json::from_str(text).unwrap();
        match Vec::<T>::from_result(raw) {
            Ok(items) => Some(serde_json::to_string(&items).unwrap()),
            Err(RequestError::Unreadable) => None,
            Err(other) => panic!("{other}"),
        }
    }

    #[test]
    fn lists_are_read_by_their_type() {
        type Read = fn(&str) -> Option<String>;
        const ALL: &str = r#"[{"name":"n","title":"t","description":"d","inputSchema":{"type": "object"},"annotations":{"readOnlyHint":true}}]"#;
        const PROMPT: &str =
            r#"[{"name":"n","title":"t","description":"d","arguments":[{"name":"a","required":true}]}]"#;
        const RESOURCE: &str = r#"[{"uri":"u","name":"n","mimeType":"text/plain"}]"#;
        const TEMPLATE: &str = r#"[{"uriTemplate":"u","name":"n","title":"t"}]"#;
        let cases: &[(&str, Read, &str, &str, Option<&str>)] = &[
            ("every member", read::<ToolSpec>, "tools", ALL, Some(ALL)),
            ("an empty list", read::<ToolSpec>, "tools", "[]", Some("[]")),
            (
                "only a name",
                read::<ToolSpec>,
                "tools",
                r#"[{"name":"n"}]"#,
                Some(r#"[{"name":"n","inputSchema":{"type":"object"}}]"#),
            ),
            (
                "members of the wrong type count as absent, and unknown ones are ignored",
                read::<ToolSpec>,
                "tools",
                r#"[{"name":"n","title":null,"description":1,"inputSchema":[],"annotations":null,"icons":[]}]"#,
                Some(r#"[{"name":"n","inputSchema":{"type":"object"}}]"#),
            ),
            ("a tool without a name", read::<ToolSpec>, "tools", r#"[{"title":"t"}]"#, None),
            ("an item that is not an object", read::<ToolSpec>, "tools", "[1]", None),
            ("an object instead of a list", read::<ToolSpec>, "tools", "{}", None),
            ("another list", read::<ToolSpec>, "prompts", "[]", None),
            ("a prompt", read::<PromptSpec>, "prompts", PROMPT, Some(PROMPT)),
            ("a resource", read::<ResourceSpec>, "resources", RESOURCE, Some(RESOURCE)),
            ("a resource without a URI", read::<ResourceSpec>, "resources", r#"[{"name":"n"}]"#, None),
            ("a template", read::<ResourceTemplate>, "resourceTemplates", TEMPLATE, Some(TEMPLATE)),
        ];
        for (name, read, member, items, want) in cases {
            let text = ["{\"", member, "\":", items, "}"].concat();
            assert_eq!(read(&text).as_deref(), *want, "{name}");
        }
        assert_eq!(read::<ToolSpec>("[]"), None, "a result that is not an object");
    }

    #[test]
    fn answers_are_read_by_their_type() {
        fn error<T: FromResult>(text: &str) -> Option<String> {
            T::from_result(serde_json::from_str(text).unwrap()).err().map(|error| error.to_string())
        }
        let unreadable = Some("the answer of the peer does not fit the request".to_owned());
        const DONE: &str = r#"{"content":[{"type":"text","text":"OK"}]}"#;
        const FAILED: &str =
            r#"{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}],"isError":true}"#;
        assert_eq!(error::<Done>(DONE), None);
        assert_eq!(error::<Done>(FAILED), Some("the tool failed: a\nb".into()));
        assert_eq!(error::<Diagnostics>(DONE), unreadable, "an answer without diagnostics");
        assert_eq!(error::<Done>("[]"), unreadable, "a result that is not an object");
        // The result of an application's own tool is returned even if the tool failed, because its text is for the
        // model.
        for (text, is_error) in [(DONE, false), (FAILED, true)] {
            let result = ToolResult::from_result(serde_json::from_str(text).unwrap()).unwrap();
            assert_eq!((result.is_error, result.texts().count()), (is_error, if is_error { 2 } else { 1 }));
        }
    }
}
