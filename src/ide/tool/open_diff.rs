//! `openDiff`: a proposed change, and what the person decides.

use super::answer::{Shape, first_text};
use super::arguments::{Argument, Described, arguments};
use super::{Tool, ToolDef};
use crate::ide::Dialect;
use crate::mcp::{Content, Timeout, ToolResult};
use crate::rpc::code;
use alloc::{string::String, vec};
use serde::{Deserialize, Deserializer, Serialize, de::Error as _};

/// `openDiff`: shows a proposed change to a person, and waits for the decision without a deadline. Answer:
/// [`DiffOutcome`].
///
/// ```
/// use ide_mcp::ide::tool::{DiffOutcome, OpenDiff};
///
/// let diff = OpenDiff::new("/w/a.txt", "proposed\n", "a.txt");
/// // Show `diff.new_file_contents` beside the file, and then one of:
/// let as_proposed = diff.clone().accept();
/// let edited = DiffOutcome::Accepted { contents: "better\n".into() };
/// let rejected = diff.reject();
/// assert_eq!(as_proposed, DiffOutcome::Accepted { contents: "proposed\n".into() });
/// ```
///
/// If you offer `openDiff`, `close_tab` and `closeAllDiffTabs` are listed too, because older clients do not use it
/// without them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct OpenDiff {
    /// The absolute path of the file before the change. For a new file both paths are equal, and there is no file yet.
    pub old_file_path: String,
    /// The absolute path of the file after the change.
    pub new_file_path: String,
    /// The whole proposed text.
    pub new_file_contents: String,
    /// The client's name for the tab, such as `✻ [Claude Code] new.txt (c5bbaf) ⧉`. Names are compared byte for byte,
    /// after each half of a surrogate pair has become U+FFFD.
    pub tab_name: String,
}

impl ToolDef for OpenDiff {
    const NAME: &'static str = "openDiff";
    const DESCRIPTION: &'static str =
        "Show a proposed change of a file and wait until it is accepted or rejected";
    const OTHER_NAMES: &'static [&'static str] = &["open_diff"];
    const LISTED_WITH: &'static [Tool] = &[Tool::CloseTab, Tool::CloseAllDiffTabs];
    // After this error the client goes on without a diff (measured). We must not answer with a decision that the person
    // has not made.
    const REFUSAL: Option<i64> = Some(code::METHOD_NOT_FOUND);
    const TIMEOUT: Timeout = Timeout::Never;

    fn file(&self) -> Option<&str> {
        Some(&self.new_file_path)
    }
}

impl OpenDiff {
    /// Proposes this text for this file, in a tab with this name.
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

    /// Accepts the text as proposed. If the person has edited it, use [`DiffOutcome::Accepted`] with the edited text.
    #[must_use]
    pub fn accept(self) -> DiffOutcome {
        DiffOutcome::Accepted { contents: self.new_file_contents }
    }

    /// Rejects the change. Use this too if the person closes the view.
    #[must_use]
    pub fn reject(self) -> DiffOutcome {
        DiffOutcome::Rejected { tab_name: self.tab_name }
    }
}

arguments! {
    struct OpenDiffIn {
        old_file_path: Option<String> =
            schema_required["old_file_path", "oldFilePath", "file_path", "filePath"] "Path of the file before the change",
        new_file_path: Option<String> =
            usually_required["new_file_path", "newFilePath"] "Path of the file after the change",
        new_file_contents: String =
            contents["new_file_contents", "newFileContents"] "The whole proposed text",
        tab_name: Option<String> = usually_required["tab_name", "tabName"] "Name of the tab",
    }
}

impl Described for OpenDiff {
    const ARGUMENTS: &'static [Argument] = OpenDiffIn::ARGUMENTS;

