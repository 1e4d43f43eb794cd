//! Prompts: templates of messages that a person picks in the client (MCP 2025-11-25, prompts).

use alloc::{borrow::Cow, collections::BTreeMap, string::String, vec, vec::Vec};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::{
    mcp::{Content, content::read_block, listing::text_or_empty},
    rpc::{ErrorObject, from_json, read_object, text_of},
};

/// Describes one prompt in `prompts/list`.
///
/// ```
/// use ide_mcp::mcp::{PromptArgument, PromptSpec};
///
/// let review = PromptSpec::new("review", "Reviews the changes of this branch.")
///     .argument(PromptArgument::optional("base", "The branch to compare with."));
/// assert!(!review.arguments[0].required);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PromptSpec {
    /// The name of the prompt. The real client offers it as `/ide:NAME`.
    pub name: Cow<'static, str>,
    /// What a client shows instead of [`name`](Self::name) (MCP 2025-06-18). Left out if empty.
    #[serde(default, deserialize_with = "text_or_empty", skip_serializing_if = "str::is_empty")]
    pub title: Cow<'static, str>,
    /// What the prompt is for, for the person who picks it. Left out if empty.
    #[serde(default, deserialize_with = "text_or_empty", skip_serializing_if = "str::is_empty")]
    pub description: Cow<'static, str>,
    /// The arguments, in the order that the client asks the person for them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<PromptArgument>,
}

impl PromptSpec {
    /// Describes a prompt without arguments.
    pub fn new(name: impl Into<Cow<'static, str>>, description: impl Into<Cow<'static, str>>) -> Self {
        Self {
            name: name.into(),
            title: Cow::Borrowed(""),
            description: description.into(),
            arguments: Vec::new(),
        }
    }

    /// Sets the [title](Self::title).
    #[must_use]
    pub fn title(mut self, title: impl Into<Cow<'static, str>>) -> Self {
        self.title = title.into();
        self
    }

    /// Adds an argument.
    #[must_use]
    pub fn argument(mut self, argument: PromptArgument) -> Self {
        self.arguments.push(argument);
        self
    }
}

/// Describes an argument of a prompt. Its value is a string.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PromptArgument {
    /// The name of the argument.
    pub name: Cow<'static, str>,
    /// What the argument is for, for the person. Left out if empty.
    #[serde(default, deserialize_with = "text_or_empty", skip_serializing_if = "str::is_empty")]
    pub description: Cow<'static, str>,
    /// True if a request without this argument is refused.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub required: bool,
}

impl PromptArgument {
    /// Describes an argument that may be left out.
    pub fn optional(name: impl Into<Cow<'static, str>>, description: impl Into<Cow<'static, str>>) -> Self {
        Self { name: name.into(), description: description.into(), required: false }
    }

    /// Describes an argument that every request must have.
    pub fn required(name: impl Into<Cow<'static, str>>, description: impl Into<Cow<'static, str>>) -> Self {
        Self { required: true, ..Self::optional(name, description) }
    }
}

/// A client asks for the messages of a prompt: the parameters of `prompts/get`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct GetPrompt {
    /// The name of the prompt.
    pub name: String,
    /// The arguments: the value of each name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub arguments: BTreeMap<String, String>,
}

impl GetPrompt {
    /// Asks for a prompt, without arguments.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), arguments: BTreeMap::new() }
    }

    /// Sets an argument.
    #[must_use]
    pub fn argument(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.arguments.insert(name.into(), value.into());
        self
    }

    /// Reads the parameters. Null arguments count as absent.
    pub(in crate::mcp) fn read(params: Option<&RawValue>) -> Result<Self, ErrorObject> {
        #[derive(Deserialize)]
        struct Params<'a> {
            name: String,
            #[serde(borrow)]
            arguments: Option<&'a RawValue>,
        }
        let invalid = |text| ErrorObject::invalid_params(text);
        let read: Params<'_> =
            params.and_then(read_object).ok_or_else(|| invalid("prompts/get needs a name"))?;
        let arguments = match read.arguments {
            Some(arguments) => from_json(arguments.get())
                .map_err(|_| invalid("the arguments of a prompt must be an object of strings"))?,
            None => BTreeMap::new(),
        };
        Ok(Self { name: read.name, arguments })
    }
}

/// The result of `prompts/get`: the messages for the model.
///
/// ```
/// use ide_mcp::mcp::PromptResult;
/// let result = PromptResult::text("Review this file.");
/// assert_eq!(
///     serde_json::to_string(&result)?,
///     r#"{"messages":[{"role":"user","content":{"type":"text","text":"Review this file."}}]}"#,
/// );
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct PromptResult<'a> {
    /// A description of the prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<Cow<'a, str>>,
    /// The messages, in order.
    pub messages: Vec<PromptMessage<'a>>,
}

/// One message of a prompt.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct PromptMessage<'a> {
    /// Who says it.
    pub role: PromptRole,
    /// The content of the message.
    pub content: Content<'a>,
}

/// Who says a message of a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum PromptRole {
    /// The person.
    User,
    /// The model.
    Assistant,
}

impl<'a> PromptMessage<'a> {
    /// Returns a message.
    #[must_use]
    pub const fn new(role: PromptRole, content: Content<'a>) -> Self {
        Self { role, content }
    }
}

