//! What an editor tells an agent unasked: the selection, and files it mentions.

use super::arguments::{Said, arguments};
use super::dialect::SelectionForm;
use super::paths::Unencoded;
use super::{Dialect, FileDiagnostics, Position, Range};
use crate::text::truncate;
use alloc::{string::String, vec::Vec};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The selection of the editor, or its cursor where nothing is selected: the parameters of `selection_changed`.
///
/// There is one slot for it on the other side: the last one counts. Its text goes into the next prompt without anybody
/// asking (measured), so leave out what must not be seen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Selection {
    /// The selected text; empty for a cursor.
    pub text: String,
    /// The absolute path of the file; empty if no file has the focus.
    pub file_path: String,
    /// The same as a `file:` URI. Made of the path where it is `None`.
    pub file_url: Option<String>,
    /// Where it is.
    pub range: Range,
}

impl Selection {
    /// A selection in the file with this absolute path.
    #[must_use]
    pub fn new(file_path: impl Into<String>, range: Range, text: impl Into<String>) -> Self {
        Self { text: text.into(), file_path: file_path.into(), file_url: None, range }
    }

    /// No file has the focus: nothing is selected, and there is no cursor. Sending this selection clears the
    /// selection in the client: an empty text and an empty range work with every version of the real client
    /// (measured). Every version ignores a notification with a null `text`, `filePath` or `selection`.
    #[must_use]
    pub fn cleared() -> Self {
        Self::default()
    }

    /// Cuts the text to at most `max` bytes, between two characters; whether something was cut.
    pub(crate) fn cut(&mut self, max: usize) -> bool {
        let cut = self.text.len() > max;
        if cut {
            let len = truncate(&self.text, max).len();
            self.text.truncate(len);
        }
        cut
    }
}

impl Serialize for Selection {
    /// As VS Code has it.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        InDialect(self, Dialect::VsCode).serialize(serializer)
    }
}

/// What is said unasked, in the shape that a dialect has for it.
pub(crate) struct InDialect<'a, T>(pub(crate) &'a T, pub(crate) Dialect);

impl Serialize for InDialect<'_, Selection> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Selection { text, file_path, file_url, range } = self.0;
        let mut params = serializer.serialize_map(None)?;
        match self.1.rules().selection {
            SelectionForm::Full => {
                params.serialize_entry("text", text)?;
                params.serialize_entry("filePath", file_path)?;
                match file_url {
                    Some(url) => params.serialize_entry("fileUrl", url)?,
                    None if file_path.is_empty() => params.serialize_entry("fileUrl", "")?,
                    None => params.serialize_entry("fileUrl", &format_args!("{}", Unencoded(file_path)))?,
                }
                params.serialize_entry("selection", &RangeOut::from(*range))?;
            }
            SelectionForm::Short => {
                params.serialize_entry("selection", range)?;
                params.serialize_entry("text", text)?;
                params.serialize_entry("filePath", file_path)?;
            }
            SelectionForm::Ranged => {
                params.serialize_entry("file_path", file_path)?;
                params.serialize_entry("range", range)?;
                params.serialize_entry("text", text)?;
            }
        }
        params.end()
    }
}

/// A range, and whether it is empty.
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
        ends: Option<Ends> = maybe["selection", "range"],
    }
}

#[derive(Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct Ends {
    start: Position,
    end: Position,
}

impl Said for Ends {}

impl<'de> Deserialize<'de> for Selection {
    /// Tolerant of what editors send: each member may be missing or null.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let params = SelectionIn::deserialize(deserializer)?;
        let ends = params.ends.unwrap_or_default();
        Ok(Self {
            text: params.text.unwrap_or_default(),
            file_path: params.file_path.unwrap_or_default(),
            file_url: params.file_url,
            range: Range::new(ends.start, ends.end),
        })
    }
}

/// A file, or lines of it, that the editor puts into the prompt: the parameters of `at_mentioned`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Mention {
    /// The absolute path of the file.
    pub file_path: String,
    /// The first and the last line, both from 0 and both meant; `None` for the whole file.
    pub lines: Option<(u32, u32)>,
    /// The number of lines of the file, if known. Used for opencode only, which ignores a mention of a whole file
    /// without a line range (measured).
    pub line_count: Option<u32>,
}

impl Mention {
    /// Mentions the file with this absolute path: these lines of it (from 0, the last one included), or all.
    #[must_use]
    pub fn new(file_path: impl Into<String>, lines: Option<(u32, u32)>) -> Self {
        Self { file_path: file_path.into(), lines, line_count: None }
    }

