//! Reads problems as editors and language servers write them: the answers of `getDiagnostics` in every dialect, and the
//! diagnostics and reports of LSP 3.17. Both roles use this.
//!
//! An optional member does no harm: if it is unknown, null or of the wrong type, it is left out. A required member that
//! cannot be used is an error that names it, because an answer without it would report fewer problems than there are.

use super::{Diagnostic, FileDiagnostics, Severity};
use crate::ide::kit::{Position, Range};
use crate::rpc::{from_json, is_object, members, text_of};
use alloc::{borrow::Cow, format, string::String, vec::Vec};
use core::fmt;
use serde::Deserialize;
use serde_json::value::RawValue;

/// A required member that cannot be used.
#[derive(Debug)]
pub(super) struct Unusable {
    /// The path of the member, such as `[0].diagnostics[2].range`; empty for the whole value.
    member: String,
    problem: &'static str,
}

impl Unusable {
    const fn value(problem: &'static str) -> Self {
        Self { member: String::new(), problem }
    }

    /// Returns the error of the member that has this value.
    fn of(self, member: impl fmt::Display) -> Self {
        Self { member: format!("{member}{}", self.member), problem: self.problem }
    }
}

impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.member.strip_prefix('.').unwrap_or(&self.member) {
            "" => write!(f, "the value {}", self.problem),
            member => write!(f, "`{member}` {}", self.problem),
        }
    }
}

const NO_FILES: &str = "must be a list of files, each with `uri` and `diagnostics`, or the diagnostics or the report of one file";
const NO_LIST: &str = "must be a list of diagnostics";
const NO_FILE: &str = "must be the file, as a URI or a path";
const NO_OBJECT: &str = "must be an object";
const NO_TEXT: &str = "must be a string";
const NO_LINE: &str = "must be a whole number from 0";
const NO_RANGE: &str = "must be a start and an end, each with a line and a character, whole numbers from 0";

/// Reads the problems of files. A file without a name is the file of the call, if the call names one.
///
/// | shape | of |
/// | --- | --- |
/// | `[{"uri":…,"diagnostics":[…]}]`, also with `filePath` | VS Code, JetBrains |
/// | `{"diagnostics":[{"file_path":…,"line":…,"column":…,…}]}` | the dialect with snake case |
/// | `{"uri":…,"diagnostics":[…]}` | `textDocument/publishDiagnostics` |
/// | `{"kind":"full","items":[…]}` | `textDocument/diagnostic` |
/// | `{"items":[{"uri":…,"kind":"full","items":[…]}]}` | `workspace/diagnostic` |
pub(super) fn files(raw: &RawValue, call_file: Option<&str>) -> Result<Vec<FileDiagnostics>, Unusable> {
    if !is_object(raw) {
        return match plain(raw) {
            Some(files) => Ok(files),
            None => each(raw, NO_FILES, |item| file(item, call_file)),
        };
    }
    let names = ["uri", "filePath", "file_path", "kind", "items", "diagnostics"];
    let [uri, path, snake, kind, items, diagnostics] = members(raw, names).unwrap_or_default();
    let is_named = uri.or(path).or(snake).is_some();
    match (items, diagnostics) {
        (Some(items), None) if !is_named && kind.is_none() => {
            each(items, NO_FILES, |item| file(item, call_file)).map_err(|wrong| wrong.of(".items"))
        }
        (None, Some(flat)) if !is_named && !has_ranges(flat) => by_file(flat),
        (None, None) => Err(Unusable::value(NO_FILES)),
        _ => file(raw, call_file).map(|file| Vec::from([file])),
    }
}

