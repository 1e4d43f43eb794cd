//! The forms of a lock file as text: JSON, the legacy list of folders, and the JSON of one
//! decompiled plugin.
//!
//! The parser accepts every variant that a known editor writes: missing, `null` and unknown fields. The
//! writer writes every field that has a value.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{LockFile, LockFileError, Transport};
use crate::ide::AuthToken;
use crate::ide::paths::is_absolute;

impl LockFile {
    /// Returns the file as compact JSON in the member order of VS Code's extension, without a line
    /// end.
    ///
    /// `pid`, `transport`, `authToken` and `ideMcpScope` are left out if they have no value.
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
        // Numbers, texts and truth values can always be written to memory, so there is no error.
        serde_json::to_string(&fields).unwrap_or_default()
    }

    /// Returns the legacy form: the folders, one on each line. The real client reads this form as an
    /// editor with the transport [`Sse`](Transport::Sse) (measured), so no lock file is published in
    /// this form.
    #[must_use]
    pub fn to_folder_list(&self) -> String {
        self.workspace_folders.join("\n")
    }

    /// Returns the JSON that [`parse_project`](Self::parse_project) reads, with the first of the
    /// folders.
    ///
    /// # Errors
    /// [`LockFileError::Field`] if there is no folder.
    pub fn to_project_json(&self, port: u16) -> Result<String, LockFileError> {
        let fields = WrittenProject {
            port,
            auth_token: self.auth_token.as_ref().map(AuthToken::as_str),
            project_path: self.workspace_folders.first().ok_or(NO_PROJECT_PATH)?,
        };
        Ok(serde_json::to_string(&fields).unwrap_or_default())
    }

    /// Reads the text of a `<port>.lock`.
    ///
    /// A text that is not JSON and lists absolute folders, one on each line, is the legacy form
    /// with the transport [`Sse`](Transport::Sse) (measured, see docs/evidence.md). A `pid` that is
    /// a string of digits is read as a number, as the real client reads it (measured).
    ///
    /// # Errors
    /// [`LockFileError`] if the text is too long or has neither form, or if a field has the wrong
    /// type.
    pub fn parse(text: &str) -> Result<Self, LockFileError> {
        let text = within_limit(text)?;
        if !text.starts_with(['{', '[']) {
            return Self::parse_list(text);
        }
        let fields: Fields<'_> = parse_object(text)?;
        Ok(Self {
            pid: pid(fields.pid)?,
            workspace_folders: field("workspaceFolders", "a list of texts", fields.workspace_folders)?
                .unwrap_or_default(),
            ide_name: field("ideName", "a text", fields.ide_name)?.unwrap_or_default(),
            transport: field::<String>("transport", "a text", fields.transport)?
                .map_or(Transport::Missing, |text| Transport::from_text(&text)),
            running_in_windows: field("runningInWindows", "true or false", fields.running_in_windows)?
                .unwrap_or_default(),
            auth_token: token(fields.auth_token)?,
            // Only this library writes this member. A member of another type comes from another
            // program and is ignored.
            scope: field("ideMcpScope", "a text", fields.scope).unwrap_or_default(),
        })
    }

    /// Reads `{port, authToken, projectPath}`, the JSON that one decompiled plugin kept in
    /// `.claude-code/<port>.json`. Returns the port with the other fields.
    ///
    /// # Errors
    /// [`LockFileError`] as for [`parse`](Self::parse), and if `port` or `projectPath` is missing.
    pub fn parse_project(text: &str) -> Result<(u16, Self), LockFileError> {
        const PORT: LockFileError =
            LockFileError::Field { name: "port", expected: "a whole number, 1 to 65535" };
        let fields: ProjectFields<'_> = parse_object(within_limit(text)?)?;
        let port: Option<u16> = field("port", "a whole number, 1 to 65535", fields.port)?;
        let path: Option<String> = field("projectPath", "a text", fields.project_path)?;
        let file = Self {
            pid: None,
            workspace_folders: Vec::from([path.ok_or(NO_PROJECT_PATH)?]),
            ide_name: String::new(),
            transport: Transport::WebSocket,
            running_in_windows: false,
            auth_token: token(fields.auth_token)?,
            scope: None,
        };
        Ok((port.filter(|port| *port != 0).ok_or(PORT)?, file))
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

/// The written members, in the order of the real writer. Only this type and `WrittenProject` write
/// the token.
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

const NO_PROJECT_PATH: LockFileError = LockFileError::Field { name: "projectPath", expected: "a text" };

/// The members as raw JSON texts, so that an error can name the wrong member.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Fields<'a> {
    #[serde(borrow)]
    pid: Option<&'a RawValue>,
    #[serde(borrow)]
    workspace_folders: Option<&'a RawValue>,
    #[serde(borrow)]
    ide_name: Option<&'a RawValue>,
    #[serde(borrow)]
    transport: Option<&'a RawValue>,
    #[serde(borrow)]
    running_in_windows: Option<&'a RawValue>,
    #[serde(borrow)]
    auth_token: Option<&'a RawValue>,
    #[serde(borrow, rename = "ideMcpScope")]
    scope: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ProjectFields<'a> {
    #[serde(borrow)]
    port: Option<&'a RawValue>,
    #[serde(borrow)]
    auth_token: Option<&'a RawValue>,
    #[serde(borrow)]
    project_path: Option<&'a RawValue>,
}

fn within_limit(text: &str) -> Result<&str, LockFileError> {
    if text.len() > LockFile::MAX_LEN {
        return Err(LockFileError::TooLong { len: text.len() });
    }
    let trimmed = text.trim();
    if trimmed.is_empty() { Err(LockFileError::Empty) } else { Ok(trimmed) }
}

