//! The session with an editor over a blocking socket: one connection, or several in turn if it
//! reconnects.

use crate::agent::forms::Forms;
use crate::support::{Progress, connect_checked, find, not_connected};
use getrandom::SysRng;
use ide_mcp::ide::client_env::{HOST_VARIABLE, LOOPBACK, authority};
use ide_mcp::ide::{
    Backoff, Client, ClientConfig, ClientEvent, GaveUp, Reconnect, ToolArguments, display_safe,
};
use ide_mcp::mcp::{self, Implementation, Outcome, Root};
use ide_mcp::rpc::{NotSent, RequestId, SessionId};
use ide_mcp::ws::{Closed, ResponseError};
use ide_mcp::{Clock, Time};
use ide_mcp_blocking::Conn;
use ide_mcp_driver::{ConnectError, Trust};
use ide_mcp_lockfile::{EditorSearch, Error, FoundEditor};
use serde_json::value::RawValue;
use std::time::Duration;
use std::{io, process, thread};

/// The interval of the progress messages for a person who waits.
const SECOND: Duration = Duration::from_secs(1);

/// The timeout for connecting, the same as in the real client.
const PATIENCE: Duration = Duration::from_secs(30);

/// The interval in which the session looks for a line of the person while a form is open.
const SLICE: Duration = Duration::from_millis(20);

/// The error of a session, for a person. Text from the peer in it is safe to display.
pub(crate) type Failure = String;

/// The editors that the agent may attach to, checked at each attempt.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Access {
    /// True to attach to an editor whose process does not run here.
    pub(crate) dead_process: bool,
    /// Decides about editors whose port belongs to another user.
    pub(crate) trust: Trust,
}

/// The identity of the agent for the editor, beside its name.
#[derive(Debug)]
pub(crate) struct Identity {
    /// The working directory; `None` if it has no path that can be named.
    pub(crate) root: Option<Root>,
    pub(crate) forms: Forms,
}

/// The reason why there is no session.
#[derive(Debug)]
pub(crate) enum NotAttached {
    /// There is a lock file, but no editor.
    Nobody(Failure),
    /// There is an editor, but it does not admit the agent.
    Failed(Failure),
}

