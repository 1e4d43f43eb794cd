//! Ready-made answers with the exact shapes that the real client understands.

use super::Range;
use crate::mcp::{Content, ToolResult};
use alloc::{borrow::Cow, format, string::String, vec, vec::Vec};
use serde::Serialize;

/// The verdict of a person about a proposed change.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DiffOutcome {
    /// Accepted. **The client writes the file**, with this text, which need not be what was proposed; whoever writes
    /// it as well makes the client's next edit fail.
    Saved {
        /// The whole text as it shall be.
        contents: String,
    },
    /// Rejected; closing the view means the same.
    Rejected {
        /// The tab of the call.
        tab_name: String,
    },
}

/// How bad a problem is, in the words of VS Code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub enum Severity {
    /// It does not work.
    Error,
    /// It may not do what it should.
    Warning,
    /// Worth knowing.
    Information,
    /// A suggestion.
    Hint,
}

/// One problem.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Diagnostic {
    /// What is wrong.
    pub message: String,
    /// How bad it is.
    pub severity: Severity,
    /// Where.
    pub range: Range,
    /// Who says so, such as the name of a linter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Under which code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
}

impl Diagnostic {
    /// A problem at this place.
    #[must_use]
    pub fn new(severity: Severity, range: Range, message: impl Into<String>) -> Self {
        Self { message: message.into(), severity, range, source: None, code: None }
    }
}

/// The problems of one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct FileDiagnostics {
    /// The file, in the spelling in which the client asked for it; a `file:` URI where it asked for all.
    pub uri: String,
    /// Its problems.
    pub diagnostics: Vec<Diagnostic>,
}

impl FileDiagnostics {
    /// The problems of this file.
    #[must_use]
    pub fn new(uri: impl Into<String>, diagnostics: Vec<Diagnostic>) -> Self {
        Self { uri: uri.into(), diagnostics }
    }
}

/// More problems than a model can use; the rest would only cost.
pub(crate) const MAX_DIAGNOSTICS: usize = 1000;

impl<'a> ToolResult<'a> {
    /// The verdict of `openDiff`: two blocks.
    #[must_use]
    pub fn diff(outcome: &'a DiffOutcome) -> Self {
        let (word, rest) = match outcome {
            DiffOutcome::Saved { contents } => ("FILE_SAVED", contents),
            DiffOutcome::Rejected { tab_name } => ("DIFF_REJECTED", tab_name),
        };
        Self::new(vec![Content::text(word), Content::text(rest.as_str())])
    }

    /// The answer of `getDiagnostics`. At most 1,000 problems are given; a second block says how many are missing.
    #[must_use]
    pub fn diagnostics(files: &[FileDiagnostics]) -> Self {
        let total: usize = files.iter().map(|file| file.diagnostics.len()).sum();
        let mut room = MAX_DIAGNOSTICS;
        let shown: Vec<_> = files
            .iter()
            .map(|file| {
                let some = file.diagnostics.get(..room.min(file.diagnostics.len())).unwrap_or_default();
                room = room.saturating_sub(some.len());
                Shown { uri: &file.uri, diagnostics: some }
            })
            .collect();
        let mut result = Self::json(&shown);
        let missing = total.saturating_sub(MAX_DIAGNOSTICS);
        if missing > 0 {
            result.content.push(Content::text(format!("{missing} more diagnostics are not shown")));
        }
        result
    }

    /// The answer of `openFile` that took the focus.
    #[must_use]
    pub fn opened_file(path: &str) -> Self {
        Self::text(format!("Opened file: {path}"))
    }

    /// The answer of `openFile` that did not take the focus.
    #[must_use]
    pub fn opened_in_background(path: &str, language_id: &str, line_count: usize) -> Self {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Opened<'a> {
            success: bool,
            file_path: &'a str,
            language_id: &'a str,
            line_count: usize,
        }
        Self::json(&Opened { success: true, file_path: path, language_id, line_count })
    }

    /// The answer of `close_tab`, whether there was such a tab or not.
    #[must_use]
    pub fn tab_closed() -> Self {
        Self::text("TAB_CLOSED")
    }

    /// The answer of `closeAllDiffTabs`.
    #[must_use]
    pub fn closed_diff_tabs(count: usize) -> Self {
        Self::text(format!("CLOSED_{count}_DIFF_TABS"))
    }

    /// One block of text that holds a value as JSON: the form in which most tools answer. A value that is no JSON (a
    /// map with keys that are no strings) makes an error result.
    #[must_use]
    pub fn json<T: Serialize + ?Sized>(value: &T) -> Self {
        match serde_json::to_string(value) {
            Ok(text) => Self::text(Cow::Owned(text)),
            Err(error) => Self::error(format!("the answer is no JSON: {error}")),
        }
    }
}

#[derive(Serialize)]
struct Shown<'a> {
    uri: &'a str,
    diagnostics: &'a [Diagnostic],
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(result: &ToolResult<'_>) -> String {
        serde_json::to_string(result).unwrap()
    }

    #[test]
    fn verdicts_have_two_blocks() {
        let saved = DiffOutcome::Saved { contents: "line1\nline2\n".into() };
        let rejected = DiffOutcome::Rejected { tab_name: "✻ [Claude Code] new.txt (0ae407) ⧉".into() };
        assert_eq!(
            written(&ToolResult::diff(&saved)),
            r#"{"content":[{"type":"text","text":"FILE_SAVED"},{"type":"text","text":"line1\nline2\n"}]}"#
        );
        assert_eq!(
            written(&ToolResult::diff(&rejected)),
            r#"{"content":[{"type":"text","text":"DIFF_REJECTED"},{"type":"text","text":"✻ [Claude Code] new.txt (0ae407) ⧉"}]}"#
        );
    }

    #[test]
    fn diagnostics_are_written_as_the_recorded_editor_does() {
        let file = FileDiagnostics::new("file:///home/user/project/new.txt", Vec::new());
        assert_eq!(
            written(&ToolResult::diagnostics(&[file])),
            r#"{"content":[{"type":"text","text":"[{\"uri\":\"file:///home/user/project/new.txt\",\"diagnostics\":[]}]"}]}"#
        );
        let problem = Diagnostic::new(Severity::Information, Range::default(), "m");
        let text = serde_json::to_string(&problem).unwrap();
        assert!(
            text.starts_with(r#"{"message":"m","severity":"Information","range":{"start":{"line":0,"#),
            "{text}"
        );
        assert!(!text.contains("null"));
    }

    #[test]
    fn a_thousand_diagnostics_are_shown_and_the_rest_counted() {
        let problem = Diagnostic::new(Severity::Hint, Range::default(), "m");
        let files = |first: usize, second: usize| {
            [first, second].map(|count| FileDiagnostics::new("u", vec![problem.clone(); count]))
        };
        let at = files(600, 400);
        assert_eq!(ToolResult::diagnostics(&at).content.len(), 1);
        let above = files(600, 401);
        let result = ToolResult::diagnostics(&above);
        assert_eq!(result.texts().nth(1), Some("1 more diagnostics are not shown"));
        assert_eq!(result.texts().next().unwrap().matches("Hint").count(), 1000);
    }
}
