//! The tools that the headless editor can offer.

use ide_mcp::ide::Dialect;
use ide_mcp::ide::tool::{Tool, ToolSet};

/// The tools that this editor serves, in the order of the offer. Two are missing: `reformat_file`, since the editor
/// does not format files, and `executeCode`.
const TOOLS: [Tool; 14] = [
    Tool::OpenDiff,
    Tool::GetDiagnostics,
    Tool::OpenFile,
    Tool::GetOpenEditors,
    Tool::GetWorkspaceFolders,
    Tool::GetCurrentSelection,
    Tool::GetLatestSelection,
    Tool::CheckDocumentDirty,
    Tool::SaveDocument,
    Tool::OpenFiles,
    Tool::GetAllOpenedFilePaths,
    Tool::GetCursorPosition,
    Tool::SetCursorPosition,
    Tool::SetSelection,
];

/// Returns all tools of this editor.
pub(crate) fn all_tools() -> ToolSet {
    TOOLS.into_iter().fold(ToolSet::new(), ToolSet::handle)
}

/// Returns the tools with these names, in the spelling of any dialect.
pub(super) fn tool_set(names: &[String]) -> Result<ToolSet, String> {
    names.iter().try_fold(ToolSet::new(), |tools, name| {
        let tool = Tool::from_name(name).filter(|tool| TOOLS.contains(tool));
        tool.map(|tool| tools.handle(tool)).ok_or_else(|| {
            let known = TOOLS.map(|tool| tool.name(Dialect::VsCode)).join(", ");
            format!("{name:?} is not a tool of this editor; its tools are {known}")
        })
    })
}
