//! `getDiagnostics`: the problems of files.

use super::{Answer, first_text};
use crate::ide::arguments::arguments;
use crate::ide::{ContentLimits, Dialect, Position, Range};
use crate::mcp::{Content, ToolResult};
use alloc::{borrow::Cow, format, string::String, vec::Vec};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};
use serde_json::Value;

arguments! {
    /// The arguments of `getDiagnostics`.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct GetDiagnostics {
        /// Which file, in whatever spelling the client has: a `file:` URI, encoded or not, or a path. `None`: all files.
        /// Answer with the same spelling: old clients refuse another (protocol quirk Q30).
        pub uri: Option<String> = optional["uri", "filePath", "file_path", "path", "documentUri"],
    }
}

impl GetDiagnostics {
    /// Asks for the problems of this file, or of all.
    #[must_use]
    pub const fn new(uri: Option<String>) -> Self {
        Self { uri }
    }
}

/// How bad a problem is.
///
/// It is read in every known spelling: the words of VS Code and of JetBrains in any case, and the numbers of LSP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Severity {
    /// It does not work. `Error`, `ERROR`, 1.
    Error,
    /// It may not do what it should. `Warning`, `WARNING`, 2.
    Warning,
    /// Worth knowing. `Information`, `INFO`, 3.
    Information,
    /// A suggestion. `Hint`, `WEAK_WARNING`, 4.
    Hint,
}

impl Severity {
    /// Its name in a dialect.
    #[must_use]
    pub const fn name(self, dialect: Dialect) -> &'static str {
        let (word, shout) = match self {
            Self::Error => ("Error", "ERROR"),
            Self::Warning => ("Warning", "WARNING"),
            Self::Information => ("Information", "INFO"),
            Self::Hint => ("Hint", "WEAK_WARNING"),
        };
        if dialect.rules().uppercase_severity { shout } else { word }
    }

    fn named(name: &str) -> Option<Self> {
        Some(match name.to_ascii_uppercase().as_str() {
            "ERROR" => Self::Error,
            "WARNING" => Self::Warning,
            "INFORMATION" | "INFO" => Self::Information,
            "HINT" | "WEAK_WARNING" => Self::Hint,
            _ => return None,
        })
    }
}

impl Serialize for Severity {
    /// In VS Code's words.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name(Dialect::VsCode))
    }
}

impl<'de> Deserialize<'de> for Severity {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        let severity = match (value.as_u64(), value.as_str()) {
            (Some(1), _) => Some(Self::Error),
            (Some(2), _) => Some(Self::Warning),
            (Some(3), _) => Some(Self::Information),
            (Some(4), _) => Some(Self::Hint),
            (_, Some(name)) => Self::named(name),
            _ => None,
        };
        severity.ok_or_else(|| D::Error::custom(format!("{value} is no severity")))
    }
}

/// One problem.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Diagnostic {
    /// What is wrong.
    pub message: String,
    /// How bad it is.
    pub severity: Severity,
    /// Where.
    pub range: Range,
    /// Who says so, such as the name of a linter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Under which code.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "text_or_number")]
    pub code: Option<String>,
}

impl Diagnostic {
    /// A problem at this place.
    #[must_use]
    pub fn new(severity: Severity, range: Range, message: impl Into<String>) -> Self {
        Self { message: message.into(), severity, range, source: None, code: None }
    }
}

/// Compilers number their codes.
fn text_or_number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    Ok(match Value::deserialize(deserializer)? {
        Value::String(code) => Some(code),
        Value::Number(code) => Some(format!("{code}")),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    })
}

/// The problems of one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FileDiagnostics {
    /// The file, in the spelling in which the client asked for it; a `file:` URI where it asked for all.
    pub uri: String,
    /// How many lines it has, if that is to be said.
    #[serde(default, rename = "linesInFile", skip_serializing_if = "Option::is_none")]
    pub lines_in_file: Option<u32>,
    /// Its problems.
    #[serde(default)]
    pub diagnostics: Vec<Diagnostic>,
}

