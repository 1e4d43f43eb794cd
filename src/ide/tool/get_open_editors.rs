//! `getOpenEditors`: which tabs are open.

use super::ToolDef;
use super::answer::{Answer, read_json};
use crate::ide::Dialect;
use crate::ide::arguments::arguments;
use crate::mcp::ToolResult;
use alloc::{string::String, vec::Vec};
use serde::{Deserialize, Serialize};

arguments! {
    /// `getOpenEditors`: asks for the tabs that are open. Answer: [`OpenEditors`].
    pub struct GetOpenEditors;
}

impl ToolDef for GetOpenEditors {
    const NAME: &'static str = "getOpenEditors";
    const DESCRIPTION: &'static str = "Get the tabs that are open";
    const SNAKE_NAME: &'static str = "get_open_editors";
}

/// The answer of `getOpenEditors`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct OpenEditors {
    /// The tabs, in their order. The views of proposed changes do not belong here.
    #[serde(alias = "editors", alias = "openEditors")]
    pub tabs: Vec<EditorTab>,
}

impl OpenEditors {
    /// These tabs are open.
    #[must_use]
    pub const fn new(tabs: Vec<EditorTab>) -> Self {
        Self { tabs }
    }
}

/// A tab of the editor. What is `None` is left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct EditorTab {
    /// The file, as a `file:` URI.
    #[serde(alias = "fileUrl")]
    pub uri: String,
    /// Whether it has the focus.
    pub is_active: bool,
    /// What stands on the tab.
    #[serde(alias = "name")]
    pub label: String,
    /// What language it is in, as VS Code calls it.
    pub language_id: String,
    /// Whether it has changes that are not saved.
    pub is_dirty: bool,
    /// Whether it stays when others are closed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_pinned: Option<bool>,
    /// Whether it may be replaced by the next one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_preview: Option<bool>,
    /// Whether it has never been saved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_untitled: Option<bool>,
    /// The path of the file.
    #[serde(skip_serializing_if = "Option::is_none", alias = "filePath", alias = "path")]
    pub file_name: Option<String>,
    /// How many lines it has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line_count: Option<u32>,
    /// The group of tabs it is in, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group_index: Option<u32>,
    /// The column of the window it is in, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub view_column: Option<u32>,
    /// Whether its group has the focus.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_group_active: Option<bool>,
}

impl EditorTab {
    /// A tab of this file, without the focus, saved.
    #[must_use]
    pub fn new(uri: impl Into<String>, label: impl Into<String>, language_id: impl Into<String>) -> Self {
        Self { uri: uri.into(), label: label.into(), language_id: language_id.into(), ..Self::default() }
    }
}

impl Answer for OpenEditors {
    fn result(&self, _: Dialect) -> ToolResult<'_> {
        ToolResult::json(self)
    }

    fn read(result: &ToolResult<'_>) -> Option<Self> {
        read_json(result)
    }
}
