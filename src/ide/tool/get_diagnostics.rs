//! `getDiagnostics`: the problems of files.

use super::answer::{Shape, first_text, shown};
use super::arguments::arguments;
use super::diagnostic::Shown;
use super::{FileDiagnostics, ToolDef, problems};
use crate::ide::dialect::DiagnosticsForm;
use crate::ide::paths::{Unencoded, of_file};
use crate::ide::{ContentLimits, Dialect};
use crate::mcp::{Content, Timeout, ToolResult};
use alloc::{borrow::Cow, boxed::Box, format, string::String, vec::Vec};
use core::time::Duration;
use serde::{Deserialize, Deserializer, Serialize, de::Error};
use serde_json::value::RawValue;

arguments! {
    /// `getDiagnostics`: asks for the problems of a file, or of all files. Answer: [`Diagnostics`].
    ///
    /// The model gets the answer, so offer this tool only if you really have diagnostics to report.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct GetDiagnostics {
        /// The file as the client spells it: a `file:` URI, encoded or not, or a path. Old clients refuse every other
        /// spelling (row Q30 of docs/conformance.md), so the answer is sent in this one.
        ///
        /// `None` means all files, in every dialect: that is what the real client asks for after it has written a file
        /// (measured). In the description of [`Dialect::JetBrains`](crate::ide::Dialect::JetBrains) it means the file
        /// that has the focus, so if your client follows that description, answer with that file only. The other
        /// descriptions do not mention it.
        pub uri: Option<String> = optional["uri", "filePath", "file_path", "path", "documentUri"]
            "URI of the file; without it, all files",
    }
}

impl ToolDef for GetDiagnostics {
    const NAME: &'static str = "getDiagnostics";
    const DESCRIPTION: &'static str = "Get the problems that the editor knows of";
    const SNAKE_NAME: &'static str = "get_diagnostics";
    const RESOURCE: Option<&'static str> = Some("ide://diagnostics");
    const IS_READ_ONLY: bool = true;

    fn timeout(&self) -> Timeout {
        Timeout::After(if self.uri.is_some() { DEADLINE_OF_ONE } else { DEADLINE_OF_ALL })
    }

    /// Also reads shapes that no dialect has. A file is spelled as in the call, or else as the URI that clients expect.
    fn read_given(result: &ToolResult<'_>, call_file: Option<&str>) -> Option<Diagnostics> {
        // Further blocks would be lost.
        let [Content::Text(text)] = result.content.as_slice() else { return None };
        let raw: &RawValue = serde_json::from_str(text).ok()?;
        let mut files = problems::files(raw, call_file).ok()?;
        for file in files.iter_mut().filter(|file| call_file != Some(&file.uri)) {
            let same_file = call_file.filter(|call_file| of_file(call_file) == of_file(&file.uri));
            let uri = same_file.map_or_else(|| format!("{}", Unencoded(&file.uri)), Into::into);
            if !uri.is_empty() {
                file.uri = uri;
            }
        }
        Some(Diagnostics { files })
    }

    fn file(&self) -> Option<&str> {
        self.uri.as_deref()
    }
}

/// How long a call for one file waits. The client waits 500 ms for the problems of the file it is about to write
/// (measured).
const DEADLINE_OF_ONE: Duration = Duration::from_millis(400);
/// How long a call for all files waits. The client waits 2 s for them after it has written a file (measured), and the
/// language server needs that time.
const DEADLINE_OF_ALL: Duration = Duration::from_millis(1_900);
/// What we answer at the deadline to a caller who wants to know the problems: a model must not read silence as "no
/// problems", and the real client goes on as after an empty list (measured).
const UNKNOWN: &str = r#"{"content":[{"type":"text","text":"unknown: the editor has not reported the problems in time"}],"isError":true}"#;
const NONE_PER_FILE: &str = r#"{"content":[{"type":"text","text":"[]"}]}"#;
const NONE_FLAT: &str = r#"{"content":[{"type":"text","text":"{\"diagnostics\":[]}"}]}"#;

impl GetDiagnostics {
    /// Creates the arguments for this file, or for all files.
    #[must_use]
    pub const fn new(uri: Option<String>) -> Self {
        Self { uri }
    }

