//! The forms of a lock file as text: JSON, the legacy list of folders, and the JSON of one decompiled plugin.
//!
//! A file is read as the real client reads it: missing, `null` and unknown members do no harm, a number counts by its
//! value, and if a member comes twice, the last one counts. Every field that has a value is written.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde::Serialize;
use serde_json::value::RawValue;

use super::{LockFile, LockFileError, Transport};
use crate::ide::discovery::AuthToken;
use crate::ide::paths::is_absolute;
use crate::rpc::members;

impl LockFile {
    /// Returns the file as compact JSON in the member order of VS Code's extension, without a line end.
    ///
    /// `pid`, `transport`, `authToken` and `ideMcpScope` are left out if they have no value. The text contains the
    /// token: see [`ServerConfig::lock_file`](crate::ide::ServerConfig::lock_file) before you write it to a disk.
    #[must_use]
    pub fn to_json(&self) -> String {
        let fields = Written {
            pid: self.pid,
            workspace_folders: &self.workspace_folders,
            ide_name: &self.ide_name,
            transport: (self.transport != Transport::Missing).then(|| self.transport.as_str()),
            running_in_windows: self.running_in_windows,
            auth_token: self.auth_token.as_ref().map(AuthToken::as_str),
            scope: self.scope.as_deref(),
        };
        // Numbers, strings and booleans can always be serialized, so there is no error.
        serde_json::to_string(&fields).unwrap_or_default()
    }

    /// Returns the JSON that [`parse_project`](Self::parse_project) reads, with the first of the
    /// folders.
    ///
    /// # Errors
    /// [`LockFileError::Field`] if there is no folder.
    pub(super) fn to_project_json(&self, port: u16) -> Result<String, LockFileError> {
        let fields = WrittenProject {
            port,
            auth_token: self.auth_token.as_ref().map(AuthToken::as_str),
            project_path: self.workspace_folders.first().ok_or(NO_PROJECT_PATH)?,
        };
        Ok(serde_json::to_string(&fields).unwrap_or_default())
    }

    /// Reads the text of a `<port>.lock`.
    ///
    /// A text that is not JSON and lists absolute folders, one on each line, is the legacy form with the transport
    /// [`Sse`](Transport::Sse) (measured, see docs/protocol.md).
    ///
    /// A bad member makes the file unusable only if an agent needs it. So `1234.0` is the process 1234, a number in
    /// `authToken` is its digits, a folder that is not a string is skipped, a `pid` that is not a process id counts as
    /// missing, and of two members with the same name the last counts. The real client attaches to such files
    /// (measured).
    ///
    /// # Errors
    /// [`LockFileError`] if the text is too long or has neither form, or if `workspaceFolders`, `ideName`, `transport`
    /// or `authToken` has the wrong type.
    pub fn parse(text: &str) -> Result<Self, LockFileError> {
        let text = within_limit(text)?;
        if !text.starts_with(['{', '[']) {
            return Self::parse_list(text);
        }
        let names = [
            "pid",
            "workspaceFolders",
            "ideName",
            "transport",
            "runningInWindows",
            "authToken",
            "ideMcpScope",
        ];
        let [process, listed, name, transport, in_windows, auth_token, scope] = object(text, names)?;
        Ok(Self {
            pid: process.and_then(pid),
            workspace_folders: folders(listed)?,
            ide_name: ide_name(name)?,
            transport: field("transport", transport)?
                .map_or(Transport::Missing, |text| Transport::from_text(&text)),
            running_in_windows: in_windows.is_some_and(|raw| raw.get() == "true"),
            auth_token: token(auth_token)?,
            // Only we write this member. If it has another type, another program wrote it, and it is ignored.
            scope: field("ideMcpScope", scope).unwrap_or_default(),
        })
    }

