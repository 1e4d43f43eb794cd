//! The lock file, where an editor publishes its port and its token: its fields, its forms as text, and the kinds of
//! files that contain them. The crate `ide-mcp-lockfile` accesses the disk.
//!
//! [`matching`](crate::ide::discovery::matching) decides which of them a client uses.

mod form;
mod text;

pub use form::LockForm;

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use super::{AuthToken, InvalidToken};

/// What a lock file says.
///
/// ```
/// use ide_mcp::ide::discovery::LockFile;
///
/// let file = LockFile::parse(r#"{"pid":4711,"workspaceFolders":["/w"],"ideName":"Editor","transport":"ws"}"#)?;
/// assert_eq!((file.pid, file.workspace_folders), (Some(4711), vec!["/w".to_owned()]));
/// # Ok::<(), ide_mcp::ide::discovery::LockFileError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LockFile {
    /// The id of the editor process. In some editors another process listens on the port.
    pub pid: Option<u32>,
    /// Absolute paths of the open folders. [`matching`](crate::ide::discovery::matching) chooses the file for a client
    /// by them.
    pub workspace_folders: Vec<String>,
    /// The name that the client shows to a person. Empty if the file has none.
    pub ide_name: String,
    /// How a client connects; [`Transport::Missing`] if the file does not say.
    pub transport: Transport,
    /// True if the editor runs on Windows. A client in WSL then cannot check the process of the
    /// editor, and translates the folders.
    pub running_in_windows: bool,
    /// The token. A few editors write no token and check none.
    pub auth_token: Option<AuthToken>,
    /// Where `pid` is valid, such as one boot of a machine and one pid namespace of that boot. Only editors of this
    /// library write it, as the member `ideMcpScope`, which other programs ignore. `ide-mcp-lockfile` sets it.
    pub scope: Option<String>,
}

impl LockFile {
    /// The maximum size of a lock file in bytes. Real ones have a few hundred.
    pub const MAX_LEN: usize = 64 * 1024;

    /// The maximum size of the folders that you should publish, in bytes of JSON: three quarters of
    /// [`MAX_LEN`](Self::MAX_LEN), so that a name and a token of any usual length fit too.
    pub const MAX_FOLDERS_LEN: usize = Self::MAX_LEN / 4 * 3;

    /// Creates the lock file of an editor on the system this crate was compiled for. If you pass no token, the server
    /// of an adapter adds the one that it requires. Change the fields as you like.
    #[must_use]
    pub fn new(
        pid: u32,
        workspace_folders: Vec<String>,
        ide_name: impl Into<String>,
        token: impl Into<Option<AuthToken>>,
    ) -> Self {
        Self {
            pid: Some(pid),
            workspace_folders,
            ide_name: ide_name.into(),
            transport: Transport::WebSocket,
            running_in_windows: cfg!(windows),
            auth_token: token.into(),
            scope: None,
        }
    }

    /// Reads a port as in names of lock files and in `CLAUDE_CODE_SSE_PORT`: `[1-9][0-9]{0,4}`, at most 65535. Returns
    /// `None` for anything else.
    #[must_use]
    pub fn parse_port(digits: &str) -> Option<u16> {
        let canonical = digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.starts_with('0');
        if canonical { digits.parse().ok() } else { None }
    }
}

/// How a client reaches the editor of a lock file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Transport {
    /// `ws`, the transport of this crate.
    WebSocket,
    /// `sse`, which editors used before WebSocket. Every lock file in the legacy form (a list of folders) has this
    /// transport.
    Sse,
    /// The member `transport` is missing or null. The real client then assumes the transport before WebSocket and does
    /// not attach (measured, see docs/protocol.md).
    Missing,
    /// Any other string.
    Other(String),
}

impl Transport {
    /// Returns the string in the lock file; empty for [`Missing`](Self::Missing).
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

/// Why a text is not a lock file. The error quotes nothing of the text, which may contain a token.
///
/// [Causes and reactions](crate::guide::errors#lock-files-tokens-paths).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LockFileError {
    /// The text has more than [`LockFile::MAX_LEN`] bytes.
    TooLong {
        /// The length of the text in bytes.
        len: usize,
    },
    /// The text is empty. An editor that does not write by renaming leaves an empty file for a moment.
    Empty,
    /// The text begins with `{` and is not JSON, such as half a file.
    NotJson {
        /// The line, from 1.
        line: usize,
        /// The column in bytes, from 1.
        column: usize,
    },
    /// The text begins with `[` or, for a file of the kind [`Project`](LockForm::Project), does not begin with `{`.
    NotAnObject,
    /// The text is neither JSON nor a list of absolute folders.
    NotALockFile,
    /// A field has the wrong type or value, or is required and missing.
    Field {
        /// The name of the field.
        name: &'static str,
        /// The type or value that it should have.
        expected: &'static str,
    },
    /// The string in `authToken` cannot be a token.
    Token(InvalidToken),
}

impl fmt::Display for LockFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong { len } => {
                write!(f, "the lock file has {len} bytes, more than the limit of {}", LockFile::MAX_LEN)
            }
            Self::Empty => f.write_str("the lock file is empty"),
            Self::NotJson { line, column } => {
                write!(f, "the lock file is not valid JSON at line {line}, column {column}")
            }
            Self::NotAnObject => f.write_str("the lock file is JSON but not an object"),
            Self::NotALockFile => f.write_str("the lock file is neither JSON nor a list of absolute folders"),
            Self::Field { name, expected } => {
                write!(f, "the field {name} of the lock file is not {expected}")
            }
            Self::Token(error) => write!(f, "the field authToken of the lock file is not a token: {error}"),
        }
    }
}

impl core::error::Error for LockFileError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        if let Self::Token(error) = self { Some(error) } else { None }
    }
}
