//! What all answers of tools have in common, and how to read and write them.

use crate::ide::{ContentLimits, Dialect};
use crate::mcp::{Content, ToolResult};
use crate::rpc::from_json;
use alloc::{borrow::Cow, format, string::String, vec::Vec};
use serde::{Serialize, de::DeserializeOwned};

/// The answer of a tool: an editor passes it to [`Server::answer`](crate::ide::Server::answer), and an agent gets it
/// from [`Pending::answer`](crate::ide::Pending::answer).
///
/// Each dialect writes it in its own shape, and every shape is read. The answers of all tools of the protocol implement
/// this, and so does [`ToolResult`], the answer of a tool of your own. No other type can.
pub trait Answer: Shape {}

impl<A: Shape> Answer for A {}

/// How an answer is written and read.
#[allow(unnameable_types, reason = "that it cannot be named is what seals `Answer`")]
pub trait Shape: Sized {
    /// Returns the result, in the exact shape of this dialect.
    fn result(&self, dialect: Dialect) -> ToolResult<'_>;

    /// Returns the result, in the exact shape of this dialect, within these limits. [`result`](Shape::result) uses the
    /// default ones. They only affect answers that nothing else bounds.
    fn result_within(&self, dialect: Dialect, limits: &ContentLimits) -> ToolResult<'_> {
        let _ = limits;
        self.result(dialect)
    }

    /// Returns the answer without the files that `hides` hides; `None` if all of it may be sent, which is the default.
    /// The [`Server`](crate::ide::Server) applies its [`Filter`](crate::ide::Filter) with this.
    fn without_hidden(&self, hides: &dyn Fn(&str) -> bool) -> Option<Self> {
        let _ = hides;
        None
    }

    /// Returns the answer with the file spelled as in the call; `None` if it can be sent unchanged, which is the
    /// default. `spelling` takes the file as the answer spells it, and returns the spelling of the call if it is
    /// another one.
    fn spelled_as(&self, spelling: impl Fn(&str) -> Option<String>) -> Option<Self> {
        let _ = spelling;
        None
    }

    /// Reads a result in the shape of any dialect. Returns `None` for a failure, and for anything that is not an answer
    /// of this type.
    fn read(result: &ToolResult<'_>) -> Option<Self>;
}

/// Says that the tool has done its work: `OK`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "it says nothing else")]
pub struct Done;

/// The name of a hidden file in the answer to a call about it.
pub(super) const HIDDEN: &str = "a hidden file";

/// Returns the items that are not hidden; `None` if none of them is hidden.
pub(super) fn shown<T: Clone>(items: &[T], is_hidden: impl Fn(&T) -> bool) -> Option<Vec<T>> {
    let shown = || items.iter().filter(|item| !is_hidden(item)).cloned().collect();
    items.iter().any(&is_hidden).then(shown)
}

/// Returns an equal result that borrows the blocks of `result`.
fn borrowed<'a>(result: &'a ToolResult<'_>) -> ToolResult<'a> {
    let borrowed_block = |block: &'a Content<'_>| match block {
        Content::Text(text) => Content::Text(Cow::Borrowed(&**text)),
        Content::Raw(raw) => Content::Raw(Cow::Borrowed(&**raw)),
    };
    let mut same = ToolResult::new(result.content.iter().map(borrowed_block).collect());
    same.is_error = result.is_error;
    same
}

/// The answer of a tool of the application's own.
impl Shape for ToolResult<'static> {
    fn result(&self, _: Dialect) -> ToolResult<'_> {
        borrowed(self)
    }

    /// Reads a failure too, because its text is for the model.
    fn read(result: &ToolResult<'_>) -> Option<Self> {
        Some(borrowed(result).into_owned())
    }
}

impl Shape for Done {
    fn result(&self, _: Dialect) -> ToolResult<'_> {
        ToolResult::text("OK")
    }

    fn read(result: &ToolResult<'_>) -> Option<Self> {
        (!result.is_error).then_some(Self)
    }
}

impl ToolResult<'_> {
    /// Returns a result with a value as JSON in one block of text, the form of most answers. If JSON cannot represent
    /// the value (such as a map whose keys are lists), the result is an error.
    #[must_use]
    pub fn json<T: Serialize + ?Sized>(value: &T) -> Self {
        match serde_json::to_string(value) {
            Ok(text) => Self::text(Cow::Owned(text)),
            Err(error) => Self::error(format!("the answer is not JSON: {error}")),
        }
    }
}

/// Reads a value from the JSON in the first block of text of a successful result.
pub(crate) fn read_json<T: DeserializeOwned>(result: &ToolResult<'_>) -> Option<T> {
    from_json(first_text(result)?).ok()
}