/// Reads the form that nearly every answer has. This takes one pass, and a third of the instructions of the general
/// code below. Returns `None` for every other form.
fn plain(raw: &RawValue) -> Option<Vec<FileDiagnostics>> {
    #[derive(Deserialize)]
    struct File<'a> {
        uri: String,
        #[serde(rename = "linesInFile")]
        lines_in_file: Option<u32>,
        #[serde(borrow)]
        diagnostics: Vec<Problem<'a>>,
    }
    #[derive(Deserialize)]
    struct Problem<'a> {
        message: String,
        #[serde(borrow)]
        severity: Option<&'a RawValue>,
        range: Range,
        source: Option<String>,
        #[serde(borrow)]
        code: Option<&'a RawValue>,
    }
    // Derived code would also read lists of values instead of objects.
    raw.get().strip_prefix('[')?.trim_start().strip_prefix('{')?;
    let read: Vec<File<'_>> = serde_json::from_str(raw.get()).ok()?;
    let problem = |read: Problem<'_>| {
        let found = Diagnostic::new(severity_of(read.severity), read.range, read.message);
        Diagnostic { source: read.source, code: read.code.and_then(code_of), ..found }
    };
    let file = |read: File<'_>| {
        let file = FileDiagnostics::new(read.uri, read.diagnostics.into_iter().map(problem).collect());
        FileDiagnostics { lines_in_file: read.lines_in_file, ..file }
    };
    let files: Vec<FileDiagnostics> = read.into_iter().map(file).collect();
    // A file without a name is the one of the call.
    files.iter().all(|file| !file.uri.is_empty()).then_some(files)
}

/// Reads the problems of one file: a list of diagnostics, or the report of LSP.
pub(super) fn file(raw: &RawValue, call_file: Option<&str>) -> Result<FileDiagnostics, Unusable> {
    let names = ["uri", "filePath", "file_path", "linesInFile", "diagnostics", "items"];
    let [uri, path, snake, lines, diagnostics, items] =
        members(raw, names).ok_or(Unusable::value(NO_OBJECT))?;
    let (list, member) = match (diagnostics, items) {
        (None, Some(items)) => (Some(items), ".items"),
        (diagnostics, _) => (diagnostics, ".diagnostics"),
    };
    let found = list.ok_or(Unusable::value(NO_LIST)).and_then(|list| each(list, NO_LIST, problem));
    let found = found.map_err(|wrong| wrong.of(member))?;
    let name = [uri, path, snake].into_iter().flatten().find_map(text_of);
    let name =
        name.filter(|name| !name.is_empty() || call_file.is_none()).or_else(|| call_file.map(Cow::Borrowed));
    let name = name.ok_or_else(|| Unusable::value(NO_FILE).of(".uri"))?;
    let mut file = FileDiagnostics::new(name, found);
    file.lines_in_file = lines.and_then(|lines| from_json(lines.get()).ok());
    Ok(file)
}

/// Reads a problem.
pub(super) fn problem(raw: &RawValue) -> Result<Diagnostic, Unusable> {
    let names = ["message", "severity", "range", "source", "code"];
    let [message, severity, at, source, code] = members(raw, names).ok_or(Unusable::value(NO_OBJECT))?;
    let message = text(message)?;
    let at = at.and_then(range).ok_or_else(|| Unusable::value(NO_RANGE).of(".range"))?;
    Ok(with_details(Diagnostic::new(severity_of(severity), at, message), source, code))
}

/// Reads one list with the problems of several files.
fn by_file(raw: &RawValue) -> Result<Vec<FileDiagnostics>, Unusable> {
    let mut files: Vec<FileDiagnostics> = Vec::new();
    let found = each(raw, NO_LIST, |item| {
        let names = [
            "file_path",
            "filePath",
            "uri",
            "line",
            "column",
            "character",
            "severity",
            "message",
            "source",
            "code",
        ];
        let [snake, path, uri, line, column, character, severity, message, source, code] =
            members(item, names).ok_or(Unusable::value(NO_OBJECT))?;
        let name = [snake, path, uri].into_iter().flatten().find_map(text_of);
        let name = name.ok_or_else(|| Unusable::value(NO_FILE).of(".file_path"))?;
        let number = |raw: Option<&RawValue>, member| {
            let number = raw.map_or(Some(0), count);
            number.ok_or_else(|| Unusable::value(NO_LINE).of(member))
        };
        let place = Position::new(number(line, ".line")?, number(column.or(character), ".column")?);
        let found = Diagnostic::new(severity_of(severity), Range::new(place, place), text(message)?);
        Ok((name.into_owned(), with_details(found, source, code)))
    });
    for (name, one) in found.map_err(|wrong| wrong.of(".diagnostics"))? {
        match files.iter_mut().rev().find(|file| file.uri == name) {
            Some(file) => file.diagnostics.push(one),
            None => files.push(FileDiagnostics::new(name, Vec::from([one]))),
        }
    }
    Ok(files)
}

