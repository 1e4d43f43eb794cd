//! The methods of the Obsidian dialect: requests instead of tool calls, for the files of one folder, the workspace.
//!
//! The description of the plugin has no session, so the server also accepts these requests from a client that sends no
//! `initialize`. An editor that asks for [consent](crate::ide::ServerConfig::asks_for_consent) refuses them with -32600
//! until `initialize`, because its question names the client.
//!
//! The paths in the requests are relative to the workspace, with or without a leading slash. They are checked as
//! strings, component by component: `..`, a leading `~` and every [suspicious](crate::ide::paths::Suspicion) path are
//! refused with -32603. `a..b` and `foo~` are accepted, and nothing is expanded. **Links are not resolved here**:
//! before you read or write a file, resolve the path, or its deepest existing folder, and check again that it is in the
//! workspace.

use super::answer::shown;
use super::arguments::{Described, arguments, from_text};
use crate::ide::paths::{check_relative, is_windows};
use crate::rpc::ErrorObject;
use crate::text::truncate;
use alloc::{boxed::Box, format, string::String, vec::Vec};
use core::fmt;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;

/// A request of the Obsidian dialect. You get it only on a connection with
/// [`Dialect::Obsidian`](crate::ide::Dialect::Obsidian), perhaps before [`Ready`](crate::ide::ServerEvent::Ready) or
/// without it. You get all six methods there; if you do not serve one, [fail](crate::ide::OpenCall::fail) it with
/// [`method_not_found`](crate::rpc::ErrorObject::method_not_found). The request serializes as its parameters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum DirectRequest {
    /// `readFile`. Answer: [`DirectAnswer::Contents`].
    ReadFile(ReadFile),
    /// `writeFile`. Answer: [`DirectAnswer::Written`].
    WriteFile(WriteFile),
    /// `listFiles`. Answer: [`DirectAnswer::Files`].
    ListFiles(ListFiles),
    /// `getWorkspaceInfo`. Answer: [`DirectAnswer::Workspace`].
    #[serde(serialize_with = "no_params")]
    GetWorkspaceInfo,
    /// `getOpenFiles`. Answer: [`DirectAnswer::Files`].
    #[serde(serialize_with = "no_params")]
    GetOpenFiles,
    /// `getCurrentFile`. Answer: [`DirectAnswer::CurrentFile`].
    #[serde(serialize_with = "no_params")]
    GetCurrentFile,
}

/// The names of the methods.
pub(crate) const METHODS: [&str; 6] =
    ["readFile", "writeFile", "listFiles", "getWorkspaceInfo", "getOpenFiles", "getCurrentFile"];

arguments! {
    /// The parameters of `readFile`.
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct ReadFile {
        /// The path within the workspace, without a leading slash.
        pub path: String = required["path", "filePath", "file_path"],
    }
}

arguments! {
    /// The parameters of `writeFile`.
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct WriteFile {
        /// The path within the workspace, without a leading slash.
        pub path: String = required["path", "filePath", "file_path"],
        /// The whole text of the file.
        pub content: String = contents["content", "contents"],
    }
}

arguments! {
    /// The parameters of `listFiles`.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct ListFiles {
        /// Which files, such as `*.js`, in the syntax of the editor; `None` for all.
        pub pattern: Option<String> = optional["pattern"],
    }
}

impl ReadFile {
    /// Creates the parameters for the file with this path.
    #[must_use]
    pub fn new(path: impl Into<String>) -> Self {
        Self { path: path.into() }
    }
}

impl WriteFile {
    /// Creates the parameters for this text of the file with this path.
    #[must_use]
    pub fn new(path: impl Into<String>, content: impl Into<String>) -> Self {
        Self { path: path.into(), content: content.into() }
    }
}

impl ListFiles {
    /// Creates the parameters for the files that match the pattern.
    #[must_use]
    pub const fn new(pattern: Option<String>) -> Self {
        Self { pattern }
    }
}