    /// Sets how many lines the file has.
    #[must_use]
    pub const fn with_line_count(mut self, lines: u32) -> Self {
        self.line_count = Some(lines);
        self
    }

    /// Returns the mention with lines counted from 1, for a client that requires lines. opencode reads the whole file
    /// for the lines 0 to 0 (measured).
    pub(crate) fn with_lines_from_one(&self) -> Self {
        let lines = match (self.lines, self.line_count) {
            (Some((first, last)), _) => (first.saturating_add(1), last.saturating_add(1)),
            (None, Some(count)) => (count.min(1), count),
            (None, None) => (0, 0),
        };
        Self { lines: Some(lines), ..self.clone() }
    }
}

impl Serialize for Mention {
    /// As VS Code has it.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        InDialect(self, Dialect::VsCode).serialize(serializer)
    }
}

impl Serialize for InDialect<'_, Mention> {
    /// Both lines or none: a client may look at them together.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Mention { file_path, lines, .. } = self.0;
        let [path, first, last] = match self.1.rules().snake_case {
            true => ["file_path", "line_start", "line_end"],
            false => ["filePath", "lineStart", "lineEnd"],
        };
        let mut params = serializer.serialize_map(None)?;
        params.serialize_entry(path, file_path)?;
        if let Some(lines) = lines {
            params.serialize_entry(first, &lines.0)?;
            params.serialize_entry(last, &lines.1)?;
        }
        params.end()
    }
}

arguments! {
    struct MentionIn {
        file_path: String = needed["filePath", "file_path"],
        first: Option<u32> = maybe["lineStart", "startLine", "line_start", "start_line"],
        last: Option<u32> = maybe["lineEnd", "endLine", "line_end", "end_line"],
    }
}

impl<'de> Deserialize<'de> for Mention {
    /// Tolerant of what editors send: a single line number stands for both.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let MentionIn { file_path, first, last } = MentionIn::deserialize(deserializer)?;
        Ok(Self::new(file_path, first.or(last).zip(last.or(first))))
    }
}

/// The problems of files are others than before: the parameters of `diagnostics_changed`. The real client shows nothing
/// of it (measured).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DiagnosticsChanged {
    /// A client that wants to know those of these files has to ask again: `{"uris":[…]}`.
    Stale {
        /// The files, as `file:` URIs.
        uris: Vec<String>,
    },
    /// These are the problems of one file: `{"uri":…,"diagnostics":[…]}`. An editor sends at most
    /// [`ContentLimits::diagnostics`](super::ContentLimits::diagnostics) of them.
    Now(FileDiagnostics),
}

impl DiagnosticsChanged {
    /// The same with so many problems; `None` where there are no more.
    pub(crate) fn cut(&self, most: usize) -> Option<Self> {
        match self {
            Self::Now(file) if file.diagnostics.len() > most => {
                let mut cut = FileDiagnostics::new(&file.uri, file.diagnostics.get(..most)?.to_vec());
                cut.lines_in_file = file.lines_in_file;
                Some(Self::Now(cut))
            }
            Self::Stale { .. } | Self::Now(_) => None,
        }
    }
}

impl Serialize for DiagnosticsChanged {
    /// As VS Code has it.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        InDialect(self, Dialect::VsCode).serialize(serializer)
    }
}