    /// Reads `{port, authToken, projectPath}`, the JSON that one decompiled plugin kept in
    /// `.claude-code/<port>.json`. Returns the port with the other fields.
    ///
    /// # Errors
    /// [`LockFileError`] as for [`parse`](Self::parse), and if `port` or `projectPath` is missing.
    pub(super) fn parse_project(text: &str) -> Result<(u16, Self), LockFileError> {
        const PORT: LockFileError =
            LockFileError::Field { name: "port", expected: "a whole number, 1 to 65535" };
        let names = ["port", "projectPath", "authToken"];
        let [port, path, auth_token] = object(within_limit(text)?, names)?;
        let port = port.map(|raw| whole(raw).ok_or(PORT)).transpose()?;
        let path = field("projectPath", path)?;
        let file = Self {
            pid: None,
            workspace_folders: Vec::from([path.ok_or(NO_PROJECT_PATH)?]),
            ide_name: String::new(),
            transport: Transport::WebSocket,
            running_in_windows: false,
            auth_token: token(auth_token)?,
            scope: None,
        };
        Ok((port.and_then(|port| u16::try_from(port).ok()).filter(|port| *port != 0).ok_or(PORT)?, file))
    }

    fn parse_list(text: &str) -> Result<Self, LockFileError> {
        let folders: Vec<String> =
            text.lines().map(str::trim).filter(|line| !line.is_empty()).map(ToString::to_string).collect();
        if !folders.iter().all(|folder| is_absolute(folder)) {
            return Err(LockFileError::NotALockFile);
        }
        Ok(Self {
            pid: None,
            workspace_folders: folders,
            ide_name: String::new(),
            transport: Transport::Sse,
            running_in_windows: false,
            auth_token: None,
            scope: None,
        })
    }
}

/// The members in the order in which VS Code's extension writes them. Only this type and `WrittenProject` write the
/// token.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Written<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pid: Option<u32>,
    workspace_folders: &'a [String],
    ide_name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    transport: Option<&'a str>,
    running_in_windows: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    auth_token: Option<&'a str>,
    #[serde(rename = "ideMcpScope", skip_serializing_if = "Option::is_none")]
    scope: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WrittenProject<'a> {
    port: u16,
    #[serde(skip_serializing_if = "Option::is_none")]
    auth_token: Option<&'a str>,
    project_path: &'a str,
}

const NO_PROJECT_PATH: LockFileError = LockFileError::Field { name: "projectPath", expected: "a string" };

/// Returns the raw values of the members with these names, so that each is judged on its own.
fn object<'a, const N: usize>(
    text: &'a str,
    names: [&str; N],
) -> Result<[Option<&'a RawValue>; N], LockFileError> {
    if !text.starts_with('{') {
        return Err(LockFileError::NotAnObject);
    }
    let raw: &RawValue = serde_json::from_str(text)
        .map_err(|error| LockFileError::NotJson { line: error.line(), column: error.column() })?;
    members(raw, names).ok_or(LockFileError::NotAnObject)
}

fn within_limit(text: &str) -> Result<&str, LockFileError> {
    if text.len() > LockFile::MAX_LEN {
        return Err(LockFileError::TooLong { len: text.len() });
    }
    let trimmed = text.trim();
    if trimmed.is_empty() { Err(LockFileError::Empty) } else { Ok(trimmed) }
}

/// Reads a string member. The error of serde_json is dropped, because its message can quote the value.
fn field(name: &'static str, raw: Option<&RawValue>) -> Result<Option<String>, LockFileError> {
    let read = |raw: &RawValue| serde_json::from_str(raw.get());
    raw.map(read).transpose().map_err(|_| LockFileError::Field { name, expected: "a string" })
}

/// Reads the folders, without those that are not strings. A string instead of the list is one folder; the real client
/// attaches to it, but only because it reads each character as a folder (measured).
fn folders(raw: Option<&RawValue>) -> Result<Vec<String>, LockFileError> {
    let wrong = |_| LockFileError::Field { name: "workspaceFolders", expected: "a list of strings" };
    let Some(raw) = raw else { return Ok(Vec::new()) };
    if let Ok(folder) = serde_json::from_str(raw.get()) {
        return Ok(Vec::from([folder]));
    }
    let listed: Vec<&RawValue> = serde_json::from_str(raw.get()).map_err(wrong)?;
    Ok(listed.into_iter().filter_map(|folder| serde_json::from_str(folder.get()).ok()).collect())
}