/// Returns true if the first problem of a list has a range, as the problems of one file have.
fn has_ranges(list: &RawValue) -> bool {
    let items: Vec<&RawValue> = serde_json::from_str(list.get()).unwrap_or_default();
    items.first().and_then(|first| members(first, ["range"])).is_some_and(|[range]| range.is_some())
}

/// Reads each item of a list.
fn each<'a, T>(
    list: &'a RawValue,
    problem: &'static str,
    read: impl Fn(&'a RawValue) -> Result<T, Unusable>,
) -> Result<Vec<T>, Unusable> {
    let items: Vec<&RawValue> = serde_json::from_str(list.get()).map_err(|_| Unusable::value(problem))?;
    let read = |(at, item)| read(item).map_err(|wrong: Unusable| wrong.of(format_args!("[{at}]")));
    items.into_iter().enumerate().map(read).collect()
}

/// Reads a message. In LSP 3.18 it may be an object with the text in `value`.
fn text(message: Option<&RawValue>) -> Result<Cow<'_, str>, Unusable> {
    let plain =
        |message| text_of(message).or_else(|| members(message, ["value"]).and_then(|[text]| text_of(text?)));
    message.and_then(plain).ok_or_else(|| Unusable::value(NO_TEXT).of(".message"))
}

/// Returns the severity. LSP leaves an absent one to the client: an error, as in VS Code.
fn severity_of(severity: Option<&RawValue>) -> Severity {
    severity.and_then(Severity::read).unwrap_or(Severity::Error)
}

fn range(raw: &RawValue) -> Option<Range> {
    let [start, end] = members(raw, ["start", "end"])?;
    Some(Range::new(position(start?)?, position(end?)?))
}

fn position(raw: &RawValue) -> Option<Position> {
    let [line, character] = members(raw, ["line", "character"])?;
    Some(Position::new(count(line?)?, count(character?)?))
}

/// Reads a line or a column. For the end of a line, some servers write the largest number that they can.
fn count(raw: &RawValue) -> Option<u32> {
    let count: u64 = from_json(raw.get()).ok()?;
    Some(u32::try_from(count).unwrap_or(u32::MAX))
}

fn with_details(mut found: Diagnostic, source: Option<&RawValue>, code: Option<&RawValue>) -> Diagnostic {
    found.source = source.and_then(text_of).map(Cow::into_owned);
    found.code = code.and_then(code_of);
    found
}