impl DirectRequest {
    /// Returns the name of the method.
    #[must_use]
    pub const fn method(&self) -> &'static str {
        match self {
            Self::ReadFile(_) => "readFile",
            Self::WriteFile(_) => "writeFile",
            Self::ListFiles(_) => "listFiles",
            Self::GetWorkspaceInfo => "getWorkspaceInfo",
            Self::GetOpenFiles => "getOpenFiles",
            Self::GetCurrentFile => "getCurrentFile",
        }
    }

    /// Reads a request of the dialect. Returns `None` for another method.
    pub(crate) fn read(method: &str, params: Option<&RawValue>) -> Option<Result<Self, ErrorObject>> {
        Some(match method {
            "readFile" => read(params).and_then(|mut params: ReadFile| {
                params.path = within(&params.path)?.into();
                Ok(Self::ReadFile(params))
            }),
            "writeFile" => read(params).and_then(|mut params: WriteFile| {
                params.path = within(&params.path)?.into();
                Ok(Self::WriteFile(params))
            }),
            "listFiles" => read(params).and_then(|mut params: ListFiles| {
                params.pattern = params.pattern.as_deref().map(within).transpose()?.map(Into::into);
                Ok(Self::ListFiles(params))
            }),
            "getWorkspaceInfo" => Ok(Self::GetWorkspaceInfo),
            "getOpenFiles" => Ok(Self::GetOpenFiles),
            "getCurrentFile" => Ok(Self::GetCurrentFile),
            _ => return None,
        })
    }
}

fn no_params<S: Serializer>(serializer: S) -> Result<S::Ok, S::Error> {
    ListFiles::default().serialize(serializer)
}

fn read<T: Described>(params: Option<&RawValue>) -> Result<T, ErrorObject> {
    from_text(params.map_or("{}", RawValue::get))
        .map_err(|error| ErrorObject::invalid_params(format!("{error}")))
}

/// How many bytes of a path an error message repeats at most.
const SHOWN: usize = 256;

/// Returns the path without its leading slashes, if it stays within its folder. Names are checked by the rules of
/// Windows on every system, because the same workspace may be used on several systems.
fn within(path: &str) -> Result<&str, ErrorObject> {
    let relative = path.trim_start_matches('/');
    let refused = |fault: &dyn fmt::Display| {
        let shown = truncate(path, SHOWN);
        let message = format!("the path is refused, {fault}: {shown:?}");
        Err(ErrorObject::from(message))
    };
    if relative.starts_with('~') {
        refused(&"a leading ~ is not expanded")
    } else if relative.starts_with('\\') || is_windows(relative) {
        refused(&"it is not relative to the workspace")
    } else if relative.split(['/', '\\']).any(|name| name.trim_end() == "..") {
        refused(&"it leaves the workspace with ..")
    } else {
        check_relative(relative).map_or_else(|why| refused(&why), |()| Ok(relative))
    }
}

/// The answer to a [`DirectRequest`]. If it failed, [fail](crate::ide::OpenCall::fail) the request instead, with a
/// message such as `failed to read file: …`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum DirectAnswer {
    /// The text of a file: a JSON string.
    Contents(String),
    /// The file was written: `{"success":true}`.
    #[serde(serialize_with = "success")]
    Written,
    /// Paths within the workspace: a JSON array.
    Files(Vec<String>),
    /// The description of the workspace.
    Workspace(WorkspaceInfo),
    /// The path within the workspace of the file that has the focus, or null.
    CurrentFile(Option<String>),
}

impl DirectAnswer {
    /// Returns the answer as JSON, which is not always an object.
    pub(crate) fn to_raw(&self) -> Box<RawValue> {
        serde_json::value::to_raw_value(self).unwrap_or_default()
    }

    /// Returns the answer without the files that `hides` hides; `None` if all of it may be sent. `call_file` is the
    /// file of a `readFile`. Returns an error for the text of a hidden file.
    pub(crate) fn without_hidden(
        &self,
        call_file: Option<&str>,
        hides: &dyn Fn(&str) -> bool,
    ) -> Result<Option<Self>, HiddenText> {
        match self {
            Self::Contents(_) if hides(call_file.unwrap_or_default()) => Err(HiddenText),
            Self::Files(paths) => Ok(shown(paths, |path| hides(path)).map(Self::Files)),
            Self::CurrentFile(Some(path)) if hides(path) => Ok(Some(Self::CurrentFile(None))),
            Self::Contents(_) | Self::Written | Self::Workspace(_) | Self::CurrentFile(_) => Ok(None),
        }
    }
}

/// The answer would be the text of a hidden file, so it is not sent.
#[derive(Debug)]
pub(crate) struct HiddenText;

fn success<S: Serializer>(serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map([("success", true)])
}

/// The description of a workspace: the answer to `getWorkspaceInfo`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct WorkspaceInfo {
    /// The name of the workspace.
    pub name: String,
    /// The absolute path of the workspace.
    pub path: String,
    /// How many files the workspace has.
    pub file_count: usize,
    /// The kind of the workspace: `obsidian-vault`.
    #[serde(rename = "type")]
    pub kind: String,
}

