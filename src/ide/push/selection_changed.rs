//! `selection_changed`: the person selected something, or moved the cursor.

use super::{EditorNotification, InDialect};
use crate::ide::Dialect;
use crate::ide::dialect::SelectionForm;
use crate::ide::kit::{Position, Range};
use crate::ide::paths::Unencoded;
use crate::ide::tool::arguments::{ArgumentValue, Described as _, arguments};
use crate::rpc::SerializedNotification;
use crate::text::truncate;
use alloc::string::String;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub(super) const NAMES: [&str; 2] = ["selection_changed", "notifications/selection_changed"];

/// What is selected in the editor, or where its cursor is if nothing is: the parameters of `selection_changed`.
///
/// A client keeps the last selection it got, and puts its text into the next prompt without asking the person
/// (measured). So leave out text that is not meant for the agent.
///
/// ```
/// use ide_mcp::ide::kit::{Position, Range};
/// use ide_mcp::ide::{Selection, Server};
/// use ide_mcp::Time;
///
/// /// The person has selected something, or moved the cursor.
/// fn selected(server: &mut Server, now: Time) {
///     let range = Range::new(Position::new(0, 3), Position::new(0, 7));
///     server.select(now, Selection::new("/w/src/main.rs", range, "main"));
/// }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Selection {
    /// The selected text; empty for a cursor.
    pub text: String,
    /// The absolute path of the file; empty if no file has the focus.
    pub file_path: String,
    /// The file as a `file:` URI. If `None`, it is made from the path; empty if the path is not absolute.
    pub file_url: Option<String>,
    /// The range of the selection.
    pub range: Range,
}

impl Selection {
    /// Creates a selection in the file with this absolute path.
    #[must_use]
    pub fn new(file_path: impl Into<String>, range: Range, text: impl Into<String>) -> Self {
        Self { text: text.into(), file_path: file_path.into(), file_url: None, range }
    }

    /// Returns the number of bytes of the strings.
    pub(super) fn content_len(&self) -> usize {
        let url = self.file_url.as_deref().map_or(0, str::len);
        self.text.len().saturating_add(self.file_path.len()).saturating_add(url)
    }

    /// Returns the selection of an editor where no file has the focus: no text, and no cursor. Send this to clear the
    /// selection in the client: an empty text and an empty range work with every version of the real client, which
    /// ignores a notification with a null `text`, `filePath` or `selection` (measured).
    #[must_use]
    pub fn cleared() -> Self {
        Self::default()
    }

    /// Returns true if `hides` hides the file of the selection.
    pub(crate) fn is_hidden(&self, hides: &dyn Fn(&str) -> bool) -> bool {
        hides(&self.file_path) || self.file_url.as_deref().is_some_and(hides)
    }

    /// Cuts the text to at most `max` bytes, between two characters. Returns true if it was longer.
    pub(crate) fn cut(&mut self, max: usize) -> bool {
        let len = truncate(&self.text, max).len();
        let cut = len < self.text.len();
        self.text.truncate(len);
        cut
    }

    /// Writes this selection as a notification, for all clients of a dialect.
    pub(crate) fn serialized(&self, dialect: Dialect) -> Option<SerializedNotification> {
        let method = dialect.notification(EditorNotification::SelectionChanged);
        let written = SerializedNotification::new(method, Some(&InDialect(self, dialect)));
        debug_assert!(written.is_ok(), "strings and numbers can always be serialized");
        written.ok()
    }
}

impl Serialize for Selection {
    /// Writes the parameters in the shape of VS Code.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        InDialect(self, Dialect::VsCode).serialize(serializer)
    }
}

impl Serialize for InDialect<'_, Selection> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Selection { text, file_path, file_url, range } = self.0;
        let written = self.1.path(file_path);
        let mut params = serializer.serialize_map(None)?;
        match self.1.rules().selection {
            SelectionForm::Full => {
                params.serialize_entry("text", text)?;
                params.serialize_entry("filePath", &written)?;
                match file_url {
                    Some(url) => params.serialize_entry("fileUrl", url)?,
                    None => params.serialize_entry("fileUrl", &format_args!("{}", Unencoded(file_path)))?,
                }
                params.serialize_entry("selection", &RangeOut::from(*range))?;
            }
            SelectionForm::Short => {
                params.serialize_entry("selection", range)?;
                params.serialize_entry("text", text)?;
                params.serialize_entry("filePath", &written)?;
            }
            SelectionForm::Ranged => {
                params.serialize_entry("file_path", &written)?;
                params.serialize_entry("range", range)?;
                params.serialize_entry("text", text)?;
            }
        }
        params.end()
    }
}

/// A range with the member `isEmpty`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RangeOut {
    start: Position,
    end: Position,
    is_empty: bool,
}

impl From<Range> for RangeOut {
    fn from(range: Range) -> Self {
        Self { start: range.start, end: range.end, is_empty: range.is_empty() }
    }
}