impl FileDiagnostics {
    /// The problems of this file.
    #[must_use]
    pub fn new(uri: impl Into<String>, diagnostics: Vec<Diagnostic>) -> Self {
        Self { uri: uri.into(), lines_in_file: None, diagnostics }
    }

    pub(crate) fn shown(&self, most: usize, dialect: Dialect) -> Shown<'_> {
        let some = self.diagnostics.get(..most.min(self.diagnostics.len())).unwrap_or_default();
        Shown {
            uri: &self.uri,
            lines_in_file: self.lines_in_file,
            diagnostics: some.iter().map(|problem| ShownOne::new(problem, dialect)).collect(),
        }
    }
}

/// The answer of `getDiagnostics`.
///
/// At most [`ContentLimits::diagnostics`] problems are given; a second block says how many are missing. It is also what a
/// client that asks for one file gets where there is nothing to say: no file at all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diagnostics {
    /// Each file with its problems.
    pub files: Vec<FileDiagnostics>,
}

impl Diagnostics {
    /// The problems of these files.
    #[must_use]
    pub const fn new(files: Vec<FileDiagnostics>) -> Self {
        Self { files }
    }
}

impl Answer for Diagnostics {
    fn result(&self, dialect: Dialect) -> ToolResult<'_> {
        self.result_within(dialect, &ContentLimits::default())
    }

    fn result_within(&self, dialect: Dialect, limits: &ContentLimits) -> ToolResult<'_> {
        written(&self.files, dialect, limits.diagnostics)
    }

    fn read(result: &ToolResult<'_>) -> Option<Self> {
        let text = first_text(result)?;
        if let Ok(files) = serde_json::from_str(text) {
            return Some(Self { files });
        }
        let flat: Flat<'_> = serde_json::from_str(text).ok()?;
        let mut files: Vec<FileDiagnostics> = Vec::new();
        for problem in flat.diagnostics {
            let place = Position::new(problem.line, problem.column);
            let one = Diagnostic::new(problem.severity, Range::new(place, place), problem.message);
            match files.iter_mut().find(|file| file.uri == problem.file_path) {
                Some(file) => file.diagnostics.push(one),
                None => files.push(FileDiagnostics::new(problem.file_path, Vec::from([one]))),
            }
        }
        Some(Self { files })
    }
}

impl ToolResult<'_> {
    /// The answer of `getDiagnostics` in the dialect of VS Code: [`Diagnostics`] without having to own the files.
    #[must_use]
    pub fn diagnostics(files: &[FileDiagnostics]) -> Self {
        written(files, Dialect::VsCode, ContentLimits::default().diagnostics)
    }
}

fn written(files: &[FileDiagnostics], dialect: Dialect, most: usize) -> ToolResult<'static> {
    let total: usize = files.iter().map(|file| file.diagnostics.len()).sum();
    let mut room = most;
    let shown = files.iter().map(|file| {
        let shown = file.shown(room, dialect);
        room = room.saturating_sub(shown.diagnostics.len());
        shown
    });
    let shown: Vec<Shown<'_>> = shown.collect();
    let mut result = if dialect.rules().snake_case {
        let flat = shown.iter().flat_map(|file| {
            file.diagnostics.iter().map(|problem| ShownFlat {
                file_path: file.uri,
                line: problem.range.start.line,
                column: problem.range.start.character,
                severity: problem.severity,
                message: problem.message,
            })
        });
        ToolResult::json(&AllFlat { diagnostics: flat.collect() })
    } else {
        ToolResult::json(&shown)
    };
    let missing = total.saturating_sub(most);
    if missing > 0 {
        result.content.push(Content::text(format!("{missing} more diagnostics are not shown")));
    }
    result
}

#[derive(Serialize)]
pub(crate) struct Shown<'a> {
    uri: &'a str,
    #[serde(rename = "linesInFile", skip_serializing_if = "Option::is_none")]
    lines_in_file: Option<u32>,
    diagnostics: Vec<ShownOne<'a>>,
}

