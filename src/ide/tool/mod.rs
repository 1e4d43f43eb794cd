//! The tools of the protocol as types: what an agent asks of an editor, and what the editor answers.
//!
//! A file holds a family of tools: the arguments of each as a struct, read tolerantly and written as the real client
//! does, and its answer as an [`Answer`] with the exact shape of each dialect. What cannot be used is refused with
//! -32602 and the reason.

mod answer;
mod catalogue;
mod code;
mod diagnostics;
mod diff;
mod document;
mod open;
mod passage;
mod selection;
mod workspace;

pub use answer::{Answer, Done};
pub use catalogue::Tool;
pub use code::{CodeOutput, ExecuteCode, OutputBlock, SetPermissionMode};
pub use diagnostics::{Diagnostic, Diagnostics, FileDiagnostics, GetDiagnostics, Severity};
pub use diff::{CloseTab, ClosedDiffTabs, DiffOutcome, OpenDiff, TabClosed};
pub use document::{
    CheckDocumentDirty, DocumentSaved, DocumentState, ReformatFile, Reformatted, SaveDocument,
};
pub use open::{FilePaths, OpenFile, OpenFiles, OpenedFile, OpenedFiles};
pub use passage::{MissingText, Passage};
pub use selection::{CurrentSelection, CursorPosition, LatestSelection, SetCursorPosition, SetSelection};
pub use workspace::{EditorTab, OpenEditors, WorkspaceFolder, WorkspaceFolders};

use super::Dialect;
use alloc::{borrow::ToOwned, boxed::Box, string::String};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::IgnoredAny, ser::Error};
use serde_json::{Map, Value, value::RawValue};

/// One call of a tool.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ToolRequest {
    /// Show a proposed change and wait for the verdict of a person, for minutes if need be. Answer: [`DiffOutcome`].
    OpenDiff(OpenDiff),
    /// Close a tab. Open diffs with this tab are ended by the machine, which also answers; others come to you if you
    /// handle [`Tool::CloseTab`]. Answer: [`TabClosed`].
    CloseTab(CloseTab),
    /// Close all diffs of this client. Done and answered by the machine.
    CloseAllDiffTabs,
    /// Tell the problems of a file, or of all. Answer: [`Diagnostics`].
    GetDiagnostics(GetDiagnostics),
    /// Show a file. Answer: [`OpenedFile`].
    OpenFile(OpenFile),
    /// Show several files. Answer: [`OpenedFiles`].
    OpenFiles(OpenFiles),
    /// Tell the paths of the files that are open. Answer: [`FilePaths`].
    GetAllOpenedFilePaths,
    /// Tell the tabs that are open. Answer: [`OpenEditors`].
    GetOpenEditors,
    /// Tell the folders that are open. Answer: [`WorkspaceFolders`].
    GetWorkspaceFolders,
    /// Tell what is selected in the editor that has the focus. Answer: [`CurrentSelection`].
    GetCurrentSelection,
    /// Tell what was selected last, wherever the focus is. Answer: [`LatestSelection`].
    GetLatestSelection,
    /// Tell where the cursor is. Answer: [`CursorPosition`].
    GetCursorPosition,
    /// Move the cursor. Answer: [`Done`].
    SetCursorPosition(SetCursorPosition),
    /// Select something. Answer: [`Done`].
    SetSelection(SetSelection),
    /// Tell whether a file has changes that are not saved. Answer: [`DocumentState`].
    CheckDocumentDirty(CheckDocumentDirty),
    /// Save a file. Answer: [`DocumentSaved`].
    SaveDocument(SaveDocument),
    /// Format a file. Answer: [`Reformatted`].
    ReformatFile(ReformatFile),
    /// Run code in a notebook, **once a person has agreed**. Answer: [`CodeOutput`].
    ExecuteCode(ExecuteCode),
    /// Say in which mode the client asks for permission. Answered by the machine.
    SetPermissionMode(SetPermissionMode),
    /// One of the application's own tools.
    Other(OtherTool),
}

