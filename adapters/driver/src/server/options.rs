//! The description of an editor, from which a server starts.

use super::{Bind, Guarding, Server, Transport};
use ide_mcp::ide::{Auth, AuthToken, Dialect, Filter, LockFile, ServerConfig, ToolSet};
use ide_mcp::mcp::Context;
use ide_mcp_lockfile::{Error, LockDir, workspace_folders};
use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::Arc;
use std::{fmt, io, process};

/// The description of an editor: its name, its folders, and its offers to agents. The `Server` of each
/// adapter starts from it.
///
/// The server generates the token, chooses the port, and publishes both in a lock file together with the
/// process id and the folders, so that agents in these folders find the editor. Each of these values has a
/// method here that replaces the default. [`configure`](Self::configure) reaches all other settings.
///
/// ```
/// use ide_mcp_driver::EditorOptions;
/// use ide_mcp::ide::{Filter, Tool};
///
/// let options = EditorOptions::new("My Editor", "1.0")
///     .folder(".")
///     .tools([Tool::OpenDiff])
///     .filter(Filter::secrets())
///     .configure(|config| config.max_clients = 4);
/// ```
#[derive(Clone, Debug)]
#[must_use = "a server starts from the options"]
pub struct EditorOptions {
    config: ServerConfig,
    folders: Vec<PathBuf>,
    is_without_folders: bool,
    bind: Bind,
    pid: u32,
    lock_dir: Option<LockDir>,
    guarding: Option<Guarding>,
}

impl EditorOptions {
    /// Creates the description of an editor with this name and version. Agents show the name to a person.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self {
            config: ServerConfig::new(name, version),
            folders: Vec::new(),
            is_without_folders: false,
            bind: Bind::AnyPort,
            pid: process::id(),
            lock_dir: None,
            guarding: None,
        }
    }

    /// Adds an open folder. An agent finds the editor if the agent's working directory is this folder or
    /// lies in it. [`workspace_folders`] describes the published forms of a folder.
    pub fn folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folders.push(folder.into());
        self
    }

    /// Adds open folders, as [`folder`](Self::folder) does.
    pub fn folders<P: Into<PathBuf>>(mut self, folders: impl IntoIterator<Item = P>) -> Self {
        self.folders.extend(folders.into_iter().map(Into::into));
        self
    }

    /// Permits an editor without a folder. Only agents that know the port find such an editor, as those in
    /// a terminal of the editor do ([`launch_env`](ide_mcp::ide::launch_env::launch_env)).
    pub const fn without_folders(mut self) -> Self {
        self.is_without_folders = true;
        self
    }

    /// Sets the tools that the editor offers. Default none.
    pub fn tools(mut self, tools: impl Into<ToolSet>) -> Self {
        self.config.tools = Arc::new(tools.into());
        self
    }

    /// Sets the prompts and resources that the editor offers. Default none, beside the
    /// [resources of the tools](ServerConfig::tool_resources).
    pub fn context(mut self, context: impl Into<Arc<Context>>) -> Self {
        self.config.mcp.context = context.into();
        self
    }

    /// Sets the instructions for the model, which the real client passes on (measured). Default none.
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.config.mcp.instructions = Some(instructions.into());
        self
    }

    /// Sets the filter of all content that leaves the editor. Default: everything passes.
    pub fn filter(mut self, filter: Filter) -> Self {
        self.config.filter = filter;
        self
    }

    /// Makes each agent wait for the consent of a person ([`ServerConfig::asks_for_consent`]). Default: an agent
    /// with the token is attached at once.
    pub const fn ask_for_consent(mut self) -> Self {
        self.config.asks_for_consent = true;
        self
    }

    /// Sets the dialect, with its rules for clients ([`ServerConfig::for_dialect`]). Default
    /// [`Dialect::VsCode`].
    pub fn dialect(mut self, dialect: Dialect) -> Self {
        self.config = self.config.for_dialect(dialect);
        self
    }

    /// Sets the address of the listener. Default [`Bind::AnyPort`].
    pub fn bind(mut self, bind: Bind) -> Self {
        self.bind = bind;
        self
    }

    /// Sets the token, in place of a generated one. No earlier process may have published it.
    pub fn token(self, token: AuthToken) -> Self {
        self.auth(Auth::Token(token))
    }

    /// Sets the token that the editor had in its last run, mostly with [`Bind::Resume`]. The server admits
    /// only clients of our own user with it, and can replace it by a fresh token
    /// ([`Server::token`]).
    pub fn resumed_token(self, token: AuthToken) -> Self {
        self.auth(Auth::Resumed(token))
    }

    /// Requires no token: every program of this machine but a browser gets in.
    pub fn without_token(self) -> Self {
        self.auth(Auth::Disabled)
    }

    fn auth(mut self, auth: Auth) -> Self {
        self.config.policy.auth = auth;
        self
    }

    /// Sets the process id in the lock file, for an editor that has its server in another process. Default
    /// the id of this process.
    pub const fn pid(mut self, pid: u32) -> Self {
        self.pid = pid;
        self
    }

    /// Sets the directory of the lock file. Default [`LockDir::from_environment`].
    pub fn lock_dir(mut self, dir: LockDir) -> Self {
        self.lock_dir = Some(dir);
        self
    }

    /// Sets the place of the guard of the lock file. Default: the place that suits the adapter.
    pub fn guarding(mut self, guarding: Guarding) -> Self {
        self.guarding = Some(guarding);
        self
    }

    /// Changes any other setting of the editor, such as its limits.
    pub fn configure(mut self, change: impl FnOnce(&mut ServerConfig)) -> Self {
        change(&mut self.config);
        self
    }
}

