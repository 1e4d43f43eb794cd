//! `executeCode`: runs code in a notebook.

use super::ToolDef;
use super::answer::Shape;
use super::arguments::arguments;
use crate::ide::Dialect;
use crate::mcp::{Content, Timeout, ToolResult};
use crate::rpc::{members, text_of};
use alloc::{borrow::Cow, string::String, vec::Vec};
use serde::Serialize;

arguments! {
    /// `executeCode`: runs code in a notebook. **Ask a person first**, because the model can send any code. Answer:
    /// [`CodeOutput`].
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct ExecuteCode {
        /// The code.
        pub code: String = contents["code"] "The code",
    }
}

impl ToolDef for ExecuteCode {
    const NAME: &'static str = "executeCode";
    const DESCRIPTION: &'static str = "Run Python code in the kernel of the notebook that is open";
    const SNAKE_NAME: &'static str = "execute_code";
    // The editor asks a person first.
    const TIMEOUT: Timeout = Timeout::Never;
}

impl ExecuteCode {
    /// Creates the arguments for this code.
    #[must_use]
    pub fn new(code: impl Into<String>) -> Self {
        Self { code: code.into() }
    }
}

/// What the code printed: text and images, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "the answer of every client and editor has this one part")]
pub struct CodeOutput {
    /// The blocks of the output.
    pub blocks: Vec<OutputBlock>,
}

/// A part of the output of code.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OutputBlock {
    /// Text.
    Text(String),
    /// An image.
    Image {
        /// The bytes of the image in base64.
        data: String,
        /// The media type of the image, such as `image/png`.
        mime_type: String,
    },
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Image<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    data: &'a str,
    mime_type: &'a str,
}

impl OutputBlock {
    fn content(&self) -> Content<'_> {
        match self {
            Self::Text(text) => Content::text(text.as_str()),
            Self::Image { data, mime_type } => {
                let image = Image { kind: "image", data, mime_type };
                // An object of strings can always be serialized.
                let raw = serde_json::value::to_raw_value(&image).unwrap_or_default();
                Content::Raw(Cow::Owned(raw))
            }
        }
    }
}

impl Shape for CodeOutput {
    fn result(&self, _: Dialect) -> ToolResult<'_> {
        ToolResult::new(self.blocks.iter().map(OutputBlock::content).collect())
    }

    /// Reads blocks of text and images, and skips other blocks.
    fn read(result: &ToolResult<'_>) -> Option<Self> {
        let block = |block: &Content<'_>| match block {
            Content::Text(text) => Some(OutputBlock::Text(text.as_ref().into())),
            Content::Raw(raw) => {
                let [kind, data, mime_type] = members(raw, ["type", "data", "mimeType"])?;
                let text = |raw| text_of(raw).map(Cow::into_owned);
                text_of(kind?).filter(|kind| kind == "image")?;
                Some(OutputBlock::Image { data: text(data?)?, mime_type: text(mime_type?)? })
            }
        };
        (!result.is_error).then(|| Self { blocks: result.content.iter().filter_map(block).collect() })
    }
}