    /// Fills in what is missing, because clients leave out different arguments. One path is enough, and a tab without a
    /// name gets the path of the file.
    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let arguments = OpenDiffIn::read(deserializer)?;
        let new = arguments.new_file_path.or_else(|| arguments.old_file_path.clone());
        let missing = || D::Error::custom("one of old_file_path and new_file_path is needed");
        let new_file_path = new.ok_or_else(missing)?;
        Ok(Self {
            old_file_path: arguments.old_file_path.unwrap_or_else(|| new_file_path.clone()),
            tab_name: arguments.tab_name.unwrap_or_else(|| new_file_path.clone()),
            new_file_contents: arguments.new_file_contents,
            new_file_path,
        })
    }
}

impl<'de> Deserialize<'de> for OpenDiff {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::read(deserializer)
    }
}

/// What the person decided about a proposed change: the answer of `openDiff`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DiffOutcome {
    /// The change is accepted. **The client writes the file**, with this text, which may differ from the proposed one.
    /// Do not write it yourself: the client's next edit would fail.
    Accepted {
        /// The whole text of the file after the change.
        contents: String,
    },
    /// The change is rejected, or the view was closed.
    Rejected {
        /// The tab of the call; empty if it was read from an answer without the tab.
        tab_name: String,
    },
}

impl Shape for DiffOutcome {
    /// Returns two blocks, or one for a rejection in a dialect without the tab.
    fn result(&self, dialect: Dialect) -> ToolResult<'_> {
        match self {
            Self::Accepted { contents } => {
                ToolResult::new(vec![Content::text("FILE_SAVED"), Content::text(contents.as_str())])
            }
            Self::Rejected { tab_name } if dialect.rules().reject_includes_tab => {
                ToolResult::new(vec![Content::text("DIFF_REJECTED"), Content::text(tab_name.as_str())])
            }
            Self::Rejected { .. } => ToolResult::text("DIFF_REJECTED"),
        }
    }

    /// Reads the decision. `FILE_SAVED` without the text is not a decision: the real client does not understand it
    /// either (measured).
    fn read(result: &ToolResult<'_>) -> Option<Self> {
        let mut texts = result.texts();
        match (first_text(result)?, texts.nth(1)) {
            ("FILE_SAVED", Some(contents)) => Some(Self::Accepted { contents: contents.into() }),
            ("DIFF_REJECTED", tab) => Some(Self::Rejected { tab_name: tab.unwrap_or_default().into() }),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_diff_requires_path_and_text() {
        let read = |text| serde_json::from_str::<OpenDiff>(text).ok();
        let full = OpenDiff::new("/a", "x", "t");
        let of_file = OpenDiff::new("/a", "x", "/a");
        let cases = [
            (
                "the arguments of the real client",
                r#"{"old_file_path":"/a","new_file_path":"/a","new_file_contents":"x","tab_name":"t"}"#,
                Some(&full),
            ),
            (
                "camel case, and an unknown argument",
                r#"{"oldFilePath":"/a","newFileContents":"x","tabName":"t","y":[]}"#,
                Some(&full),
            ),
            ("only the new path", r#"{"new_file_path":"/a","new_file_contents":"x"}"#, Some(&of_file)),
            (
                "empty arguments",
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
    fn verdicts_are_read() {
        let verdict = |texts: &[&str]| {
            DiffOutcome::read(&ToolResult::new(texts.iter().map(|text| Content::text(*text)).collect()))
        };
        assert_eq!(verdict(&["FILE_SAVED", ""]), Some(DiffOutcome::Accepted { contents: "".into() }));
        assert_eq!(verdict(&["FILE_SAVED"]), None);
        assert_eq!(verdict(&["DIFF_REJECTED"]), Some(DiffOutcome::Rejected { tab_name: "".into() }));
        assert_eq!(verdict(&["DIFF_ACCEPTED"]), None);
        assert_eq!(verdict(&[]), None);
        assert_eq!(DiffOutcome::read(&ToolResult::error("FILE_SAVED")), None);
    }
}
