//! An agent in a `Poll`.

use crate::Conn;
use crate::conn::{connected, prepare};
use ide_mcp::Time;
use ide_mcp::ide::{Client, ClientEvent};
use ide_mcp::rpc::NotSent;
use ide_mcp_driver::{AgentError, AgentOptions, AgentSession, AgentStep, address_of};
use mio::event::Event;
use mio::net::TcpStream;
use mio::{Registry, Token};
use std::io;
use std::net::SocketAddr;

/// An agent in your `Poll`: it finds the editor by its lock file, attaches, and attaches again if it loses
/// the editor. Its socket always has the same token.
///
/// After every wait, pass each event to [`handle_event`](Self::handle_event), then call
/// [`next_event`](Self::next_event) until it returns `None`. Wait until [`deadline`](Self::deadline) at the
/// latest, and continue until [`is_over`](Self::is_over). No method waits for a socket. But an attempt to
/// connect can block: it resolves the host if `CLAUDE_CODE_IDE_HOST_OVERRIDE` is a name, and every attempt
/// but the first reads the lock file.
///
/// ```no_run
/// use ide_mcp_mio::mio::{Events, Poll, Token};
/// use ide_mcp_mio::ide::tool::GetDiagnostics;
/// use ide_mcp_mio::{Agent, AgentOptions, Clock, ide::ClientEvent};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let (mut poll, mut events, clock) = (Poll::new()?, Events::with_capacity(8), Clock::new());
/// let mut agent = Agent::start(AgentOptions::new("my-agent", "1.0"), poll.registry(), Token(0))?;
/// let mut pending = None;
/// while !agent.is_over() {
///     poll.poll(&mut events, clock.until(agent.deadline(clock.now())))?;
///     for event in &events {
///         agent.handle_event(event);
///     }
///     while let Some(event) = agent.next_event(clock.now())? {
///         match event {
///             ClientEvent::Ready(_) => pending = Some(agent.client_mut()?.call_tool(&GetDiagnostics::new(None))?),
///             ClientEvent::Outcome { outcome, .. } => {
///                 let Some(pending) = pending.take() else { continue };
///                 println!("{:?}", pending.answer(outcome)?);
///                 agent.detach();
///             }
///             _ => {}
///         }
///     }
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Agent {
    session: AgentSession,
    /// The socket that is connecting. Its machine is made once it has connected, so that connecting does not
    /// use up the time of the opening handshake.
    connecting: Option<TcpStream>,
    conn: Option<Conn<Client>>,
    registry: Registry,
    token: Token,
    /// True if the `Poll` has reported the connecting socket, and we have not looked at it yet.
    is_reported: bool,
}

impl Agent {
    /// Finds the editor, but does not attach yet: your calls of [`next_event`](Self::next_event) do that.
    /// Then you get a [`Ready`](ClientEvent::Ready) event, perhaps after other events of the session.
    ///
    /// # Errors
    /// [`AgentError::NoEditor`], and [`AgentError::Io`] if the registry cannot be cloned.
    pub fn start(options: AgentOptions, registry: &Registry, token: Token) -> Result<Self, AgentError> {
        let registry = registry.try_clone().map_err(AgentError::Io)?;
        let session = AgentSession::find(options)?;
        Ok(Self { session, connecting: None, conn: None, registry, token, is_reported: false })
    }

    /// Takes an event of the `Poll`. Returns true if it was for this agent.
    pub fn handle_event(&mut self, event: &Event) -> bool {
        let is_ours = event.token() == self.token;
        self.is_reported |= is_ours && self.connecting.is_some();
        if let Some(conn) = &mut self.conn {
            conn.handle_event(event);
        }
        is_ours
    }

    /// Returns the next event, or `None` if there is none now. The calls until `None` are one turn: it
    /// connects if an attempt is due, and moves at most about 256 KiB in each direction.
    ///
    /// After a [`Closed`](ClientEvent::Closed) the agent either attaches again, which is another
    /// [`Ready`](ClientEvent::Ready), or ends.
    ///
    /// # Errors
    /// Why the agent has ended, once and after all events, unless you have [detached](Self::detach) it. Every
    /// later call fails with [`AgentError::Over`].
    pub fn next_event(&mut self, now: Time) -> Result<Option<ClientEvent>, AgentError> {
        if std::mem::take(&mut self.is_reported) {
            self.check(now);
        }
        loop {
            let event = self.session.next_event()?;
            if event.is_some() {
                return Ok(event);
            }
            match self.session.step(now) {
                AgentStep::Connect { host, port } => self.connect(now, &host, port),
                AgentStep::Move => {
                    let event = self.conn.as_mut().and_then(|conn| conn.next_event(now));
                    let Some(event) = event else { return Ok(None) };
                    self.session.on_event(now, event);
                }
                AgentStep::Wait(_) | AgentStep::Over | _ => {
                    self.drop_unused(now);
                    return self.session.next_event();
                }
            }
            self.drop_unused(now);
        }
    }

    /// Returns when the next turn is due at the latest: `now` while there is work.
    #[must_use]
    pub fn deadline(&self, now: Time) -> Option<Time> {
        if self.is_reported {
            return Some(now);
        }
        let deadline = self.conn.as_ref().and_then(|conn| conn.deadline(now));
        deadline.into_iter().chain(self.session.deadline(now)).min()
    }

    /// Leaves the editor: the next turns send a close frame, wait for the close handshake (some seconds at
    /// most), and return [`Closed`](ClientEvent::Closed). Then the agent [is over](Self::is_over), without an
    /// error. An agent that is just dropped sends no close frame.
    pub fn detach(&mut self) {
        if let Some(conn) = &mut self.conn {
            conn.machine_mut().close();
        }
        self.session.detach();
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

    fn connect(&mut self, now: Time, host: &str, port: u16) {
        match address_of(host, port).and_then(|addr| self.open(addr)) {
            Ok(stream) => self.connecting = Some(stream),
            Err(error) => self.session.on_not_connected(now, error),
        }
    }

    fn open(&self, addr: SocketAddr) -> io::Result<TcpStream> {
        let mut stream = TcpStream::connect(addr)?;
        prepare(&mut stream, &self.registry, self.token)?;
        Ok(stream)
    }

    /// Checks whether the connecting socket has connected.
    fn check(&mut self, now: Time) {
        let Some(stream) = &self.connecting else { return };
        let begins = match connected(stream) {
            None => false,
            Some(Err(error)) => {
                self.session.on_not_connected(now, error);
                false
            }
            Some(peer) => self.session.on_connected(now, stream.local_addr(), peer),
        };
        if begins {
            self.begin(now);
        }
        self.drop_unused(now);
    }

    /// Begins the opening handshake on the socket that has connected.
    fn begin(&mut self, now: Time) {
        let Some(mut stream) = self.connecting.take() else { return };
        let Some(client) = self.session.machine(now) else { return };
        // `Conn` registers the socket again, so that the `Poll` reports its readiness again.
        let registered = self.registry.deregister(&mut stream);
        match registered.and_then(|()| Conn::new(stream, client, &self.registry, self.token)) {
            Ok(conn) => self.conn = Some(conn),
            Err(error) => self.session.on_not_connected(now, error),
        }
    }

    /// Drops the socket of a failed attempt, or of a session that has ended.
    fn drop_unused(&mut self, now: Time) {
        if !self.session.is_connecting() {
            self.connecting = None;
        }
        if !self.session.has_connection() {
            if let Some(mut conn) = self.conn.take() {
                // Write the last frame. No event follows the end.
                let _ = conn.next_event(now);
            }
        }
    }
}
