//! The tools of the protocol as types: the calls of an agent, and the answers of the editor.
//!
//! One file declares one tool ([`ToolDef`]): its names, its arguments as a struct that is read
//! tolerantly and written in the form of the real client, the JSON Schema of the arguments, its
//! timeout, and its answer as an [`Answer`] with the exact shape of each dialect. Arguments that
//! cannot be used are refused with -32602 and the reason. The list below is the only list of tools:
//! [`Tool`], [`ToolCall`], and the reading and writing of calls and answers follow from it.

mod answer;
pub(super) mod arguments;
mod call;
mod check_document_dirty;
mod close_all_diff_tabs;
mod close_tab;
mod declaration;
mod diagnostic;
pub(super) mod direct;
mod document_answer;
mod exact;
mod execute_code;
mod get_all_opened_file_paths;
mod get_current_selection;
mod get_cursor_position;
mod get_diagnostics;
mod get_latest_selection;
mod get_open_editors;
mod get_workspace_folders;
mod open_diff;
mod open_file;
mod open_files;
mod passage;
mod position;
mod problems;
mod reformat_file;
mod request;
mod save_document;
mod selection_answer;
mod set_cursor_position;
mod set_permission_mode;
mod set_selection;
mod text;
mod tools;
pub(super) mod toolset;

pub use answer::{Answer, Done};
pub use call::{Call, ToolArguments};
pub use diagnostic::{Diagnostic, FileDiagnostics, Severity};
pub use direct::{DirectAnswer, DirectRequest, ListFiles, ReadFile, WorkspaceInfo, WriteFile};
pub use passage::{MissingText, Passage};
pub use position::{Encoding, Position, Range};
pub(crate) use request::Arguments;
pub use request::OtherTool;
pub use text::Text;
pub use toolset::ToolSet;

use crate::rpc::CallId;
use declaration::{Declaration, ToolDef};
use exact::read_exactly;
use tools::tools;

tools! {
    open_diff::OpenDiff -> DiffOutcome,
    close_tab::CloseTab -> TabClosed,
    close_all_diff_tabs::CloseAllDiffTabs -> ClosedDiffTabs,
    get_diagnostics::GetDiagnostics -> Diagnostics,
    open_file::OpenFile -> OpenedFile,
    open_files::OpenFiles -> OpenedFiles,
    get_all_opened_file_paths::GetAllOpenedFilePaths -> FilePaths,
    get_open_editors::GetOpenEditors -> OpenEditors,
    get_workspace_folders::GetWorkspaceFolders -> WorkspaceFolders,
    get_current_selection::GetCurrentSelection -> CurrentSelection,
    get_latest_selection::GetLatestSelection -> LatestSelection,
    get_cursor_position::GetCursorPosition -> CursorPosition,
    set_cursor_position::SetCursorPosition -> Done,
    set_selection::SetSelection -> Done,
    check_document_dirty::CheckDocumentDirty -> DocumentState,
    save_document::SaveDocument -> DocumentSaved,
    reformat_file::ReformatFile -> Reformatted,
    execute_code::ExecuteCode -> CodeOutput,
    set_permission_mode::SetPermissionMode -> Done,
}
