//! An editor with its listener and its lock file, behind one descriptor.

use crate::command::Command;
use crate::config::{Config, PROTOCOL};
use crate::core::{Core, Rest, json};
use crate::error::{CommandError, CommandErrorKind, ConfigError};
use crate::event::Event;
use crate::old_text::MAX_HELD;
use crate::typed::TypedCommand;
use ide_mcp_lockfile::{Error as LockFileError, LockDir, launch_env, scan};
use ide_mcp_mio::ide::Auth;
use ide_mcp_mio::ide::discovery::AuthToken;
use ide_mcp_mio::{Bind, Handle, NestedServer, StartError, StartOptions};
use std::collections::BTreeMap;
#[cfg(unix)]
use std::os::fd::{AsFd, BorrowedFd};
#[cfg(windows)]
use std::os::windows::io::{AsSocket, BorrowedSocket};
use std::path::Path;
use std::time::Duration;
use std::{fmt, io};

/// An editor that listens on 127.0.0.1 and publishes its lock file. Wait for its one descriptor, or call it
/// in each frame. It starts no thread, except on Windows one that waits for sockets.
///
/// The descriptor is readable whenever there is work, also after a command: then call
/// [`dispatch`](Self::dispatch), and handle [`next_event`](Self::next_event) until it returns `None`.
/// [`NestedServer`] describes how to watch it.
///
/// ```no_run
/// let mut editor = ide_mcp_embed::ListeningEditor::open(r#"{"name":"My Editor","folders":["/w"],"tools":["openDiff"]}"#)?;
/// while !editor.is_over() {
///     editor.dispatch_within(None)?;
///     while let Some(event) = editor.next_event() {
///         println!("{}", event.to_json());
///     }
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct ListeningEditor {
    server: NestedServer,
    core: Core,
    is_stopping: bool,
    is_over: bool,
    /// True if the old text of a diff was read in this turn.
    has_read: bool,
}

impl ListeningEditor {
    /// Listens, and publishes the lock file. The first event is `listening`.
    ///
    /// # Errors
    /// [`OpenError`]. After an error nothing listens, and no lock file is left behind.
    pub fn open(config: &str) -> Result<Self, OpenError> {
        let config = Config::read(config).map_err(OpenError::Config)?;
        let server = NestedServer::start(options(&config)?).map_err(OpenError::Start)?;
        let mut core = Core::new(&config);
        core.gate.look_at_disk();
        core.put(Event::Listening {
            protocol: PROTOCOL,
            version: env!("CARGO_PKG_VERSION").into(),
            port: server.server().local_addr().port().into(),
            lock: server.server().lock_file().path().map(|path| path.display().to_string()),
            environment: json(&environment(server.server().local_addr().port())),
        });
        let mut editor = Self { server, core, is_stopping: false, is_over: false, has_read: false };
        editor.make_due_for_events();
        Ok(editor)
    }

    /// Takes one turn without waiting.
    ///
    /// # Errors
    /// The error of the system, after which the editor cannot go on.
    pub fn dispatch(&mut self) -> io::Result<()> {
        self.dispatch_within(Some(Duration::ZERO))
    }

    /// Waits for work, but no longer than `at_most`, and takes one turn. Use it in a loop that has nothing
    /// else to wait for.
    ///
    /// # Errors
    /// The error of the system, after which the editor cannot go on.
    pub fn dispatch_within(&mut self, at_most: Option<Duration>) -> io::Result<()> {
        self.has_read = false;
        let core = &mut self.core;
        self.server.dispatch_within(at_most, |server, event| core.on_event(server, event))?;
        if self.server.is_over() && !self.is_over {
            self.is_over = true;
            self.core.end(self.server.server().machine());
        }
        Ok(())
    }

    /// Returns the next event of the turns so far. The old text of a `diff` is read when you ask for the
    /// member `old`.
    pub fn next_event(&mut self) -> Option<Event> {
        self.core.next()
    }

    /// Returns the next event with the old text of a `diff` already read, for an editor that gets events as
    /// JSON. If the text cannot be read, or if the old texts of all open diffs would have more than 8 MiB,
    /// the call fails with the reason, and you get the event after it.
    ///
    /// At most one file is read in a turn. So `None` may also mean that more events wait; the descriptor is
    /// readable then.
    pub fn next_whole_event(&mut self) -> Option<Event> {
        loop {
            if self.has_read && self.core.next_has_file() {
                self.make_due_for_events();
                return None;
            }
            let event = self.core.next()?;
            let Event::Diff { call, old: Some(old), .. } = &event else { return Some(event) };
            self.has_read = true;
            // Before the file is read, all we know of the text is its size.
            let numbers = &mut self.core.numbers;
            let reason = match numbers.hold(*call, old.size(), MAX_HELD).then(|| old.read_for_json()) {
                Some(Ok(length)) if numbers.hold(*call, length, MAX_HELD) => return Some(event),
                Some(Err(reason)) => reason,
                Some(Ok(_)) | None => {
                    format!("the files of the open proposals have more than {} MiB", MAX_HELD >> 20)
                }
            };
            self.core.fail_undelivered(self.server.machine_mut(), *call, &reason);
        }
    }

    /// Runs a command. `line` is a number that you choose; the `form_answer` or `status` of the command has
    /// it.
    ///
    /// # Errors
    /// [`CommandError`]. Nothing has changed then, except that a result which cannot be used fails its call.
    pub fn command(&mut self, line: u64, command: &str) -> Result<(), CommandError> {
        self.execute(line, TypedCommand(Command::read(command)?))
    }

