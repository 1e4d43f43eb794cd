//! The session with an editor over a blocking socket: one connection, or one after another where it is tried again.

use crate::support::find::{self, Asked, Editor, Nothing};
use crate::support::{NotConnected, Progress, Trust, connect_checked};
use getrandom::SysRng;
use ide_mcp::ide::client_env::{HOST_VARIABLE, LOOPBACK, authority};
use ide_mcp::ide::{
    Backoff, Client, ClientConfig, ClientEvent, GaveUp, Reconnect, ToolArguments, display_safe,
};
use ide_mcp::mcp::{self, Implementation, Outcome};
use ide_mcp::rpc::{NotSent, RequestId, SessionId};
use ide_mcp::ws::{Closed, ResponseError};
use ide_mcp::{Clock, Time};
use ide_mcp_blocking::Conn;
use ide_mcp_lockfile::Error;
use serde_json::value::RawValue;
use std::time::Duration;
use std::{io, process, thread};

/// How often a person who waits is told so.
const SECOND: Duration = Duration::from_secs(1);

/// How long a connection may take to come about: as long as with the real client.
const PATIENCE: Duration = Duration::from_secs(30);

/// What went wrong with a session, for a person. What the peer contributed to it is safe to show.
pub(crate) type Failure = String;

/// Which editors are spoken to, at each attempt.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Access {
    /// One whose process does not run here.
    pub(crate) dead_process: bool,
    /// One whose port belongs to another user.
    pub(crate) trust: Trust,
}

/// Why there is no session.
#[derive(Debug)]
pub(crate) enum NotAttached {
    /// There is a lock file, but no editor.
    Nobody(Failure),
    /// There is an editor, but it does not let us in.
    Failed(Failure),
}

impl From<Failure> for NotAttached {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

/// What happened to the session.
#[derive(Debug)]
pub(crate) enum Heard {
    Event(ClientEvent),
    /// The connection ended so, and it is tried again.
    Lost(Failure),
    /// It worked.
    Back,
}

/// ```text
///  attach ──▶ Attached ──lost──▶ Waiting ──due──▶ Trying ──ready──▶ Attached   (Lost, then Back, to the caller)
///                 │ lost, and not to be tried again      │ failed: Waiting, or given up
///                 ▼                                      │ the port belongs to another user
///               Failure                                  ▼
///                                                      Failure
/// ```
/// Trying: the lock file is read, its process looked for, the port connected to, and the owner of the server asked, in this
/// order. Only then is anything sent.
#[derive(Debug)]
pub(crate) struct Session {
    /// As its lock file said before the last attempt.
    editor: Editor,
    access: Access,
    /// `None` while the next attempt is awaited.
    conn: Option<Conn<Client>>,
    /// `None` if a lost connection is the end.
    again: Option<Reconnect>,
    /// Whether whoever listens was told that it is lost, and not yet that it is back.
    is_lost: bool,
    clock: Clock,
    /// How many connections there were.
    count: u64,
}

impl Session {
    /// Attaches: returns once the session is open. With `again` a lost connection is tried again, as the real client does
    /// it; not the first one.
    pub(crate) fn attach(editor: Editor, access: Access, again: bool) -> Result<Self, NotAttached> {
        let clock = Clock::new();
        let again = again.then(|| Reconnect::new(Backoff::default(), clock.now()));
        let mut session = Self { editor, access, conn: None, again: None, is_lost: false, clock, count: 0 };
        let conn = session.connect().map_err(|error| not_attached(&session.editor, error))?;
        session.conn = Some(conn);
        let mut waiting = Waiting::new(format!("attaching to {}", session.name()));
        loop {
            match session.poll(SECOND) {
                Some(ClientEvent::Ready(_)) => break,
                // How the connection ended comes next.
                Some(ClientEvent::Failed(mcp::Failure::Closed)) => {}
                Some(ClientEvent::Failed(failure)) => return Err(safe(&failure).into()),
                Some(ClientEvent::Closed(closed)) => return Err(refused(&session.editor, &closed).into()),
                Some(_) => {}
                None if session.is_over() => return Err(OVER.to_owned().into()),
                None => waiting.show(),
            }
        }
        session.again = again;
        session.begin_anew();
        Ok(session)
    }

    /// Waits for what happens next; the end of the connection is a failure, unless it is tried again.
    pub(crate) fn next(&mut self) -> Result<Heard, Failure> {
        let mut waiting = None;
        loop {
            if let Some(heard) = self.next_within(SECOND)? {
                return Ok(heard);
            }
            if self.conn.is_none() {
                let name = self.name();
                waiting.get_or_insert_with(|| Waiting::new(format!("waiting until {name} is back"))).show();
            }
        }
    }