impl<'a> PromptResult<'a> {
    /// Returns a result with these messages.
    #[must_use]
    pub const fn new(messages: Vec<PromptMessage<'a>>) -> Self {
        Self { description: None, messages }
    }

    /// Returns a result with one message: this text, as said by the person.
    pub fn text(text: impl Into<Cow<'a, str>>) -> Self {
        Self::new(vec![PromptMessage::new(PromptRole::User, Content::text(text))])
    }

    /// Reads the result of a `prompts/get`. Returns `None` if `raw` has no array of messages, or if a message lacks a
    /// role or content.
    #[must_use]
    pub fn read(raw: &'a RawValue) -> Option<Self> {
        #[derive(Deserialize)]
        struct Members<'a> {
            #[serde(borrow)]
            description: Option<&'a RawValue>,
            #[serde(borrow)]
            messages: Vec<Message<'a>>,
        }
        #[derive(Deserialize)]
        struct Message<'a> {
            role: PromptRole,
            #[serde(borrow)]
            content: &'a RawValue,
        }
        let read: Members<'a> = read_object(raw)?;
        let messages = read.messages.into_iter();
        Some(Self {
            description: read.description.and_then(text_of),
            messages: messages.map(|read| PromptMessage::new(read.role, read_block(read.content))).collect(),
        })
    }

    /// Returns the texts of the messages, in order.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.messages.iter().filter_map(|message| message.content.as_text())
    }

    /// Returns the result with copies of all borrowed content.
    #[must_use]
    pub fn into_owned(self) -> PromptResult<'static> {
        let own = |message: PromptMessage<'_>| PromptMessage::new(message.role, message.content.into_owned());
        PromptResult {
            description: self.description.map(|text| Cow::Owned(text.into_owned())),
            messages: self.messages.into_iter().map(own).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::{format, string::ToString};

    #[test]
    fn specs_leave_out_empty_members() {
        let rows = [
            ("bare", PromptSpec::new("p", ""), r#"{"name":"p"}"#),
            ("with a title", PromptSpec::new("p", "").title("t"), r#"{"name":"p","title":"t"}"#),
            (
                "with arguments",
                PromptSpec::new("p", "d")
                    .argument(PromptArgument::required("a", "e"))
                    .argument(PromptArgument::optional("b", "")),
                r#"{"name":"p","description":"d","arguments":[{"name":"a","description":"e","required":true},{"name":"b"}]}"#,
            ),
        ];
        for (name, spec, want) in rows {
            assert_eq!(serde_json::to_string(&spec).unwrap(), want, "{name}");
        }
    }

    #[test]
    fn requests_are_read_tolerantly() {
        const CASES: &[(&str, &str, &str)] = &[
            ("no arguments", r#"{"name":"p"}"#, r#"{"name":"p"}"#),
            ("null arguments", r#"{"name":"p","arguments":null}"#, r#"{"name":"p"}"#),
            (
                "one",
                r#"{"arguments":{"a":"1"},"name":"p","_meta":{}}"#,
                r#"{"name":"p","arguments":{"a":"1"}}"#,
            ),
            (
                "a number",
                r#"{"name":"p","arguments":{"a":1}}"#,
                "-32602 the arguments of a prompt must be an object of strings",
            ),
            (
                "a list",
                r#"{"name":"p","arguments":[]}"#,
                "-32602 the arguments of a prompt must be an object of strings",
            ),
            ("no name", "{}", "-32602 prompts/get needs a name"),
            ("an array instead of the parameters", "[]", "-32602 prompts/get needs a name"),
        ];
        for (name, text, want) in CASES {
            let params: &RawValue = serde_json::from_str(text).unwrap();
            let got = match GetPrompt::read(Some(params)) {
                Ok(read) => serde_json::to_string(&read).unwrap(),
                Err(error) => format!("{} {}", error.code, error.message),
            };
            assert_eq!(got, *want, "{name}");
        }
        assert_eq!(GetPrompt::read(None).unwrap_err().code, -32602);
    }

    #[test]
    fn a_written_result_is_read_back_equal() {
        const CASES: &[(&str, &str, Option<&[&str]>)] = &[
            ("an empty array of messages", r#"{"messages":[]}"#, Some(&[])),
            (
                "two",
                r#"{"description":"d","messages":[{"role":"user","content":{"type":"text","text":"a"}},{"role":"assistant","content":{"type":"text","text":"b"}}]}"#,
                Some(&["a", "b"]),
            ),
            ("an image", r#"{"messages":[{"role":"user","content":{"type":"image","data":""}}]}"#, Some(&[])),
            ("no role", r#"{"messages":[{"content":{"type":"text","text":"a"}}]}"#, None),
            ("no content", r#"{"messages":[{"role":"user"}]}"#, None),
            ("no messages", "{}", None),
            ("not an object", "[]", None),
        ];
        for (name, text, want) in CASES {
            let raw: &RawValue = serde_json::from_str(text).unwrap();
            let read = PromptResult::read(raw).map(PromptResult::into_owned);
            let got = read.as_ref().map(|read| read.texts().collect::<Vec<_>>());
            assert_eq!(got.as_deref(), *want, "{name}");
            if let Some(read) = read {
                assert_eq!(serde_json::to_string(&read).unwrap(), text.to_string(), "{name}");
            }
        }
    }
}
