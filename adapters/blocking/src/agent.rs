//! An agent that waits on its own thread.

use crate::Conn;
use crate::connect::connect_to;
use ide_mcp::ide::tool::ToolArguments;
use ide_mcp::ide::{Client, ClientEvent, FromResult, Pending};
use ide_mcp::mcp::ToolSpec;
use ide_mcp::rpc::NotSent;
use ide_mcp::{Clock, Time};
use ide_mcp_driver::{AgentError, AgentOptions, AgentSession, AgentStep, CallError};
use std::net::TcpStream;
use std::thread;
use std::time::Duration;

/// The maximum length of one wait. After it the agent just waits again.
const LONGEST: Duration = Duration::from_secs(60 * 60);

/// An agent that waits on its own thread: it finds the editor by its lock file, attaches, and [attaches
/// again](AgentOptions::reconnects) if it loses the editor.
///
/// Bytes move only while you wait in one of its methods. If you have nothing to ask, wait for the [next
/// event](Self::next_event), so that the agent answers the editor's pings.
///
/// ```no_run
/// use ide_mcp_blocking::ide::kit::display_line;
/// use ide_mcp_blocking::ide::tool::GetDiagnostics;
/// use ide_mcp_blocking::{Agent, AgentOptions};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut agent = Agent::attach(AgentOptions::new("my-agent", "1.0"))?;
/// for tool in agent.list_tools()? {
///     println!("{}", display_line(&tool.name, 80));
/// }
/// let diagnostics = agent.call_tool(&GetDiagnostics::new(None))?;
/// println!("{diagnostics:?}");
/// agent.detach();
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Agent {
    session: AgentSession,
    conn: Option<Conn<Client>>,
    clock: Clock,
}

impl Agent {
    /// Finds the editor, attaches, and waits until the session is ready.
    ///
    /// # Errors
    /// [`AgentError`]; its message says what to do.
    pub fn attach(options: AgentOptions) -> Result<Self, AgentError> {
        let mut agent = Self::start(options)?;
        loop {
            if let Some(attached) = agent.session.take_attached() {
                // The editor waits for these bytes, and from now on the agent may be idle.
                if let Some(conn) = &mut agent.conn {
                    let _ = conn.flush(Duration::ZERO);
                }
                return attached.map(|()| agent);
            }
            agent.advance(agent.now().saturating_add(LONGEST));
        }
    }

    /// Finds the editor, but does not attach yet: the methods that wait do that. Then you get a
    /// [`Ready`](ClientEvent::Ready) event, perhaps after other events of the session. To wait until the
    /// agent is attached, use [`attach`](Self::attach).
    ///
    /// # Errors
    /// [`AgentError::NoEditor`].
    pub fn start(options: AgentOptions) -> Result<Self, AgentError> {
        Ok(Self { session: AgentSession::find(options)?, conn: None, clock: Clock::new() })
    }

    /// Returns the tools of the editor. Waits for the answer as [`wait_for`](Self::wait_for) does.
    ///
    /// # Errors
    /// [`CallError`].
    pub fn list_tools(&mut self) -> Result<Vec<ToolSpec>, CallError> {
        let pending = self.client_mut()?.list_tools()?;
        self.wait_for(pending)
    }

    /// Calls a tool of the editor and waits for the answer as [`wait_for`](Self::wait_for) does: without a
    /// timeout for a proposal, and at most 60 s for every other tool.
    ///
    /// # Errors
    /// [`CallError`].
    pub fn call_tool<T: ToolArguments>(&mut self, arguments: &T) -> Result<T::Answer, CallError> {
        let pending = self.client_mut()?.call_tool(arguments)?;
        self.wait_for(pending)
    }

    /// Waits for the answer to a request that you have made with [`client_mut`](Self::client_mut), unless its
    /// outcome was already delivered as an event. Events that arrive in the meantime wait for
    /// [`next_event`](Self::next_event), in order.
    ///
    /// # Errors
    /// [`CallError`], also if the connection ends before the answer.
    pub fn wait_for<A: FromResult>(&mut self, pending: Pending<A>) -> Result<A, CallError> {
        self.session.begin_wait(pending.id());
        loop {
            match self.session.take_outcome() {
                Ok(Some(outcome)) => return Ok(pending.answer(outcome)?),
                Ok(None) => self.advance(self.now().saturating_add(LONGEST)),
                Err(error) => {
                    self.session.abandon_wait(self.conn.as_mut().map(Conn::machine_mut));
                    return Err(error);
                }
            }
        }
    }

