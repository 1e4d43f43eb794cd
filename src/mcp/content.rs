//! What a tool returns: blocks of content, which a server writes and a client reads.

use alloc::{borrow::Cow, vec, vec::Vec};

use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use crate::rpc::{members, text_of};

/// One block of the result of a tool.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Content<'a> {
    /// A block of text: `{"type":"text","text":…}`.
    Text(Cow<'a, str>),
    /// A block of another kind, or an unreadable one, kept as it was written.
    Raw(Cow<'a, RawValue>),
}

impl<'a> Content<'a> {
    /// Returns a block of text.
    pub fn text(text: impl Into<Cow<'a, str>>) -> Self {
        Self::Text(text.into())
    }

    /// Returns the text, if this is a block of text.
    pub(super) fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Raw(_) => None,
        }
    }

    /// Returns the block with a copy of borrowed content.
    #[must_use]
    pub fn into_owned(self) -> Content<'static> {
        match self {
            Self::Text(text) => Content::Text(Cow::Owned(text.into_owned())),
            Self::Raw(raw) => Content::Raw(Cow::Owned(raw.into_owned())),
        }
    }
}

impl PartialEq for Content<'_> {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Text(text), Content::Text(other)) => text == other,
            (Self::Raw(raw), Content::Raw(other)) => raw.get() == other.get(),
            (Self::Text(_) | Self::Raw(_), _) => false,
        }
    }
}

impl Eq for Content<'_> {}

impl Serialize for Content<'_> {
    #[inline]
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => serializer.collect_map([("type", "text"), ("text", text)]),
            Self::Raw(raw) => raw.serialize(serializer),
        }
    }
}

/// The result of a tool: `{"content":[…]}`, and `"isError":true` only if it failed.
///
/// If your tool fails, answer with [`error`](Self::error), so that the model can read what went wrong. A JSON-RPC error
/// is only for calls that never reached a tool.
///
/// ```
/// use ide_mcp::mcp::ToolResult;
///
/// let done = ToolResult::text("formatted 3 files");
/// let failed = ToolResult::error("rustfmt is not installed");
/// assert!(!done.is_error && failed.is_error);
/// assert_eq!(failed.texts().collect::<Vec<_>>(), ["rustfmt is not installed"]);
/// ```
#[derive(Clone, Debug, Default, Serialize, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolResult<'a> {
    /// The blocks of content, in order.
    pub content: Vec<Content<'a>>,
    /// True if the tool failed.
    #[serde(rename = "isError", skip_serializing_if = "core::ops::Not::not")]
    pub is_error: bool,
}

impl<'a> ToolResult<'a> {
    /// Returns a result with these blocks.
    #[must_use]
    pub const fn new(content: Vec<Content<'a>>) -> Self {
        Self { content, is_error: false }
    }

    /// Returns a result with one block of text.
    pub fn text(text: impl Into<Cow<'a, str>>) -> Self {
        Self::new(vec![Content::Text(text.into())])
    }

    /// Returns the result of a failed tool; the text says what went wrong.
    pub fn error(text: impl Into<Cow<'a, str>>) -> Self {
        Self { content: vec![Content::Text(text.into())], is_error: true }
    }

    /// Reads the result of a `tools/call`. Returns `None` if `raw` is not an object, or has a `content` that is not an
    /// array.
    ///
    /// Reading is tolerant: a null or absent `content` counts as empty, and a block that is not readable text is kept
    /// as it is. `isError` counts as false if it is absent, null, `false`, `0`, `""` or `"false"`. Anything else counts
    /// as true, because a failure must not be taken for a success.
    #[must_use]
    pub fn read(raw: &'a RawValue) -> Option<Self> {
        let [content, is_error] = members(raw, ["content", "isError"])?;
        let blocks: Vec<&RawValue> = match content {
            Some(content) => serde_json::from_str(content.get()).ok()?,
            None => Vec::new(),
        };
        let is_false = |flag: &RawValue| match flag.get() {
            "false" | "0" => true,
            _ => text_of(flag).is_some_and(|text| matches!(&*text, "" | "false")),
        };
        let is_error = is_error.is_some_and(|flag| !is_false(flag));
        Some(Self { content: blocks.into_iter().map(read_block).collect(), is_error })
    }

    /// Reads a result that has everything that MCP requires: an array of blocks, each with a type. [`read`](Self::read)
    /// is more tolerant.
    pub(crate) fn read_whole(raw: &'a RawValue) -> Option<Self> {
        let [content] = members(raw, ["content"])?;
        let blocks: Vec<&RawValue> = serde_json::from_str(content?.get()).ok()?;
        let is_typed =
            |block: &&RawValue| members(block, ["type"]).and_then(|[kind]| text_of(kind?)).is_some();
        if blocks.iter().all(is_typed) { Self::read(raw) } else { None }
    }

    /// Returns the texts of the text blocks, in order.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.content.iter().filter_map(Content::as_text)
    }

    /// Returns the result with copies of all borrowed content.
    #[must_use]
    pub fn into_owned(self) -> ToolResult<'static> {
        let content = self.content.into_iter().map(Content::into_owned).collect();
        ToolResult { content, is_error: self.is_error }
    }
}