impl WorkspaceInfo {
    /// Creates the description of a workspace of this kind.
    #[must_use]
    pub fn new(
        name: impl Into<String>,
        path: impl Into<String>,
        file_count: usize,
        kind: impl Into<String>,
    ) -> Self {
        Self { name: name.into(), path: path.into(), file_count, kind: kind.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p1_p4_paths_are_judged_by_component() {
        let cases = [
            ("relative", "notes/a.md", Ok("notes/a.md")),
            ("a leading slash", "/notes/a.md", Ok("notes/a.md")),
            ("P4: dots within a name", "a..b/..c", Ok("a..b/..c")),
            ("dots and spaces before a name", " ...a/ b", Ok(" ...a/ b")),
            ("P4: a tilde within a name", "foo~", Ok("foo~")),
            ("P4: nothing is expanded", "$HOME/%TEMP%/*", Ok("$HOME/%TEMP%/*")),
            ("a percent escape is not decoded", "%2e%2e/q", Ok("%2e%2e/q")),
            ("a dot", "./a", Ok("./a")),
            ("P1: the folder above", "../q", Err("..")),
            ("P1: the folder above, in the middle", "a/../../q", Err("..")),
            ("P1: the folder above, at the end", "a/..", Err("..")),
            ("P1: the folder above, and back again", "a/../b", Err("..")),
            ("the folder above, with backslashes", r"a\..\..\q", Err("..")),
            ("the folder above, as Windows reads it", ".. /q", Err("..")),
            ("home", "~/q", Err("~")),
            ("the home of another user", "~root", Err("~")),
            ("home after a slash", "/~/q", Err("~")),
            ("a drive", r"C:\q", Err("not relative")),
            ("a drive after a slash", "/C:/q", Err("not relative")),
            ("a share", r"\\host\share", Err("not relative")),
            ("NUL", "a\0b", Err("control character")),
            ("a terminal escape sequence", "\x1b]0;x", Err("control character")),
            ("a URI", "file:///etc/passwd", Err("colon")),
            ("a stream", "f.txt:stream", Err("colon")),
            ("a stream of the folder above", "..:x/q", Err("colon")),
            ("the folder above, as old Windows reads it", ".. ./q", Err("ends in a dot")),
            ("a name whose end Windows drops", "a/d..", Err("ends in a dot")),
            ("a device", "CON", Err("device")),
            ("a device with an extension", "a/nul.md", Err("device")),
            ("too long", &"x".repeat(4097), Err("4097 bytes")),
            ("only a slash", "/", Err("is empty")),
        ];
        for (name, path, expected) in cases {
            match (within(path), expected) {
                (Ok(found), Ok(expected)) => assert_eq!(found, expected, "{name}"),
                (Err(error), Err(reason)) => {
                    assert_eq!(error.code, -32603, "{name}");
                    assert!(error.message.contains(reason), "{name}: {}", error.message);
                }
                (other, _) => panic!("{name}: {other:?}"),
            }
        }
    }

    #[test]
    fn requests_are_written_and_read_again() {
        let requests = [
            DirectRequest::ReadFile(ReadFile::new("a")),
            DirectRequest::WriteFile(WriteFile::new("a", "")),
            DirectRequest::ListFiles(ListFiles::new(Some("*.js".into()))),
            DirectRequest::ListFiles(ListFiles::default()),
            DirectRequest::GetWorkspaceInfo,
            DirectRequest::GetOpenFiles,
            DirectRequest::GetCurrentFile,
        ];
        for request in requests {
            assert!(METHODS.contains(&request.method()));
            let params = serde_json::value::to_raw_value(&request).unwrap();
            let read = DirectRequest::read(request.method(), Some(&params));
            assert_eq!(read.unwrap().unwrap(), request);
        }
        assert!(DirectRequest::read("readfile", None).is_none());
        assert_eq!(DirectRequest::read("readFile", None).unwrap().unwrap_err().code, -32602);
    }

    #[test]
    fn answers_are_bare_values() {
        let cases = [
            (DirectAnswer::Contents("x".into()), r#""x""#),
            (DirectAnswer::Written, r#"{"success":true}"#),
            (DirectAnswer::Files(Vec::from(["a".into()])), r#"["a"]"#),
            (DirectAnswer::CurrentFile(None), "null"),
            (
                DirectAnswer::Workspace(WorkspaceInfo::new("workspace-name", "/w", 150, "obsidian-vault")),
                r#"{"name":"workspace-name","path":"/w","fileCount":150,"type":"obsidian-vault"}"#,
            ),
        ];
        for (answer, expected) in cases {
            assert_eq!(answer.to_raw().get(), expected);
        }
    }
}
