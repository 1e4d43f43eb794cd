//! An editor without sockets, threads and a disk.

use crate::command::Command;
use crate::config::Config;
use crate::core::{Core, Rest};
use crate::error::{CommandError, ConfigError};
use crate::event::Event;
use crate::typed::TypedCommand;
use ide_mcp::ide::discovery::LockFile;
use ide_mcp::ide::{self, ConnId, LockFileEvent};
use ide_mcp::{Output, Time};
use std::collections::BTreeMap;
use std::process;

/// An editor without sockets, threads or a disk: bytes in, events and bytes out. You bring a listener on the
/// port of the configuration, and publish [`lock_file`](Self::lock_file).
///
/// In each turn, feed what your sockets have, and then [poll](Self::poll) until `Wait`. The loop and its six
/// rules are those of every machine of [`ide_mcp`]: see [`Output`].
///
/// ```
/// use ide_mcp::{Output, Time};
/// use ide_mcp_embed::Editor;
///
/// let mut editor = Editor::new(
///     r#"{"name":"My Editor","folders":["/w"],"tools":["openDiff"],"port":4711,"token":"0123456789abcdef"}"#,
/// )?;
/// let now = Time::ZERO;
/// let conn = editor.connect(now);
/// editor.feed(now, conn, b"GET / HTTP/1.1\r\n\r\n");
/// editor.command(now, 1, r#"{"cmd":"select","path":"/w/a","start":[0,0],"end":[0,5],"text":"hello"}"#)?;
/// let wrong = editor.command(now, 2, r#"{"cmd":"select","path":"/w/a"}"#).unwrap_err();
/// assert_eq!(wrong.to_string(), "select: `start` is missing: it must be a list of a line and a UTF-16 column, from 0");
/// let mut answer = Vec::new();
/// loop {
///     match editor.poll(now) {
///         Output::Event(event) => println!("{}", event.to_json()),
///         Output::Write { conn, bytes } => {
///             answer.extend_from_slice(bytes);
///             let n = bytes.len();
///             editor.written(conn, n);
///         }
///         Output::Close(closed) => assert_eq!(closed, conn),
///         Output::Wait(_) => break,
///     }
/// }
/// assert!(answer.starts_with(b"HTTP/1.1 400 "));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Editor {
    server: ide::Server,
    core: Core,
    conns: BTreeMap<u64, ConnId>,
    lock_file: LockFile,
    is_stopping: bool,
    is_over: bool,
}

impl Editor {
    /// Creates an editor with this configuration.
    ///
    /// # Errors
    /// [`ConfigError`], also if there is no port or token, and for members that need a disk (`lock_dir`,
    /// `resume`).
    pub fn new(config: &str) -> Result<Self, ConfigError> {
        let config = Config::read(config)?;
        for (name, is_there) in [("lock_dir", config.lock_dir.is_some()), ("resume", config.resume.is_some())]
        {
            if is_there {
                return Err(ConfigError::new(format!(
                    "leave `{name}` out: only an editor that listens by itself uses it"
                )));
            }
        }
        let missing = |name| {
            ConfigError::new(format!("`{name}` is missing: an editor with sockets of its own must set it"))
        };
        let port = config.port.filter(|port| *port > 0).ok_or_else(|| missing("port"))?;
        let token = config.token.as_ref().ok_or_else(|| missing("token"))?.0.clone();
        let described = config.describe().listening(port, token);
        let lock_file = described.lock_file(config.pid.unwrap_or_else(process::id));
        Ok(Self {
            server: ide::Server::new(described),
            core: Core::new(&config),
            conns: BTreeMap::new(),
            lock_file,
            is_stopping: false,
            is_over: false,
        })
    }

    /// Returns the contents of the lock file. Publish them as `PORT.lock` with mode 0600, and again after the
    /// command `folders`.
    #[must_use]
    pub fn lock_file(&self) -> String {
        self.lock_file.to_json()
    }

    /// Adds an accepted connection, and returns its number.
    pub fn connect(&mut self, now: Time) -> u64 {
        let conn = self.server.connect(now);
        self.conns.insert(conn.number(), conn);
        conn.number()
    }

    /// Feeds bytes from the socket of a connection. If the connection has ended, they are dropped.
    pub fn feed(&mut self, now: Time, conn: u64, bytes: &[u8]) {
        if let Some(conn) = self.conns.get(&conn) {
            self.server.feed(now, *conn, bytes);
        }
    }

    /// Call this when the peer's stream has ended, or when the last [`Write`](Output::Write) has failed.
    /// After a failed write, or a second end, nothing more is written.
    pub fn feed_eof(&mut self, now: Time, conn: u64) {
        if let Some(conn) = self.conns.get(&conn) {
            self.server.feed_eof(now, *conn);
        }
    }