#[derive(Serialize)]
struct ShownOne<'a> {
    message: &'a str,
    severity: &'static str,
    range: Range,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'a str>,
}

impl<'a> ShownOne<'a> {
    fn new(problem: &'a Diagnostic, dialect: Dialect) -> Self {
        Self {
            message: &problem.message,
            severity: problem.severity.name(dialect),
            range: problem.range,
            source: problem.source.as_deref(),
            code: problem.code.as_deref(),
        }
    }
}

#[derive(Serialize)]
struct AllFlat<'a> {
    diagnostics: Vec<ShownFlat<'a>>,
}

#[derive(Serialize)]
struct ShownFlat<'a> {
    file_path: &'a str,
    line: u32,
    column: u32,
    severity: &'static str,
    message: &'a str,
}

#[derive(Deserialize)]
struct Flat<'a> {
    #[serde(borrow)]
    diagnostics: Vec<FlatOne<'a>>,
}

#[derive(Deserialize)]
struct FlatOne<'a> {
    #[serde(alias = "filePath", alias = "uri")]
    file_path: String,
    #[serde(default)]
    line: u32,
    #[serde(default, alias = "character")]
    column: u32,
    severity: Severity,
    #[serde(borrow)]
    message: Cow<'a, str>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn severities_are_read_in_every_spelling() {
        use Severity::{Error, Hint, Information, Warning};
        let cases = [
            (r#""Error""#, Some(Error)),
            (r#""ERROR""#, Some(Error)),
            ("1", Some(Error)),
            (r#""warning""#, Some(Warning)),
            (r#""INFO""#, Some(Information)),
            ("3", Some(Information)),
            (r#""WEAK_WARNING""#, Some(Hint)),
            (r#""Hint""#, Some(Hint)),
            ("5", None),
            (r#""FATAL""#, None),
        ];
        for (text, severity) in cases {
            assert_eq!(serde_json::from_str::<Severity>(text).ok(), severity, "{text}");
        }
        for (severity, dialect) in [Error, Warning, Information, Hint]
            .into_iter()
            .flat_map(|one| Dialect::ALL.map(|dialect| (one, dialect)))
        {
            assert_eq!(Severity::named(severity.name(dialect)), Some(severity));
        }
    }

    #[test]
    fn diagnostics_are_written_as_the_recorded_editor_does() {
        let file = FileDiagnostics::new("file:///home/user/project/new.txt", Vec::new());
        assert_eq!(
            serde_json::to_string(&ToolResult::diagnostics(&[file])).unwrap(),
            r#"{"content":[{"type":"text","text":"[{\"uri\":\"file:///home/user/project/new.txt\",\"diagnostics\":[]}]"}]}"#
        );
    }

    #[test]
    fn a_thousand_diagnostics_are_shown_and_the_rest_counted() {
        let problem = Diagnostic::new(Severity::Hint, Range::default(), "m");
        let files = |first: usize, second: usize| {
            Diagnostics::new(
                [first, second].map(|count| FileDiagnostics::new("u", vec![problem.clone(); count])).into(),
            )
        };
        for dialect in Dialect::ALL {
            let at = files(600, 400);
            assert_eq!(at.result(dialect).content.len(), 1);
            assert_eq!(
                Diagnostics::read(&at.result(dialect))
                    .unwrap()
                    .files
                    .iter()
                    .map(|file| file.diagnostics.len())
                    .sum::<usize>(),
                1000
            );
            let above = files(600, 401);
            let result = above.result(dialect);
            assert_eq!(result.texts().nth(1), Some("1 more diagnostics are not shown"));
            let shown = result.texts().next().unwrap().matches(Severity::Hint.name(dialect)).count();
            assert_eq!(shown, 1000, "{dialect:?}");
            for (most, note) in [(1001, None), (999, Some("2 more diagnostics are not shown"))] {
                let limits = ContentLimits { diagnostics: most, ..ContentLimits::default() };
                assert_eq!(above.result_within(dialect, &limits).texts().nth(1), note, "{dialect:?}");
            }
        }
    }
}
