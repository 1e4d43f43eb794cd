//! One attached session over a blocking socket.

use getrandom::SysRng;
use ide_mcp::Time;
use ide_mcp::ide::display_safe;
use ide_mcp::ide::{Client, ClientConfig, ClientEvent, ToolRequest};
use ide_mcp::mcp::{self, Implementation, Outcome};
use ide_mcp::rpc::{RequestId, SendError, SessionId};
use ide_mcp::ws::{Closed, ResponseError};
use ide_mcp_blocking::Conn;
use ide_mcp_examples::find::Editor;
use serde_json::value::RawValue;
use std::net::Ipv4Addr;
use std::process;
use std::time::Duration;

/// What went wrong with a session, for a person. What the peer contributed to it is safe to show.
pub(crate) type Failure = String;

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

#[derive(Debug)]
pub(crate) struct Session {
    conn: Conn<Client<SysRng>>,
}

impl Session {
    /// Attaches: returns once the session is open.
    pub(crate) fn attach(editor: &Editor) -> Result<Self, NotAttached> {
        let name = Implementation::new("ide-mcp-agent", env!("CARGO_PKG_VERSION"));
        let mut config = ClientConfig::new(name, editor.port, editor.token.clone());
        config.pid = Some(process::id());
        let client = Client::new(config, SysRng, SessionId::new(1), Time::ZERO).map_err(|e| e.to_string())?;
        let conn = Conn::connect((Ipv4Addr::LOCALHOST, editor.port), client)
            .map_err(|error| NotAttached::Nobody(nobody(editor, &error)))?;
        let mut session = Self { conn };
        loop {
            match session.event() {
                Some(ClientEvent::Ready(_)) => return Ok(session),
                // How the connection ended comes next.
                Some(ClientEvent::Failed(mcp::Failure::Closed)) => {}
                Some(ClientEvent::Failed(failure)) => return Err(safe(&failure).into()),
                Some(ClientEvent::Closed(closed)) => return Err(refused(editor, &closed).into()),
                Some(_) => {}
                None => return Err(OVER.to_owned().into()),
            }
        }
    }

    /// Waits for the next event; the end of the connection is a failure.
    pub(crate) fn next(&mut self) -> Result<ClientEvent, Failure> {
        match self.event() {
            Some(ClientEvent::Closed(closed)) => Err(safe(&closed)),
            Some(event) => Ok(event),
            None => Err(OVER.into()),
        }
    }

    /// The same, but not longer than this.
    pub(crate) fn next_within(&mut self, at_most: Duration) -> Result<Option<ClientEvent>, Failure> {
        match self.conn.poll(at_most) {
            Some(ClientEvent::Closed(closed)) => Err(safe(&closed)),
            Some(event) => Ok(Some(event)),
            None if self.conn.is_over() => Err(OVER.into()),
            None => Ok(None),
        }
    }

    /// Calls a tool without waiting for its outcome.
    pub(crate) fn call(&mut self, request: &ToolRequest) -> Result<RequestId, SendError> {
        self.client().call(request)
    }

    /// Waits for the outcome of a request.
    pub(crate) fn outcome_of(&mut self, asked: RequestId) -> Result<Outcome, Failure> {
        loop {
            match self.next()? {
                ClientEvent::Outcome { request, outcome } if request == asked => return Ok(outcome),
                _ => {}
            }
        }
    }

    /// Waits for the result of a request.
    pub(crate) fn result_of(&mut self, asked: RequestId) -> Result<Box<RawValue>, Failure> {
        match self.outcome_of(asked)? {
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
            if let Err(end) = self.next() {
                return end;
            }
        }
    }

    pub(crate) fn client(&mut self) -> &mut Client<SysRng> {
        self.conn.machine_mut()
    }

    /// Leaves with a close frame and waits until it is answered; at once where the connection has ended already.
    pub(crate) fn detach(mut self) {
        self.client().close();
        while self.event().is_some() {}
    }

    fn event(&mut self) -> Option<ClientEvent> {
        self.conn.next_event()
    }
}

const OVER: &str = "the connection is over";

fn safe(text: &impl ToString) -> Failure {
    display_safe(&text.to_string()).into_owned()
}

fn nobody(editor: &Editor, error: &std::io::Error) -> Failure {
    let (name, port, lock) = (&editor.name, editor.port, editor.lock.display());
    let advice = match editor.dead {
        Some(pid) => format!("its process {pid} does not run: start the editor again, or remove {lock}"),
        None => format!("start the editor again, or remove {lock}"),
    };
    format!("no editor found: {name:?} does not answer on port {port} ({error}); {advice}")
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