    /// Waits for the next event. After a [`Closed`](ClientEvent::Closed) the agent either attaches again,
    /// which is another [`Ready`](ClientEvent::Ready), or ends.
    ///
    /// # Errors
    /// Why the agent has ended, once and after all events. Every later call fails with [`AgentError::Over`].
    pub fn next_event(&mut self) -> Result<ClientEvent, AgentError> {
        loop {
            if let Some(event) = self.poll(LONGEST)? {
                return Ok(event);
            }
        }
    }

    /// Waits for the next event, for about `at_most`. Returns `None` if there was no event in time.
    /// Connecting to an editor on another machine may take longer, up to
    /// [`connect_timeout`](AgentOptions::connect_timeout) for each address of its host.
    ///
    /// # Errors
    /// As for [`next_event`](Self::next_event).
    pub fn poll(&mut self, at_most: Duration) -> Result<Option<ClientEvent>, AgentError> {
        let until = self.now().saturating_add(at_most);
        loop {
            let event = self.session.next_event()?;
            if event.is_some() {
                return Ok(event);
            }
            self.advance(until);
            if until <= self.now() {
                return self.session.next_event();
            }
        }
    }

    /// Leaves the editor: sends a close frame, and waits for the close handshake (some seconds at most), so
    /// that the editor receives everything you have sent. An agent that is just dropped sends no close frame.
    pub fn detach(mut self) {
        if let Some(mut conn) = self.conn.take() {
            conn.machine_mut().close();
            while conn.next_event().is_some() {}
        }
    }

    /// Returns the current time, for methods of the machine that take one.
    #[must_use]
    pub fn now(&self) -> Time {
        self.clock.now()
    }

    /// Returns the session: its editor, the editor's answer to the handshake, and whether the agent is
    /// attached.
    #[must_use]
    pub const fn session(&self) -> &AgentSession {
        &self.session
    }

    /// Returns the machine of the connection, for any request, answer or notification. The next turn writes
    /// its output.
    ///
    /// # Errors
    /// [`NotSent::NotReady`] while the agent is not attached.
    pub fn client_mut(&mut self) -> Result<&mut Client, NotSent> {
        let conn = self.conn.as_mut().filter(|_| self.session.is_attached());
        conn.map(Conn::machine_mut).ok_or(NotSent::NotReady)
    }

    /// Returns true if the agent has ended, and its last event and its error were delivered.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.session.is_over()
    }

    /// Takes one step of the session, and waits until `until` at most.
    fn advance(&mut self, until: Time) {
        let now = self.now();
        match self.session.step(now) {
            AgentStep::Connect { host, port } => {
                let timeout = self.session.connect_timeout();
                match connect_to(&host, port, timeout) {
                    Ok(stream) => self.open(stream),
                    Err(error) => self.session.on_not_connected(self.clock.now(), error),
                }
            }
            AgentStep::Move => {
                let event = self.conn.as_mut().and_then(|conn| conn.poll(until.saturating_since(now)));
                if let Some(event) = event {
                    self.session.on_event(self.clock.now(), event);
                }
            }
            AgentStep::Wait(due) => thread::sleep(due.min(until).saturating_since(now)),
            AgentStep::Over | _ => {}
        }
        if !self.session.has_connection() {
            if let Some(mut conn) = self.conn.take() {
                // Writes the last frame.
                let _ = conn.flush(Duration::ZERO);
            }
        }
    }

    /// Checks the server of a connected socket, and begins the session on it.
    fn open(&mut self, stream: TcpStream) {
        let now = self.now();
        if !self.session.on_connected(now, stream.local_addr(), stream.peer_addr()) {
            return;
        }
        let Some(client) = self.session.machine(now) else { return };
        match Conn::from_stream(stream, client) {
            Ok(conn) => self.conn = Some(conn.with_clock(self.clock)),
            Err(error) => self.session.on_not_connected(now, error),
        }
    }
}
