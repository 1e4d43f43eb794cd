//! The two kinds of files where editors publish their ports, with their names.

use super::{LockFile, LockFileError};
use alloc::{format, string::String};

/// A kind of file: its name, its content and, by [`Source`](crate::ide::discovery::locate::Source), its directory.
///
/// [`parse`](Self::parse) takes the name and the text, and [`write`](Self::write) the port and the [`LockFile`],
/// because some editor families name a file after the process, or have the port only in the text.
/// [`matching`](crate::ide::discovery::matching) has the checks of a client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum LockForm {
    /// The file `<port>.lock` in a directory `ide`: the only kind that the real client reads.
    #[default]
    Lock,
    /// The file `<port>.json` in `.claude-code`, with `port`, `authToken` and one `projectPath`, as
    /// in one decompiled plugin.
    Project,
}

impl LockForm {
    /// Returns the name of the file for `port`.
    #[must_use]
    pub fn file_name(self, port: u16, file: &LockFile) -> String {
        // Both names depend only on the port.
        let _ = file;
        format!("{port}{}", self.suffix())
    }

    /// Returns the port in a file name: `[1-9][0-9]{0,4}`, at most 65535, then [`suffix`](Self::suffix). Returns `None`
    /// if the name is not of this kind.
    #[must_use]
    pub fn port_of(self, file_name: &str) -> Option<u16> {
        LockFile::parse_port(file_name.strip_suffix(self.suffix())?)
    }

    /// Returns the end of every file name of this kind.
    #[must_use]
    pub const fn suffix(self) -> &'static str {
        match self {
            Self::Lock => ".lock",
            Self::Project => ".json",
        }
    }

    /// Reads the text of the file with this name.
    ///
    /// # Errors
    /// The errors of [`LockFile::parse`], for the members of this kind, and
    /// [`LockFileError::Field`] if a port in the text differs from the port in the name.
    pub fn parse(self, file_name: &str, text: &str) -> Result<LockFile, LockFileError> {
        match self {
            Self::Lock => LockFile::parse(text),
            Self::Project => match LockFile::parse_project(text)? {
                (port, file) if Some(port) == self.port_of(file_name) => Ok(file),
                _ => Err(LockFileError::Field { name: "port", expected: "the port in the name of the file" }),
            },
        }
    }

    /// Writes the text of the file for `port`. Fields that this kind of file does not have are left out.
    ///
    /// # Errors
    /// [`LockFileError::TooLong`] above [`LockFile::MAX_LEN`] bytes, and [`LockFileError::Field`] if a project has no
    /// folder.
    pub fn write(self, port: u16, file: &LockFile) -> Result<String, LockFileError> {
        let text = match self {
            Self::Lock => file.to_json(),
            Self::Project => file.to_project_json(port)?,
        };
        match text.len() {
            len if len > LockFile::MAX_LEN => Err(LockFileError::TooLong { len }),
            _ => Ok(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ide::discovery::{AuthToken, Transport};

    fn file() -> LockFile {
        let token = AuthToken::from_text("t").unwrap();
        LockFile::new(7, ["/w".into(), "/x".into()].into(), "editor", token)
    }

    #[test]
    fn l09_file_name_has_canonical_port() {
        let cases: &[(&str, Option<u16>)] = &[
            ("1", Some(1)),
            ("65535", Some(65535)),
            ("10000", Some(10000)),
            ("0", None),
            ("01", None),
            ("65536", None),
            ("100000", None),
            ("+1", None),
            ("-1", None),
            (" 1", None),
            ("1 ", None),
            ("1.0", None),
            ("1 .", None),
            ("99999999999999999999", None),
            ("١", None),
            ("0x1", None),
            ("１", None),
            ("", None),
        ];
        for (stem, port) in cases {
            for form in [LockForm::Lock, LockForm::Project] {
                assert_eq!(form.port_of(&format!("{stem}{}", form.suffix())), *port, "{stem:?}");
                assert_eq!(
                    port.map(|port| form.file_name(port, &file()).len()),
                    port.map(|_| stem.len() + 5),
                    "{stem:?}"
                );
            }
        }
        assert_eq!(
            (LockForm::Lock.file_name(1, &file()), LockForm::Project.file_name(1, &file())),
            ("1.lock".into(), "1.json".into())
        );
        assert_eq!(LockForm::Lock.port_of("1.json"), None);
        assert_eq!(LockForm::Project.port_of("1.lock"), None);
        for name in ["1", "1.LOCK", "1.lock.tmp", ".1.abc.tmp", "1.lock.lock", ""] {
            assert_eq!(LockForm::Lock.port_of(name), None, "{name:?}");
        }
        let file = file();
        for port in 1..=u16::MAX {
            assert_eq!(LockForm::Lock.port_of(&LockForm::Lock.file_name(port, &file)), Some(port));
        }
    }

    #[test]
    fn written_form_is_read_again() {
        let file = file();
        let text = LockForm::Lock.write(1, &file).unwrap();
        assert_eq!(LockForm::Lock.parse("1.lock", &text), Ok(file.clone()));

        let text = LockForm::Project.write(1, &file).unwrap();
        assert_eq!(text, r#"{"port":1,"authToken":"t","projectPath":"/w"}"#);
        let read = LockForm::Project.parse("1.json", &text).unwrap();
        assert_eq!(
            (read.workspace_folders, read.auth_token),
            (["/w".into()].into(), file.auth_token.clone())
        );
        let other = LockForm::Project.parse("2.json", &text).unwrap_err();
        assert!(matches!(other, LockFileError::Field { name: "port", .. }), "{other:?}");

        let list = LockFile::parse(&file.workspace_folders.join("\n")).unwrap();
        assert_eq!(
            (list.workspace_folders, list.transport),
            (file.workspace_folders.clone(), Transport::Sse)
        );

        let mut none = file.clone();
        none.workspace_folders.clear();
        none.auth_token = None;
        assert!(matches!(
            LockForm::Project.write(1, &none),
            Err(LockFileError::Field { name: "projectPath", .. })
        ));
        none.workspace_folders.push("/w".into());
        assert_eq!(LockForm::Project.write(1, &none).unwrap(), r#"{"port":1,"projectPath":"/w"}"#);
        let room = LockFile::MAX_LEN - LockForm::Lock.write(1, &none).unwrap().len();
        none.ide_name.push_str(&"x".repeat(room));
        assert_eq!(LockForm::Lock.write(1, &none).unwrap().len(), LockFile::MAX_LEN);
        none.ide_name.push('x');
        assert!(matches!(LockForm::Lock.write(1, &none), Err(LockFileError::TooLong { .. })));
    }
}
