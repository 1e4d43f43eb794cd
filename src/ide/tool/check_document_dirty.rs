//! `checkDocumentDirty`: whether a file has unsaved changes.

use super::ToolDef;
use super::answer::{HIDDEN, Shape, read_json};
use super::arguments::arguments;
use super::document_answer::DocumentReply;
use crate::ide::Dialect;
use crate::mcp::ToolResult;
use alloc::string::String;

arguments! {
    /// `checkDocumentDirty`: asks whether a file has unsaved changes. Answer: [`DocumentState`].
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct CheckDocumentDirty {
        /// The path of the file, or its `file:` URI.
        pub file_path: String = required["filePath", "file_path", "path", "uri", "documentUri"] "Path of the file",
    }
}

impl ToolDef for CheckDocumentDirty {
    const NAME: &'static str = "checkDocumentDirty";
    const DESCRIPTION: &'static str = "Check whether a file has changes that are not saved";
    const SNAKE_NAME: &'static str = "check_document_dirty";
    const IS_READ_ONLY: bool = true;

    fn file(&self) -> Option<&str> {
        Some(&self.file_path)
    }
}

impl CheckDocumentDirty {
    /// Creates the arguments for this file.
    #[must_use]
    pub fn new(file_path: impl Into<String>) -> Self {
        Self { file_path: file_path.into() }
    }
}

/// What `checkDocumentDirty` answers.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DocumentState {
    /// The file is open.
    Open {
        /// The path of the file.
        file_path: String,
        /// True if the file has unsaved changes.
        is_dirty: bool,
        /// True if the file has never been saved.
        is_untitled: bool,
    },
    /// The file is not open.
    NotOpen {
        /// The path as the client wrote it.
        file_path: String,
    },
}

impl Shape for DocumentState {
    fn result(&self, _: Dialect) -> ToolResult<'_> {
        ToolResult::json(&match self {
            Self::NotOpen { file_path } => DocumentReply::not_open(file_path),
            Self::Open { file_path, is_dirty, is_untitled } => DocumentReply {
                success: true,
                file_path: Some(file_path.clone()),
                is_dirty: Some(*is_dirty),
                is_untitled: Some(*is_untitled),
                ..DocumentReply::default()
            },
        })
    }

    /// If the file is hidden, the answer says that it is not open.
    fn without_hidden(&self, hides: &dyn Fn(&str) -> bool) -> Option<Self> {
        let (Self::Open { file_path, .. } | Self::NotOpen { file_path }) = self;
        hides(file_path).then(|| Self::NotOpen { file_path: HIDDEN.into() })
    }

    fn read(result: &ToolResult<'_>) -> Option<Self> {
        let reply: DocumentReply = read_json(result)?;
        if let Some(file_path) = reply.is_not_open() {
            return Some(Self::NotOpen { file_path });
        }
        let is_untitled = reply.is_untitled.unwrap_or_default();
        Some(Self::Open {
            file_path: reply.file_path.unwrap_or_default(),
            is_dirty: reply.is_dirty?,
            is_untitled,
        })
    }
}
