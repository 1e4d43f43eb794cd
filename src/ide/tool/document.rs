//! What concerns one file that is open: whether it is saved, saving it, formatting it.

use super::{Answer, first_text, owned, read_json};
use crate::ide::Dialect;
use crate::ide::arguments::arguments;
use crate::mcp::ToolResult;
use alloc::{format, string::String};
use serde::{Deserialize, Serialize};

arguments! {
    /// The arguments of `checkDocumentDirty`.
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct CheckDocumentDirty {
        /// The path, or a `file:` URI.
        pub file_path: String = needed["filePath", "file_path", "path", "uri", "documentUri"],
    }
}

arguments! {
    /// The arguments of `saveDocument`.
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct SaveDocument {
        /// The path, or a `file:` URI.
        pub file_path: String = needed["filePath", "file_path", "path", "uri", "documentUri"],
    }
}

arguments! {
    /// The arguments of `reformat_file`.
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct ReformatFile {
        /// The path, or a `file:` URI.
        pub file_path: String = needed["file_path", "filePath", "path", "uri", "documentUri"],
    }
}

impl CheckDocumentDirty {
    /// Asks about this file.
    #[must_use]
    pub fn new(file_path: impl Into<String>) -> Self {
        Self { file_path: file_path.into() }
    }
}

impl SaveDocument {
    /// Saves this file.
    #[must_use]
    pub fn new(file_path: impl Into<String>) -> Self {
        Self { file_path: file_path.into() }
    }
}

impl ReformatFile {
    /// Formats this file.
    #[must_use]
    pub fn new(file_path: impl Into<String>) -> Self {
        Self { file_path: file_path.into() }
    }
}

/// The answer of `checkDocumentDirty`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DocumentState {
    /// It is open.
    Open {
        /// Its path.
        file_path: String,
        /// Whether it has changes that are not saved.
        is_dirty: bool,
        /// Whether it has never been saved.
        is_untitled: bool,
    },
    /// It is not open.
    NotOpen {
        /// What was asked for.
        file_path: String,
    },
}

/// The answer of `saveDocument`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DocumentSaved {
    /// It is open.
    Open {
        /// Its path.
        file_path: String,
        /// Whether it could be saved.
        saved: bool,
        /// What to say about it.
        message: String,
    },
    /// It is not open.
    NotOpen {
        /// What was asked for.
        file_path: String,
    },
}

/// Everything that is said about a file. Members that do not belong are left out.
#[derive(Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Said {
    success: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    file_path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    is_dirty: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    is_untitled: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    saved: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
}

const NOT_OPEN: &str = "Document not open: ";

impl Said {
    fn not_open(path: &str) -> Self {
        Self { message: Some(format!("{NOT_OPEN}{path}")), ..Self::default() }
    }

    /// The path, if it says that this is not open.
    fn is_not_open(&self) -> Option<String> {
        self.message.as_deref().filter(|_| !self.success)?.strip_prefix(NOT_OPEN).map(owned)
    }
}

impl Answer for DocumentState {
    fn result(&self, _: Dialect) -> ToolResult<'_> {
        ToolResult::json(&match self {
            Self::NotOpen { file_path } => Said::not_open(file_path),
            Self::Open { file_path, is_dirty, is_untitled } => Said {
                success: true,
                file_path: Some(file_path.clone()),
                is_dirty: Some(*is_dirty),
                is_untitled: Some(*is_untitled),
                ..Said::default()
            },
        })
    }

    fn read(result: &ToolResult<'_>) -> Option<Self> {
        let said: Said = read_json(result)?;
        if let Some(file_path) = said.is_not_open() {
            return Some(Self::NotOpen { file_path });
        }
        let is_untitled = said.is_untitled.unwrap_or_default();
        Some(Self::Open {
            file_path: said.file_path.unwrap_or_default(),
            is_dirty: said.is_dirty?,
            is_untitled,
        })
    }
}

impl Answer for DocumentSaved {
    fn result(&self, _: Dialect) -> ToolResult<'_> {
        ToolResult::json(&match self {
            Self::NotOpen { file_path } => Said::not_open(file_path),
            Self::Open { file_path, saved, message } => Said {
                success: true,
                file_path: Some(file_path.clone()),
                saved: Some(*saved),
                message: Some(message.clone()),
                ..Said::default()
            },
        })
    }

    fn read(result: &ToolResult<'_>) -> Option<Self> {
        let said: Said = read_json(result)?;
        if let Some(file_path) = said.is_not_open() {
            return Some(Self::NotOpen { file_path });
        }
        Some(Self::Open {
            saved: said.saved?,
            file_path: said.file_path.unwrap_or_default(),
            message: said.message.unwrap_or_default(),
        })
    }
}

/// The answer of `reformat_file`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reformatted {
    /// Whether there is such a file.
    pub found: bool,
}

impl Reformatted {
    /// It is formatted, if it was found.
    #[must_use]
    pub const fn new(found: bool) -> Self {
        Self { found }
    }
}

impl Answer for Reformatted {
    fn result(&self, dialect: Dialect) -> ToolResult<'_> {
        match (self.found, dialect.rules().ok_text) {
            (true, _) => ToolResult::text("OK"),
            (false, true) => ToolResult::text("File not found"),
            (false, false) => ToolResult::error("File not found"),
        }
    }

    fn read(result: &ToolResult<'_>) -> Option<Self> {
        first_text(result).map(|text| Self { found: text != "File not found" })
    }
}
