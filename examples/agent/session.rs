//! One attached session over a blocking socket.

use crate::find::Editor;
use getrandom::SysRng;
use ide_mcp::Time;
use ide_mcp::ide::{Client, ClientConfig, ClientEvent, ToolRequest};
use ide_mcp::mcp::{Implementation, Outcome};
use ide_mcp::rpc::{RequestId, SessionId};
use ide_mcp_blocking::Conn;
use std::net::Ipv4Addr;
use std::process;
use std::time::Duration;

/// What went wrong with a session, for a person.
pub(crate) type Failure = String;

#[derive(Debug)]
pub(crate) struct Session {
    conn: Conn<Client<SysRng>>,
}

impl Session {
    /// Attaches: returns once the session is open.
    pub(crate) fn attach(editor: &Editor) -> Result<Self, Failure> {
        let name = Implementation::new("ide-mcp-agent", env!("CARGO_PKG_VERSION"));
        let mut config = ClientConfig::new(name, editor.port, editor.token.clone());
        config.pid = Some(process::id());
        let client = Client::new(config, SysRng, SessionId::new(1), Time::ZERO).map_err(|e| e.to_string())?;
        let conn = Conn::connect((Ipv4Addr::LOCALHOST, editor.port), client).map_err(|error| {
            format!(
                "{:?} does not answer on port {}: {error}; is its lock file stale?",
                editor.name, editor.port
            )
        })?;
        let mut session = Self { conn };
        loop {
            match session.next()? {
                ClientEvent::Ready(_) => return Ok(session),
                ClientEvent::Failed(failure) => return Err(failure.to_string()),
                _ => {}
            }
        }
    }

    /// Waits for the next event; the end of the connection is a failure.
    pub(crate) fn next(&mut self) -> Result<ClientEvent, Failure> {
        match self.conn.next_event() {
            Some(ClientEvent::Closed(closed)) => Err(closed.to_string()),
            Some(event) => Ok(event),
            None => Err("the connection is over".into()),
        }
    }

    /// The same, but not longer than this.
    pub(crate) fn next_within(&mut self, at_most: Duration) -> Result<Option<ClientEvent>, Failure> {
        match self.conn.poll(at_most) {
            Some(ClientEvent::Closed(closed)) => Err(closed.to_string()),
            Some(event) => Ok(Some(event)),
            None if self.conn.is_over() => Err("the connection is over".into()),
            None => Ok(None),
        }
    }

    /// Calls a tool without waiting for its outcome.
    pub(crate) fn call(&mut self, request: &ToolRequest) -> Result<RequestId, Failure> {
        self.client().call(request).map_err(|error| error.to_string())
    }

    /// Calls a tool and waits for its outcome.
    pub(crate) fn ask(&mut self, request: &ToolRequest) -> Result<Outcome, Failure> {
        let asked = self.call(request)?;
        self.outcome_of(asked)
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

    pub(crate) fn client(&mut self) -> &mut Client<SysRng> {
        self.conn.machine_mut()
    }

    /// Leaves with a close frame and waits until it is answered.
    pub(crate) fn detach(mut self) {
        self.client().close();
        while self.conn.next_event().is_some() {}
    }
}
