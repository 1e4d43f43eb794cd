//! `openFile`: shows a file.

use super::ToolDef;
use super::answer::{Answer, first_text};
use crate::ide::Dialect;
use crate::ide::arguments::arguments;
use crate::ide::dialect::Wording;
use crate::mcp::ToolResult;
use alloc::{format, string::String};
use serde::{Deserialize, Serialize};

arguments! {
    /// `openFile`: shows a file. Answer: [`OpenedFile`].
    ///
    /// [`passage`](OpenFile::passage) finds what is to be selected.
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct OpenFile {
        /// The path, or a `file:` URI.
        pub file_path: String = needed["filePath", "file_path", "path", "uri", "documentUri"] "Path of the file",
        /// Whether the tab may be replaced by the next one. Default no.
        pub preview: bool = flag(false)["preview"] "Whether the tab may be replaced by the next one",
        /// Select from the first occurrence of this text.
        pub start_text: Option<String> = optional["startText", "start_text"]
            "Select from the first occurrence of this text",
        /// Select up to the end of the next occurrence of this text.
        pub end_text: Option<String> = optional["endText", "end_text"]
            "Select to the end of the next occurrence of this text",
        /// Extend the selection to the end of its last line. Default no.
        pub select_to_end_of_line: bool = flag(false)["selectToEndOfLine", "select_to_end_of_line"]
            "Extend the selection to the end of its line",
        /// Whether to take the focus. Default yes; without it the answer describes the file instead.
        pub make_frontmost: bool = flag(true)["makeFrontmost", "make_frontmost"] "Whether to take the focus",
        /// Select from this line, **counted from 1**, as some clients ask instead of naming a text.
        pub start_line: Option<u32> = maybe["startLine", "start_line", "line"],
        /// Select to this line, counted from 1, itself included.
        pub end_line: Option<u32> = maybe["endLine", "end_line"],
    }
}

impl ToolDef for OpenFile {
    const NAME: &'static str = "openFile";
    const DESCRIPTION: &'static str = "Open a file in the editor, and select a part of it if asked to";
    const SNAKE_NAME: &'static str = "open_file";
}

impl OpenFile {
    /// Shows this file, in front, without selecting anything.
    #[must_use]
    pub fn new(file_path: impl Into<String>) -> Self {
        Self {
            file_path: file_path.into(),
            preview: false,
            start_text: None,
            end_text: None,
            select_to_end_of_line: false,
            make_frontmost: true,
            start_line: None,
            end_line: None,
        }
    }
}

/// The answer of `openFile`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OpenedFile {
    /// It is shown and has the focus.
    InFront {
        /// Its path.
        path: String,
        /// What else there is to say, such as that a text to be selected is not in it.
        note: Option<String>,
    },
    /// It is open, and the focus is where it was.
    InBackground {
        /// Its path.
        path: String,
        /// What language it is in, as VS Code calls it: `rust`, `plaintext`.
        language_id: String,
        /// How many lines it has.
        line_count: usize,
    },
    /// There is no such file, or it is not in a folder of this editor.
    NotFound {
        /// What was asked for.
        path: String,
    },
}

impl OpenedFile {
    /// It is shown and has the focus.
    #[must_use]
    pub fn focused(path: impl Into<String>, note: Option<String>) -> Self {
        Self::InFront { path: path.into(), note }
    }

    /// It is open, and the focus is where it was.
    #[must_use]
    pub fn unfocused(path: impl Into<String>, language_id: impl Into<String>, line_count: usize) -> Self {
        Self::InBackground { path: path.into(), language_id: language_id.into(), line_count }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Opened {
    success: bool,
    file_path: String,
    #[serde(default)]
    language_id: String,
    #[serde(default)]
    line_count: usize,
}

/// What JetBrains says where there is no such file.
const NOT_THERE: &str = "Project is closed or directory not found";

impl Answer for OpenedFile {
    fn result(&self, dialect: Dialect) -> ToolResult<'_> {
        let is_ok = dialect.rules().wording == Wording::JetBrains;
        match self {
            Self::NotFound { .. } if is_ok => ToolResult::text(NOT_THERE),
            Self::NotFound { path } => ToolResult::error(format!("File not found: {path}")),
            _ if is_ok => ToolResult::text("OK"),
            Self::InFront { path, note: None } => ToolResult::text(format!("Opened file: {path}")),
            Self::InFront { path, note: Some(note) } => {
                ToolResult::text(format!("Opened file: {path} ({note})"))
            }
            Self::InBackground { path, language_id, line_count } => ToolResult::json(&Opened {
                success: true,
                file_path: path.clone(),
                language_id: language_id.clone(),
                line_count: *line_count,
            }),
        }
    }

    /// A note is read as part of the path: nothing tells them apart.
    fn read(result: &ToolResult<'_>) -> Option<Self> {
        let text = first_text(result)?;
        if text == NOT_THERE {
            return Some(Self::NotFound { path: String::new() });
        }
        if let Ok(opened) = serde_json::from_str::<Opened>(text) {
            let Opened { success, file_path: path, language_id, line_count } = opened;
            return success.then_some(Self::InBackground { path, language_id, line_count });
        }
        let path = match text {
            "OK" | "FILE_OPENED" => "",
            text => text.strip_prefix("Opened file: ")?,
        };
        Some(Self::InFront { path: path.into(), note: None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn optional_arguments_have_their_defaults() {
        for text in [
            r#"{"filePath":"/a"}"#,
            r#"{"path":"/a","startText":"","endText":null,"preview":null,"makeFrontmost":null}"#,
        ] {
            assert_eq!(serde_json::from_str::<OpenFile>(text).unwrap(), OpenFile::new("/a"), "{text}");
        }
        for text in ["{}", r#"{"filePath":""}"#, r#"{"filePath":null,"uri":""}"#] {
            assert!(serde_json::from_str::<OpenFile>(text).is_err(), "{text}");
        }
    }
}