impl<T: Transport> Server<T> {
    /// Starts the server of an editor: binds the listener as [`bind`](Server::bind) does, and then publishes
    /// the lock file. `open` makes the transport of the listener.
    ///
    /// # Errors
    /// [`StartError`]. After an error nothing listens, and no lock file is left.
    pub fn start(
        options: EditorOptions,
        open: impl FnOnce(TcpListener) -> io::Result<T>,
    ) -> Result<Self, StartError> {
        let EditorOptions { config, folders, is_without_folders, bind, pid, lock_dir, guarding } = options;
        if folders.is_empty() && !is_without_folders {
            return Err(StartError::NoFolder);
        }
        let folders = workspace_folders(folders).map_err(StartError::LockFile)?;
        let name = config.mcp.info.name.clone();
        let mut server =
            Self::bind(bind.clone(), config, open).map_err(|error| StartError::Bind { bind, error })?;
        // Only an editor that listens makes the directory.
        let dir = lock_dir.map_or_else(LockDir::from_environment, Ok).map_err(StartError::LockFile)?;
        let file = LockFile::new(pid, folders, name, None);
        let guarding = guarding.unwrap_or_else(|| server.listener.transport.guarding());
        server.publish_guarded(&dir, &file, guarding).map_err(StartError::LockFile)?;
        Ok(server)
    }
}

/// The reason for which a server did not start.
///
/// [Causes and reactions](ide_mcp::guide::errors#an-adapter-does-not-listen-or-connect).
#[non_exhaustive]
pub enum StartError {
    /// The editor has no folder, so no agent could find it.
    NoFolder,
    /// The listener could not be bound.
    Bind {
        /// The address.
        bind: Bind,
        /// The error of the system.
        error: io::Error,
    },
    /// The lock file could not be published.
    LockFile(Error),
    /// The system gives nothing to wait with: no `Poll`, no timer for it, no socket that ends a wait.
    Poll(io::Error),
    /// The system starts no thread.
    Thread(io::Error),
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoFolder => f.write_str(
                "the editor has no folder, so no agent finds it: add one with `folder`, or permit this with \
                 `without_folders`",
            ),
            Self::Bind { bind, error } => {
                write!(f, "the editor cannot listen on {bind}: {error}")?;
                if error.kind() == io::ErrorKind::AddrInUse {
                    f.write_str(
                        "; end the program or the earlier server of this program that listens there, or bind \
                         another port",
                    )?;
                }
                Ok(())
            }
            Self::LockFile(error) => write!(f, "the editor cannot publish its lock file: {error}"),
            Self::Poll(error) => write!(f, "the server of the editor cannot create its poll: {error}"),
            Self::Thread(error) => write!(f, "the server of the editor cannot start its thread: {error}"),
        }
    }
}

/// Writes the text of [`Display`](fmt::Display): a `main` that returns this error shows it to a person.
impl fmt::Debug for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Converts the error for a function that returns an [`io::Result`]. The kind of an error of the system stays.
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

impl std::error::Error for StartError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::NoFolder => None,
            Self::Bind { error, .. } | Self::Poll(error) | Self::Thread(error) => Some(error),
            Self::LockFile(error) => Some(error),
        }
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
    fn start_error_has_its_text_as_debug() {
        let error = StartError::Poll(io::Error::other("no memory"));
        let text = "the server of the editor cannot create its poll: no memory";
        assert_eq!(format!("{error} {error:?}"), format!("{text} {text}"));
    }
}