impl From<Failure> for NotAttached {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

/// A change of the connection, or an event of the session.
#[derive(Debug)]
pub(crate) enum Heard {
    Event(ClientEvent),
    /// The connection has ended for this reason, and the session reconnects.
    Lost(Failure),
    /// The session has reconnected.
    Back,
}

/// A session that can outlive its connection: it reconnects if that is requested.
///
/// ```text
///  attach ──▶ Attached ──lost──▶ Waiting ──due──▶ Trying ──ready──▶ Attached   (events: Lost, Back)
///                 │ lost, and not to be tried again      │ failed: Waiting, or given up
///                 ▼                                      │ the port belongs to another user
///               Failure                                  ▼
///                                                      Failure
/// ```
/// In `Trying` the session reads the lock file, looks for its process, connects to the port, and
/// checks the owner of the server, in this order. It sends nothing before that.
#[derive(Debug)]
pub(crate) struct Session {
    /// The contents of the lock file at the last attempt.
    editor: FoundEditor,
    access: Access,
    identity: Identity,
    /// `None` while the session waits for the next attempt.
    conn: Option<Conn<Client>>,
    /// `None` if the session ends with the connection.
    again: Option<Reconnect>,
    /// True if the caller has received [`Heard::Lost`] and no [`Heard::Back`] since.
    is_lost: bool,
    clock: Clock,
    /// The number of connection attempts so far.
    count: u64,
}

impl Session {
    /// Attaches: returns when the session is open. With `again` the session reconnects after a lost
    /// connection, as the real client does; it does not repeat a first attempt that fails.
    pub(crate) fn attach(
        editor: FoundEditor,
        access: Access,
        identity: Identity,
        again: bool,
    ) -> Result<Self, NotAttached> {
        let clock = Clock::new();
        let again = again.then(|| Reconnect::new(Backoff::default(), clock.now()));
        let mut session =
            Self { editor, access, identity, conn: None, again: None, is_lost: false, clock, count: 0 };
        let conn = session.connect().map_err(|error| not_attached(&session.editor, error))?;
        session.conn = Some(conn);
        let mut waiting = Waiting::new(format!("attaching to {}", session.name()));
        loop {
            match session.poll(SECOND) {
                Some(ClientEvent::Ready(_)) => break,
                // The next event has the reason of the end.
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

    /// Waits for the next event; the end of the connection is an error, unless the session
    /// reconnects.
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

    /// Waits for the next event like [`next`](Self::next), but no longer than `at_most`.
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

    /// Returns true if the session accepts requests now.
    pub(crate) fn is_ready(&self) -> bool {
        self.conn.as_ref().is_some_and(|conn| conn.machine().is_ready())
    }

    /// Calls a tool without waiting for its outcome.
    pub(crate) fn call(&mut self, arguments: &impl ToolArguments) -> Result<RequestId, NotSent> {
        self.client()?.call(arguments).map(|pending| pending.id())
    }

    /// Waits for the outcome of a request, and shows a person that it waits for `what`.
    pub(crate) fn outcome_of(&mut self, asked: RequestId, what: &str) -> Result<Outcome, Failure> {
        let mut waiting = Waiting::new(format!("waiting for {what} of {}", self.name()));
        loop {
            match self.next_within(SECOND)? {
                Some(Heard::Event(ClientEvent::Outcome { request, outcome })) if request == asked => {
                    return Ok(outcome);
                }
                Some(_) => {}
                // The person reads a form and not the progress.
                None if self.is_asking() => {}
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

    /// Returns the result, or the reason why there is none.
    pub(crate) fn answer(outcome: Outcome) -> Result<Box<RawValue>, Failure> {
        match outcome {
            Outcome::Result(result) => Ok(result),
            Outcome::Error(error) => Err(safe(&error)),
            Outcome::TimedOut => Err("the editor did not answer in time".into()),
            Outcome::Closed => Err(OVER.into()),
            _ => Err("the answer of the editor cannot be read".into()),
        }
    }

    /// Waits for the end of the connection and returns the reason.
    pub(crate) fn end(&mut self) -> Failure {
        loop {
            match self.next() {
                Err(end) | Ok(Heard::Lost(end)) => return end,
                Ok(_) => {}
            }
        }
    }

    /// Returns the client of the connection.
    ///
    /// # Errors
    /// [`NotSent::NotReady`] while there is no connection.
    pub(crate) fn client(&mut self) -> Result<&mut Client, NotSent> {
        self.conn.as_mut().map(Conn::machine_mut).ok_or(NotSent::NotReady)
    }

    pub(crate) const fn editor(&self) -> &FoundEditor {
        &self.editor
    }

    /// Returns the name of the editor for messages.
    pub(crate) fn name(&self) -> String {
        let FoundEditor { name, port, .. } = &self.editor;
        if name.is_empty() { format!("the editor on port {port}") } else { format!("{name:?}") }
    }

    /// Sends a close frame and waits for the close handshake; returns at once if the connection has
    /// ended already.
    pub(crate) fn detach(mut self) {
        if let Forms::Asked(desk) = &self.identity.forms {
            desk.leave();
        }
        if let Some(mut conn) = self.conn.take() {
            conn.machine_mut().close();
            while conn.next_event().is_some() {}
        }
    }

    /// Waits for the next event of the connection. Shows forms, and takes the lines of the person.
    fn poll(&mut self, at_most: Duration) -> Option<ClientEvent> {
        let until = self.clock.now().saturating_add(at_most);
        let name = self.name();
        let conn = self.conn.as_mut()?;
        let Forms::Asked(desk) = &mut self.identity.forms else { return conn.poll(at_most) };
        loop {
            let left = until.saturating_since(self.clock.now());
            let event = conn.poll(if desk.is_asking() { left.min(SLICE) } else { left });
            match event {
                Some(ClientEvent::Form { call, form }) => desk.add(conn.machine_mut(), &name, call, form),
                Some(ClientEvent::CallEnded { call, reason }) => {
                    desk.end(conn.machine_mut(), &name, call, &reason);
                }
                Some(event) => return Some(event),
                None if conn.is_over() || left.is_zero() => return None,
                None => {}
            }
            desk.take_line(conn.machine_mut(), &name);
        }
    }

    const fn is_asking(&self) -> bool {
        matches!(&self.identity.forms, Forms::Asked(desk) if desk.is_asking())
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

    /// Connects, and checks the owner of the server before the first byte.
    fn connect(&mut self) -> Result<Conn<Client>, ConnectError> {
        self.count = self.count.saturating_add(1);
        let name = Implementation::new("ide-mcp-agent", env!("CARGO_PKG_VERSION"));
        let FoundEditor { host, port, token, .. } = &self.editor;
        let mut config = ClientConfig::new(name, *port, token.clone()).with_host(host, *port);
        config.pid = Some(process::id());
        config.mcp.roots = self.identity.root.clone().map(|root| vec![root]);
        config.mcp.elicitation = !matches!(self.identity.forms, Forms::Refused);
        let client = Client::new(config, SysRng, SessionId::new(self.count), Time::ZERO);
        let client = client.map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
        let stream = connect_checked("agent", host, *port, PATIENCE, self.access.trust)?;
        Ok(Conn::from_stream(stream, client)?)
    }

    /// Handles the end of a connection or of an attempt. Returns the event of a lost connection,
    /// and `None` for each failed attempt after it.
    fn lost(&mut self, closed: &Closed) -> Result<Option<Heard>, Failure> {
        self.conn = None;
        let now = self.clock.now();
        let Some(again) = &mut self.again else { return Err(safe(closed)) };
        let ended = match again.on_disconnected(now, closed) {
            Err(GaveUp::Refused) => match read_again(&self.editor, self.access) {
                // The editor was restarted with another token, which the next attempt reads.
                Ok(editor) if editor.token != self.editor.token => {
                    *again = Reconnect::new(Backoff::default(), now);
                    Ok(now)
                }
                Ok(_) => Err(GaveUp::Refused),
                // The restarted editor has not published its new token yet.
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
        // By now the editor can have another token or process, or be gone; then the session does
        // not connect.
        match read_again(&self.editor, self.access) {
            Ok(editor) => self.editor = editor,
            Err(_) => return self.lost(&Closed::Abnormal),
        }
        match self.connect() {
            Ok(conn) => {
                self.conn = Some(conn);
                Ok(None)
            }
            Err(ConnectError::NotTrusted(error @ Error::PortNotOurs { .. })) => {
                Err(not_connected(&ConnectError::NotTrusted(error)))
            }
            Err(_) => self.lost(&Closed::Abnormal),
        }
    }
}

/// Reads the lock file again.
fn read_again(editor: &FoundEditor, access: Access) -> Result<FoundEditor, String> {
    let mut search = EditorSearch::of_lock_file(&editor.lock_file);
    search.permits_dead_process = access.dead_process;
    find::editor(&search)
}

/// Shows a person at a terminal the reason and the duration of a wait.
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

fn not_attached(editor: &FoundEditor, error: ConnectError) -> NotAttached {
    match error {
        ConnectError::Io(error) => NotAttached::Nobody(nobody(editor, &error)),
        not_ours => {
            let why = not_connected(&not_ours);
            NotAttached::Failed(format!("the agent does not attach: {why}; `ide-mcp doctor` says more"))
        }
    }
}

fn nobody(editor: &FoundEditor, error: &io::Error) -> Failure {
    let (name, lock) = (&editor.name, editor.lock_file.display());
    let port = match editor.host.as_str() {
        LOOPBACK => format!("port {}", editor.port),
        // The message names the variable, which the person can have forgotten.
        host => format!("{}, the host of {HOST_VARIABLE}", display_safe(&authority(host, editor.port))),
    };
    let advice = match editor.dead_process {
        Some(pid) => format!("its process {pid} does not run: start the editor again, or remove {lock}"),
        None => format!("start the editor again, or remove {lock}"),
    };
    format!(
        "no editor found: {name:?} does not answer on {port} ({error}); {advice}; `ide-mcp doctor` says more"
    )
}

fn refused(editor: &FoundEditor, closed: &Closed) -> Failure {
    match closed {
        Closed::NotAccepted(ResponseError::Status(401, _)) => format!(
            "the editor on port {} refuses the token: {} is not the lock file of this editor; start the editor again, \
             so that it writes a new one",
            editor.port,
            editor.lock_file.display()
        ),
        closed => format!("the editor on port {} lets nobody in: {}", editor.port, safe(closed)),
    }
}