fn parse_object<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, LockFileError> {
    // serde accepts an array as well, and reads its elements as the members of a derived struct by
    // position.
    if !text.starts_with('{') {
        return Err(LockFileError::NotAnObject);
    }
    serde_json::from_str(text).map_err(|error| match error.is_data() {
        true => LockFileError::DuplicateField,
        false => LockFileError::NotJson { line: error.line(), column: error.column() },
    })
}

/// Reads one member. The error of serde_json is dropped, since its message can quote the value.
fn field<T: DeserializeOwned>(
    name: &'static str,
    expected: &'static str,
    raw: Option<&RawValue>,
) -> Result<Option<T>, LockFileError> {
    raw.map(|raw| serde_json::from_str(raw.get()))
        .transpose()
        .map_err(|_| LockFileError::Field { name, expected })
}

/// Reads a process id: a number, or a string of digits.
fn pid(raw: Option<&RawValue>) -> Result<Option<u32>, LockFileError> {
    const EXPECTED: &str = "a whole number";
    if !raw.is_some_and(|raw| raw.get().starts_with('"')) {
        return field("pid", EXPECTED, raw);
    }
    // `parse` accepts a sign, which no process id has.
    let digits = field::<String>("pid", EXPECTED, raw)?
        .filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()))
        .and_then(|text| text.parse().ok());
    digits.map(Some).ok_or(LockFileError::Field { name: "pid", expected: EXPECTED })
}

fn token(raw: Option<&RawValue>) -> Result<Option<AuthToken>, LockFileError> {
    field::<String>("authToken", "a text", raw)?
        .map(AuthToken::from_text)
        .transpose()
        .map_err(LockFileError::Token)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ide::InvalidToken;
    use alloc::{format, vec};

    fn full() -> LockFile {
        let token = AuthToken::from_text("550e8400-e29b-41d4-a716-446655440000").unwrap();
        LockFile::new(12345, vec!["/w/one".into(), "/w/two".into()], "VS Code", token)
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
    fn members_have_the_order_of_real_writer() {
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
        let cases: &[(&str, &str, LockFile)] = &[
            ("the fullest", &full().to_json(), full()),
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
            ("nothing", "{}", bare()),
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
            ("pid is text", r#"{"pid":"123"}"#, with_pid.clone()),
            ("pid is text with an escape", r#"{"pid":"\u0031\u00323"}"#, with_pid.clone()),
            ("pid is text with leading zeros", r#"{"pid":"00123"}"#, with_pid),
            ("a list of folders", "/w/one\r\n\nC:\\w\n", list),
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
            ("doubled", r#"{"pid":1,"pid":2}"#, LockFileError::DuplicateField),
            ("pid is empty text", r#"{"pid":""}"#, wrong("pid", "a whole number")),
            ("pid is text with a sign", r#"{"pid":"+1"}"#, wrong("pid", "a whole number")),
            ("pid is text with a space", r#"{"pid":" 1"}"#, wrong("pid", "a whole number")),
            ("pid is text with a fraction", r#"{"pid":"1.0"}"#, wrong("pid", "a whole number")),
            ("pid is text in hexadecimal", r#"{"pid":"0x1"}"#, wrong("pid", "a whole number")),
            ("pid is text of other digits", r#"{"pid":"١"}"#, wrong("pid", "a whole number")),
            ("pid is text and too large", r#"{"pid":"4294967296"}"#, wrong("pid", "a whole number")),
            ("pid is a list", r#"{"pid":["1"]}"#, wrong("pid", "a whole number")),
            ("pid is negative", r#"{"pid":-1}"#, wrong("pid", "a whole number")),
            ("pid is too large", r#"{"pid":4294967296}"#, wrong("pid", "a whole number")),
            (
                "folders are text",
                r#"{"workspaceFolders":"/w"}"#,
                wrong("workspaceFolders", "a list of texts"),
            ),
            (
                "a folder is null",
                r#"{"workspaceFolders":[null]}"#,
                wrong("workspaceFolders", "a list of texts"),
            ),
            ("name is a number", r#"{"ideName":1}"#, wrong("ideName", "a text")),
            ("transport is a number", r#"{"transport":1}"#, wrong("transport", "a text")),
            ("flag is text", r#"{"runningInWindows":"no"}"#, wrong("runningInWindows", "true or false")),
            ("token is a number", r#"{"authToken":1}"#, wrong("authToken", "a text")),
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
        assert!(LockFile::parse(&format!(r#"{{"pid":{open}{close}}}"#)).is_err());
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
            ("no path", r#"{"port":1}"#, "projectPath"),
        ];
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
    fn reading_is_total() {
        arbtest::arbtest(|u| {
            let text: &str = u.arbitrary()?;
            let _ = (LockFile::parse(text), LockFile::parse_project(text));
            let _ = LockFile::parse(&format!("{{{text}"));
            Ok(())
        });
    }

    #[test]
    fn no_text_for_people_has_the_token() {
        let texts = [
            r#"{"authToken":"QZQZ QZQZ"}"#,
            r#"{"authToken":{"QZQZ":1}}"#,
            r#"{"authToken":"QZQZ"#,
            r#"{"authToken":"QZQZ","authToken":"QZQZ"}"#,
            "QZQZ",
        ];
        for text in texts {
            let error = LockFile::parse(text).unwrap_err();
            assert!(!format!("{error:?} {error}").contains("QZ"), "{error:?}");
        }
        assert!(!format!("{:?}", full()).contains("550e"));
    }
}
