//! What an editor tells an agent unasked: the selection, and files it mentions.

use super::{Position, Range};
use crate::text::truncate;
use alloc::string::String;
use serde::ser::SerializeStruct;
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
    /// The absolute path of the file.
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
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut params = serializer.serialize_struct("Selection", 4)?;
        params.serialize_field("text", &self.text)?;
        params.serialize_field("filePath", &self.file_path)?;
        match &self.file_url {
            Some(url) => params.serialize_field("fileUrl", url)?,
            // As VS Code has it: nothing is percent-encoded.
            None => params.serialize_field("fileUrl", &format_args!("file://{}", self.file_path))?,
        }
        params.serialize_field("selection", &RangeOut { range: self.range })?;
        params.end()
    }
}

struct RangeOut {
    range: Range,
}

impl Serialize for RangeOut {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut range = serializer.serialize_struct("Range", 3)?;
        range.serialize_field("start", &self.range.start)?;
        range.serialize_field("end", &self.range.end)?;
        range.serialize_field("isEmpty", &self.range.is_empty())?;
        range.end()
    }
}

impl<'de> Deserialize<'de> for Selection {
    /// Tolerant of what editors send: each member may be missing or null.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Params {
            text: Option<String>,
            #[serde(alias = "file_path")]
            file_path: Option<String>,
            file_url: Option<String>,
            #[serde(alias = "range")]
            selection: Option<Ends>,
        }
        #[derive(Default, Deserialize)]
        struct Ends {
            #[serde(default)]
            start: Position,
            #[serde(default)]
            end: Position,
        }
        let params = Params::deserialize(deserializer)?;
        let ends = params.selection.unwrap_or_default();
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
}

impl Mention {
    /// Mentions the file with this absolute path: these lines of it (from 0, the last one included), or all.
    #[must_use]
    pub fn new(file_path: impl Into<String>, lines: Option<(u32, u32)>) -> Self {
        Self { file_path: file_path.into(), lines }
    }
}

impl Serialize for Mention {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut params = serializer.serialize_struct("Mention", if self.lines.is_some() { 3 } else { 1 })?;
        params.serialize_field("filePath", &self.file_path)?;
        if let Some((first, last)) = self.lines {
            params.serialize_field("lineStart", &first)?;
            params.serialize_field("lineEnd", &last)?;
        }
        params.end()
    }
}

impl<'de> Deserialize<'de> for Mention {
    /// Tolerant of what editors send: a single line number stands for both.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Params {
            #[serde(alias = "file_path")]
            file_path: String,
            #[serde(alias = "startLine")]
            line_start: Option<u32>,
            #[serde(alias = "endLine")]
            line_end: Option<u32>,
        }
        let params = Params::deserialize(deserializer)?;
        let first = params.line_start.or(params.line_end);
        let last = params.line_end.or(params.line_start);
        Ok(Self { file_path: params.file_path, lines: first.zip(last) })
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
    fn text_is_cut_between_characters() {
        let mut selection = Selection::new("/a", Range::default(), "aé");
        assert!(!selection.cut(3) && selection.text == "aé");
        assert!(selection.cut(2) && selection.text == "a");
    }
}