    /// The same, but not longer than this.
    pub(crate) fn next_within(&mut self, at_most: Duration) -> Result<Option<Heard>, Failure> {
        if self.conn.is_none() {
            return self.try_again(at_most);
        }
        match self.poll(at_most) {
            Some(ClientEvent::Closed(closed)) => self.lost(&closed),
            Some(ClientEvent::Ready(_)) => {
                self.begin_anew();
                Ok(Some(Heard::Back))
            }
            Some(event) => Ok(Some(Heard::Event(event))),
            None if self.is_over() => Err(OVER.into()),
            None => Ok(None),
        }
    }

    /// Whether something can be asked now.
    pub(crate) fn is_ready(&self) -> bool {
        self.conn.as_ref().is_some_and(|conn| conn.machine().is_ready())
    }

    /// Calls a tool without waiting for its outcome.
    pub(crate) fn call(&mut self, arguments: &impl ToolArguments) -> Result<RequestId, NotSent> {
        self.client()?.call(arguments).map(|pending| pending.id())
    }

    /// Waits for the outcome of a request. A person is told what is awaited.
    pub(crate) fn outcome_of(&mut self, asked: RequestId, what: &str) -> Result<Outcome, Failure> {
        let mut waiting = Waiting::new(format!("waiting for {what} of {}", self.name()));
        loop {
            match self.next_within(SECOND)? {
                Some(Heard::Event(ClientEvent::Outcome { request, outcome })) if request == asked => {
                    return Ok(outcome);
                }
                Some(_) => {}
                None => waiting.show(),
            }
        }
    }

    /// Waits for the result of a request.
    pub(crate) fn result_of(&mut self, asked: RequestId, what: &str) -> Result<Box<RawValue>, Failure> {
        match self.outcome_of(asked, what)? {
            Outcome::Closed => Err(format!("the editor ended before it answered ({})", self.end())),
            outcome => Self::answer(outcome),
        }
    }

    /// The result, or why there is none.
    pub(crate) fn answer(outcome: Outcome) -> Result<Box<RawValue>, Failure> {
        match outcome {
            Outcome::Result(result) => Ok(result),
            Outcome::Error(error) => Err(safe(&error)),
            Outcome::TimedOut => Err("the editor did not answer in time".into()),
            Outcome::Closed => Err(OVER.into()),
            _ => Err("the answer of the editor cannot be read".into()),
        }
    }

    /// Waits for the end and says how it came.
    pub(crate) fn end(&mut self) -> Failure {
        loop {
            match self.next() {
                Err(end) | Ok(Heard::Lost(end)) => return end,
                Ok(_) => {}
            }
        }
    }

    /// What asks and says.
    ///
    /// # Errors
    /// [`NotSent::NotReady`] while there is no connection.
    pub(crate) fn client(&mut self) -> Result<&mut Client, NotSent> {
        self.conn.as_mut().map(Conn::machine_mut).ok_or(NotSent::NotReady)
    }

    pub(crate) const fn editor(&self) -> &Editor {
        &self.editor
    }

    /// What a person calls the editor.
    pub(crate) fn name(&self) -> String {
        let Editor { name, port, .. } = &self.editor;
        if name.is_empty() { format!("the editor on port {port}") } else { format!("{name:?}") }
    }

    /// Leaves with a close frame and waits until it is answered; at once where the connection has ended already.
    pub(crate) fn detach(mut self) {
        if let Some(mut conn) = self.conn.take() {
            conn.machine_mut().close();
            while conn.next_event().is_some() {}
        }
    }

    fn poll(&mut self, at_most: Duration) -> Option<ClientEvent> {
        self.conn.as_mut()?.poll(at_most)
    }

    fn is_over(&self) -> bool {
        self.conn.as_ref().is_none_or(Conn::is_over)
    }

    fn begin_anew(&mut self) {
        self.is_lost = false;
        if let Some(again) = &mut self.again {
            again.on_connected();
        }
    }

    /// Connects, and asks whose server it is before the first byte.
    fn connect(&mut self) -> Result<Conn<Client>, NotConnected> {
        self.count = self.count.saturating_add(1);
        let name = Implementation::new("ide-mcp-agent", env!("CARGO_PKG_VERSION"));
        let Editor { host, port, token, .. } = &self.editor;
        let mut config = ClientConfig::new(name, *port, token.clone()).with_host(host, *port);
        config.pid = Some(process::id());
        let client = Client::new(config, SysRng, SessionId::new(self.count), Time::ZERO);
        let client = client.map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
        let stream = connect_checked("agent", host, *port, PATIENCE, self.access.trust)?;
        Ok(Conn::from_stream(stream, client)?)
    }

