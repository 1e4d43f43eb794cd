//! The tools of the protocol as types: what an agent asks of an editor, and what the editor answers.
//!
//! One file declares one tool ([`ToolDef`]): its names, its arguments as a struct that is read tolerantly and written as
//! the real client does, the JSON Schema of the arguments, its deadline, and its answer as an [`Answer`] with the exact
//! shape of each dialect. Arguments that cannot be used are refused with -32602 and the reason. The list below is the
//! only one: [`Tool`] and [`ToolRequest`] follow from it.

mod answer;
mod check_document_dirty;
mod close_all_diff_tabs;
mod close_tab;
mod declaration;
mod diagnostic;
mod document_answer;
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
mod reformat_file;
mod request;
mod save_document;
mod selection_answer;
mod set_cursor_position;
mod set_permission_mode;
mod set_selection;
mod tools;

pub use answer::{Answer, Done};
pub use diagnostic::{Diagnostic, FileDiagnostics, Severity};
pub use passage::{MissingText, Passage};
pub use request::OtherTool;

use declaration::{Declaration, ToolDef};
use tools::tools;

tools! {
    open_diff::OpenDiff,
    close_tab::CloseTab,
    close_all_diff_tabs::CloseAllDiffTabs,
    get_diagnostics::GetDiagnostics,
    open_file::OpenFile,
    open_files::OpenFiles,
    get_all_opened_file_paths::GetAllOpenedFilePaths,
    get_open_editors::GetOpenEditors,
    get_workspace_folders::GetWorkspaceFolders,
    get_current_selection::GetCurrentSelection,
    get_latest_selection::GetLatestSelection,
    get_cursor_position::GetCursorPosition,
    set_cursor_position::SetCursorPosition,
    set_selection::SetSelection,
    check_document_dirty::CheckDocumentDirty,
    save_document::SaveDocument,
    reformat_file::ReformatFile,
    execute_code::ExecuteCode,
    set_permission_mode::SetPermissionMode,
}
