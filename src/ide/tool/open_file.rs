//! `openFile`: shows a file.

use super::ToolDef;
use super::answer::{HIDDEN, Shape, first_text};
use super::arguments::arguments;
use crate::ide::Dialect;
use crate::ide::dialect::Wording;
use crate::mcp::ToolResult;
use crate::rpc::from_json;
use alloc::{format, string::String};
use serde::{Deserialize, Serialize};

arguments! {
    /// `openFile`: shows a file. Answer: [`OpenedFile`].
    ///
    /// [`passage`](OpenFile::passage) finds the range to select.
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct OpenFile {
        /// The path of the file, or its `file:` URI.
        pub file_path: String = required["filePath", "file_path", "path", "uri", "documentUri"] "Path of the file",
        /// True if the next file may replace this one in its tab. Default false.
        pub preview: bool = flag(false)["preview"] "Whether the tab may be replaced by the next one",
        /// The selection begins where this text first occurs.
        pub start_text: Option<String> = optional["startText", "start_text"]
            "Select from the first occurrence of this text",
        /// The selection ends where this text next occurs, and includes it.
        pub end_text: Option<String> = optional["endText", "end_text"]
            "Select to the end of the next occurrence of this text",
        /// True if the selection goes to the end of its last line. Default false.
        pub select_to_end_of_line: bool = flag(false)["selectToEndOfLine", "select_to_end_of_line"]
            "Extend the selection to the end of its line",
        /// True if the file should take the focus. Default true. If false, answer with [`OpenedFile::InBackground`].
        pub make_frontmost: bool = flag(true)["makeFrontmost", "make_frontmost"] "Whether to take the focus",
        /// The first line of the selection, **counted from 1**. Some clients send lines instead of a text to search
        /// for.
        pub start_line: Option<u32> = optional_value["startLine", "start_line", "line"],
        /// The last line of the selection, included, counted from 1.
        pub end_line: Option<u32> = optional_value["endLine", "end_line"],
    }
}

impl ToolDef for OpenFile {
    const NAME: &'static str = "openFile";
    const DESCRIPTION: &'static str = "Open a file in the editor, and select a part of it if asked to";
    const SNAKE_NAME: &'static str = "open_file";

    fn file(&self) -> Option<&str> {
        Some(&self.file_path)
    }
}

impl OpenFile {
    /// Shows this file, in front, without a selection.
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

/// What `openFile` answers.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OpenedFile {
    /// The file is shown and has the focus.
    InFront {
        /// The path of the file.
        path: String,
        /// A remark, for example that the file does not contain a text to select.
        note: Option<String>,
    },
    /// The file is open but did not take the focus.
    InBackground {
        /// The path of the file.
        path: String,
        /// The language of the file, by its name in VS Code: `rust`, `plaintext`.
        language_id: String,
        /// The number of lines of the file.
        line_count: usize,
    },
    /// The file does not exist, or is not in a folder of this editor.
    NotFound {
        /// The path as the client wrote it.
        path: String,
    },
}

impl OpenedFile {
    /// Says that the file is shown and has the focus.
    #[must_use]
    pub fn focused(path: impl Into<String>, note: Option<String>) -> Self {
        Self::InFront { path: path.into(), note }
    }

    /// Says that the file is open but did not take the focus.
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

/// At how many places in an answer its note may begin: far more than there are in real paths and notes. An answer with
/// more places counts as hidden, because the filter is called for each of them.
const MAX_NOTES: usize = 16;

/// What JetBrains answers for a file that does not exist.
const NOT_THERE: &str = "Project is closed or directory not found";

impl Shape for OpenedFile {
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

    /// If the file is hidden, the answer says that it does not exist. The number of lines, or the note that a text is
    /// not in the file, would reveal something of its contents.
    fn without_hidden(&self, hides: &dyn Fn(&str) -> bool) -> Option<Self> {
        let (Self::InFront { path, .. } | Self::InBackground { path, .. } | Self::NotFound { path }) = self;
        let is_hidden =
            hides(path) || matches!(self, Self::InFront { .. }) && hides_without_note(path, hides);
        is_hidden.then(|| Self::NotFound { path: HIDDEN.into() })
    }

    /// Reads an answer. A note is read as part of the path, because nothing separates them.
    fn read(result: &ToolResult<'_>) -> Option<Self> {
        let text = first_text(result)?;
        if text == NOT_THERE {
            return Some(Self::NotFound { path: String::new() });
        }
        if let Ok(opened) = from_json::<Opened>(text) {
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

/// Returns true if the path without a note at its end is hidden, or if the note may begin at more than [`MAX_NOTES`]
/// places. If an answer was read from its text, its note is part of the path.
fn hides_without_note(path: &str, hides: &dyn Fn(&str) -> bool) -> bool {
    let mut paths = path.match_indices(" (").filter_map(|(end, _)| path.get(..end));
    path.ends_with(')') && (paths.by_ref().take(MAX_NOTES).any(hides) || paths.next().is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ide::tool::arguments::from_text;
    use core::cell::Cell;

    #[test]
    fn filter_is_called_few_times() {
        let places = |count: usize| format!("/w/a{})", " (".repeat(count));
        let front = |path| OpenedFile::focused(path, None);
        let cases = [
            ("a path", front("/w/a".into()), 1, false),
            ("as many places as are allowed", front(places(MAX_NOTES)), 1 + MAX_NOTES, false),
            ("one place more", front(places(MAX_NOTES + 1)), 1 + MAX_NOTES, true),
            ("64 KiB of places", front(places(32 * 1024)), 1 + MAX_NOTES, true),
            ("no note", front(" (".repeat(32 * 1024)), 1, false),
            ("in the background", OpenedFile::unfocused(places(32 * 1024), "text", 7), 1, false),
            ("not found", OpenedFile::NotFound { path: places(32 * 1024) }, 1, false),
        ];
        for (name, answer, expected, is_hidden) in cases {
            let calls = Cell::new(0);
            let count = |_: &str| {
                calls.set(calls.get() + 1);
                false
            };
            assert_eq!(answer.without_hidden(&count).is_some(), is_hidden, "{name}");
            assert_eq!(calls.get(), expected, "{name}");
        }
    }

    #[test]
    fn optional_arguments_have_their_defaults() {
        for text in [
            r#"{"filePath":"/a"}"#,
            r#"{"path":"/a","startText":"","endText":null,"preview":null,"makeFrontmost":null}"#,
        ] {
            assert_eq!(from_text::<OpenFile>(text).unwrap(), OpenFile::new("/a"), "{text}");
        }
        for text in ["{}", r#"{"filePath":""}"#, r#"{"filePath":null,"uri":""}"#] {
            assert!(from_text::<OpenFile>(text).is_err(), "{text}");
        }
    }

    #[test]
    fn missing_file_is_answered_in_the_words_of_the_dialect() {
        let answer = OpenedFile::NotFound { path: "/w/a".into() };
        let rows = [
            (Dialect::VsCode, "File not found: /w/a", true),
            (Dialect::JetBrains, "Project is closed or directory not found", false),
        ];
        for (dialect, text, is_error) in rows {
            let result = answer.result(dialect);
            assert!(result.texts().eq([text]) && result.is_error == is_error, "{dialect:?}: {result:?}");
        }
    }
}