/// Reads the name. A string that Rust cannot hold (with a lone surrogate) does not make the file unusable; a number
/// does, because the real client does not attach to it (measured).
fn ide_name(raw: Option<&RawValue>) -> Result<String, LockFileError> {
    match raw {
        Some(raw) if raw.get().starts_with('"') => Ok(serde_json::from_str(raw.get()).unwrap_or_default()),
        Some(_) => Err(LockFileError::Field { name: "ideName", expected: "a string" }),
        None => Ok(String::new()),
    }
}

/// Reads a process id: a number, or a string of digits. For anything else returns `None`, as if the file named no
/// process.
fn pid(raw: &RawValue) -> Option<u32> {
    if !raw.get().starts_with('"') {
        return whole(raw);
    }
    // `parse` accepts a sign, which no process id has.
    let text: String = serde_json::from_str(raw.get()).ok()?;
    if is_digits(&text) { text.parse().ok() } else { None }
}

fn token(raw: Option<&RawValue>) -> Result<Option<AuthToken>, LockFileError> {
    let text = match raw {
        Some(raw) if is_number(raw) => Some(number(raw)),
        _ => field("authToken", raw)?,
    };
    text.map(AuthToken::from_text).transpose().map_err(LockFileError::Token)
}

fn is_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_number(raw: &RawValue) -> bool {
    raw.get().starts_with(|first: char| first == '-' || first.is_ascii_digit())
}

fn whole(raw: &RawValue) -> Option<u32> {
    if is_number(raw) { number(raw).parse().ok() } else { None }
}

