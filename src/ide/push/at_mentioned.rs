//! `at_mentioned`: the person mentioned a file.

use super::InDialect;
use crate::ide::Dialect;
use crate::ide::tool::arguments::{Described as _, arguments};
use alloc::format;
use alloc::string::String;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub(super) const NAMES: [&str; 2] = ["at_mentioned", "notifications/at_mentioned"];

/// A file, or some lines of it, to put into the prompt of an agent: the parameters of `at_mentioned`.
///
/// ```
/// use ide_mcp::ide::{Mention, MentionError, Server};
/// use ide_mcp::Time;
///
/// /// The person pressed the key for "mention these lines". Lines count from 0; the last one is included.
/// fn mention(server: &mut Server, now: Time, file: &str, first: u32, last: u32) -> Result<(), MentionError> {
///     server.mention(now, Mention::new(file, Some((first, last))), None)
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Mention {
    /// The absolute path of the file. If it has a space, Claude Code needs quotation marks around it, which we add; it
    /// then ignores the lines, and the model gets the whole file (measured).
    pub file_path: String,
    /// The first and the last line, both from 0 and included; `None` for the whole file.
    pub lines: Option<(u32, u32)>,
    /// How many lines the file has, if you know. Only for opencode, which ignores a mention of a whole file without a
    /// line range (measured).
    pub line_count: Option<u32>,
}

impl Mention {
    /// Mentions the file with this absolute path. `lines` are the first and the last line, both from 0 and included;
    /// `None` mentions the whole file.
    #[must_use]
    pub fn new(file_path: impl Into<String>, lines: Option<(u32, u32)>) -> Self {
        Self { file_path: file_path.into(), lines, line_count: None }
    }

    /// Returns the number of bytes of the path.
    pub(super) fn content_len(&self) -> usize {
        self.file_path.len()
    }

    /// Sets how many lines the file has.
    #[must_use]
    pub const fn with_line_count(mut self, lines: u32) -> Self {
        self.line_count = Some(lines);
        self
    }

    /// Returns the mention with its path between quotation marks, for a client that would end the path at the first
    /// space. Such a client then ignores the lines and reads the whole file (measured). `None` if the path has no
    /// space, or has a quotation mark itself, which no such client can read.
    pub(crate) fn quoted(&self, dialect: Dialect) -> Option<Self> {
        let path = &self.file_path;
        (path.contains(char::is_whitespace) && !path.contains('"'))
            .then(|| Self { file_path: format!("\"{}\"", dialect.path(path)), ..self.clone() })
    }

    /// Returns the mention with lines counted from 1, for a client that requires lines. For the lines 0 to 0, opencode
    /// reads the whole file (measured), so that is what we write for a file of unknown length.
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
    /// Writes the parameters in the shape of VS Code.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        InDialect(self, Dialect::VsCode).serialize(serializer)
    }
}

impl Serialize for InDialect<'_, Mention> {
    /// Writes both lines or neither, because a client may depend on both.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Mention { file_path, lines, .. } = self.0;
        let [path, first, last] = match self.1.rules().snake_case {
            true => ["file_path", "line_start", "line_end"],
            false => ["filePath", "lineStart", "lineEnd"],
        };
        let mut params = serializer.serialize_map(None)?;
        params.serialize_entry(path, &self.1.path(file_path))?;
        if let Some(lines) = lines {
            params.serialize_entry(first, &lines.0)?;
            params.serialize_entry(last, &lines.1)?;
        }
        params.end()
    }
}

arguments! {
    struct MentionIn {
        file_path: String = required["filePath", "file_path"],
        first: Option<u32> = optional_value["lineStart", "startLine", "line_start", "start_line"],
        last: Option<u32> = optional_value["lineEnd", "endLine", "line_end", "end_line"],
    }
}

impl<'de> Deserialize<'de> for Mention {
    /// Reads the parameters tolerantly: a single line number stands for both lines.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let MentionIn { file_path, first, last } = MentionIn::read(deserializer)?;
        Ok(Self::new(file_path, first.or(last).zip(last.or(first))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn path_with_a_space_is_quoted() {
        let rows = [
            ("no space", "/w/a.txt", None),
            ("a space", "/w/b c.txt", Some("\"/w/b c.txt\"")),
            ("another white-space character", "/w/b\u{3000}c", Some("\"/w/b\u{3000}c\"")),
            ("a space, on Windows", r"C:\b c", Some("\"C:\\b c\"")),
            ("a space and a quotation mark", "/w/b \"c\"", None),
        ];
        for (name, path, quoted) in rows {
            let mention = Mention::new(path, Some((1, 2)));
            let expected = quoted.map(|quoted| Mention::new(quoted, Some((1, 2))));
            assert_eq!(mention.quoted(Dialect::VsCode), expected, "{name}");
        }
    }

    #[test]
    fn lines_from_one_cover_whole_files_too() {
        let rows = [
            ("lines", Mention::new("/a", Some((0, 2))), (1, 3)),
            ("lines of a file of known length", Mention::new("/a", Some((0, 2))).with_line_count(9), (1, 3)),
            ("the largest line number", Mention::new("/a", Some((7, u32::MAX))), (8, u32::MAX)),
            ("a file of known length", Mention::new("/a", None).with_line_count(9), (1, 9)),
            ("an empty file", Mention::new("/a", None).with_line_count(0), (0, 0)),
            ("a file of unknown length", Mention::new("/a", None), (0, 0)),
        ];
        for (name, mention, lines) in rows {
            assert_eq!(mention.with_lines_from_one().lines, Some(lines), "{name}");
        }
    }
}
