//! The tools of the protocol as types: what an agent asks of an editor.
//!
//! Arguments are read tolerantly: the spellings of all known clients are understood, unknown members are ignored, an
//! empty string counts as absent where a text is optional. What cannot be used is refused with -32602 and the reason.

use alloc::{boxed::Box, string::String};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

/// One call of a tool.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ToolRequest {
    /// Show a proposed change and wait for the verdict of a person, for minutes if need be.
    OpenDiff(OpenDiff),
    /// Close a tab. Open diffs with this tab are ended by the machine, which also answers.
    CloseTab(CloseTab),
    /// Close all diffs of this client. Done and answered by the machine.
    CloseAllDiffTabs,
    /// Tell the problems of a file, or of all.
    GetDiagnostics(GetDiagnostics),
    /// Show a file.
    OpenFile(OpenFile),
    /// One of the application's own tools.
    Other(OtherTool),
}

impl ToolRequest {
    /// The name on the wire.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::OpenDiff(_) => OpenDiff::NAME,
            Self::CloseTab(_) => CloseTab::NAME,
            Self::CloseAllDiffTabs => CLOSE_ALL_DIFF_TABS,
            Self::GetDiagnostics(_) => GetDiagnostics::NAME,
            Self::OpenFile(_) => OpenFile::NAME,
            Self::Other(other) => &other.name,
        }
    }
}

impl Serialize for ToolRequest {
    /// The arguments as the real client writes them.
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::OpenDiff(arguments) => arguments.serialize(serializer),
            Self::CloseTab(arguments) => arguments.serialize(serializer),
            Self::CloseAllDiffTabs => serializer.collect_map([(); 0].map(|()| ("", ()))),
            Self::GetDiagnostics(arguments) => arguments.serialize(serializer),
            Self::OpenFile(arguments) => arguments.serialize(serializer),
            Self::Other(other) => other.arguments.serialize(serializer),
        }
    }
}

pub(crate) const CLOSE_ALL_DIFF_TABS: &str = "closeAllDiffTabs";

/// The arguments of `openDiff`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "OpenDiffIn")]
#[non_exhaustive]
pub struct OpenDiff {
    /// The absolute path of the file as it is. For a new file it is that of the new one and nothing is there.
    pub old_file_path: String,
    /// The absolute path of the file as it shall be.
    pub new_file_path: String,
    /// The whole proposed text.
    pub new_file_contents: String,
    /// What the client calls the tab, in bytes that are compared as they are: `✻ [Claude Code] new.txt (c5bbaf) ⧉`.
    pub tab_name: String,
}

impl OpenDiff {
    pub(crate) const NAME: &'static str = "openDiff";

    /// Proposes this text for this file, in a tab of this name.
    #[must_use]
    pub fn new(path: impl Into<String>, contents: impl Into<String>, tab_name: impl Into<String>) -> Self {
        let path = path.into();
        Self {
            old_file_path: path.clone(),
            new_file_path: path,
            new_file_contents: contents.into(),
            tab_name: tab_name.into(),
        }
    }
}

#[derive(Deserialize)]
struct OpenDiffIn {
    #[serde(default, alias = "oldFilePath", alias = "file_path", alias = "filePath")]
    old_file_path: Option<String>,
    #[serde(default, alias = "newFilePath")]
    new_file_path: Option<String>,
    #[serde(alias = "newFileContents")]
    new_file_contents: String,
    #[serde(default, alias = "tabName")]
    tab_name: Option<String>,
}

impl TryFrom<OpenDiffIn> for OpenDiff {
    type Error = &'static str;

    /// Clients differ in which of the names they leave out; one path is enough, and a tab without a name is that of
    /// its file.
    fn try_from(arguments: OpenDiffIn) -> Result<Self, Self::Error> {
        let old = present(arguments.old_file_path);
        let new = present(arguments.new_file_path).or_else(|| old.clone());
        let new_file_path = new.ok_or("one of old_file_path and new_file_path is needed")?;
        Ok(Self {
            old_file_path: old.unwrap_or_else(|| new_file_path.clone()),
            tab_name: present(arguments.tab_name).unwrap_or_else(|| new_file_path.clone()),
            new_file_contents: arguments.new_file_contents,
            new_file_path,
        })
    }
}

/// The arguments of `close_tab`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CloseTab {
    /// The name of the tab, as `openDiff` gave it, or a path.
    #[serde(alias = "tabName", alias = "path")]
    pub tab_name: String,
}

impl CloseTab {
    pub(crate) const NAME: &'static str = "close_tab";

    /// Closes the tab of this name.
    #[must_use]
    pub fn new(tab_name: impl Into<String>) -> Self {
        Self { tab_name: tab_name.into() }
    }
}

/// The arguments of `getDiagnostics`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct GetDiagnostics {
    /// Which file, in whatever spelling the client has: a `file:` URI, encoded or not, or a path. `None`: all files.
    /// Answer with the same spelling.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "optional",
        alias = "filePath",
        alias = "file_path",
        alias = "path",
        alias = "documentUri"
    )]
    pub uri: Option<String>,
}

impl GetDiagnostics {
    pub(crate) const NAME: &'static str = "getDiagnostics";

