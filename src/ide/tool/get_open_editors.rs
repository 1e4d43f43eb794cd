//! `getOpenEditors`: the open tabs.

use super::ToolDef;
use super::answer::{Shape, read_json, shown};
use super::arguments::arguments;
use crate::ide::Dialect;
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
    const RESOURCE: Option<&'static str> = Some("ide://open-editors");
    const IS_READ_ONLY: bool = true;
}

/// What `getOpenEditors` answers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(clippy::exhaustive_structs, reason = "the answer of every client and editor has this one part")]
pub struct OpenEditors {
    /// The tabs, in order. Leave out the views of proposed changes.
    #[serde(alias = "editors", alias = "openEditors")]
    pub tabs: Vec<EditorTab>,
}

/// A tab of the editor. Fields that are `None` are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct EditorTab {
    /// The file as a `file:` URI: [`LocalPath::to_uri`](crate::ide::paths::LocalPath::to_uri) makes it.
    #[serde(alias = "fileUrl")]
    pub uri: String,
    /// True if the tab has the focus.
    pub is_active: bool,
    /// The text on the tab.
    #[serde(alias = "name")]
    pub label: String,
    /// The language of the file, by its name in VS Code.
    pub language_id: String,
    /// True if the file has unsaved changes.
    pub is_dirty: bool,
    /// True if the tab stays open when other tabs are closed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_pinned: Option<bool>,
    /// True if the next tab may replace this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_preview: Option<bool>,
    /// True if the file has never been saved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_untitled: Option<bool>,
    /// The path of the file.
    #[serde(skip_serializing_if = "Option::is_none", alias = "filePath", alias = "path")]
    pub file_name: Option<String>,
    /// The number of lines of the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line_count: Option<u32>,
    /// The group of tabs that this one belongs to, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group_index: Option<u32>,
    /// The column of the window that the tab is in, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub view_column: Option<u32>,
    /// True if the group of the tab has the focus.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_group_active: Option<bool>,
}

impl EditorTab {
    /// Creates a tab of this file, without the focus and without unsaved changes.
    #[must_use]
    pub fn new(uri: impl Into<String>, label: impl Into<String>, language_id: impl Into<String>) -> Self {
        Self { uri: uri.into(), label: label.into(), language_id: language_id.into(), ..Self::default() }
    }
}

impl Shape for OpenEditors {
    fn result(&self, _: Dialect) -> ToolResult<'_> {
        ToolResult::json(self)
    }

    /// Returns the tabs of the files that are not hidden.
    fn without_hidden(&self, hides: &dyn Fn(&str) -> bool) -> Option<Self> {
        let is_hidden = |tab: &EditorTab| hides(&tab.uri) || tab.file_name.as_deref().is_some_and(hides);
        shown(&self.tabs, is_hidden).map(|tabs| Self { tabs })
    }

    fn read(result: &ToolResult<'_>) -> Option<Self> {
        read_json(result)
    }
}