    /// Returns the result that answers this call at its deadline. `is_step` is true for a step of an edit, by a client
    /// that announces its edits.
    ///
    /// The client only keeps the problems before an edit, to report to its model what is new afterwards. If it got
    /// `isError`, it would not ask after the edit (measured), and the model would not learn of the problems it has
    /// caused.
    pub(crate) fn result_when_late(&self, dialect: Dialect, is_step: bool) -> &'static str {
        match dialect.rules().diagnostics {
            _ if self.uri.is_none() || !is_step => UNKNOWN,
            DiagnosticsForm::PerFile => NONE_PER_FILE,
            DiagnosticsForm::Flat => NONE_FLAT,
        }
    }
}

/// What `getDiagnostics` answers.
///
/// ```
/// use ide_mcp::ide::tool::{Diagnostics, FileDiagnostics};
///
/// // What your language server published, as LSP writes it.
/// let published = r#"{"uri":"file:///w/a.rs","diagnostics":[{"message":"expected `;`","severity":1,
///     "range":{"start":{"line":0,"character":9},"end":{"line":0,"character":9}}}]}"#;
/// let file: FileDiagnostics = serde_json::from_str(published)?;
/// let answer = Diagnostics { files: vec![file], ..Diagnostics::default() };
/// assert_eq!(answer.files[0].diagnostics[0].message, "expected `;`");
/// # Ok::<(), serde_json::Error>(())
/// ```
///
/// At most [`ContentLimits::diagnostics`] problems are sent; a second block says how many are missing. An answer
/// without files means that you have nothing to report, even if the client asks for one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "the answer of every client and editor has this one part")]
pub struct Diagnostics {
    /// The files, each with its problems.
    pub files: Vec<FileDiagnostics>,
}

impl Shape for Diagnostics {
    fn result(&self, dialect: Dialect) -> ToolResult<'_> {
        self.result_within(dialect, &ContentLimits::default())
    }

    fn result_within(&self, dialect: Dialect, limits: &ContentLimits) -> ToolResult<'_> {
        written(&self.files, dialect, limits.diagnostics)
    }

    /// Returns the problems of the files that are not hidden.
    fn without_hidden(&self, hides: &dyn Fn(&str) -> bool) -> Option<Self> {
        shown(&self.files, |file| hides(&file.uri)).map(|files| Self { files })
    }

    /// Old clients accept the problems of a file only under the URI that they sent (described).
    fn spelled_as(&self, spelling: impl Fn(&str) -> Option<String>) -> Option<Self> {
        let is_same = |file: &FileDiagnostics, uri: &str| of_file(uri) == of_file(&file.uri);
        let other = |file: &FileDiagnostics| spelling(&file.uri).filter(|uri| is_same(file, uri));
        let uri = self.files.iter().find_map(other)?;
        let mut spelled = self.clone();
        let same = spelled.files.iter_mut().filter(|file| is_same(file, &uri));
        same.for_each(|file| file.uri.clone_from(&uri));
        Some(spelled)
    }

    fn read(result: &ToolResult<'_>) -> Option<Self> {
        let raw: &RawValue = serde_json::from_str(first_text(result)?).ok()?;
        // A file without a name is the one that the agent asked for, so the agent knows it.
        problems::files(raw, Some("")).ok().map(|files| Self { files })
    }
}

impl<'de> Deserialize<'de> for Diagnostics {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        problems::files(&raw, None).map(|files| Self { files }).map_err(D::Error::custom)
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
    let mut result = match dialect.rules().diagnostics {
        DiagnosticsForm::Flat => {
            let flat = shown.iter().flat_map(|file| {
                let path = of_file(file.uri);
                file.diagnostics.iter().map(move |problem| ShownFlat {
                    file_path: path.clone(),
                    line: problem.range.start.line,
                    column: problem.range.start.character,
                    severity: problem.severity,
                    message: problem.message,
                })
            });
            ToolResult::json(&Flat { diagnostics: flat.collect() })
        }
        DiagnosticsForm::PerFile => ToolResult::json(&shown),
    };
    let missing = total.saturating_sub(most);
    if missing > 0 {
        result.content.push(Content::text(format!("{missing} more diagnostics are not shown")));
    }
    result
}

#[derive(Serialize)]
struct Flat<T> {
    diagnostics: Vec<T>,
}

