//! `getWorkspaceFolders`: the open folders.

use super::ToolDef;
use super::answer::{Answer, read_json};
use super::arguments::arguments;
use crate::ide::Dialect;
use crate::ide::paths::{Unencoded, as_written};
use crate::mcp::ToolResult;
use alloc::{
    string::{String, ToString},
    vec::Vec,
};
use serde::{Deserialize, Serialize};

arguments! {
    /// `getWorkspaceFolders`: asks for the folders that are open. Answer: [`WorkspaceFolders`].
    pub struct GetWorkspaceFolders;
}

impl ToolDef for GetWorkspaceFolders {
    const NAME: &'static str = "getWorkspaceFolders";
    const DESCRIPTION: &'static str = "Get the folders that are open";
    const SNAKE_NAME: &'static str = "get_workspace_folders";
    const RESOURCE: Option<&'static str> = Some("ide://workspace-folders");
    const IS_READ_ONLY: bool = true;
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
    /// The name of the folder.
    pub name: String,
    /// The `file:` URI of the folder.
    pub uri: String,
    /// The absolute path of the folder.
    pub path: String,
}

impl WorkspaceFolders {
    /// Creates the answer with these folders.
    #[must_use]
    pub const fn new(folders: Vec<WorkspaceFolder>) -> Self {
        Self { folders }
    }
}

impl WorkspaceFolder {
    /// Creates the entry of the folder with this absolute path.
    #[must_use]
    pub fn new(path: impl Into<String>) -> Self {
        let path = path.into();
        let name = path.rsplit(['/', '\\']).find(|part| !part.is_empty()).unwrap_or(&path).into();
        Self { name, uri: Unencoded(&path).to_string(), path }
    }
}

/// A folder in an answer. Some editors send a bare path, and some leave the path out.
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
    fn folders_of_other_editors_are_read() {
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