    /// Returns true if you may read more bytes from the socket of the connection.
    #[must_use]
    pub fn wants_input(&self, conn: u64) -> bool {
        self.conns.get(&conn).is_some_and(|conn| self.server.wants_input(*conn))
    }

    /// Returns true if bytes of the connection wait for room in its socket.
    #[must_use]
    pub fn wants_output(&self, conn: u64) -> bool {
        self.conns.get(&conn).is_some_and(|conn| self.server.wants_output(*conn))
    }

    /// Returns the next thing to do: handle an event, write, close a socket, or wait.
    pub fn poll(&mut self, now: Time) -> Output<'_, Event, u64> {
        let conn = loop {
            if let Some(event) = self.core.next() {
                return Output::Event(event);
            }
            match self.server.poll(now) {
                Output::Event(event) => self.core.on_event(&mut self.server, event),
                Output::Write { conn, .. } => break conn,
                Output::Close(conn) => {
                    self.conns.remove(&conn.number());
                    return Output::Close(conn.number());
                }
                Output::Wait(until) => {
                    if !self.is_ending() {
                        return Output::Wait(until);
                    }
                    self.is_over = true;
                    self.core.end(&self.server);
                }
            }
        };
        Output::Write { conn: conn.number(), bytes: self.server.outgoing(conn) }
    }

    /// Reports how many bytes of the last [`Write`](Output::Write) the socket took; 0 if it would block.
    pub fn written(&mut self, conn: u64, n: usize) {
        if let Some(conn) = self.conns.get(&conn) {
            self.server.written(*conn, n);
        }
    }

    /// Returns when the next pass is due; while there is something to do, a time that has already passed.
    #[must_use]
    pub fn deadline(&self) -> Option<Time> {
        if self.core.has_event() || self.is_ending() { Some(Time::ZERO) } else { self.server.deadline() }
    }

    /// Runs a command. `line` is a number that you choose; the `form_answer` or `status` of the command has
    /// it.
    ///
    /// # Errors
    /// [`CommandError`]. Nothing has changed then, except that a result which cannot be used fails its call.
    pub fn command(&mut self, now: Time, line: u64, command: &str) -> Result<(), CommandError> {
        self.execute(now, line, TypedCommand(Command::read(command)?))
    }

    /// Runs a command without JSON, otherwise like [`command`](Self::command).
    ///
    /// # Errors
    /// [`CommandError`]. Nothing has changed then, except that a result which cannot be used fails its call.
    pub fn execute(&mut self, now: Time, line: u64, command: TypedCommand) -> Result<(), CommandError> {
        if self.is_stopping {
            return Err(CommandError::refused("the editor is ending"));
        }
        match self.core.execute(&mut self.server, now, line, command.0)? {
            Rest::Nothing => {}
            Rest::Folders(folders) => {
                self.core.set_folders(&folders);
                self.lock_file.workspace_folders = folders;
            }
            Rest::Quit => self.shutdown(now, "quit"),
        }
        Ok(())
    }

    /// Runs a command like [`command`](Self::command), but an error becomes the event `error`; after the
    /// event `over` it is dropped.
    pub fn command_line(&mut self, now: Time, line: u64, command: &[u8]) {
        let done = std::str::from_utf8(command)
            .map_err(|_| CommandError::invalid("the line is not UTF-8"))
            .and_then(|command| self.command(now, line, command));
        if let (Err(error), false) = (done, self.is_over) {
            self.core.put(Event::Error { line: Some(line), message: error.to_string() });
        }
    }

    /// Takes events, or leaves them out. Pass false when the editor does not read, and true when it reads
    /// again. While events are left out, every call fails at once, so that agents do not wait. Afterwards,
    /// and at the latest before `over`, the events `gap` and `status` report what is missing.
    pub fn set_taking_events(&mut self, is_taking: bool) {
        self.core.set_taking(&self.server, is_taking);
    }

    /// Takes a report of the lock file's guard, which becomes the event `lock_file`.
    pub fn on_lock_file(&mut self, event: LockFileEvent) {
        self.server.on_lock_file(event);
    }

    /// Closes every connection cleanly. The event `over` follows once all of them have ended.
    pub fn shutdown(&mut self, now: Time, reason: &str) {
        if !self.is_stopping {
            self.is_stopping = true;
            self.core.put(Event::Stopping { reason: reason.into() });
            self.server.shutdown(now);
        }
    }

    /// Returns true if the event `over` was returned.
    #[must_use]
    pub const fn is_over(&self) -> bool {
        self.is_over
    }

    /// Returns true if the event `over` is next.
    fn is_ending(&self) -> bool {
        self.is_stopping && !self.is_over && self.conns.is_empty()
    }
}