#[derive(Serialize)]
struct ShownFlat<'a> {
    file_path: Cow<'a, str>,
    line: u32,
    column: u32,
    severity: &'static str,
    message: &'a str,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ide::kit::{Position, Range};
    use crate::ide::tool::{Diagnostic, Severity};
    use alloc::vec;

    #[test]
    fn late_call_is_empty_before_an_edit_otherwise_unknown() {
        for dialect in Dialect::ALL {
            let none = serde_json::to_string(&Diagnostics::default().result(dialect)).unwrap();
            let cases = [
                ("a step of an edit, for a file", Some("file:///w/a"), true, none.as_str()),
                ("a step of an edit, for all files", None, true, UNKNOWN),
                ("a call of a model, for a file", Some("file:///w/a"), false, UNKNOWN),
                ("a call of a model, for all files", None, false, UNKNOWN),
            ];
            for (name, uri, is_step, late) in cases {
                let call = GetDiagnostics::new(uri.map(Into::into));
                assert_eq!(call.result_when_late(dialect, is_step), late, "{name}, {dialect:?}");
            }
        }
        let unknown: &RawValue = serde_json::from_str(UNKNOWN).unwrap();
        let unknown = ToolResult::read_whole(unknown).unwrap();
        assert!(unknown.is_error && Diagnostics::read(&unknown).is_none());
    }

    #[test]
    fn flat_problem_names_its_file_by_path() {
        for (file, path) in [
            ("file:///w/a", "/w/a"),
            ("file:///w/a%20%C3%A9", "/w/a \u{e9}"),
            ("FILE:/w/a", "/w/a"),
            ("file:///C:/w/a", "C:/w/a"),
            ("file://server/share/a%20b", "//server/share/a b"),
            ("file:////server/share/a", "//server/share/a"),
            ("file://LocalHost/w/a", "/w/a"),
            ("file://wsl%24/Ubuntu/w", "//wsl$/Ubuntu/w"),
            ("file://server", "//server"),
            ("\\\\server\\share\\a", "\\\\server\\share\\a"),
            ("/w/100%41", "/w/100%41"),
            ("C:\\w\\a", "C:\\w\\a"),
            ("untitled:a", "untitled:a"),
            ("\u{e9}\u{e9}\u{e9}", "\u{e9}\u{e9}\u{e9}"),
        ] {
            let problem = Diagnostic::new(Severity::Hint, Range::default(), "m");
            let answer = Diagnostics { files: vec![FileDiagnostics::new(file, vec![problem])] };
            let read = Diagnostics::read(&answer.result(Dialect::SnakeCase)).unwrap();
            assert_eq!(read.files[0].uri, path, "{file}");
            let read = Diagnostics::read(&answer.result(Dialect::JetBrains)).unwrap();
            assert_eq!(read.files[0].uri, file);
        }
    }

    #[test]
    fn diagnostics_match_the_recorded_editor() {
        let file = FileDiagnostics::new("file:///home/user/project/new.txt", Vec::new());
        assert_eq!(
            serde_json::to_string(&written(&[file], Dialect::VsCode, usize::MAX)).unwrap(),
            r#"{"content":[{"type":"text","text":"[{\"uri\":\"file:///home/user/project/new.txt\",\"diagnostics\":[]}]"}]}"#
        );
    }

    #[test]
    fn diagnostics_above_a_thousand_are_only_counted() {
        let problem = Diagnostic::new(Severity::Hint, Range::default(), "m");
        let files = |first: usize, second: usize| Diagnostics {
            files: [first, second]
                .map(|count| FileDiagnostics::new("u", vec![problem.clone(); count]))
                .into(),
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

    #[test]
    fn flat_problems_are_grouped_by_file() {
        let problem = |path, message: &str| {
            let place = Position::new(1, 2);
            (path, Diagnostic::new(Severity::Error, Range::new(place, place), message))
        };
        let mut given: Vec<FileDiagnostics> = Vec::new();
        let rows = [problem("/w/a", "1"), problem("/w/b", "2"), problem("/w/b", "3"), problem("/w/a", "4")];
        let flat: Vec<String> = rows
            .iter()
            .map(|(path, one)| {
                format!(
                    r#"{{"filePath":"{path}","line":1,"column":2,"severity":"ERROR","message":"{}"}}"#,
                    one.message
                )
            })
            .collect();
        for (path, ones) in [("/w/a", [&rows[0].1, &rows[3].1]), ("/w/b", [&rows[1].1, &rows[2].1])] {
            given.push(FileDiagnostics::new(path, ones.map(Clone::clone).to_vec()));
        }
        let text = format!(r#"{{"diagnostics":[{}]}}"#, flat.join(","));
        assert_eq!(Diagnostics::read(&ToolResult::text(text)), Some(Diagnostics { files: given }));
    }
}