impl ToolRequest {
    /// Which tool it is; `None` for one of the application's own.
    #[must_use]
    pub const fn tool(&self) -> Option<Tool> {
        Some(match self {
            Self::OpenDiff(_) => Tool::OpenDiff,
            Self::CloseTab(_) => Tool::CloseTab,
            Self::CloseAllDiffTabs => Tool::CloseAllDiffTabs,
            Self::GetDiagnostics(_) => Tool::GetDiagnostics,
            Self::OpenFile(_) => Tool::OpenFile,
            Self::OpenFiles(_) => Tool::OpenFiles,
            Self::GetAllOpenedFilePaths => Tool::GetAllOpenedFilePaths,
            Self::GetOpenEditors => Tool::GetOpenEditors,
            Self::GetWorkspaceFolders => Tool::GetWorkspaceFolders,
            Self::GetCurrentSelection => Tool::GetCurrentSelection,
            Self::GetLatestSelection => Tool::GetLatestSelection,
            Self::GetCursorPosition => Tool::GetCursorPosition,
            Self::SetCursorPosition(_) => Tool::SetCursorPosition,
            Self::SetSelection(_) => Tool::SetSelection,
            Self::CheckDocumentDirty(_) => Tool::CheckDocumentDirty,
            Self::SaveDocument(_) => Tool::SaveDocument,
            Self::ReformatFile(_) => Tool::ReformatFile,
            Self::ExecuteCode(_) => Tool::ExecuteCode,
            Self::SetPermissionMode(_) => Tool::SetPermissionMode,
            Self::Other(_) => return None,
        })
    }

    /// The name on the wire, in VS Code's words.
    #[must_use]
    pub fn name(&self) -> &str {
        self.name_in(Dialect::VsCode)
    }

    /// The name on the wire in a dialect.
    #[must_use]
    pub fn name_in(&self, dialect: Dialect) -> &str {
        match (self, self.tool()) {
            (Self::Other(other), _) => &other.name,
            (_, Some(tool)) => tool.name(dialect),
            (_, None) => "",
        }
    }

    /// Reads the arguments of a tool, an object.
    ///
    /// # Errors
    ///
    /// If they do not fit: which one is missing, contradicts another or is of the wrong type.
    pub fn read<'de, D: Deserializer<'de>>(tool: Tool, arguments: D) -> Result<Self, D::Error> {
        let nothing = |request: Self, arguments: D| IgnoredAny::deserialize(arguments).map(|_| request);
        match tool {
            Tool::OpenDiff => OpenDiff::deserialize(arguments).map(Self::OpenDiff),
            Tool::CloseTab => CloseTab::deserialize(arguments).map(Self::CloseTab),
            Tool::CloseAllDiffTabs => nothing(Self::CloseAllDiffTabs, arguments),
            Tool::GetDiagnostics => GetDiagnostics::deserialize(arguments).map(Self::GetDiagnostics),
            Tool::OpenFile => OpenFile::deserialize(arguments).map(Self::OpenFile),
            Tool::OpenFiles => OpenFiles::deserialize(arguments).map(Self::OpenFiles),
            Tool::GetAllOpenedFilePaths => nothing(Self::GetAllOpenedFilePaths, arguments),
            Tool::GetOpenEditors => nothing(Self::GetOpenEditors, arguments),
            Tool::GetWorkspaceFolders => nothing(Self::GetWorkspaceFolders, arguments),
            Tool::GetCurrentSelection => nothing(Self::GetCurrentSelection, arguments),
            Tool::GetLatestSelection => nothing(Self::GetLatestSelection, arguments),
            Tool::GetCursorPosition => nothing(Self::GetCursorPosition, arguments),
            Tool::SetCursorPosition => SetCursorPosition::deserialize(arguments).map(Self::SetCursorPosition),
            Tool::SetSelection => SetSelection::deserialize(arguments).map(Self::SetSelection),
            Tool::CheckDocumentDirty => {
                CheckDocumentDirty::deserialize(arguments).map(Self::CheckDocumentDirty)
            }
            Tool::SaveDocument => SaveDocument::deserialize(arguments).map(Self::SaveDocument),
            Tool::ReformatFile => ReformatFile::deserialize(arguments).map(Self::ReformatFile),
            Tool::ExecuteCode => ExecuteCode::deserialize(arguments).map(Self::ExecuteCode),
            Tool::SetPermissionMode => SetPermissionMode::deserialize(arguments).map(Self::SetPermissionMode),
        }
    }

