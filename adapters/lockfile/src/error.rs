//! The errors of writing and reading lock files. A message about a file or directory has its path, and
//! most messages name a remedy. No message has a byte of a token.

use core::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use ide_mcp::ide::discovery::locate::LocateError;
use ide_mcp::ide::discovery::{AuthToken, LockFileError};
use ide_mcp::ide::paths::Suspicion;

/// An error of a lock file, of its directory, of a path of a peer, or of the server to which a lock file
/// leads.
///
/// [Causes and reactions](ide_mcp::guide::errors#lock-files-tokens-paths).
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// An error of the system.
    Io {
        /// The operation, as a verb.
        doing: &'static str,
        /// The path of the operation.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// A directory or file that belongs to another user.
    NotOurs {
        /// Its path.
        path: PathBuf,
        /// The uid of its owner.
        owner: u32,
        /// The uid of this process.
        us: u32,
    },
    /// A directory that stays open to other users, because its file system keeps no modes.
    TooOpen {
        /// Its path.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// A directory above the lock files, or a symbolic link on the way to them, that belongs to another
    /// user. That user can replace everything below it.
    ParentNotOurs {
        /// Its path, without symbolic links.
        path: PathBuf,
        /// The uid of its owner.
        owner: u32,
        /// The uid of this process.
        us: u32,
    },
    /// A directory above the lock files whose entries everybody can replace: it is writable by all
    /// and has no sticky bit.
    ParentTooOpen {
        /// Its path, without symbolic links.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// A port on which another user listens.
    PortNotOurs {
        /// The address of the connection.
        addr: SocketAddr,
        /// The uid of the owner of the socket.
        owner: u32,
        /// The uid of this process.
        us: u32,
    },
    /// A connection within this machine whose server end is in no table of sockets.
    PortWithoutOwner {
        /// The address of the connection.
        addr: SocketAddr,
    },
    /// A token that is too short to be published.
    TokenTooShort {
        /// The length of the token in bytes.
        len: usize,
    },
    /// A symbolic link with the name of a lock file.
    Symlink {
        /// Its path.
        path: PathBuf,
    },
    /// A pipe, a directory, a device or a socket with the name of a lock file.
    NotRegular {
        /// Its path.
        path: PathBuf,
    },
    /// A name that ends in `.lock` and does not begin with a port.
    NotAPort {
        /// Its path.
        path: PathBuf,
    },
    /// A text that is no lock file, or that is too long for one.
    Malformed {
        /// Its path.
        path: PathBuf,
        /// The fault of the text.
        source: LockFileError,
    },
    /// A path that leads to a dangling symbolic link. A file that is created at this path would lie in an
    /// unknown place.
    Dangling {
        /// Its path.
        path: PathBuf,
    },
    /// A path that is not opened. The reason appeared when its symbolic links were resolved.
    Suspicious {
        /// The path.
        path: PathBuf,
        /// The reason.
        reason: Suspicion,
    },
    /// A path that is not Unicode, so JSON cannot contain it.
    NotUnicode {
        /// The path.
        path: PathBuf,
    },
    /// Folders that need more than
    /// [`LockFile::MAX_FOLDERS_LEN`](ide_mcp::ide::discovery::LockFile::MAX_FOLDERS_LEN) bytes in the lock file.
    TooManyFolders {
        /// The length of the folders in JSON, in bytes.
        len: usize,
        /// The greatest length that fits, in bytes.
        max: usize,
    },
    /// Environment variables that do not determine the directory of lock files.
    Locate(LocateError),
    /// A variable that is not Unicode.
    VariableNotUnicode {
        /// Its name.
        variable: &'static str,
    },
    /// A publication for port 0, on which no server listens.
    PortZero,
    /// A lack of randomness in the system.
    Entropy(io::Error),
}

impl Error {
    pub(crate) fn entropy(source: getrandom::Error) -> Self {
        Self::Entropy(source.into())
    }

    /// Returns a function for `map_err` that makes an [`Io`](Self::Io) error of `doing` on `path`.
    pub(crate) fn io<E: Into<io::Error>>(doing: &'static str, path: &Path) -> impl FnOnce(E) -> Self {
        let path = path.to_path_buf();
        move |source| Self::Io { doing, path, source: source.into() }
    }

    pub(crate) fn is_not_found(&self) -> bool {
        matches!(self, Self::Io { source, .. } if source.kind() == io::ErrorKind::NotFound)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { doing, path, source } => {
                write!(
                    f,
                    "could not {doing} {path:?}: {source}; check that it exists, is yours, and is not on a full disk"
                )
            }
            Self::NotOurs { path, owner, us } => write!(
                f,
                "{path:?} belongs to user {owner}, we are user {us}: remove it, give it to us, or set CLAUDE_CONFIG_DIR \
                 to a directory of our own"
            ),
            Self::TooOpen { path, mode } => write!(
                f,
                "{path:?} stays open to other users (mode {mode:03o}): set CLAUDE_CONFIG_DIR to a directory on a file \
                 system that keeps modes"
            ),
            Self::ParentNotOurs { path, owner, us } => write!(
                f,
                "{path:?} belongs to user {owner}, we are user {us}, and its owner can replace the lock files below it: give it \
                 to us or to root, or set CLAUDE_CONFIG_DIR to a directory elsewhere"
            ),
            Self::ParentTooOpen { path, mode } => write!(
                f,
                "every user can replace the lock files below {path:?} (mode {mode:03o}): chmod o-w it, or set \
                 CLAUDE_CONFIG_DIR to a directory elsewhere"
            ),
            Self::PortNotOurs { addr, owner, us } => write!(
                f,
                "the socket at {addr} belongs to user {owner}, we are user {us}, so nothing was sent there: start the editor \
                 again, so that it takes another port"
            ),
            Self::PortWithoutOwner { addr } => write!(
                f,
                "the owner of the socket at {addr} is not found, so nothing was sent there: the editor is busy or ends, or its \
                 port is forwarded; try again"
            ),
            Self::TokenTooShort { len } => write!(
                f,
                "the token has {len} bytes, a token that is published has at least {}: generate one",
                AuthToken::MIN_PUBLISHED_LEN
            ),
            Self::Symlink { path } => {
                write!(f, "{path:?} is a symbolic link, which is never followed: remove it")
            }
            Self::NotRegular { path } => write!(f, "{path:?} is not a regular file: remove it"),
            Self::NotAPort { path } => {
                write!(f, "{path:?} is not named for a port (1 to 65535, no leading zero): remove it")
            }
            Self::Malformed { path, source } => {
                write!(f, "{path:?}: {source}; restart the editor that wrote it, or remove it")
            }
            Self::Dangling { path } => {
                write!(f, "{path:?} is a symbolic link that leads nowhere: remove it, or create its target")
            }
            Self::Suspicious { path, reason } => write!(f, "{path:?} is not opened: {reason}"),
            Self::NotUnicode { path } => {
                write!(f, "{path:?} is not Unicode: open the folder under another name")
            }
            Self::TooManyFolders { len, max } => write!(
                f,
                "the folders take {len} bytes of the lock file, more than the limit of {max}: open fewer of them, or their \
                 common parent folder"
            ),
            Self::Locate(source) => source.fmt(f),
            Self::VariableNotUnicode { variable } => {
                write!(f, "{variable} is not Unicode: set it to a path that is")
            }
            Self::PortZero => {
                f.write_str("port 0 cannot be published: listen first, then publish the port you got")
            }
            Self::Entropy(source) => write!(f, "the system gave no randomness: {source}; try again"),
        }
    }
}

impl core::error::Error for Error {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } | Self::Entropy(source) => Some(source),
            Self::Malformed { source, .. } => Some(source),
            Self::Locate(source) => Some(source),
            Self::Suspicious { reason, .. } => Some(reason),
            Self::NotOurs { .. }
            | Self::TooOpen { .. }
            | Self::ParentNotOurs { .. }
            | Self::ParentTooOpen { .. }
            | Self::PortNotOurs { .. }
            | Self::PortWithoutOwner { .. }
            | Self::TokenTooShort { .. }
            | Self::Symlink { .. }
            | Self::NotRegular { .. }
            | Self::NotAPort { .. }
            | Self::Dangling { .. }
            | Self::NotUnicode { .. }
            | Self::TooManyFolders { .. }
            | Self::VariableNotUnicode { .. }
            | Self::PortZero => None,
        }
    }
}
