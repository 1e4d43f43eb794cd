//! The errors of writing and reading lock files. A message about a file or directory has its path, and
//! most messages name a remedy. No message has a byte of a token.

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use ide_mcp::ide::discovery::locate::LocateError;
use ide_mcp::ide::discovery::{AuthToken, LockFileError};
use ide_mcp::ide::paths::Suspicion;

const CLOSED: &str = if cfg!(windows) {
    "take the rights of Everyone, Users and Authenticated Users from it, or set CLAUDE_CONFIG_DIR to a directory below your \
     profile"
} else {
    "set CLAUDE_CONFIG_DIR to a directory on a file system that keeps modes"
};

const KEPT: &str = if cfg!(windows) {
    "take the rights of Everyone, Users and Authenticated Users to change it from it"
} else {
    "chmod o-w it"
};

/// An error of a lock file, of its directory, of a path of a peer, or of the server to which a lock file
/// leads.
///
/// [Causes and reactions](ide_mcp::guide::errors#lock-files-tokens-paths).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An error of the system.
    #[error(
        "could not {doing} {path:?}: {source}; check that it exists, is yours, and is not on a full disk"
    )]
    Io {
        /// The operation, as a verb.
        doing: &'static str,
        /// The path of the operation.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// A directory or file that belongs to another user.
    #[error(
        "{path:?} belongs to user {owner}, we are user {us}: remove it, give it to us, or set CLAUDE_CONFIG_DIR to a \
         directory of our own"
    )]
    NotOurs {
        /// Its path.
        path: PathBuf,
        /// The uid of its owner; on Windows the last number of the account (SID).
        owner: u32,
        /// The uid of this process; on Windows the last number of its account.
        us: u32,
    },
    /// A directory that stays open to other users, because its file system keeps no modes, or on Windows because its
    /// access rights let all users in.
    #[error("{path:?} stays open to other users (mode {mode:03o}): {remedy}", remedy = CLOSED)]
    TooOpen {
        /// Its path.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// A directory above the lock files, or a symbolic link on the way to them, that belongs to another
    /// user. That user can replace everything below it.
    #[error(
        "{path:?} belongs to user {owner}, we are user {us}, and its owner can replace the lock files below it: give it to \
         us or to root, or set CLAUDE_CONFIG_DIR to a directory elsewhere"
    )]
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
    #[error(
        "every user can replace the lock files below {path:?} (mode {mode:03o}): {remedy}, or set CLAUDE_CONFIG_DIR to a \
         directory elsewhere",
        remedy = KEPT
    )]
    ParentTooOpen {
        /// Its path, without symbolic links.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// A port on which another user listens.
    #[error(
        "the socket at {addr} belongs to user {owner}, we are user {us}, so nothing was sent there: start the editor again, \
         so that it takes another port"
    )]
    PortNotOurs {
        /// The address of the connection.
        addr: SocketAddr,
        /// The uid of the owner of the socket.
        owner: u32,
        /// The uid of this process.
        us: u32,
    },
    /// A connection within this machine whose server end is in no table of sockets.
    #[error(
        "the owner of the socket at {addr} is not found, so nothing was sent there: the editor is busy or ends, or its port \
         is forwarded; try again"
    )]
    PortWithoutOwner {
        /// The address of the connection.
        addr: SocketAddr,
    },
    /// A token that is too short to be published.
    #[error(
        "the token has {len} bytes, a token that is published has at least {}: generate one",
        AuthToken::MIN_PUBLISHED_LEN
    )]
    TokenTooShort {
        /// The length of the token in bytes.
        len: usize,
    },
    /// A symbolic link with the name of a lock file.
    #[error("{path:?} is a symbolic link, which is never followed: remove it")]
    Symlink {
        /// Its path.
        path: PathBuf,
    },
    /// A pipe, a directory, a device or a socket with the name of a lock file.
    #[error("{path:?} is not a regular file: remove it")]
    NotRegular {
        /// Its path.
        path: PathBuf,
    },
    /// A name that ends in `.lock` and does not begin with a port.
    #[error("{path:?} is not named for a port (1 to 65535, no leading zero): remove it")]
    NotAPort {
        /// Its path.
        path: PathBuf,
    },
    /// A text that is no lock file, or that is too long for one.
    #[error("{path:?}: {source}; restart the editor that wrote it, or remove it")]
    Malformed {
        /// Its path.
        path: PathBuf,
        /// The fault of the text.
        source: LockFileError,
    },
    /// A path that leads to a dangling symbolic link. A file that is created at this path would lie in an
    /// unknown place.
    #[error("{path:?} is a symbolic link that leads nowhere: remove it, or create its target")]
    Dangling {
        /// Its path.
        path: PathBuf,
    },
    /// A path that is not opened. The reason appeared when its symbolic links were resolved.
    #[error("{path:?} is not opened: {reason}")]
    Suspicious {
        /// The path.
        path: PathBuf,
        /// The reason.
        #[source]
        reason: Suspicion,
    },
    /// A path that is not Unicode, so JSON cannot contain it.
    #[error("{path:?} is not Unicode: open the folder under another name")]
    NotUnicode {
        /// The path.
        path: PathBuf,
    },
    /// Folders that need more than
    /// [`LockFile::MAX_FOLDERS_LEN`](ide_mcp::ide::discovery::LockFile::MAX_FOLDERS_LEN) bytes in the lock file.
    #[error(
        "the folders take {len} bytes of the lock file, more than the limit of {max}: open fewer of them, or their common \
         parent folder"
    )]
    TooManyFolders {
        /// The length of the folders in JSON, in bytes.
        len: usize,
        /// The greatest length that fits, in bytes.
        max: usize,
    },
    /// Environment variables that do not determine the directory of lock files.
    #[error(transparent)]
    Locate(LocateError),
    /// A variable that is not Unicode.
    #[error("{variable} is not Unicode: set it to a path that is")]
    VariableNotUnicode {
        /// Its name.
        variable: &'static str,
    },
    /// A publication for port 0, on which no server listens.
    #[error("port 0 cannot be published: listen first, then publish the port you got")]
    PortZero,
    /// A lack of randomness in the system.
    #[error("the system gave no randomness: {0}; try again")]
    Entropy(#[source] io::Error),
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