impl Serialize for InDialect<'_, DiagnosticsChanged> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            DiagnosticsChanged::Stale { uris } => serializer.collect_map([("uris", uris)]),
            DiagnosticsChanged::Now(file) => file.shown(usize::MAX, self.1).serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for DiagnosticsChanged {
    /// Either shape.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Shape {
            Stale { uris: Vec<String> },
            Now(FileDiagnostics),
        }
        Ok(match Shape::deserialize(deserializer)? {
            Shape::Stale { uris } => Self::Stale { uris },
            Shape::Now(file) => Self::Now(file),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_selection_is_written_as_the_recorded_editor_does() {
        let range = Range::new(Position::new(0, 0), Position::new(0, 5));
        let selection = Selection::new("/home/user/project/a.txt", range, "hello sel");
        let expected = r#"{"text":"hello sel","filePath":"/home/user/project/a.txt","fileUrl":"file:///home/user/project/a.txt","selection":{"start":{"line":0,"character":0},"end":{"line":0,"character":5},"isEmpty":false}}"#;
        assert_eq!(serde_json::to_string(&selection).unwrap(), expected);
        let read: Selection = serde_json::from_str(expected).unwrap();
        assert_eq!(read.range, range);
    }

    #[test]
    fn the_url_of_a_selection_on_windows_is_one() {
        let written = serde_json::to_string(&Selection::new(r"C:\w\a", Range::default(), "")).unwrap();
        assert!(written.contains(r#""fileUrl":"file:///C:/w/a""#), "{written}");
    }

    #[test]
    fn selections_are_read_tolerantly() {
        for (name, text) in [
            ("all null", r#"{"text":null,"filePath":null,"selection":null}"#),
            ("nothing", "{}"),
            ("cleared", r#"{"text":"","filePath":"","fileUrl":null,"selection":null}"#),
        ] {
            assert_eq!(serde_json::from_str::<Selection>(text).unwrap(), Selection::default(), "{name}");
        }
        let snake = r#"{"file_path":"/x","range":{"start":{"line":10,"character":5},"end":{"line":15,"character":20}}}"#;
        let read: Selection = serde_json::from_str(snake).unwrap();
        assert_eq!((read.file_path.as_str(), read.range.end), ("/x", Position::new(15, 20)));
    }

    #[test]
    fn every_dialect_has_its_selection_and_reads_those_of_all() {
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
    fn both_shapes_of_changed_diagnostics_are_written_and_read() {
        use crate::ide::{Diagnostic, Severity};
        let problem = Diagnostic::new(Severity::Error, Range::default(), "m");
        let now = DiagnosticsChanged::Now(FileDiagnostics::new("file:///a", Vec::from([problem])));
        let stale = DiagnosticsChanged::Stale { uris: Vec::from(["file:///a".into()]) };
        for dialect in Dialect::ALL {
            for changed in [&now, &stale] {
                let written = serde_json::to_string(&InDialect(changed, dialect)).unwrap();
                assert_eq!(
                    &serde_json::from_str::<DiagnosticsChanged>(&written).unwrap(),
                    changed,
                    "{written}"
                );
            }
        }
        assert!(serde_json::to_string(&InDialect(&now, Dialect::JetBrains)).unwrap().contains(r#""ERROR""#));
    }

    #[test]
    fn changed_diagnostics_are_cut_above_the_limit() {
        use crate::ide::{Diagnostic, Severity};
        for (count, cut_to) in [(2, None), (3, None), (4, Some(3))] {
            let problem = Diagnostic::new(Severity::Hint, Range::default(), "m");
            let mut file = FileDiagnostics::new("u", alloc::vec![problem; count]);
            file.lines_in_file = Some(7);
            let cut = cut_to.map(|most| {
                let diagnostics = file.diagnostics[..most].to_vec();
                DiagnosticsChanged::Now(FileDiagnostics { diagnostics, ..file.clone() })
            });
            assert_eq!(DiagnosticsChanged::Now(file).cut(3), cut, "{count}");
        }
    }

    #[test]
    fn mentions_have_both_lines_or_none() {
        let cases = [
            (r#"{"filePath":"/a"}"#, Mention::new("/a", None)),
            (r#"{"filePath":"/a","lineStart":0,"lineEnd":1}"#, Mention::new("/a", Some((0, 1)))),
        ];
        for (text, mention) in cases {
            assert_eq!(serde_json::to_string(&mention).unwrap(), text);
            assert_eq!(serde_json::from_str::<Mention>(text).unwrap(), mention);
        }
        let half = r#"{"filePath":"/a","lineStart":3,"lineEnd":null}"#;
        assert_eq!(serde_json::from_str::<Mention>(half).unwrap().lines, Some((3, 3)));
    }

    #[test]
    fn lines_from_one_stand_for_the_whole_file_too() {
        let rows = [
            ("lines", Mention::new("/a", Some((0, 2))), (1, 3)),
            ("lines of a file of known length", Mention::new("/a", Some((0, 2))).with_line_count(9), (1, 3)),
            ("the last line there can be", Mention::new("/a", Some((7, u32::MAX))), (8, u32::MAX)),
            ("a file of known length", Mention::new("/a", None).with_line_count(9), (1, 9)),
            ("an empty file", Mention::new("/a", None).with_line_count(0), (0, 0)),
            ("a file", Mention::new("/a", None), (0, 0)),
        ];
        for (name, mention, lines) in rows {
            assert_eq!(mention.with_lines_from_one().lines, Some(lines), "{name}");
        }
    }

    #[test]
    fn text_is_cut_between_characters() {
        let mut selection = Selection::new("/a", Range::default(), "aé");
        assert!(!selection.cut(3) && selection.text == "aé");
        assert!(selection.cut(2) && selection.text == "a");
    }
}