    /// Runs a command without JSON, otherwise like [`command`](Self::command).
    ///
    /// # Errors
    /// [`CommandError`]. Nothing has changed then, except that a result which cannot be used fails its call.
    pub fn execute(&mut self, line: u64, command: TypedCommand) -> Result<(), CommandError> {
        if self.is_stopping {
            return Err(CommandError::refused("the editor is ending"));
        }
        let now = self.server.now();
        match self.core.execute(self.server.machine_mut(), now, line, command.0)? {
            Rest::Nothing => {}
            Rest::Folders(folders) => {
                let set = self.server.server_mut().lock_file_mut().set_folders(&folders);
                set.map_err(|error| CommandError::new(CommandErrorKind::Io, error.to_string()))?;
                self.core.set_folders(&folders);
            }
            Rest::Quit => self.shutdown("quit"),
        }
        Ok(())
    }

    /// Runs a command like [`command`](Self::command), but an error becomes the event `error`; after the
    /// event `over` it is dropped.
    pub fn command_line(&mut self, line: u64, command: &[u8]) {
        let done = std::str::from_utf8(command)
            .map_err(|_| CommandError::invalid("the line is not UTF-8"))
            .and_then(|command| self.command(line, command));
        if let Err(error) = done {
            self.fail(Some(line), error.to_string());
        }
    }

    /// Adds an event `error`; after the event `over` it is dropped.
    pub fn fail(&mut self, line: Option<u64>, message: String) {
        if !self.is_over {
            self.core.put(Event::Error { line, message });
            self.make_due_for_events();
        }
    }

    /// Takes events, or leaves them out. Pass false when the editor does not read, and true when it reads
    /// again. While events are left out, every call fails at once, so that agents do not wait. Afterwards,
    /// and at the latest before `over`, the events `gap` and `status` report what is missing.
    pub fn set_taking_events(&mut self, is_taking: bool) {
        self.core.set_taking(self.server.server().machine(), is_taking);
        if is_taking {
            self.make_due_for_events();
        }
    }

    /// Returns a handle with which other threads can make the descriptor readable.
    pub fn handle(&mut self) -> Handle {
        self.server.handle()
    }

    /// Returns how long you may wait until the next [`dispatch`](Self::dispatch) if you do not watch the
    /// descriptor: zero while there is an event.
    #[must_use]
    pub fn timeout(&mut self) -> Option<Duration> {
        if self.core.has_event() { Some(Duration::ZERO) } else { self.server.timeout() }
    }

    /// Removes the lock file, and closes every connection cleanly. The event `over` follows within a few
    /// seconds.
    pub fn shutdown(&mut self, reason: &str) {
        if !self.is_stopping {
            self.is_stopping = true;
            self.core.put(Event::Stopping { reason: reason.into() });
            self.server.shutdown();
        }
    }

    /// Returns true if the event `over` was returned.
    #[must_use]
    pub const fn is_over(&self) -> bool {
        self.is_over
    }

    /// Makes the descriptor readable if there is an event, because some events come without traffic.
    fn make_due_for_events(&mut self) {
        if self.core.has_event() {
            self.server.server_mut();
        }
    }
}

#[cfg(unix)]
impl AsFd for ListeningEditor {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.server.as_fd()
    }
}

#[cfg(windows)]
impl AsSocket for ListeningEditor {
    fn as_socket(&self) -> BorrowedSocket<'_> {
        self.server.as_socket()
    }
}

/// Why an editor does not listen.
///
/// [Causes and reactions](ide_mcp::guide::errors#an-adapter-does-not-listen-or-connect).
#[derive(Debug)]
#[non_exhaustive]
pub enum OpenError {
    /// The configuration cannot be used.
    Config(ConfigError),
    /// The directory of the lock file cannot be used.
    LockDir(LockFileError),
    /// The listener or the lock file failed.
    Start(StartError),
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Config(error) => error.fmt(f),
            Self::LockDir(error) => error.fmt(f),
            Self::Start(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for OpenError {}

fn options(config: &Config) -> Result<StartOptions, OpenError> {
    let earlier = config.resume.as_deref().and_then(earlier);
    let mut editor = config.describe();
    if let Some((_, token)) = &earlier {
        editor = editor.auth(Auth::Resumed(token.clone()));
    } else if let Some(token) = &config.token {
        editor = editor.auth(Auth::Token(token.0.clone()));
    }
    let mut options = StartOptions::new(editor).without_folders();
    if let Some(pid) = config.pid {
        options = options.pid(pid);
    }
    if let Some(dir) = &config.lock_dir {
        options = options.lock_dir(LockDir::create(dir).map_err(OpenError::LockDir)?);
    }
    Ok(match (earlier, config.port) {
        (Some((port, _)), _) => options.bind(Bind::Resume(port)),
        (None, None | Some(0)) => options,
        (None, Some(port)) => options.bind(Bind::Port(port)),
    })
}

/// Returns the port and the token in the lock file of an earlier run; `None` if the file is gone or has no
/// token.
fn earlier(path: &str) -> Option<(u16, AuthToken)> {
    let path = Path::new(path);
    let found =
        scan(path.parent()?).ok()?.into_iter().find(|found| found.path.file_name() == path.file_name())?;
    Some((found.port?, found.file.ok()?.auth_token?))
}

/// Returns the variables for a terminal that the editor starts.
fn environment(port: u16) -> BTreeMap<String, Option<String>> {
    let env = launch_env(Some(port));
    let mut variables: BTreeMap<_, _> = BTreeMap::new();
    // `collect` would sort first, which is more code than a few insertions.
    variables.extend(env.remove.into_iter().map(|name| (name, None)));
    variables.extend(env.set.into_iter().map(|(name, value)| (name, Some(value))));
    variables
}
