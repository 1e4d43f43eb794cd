//! Finds problems in JSON and TOML: the place of a syntax error.

use crate::editor::folders::Inside;
use crate::support::local;
use ide_mcp::ide::kit::{Position, Range};
use ide_mcp::ide::tool::{Diagnostic, FileDiagnostics, Severity};
use serde::de::IgnoredAny;
use std::collections::VecDeque;
use std::path::Path;

/// The maximum number of files in [`RequestedFiles`]: as many as an agent may have open calls.
const MAX_REQUESTED: usize = 256;

/// The files whose problems agents have requested, oldest first. An agent requests the problems of a file, writes the
/// file, and then requests those of all files, so a file that does not exist yet stays in the list. If the list is
/// full, the oldest file makes room.
#[derive(Debug, Default)]
pub(crate) struct RequestedFiles(VecDeque<Inside>);

impl RequestedFiles {
    pub(crate) fn add(&mut self, file: Inside) {
        self.0.retain(|requested| requested.real != file.real);
        if self.0.len() >= MAX_REQUESTED {
            self.0.pop_front();
        }
        self.0.push_back(file);
    }

    /// Returns the files that exist.
    pub(crate) fn files(&self) -> impl Iterator<Item = &Inside> {
        self.0.iter().filter(|requested| requested.real.is_file())
    }
}

/// Returns the problems of a file with this name and text: at most one, because both parsers stop at the first. Empty
/// for a file that [`checks`] refuses.
pub(crate) fn check(path: &Path, text: &str) -> Vec<Diagnostic> {
    let problem = match extension(path) {
        Some("json") => json(text),
        Some("toml") => toml(text),
        _ => None,
    };
    problem.into_iter().collect()
}

/// Returns an error if files like this are not checked. An agent takes an empty list for "no problems", so the editor
/// sends a list only for a file that it has checked.
pub(crate) fn checks(path: &Path) -> Result<(), String> {
    match extension(path) {
        Some("json" | "toml") => Ok(()),
        _ => Err(format!("the problems of {} are unknown: only JSON and TOML are checked", path.display())),
    }
}

/// The error if the problems of all files are unknown. It names no file: errors are not filtered, and the name could
/// be that of a hidden file.
const NONE_KNOWN: &str = "the problems of the open files are unknown: only JSON and TOML are checked";

/// Returns the problems of the files whose problems are known, each file by its path.
///
/// # Errors
/// There are files, but the problems of none of them are known.
pub(crate) fn of_known<P: AsRef<str>>(
    files: impl IntoIterator<Item = (P, Result<Vec<Diagnostic>, String>)>,
) -> Result<Vec<FileDiagnostics>, String> {
    let (mut known, mut has_unknown) = (Vec::new(), false);
    for (path, found) in files {
        match found {
            Ok(found) => known.push(FileDiagnostics::new(local::uri_unencoded(path.as_ref()), found)),
            Err(_) => has_unknown = true,
        }
    }
    if known.is_empty() && has_unknown { Err(NONE_KNOWN.into()) } else { Ok(known) }
}

fn extension(path: &Path) -> Option<&str> {
    path.extension().and_then(|extension| extension.to_str())
}

fn json(text: &str) -> Option<Diagnostic> {
    let error = serde_json::from_str::<IgnoredAny>(text).err()?;
    // serde_json counts lines and columns from 1, and columns in bytes. Column 0 is the line break before
    // the line, and is reported at the beginning of the line.
    let line = u32::try_from(error.line().saturating_sub(1)).unwrap_or(u32::MAX);
    let begin = Position::new(line, 0).to_byte_offset(text).unwrap_or(text.len());
    let place = Position::from_byte_offset(text, begin.saturating_add(error.column().saturating_sub(1)));
    Some(problem("json", Range::new(place, place), error.to_string()))
}

fn toml(text: &str) -> Option<Diagnostic> {
    let error = toml::from_str::<IgnoredAny>(text).err()?;
    let span = error.span().unwrap_or_default();
    let range =
        Range::new(Position::from_byte_offset(text, span.start), Position::from_byte_offset(text, span.end));
    Some(problem("toml", range, error.message().to_owned()))
}

fn problem(source: &str, range: Range, message: String) -> Diagnostic {
    let mut problem = Diagnostic::new(Severity::Error, range, message);
    problem.source = Some(source.into());
    problem
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn syntax_error_is_reported_at_its_place() {
        let cases = [
            ("good.json", "{\"a\": [1, 2]}\n", None),
            ("a.json", "{\n  \"a\": x\n}\n", Some((1, 7, 1, 7))),
            ("line break.json", "[tru\n]", Some((1, 0, 1, 0))),
            ("empty.json", "", Some((0, 0, 0, 0))),
            ("wide.json", "[\"\u{1f980}\", x]", Some((0, 7, 0, 7))),
            ("good.toml", "a = 1\n[b]\nc = \"d\"\n", None),
            ("empty.toml", "", None),
            ("a.toml", "a = 1\nb = \n", Some((1, 4, 1, 4))),
            ("twice.toml", "a = 1\na = 2\n", Some((1, 0, 1, 1))),
            ("a.txt", "{", None),
            ("json", "{", None),
        ];
        for (name, text, expected) in cases {
            let found = check(Path::new(name), text);
            let places: Vec<_> = found
                .iter()
                .map(|problem| {
                    let Range { start, end } = problem.range;
                    (start.line, start.character, end.line, end.character)
                })
                .collect();
            assert_eq!(places, Vec::from_iter(expected), "{name}: {found:?}");
            for problem in found {
                assert!(!problem.message.is_empty() && problem.source.is_some(), "{name}");
            }
        }
    }

    #[test]
    fn oldest_of_257_requested_files_is_dropped() {
        let temp = crate::support::temp::private_temp_dir();
        let root = temp.path().join("asked");
        std::fs::create_dir_all(&root).unwrap();
        let mut requested = RequestedFiles::default();
        let file = |number: usize| {
            let path = root.join(number.to_string());
            Inside { shown: path.clone(), real: path }
        };
        (0..MAX_REQUESTED).for_each(|number| requested.add(file(number)));
        assert_eq!(requested.files().count(), 0, "no file exists");
        (0..=MAX_REQUESTED).for_each(|number| std::fs::write(file(number).real, "").unwrap());
        assert_eq!(requested.files().count(), MAX_REQUESTED);
        requested.add(file(0));
        assert_eq!(requested.files().count(), MAX_REQUESTED, "a file is there once");
        requested.add(file(MAX_REQUESTED));
        assert_eq!(requested.files().count(), MAX_REQUESTED);
        let has = |number: usize| requested.files().any(|requested| requested.real == file(number).real);
        assert!(has(0) && !has(1) && has(2) && has(MAX_REQUESTED), "0 was asked for again");
    }

    #[test]
    fn deep_nesting_is_one_problem() {
        for (name, text) in
            [("a.json", "[".repeat(100_000)), ("a.toml", format!("a = {}", "[".repeat(100_000)))]
        {
            assert_eq!(check(Path::new(name), &text).len(), 1, "{name}");
        }
    }
}