    /// What to say of it: an attempt that fails is no news.
    fn lost(&mut self, closed: &Closed) -> Result<Option<Heard>, Failure> {
        self.conn = None;
        let now = self.clock.now();
        let Some(again) = &mut self.again else { return Err(safe(closed)) };
        let ended = match again.on_disconnected(now, closed) {
            Err(GaveUp::Refused) => match read_again(&self.editor, self.access) {
                // It was started anew with another token, which the next attempt reads.
                Ok(editor) if editor.token != self.editor.token => {
                    *again = Reconnect::new(Backoff::default(), now);
                    Ok(now)
                }
                Ok(_) => Err(GaveUp::Refused),
                // It has yet to publish that.
                Err(_) => again.on_disconnected(now, &Closed::Abnormal),
            },
            ended => ended,
        };
        match ended {
            Ok(_) if self.is_lost => Ok(None),
            Ok(_) => {
                self.is_lost = true;
                Ok(Some(Heard::Lost(safe(closed))))
            }
            Err(given_up) => Err(format!("{}; {given_up}", safe(closed))),
        }
    }

    fn try_again(&mut self, at_most: Duration) -> Result<Option<Heard>, Failure> {
        let now = self.clock.now();
        let due = self.again.as_ref().and_then(Reconnect::next_attempt).ok_or(OVER)?;
        let wait = due.saturating_since(now).min(at_most);
        if !wait.is_zero() {
            thread::sleep(wait);
        }
        if self.clock.now() < due {
            return Ok(None);
        }
        if let Some(again) = &mut self.again {
            again.on_attempt();
        }
        // The editor can have another token and another process by now, or none: then nobody is spoken to.
        match read_again(&self.editor, self.access) {
            Ok(editor) => self.editor = editor,
            Err(_) => return self.lost(&Closed::Abnormal),
        }
        match self.connect() {
            Ok(conn) => {
                self.conn = Some(conn);
                Ok(None)
            }
            Err(NotConnected::NotOurs(error @ Error::PortNotOurs { .. })) => {
                Err(NotConnected::NotOurs(error).to_string())
            }
            Err(_) => self.lost(&Closed::Abnormal),
        }
    }
}

/// Reads the lock file again.
fn read_again(editor: &Editor, access: Access) -> Result<Editor, Nothing> {
    let lock = Some(editor.lock.clone());
    find::editor(&Asked { lock, dead_process: access.dead_process, ..Asked::default() })
}

/// Tells a person at a terminal what is awaited, and for how long.
#[derive(Debug)]
pub(crate) struct Waiting {
    progress: Progress,
    what: String,
    since: Clock,
}

impl Waiting {
    pub(crate) fn new(what: String) -> Self {
        Self { progress: Progress::new("agent"), what, since: Clock::new() }
    }

    pub(crate) fn show(&mut self) {
        let seconds = self.since.now().saturating_since(Time::ZERO).as_secs();
        self.progress.show(&format!("{} … {seconds} s", self.what));
    }
}

const OVER: &str = "the connection is over";

fn safe(text: &impl ToString) -> Failure {
    display_safe(&text.to_string()).into_owned()
}

fn not_attached(editor: &Editor, error: NotConnected) -> NotAttached {
    match error {
        NotConnected::Io(error) => NotAttached::Nobody(nobody(editor, &error)),
        not_ours => {
            NotAttached::Failed(format!("the agent does not attach: {not_ours}; `ide-mcp doctor` says more"))
        }
    }
}

fn nobody(editor: &Editor, error: &io::Error) -> Failure {
    let (name, lock) = (&editor.name, editor.lock.display());
    let port = match editor.host.as_str() {
        LOOPBACK => format!("port {}", editor.port),
        // A person may have forgotten the variable.
        host => format!("{}, the host of {HOST_VARIABLE}", display_safe(&authority(host, editor.port))),
    };
    let advice = match editor.dead {
        Some(pid) => format!("its process {pid} does not run: start the editor again, or remove {lock}"),
        None => format!("start the editor again, or remove {lock}"),
    };
    format!(
        "no editor found: {name:?} does not answer on {port} ({error}); {advice}; `ide-mcp doctor` says more"
    )
}

fn refused(editor: &Editor, closed: &Closed) -> Failure {
    match closed {
        Closed::NotAccepted(ResponseError::Status(401, _)) => format!(
            "the editor on port {} refuses the token: {} is not the lock file of this editor; start the editor again, \
             so that it writes a new one",
            editor.port,
            editor.lock.display()
        ),
        closed => format!("the editor on port {} lets nobody in: {}", editor.port, safe(closed)),
    }
}
