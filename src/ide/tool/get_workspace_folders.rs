//! `getWorkspaceFolders`: the open folders.

use super::ToolDef;
use super::answer::{Shape, read_json};
use super::arguments::arguments;
use crate::ide::Dialect;
use crate::ide::paths::{Unencoded, as_written};
use crate::mcp::ToolResult;
use alloc::{
    string::{String, ToString},
    vec::Vec,
};
use core::fmt;
use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

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

/// What `getWorkspaceFolders` answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "the answer of every client and editor has this one part")]
pub struct WorkspaceFolders {
    /// The folders; the first one is the root.
    pub folders: Vec<WorkspaceFolder>,
}

/// An open folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct WorkspaceFolder {
    /// The name of the folder.
    pub name: String,
    /// The `file:` URI of the folder.
    pub uri: String,
    /// The absolute path of the folder.
    pub path: String,
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

/// Reads a folder. Some editors send a bare path, and some leave the path out. An untagged enum would buffer the
/// folder, and add 9 KB of code to every program.
impl<'de> Deserialize<'de> for WorkspaceFolder {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyFolder)
    }
}

struct AnyFolder;

impl<'de> Visitor<'de> for AnyFolder {
    type Value = WorkspaceFolder;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a folder or its path")
    }

    fn visit_str<E>(self, path: &str) -> Result<WorkspaceFolder, E> {
        Ok(WorkspaceFolder::new(path))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<WorkspaceFolder, A::Error> {
        #[derive(Deserialize)]
        struct Folder {
            #[serde(default)]
            name: String,
            #[serde(default)]
            uri: String,
            path: Option<String>,
        }
        let Folder { name, uri, path } = Folder::deserialize(MapAccessDeserializer::new(map))?;
        let path = path.unwrap_or_else(|| as_written(&uri).into());
        Ok(WorkspaceFolder { name, uri, path })
    }
}

impl Shape for WorkspaceFolders {
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
        struct Named {
            folders: Vec<WorkspaceFolder>,
        }
        let named = || read_json(result).map(|Named { folders }| folders);
        read_json(result).or_else(named).map(|folders| Self { folders })
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