    /// Asks for the problems of this file, or of all.
    #[must_use]
    pub const fn new(uri: Option<String>) -> Self {
        Self { uri }
    }
}

/// The arguments of `openFile`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct OpenFile {
    /// The path, or a `file:` URI.
    #[serde(alias = "file_path", alias = "path", alias = "uri", alias = "documentUri")]
    pub file_path: String,
    /// Whether the tab may be replaced by the next one. Default no.
    #[serde(default, deserialize_with = "flag::<_, false>")]
    pub preview: bool,
    /// Select from the first occurrence of this text.
    #[serde(default, deserialize_with = "optional", skip_serializing_if = "Option::is_none")]
    pub start_text: Option<String>,
    /// Select up to the end of the next occurrence of this text.
    #[serde(default, deserialize_with = "optional", skip_serializing_if = "Option::is_none")]
    pub end_text: Option<String>,
    /// Extend the selection to the end of its last line. Default no.
    #[serde(default, deserialize_with = "flag::<_, false>")]
    pub select_to_end_of_line: bool,
    /// Whether to take the focus. Default yes; without it the answer describes the file instead.
    #[serde(default = "yes", deserialize_with = "flag::<_, true>")]
    pub make_frontmost: bool,
}

impl OpenFile {
    pub(crate) const NAME: &'static str = "openFile";

    /// Shows this file, in front, without selecting anything.
    #[must_use]
    pub fn new(file_path: impl Into<String>) -> Self {
        Self {
            file_path: file_path.into(),
            preview: false,
            start_text: None,
            end_text: None,
            select_to_end_of_line: false,
            make_frontmost: true,
        }
    }
}

/// A call of a tool that only the application knows.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct OtherTool {
    /// Its name.
    pub name: Box<str>,
    /// Its arguments: a JSON object, nested at most as deeply as the limit.
    pub arguments: Box<RawValue>,
}

impl OtherTool {
    /// A call of the tool with this name.
    #[must_use]
    pub fn new(name: impl Into<Box<str>>, arguments: Box<RawValue>) -> Self {
        Self { name: name.into(), arguments }
    }
}

/// The real client sends `""` where it has nothing to say.
fn present(text: Option<String>) -> Option<String> {
    text.filter(|text| !text.is_empty())
}

fn optional<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    Option::deserialize(deserializer).map(present)
}

const fn yes() -> bool {
    true
}

/// A null is as good as an absent one.
fn flag<'de, D: Deserializer<'de>, const DEFAULT: bool>(deserializer: D) -> Result<bool, D::Error> {
    Option::deserialize(deserializer).map(|flag| flag.unwrap_or(DEFAULT))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_diff_needs_a_path_and_a_text() {
        let read = |text| serde_json::from_str::<OpenDiff>(text).ok();
        let full = OpenDiff::new("/a", "x", "t");
        let of_file = OpenDiff::new("/a", "x", "/a");
        let cases = [
            (
                "the real client's",
                r#"{"old_file_path":"/a","new_file_path":"/a","new_file_contents":"x","tab_name":"t"}"#,
                Some(&full),
            ),
            (
                "camel case and something unknown",
                r#"{"oldFilePath":"/a","newFileContents":"x","tabName":"t","y":[]}"#,
                Some(&full),
            ),
            ("only the new path", r#"{"new_file_path":"/a","new_file_contents":"x"}"#, Some(&of_file)),
            (
                "empty ones",
                r#"{"old_file_path":"/a","new_file_path":"","new_file_contents":"x","tab_name":""}"#,
                Some(&of_file),
            ),
            ("no path", r#"{"new_file_contents":"x","tab_name":"t"}"#, None),
            ("no text", r#"{"old_file_path":"/a"}"#, None),
        ];
        for (name, text, expected) in cases {
            assert_eq!(read(text).as_ref(), expected, "{name}");
        }
    }

    #[test]
    fn optional_arguments_have_their_defaults() {
        for text in [
            r#"{"filePath":"/a"}"#,
            r#"{"path":"/a","startText":"","endText":null,"preview":null,"makeFrontmost":null}"#,
        ] {
            assert_eq!(serde_json::from_str::<OpenFile>(text).unwrap(), OpenFile::new("/a"), "{text}");
        }
        for (text, uri) in [
            ("{}", None),
            (r#"{"uri":""}"#, None),
            (r#"{"uri":null}"#, None),
            (r#"{"filePath":"a"}"#, Some("a")),
        ] {
            let read: GetDiagnostics = serde_json::from_str(text).unwrap();
            assert_eq!(read.uri.as_deref(), uri, "{text}");
        }
    }

    #[test]
    fn arguments_are_written_as_the_real_client_does() {
        let cases = [
            (ToolRequest::CloseAllDiffTabs, "{}"),
            (ToolRequest::GetDiagnostics(GetDiagnostics::new(None)), "{}"),
            (ToolRequest::CloseTab(CloseTab::new("t")), r#"{"tab_name":"t"}"#),
            (
                ToolRequest::OpenDiff(OpenDiff::new("/a", "x", "t")),
                r#"{"old_file_path":"/a","new_file_path":"/a","new_file_contents":"x","tab_name":"t"}"#,
            ),
        ];
        for (request, expected) in cases {
            assert_eq!(serde_json::to_string(&request).unwrap(), expected);
        }
    }
}
