//! The lock file, by which an editor says where it listens and with which token: what it says, its forms as text, and
//! the kinds of files that have them. The disk belongs to `ide-mcp-lockfile`.
//!
//! What a lock file means for a client is the business of [`matching`](crate::ide::matching).

mod form;
mod text;

pub use form::LockForm;

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use crate::ide::{AuthToken, InvalidToken};

/// What a lock file says.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LockFile {
    /// The process of the editor. In some editors it is not the one that listens.
    pub pid: Option<u32>,
    /// Absolute paths of the open folders. [`matching`](crate::ide::matching) says which clients they attract.
    pub workspace_folders: Vec<String>,
    /// What the client shows to a person. Empty if the file does not say.
    pub ide_name: String,
    /// The way to connect; [`Transport::Missing`] if the file has no such member.
    pub transport: Transport,
    /// True if the editor runs on Windows: a client in WSL then cannot see its process and translates the folders.
    pub running_in_windows: bool,
    /// The token; a few editors write none and check none.
    pub auth_token: Option<AuthToken>,
    /// The world in which `pid` means something, such as one run of a kernel and one pid namespace of it. Only editors of this
    /// library write it, as the member `ideMcpScope`, which others pass over. `ide-mcp-lockfile` sets it.
    pub scope: Option<String>,
}

impl LockFile {
    /// The most bytes that are read as a lock file. Real ones have a few hundred.
    pub const MAX_LEN: usize = 64 * 1024;

    /// The most bytes that an editor should publish as folders, in JSON: three quarters of [`MAX_LEN`](Self::MAX_LEN), so
    /// that a name and a token of any usual length fit beside them.
    pub const MAX_FOLDERS_LEN: usize = Self::MAX_LEN / 4 * 3;

    /// Returns what an editor publishes that runs on the system for which this was compiled. The fields can be changed.
    #[must_use]
    pub fn new(
        pid: u32,
        workspace_folders: Vec<String>,
        ide_name: impl Into<String>,
        token: AuthToken,
    ) -> Self {
        Self {
            pid: Some(pid),
            workspace_folders,
            ide_name: ide_name.into(),
            transport: Transport::WebSocket,
            running_in_windows: cfg!(windows),
            auth_token: Some(token),
            scope: None,
        }
    }

    /// A port as file names and `CLAUDE_CODE_SSE_PORT` write it: `[1-9][0-9]{0,4}`, at most 65535.
    #[must_use]
    pub fn parse_port(digits: &str) -> Option<u16> {
        let canonical = digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.starts_with('0');
        if canonical { digits.parse().ok() } else { None }
    }
}

/// How the editor of a lock file is to be reached.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Transport {
    /// `ws`, the one this crate speaks.
    WebSocket,
    /// `sse`, the form before WebSocket, and what a legacy lock file means.
    Sse,
    /// The file has no member `transport`, or it is null. The real client takes such a file for the older transport and
    /// does not attach (measured, see docs/evidence.md).
    Missing,
    /// Anything else.
    Other(String),
}

impl Transport {
    /// Returns the word in the lock file; empty for [`Missing`](Self::Missing).
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::WebSocket => "ws",
            Self::Sse => "sse",
            Self::Missing => "",
            Self::Other(text) => text,
        }
    }

    fn from_text(text: &str) -> Self {
        match text {
            "ws" => Self::WebSocket,
            "sse" => Self::Sse,
            other => Self::Other(other.to_string()),
        }
    }
}

/// Why a text is no lock file. It quotes nothing of the text, which may hold a token.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LockFileError {
    /// It has more than [`LockFile::MAX_LEN`] bytes.
    TooLong {
        /// How many it has.
        len: usize,
    },
    /// There is nothing in it. An editor that does not write by renaming leaves this for a moment.
    Empty,
    /// It begins as JSON and is none. Half a file looks like this.
    NotJson {
        /// The line, from 1.
        line: usize,
        /// The column in bytes, from 1.
        column: usize,
    },
    /// It is JSON and no object.
    NotAnObject,
    /// A field that the file may have once is there twice, so nobody can say which one counts.
    DoubledField,
    /// It is neither JSON nor a list of absolute folders.
    NotALockFile,
    /// A field has the wrong type, or is missing where it must not be.
    Field {
        /// The name of the field.
        name: &'static str,
        /// What it should be.
        expected: &'static str,
    },
    /// `authToken` is text that cannot be a token.
    Token(InvalidToken),
}

impl fmt::Display for LockFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong { len } => {
                write!(f, "the lock file has {len} bytes, {} are the most", LockFile::MAX_LEN)
            }
            Self::Empty => f.write_str("the lock file is empty"),
            Self::NotJson { line, column } => {
                write!(f, "the lock file is not valid JSON at line {line}, column {column}")
            }
            Self::NotAnObject => f.write_str("the lock file is JSON but not an object"),
            Self::DoubledField => f.write_str("the lock file has a field twice"),
            Self::NotALockFile => f.write_str("the lock file is neither JSON nor a list of absolute folders"),
            Self::Field { name, expected } => {
                write!(f, "the field {name} of the lock file is not {expected}")
            }
            Self::Token(error) => write!(f, "the field authToken of the lock file is no token: {error}"),
        }
    }
}

impl core::error::Error for LockFileError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        if let Self::Token(error) = self { Some(error) } else { None }
    }
}
