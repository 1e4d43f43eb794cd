//! An editor without sockets, threads and a disk.

use crate::command::Command;
use crate::config::Config;
use crate::core::{Core, Rest};
use crate::error::{CommandError, ConfigError};
use crate::event::Event;
use crate::typed::TypedCommand;
use ide_mcp::ide::{self, ConnId, LockFile, LockFileEvent, Policy, ServerConfig};
use ide_mcp::{Machine, Time, Wire};
use std::collections::BTreeMap;
use std::process;

/// An editor without sockets, threads and a disk: bytes in, bytes out. The application has a listener on the
/// port of the configuration, and publishes [`lock_file`](Self::lock_file).
///
/// One turn of the application:
///
/// 1. [`connect`](Self::connect) each accepted connection. [`feed`](Self::feed) the bytes of each connection
///    that [wants input](Self::wants_input), and [`feed_eof`](Self::feed_eof) at its end.
/// 2. Call [`tick`](Self::tick).
/// 3. Handle [`next_event`](Self::next_event) until it returns `None`.
/// 4. Call [`next_output`](Self::next_output) until it returns `None`. Write the [`outgoing`](Self::outgoing)
///    bytes of each connection that it returned, and of each connection whose socket had no room the last
///    time, and report them as [`sent`](Self::sent). [`remove`](Self::remove) each connection that
///    [is done](Self::is_done), and each whose socket fails.
/// 5. Wait for a socket until [`deadline`](Self::deadline). A [`command`](Self::command) can come at any time;
///    a turn follows.
///
/// ```
/// use ide_mcp::Time;
/// use ide_mcp_embed::Editor;
///
/// let mut editor = Editor::new(
///     r#"{"name":"My Editor","folders":["/w"],"tools":["openDiff"],"port":4711,"token":"0123456789abcdef"}"#,
/// )?;
/// let now = Time::ZERO;
/// let conn = editor.connect(now);
/// editor.feed(now, conn, b"GET / HTTP/1.1\r\n");
/// editor.tick(now);
/// editor.command(now, 1, r#"{"cmd":"select","path":"/w/a","start":[0,0],"end":[0,5],"text":"hello"}"#)?;
/// let wrong = editor.command(now, 2, r#"{"cmd":"select","path":"/w/a"}"#).unwrap_err();
/// assert_eq!(wrong.to_string(), "select: `start` is missing: it has to be a list of a line and a UTF-16 column, from 0");
/// assert!(editor.next_event().is_none());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Editor {
    host: ide::Server,
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
    /// [`ConfigError`], also without a port or a token, and for members that need a disk (`lock_dir`,
    /// `resume`).
    pub fn new(config: &str) -> Result<Self, ConfigError> {
        let config = Config::read(config)?;
        for (name, is_there) in [("lock_dir", config.lock_dir.is_some()), ("resume", config.resume.is_some())]
        {
            if is_there {
                return Err(ConfigError::new(format!("`{name}` needs an editor that listens itself")));
            }
        }
        let missing = |name| ConfigError::new(format!("`{name}` is missing: nothing listens here"));
        let port = config.port.filter(|port| *port > 0).ok_or_else(|| missing("port"))?;
        let token = config.token.as_ref().ok_or_else(|| missing("token"))?.0.clone();
        let version = config.version.clone().unwrap_or_default();
        let policy = Policy::new(port, token.clone());
        let mut settings = ServerConfig::new(config.name.as_str(), version).policy(policy);
        config.apply(&mut settings);
        let pid = config.pid.unwrap_or_else(process::id);
        Ok(Self {
            host: ide::Server::new(settings),
            core: Core::new(&config),
            conns: BTreeMap::new(),
            lock_file: LockFile::new(pid, config.folders, config.name, token),
            is_stopping: false,
            is_over: false,
        })
    }

    /// Returns the text of the lock file, which the application publishes as `PORT.lock` with the mode 0600,
    /// and publishes again after the command `folders`.
    #[must_use]
    pub fn lock_file(&self) -> String {
        self.lock_file.to_json()
    }

    /// Adds an accepted connection, and returns its number.
    pub fn connect(&mut self, now: Time) -> u64 {
        let conn = self.host.connect(now);
        self.conns.insert(conn.number(), conn);
        conn.number()
    }

    /// Takes bytes of a connection. The bytes of a connection that was removed are dropped.
    pub fn feed(&mut self, now: Time, conn: u64, bytes: &[u8]) {
        if let Some(mut wire) = self.wire(conn) {
            wire.feed(now, bytes);
        }
    }

    /// Takes the end of a connection: its peer sends nothing more.
    pub fn feed_eof(&mut self, now: Time, conn: u64) {
        if let Some(mut wire) = self.wire(conn) {
            wire.feed_eof(now);
        }
    }

    /// Returns true if the connection takes more bytes now.
    #[must_use]
    pub fn wants_input(&self, conn: u64) -> bool {
        self.connection(conn).is_some_and(Wire::wants_input)
    }

    /// Returns the bytes to write to a connection.
    #[must_use]
    pub fn outgoing(&self, conn: u64) -> &[u8] {
        self.connection(conn).map(Wire::outgoing).unwrap_or_default()
    }

    /// Takes note that the first `n` bytes of [`outgoing`](Self::outgoing) were written.
    pub fn sent(&mut self, conn: u64, n: usize) {
        if let Some(mut wire) = self.wire(conn) {
            wire.sent(n);
        }
    }

    /// Returns the next connection that has got output, or has become done, since this method last returned
    /// it.
    pub fn next_output(&mut self) -> Option<u64> {
        self.host.poll_transmit().map(ConnId::number)
    }

    /// Returns true if a connection is to be closed and [removed](Self::remove).
    #[must_use]
    pub fn is_done(&self, conn: u64) -> bool {
        self.connection(conn).is_none_or(Wire::is_done)
    }

    /// Ends a connection whose transport is gone. Its remaining events follow.
    pub fn remove(&mut self, now: Time, conn: u64) {
        if let Some(conn) = self.conns.remove(&conn) {
            self.host.remove(now, conn);
        }
    }

    /// Takes the time.
    pub fn tick(&mut self, now: Time) {
        self.host.tick(now);
    }

    /// Returns the latest time for the next turn: not later than now while there is an event, or a connection
    /// for [`next_output`](Self::next_output).
    #[must_use]
    pub fn deadline(&self) -> Option<Time> {
        if self.core.has_event() || self.is_ending() { Some(Time::ZERO) } else { self.host.deadline() }
    }

    /// Returns the next event.
    pub fn next_event(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.core.next() {
                return Some(event);
            }
            if let Some(event) = self.host.poll_event() {
                self.core.on_event(&mut self.host, event);
            } else if self.is_ending() {
                self.is_over = true;
                self.core.end(&self.host);
            } else {
                return None;
            }
        }
    }

    /// Executes a command. `line` is a number of the application for the command: a `form_answer` and a
    /// `status` have it.
    ///
    /// # Errors
    /// [`CommandError`]. Nothing has changed then, except that a result which cannot be used fails its call.
    pub fn command(&mut self, now: Time, line: u64, command: &str) -> Result<(), CommandError> {
        self.execute(now, line, TypedCommand(Command::read(command)?))
    }

    /// Executes a command without JSON, as [`command`](Self::command) does.
    ///
    /// # Errors
    /// [`CommandError`]. Nothing has changed then, except that a result which cannot be used fails its call.
    pub fn execute(&mut self, now: Time, line: u64, command: TypedCommand) -> Result<(), CommandError> {
        if self.is_stopping {
            return Err(CommandError::refused("the editor ends"));
        }
        match self.core.execute(&mut self.host, now, line, command.0)? {
            Rest::Nothing => {}
            Rest::Folders(folders) => {
                self.core.set_folders(&folders);
                self.lock_file.workspace_folders = folders;
            }
            Rest::Quit => self.shutdown(now, "quit"),
        }
        Ok(())
    }

    /// Executes a command as [`command`](Self::command) does. An error becomes the event `error`, unless the
    /// event `over` came before.
    pub fn command_line(&mut self, now: Time, line: u64, command: &[u8]) {
        let done = std::str::from_utf8(command)
            .map_err(|_| CommandError::invalid("the line is not UTF-8"))
            .and_then(|command| self.command(now, line, command));
        if let (Err(error), false) = (done, self.is_over) {
            self.core.put(Event::Error { line: Some(line), message: error.to_string() });
        }
    }

    /// Leaves events out from now on, or takes them again. While events are left out, each call is answered
    /// with a failure at once, so that agents do not wait for an editor that does not read. Later, and at the
    /// latest before `over`, the events `gap` and `status` report what is missing.
    pub fn set_taking_events(&mut self, is_taking: bool) {
        self.core.set_taking(&self.host, is_taking);
    }

    /// Takes a report of the guard of the lock file, which becomes the event `lock_file`.
    pub fn on_lock_file(&mut self, event: LockFileEvent) {
        self.host.on_lock_file(event);
    }

    /// Closes every connection in good order. The event `over` follows once all are removed.
    pub fn shutdown(&mut self, now: Time, reason: &str) {
        if !self.is_stopping {
            self.is_stopping = true;
            self.core.put(Event::Stopping { reason: reason.into() });
            self.host.shutdown(now);
        }
    }

    /// Returns true after the event `over`.
    #[must_use]
    pub const fn is_over(&self) -> bool {
        self.is_over
    }

    /// Returns true if the event `over` is next.
    fn is_ending(&self) -> bool {
        self.is_stopping && !self.is_over && self.conns.is_empty()
    }

    fn wire(&mut self, conn: u64) -> Option<ide::ServerWire<'_>> {
        self.host.wire(*self.conns.get(&conn)?)
    }

    fn connection(&self, conn: u64) -> Option<&ide::Connection> {
        let conn = self.conns.get(&conn)?;
        self.host.connections().find(|(id, _)| id == conn).map(|(_, server)| server)
    }
}