arguments! {
    struct SelectionIn {
        text: Option<String> = optional["text"],
        file_path: Option<String> = optional["filePath", "file_path"],
        file_url: Option<String> = optional["fileUrl", "file_url"],
        ends: Option<Ends> = optional_value["selection", "range"],
    }
}

#[derive(Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct Ends {
    start: Position,
    end: Position,
}

impl ArgumentValue for Ends {}

impl<'de> Deserialize<'de> for Selection {
    /// Reads the parameters tolerantly: any member may be missing or null.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let params = SelectionIn::read(deserializer)?;
        let ends = params.ends.unwrap_or_default();
        Ok(Self {
            text: params.text.unwrap_or_default(),
            file_path: params.file_path.unwrap_or_default(),
            file_url: params.file_url,
            range: Range::new(ends.start, ends.end),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selection_matches_the_recorded_editor() {
        let range = Range::new(Position::new(0, 0), Position::new(0, 5));
        let selection = Selection::new("/home/user/project/a.txt", range, "hello sel");
        let expected = r#"{"text":"hello sel","filePath":"/home/user/project/a.txt","fileUrl":"file:///home/user/project/a.txt","selection":{"start":{"line":0,"character":0},"end":{"line":0,"character":5},"isEmpty":false}}"#;
        assert_eq!(serde_json::to_string(&selection).unwrap(), expected);
        let read: Selection = serde_json::from_str(expected).unwrap();
        assert_eq!(read.range, range);
    }

    #[test]
    fn windows_selection_has_a_valid_url() {
        let written = serde_json::to_string(&Selection::new(r"C:\w\a", Range::default(), "")).unwrap();
        assert!(written.contains(r#""fileUrl":"file:///C:/w/a""#), "{written}");
    }

    #[test]
    fn relative_path_has_no_url() {
        let written = serde_json::to_string(&Selection::new("src/main.ts", Range::default(), "")).unwrap();
        assert!(written.contains(r#""filePath":"src/main.ts","fileUrl":"""#), "{written}");
    }

    #[test]
    fn selections_are_read_tolerantly() {
        for (name, text) in [
            ("every member null", r#"{"text":null,"filePath":null,"selection":null}"#),
            ("no member", "{}"),
            ("cleared", r#"{"text":"","filePath":"","fileUrl":null,"selection":null}"#),
        ] {
            assert_eq!(serde_json::from_str::<Selection>(text).unwrap(), Selection::default(), "{name}");
        }
        let snake = r#"{"file_path":"/x","range":{"start":{"line":10,"character":5},"end":{"line":15,"character":20}}}"#;
        let read: Selection = serde_json::from_str(snake).unwrap();
        assert_eq!((read.file_path.as_str(), read.range.end), ("/x", Position::new(15, 20)));
    }

    #[test]
    fn selections_are_read_in_every_dialect() {
        let here = Selection::new("/a", Range::new(Position::new(1, 2), Position::new(1, 3)), "x");
        let cursor = Selection::new("/a", Range::default(), "");
        const AT: &str = r#"{"start":{"line":1,"character":2},"end":{"line":1,"character":3}}"#;
        const ZERO: &str = r#"{"start":{"line":0,"character":0},"end":{"line":0,"character":0}}"#;
        let cases = [
            (Dialect::JetBrains, &here, alloc::format!(r#"{{"selection":{AT},"text":"x","filePath":"/a"}}"#)),
            (
                Dialect::JetBrains,
                &cursor,
                alloc::format!(r#"{{"selection":{ZERO},"text":"","filePath":"/a"}}"#),
            ),
            (
                Dialect::JetBrains,
                &Selection::cleared(),
                alloc::format!(r#"{{"selection":{ZERO},"text":"","filePath":""}}"#),
            ),
            (Dialect::SnakeCase, &here, alloc::format!(r#"{{"file_path":"/a","range":{AT},"text":"x"}}"#)),
            (
                Dialect::SnakeCase,
                &Selection::cleared(),
                alloc::format!(r#"{{"file_path":"","range":{ZERO},"text":""}}"#),
            ),
            (
                Dialect::VsCode,
                &Selection::cleared(),
                [
                    r#"{"text":"","filePath":"","fileUrl":"","selection":{"start":{"line":0,"character":0},"#,
                    r#""end":{"line":0,"character":0},"isEmpty":true}}"#,
                ]
                .concat(),
            ),
        ];
        for (dialect, selection, expected) in cases {
            let written = serde_json::to_string(&InDialect(selection, dialect)).unwrap();
            assert_eq!(written, expected, "{dialect:?}");
            assert_eq!(&serde_json::from_str::<Selection>(&written).unwrap(), selection, "{dialect:?}");
        }
        assert!(serde_json::from_str::<Selection>(r#"{"filePath":"/a","file_path":"/b"}"#).is_err());
    }

    #[test]
    fn text_is_cut_between_characters() {
        let mut selection = Selection::new("/a", Range::default(), "aé");
        assert!(!selection.cut(3) && selection.text == "aé");
        assert!(selection.cut(2) && selection.text == "a");
    }
}
