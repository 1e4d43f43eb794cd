//! Every tool as data: its names, and the JSON Schema (draft-07) of its arguments.

use super::snake_case;
use crate::ide::Dialect;
use crate::mcp::ToolSpec;
use alloc::{borrow::Cow, format, string::String};

/// A tool that an application can handle.
///
/// The real client calls `openDiff`, `close_tab`, `closeAllDiffTabs` and `getDiagnostics`, and its model sees
/// `getDiagnostics` and `executeCode` (measured); some versions are said to call `openFile` and `set_permission_mode`. The
/// others are for other clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Tool {
    /// `openDiff`. With it `close_tab` and `closeAllDiffTabs` are listed, without which older clients do not use it.
    OpenDiff,
    /// `close_tab`. Diffs are closed whether it is handled or not; handle it to hear of other tabs.
    CloseTab,
    /// `closeAllDiffTabs`. Always done by the machine.
    CloseAllDiffTabs,
    /// `getDiagnostics`. The model is told what it answers, so offer it only if there is something true to say.
    GetDiagnostics,
    /// `openFile`.
    OpenFile,
    /// `open_files`, of JetBrains.
    OpenFiles,
    /// `get_all_opened_file_paths`, of JetBrains.
    GetAllOpenedFilePaths,
    /// `getOpenEditors`.
    GetOpenEditors,
    /// `getWorkspaceFolders`.
    GetWorkspaceFolders,
    /// `getCurrentSelection`.
    GetCurrentSelection,
    /// `getLatestSelection`.
    GetLatestSelection,
    /// `get_cursor_position`, of a decompiled plugin.
    GetCursorPosition,
    /// `set_cursor_position`, of a decompiled plugin.
    SetCursorPosition,
    /// `set_selection`, of a decompiled plugin.
    SetSelection,
    /// `checkDocumentDirty`.
    CheckDocumentDirty,
    /// `saveDocument`.
    SaveDocument,
    /// `reformat_file`, of JetBrains.
    ReformatFile,
    /// `executeCode`. The model may run whatever it likes, so **ask a person each time**. Never listed by itself.
    ExecuteCode,
    /// `set_permission_mode`. Always answered by the machine and not meant to be listed.
    SetPermissionMode,
}

impl Tool {
    /// All of them.
    pub const ALL: [Self; 19] = [
        Self::OpenDiff,
        Self::CloseTab,
        Self::CloseAllDiffTabs,
        Self::GetDiagnostics,
        Self::OpenFile,
        Self::OpenFiles,
        Self::GetAllOpenedFilePaths,
        Self::GetOpenEditors,
        Self::GetWorkspaceFolders,
        Self::GetCurrentSelection,
        Self::GetLatestSelection,
        Self::GetCursorPosition,
        Self::SetCursorPosition,
        Self::SetSelection,
        Self::CheckDocumentDirty,
        Self::SaveDocument,
        Self::ReformatFile,
        Self::ExecuteCode,
        Self::SetPermissionMode,
    ];

    /// Its name in a dialect.
    #[must_use]
    pub const fn name(self, dialect: Dialect) -> &'static str {
        let entry = self.entry();
        if dialect.rules().snake_case { entry.snake } else { entry.name }
    }

    /// Which tool this is, in any dialect.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let is_named = |tool: &Self| {
            let entry = tool.entry();
            entry.name == name || entry.snake == name || entry.also.contains(&name)
        };
        Self::ALL.into_iter().find(is_named)
    }

    /// As `tools/list` shows it.
    #[must_use]
    pub fn spec(self, dialect: Dialect) -> ToolSpec {
        let entry = self.entry();
        ToolSpec::new(self.name(dialect), entry.description, schema(entry.arguments, dialect))
    }

    /// Whether it is handled by the machine, asked for or not.
    pub(crate) const fn is_built_in(self) -> bool {
        matches!(self, Self::CloseTab | Self::CloseAllDiffTabs | Self::SetPermissionMode)
    }

    const fn entry(self) -> &'static Entry {
        match self {
            Self::OpenDiff => &OPEN_DIFF,
            Self::CloseTab => &CLOSE_TAB,
            Self::CloseAllDiffTabs => &CLOSE_ALL_DIFF_TABS,
            Self::GetDiagnostics => &GET_DIAGNOSTICS,
            Self::OpenFile => &OPEN_FILE,
            Self::OpenFiles => &OPEN_FILES,
            Self::GetAllOpenedFilePaths => &GET_ALL_OPENED_FILE_PATHS,
            Self::GetOpenEditors => &GET_OPEN_EDITORS,
            Self::GetWorkspaceFolders => &GET_WORKSPACE_FOLDERS,
            Self::GetCurrentSelection => &GET_CURRENT_SELECTION,
            Self::GetLatestSelection => &GET_LATEST_SELECTION,
            Self::GetCursorPosition => &GET_CURSOR_POSITION,
            Self::SetCursorPosition => &SET_CURSOR_POSITION,
            Self::SetSelection => &SET_SELECTION,
            Self::CheckDocumentDirty => &CHECK_DOCUMENT_DIRTY,
            Self::SaveDocument => &SAVE_DOCUMENT,
            Self::ReformatFile => &REFORMAT_FILE,
            Self::ExecuteCode => &EXECUTE_CODE,
            Self::SetPermissionMode => &SET_PERMISSION_MODE,
        }
    }
}