/// Returns the first block of text of a successful result.
pub(crate) fn first_text<'a>(result: &'a ToolResult<'_>) -> Option<&'a str> {
    result.texts().next().filter(|_| !result.is_error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ide::Selection;
    use crate::ide::kit::{Position, Range};
    use crate::ide::tool::{
        ClosedDiffTabs, CodeOutput, CurrentSelection, CursorPosition, Diagnostic, Diagnostics, DiffOutcome,
        DocumentSaved, DocumentState, EditorTab, FileDiagnostics, FilePaths, LatestSelection, OpenEditors,
        OpenedFile, OpenedFiles, OutputBlock, Reformatted, Severity, TabClosed, WorkspaceFolder,
        WorkspaceFolders,
    };
    use alloc::vec;
    use core::fmt::Debug;

    fn round_trips<A: Shape + PartialEq + Debug>(answer: A, dialects: &[Dialect]) {
        for dialect in dialects {
            let result = answer.result(*dialect);
            assert_eq!(A::read(&result).as_ref(), Some(&answer), "{dialect:?}");
            assert_eq!(A::read(&ToolResult::error("failed")), None);
        }
    }

    #[test]
    fn answers_are_read_as_they_were_given() {
        use Dialect::{JetBrains, SnakeCase, VsCode};
        let all = &Dialect::ALL;
        let range = Range::new(Position::new(1, 2), Position::new(3, 4));
        let mut selection = Selection::new("/a", range, "é\n");
        round_trips(CurrentSelection(Some(selection.clone())), all);
        round_trips(CurrentSelection(None), all);
        selection.text.clear();
        round_trips(LatestSelection(Some(selection)), all);
        round_trips(LatestSelection(None), all);
        round_trips(DiffOutcome::Accepted { contents: "a\r\n".into() }, all);
        round_trips(DiffOutcome::Rejected { tab_name: "✻ t ⧉".into() }, &[VsCode]);
        round_trips(DiffOutcome::Rejected { tab_name: "".into() }, &[JetBrains, SnakeCase]);
        round_trips(TabClosed { found: true }, all);
        round_trips(TabClosed { found: false }, &[JetBrains, SnakeCase]);
        round_trips(ClosedDiffTabs { count: 3 }, all);
        round_trips(OpenedFile::focused("/a b", None), &[VsCode]);
        round_trips(OpenedFile::unfocused("/a b", "rust", 3), &[VsCode]);
        round_trips(OpenedFile::NotFound { path: "".into() }, &[JetBrains, SnakeCase]);
        round_trips(OpenedFiles { opened_files: vec!["/a".into(), "/b".into()] }, all);
        round_trips(FilePaths { paths: vec!["/a".into(), "/b".into()] }, all);
        round_trips(FilePaths::default(), all);
        round_trips(Reformatted { found: true }, all);
        round_trips(Reformatted { found: false }, &[JetBrains, SnakeCase]);
        round_trips(CursorPosition::new("/a", Position::new(1, 2)), all);
        round_trips(Done, all);
        let mut tab = EditorTab::new("file:///a", "a", "rust");
        (tab.is_active, tab.file_name, tab.view_column) = (true, Some("/a".into()), Some(1));
        round_trips(OpenEditors { tabs: vec![tab, EditorTab::default()] }, all);
        round_trips(
            WorkspaceFolders { folders: vec![WorkspaceFolder::new("/w/p"), WorkspaceFolder::new("/q")] },
            all,
        );
        round_trips(WorkspaceFolders::default(), all);
        let file_path = || "/a".into();
        round_trips(DocumentState::Open { file_path: file_path(), is_dirty: true, is_untitled: false }, all);
        round_trips(DocumentState::NotOpen { file_path: file_path() }, all);
        round_trips(
            DocumentSaved::Open { file_path: file_path(), saved: false, message: "read-only".into() },
            all,
        );
        round_trips(DocumentSaved::NotOpen { file_path: file_path() }, all);
        let image = OutputBlock::Image { data: "AA==".into(), mime_type: "image/png".into() };
        round_trips(CodeOutput { blocks: vec![OutputBlock::Text("1".into()), image] }, all);
        let mut problem = Diagnostic::new(Severity::Hint, range, "m\"");
        (problem.source, problem.code) = (Some("s".into()), Some("7".into()));
        let mut file = FileDiagnostics::new("file:///a", vec![problem]);
        file.lines_in_file = Some(9);
        round_trips(
            Diagnostics { files: vec![file, FileDiagnostics::new("b", vec![])] },
            &[VsCode, JetBrains],
        );
        let place = Range::new(Position::new(1, 2), Position::new(1, 2));
        let flat = FileDiagnostics::new("/a", vec![Diagnostic::new(Severity::Information, place, "m")]);
        round_trips(Diagnostics { files: vec![flat] }, all);
    }

    #[test]
    fn hidden_file_is_answered_as_missing() {
        let (hidden, shown) = ("/w/secret.key", "/w/a");
        let hides = |path: &str| path.contains("secret");
        let missing = OpenedFile::NotFound { path: "a hidden file".into() };
        for path in [hidden, "/w/a.secret (\"x\" is not in it)"] {
            assert_eq!(OpenedFile::focused(path, None).without_hidden(&hides), Some(missing.clone()));
        }
        assert_eq!(OpenedFile::unfocused(hidden, "text", 7).without_hidden(&hides), Some(missing.clone()));
        assert_eq!(OpenedFile::NotFound { path: hidden.into() }.without_hidden(&hides), Some(missing));
        assert_eq!(OpenedFile::focused(shown, None).without_hidden(&hides), None);
        // If an answer was read from its text, its note is part of its path.
        let by_end = |path: &str| path.ends_with(".key");
        assert!(OpenedFile::focused("/w/s.key (x)", None).without_hidden(&by_end).is_some());
        let state = |file_path: &str| DocumentState::NotOpen { file_path: file_path.into() };
        assert_eq!(state(hidden).without_hidden(&hides), Some(state("a hidden file")));
        assert_eq!(state(shown).without_hidden(&hides), None);
        let saved = |file_path: &str| DocumentSaved::NotOpen { file_path: file_path.into() };
        assert_eq!(saved(hidden).without_hidden(&hides), Some(saved("a hidden file")));
        assert_eq!(saved(shown).without_hidden(&hides), None);
        let cursor = |path: &str| CursorPosition::new(path, Position::default());
        assert_eq!(cursor(hidden).without_hidden(&hides), Some(CursorPosition::default()));
        assert_eq!(cursor(shown).without_hidden(&hides), None);
    }
}
