//! `saveDocument`: saves a file.

use super::ToolDef;
use super::answer::{HIDDEN, Shape, read_json};
use super::arguments::arguments;
use super::document_answer::DocumentReply;
use crate::ide::Dialect;
use crate::mcp::ToolResult;
use alloc::string::String;

arguments! {
    /// `saveDocument`: saves a file. Answer: [`DocumentSaved`].
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct SaveDocument {
        /// The path of the file, or its `file:` URI.
        pub file_path: String = required["filePath", "file_path", "path", "uri", "documentUri"] "Path of the file",
    }
}

impl ToolDef for SaveDocument {
    const NAME: &'static str = "saveDocument";
    const DESCRIPTION: &'static str = "Save a file that is open";
    const SNAKE_NAME: &'static str = "save_document";

    fn file(&self) -> Option<&str> {
        Some(&self.file_path)
    }
}

impl SaveDocument {
    /// Creates the arguments for this file.
    #[must_use]
    pub fn new(file_path: impl Into<String>) -> Self {
        Self { file_path: file_path.into() }
    }
}

/// What `saveDocument` answers.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DocumentSaved {
    /// The file is open.
    Open {
        /// The path of the file.
        file_path: String,
        /// True if the file was saved.
        saved: bool,
        /// What happened, in words.
        message: String,
    },
    /// The file is not open.
    NotOpen {
        /// The path as the client wrote it.
        file_path: String,
    },
}

impl Shape for DocumentSaved {
    fn result(&self, _: Dialect) -> ToolResult<'_> {
        ToolResult::json(&match self {
            Self::NotOpen { file_path } => DocumentReply::not_open(file_path),
            Self::Open { file_path, saved, message } => DocumentReply {
                success: true,
                file_path: Some(file_path.clone()),
                saved: Some(*saved),
                message: Some(message.clone()),
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
        Some(Self::Open {
            saved: reply.saved?,
            file_path: reply.file_path.unwrap_or_default(),
            message: reply.message.unwrap_or_default(),
        })
    }
}