/// Reads a block. If it is not readable text, keeps it as it is.
pub(super) fn read_block(raw: &RawValue) -> Content<'_> {
    let text = members(raw, ["type", "text"]).and_then(|[kind, text]| {
        let is_text = text_of(kind?)? == "text";
        text_of(text?).filter(|_| is_text)
    });
    text.map_or(Content::Raw(Cow::Borrowed(raw)), Content::Text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::boxed::Box;

    #[test]
    fn results_have_the_shape_that_clients_accept() {
        let raw: Box<RawValue> = serde_json::from_str(r#"{"type":"image","data":""}"#).unwrap();
        let rows = [
            ("one text", ToolResult::text("a\"b"), r#"{"content":[{"type":"text","text":"a\"b"}]}"#),
            (
                "failure",
                ToolResult::error("no"),
                r#"{"content":[{"type":"text","text":"no"}],"isError":true}"#,
            ),
            ("nothing", ToolResult::default(), r#"{"content":[]}"#),
            (
                "raw block",
                ToolResult::new(vec![Content::text(""), Content::Raw(Cow::Owned(raw))]),
                r#"{"content":[{"type":"text","text":""},{"type":"image","data":""}]}"#,
            ),
        ];
        for (name, result, want) in rows {
            assert_eq!(serde_json::to_string(&result).unwrap(), want, "{name}");
        }
    }

    #[test]
    fn blocks_are_equal_if_they_are_written_the_same() {
        let raw = |json: &str| Content::Raw(Cow::Owned(serde_json::from_str::<Box<RawValue>>(json).unwrap()));
        let image = r#"{"type":"image","data":""}"#;
        for (name, one, other, is_equal) in [
            ("texts", Content::text("a"), Content::text("a"), true),
            ("other texts", Content::text("a"), Content::text("b"), false),
            ("raw blocks", raw(image), raw(image), true),
            ("other raw blocks", raw(image), raw("{}"), false),
            ("a raw block with a blank", raw(image), raw(&image.replace(',', ", ")), false),
            ("a text and a raw block", Content::text(image), raw(image), false),
        ] {
            assert_eq!(one == other, is_equal, "{name}");
            assert_eq!(other == one, is_equal, "{name}, the other way round");
        }
    }

    #[test]
    fn results_are_read_tolerantly() {
        type Row = (&'static str, &'static str, Option<(&'static [&'static str], usize, bool)>);
        const CASES: &[Row] = &[
            ("one text", r#"{"content":[{"type":"text","text":"a\nb"}]}"#, Some((&["a\nb"], 1, false))),
            (
                "two texts",
                r#"{"content":[{"type":"text","text":"FILE_SAVED"},{"text":"x","type":"text"}]}"#,
                Some((&["FILE_SAVED", "x"], 2, false)),
            ),
            ("isError", r#"{"content":[],"isError":true}"#, Some((&[], 0, true))),
            ("isError false", r#"{"content":[],"isError":false}"#, Some((&[], 0, false))),
            (
                "null members",
                r#"{"content":null,"isError":null,"structuredContent":null}"#,
                Some((&[], 0, false)),
            ),
            (
                "unknown block",
                r#"{"content":[{"type":"hologram"},{"type":"text","text":"t"}]}"#,
                Some((&["t"], 2, false)),
            ),
            ("text block without text", r#"{"content":[{"type":"text"}]}"#, Some((&[], 1, false))),
            (
                "annotated text",
                r#"{"content":[{"type":"text","text":"t","annotations":null}]}"#,
                Some((&["t"], 1, false)),
            ),
            (
                "half a surrogate pair",
                r#"{"content":[{"type":"text","text":"a\ud83d"}]}"#,
                Some((&["a\u{fffd}"], 1, false)),
            ),
            (
                "half a surrogate pair in names and kinds",
                r#"{"\ud83d":1,"content":[{"type":"\ud83d","text":"a"},{"\ud83d":1,"type":"text","text":"b"}]}"#,
                Some((&["b"], 2, false)),
            ),
            (
                "members that are present twice",
                r#"{"content":[],"isError":false,"content":[{"type":"x","text":1,"type":"text","text":"t"}],"isError":true}"#,
                Some((&["t"], 1, true)),
            ),
            ("isError as a string", r#"{"content":[],"isError":"true"}"#, Some((&[], 0, true))),
            ("isError as a number", r#"{"content":[],"isError":1}"#, Some((&[], 0, true))),
            ("isError as an empty string", r#"{"content":[],"isError":""}"#, Some((&[], 0, false))),
            ("isError as the string false", r#"{"content":[],"isError":"false"}"#, Some((&[], 0, false))),
            ("isError as zero", r#"{"content":[],"isError":0}"#, Some((&[], 0, false))),
            ("no members", "{}", Some((&[], 0, false))),
            ("not an object", "[]", None),
            ("content is not an array", r#"{"content":"t"}"#, None),
        ];
        for (name, text, want) in CASES {
            let raw: &RawValue = serde_json::from_str(text).unwrap();
            let read = ToolResult::read(raw).map(ToolResult::into_owned);
            let got = read.as_ref().map(|r| (r.texts().collect::<Vec<_>>(), r.content.len(), r.is_error));
            let want = want.map(|(texts, blocks, failed)| (texts.to_vec(), blocks, failed));
            assert_eq!(got, want, "{name}");
        }
    }
}
