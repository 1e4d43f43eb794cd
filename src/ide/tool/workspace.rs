//! What is open: tabs and folders.

use super::{Answer, read_json};
use crate::ide::Dialect;
use crate::ide::paths::{Unencoded, as_written};
use crate::mcp::ToolResult;
use alloc::{
    string::{String, ToString},
    vec::Vec,
};
use serde::{Deserialize, Serialize};

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

/// The answer of `getWorkspaceFolders`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkspaceFolders {
    /// The folders, the first of which is the root.
    pub folders: Vec<WorkspaceFolder>,
}

/// A folder that is open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "FolderIn")]
#[non_exhaustive]
pub struct WorkspaceFolder {
    /// What it is called.
    pub name: String,
    /// Where it is, as a `file:` URI.
    pub uri: String,
    /// Where it is, as an absolute path.
    pub path: String,
}

impl WorkspaceFolders {
    /// These folders are open.
    #[must_use]
    pub const fn new(folders: Vec<WorkspaceFolder>) -> Self {
        Self { folders }
    }
}

impl WorkspaceFolder {
    /// The folder with this absolute path.
    #[must_use]
    pub fn new(path: impl Into<String>) -> Self {
        let path = path.into();
        let name = path.rsplit(['/', '\\']).find(|part| !part.is_empty()).unwrap_or(&path).into();
        Self { name, uri: Unencoded(&path).to_string(), path }
    }
}

/// Some editors answer bare paths, some leave the path out.
#[derive(Deserialize)]
#[serde(untagged)]
enum FolderIn {
    Path(String),
    Folder {
        #[serde(default)]
        name: String,
        #[serde(default)]
        uri: String,
        path: Option<String>,
    },
}

impl From<FolderIn> for WorkspaceFolder {
    fn from(folder: FolderIn) -> Self {
        match folder {
            FolderIn::Path(path) => Self::new(path),
            FolderIn::Folder { name, uri, path } => {
                let path = path.unwrap_or_else(|| as_written(&uri).into());
                Self { name, uri, path }
            }
        }
    }
}

impl Answer for WorkspaceFolders {
    fn result(&self, _: Dialect) -> ToolResult<'_> {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Out<'a> {
            success: bool,
            folders: &'a [WorkspaceFolder],
            root_path: Option<&'a str>,
        }
        let root_path = self.folders.first().map(|folder| folder.path.as_str());
        ToolResult::json(&Out { success: true, folders: &self.folders, root_path })
    }

    fn read(result: &ToolResult<'_>) -> Option<Self> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum In {
            Bare(Vec<WorkspaceFolder>),
            Named { folders: Vec<WorkspaceFolder> },
        }
        match read_json(result)? {
            In::Bare(folders) | In::Named { folders } => Some(Self { folders }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_read_as_other_editors_answer_them() {
        let folder = WorkspaceFolder { name: "p".into(), uri: "file:///w/p".into(), path: "/w/p".into() };
        for text in [
            r#"{"success":true,"folders":[{"name":"p","uri":"file:///w/p","path":"/w/p"}],"rootPath":"/w/p"}"#,
            r#"{"folders":[{"name":"p","uri":"file:///w/p"}]}"#,
            r#"{"folders":["/w/p"]}"#,
            r#"["/w/p"]"#,
        ] {
            let read = WorkspaceFolders::read(&ToolResult::text(text)).unwrap();
            assert_eq!(read.folders, core::slice::from_ref(&folder), "{text}");
        }
        let names: Vec<_> = ["/", "C:\\w\\p", "/w/p/"].map(|path| WorkspaceFolder::new(path).name).into();
        assert_eq!(names, ["/", "p", "p"]);
        assert_eq!(WorkspaceFolder::new("C:\\w\\p").uri, "file:///C:/w/p");
    }
}