/// Returns a number as text: the digits of a whole one, however it is written (`7`, `7.0`, `7e0`), and any other as
/// written.
fn number(raw: &RawValue) -> String {
    // From 10^21 on, JavaScript writes an exponent even for a whole number.
    const MOST: usize = 21;
    let written = raw.get();
    if is_digits(written) {
        return written.to_owned();
    }
    let value = written.parse::<f64>().map(|value| format!("{value}")).unwrap_or_default();
    if !value.is_empty() && is_digits(&value) && value.len() <= MOST { value } else { written.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ide::discovery::InvalidToken;
    use alloc::{format, vec};

    fn full() -> LockFile {
        let token = AuthToken::from_text("550e8400-e29b-41d4-a716-446655440000").unwrap();
        let file = LockFile::new(12345, vec!["/w/one".into(), "/w/two".into()], "VS Code", token);
        assert_eq!(file.running_in_windows, cfg!(windows));
        LockFile { running_in_windows: false, ..file }
    }

    fn bare() -> LockFile {
        LockFile {
            pid: None,
            workspace_folders: vec![],
            ide_name: String::new(),
            transport: Transport::Missing,
            running_in_windows: false,
            auth_token: None,
            scope: None,
        }
    }

    #[test]
    fn members_have_the_order_of_vs_code() {
        let expected = concat!(
            r#"{"pid":12345,"workspaceFolders":["/w/one","/w/two"],"ideName":"VS Code","transport":"ws","#,
            r#""runningInWindows":false,"authToken":"550e8400-e29b-41d4-a716-446655440000"}"#
        );
        assert_eq!(full().to_json(), expected);
        let mut marked = full();
        marked.scope = Some("run/1".into());
        let member = r#","ideMcpScope":"run/1"}"#;
        assert_eq!(
            marked.to_json(),
            expected.replace('}', member),
            "last, so that the rest is as others write it"
        );
        assert_eq!(LockFile::parse(&marked.to_json()), Ok(marked));
        assert_eq!(bare().to_json(), r#"{"workspaceFolders":[],"ideName":"","runningInWindows":false}"#);
    }

    #[test]
    fn every_known_variant_is_read() {
        let mut without_windows = full();
        without_windows.workspace_folders.truncate(1);
        let mut without_token = without_windows.clone();
        without_token.auth_token = None;
        let mut list = bare();
        list.workspace_folders = vec!["/w/one".into(), "C:\\w".into()];
        list.transport = Transport::Sse;
        let mut other = bare();
        other.transport = Transport::Other("ws://127.0.0.1:1".into());
        let mut empty = bare();
        empty.transport = Transport::Other(String::new());
        let mut sse = bare();
        sse.transport = Transport::Sse;
        let mut with_pid = bare();
        with_pid.pid = Some(123);
        let mut with_folders = bare();
        with_folders.workspace_folders = vec!["/w".into(), "/v".into()];
        let mut with_folder = bare();
        with_folder.workspace_folders = vec!["/w".into()];
        let mut on_windows = bare();
        on_windows.running_in_windows = true;
        let with_token = |text: &str| LockFile { auth_token: AuthToken::from_text(text).ok(), ..bare() };
        let cases: &[(&str, &str, LockFile)] = &[
            ("every field", &full().to_json(), full()),
            (
                "members in another order, with white space",
                r#"{
                    "workspaceFolders": ["/w/one", "/w/two"],
                    "pid": 12345,
                    "ideName": "VS Code",
                    "transport": "ws",
                    "runningInWindows": false,
                    "authToken": "550e8400-e29b-41d4-a716-446655440000"
                }
                "#,
                full(),
            ),
            (
                "without runningInWindows",
                concat!(
                    r#"{"pid":12345,"workspaceFolders":["/w/one"],"ideName":"VS Code","transport":"ws","#,
                    r#""authToken":"550e8400-e29b-41d4-a716-446655440000"}"#
                ),
                without_windows,
            ),
            (
                "without a token",
                r#"{"pid":12345,"workspaceFolders":["/w/one"],"ideName":"VS Code","transport":"ws"}"#,
                without_token.clone(),
            ),
            (
                "unknown members",
                concat!(
                    r#"{"pidStartTime":1.5e3,"pid":12345,"workspaceFolders":["/w/one"],"ideName":"VS Code","#,
                    r#""transport":"ws","extra":{"a":[null,{"b":"}"}]}}"#
                ),
                without_token,
            ),
            ("no member", "{}", bare()),
            (
                "all null",
                concat!(
                    r#"{"pid":null,"workspaceFolders":null,"ideName":null,"transport":null,"#,
                    r#""runningInWindows":null,"authToken":null}"#
                ),
                bare(),
            ),
            ("snake case is unknown", r#"{"workspace_path":"/w","ide_name":"x"}"#, bare()),
            ("another transport", r#"{"transport":"ws://127.0.0.1:1"}"#, other),
            ("an empty transport is not a missing one", r#"{"transport":""}"#, empty),
            ("the transport before WebSocket", r#"{"transport":"sse"}"#, sse),
            ("pid is a string", r#"{"pid":"123"}"#, with_pid.clone()),
            ("pid is a string with an escape", r#"{"pid":"\u0031\u00323"}"#, with_pid.clone()),
            ("pid is a string with leading zeros", r#"{"pid":"00123"}"#, with_pid.clone()),
            ("a list of folders", "/w/one\r\n\nC:\\w\n", list),
            ("pid is an integral fraction", r#"{"pid":123.0}"#, with_pid.clone()),
            ("pid has an exponent", r#"{"pid":1.23E+2}"#, with_pid.clone()),
            ("pid twice", r#"{"pid":{},"pid":123}"#, with_pid.clone()),
            ("a member twice, the last null", r#"{"pid":123,"pid":null}"#, bare()),
            ("an escaped member name", r#"{"p\u0069d":123}"#, with_pid.clone()),
            ("a member name that Rust cannot hold", r#"{"\ud800":1,"pid":123,"\ud800":[]}"#, with_pid),
            ("pid is an empty string", r#"{"pid":""}"#, bare()),
            ("pid is a string with a sign", r#"{"pid":"+1"}"#, bare()),
            ("pid is a string with a space", r#"{"pid":" 1"}"#, bare()),
            ("pid is a string with a fraction", r#"{"pid":"1.0"}"#, bare()),
            ("pid is a string in hexadecimal", r#"{"pid":"0x1"}"#, bare()),
            ("pid is a string of digits that are not ASCII", r#"{"pid":"١"}"#, bare()),
            ("pid is a string and too large", r#"{"pid":"4294967296"}"#, bare()),
            ("pid is a list", r#"{"pid":["1"]}"#, bare()),
            ("pid is negative", r#"{"pid":-1}"#, bare()),
            ("pid is a fraction", r#"{"pid":1.5}"#, bare()),
            ("pid is too large", r#"{"pid":4294967296}"#, bare()),
            ("pid is beyond the largest double", r#"{"pid":1e999}"#, bare()),
            (
                "folders that are not strings",
                r#"{"workspaceFolders":[null,"/w",1,true,[],{},"\ud800/x","/v"]}"#,
                with_folders,
            ),
            ("only folders that are not strings", r#"{"workspaceFolders":[null]}"#, bare()),
            ("a string instead of the list of folders", r#"{"workspaceFolders":"/w"}"#, with_folder),
            ("flag is a string", r#"{"runningInWindows":"no"}"#, bare()),
            ("flag is a number", r#"{"runningInWindows":1}"#, bare()),
            ("flag is set", r#"{"runningInWindows":true}"#, on_windows),
            ("name that Rust cannot hold", r#"{"ideName":"a\ud800"}"#, bare()),
            ("token is a number", r#"{"authToken":123456789}"#, with_token("123456789")),
            (
                "token is a number that a double cannot hold",
                r#"{"authToken":9007199254740993}"#,
                with_token("9007199254740993"),
            ),
            ("token is an integral fraction", r#"{"authToken":12.0}"#, with_token("12")),
            ("token is a fraction", r#"{"authToken":1.5}"#, with_token("1.5")),
            ("token is a large number", r#"{"authToken":1e+21}"#, with_token("1e+21")),
            ("token is a negative number", r#"{"authToken":-1}"#, with_token("-1")),
            ("token twice", r#"{"authToken":"wrong","authToken":"right"}"#, with_token("right")),
            ("scope is a number", r#"{"ideMcpScope":1}"#, bare()),
        ];
        for (name, text, expected) in cases {
            assert_eq!(LockFile::parse(text).as_ref(), Ok(expected), "{name}");
        }
    }

    #[test]
    fn invalid_lock_file_is_refused_with_reason() {
        let wrong = |name, expected| LockFileError::Field { name, expected };
        let cases: &[(&str, &str, LockFileError)] = &[
            ("empty", "", LockFileError::Empty),
            ("white space", " \n", LockFileError::Empty),
            ("half a file", r#"{"pid":12345,"works"#, LockFileError::NotJson { line: 1, column: 19 }),
            ("more after the end", "{} {}", LockFileError::NotJson { line: 1, column: 4 }),
            ("array", "[1]", LockFileError::NotAnObject),
            ("number", "17", LockFileError::NotALockFile),
            ("relative folder", "/w\nsrc", LockFileError::NotALockFile),
            ("byte order mark", "\u{feff}{}", LockFileError::NotALockFile),
            (
                "folders are a number",
                r#"{"workspaceFolders":1}"#,
                wrong("workspaceFolders", "a list of strings"),
            ),
            ("name is a number", r#"{"ideName":1}"#, wrong("ideName", "a string")),
            ("transport is a number", r#"{"transport":1}"#, wrong("transport", "a string")),
            ("token is a list", r#"{"authToken":["t"]}"#, wrong("authToken", "a string")),
            ("token is true", r#"{"authToken":true}"#, wrong("authToken", "a string")),
            ("a member name without a colon", r#"{"pid" 1}"#, LockFileError::NotJson { line: 1, column: 8 }),
            ("a member name that is not a string", r#"{1:1}"#, LockFileError::NotJson { line: 1, column: 2 }),
            ("token is empty", r#"{"authToken":""}"#, LockFileError::Token(InvalidToken::Empty)),
        ];
        for (name, text, expected) in cases {
            assert_eq!(LockFile::parse(text).as_ref(), Err(expected), "{name}");
            assert!(!format!("{expected}").is_empty(), "{name}");
            let is_token = matches!(expected, LockFileError::Token(_));
            assert_eq!(core::error::Error::source(expected).is_some(), is_token, "{name}");
        }
    }

    #[test]
    fn the_limits_are_64_and_48_kib() {
        assert_eq!((LockFile::MAX_LEN, LockFile::MAX_FOLDERS_LEN), (65536, 49152));
        let padded = |len: usize| format!("{{}}{}", " ".repeat(len - 2));
        assert_eq!(LockFile::parse(&padded(65536)), Ok(bare()));
        assert_eq!(LockFile::parse(&padded(65537)), Err(LockFileError::TooLong { len: 65537 }));
        assert_eq!(LockFile::parse_project(&padded(65537)), Err(LockFileError::TooLong { len: 65537 }));
    }

    #[test]
    fn deep_nesting_never_exhausts_the_stack() {
        let (open, close) = ("[".repeat(30_000), "]".repeat(30_000));
        assert_eq!(LockFile::parse(&format!(r#"{{"x":{open}{close}}}"#)), Ok(bare()));
        assert_eq!(LockFile::parse(&format!(r#"{{"pid":{open}{close}}}"#)), Ok(bare()));
        assert_eq!(LockFile::parse(&format!(r#"{{"workspaceFolders":[{open}{close}]}}"#)), Ok(bare()));
        assert!(LockFile::parse(&format!(r#"{{"authToken":{open}{close}}}"#)).is_err());
    }

    #[test]
    fn the_project_form_has_its_own_reader() {
        let text = r#"{"port":12345,"authToken":"secret","projectPath":"/w/one"}"#;
        let (port, file) = LockFile::parse_project(text).unwrap();
        assert_eq!((port, file.workspace_folders), (12345, vec!["/w/one".to_string()]));
        assert_eq!(file.auth_token, AuthToken::from_text("secret").ok());
        let cases: &[(&str, &str, &str)] = &[
            ("no port", r#"{"projectPath":"/w"}"#, "port"),
            ("port 0", r#"{"port":0,"projectPath":"/w"}"#, "port"),
            ("port 65536", r#"{"port":65536,"projectPath":"/w"}"#, "port"),
            ("port is a fraction", r#"{"port":1.5,"projectPath":"/w"}"#, "port"),
            ("port is a string", r#"{"port":"1","projectPath":"/w"}"#, "port"),
            ("no path", r#"{"port":1}"#, "projectPath"),
            ("path is a number", r#"{"port":1,"projectPath":1}"#, "projectPath"),
        ];
        let twice = r#"{"port":0,"port":7.0,"projectPath":"/w"}"#;
        assert_eq!(
            LockFile::parse_project(twice).map(|(port, _)| port),
            Ok(7),
            "a number counts by its value, and the last member counts"
        );
        for (name, text, wrong) in cases {
            match LockFile::parse_project(text) {
                Err(LockFileError::Field { name: field, .. }) => assert_eq!(field, *wrong, "{name}"),
                other => panic!("{name}: {other:?}"),
            }
        }
    }

    #[test]
    fn written_text_is_read_back() {
        arbtest::arbtest(|u| {
            let token: String = u.arbitrary()?;
            let file = LockFile {
                pid: u.arbitrary()?,
                workspace_folders: u.arbitrary()?,
                ide_name: u.arbitrary()?,
                transport: u.arbitrary::<Option<&str>>()?.map_or(Transport::Missing, Transport::from_text),
                running_in_windows: u.arbitrary()?,
                auth_token: AuthToken::from_text(token).ok(),
                scope: u.arbitrary()?,
            };
            let text = file.to_json();
            assert!(!text.contains('\n'), "{text}");
            assert_eq!(LockFile::parse(&text), Ok(file));
            Ok(())
        });
    }

    #[test]
    fn reading_never_panics() {
        arbtest::arbtest(|u| {
            let text: &str = u.arbitrary()?;
            let _ = (LockFile::parse(text), LockFile::parse_project(text));
            let _ = LockFile::parse(&format!("{{{text}"));
            Ok(())
        });
    }

    #[test]
    fn errors_and_debug_output_hide_the_token() {
        let texts = [
            r#"{"authToken":"QZQZ QZQZ"}"#,
            r#"{"authToken":{"QZQZ":1}}"#,
            r#"{"authToken":"QZQZ"#,
            r#"{"authToken":"right","authToken":"QZ QZ"}"#,
            "QZQZ",
        ];
        for text in texts {
            let error = LockFile::parse(text).unwrap_err();
            assert!(!format!("{error:?} {error}").contains("QZ"), "{error:?}");
        }
        assert!(!format!("{:?}", full()).contains("550e"));
    }
}
