//! The problems of a file, as in `getDiagnostics` and `diagnostics_changed`.

use super::problems;
use crate::ide::Dialect;
use crate::ide::kit::Range;
use crate::rpc::{from_json, text_of};
use alloc::{boxed::Box, format, string::String, vec::Vec};
use serde::{Deserialize, Deserializer, Serialize, de::Error};
use serde_json::value::RawValue;

/// How severe a problem is.
///
/// Every known spelling is read: the words of VS Code, JetBrains and Neovim in any case, and the numbers of LSP. It is
/// written in the words of VS Code, which are the names of the variants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub enum Severity {
    /// The code does not work. `Error`, `ERROR`, 1.
    Error,
    /// The code may not do what was intended. `Warning`, `WARNING`, `WARN`, 2.
    Warning,
    /// Worth knowing. `Information`, `INFO`, 3.
    Information,
    /// A suggestion. `Hint`, `WEAK_WARNING`, 4.
    Hint,
}

impl Severity {
    /// Returns the name in a dialect.
    #[must_use]
    pub const fn name(self, dialect: Dialect) -> &'static str {
        let (name, upper_case) = match self {
            Self::Error => ("Error", "ERROR"),
            Self::Warning => ("Warning", "WARNING"),
            Self::Information => ("Information", "INFO"),
            Self::Hint => ("Hint", "WEAK_WARNING"),
        };
        if dialect.rules().uppercase_severity { upper_case } else { name }
    }

    pub(super) fn read(raw: &RawValue) -> Option<Self> {
        if let Some(name) = text_of(raw) {
            return Self::named(&name);
        }
        Some(match from_json(raw.get()).ok()? {
            1 => Self::Error,
            2 => Self::Warning,
            3 => Self::Information,
            4 => Self::Hint,
            _ => return None,
        })
    }

    fn named(name: &str) -> Option<Self> {
        Some(match name.to_ascii_uppercase().as_str() {
            "ERROR" => Self::Error,
            "WARNING" | "WARN" => Self::Warning,
            "INFORMATION" | "INFO" => Self::Information,
            "HINT" | "WEAK_WARNING" => Self::Hint,
            _ => return None,
        })
    }
}

impl<'de> Deserialize<'de> for Severity {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        Self::read(&raw).ok_or_else(|| D::Error::custom(format!("{raw} is not a severity")))
    }
}

/// A problem in a file.
///
/// ```
/// use ide_mcp::ide::kit::{Position, Range};
/// use ide_mcp::ide::tool::{Diagnostic, FileDiagnostics, Severity};
///
/// let range = Range::new(Position::new(2, 4), Position::new(2, 9));
/// let mut unused = Diagnostic::new(Severity::Warning, range, "unused variable: `count`");
/// unused.source = Some("rustc".into());
/// let file = FileDiagnostics::new("file:///w/src/main.rs", vec![unused]);
///
/// // Or as a language server writes it:
/// let json = r#"{"message":"unused","severity":2,
///     "range":{"start":{"line":2,"character":4},"end":{"line":2,"character":9}}}"#;
/// assert_eq!(serde_json::from_str::<Diagnostic>(json)?.range, file.diagnostics[0].range);
/// # Ok::<(), serde_json::Error>(())
/// ```
///
/// It is read from JSON as editors and language servers (LSP 3.17) write it: a severity in every spelling,
/// [`Error`](Severity::Error) if there is no known one; a code as a string, a number, or an object with a `value`.
/// Other members are ignored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Diagnostic {
    /// What is wrong.
    pub message: String,
    /// The severity of the problem.
    pub severity: Severity,
    /// Where in the file it is.
    pub range: Range,
    /// Who found it, such as the name of a linter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Its code, as its source names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
}

impl Diagnostic {
    /// Creates a problem with this range.
    #[must_use]
    pub fn new(severity: Severity, range: Range, message: impl Into<String>) -> Self {
        Self { message: message.into(), severity, range, source: None, code: None }
    }
}

impl<'de> Deserialize<'de> for Diagnostic {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        problems::problem(&Box::<RawValue>::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

/// The problems of one file.
///
/// They are read from JSON like one file of [`Diagnostics`](super::Diagnostics). The error names the member that cannot
/// be used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct FileDiagnostics {
    /// The file as the client spelled it; a `file:` URI if the client wants all files. Empty if an editor leaves it out
    /// of its answer, which means the file of the call.
    pub uri: String,
    /// How many lines the file has, if the answer should say so.
    #[serde(rename = "linesInFile", skip_serializing_if = "Option::is_none")]
    pub lines_in_file: Option<u32>,
    /// The problems of the file.
    pub diagnostics: Vec<Diagnostic>,
}

impl<'de> Deserialize<'de> for FileDiagnostics {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        problems::file(&Box::<RawValue>::deserialize(deserializer)?, None).map_err(D::Error::custom)
    }
}

impl FileDiagnostics {
    /// Creates the list of problems of this file.
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

#[derive(Serialize)]
pub(crate) struct Shown<'a> {
    pub(super) uri: &'a str,
    #[serde(rename = "linesInFile", skip_serializing_if = "Option::is_none")]
    lines_in_file: Option<u32>,
    pub(super) diagnostics: Vec<ShownOne<'a>>,
}

#[derive(Serialize)]
pub(super) struct ShownOne<'a> {
    pub(super) message: &'a str,
    pub(super) severity: &'static str,
    pub(super) range: Range,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn severities_are_read_in_every_spelling() {
        use Severity::{Error, Hint, Information, Warning};
        let cases = [
            (r#""Error""#, Some(Error)),
            (r#""ERROR""#, Some(Error)),
            ("1", Some(Error)),
            ("1.0", Some(Error)),
            ("2", Some(Warning)),
            (r#""Warn""#, Some(Warning)),
            (r#""warning""#, Some(Warning)),
            (r#""INFO""#, Some(Information)),
            ("3", Some(Information)),
            ("4", Some(Hint)),
            (r#""WEAK_WARNING""#, Some(Hint)),
            (r#""Hint""#, Some(Hint)),
            ("5", None),
            ("1.5", None),
            ("null", None),
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
            assert_eq!(serde_json::to_value(severity).unwrap(), severity.name(Dialect::VsCode));
        }
    }
}
