//! The tools of the protocol: what an agent can call, and what an editor answers.
//!
//! Each tool has a type for its arguments, with the name of the tool, and one for its answer: `openDiff` is
//! [`OpenDiff`], answered by a [`DiffOutcome`]. The type of the arguments determines the type of the answer
//! ([`ToolArguments::Answer`]), so you cannot give the answer of another tool:
//!
//! ```
//! use ide_mcp::ide::tool::{Diagnostic, Diagnostics, FileDiagnostics, Severity, ToolCall};
//! use ide_mcp::ide::{Server, ServerEvent, kit::Range};
//!
//! fn on_event(editor: &mut Server, event: ServerEvent) {
//!     if let ServerEvent::Call { call: ToolCall::GetDiagnostics(call, _arguments), .. } = event {
//!         let problem = Diagnostic::new(Severity::Warning, Range::default(), "unused variable");
//!         let of_file = FileDiagnostics::new("file:///w/a.rs", vec![problem]);
//!         // An error says that the agent no longer waits.
//!         _ = editor.answer(call, &Diagnostics { files: vec![of_file] });
//!     }
//! }
//! ```
//!
//! - [`Tool`] is the name of a tool, and [`ToolSet`] what your editor offers: tools of the protocol, and tools of your
//!   own.
//! - [`ToolCall`] is a call that came in: a [`Call`] to answer it with, and its arguments. Arguments are read in the
//!   spelling of every editor family. A call with invalid arguments is refused with the reason, and never reaches you.
//! - [`OtherTool`] is a call of a tool of your own.
//! - [`DirectRequest`] is a request of the Obsidian family, which is not a tool call.

// One file declares one tool (`ToolDef`): its names, its arguments, their schema, its timeout and its answer in each
// dialect. There is only one list of tools, below; everything else is made from it.
mod answer;
pub(super) mod arguments;
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
mod problems;
mod reformat_file;
mod request;
mod save_document;
mod selection_answer;
mod set_cursor_position;
mod set_permission_mode;
mod set_selection;
mod tools;
pub(super) mod toolset;

pub(crate) use answer::Shape;
pub use answer::{Answer, Done};
pub use diagnostic::{Diagnostic, FileDiagnostics, Severity};
pub use direct::{DirectAnswer, DirectRequest, ListFiles, ReadFile, WorkspaceInfo, WriteFile};
pub use passage::{MissingText, Passage};
pub(crate) use request::Arguments;
pub use request::OtherTool;
pub use toolset::ToolSet;

use crate::rpc::CallId;
use declaration::{Declaration, ToolDef};
use exact::read_exactly;
use tools::tools;
pub use tools::{Call, ToolArguments};

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