/// The JSON Schema of these arguments, in the words of a dialect.
fn schema(arguments: &[Argument], dialect: Dialect) -> Cow<'static, str> {
    let name = |argument: &Argument| match dialect.rules().snake_case {
        true => snake_case(argument.name),
        false => argument.name.into(),
    };
    let list = |texts: &mut dyn Iterator<Item = String>| {
        texts.reduce(|list, text| format!("{list},{text}")).unwrap_or_default()
    };
    let properties = list(&mut arguments.iter().map(|argument| {
        let Argument { kind, description, .. } = argument;
        format!(r#""{}":{{{},"description":"{description}"}}"#, name(argument), kind.schema())
    }));
    let needed = arguments.iter().filter(|argument| argument.needed);
    let needed = list(&mut needed.map(|argument| format!(r#""{}""#, name(argument))));
    let required = if needed.is_empty() { needed } else { format!(r#""required":[{needed}],"#) };
    Cow::Owned(format!(
        r#"{{"type":"object","properties":{{{properties}}},{required}"additionalProperties":false,"$schema":"http://json-schema.org/draft-07/schema#"}}"#
    ))
}

/// A tool as the editors list it. Nothing in it needs an escape in JSON.
struct Entry {
    name: &'static str,
    /// The name in snake case, or what the decompiled plugin has instead.
    snake: &'static str,
    /// What else it is called.
    also: &'static [&'static str],
    description: &'static str,
    arguments: &'static [Argument],
}

struct Argument {
    name: &'static str,
    kind: Kind,
    needed: bool,
    description: &'static str,
}

enum Kind {
    Text,
    Texts,
    Flag(bool),
    Count,
    Range,
}

impl Kind {
    const fn schema(&self) -> &'static str {
        match self {
            Self::Text => r#""type":"string""#,
            Self::Texts => r#""type":"array","items":{"type":"string"}"#,
            Self::Flag(false) => r#""type":"boolean","default":false"#,
            Self::Flag(true) => r#""type":"boolean","default":true"#,
            Self::Count => r#""type":"integer","minimum":0"#,
            Self::Range => {
                r#""type":"object","properties":{"start":{"type":"object","properties":{"line":{"type":"integer","minimum":0},"character":{"type":"integer","minimum":0}},"required":["line","character"]},"end":{"type":"object","properties":{"line":{"type":"integer","minimum":0},"character":{"type":"integer","minimum":0}},"required":["line","character"]}},"required":["start","end"]"#
            }
        }
    }
}

const fn needed(name: &'static str, kind: Kind, description: &'static str) -> Argument {
    Argument { name, kind, needed: true, description }
}

const fn optional(name: &'static str, kind: Kind, description: &'static str) -> Argument {
    Argument { name, kind, needed: false, description }
}

const FILE: Argument = needed("filePath", Kind::Text, "Path of the file");
const FILE_OR_CURRENT: Argument =
    optional("filePath", Kind::Text, "Path of the file; without it, the one that has the focus");

const OPEN_DIFF: Entry = Entry {
    name: "openDiff",
    snake: "openDiff",
    also: &["open_diff"],
    description: "Show a proposed change of a file and wait until it is accepted or rejected",
    arguments: &[
        needed("old_file_path", Kind::Text, "Path of the file as it is"),
        needed("new_file_path", Kind::Text, "Path of the file as it shall be"),
        needed("new_file_contents", Kind::Text, "The whole proposed text"),
        needed("tab_name", Kind::Text, "Name of the tab"),
    ],
};

const CLOSE_TAB: Entry = Entry {
    name: "close_tab",
    snake: "close_tab",
    also: &["closeTab"],
    description: "Close the tab with this name",
    arguments: &[needed("tab_name", Kind::Text, "Name of the tab")],
};

const CLOSE_ALL_DIFF_TABS: Entry = Entry {
    name: "closeAllDiffTabs",
    snake: "close_all_diff_tabs",
    also: &[],
    description: "Close all diffs that this client has opened",
    arguments: &[],
};

const GET_DIAGNOSTICS: Entry = Entry {
    name: "getDiagnostics",
    snake: "get_diagnostics",
    also: &[],
    description: "Get the problems that the editor knows of",
    arguments: &[optional("uri", Kind::Text, "URI of the file; without it, all files")],
};

const OPEN_FILE: Entry = Entry {
    name: "openFile",
    snake: "open_file",
    also: &[],
    description: "Open a file in the editor, and select a part of it if asked to",
    arguments: &[
        FILE,
        optional("preview", Kind::Flag(false), "Whether the tab may be replaced by the next one"),
        optional("startText", Kind::Text, "Select from the first occurrence of this text"),
        optional("endText", Kind::Text, "Select to the end of the next occurrence of this text"),
        optional("selectToEndOfLine", Kind::Flag(false), "Extend the selection to the end of its line"),
        optional("makeFrontmost", Kind::Flag(true), "Whether to take the focus"),
    ],
};

const OPEN_FILES: Entry = Entry {
    name: "open_files",
    snake: "open_files",
    also: &["openFiles"],
    description: "Open several files in the editor",
    arguments: &[needed("file_paths", Kind::Texts, "Paths of the files")],
};

const GET_ALL_OPENED_FILE_PATHS: Entry = Entry {
    name: "get_all_opened_file_paths",
    snake: "list_opened_files",
    also: &["getAllOpenedFilePaths"],
    description: "Get the paths of all open files",
    arguments: &[],
};

const GET_OPEN_EDITORS: Entry = Entry {
    name: "getOpenEditors",
    snake: "get_open_editors",
    also: &[],
    description: "Get the tabs that are open",
    arguments: &[],
};

const GET_WORKSPACE_FOLDERS: Entry = Entry {
    name: "getWorkspaceFolders",
    snake: "get_workspace_folders",
    also: &[],
    description: "Get the folders that are open",
    arguments: &[],
};

const GET_CURRENT_SELECTION: Entry = Entry {
    name: "getCurrentSelection",
    snake: "get_selection",
    also: &["get_current_selection"],
    description: "Get what is selected in the editor that has the focus",
    arguments: &[],
};

const GET_LATEST_SELECTION: Entry = Entry {
    name: "getLatestSelection",
    snake: "get_latest_selection",
    also: &[],
    description: "Get what was selected last, even if the editor has lost the focus",
    arguments: &[],
};

const GET_CURSOR_POSITION: Entry = Entry {
    name: "get_cursor_position",
    snake: "get_cursor_position",
    also: &["getCursorPosition"],
    description: "Get the place of the cursor, line and column from 0",
    arguments: &[],
};

const SET_CURSOR_POSITION: Entry = Entry {
    name: "set_cursor_position",
    snake: "set_cursor_position",
    also: &["setCursorPosition"],
    description: "Move the cursor",
    arguments: &[
        FILE_OR_CURRENT,
        needed("line", Kind::Count, "Line, from 0"),
        needed("column", Kind::Count, "Column, from 0"),
    ],
};

const SET_SELECTION: Entry = Entry {
    name: "set_selection",
    snake: "set_selection",
    also: &["setSelection"],
    description: "Select a part of a file",
    arguments: &[
        FILE_OR_CURRENT,
        needed("range", Kind::Range, "What to select, from 0; the end is exclusive"),
    ],
};

const CHECK_DOCUMENT_DIRTY: Entry = Entry {
    name: "checkDocumentDirty",
    snake: "check_document_dirty",
    also: &[],
    description: "Check whether a file has changes that are not saved",
    arguments: &[FILE],
};

const SAVE_DOCUMENT: Entry = Entry {
    name: "saveDocument",
    snake: "save_document",
    also: &[],
    description: "Save a file that is open",
    arguments: &[FILE],
};

const REFORMAT_FILE: Entry = Entry {
    name: "reformat_file",
    snake: "reformat_file",
    also: &["reformatFile"],
    description: "Format a file with the formatter of the editor",
    arguments: &[needed("file_path", Kind::Text, "Path of the file")],
};

const EXECUTE_CODE: Entry = Entry {
    name: "executeCode",
    snake: "execute_code",
    also: &[],
    description: "Run Python code in the kernel of the notebook that is open",
    arguments: &[needed("code", Kind::Text, "The code")],
};

const SET_PERMISSION_MODE: Entry = Entry {
    name: "set_permission_mode",
    snake: "set_permission_mode",
    also: &["setPermissionMode"],
    description: "Say in which mode the client asks for permission",
    arguments: &[needed("mode", Kind::Text, "Name of the mode")],
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ide::ToolRequest;
    use alloc::vec::Vec;
    use serde_json::{Map, Value, json};

    /// A value of the type that a schema asks for.
    fn sample(property: &Value) -> Value {
        match property["type"].as_str().unwrap() {
            "string" => "x".into(),
            "boolean" => Value::Bool(!property["default"].as_bool().unwrap()),
            "integer" => 7.into(),
            "array" => json!(["x", "y"]),
            "object" => json!({"start": {"line": 1, "character": 2}, "end": {"line": 3, "character": 4}}),
            other => panic!("{other}"),
        }
    }

    #[test]
    fn every_schema_says_what_the_types_read_and_write() {
        for (tool, dialect) in
            Tool::ALL.into_iter().flat_map(|tool| Dialect::ALL.map(|dialect| (tool, dialect)))
        {
            let spec = tool.spec(dialect);
            assert!(!spec.description.is_empty(), "{tool:?} has no description");
            let schema: Value = serde_json::from_str(&spec.input_schema).unwrap();
            assert_eq!(schema["$schema"], "http://json-schema.org/draft-07/schema#", "{tool:?}");
            assert_eq!(schema["additionalProperties"], false, "{tool:?}");
            let properties = schema["properties"].as_object().unwrap();
            let full: Map<_, _> =
                properties.iter().map(|(name, property)| (name.clone(), sample(property))).collect();
            // All that the schema has is read, kept and written again, and nothing else is.
            let request = ToolRequest::read(tool, Value::Object(full.clone())).unwrap();
            assert_eq!(request.tool(), Some(tool));
            let written = serde_json::to_value(request.arguments(dialect)).unwrap();
            assert_eq!(written, Value::Object(full.clone()), "{tool:?} {dialect:?}");
            // What is required is enough; it is needed to the extent that one path stands for both, and a tab for its file.
            let required: Vec<&str> = schema["required"]
                .as_array()
                .into_iter()
                .flatten()
                .map(|name| name.as_str().unwrap())
                .collect();
            let least: Map<_, _> =
                required.iter().map(|name| ((*name).into(), full[*name].clone())).collect();
            assert!(ToolRequest::read(tool, Value::Object(least.clone())).is_ok(), "{tool:?}");
            for name in required {
                let mut less = least.clone();
                less.remove(name);
                let forgiven = tool == Tool::OpenDiff && name != "new_file_contents";
                assert_eq!(ToolRequest::read(tool, Value::Object(less)).is_ok(), forgiven, "{tool:?} {name}");
            }
        }
    }

    #[test]
    fn what_is_written_in_any_dialect_is_read_the_same() {
        arbtest::arbtest(|u| {
            let (tool, dialect) = (*u.choose(&Tool::ALL)?, *u.choose(&Dialect::ALL)?);
            let schema: Value = serde_json::from_str(&tool.spec(dialect).input_schema).unwrap();
            let mut arguments = Map::new();
            for (name, property) in schema["properties"].as_object().unwrap() {
                let text: &str = u.arbitrary()?;
                let value = if property["type"] == "string" { text.into() } else { sample(property) };
                arguments.insert(name.clone(), value);
            }
            // Some of them say nothing, and then too little may be said.
            if let Ok(request) = ToolRequest::read(tool, Value::Object(arguments)) {
                let written = serde_json::to_value(request.arguments(dialect)).unwrap();
                let again = ToolRequest::read(tool, written.clone()).unwrap();
                assert_eq!(serde_json::to_value(again.arguments(dialect)).unwrap(), written);
                assert_eq!(alloc::format!("{again:?}"), alloc::format!("{request:?}"));
            }
            Ok(())
        });
    }

    #[test]
    fn every_name_is_that_of_one_tool() {
        let mut names = Vec::new();
        for tool in Tool::ALL {
            let Entry { name, snake, also, .. } = tool.entry();
            let mut spellings: Vec<_> = [*name, *snake].into_iter().chain(also.iter().copied()).collect();
            spellings.dedup();
            for spelling in spellings {
                assert_eq!(Tool::from_name(spelling), Some(tool), "{spelling}");
                assert!(!names.contains(&spelling), "{spelling}");
                names.push(spelling);
            }
        }
        assert_eq!(Tool::from_name("OpenFile"), None);
    }
}