/// Reads a code: a string, or a number. Some servers write an object with the code in `value`, and the address of a
/// page about it in `target`.
fn code_of(raw: &RawValue) -> Option<String> {
    let plain = |raw: &RawValue| match raw.get().as_bytes().first()? {
        b'"' => text_of(raw).map(Cow::into_owned),
        b'-' | b'0'..=b'9' => Some(crate::rpc::normalized(raw.get()).into_owned()),
        _ => None,
    };
    plain(raw).or_else(|| members(raw, ["value"]).and_then(|[code]| plain(code?)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    const RANGE: &str = r#""range":{"start":{"line":1,"character":2},"end":{"line":1,"character":3}}"#;

    /// Returns a problem with this severity and this code.
    fn one(severity: Severity, code: Option<&str>) -> Diagnostic {
        let range = Range::new(Position::new(1, 2), Position::new(1, 3));
        let mut one = Diagnostic::new(severity, range, "m");
        one.code = code.map(Into::into);
        one
    }

    #[test]
    fn problems_are_read_as_language_servers_write_them() {
        use Severity::{Error, Hint, Information, Warning};
        // The name, the members besides message and range, and the severity and the code.
        let rows = [
            ("no severity", "", Error, None),
            ("a null severity", r#","severity":null"#, Error, None),
            ("an unknown severity", r#","severity":"Fatal""#, Error, None),
            ("a severity of LSP", r#","severity":1"#, Error, None),
            ("a severity with a decimal point", r#","severity":2.0"#, Warning, None),
            ("a severity of VS Code", r#","severity":"Information""#, Information, None),
            ("a severity of JetBrains", r#","severity":"WEAK_WARNING""#, Hint, None),
            ("a severity of Neovim", r#","severity":"WARN""#, Warning, None),
            ("a severity that comes twice", r#","severity":1,"severity":4"#, Hint, None),
            ("a code of TypeScript", r#","code":2304"#, Error, Some("2304")),
            ("a code with a decimal point", r#","code":2304.0"#, Error, Some("2304")),
            ("a negative code", r#","code":-1"#, Error, Some("-1")),
            ("a code as a string", r#","code":"E\u0030308""#, Error, Some("E0308")),
            ("half a surrogate pair", r#","code":"a\ud800","\ud800":1"#, Error, Some("a\u{fffd}")),
            (
                "a code with a page",
                r#","code":{"value":"no-var","target":"https://e/x"}"#,
                Error,
                Some("no-var"),
            ),
            ("a number with a page", r#","code":{"value":7,"target":"https://e/x"}"#, Error, Some("7")),
            ("a code of the wrong type", r#","code":[1]"#, Error, None),
            ("a null code", r#","code":null"#, Error, None),
            ("tags", r#","tags":[1,2]"#, Error, None),
            (
                "related information",
                r#","relatedInformation":[{"location":{"uri":"file:///b","range":{}},"message":"x"}]"#,
                Error,
                None,
            ),
            ("a description of the code", r#","codeDescription":{"href":"https://e"}"#, Error, None),
            ("data", r#","data":{"message":7}"#, Error, None),
            ("unknown members", r#","user_data":{"lsp":{}},"bufnr":1,"lnum":1"#, Error, None),
            ("a source of the wrong type", r#","source":7"#, Error, None),
        ];
        for (name, more, severity, code) in rows {
            let text = alloc::format!(r#"{{"message":"m",{RANGE}{more}}}"#);
            let read = serde_json::from_str::<Diagnostic>(&text);
            assert_eq!(read.map_err(|error| error.to_string()), Ok(one(severity, code)), "{name}");
        }
        let message = alloc::format!(r#"{{"message":{{"kind":"markdown","value":"m"}},{RANGE}}}"#);
        assert_eq!(serde_json::from_str::<Diagnostic>(&message).unwrap(), one(Error, None));
    }

    #[test]
    fn positions_are_read_by_value() {
        let rows = [
            ("whole numbers", r#"{"line":0,"character":3}"#, Some((0, 3))),
            ("decimal points", r#"{"line":0.0,"character":3e0}"#, Some((0, 3))),
            ("the end of a line", r#"{"line":1,"character":9007199254740991}"#, Some((1, u32::MAX))),
            ("more members, one twice", r#"{"x":0,"line":9,"character":3,"line":1}"#, Some((1, 3))),
            ("a fraction", r#"{"line":0.5,"character":3}"#, None),
            ("a negative number", r#"{"line":-1,"character":3}"#, None),
            ("a string", r#"{"line":"0","character":3}"#, None),
            ("null", r#"{"line":null,"character":3}"#, None),
            ("no character", r#"{"line":0}"#, None),
            ("a list", "[0,3]", None),
        ];
        for (name, place, want) in rows {
            let place = serde_json::from_str(place).unwrap();
            assert_eq!(position(place), want.map(|(line, column)| Position::new(line, column)), "{name}");
        }
    }

    #[test]
    fn files_are_read_in_every_shape() {
        let list = alloc::format!(r#"[{{"message":"m",{RANGE}}}]"#);
        let flat =
            r#"{"diagnostics":[{"file_path":"/a","line":1.0,"column":2,"severity":1,"message":"m","x":1}]}"#;
        // The name, the text, the file of the call, and the files.
        let rows: &[(&str, &str, Option<&str>, &[&str])] = &[
            ("no file", "[]", None, &[]),
            ("a file", r#"[{"uri":"file:///a","diagnostics":LIST}]"#, None, &["file:///a"]),
            ("a file by its path", r#"[{"filePath":"/a","diagnostics":LIST}]"#, None, &["/a"]),
            (
                "a file by its path, in snake case",
                r#"[{"file_path":"/a","diagnostics":LIST}]"#,
                None,
                &["/a"],
            ),
            (
                "a version",
                r#"[{"uri":"u","version":3.0,"diagnostics":LIST,"linesInFile":"x"}]"#,
                None,
                &["u"],
            ),
            (
                "two files",
                r#"[{"uri":"u","diagnostics":LIST},{"uri":"v","diagnostics":LIST}]"#,
                Some("u"),
                &["u", "v"],
            ),
            ("a file without a name", r#"[{"uri":null,"diagnostics":LIST}]"#, Some("u"), &["u"]),
            ("what a server publishes", r#"{"uri":"u","version":null,"diagnostics":LIST}"#, None, &["u"]),
            ("diagnostics alone", r#"{"diagnostics":LIST}"#, Some("u"), &["u"]),
            ("a report", r#"{"kind":"full","resultId":"1","items":LIST}"#, Some("u"), &["u"]),
            ("reports", r#"{"items":[{"kind":"full","uri":"u","items":LIST}]}"#, None, &["u"]),
            ("a report in a list", r#"[{"kind":"full","items":LIST}]"#, Some("u"), &["u"]),
            ("a flat list", flat, None, &["/a"]),
            ("a flat list without problems", r#"{"diagnostics":[]}"#, None, &[]),
        ];
        for (name, text, call_file, files) in rows {
            let text = text.replace("LIST", &list);
            let read = super::files(serde_json::from_str(&text).unwrap(), *call_file)
                .map_err(|wrong| wrong.to_string());
            let read = read.unwrap_or_else(|wrong| panic!("{name}: {wrong}"));
            assert!(read.iter().map(|file| file.uri.as_str()).eq(files.iter().copied()), "{name}: {read:?}");
            assert!(read.iter().all(|file| file.diagnostics[0].message == "m"), "{name}: {read:?}");
        }
    }

    #[test]
    fn unusable_member_is_named() {
        let rows = [
            ("null", "null", "the value"),
            ("a string", r#""OK""#, "the value"),
            ("no problems", "{}", "the value"),
            ("a file that is null", "[null]", "`[0]`"),
            ("a file without problems", r#"[{"uri":"u"}]"#, "`[0].diagnostics`"),
            ("problems that are null", r#"[{"uri":"u","diagnostics":null}]"#, "`[0].diagnostics`"),
            ("problems that are not a list", r#"{"uri":"u","diagnostics":{}}"#, "`diagnostics`"),
            ("a report of nothing new", r#"{"kind":"unchanged","resultId":"1"}"#, "the value"),
            ("a report whose items are not a list", r#"{"kind":"full","items":1}"#, "`items`"),
            ("a report without a file", r#"{"kind":"full","items":[]}"#, "`uri`"),
            ("a file without a name", r#"[{"diagnostics":[]}]"#, "`[0].uri`"),
            ("a name that is not a string", r#"[{"uri":7,"diagnostics":[]}]"#, "`[0].uri`"),
            ("a problem that is null", r#"[{"uri":"u","diagnostics":[null]}]"#, "`[0].diagnostics[0]`"),
            ("a string instead of a problem", r#"{"uri":"u","diagnostics":["m"]}"#, "`diagnostics[0]`"),
            (
                "no range",
                r#"[{"uri":"u","diagnostics":[]},{"uri":"v","diagnostics":[{"message":"m"}]}]"#,
                "`[1].diagnostics[0].range`",
            ),
            (
                "no message",
                r#"[{"uri":"u","diagnostics":[{"range":{"start":{"line":0,"character":0}}}]}]"#,
                "`[0].diagnostics[0].message`",
            ),
            (
                "in a report",
                r#"{"items":[{"uri":"u","items":[{"message":"m","range":{"start":{}}}]}]}"#,
                "`items[0].items[0].range`",
            ),
            ("flat, no file", r#"{"diagnostics":[{"line":0,"message":"m"}]}"#, "`diagnostics[0].file_path`"),
            (
                "flat, a line of the wrong type",
                r#"{"diagnostics":[{"file_path":"/a","line":"1","message":"m"}]}"#,
                "`diagnostics[0].line`",
            ),
            ("flat, no message", r#"{"diagnostics":[{"file_path":"/a"}]}"#, "`diagnostics[0].message`"),
        ];
        for (name, text, member) in rows {
            let wrong = files(serde_json::from_str(text).unwrap(), None).unwrap_err().to_string();
            assert!(wrong.starts_with(&alloc::format!("{member} must be ")), "{name}: {wrong}");
        }
    }
}