    /// The arguments as they are written in a dialect.
    pub(crate) const fn arguments(&self, dialect: Dialect) -> Arguments<'_> {
        Arguments { request: self, dialect }
    }
}

impl Serialize for ToolRequest {
    /// The arguments as the real client writes them.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::OpenDiff(arguments) => arguments.serialize(serializer),
            Self::CloseTab(arguments) => arguments.serialize(serializer),
            Self::GetDiagnostics(arguments) => arguments.serialize(serializer),
            Self::OpenFile(arguments) => arguments.serialize(serializer),
            Self::OpenFiles(arguments) => arguments.serialize(serializer),
            Self::SetCursorPosition(arguments) => arguments.serialize(serializer),
            Self::SetSelection(arguments) => arguments.serialize(serializer),
            Self::CheckDocumentDirty(arguments) => arguments.serialize(serializer),
            Self::SaveDocument(arguments) => arguments.serialize(serializer),
            Self::ReformatFile(arguments) => arguments.serialize(serializer),
            Self::ExecuteCode(arguments) => arguments.serialize(serializer),
            Self::SetPermissionMode(arguments) => arguments.serialize(serializer),
            Self::CloseAllDiffTabs
            | Self::GetAllOpenedFilePaths
            | Self::GetOpenEditors
            | Self::GetWorkspaceFolders
            | Self::GetCurrentSelection
            | Self::GetLatestSelection
            | Self::GetCursorPosition => serializer.collect_map([(); 0].map(|()| ("", ()))),
            Self::Other(other) => other.arguments.serialize(serializer),
        }
    }
}

/// The arguments of a call in a dialect.
pub(crate) struct Arguments<'a> {
    request: &'a ToolRequest,
    dialect: Dialect,
}

impl Serialize for Arguments<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if !self.dialect.rules().snake_case || self.request.tool().is_none() {
            return self.request.serialize(serializer);
        }
        let Value::Object(members) = serde_json::to_value(self.request).map_err(S::Error::custom)? else {
            return Err(S::Error::custom("arguments are no object"));
        };
        members
            .into_iter()
            .map(|(name, value)| (snake_case(&name), value))
            .collect::<Map<_, _>>()
            .serialize(serializer)
    }
}

/// `filePath` as `file_path`.
pub(crate) fn snake_case(name: &str) -> String {
    let mut snake = String::with_capacity(name.len().saturating_add(2));
    for letter in name.chars() {
        if letter.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
    }
    snake
}

/// A call of a tool that only the application knows.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct OtherTool {
    /// Its name.
    pub name: Box<str>,
    /// Its arguments: a JSON object, nested at most as deeply as the limit.
    pub arguments: Box<RawValue>,
}

impl OtherTool {
    /// A call of the tool with this name.
    #[must_use]
    pub fn new(name: impl Into<Box<str>>, arguments: Box<RawValue>) -> Self {
        Self { name: name.into(), arguments }
    }
}

/// Reads the JSON in the first block of text of a result, whatever it is like.
pub(crate) fn read_json<T: serde::de::DeserializeOwned>(result: &crate::mcp::ToolResult<'_>) -> Option<T> {
    serde_json::from_str(first_text(result)?).ok()
}

/// The first block of text of a result that is no failure.
pub(crate) fn first_text<'a>(result: &'a crate::mcp::ToolResult<'_>) -> Option<&'a str> {
    result.texts().next().filter(|_| !result.is_error)
}

pub(crate) fn owned(text: &str) -> String {
    text.to_owned()
}
