//! Where a server listens, and how it starts.

use super::{Bind, Guarding, Server, Transport};
use ide_mcp::ide::ServerConfig;
use ide_mcp_lockfile::{Error, LockDir, workspace_folders};
use std::net::TcpListener;
use std::{io, process};

/// Where the server of an editor listens, and where agents find its lock file. Most editors need none of this
/// and start from a [`ServerConfig`] alone: on any free port, with a lock file where agents look first.
///
/// ```
/// use ide_mcp_driver::{Bind, StartOptions};
/// use ide_mcp::ide::tool::Tool;
/// use ide_mcp::ide::ServerConfig;
///
/// let editor = ServerConfig::new("My Editor", "1.0").folder(".").tools([Tool::OpenDiff]);
/// let options = StartOptions::new(editor).bind(Bind::Port(4711));
/// ```
#[derive(Clone, Debug)]
#[must_use = "a server starts from the options"]
pub struct StartOptions {
    editor: ServerConfig,
    is_without_folders: bool,
    bind: Bind,
    pid: u32,
    lock_dir: Option<LockDir>,
    guarding: Option<Guarding>,
}

impl StartOptions {
    /// Starts this editor on any free port, as this process.
    pub fn new(editor: ServerConfig) -> Self {
        Self {
            editor,
            is_without_folders: false,
            bind: Bind::AnyPort,
            pid: process::id(),
            lock_dir: None,
            guarding: None,
        }
    }

    /// Allows an editor without a folder. Only agents that know the port find it, as those in a terminal of
    /// the editor do ([`launch_env`](ide_mcp::ide::discovery::launch_env::launch_env)).
    pub const fn without_folders(mut self) -> Self {
        self.is_without_folders = true;
        self
    }

    /// Sets where to listen. Default [`Bind::AnyPort`].
    pub fn bind(mut self, bind: Bind) -> Self {
        self.bind = bind;
        self
    }

    /// Sets the process id in the lock file. You need this if the editor does not run in the process of its
    /// server. Default: this process.
    pub const fn pid(mut self, pid: u32) -> Self {
        self.pid = pid;
        self
    }

    /// Sets the directory of the lock file. Default [`LockDir::from_environment`].
    pub fn lock_dir(mut self, dir: LockDir) -> Self {
        self.lock_dir = Some(dir);
        self
    }

    /// Sets where the guard of the lock file runs. Default: whatever suits the adapter.
    pub fn guarding(mut self, guarding: Guarding) -> Self {
        self.guarding = Some(guarding);
        self
    }
}

impl From<ServerConfig> for StartOptions {
    fn from(editor: ServerConfig) -> Self {
        Self::new(editor)
    }
}

impl<T: Transport> Server<T> {
    /// Binds the listener as [`bind`](Server::bind) does, and then publishes the lock file. `open` makes the
    /// transport from the listener.
    ///
    /// # Errors
    /// [`StartError`]. After an error nothing listens, and no lock file is left behind.
    pub fn start(
        options: impl Into<StartOptions>,
        open: impl FnOnce(TcpListener) -> io::Result<T>,
    ) -> Result<Self, StartError> {
        let StartOptions { mut editor, is_without_folders, bind, pid, lock_dir, guarding } = options.into();
        if editor.folders.is_empty() && !is_without_folders {
            return Err(StartError::NoFolder);
        }
        editor.folders = workspace_folders(&editor.folders).map_err(StartError::LockFile)?;
        // Publishing fills in the token of the server, which may be a fresh one.
        let file = editor.lock_file(pid);
        let mut server =
            Self::bind(bind.clone(), editor, open).map_err(|error| StartError::Bind { bind, error })?;
        // Only now, so that an editor which cannot listen does not create the directory.
        let dir = lock_dir.map_or_else(LockDir::from_environment, Ok).map_err(StartError::LockFile)?;
        let published = match guarding {
            Some(guarding) => server.lock.publish_guarded(&dir, &file, guarding),
            None => server.lock.publish(&dir, &file),
        };
        published.map_err(StartError::LockFile)?;
        Ok(server)
    }
}

/// Why a server did not start.
///
/// [Causes and reactions](ide_mcp::guide::errors#an-adapter-does-not-listen-or-connect).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The editor has no folder, so no agent could find it.
    #[error(
        "the editor has no folder, so no agent finds it: add one with `folder`, or permit this with `without_folders`"
    )]
    NoFolder,
    /// The listener could not be bound.
    #[error("the editor cannot listen on {bind}: {error}{}", remedy(error))]
    Bind {
        /// The address.
        bind: Bind,
        /// The error of the system.
        #[source]
        error: io::Error,
    },
    /// The lock file could not be published.
    #[error("the editor cannot publish its lock file: {0}")]
    LockFile(#[source] Error),
    /// The server cannot wait, because the system did not create its `Poll`, its timer, or the socket that
    /// ends a wait.
    #[error(
        "the server of the editor cannot wait for its sockets: {0}; the process may have too many open files"
    )]
    Poll(#[source] io::Error),
    /// The system did not start the server's thread.
    #[error("the server of the editor cannot start its thread: {0}; the process may have too many threads")]
    Thread(#[source] io::Error),
}

#[allow(clippy::wildcard_enum_match_arm, reason = "the other errors are rare, or say what to do")]
fn remedy(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::AddrInUse => {
            "; end whatever listens there, perhaps an earlier server of this program, or bind another port"
        }
        // Windows also reserves ranges of higher ports, for example for Hyper-V.
        io::ErrorKind::PermissionDenied => "; bind another port, above 1023: the system reserves this one",
        _ => "",
    }
}

/// For a function that returns an [`io::Result`]. An error of the system keeps its kind.
impl From<StartError> for io::Error {
    fn from(error: StartError) -> Self {
        let kind = match &error {
            StartError::NoFolder => io::ErrorKind::InvalidInput,
            StartError::Bind { error, .. } | StartError::Poll(error) | StartError::Thread(error) => {
                error.kind()
            }
            StartError::LockFile(_) => io::ErrorKind::Other,
        };
        Self::new(kind, error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::error::Error as _;

    #[test]
    fn error_has_the_error_of_the_system_as_its_source() {
        let source = |error: StartError| error.source().map(ToString::to_string);
        assert_eq!(source(StartError::Thread(io::Error::other("no memory"))), Some("no memory".into()));
        assert_eq!(source(StartError::NoFolder), None);
    }

    #[test]
    fn port_that_cannot_be_bound_has_a_remedy() {
        use io::ErrorKind::{AddrInUse, InvalidInput, PermissionDenied};
        for (name, kind, remedy) in [
            ("another server has it", AddrInUse, "; end whatever listens there, "),
            ("only root may bind it", PermissionDenied, "; bind another port, above 1023: "),
            ("the error has its own advice", InvalidInput, ""),
        ] {
            let text = StartError::Bind { bind: Bind::Port(80), error: kind.into() }.to_string();
            let (_, behind) = text.split_once(&io::Error::from(kind).to_string()).unwrap();
            assert!(behind.starts_with(remedy) && behind.is_empty() == remedy.is_empty(), "{name}: {text}");
        }
    }
}
