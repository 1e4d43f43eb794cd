//! What can go wrong with a lock file. A message about a file or directory names its path, most say what to
//! do, and none contains a byte of a token.

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use ide_mcp::ide::discovery::locate::LocateError;
use ide_mcp::ide::discovery::{AuthToken, LockFileError};
use ide_mcp::ide::paths::Suspicion;

/// How to keep other users from reading a directory or file.
const KEEP_PRIVATE: &str = if cfg!(windows) {
    "remove its permissions for Everyone, Users and Authenticated Users, or set CLAUDE_CONFIG_DIR to a directory below your \
     profile"
} else {
    "remove their permissions (chmod go=); if that has no effect, set CLAUDE_CONFIG_DIR to a directory on a file system with \
     Unix permissions"
};

/// How to keep other users from replacing what is in a directory.
const PROTECT_IT: &str = if cfg!(windows) {
    "remove the permission of Everyone, Users and Authenticated Users to change it"
} else {
    "remove that permission (chmod o-w)"
};

/// What went wrong with a lock file, its directory, a path from a peer, or the server that a lock file names.
///
/// [Causes and reactions](ide_mcp::guide::errors#lock-files-tokens-paths).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An error of the system.
    #[error(
        "could not {operation} {path:?}: {source}; check that it exists, is yours, and is not on a full disk"
    )]
    Io {
        /// What we tried, as a verb.
        operation: &'static str,
        /// Where we tried it.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The directory or file belongs to another user.
    #[error(
        "{path:?} belongs to user {owner}, but this program runs as user {us}: remove it, change its owner, or set \
         CLAUDE_CONFIG_DIR to a directory of your own"
    )]
    NotOurs {
        /// Its path.
        path: PathBuf,
        /// The uid of its owner; on Windows the RID, the last number of the SID.
        owner: u32,
        /// The uid of this process; on Windows the RID of its account.
        us: u32,
    },
    /// Other users can read or change the directory or private file. For a directory on Unix, this means that
    /// its file system does not keep modes; on Windows, that its access rights admit all users.
    #[error("other users can read or change {path:?} (mode {mode:03o}): {remedy}", remedy = KEEP_PRIVATE)]
    TooOpen {
        /// Its path.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// A directory above the lock files, or a symbolic link on the way, belongs to another user, who can
    /// replace everything below it.
    #[error(
        "{path:?} belongs to user {owner}, who can replace the lock files below it, but this program runs as user {us}: change \
         its owner to {us} or root, or set CLAUDE_CONFIG_DIR to a directory elsewhere"
    )]
    ParentNotOurs {
        /// Its path, without symbolic links.
        path: PathBuf,
        /// The uid of its owner.
        owner: u32,
        /// The uid of this process.
        us: u32,
    },
    /// Everybody can replace what is in a directory above the lock files: it is writable by all and has no
    /// sticky bit.
    #[error(
        "every user can replace the lock files below {path:?} (mode {mode:03o}): {remedy}, or set CLAUDE_CONFIG_DIR to a \
         directory elsewhere",
        remedy = PROTECT_IT
    )]
    ParentTooOpen {
        /// Its path, without symbolic links.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// Another user listens on the port.
    #[error(
        "the socket at {addr} belongs to user {owner}, but this program runs as user {us}, so nothing was sent there: start the \
         editor again, so that it takes another port"
    )]
    PortNotOurs {
        /// The address of the connection.
        addr: SocketAddr,
        /// The uid of the owner of the socket.
        owner: u32,
        /// The uid of this process.
        us: u32,
    },
    /// The server's end of a connection within this machine is not in the system's table of sockets.
    #[error(
        "the owner of the socket at {addr} was not found, so nothing was sent there: the editor is busy or exiting, or its \
         port is forwarded; try again"
    )]
    PortWithoutOwner {
        /// The address of the connection.
        addr: SocketAddr,
    },
    /// The token is too short to be published.
    #[error(
        "the token has {len} bytes, but a published token needs at least {}: generate one",
        AuthToken::MIN_PUBLISHED_LEN
    )]
    TokenTooShort {
        /// The length of the token in bytes.
        len: usize,
    },
    /// A symbolic link has the name of a lock file.
    #[error("{path:?} is a symbolic link, which we never follow: remove it")]
    Symlink {
        /// Its path.
        path: PathBuf,
    },
    /// A pipe, directory, device or socket has the name of a lock file.
    #[error("{path:?} is not a regular file: remove it")]
    NotRegular {
        /// Its path.
        path: PathBuf,
    },
    /// The name ends in `.lock`, but does not begin with a port.
    #[error("{path:?} is not named for a port (1 to 65535, no leading zero): remove it")]
    NotAPort {
        /// Its path.
        path: PathBuf,
    },
    /// The contents are not a lock file, or too long for one.
    #[error("{path:?}: {source}; restart the editor that wrote it, or remove it")]
    Malformed {
        /// Its path.
        path: PathBuf,
        /// What is wrong with the contents.
        source: LockFileError,
    },
    /// The path leads to a dangling symbolic link. We cannot check where a file would be created.
    #[error("{path:?} is a symbolic link that leads nowhere: remove it, or create its target")]
    Dangling {
        /// Its path.
        path: PathBuf,
    },
    /// We do not open the path, for a reason that appeared when its symbolic links were resolved.
    #[error("refusing to open {path:?}: {reason}")]
    Suspicious {
        /// The path.
        path: PathBuf,
        /// The reason.
        #[source]
        reason: Suspicion,
    },
    /// The path is not Unicode, so JSON cannot contain it.
    #[error("{path:?} is not Unicode: open the folder under another name")]
    NotUnicode {
        /// The path.
        path: PathBuf,
    },
    /// The folders need more than
    /// [`LockFile::MAX_FOLDERS_LEN`](ide_mcp::ide::discovery::LockFile::MAX_FOLDERS_LEN) bytes in the lock
    /// file.
    #[error(
        "the folders take {len} bytes of the lock file, more than the limit of {max}: open fewer of them, or their common \
         parent folder"
    )]
    TooManyFolders {
        /// The length of the folders in JSON, in bytes.
        len: usize,
        /// The maximum length, in bytes.
        max: usize,
    },
    /// The environment variables do not say where the lock files are.
    #[error(transparent)]
    Locate(LocateError),
    /// A variable is not Unicode.
    #[error("{variable} is not Unicode: set it to a path that is")]
    VariableNotUnicode {
        /// Its name.
        variable: &'static str,
    },
    /// The port to publish is 0, on which no server can listen.
    #[error("port 0 cannot be published: listen first, then publish the port you got")]
    PortZero,
    /// The system did not provide random numbers.
    #[error("the system gave no random numbers: {0}; try again")]
    Entropy(#[source] io::Error),
}

impl Error {
    pub(crate) fn entropy(source: getrandom::Error) -> Self {
        Self::Entropy(source.into())
    }

    /// For `map_err`: makes an [`Io`](Self::Io) error that says what was tried on `path`.
    pub(crate) fn io<E: Into<io::Error>>(operation: &'static str, path: &Path) -> impl FnOnce(E) -> Self {
        let path = path.to_path_buf();
        move |source| Self::Io { operation, path, source: source.into() }
    }

    pub(crate) fn is_not_found(&self) -> bool {
        matches!(self, Self::Io { source, .. } if source.kind() == io::ErrorKind::NotFound)
    }
}
