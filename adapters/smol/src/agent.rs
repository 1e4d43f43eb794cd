//! An agent in a task.

use crate::Conn;
use async_io::{Async, Timer};
use ide_mcp::ide::tool::ToolArguments;
use ide_mcp::ide::{Client, ClientEvent, FromResult, Pending};
use ide_mcp::mcp::ToolSpec;
use ide_mcp::rpc::NotSent;
use ide_mcp::{Clock, Time};
use ide_mcp_driver::{AgentError, AgentOptions, AgentSession, AgentStep, CallError, address_of};
use std::fmt;
use std::future::{Future, poll_fn};
use std::io;
use std::net::TcpStream;
use std::pin::Pin;
use std::task::Poll;

/// An agent in a task: it finds the editor by its lock file, attaches, and attaches again if it loses the
/// editor.
///
/// Bytes move only while you await one of its methods. If you have nothing to ask, await the [next
/// event](Self::next_event), so that the agent answers the editor's pings. An attempt to connect can block
/// the task: it reads the lock file, and resolves the host if `CLAUDE_CODE_IDE_HOST_OVERRIDE` is a name.
///
/// ```no_run
/// use ide_mcp_smol::ide::kit::display_line;
/// use ide_mcp_smol::ide::tool::GetDiagnostics;
/// use ide_mcp_smol::{Agent, AgentOptions};
///
/// # smol::block_on(async {
/// let mut agent = Agent::attach(AgentOptions::new("my-agent", "1.0")).await?;
/// for tool in agent.list_tools().await? {
///     println!("{}", display_line(&tool.name, 80));
/// }
/// let diagnostics = agent.call_tool(&GetDiagnostics::new(None)).await?;
/// println!("{diagnostics:?}");
/// agent.detach().await;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # });
/// ```
#[derive(Debug)]
pub struct Agent {
    session: AgentSession,
    connecting: Option<Connecting>,
    conn: Option<Conn<Client>>,
    clock: Clock,
}

impl Agent {
    /// Finds the editor, attaches, and waits until the session is ready. Dropping the future drops the
    /// connection.
    ///
    /// # Errors
    /// [`AgentError`]; its message says what to do.
    pub async fn attach(options: AgentOptions) -> Result<Self, AgentError> {
        let mut agent = Self::start(options)?;
        loop {
            if let Some(attached) = agent.session.take_attached() {
                // The editor waits for these bytes, and from now on the agent may be idle.
                if let Some(conn) = &mut agent.conn {
                    conn.write();
                }
                return attached.map(|()| agent);
            }
            agent.advance().await;
        }
    }

    /// Finds the editor, but does not attach yet: the methods that wait do that. Then you get a
    /// [`Ready`](ClientEvent::Ready) event, perhaps after other events of the session. To wait until the
    /// agent is attached, use [`attach`](Self::attach).
    ///
    /// # Errors
    /// [`AgentError::NoEditor`].
    pub fn start(options: AgentOptions) -> Result<Self, AgentError> {
        let session = AgentSession::find(options)?;
        Ok(Self { session, connecting: None, conn: None, clock: Clock::new() })
    }

    /// Returns the tools of the editor. Waits for the answer as [`wait_for`](Self::wait_for) does.
    ///
    /// # Errors
    /// [`CallError`].
    pub async fn list_tools(&mut self) -> Result<Vec<ToolSpec>, CallError> {
        let pending = self.client_mut()?.list_tools()?;
        self.wait_for(pending).await
    }

    /// Calls a tool of the editor and waits for the answer as [`wait_for`](Self::wait_for) does: without a
    /// timeout for a proposal, and at most 60 s for every other tool.
    ///
    /// # Errors
    /// [`CallError`].
    pub async fn call_tool<T: ToolArguments>(&mut self, arguments: &T) -> Result<T::Answer, CallError> {
        let pending = self.client_mut()?.call_tool(arguments)?;
        self.wait_for(pending).await
    }

    /// Waits for the answer to a request that you have made with [`client_mut`](Self::client_mut), unless its
    /// outcome was already delivered as an event. Events that arrive in the meantime wait for
    /// [`next_event`](Self::next_event), in order.
    ///
    /// Dropping the future cancels the request: the next method that you await tells the editor, and no event
    /// reports the outcome. Other requests and events are not affected.
    ///
    /// # Errors
    /// [`CallError`], also if the connection ends before the answer.
    pub async fn wait_for<A: FromResult>(&mut self, pending: Pending<A>) -> Result<A, CallError> {
        self.session.begin_wait(pending.id());
        let wait = Wait { agent: self };
        loop {
            match wait.agent.session.take_outcome()? {
                Some(outcome) => return Ok(pending.answer(outcome)?),
                None => wait.agent.advance().await,
            }
        }
    }

    /// Waits for the next event. After a [`Closed`](ClientEvent::Closed) the agent either attaches again,
    /// which is another [`Ready`](ClientEvent::Ready), or ends.
    ///
    /// The future is cancel-safe: you can drop it at any time without losing an event or an attempt to
    /// connect.
    ///
    /// # Errors
    /// Why the agent has ended, once and after all events. Every later call fails with [`AgentError::Over`].
    pub async fn next_event(&mut self) -> Result<ClientEvent, AgentError> {
        loop {
            if let Some(event) = self.session.next_event()? {
                return Ok(event);
            }
            self.advance().await;
        }
    }

    /// Leaves the editor: sends a close frame, and waits for the close handshake (some seconds at most), so
    /// that the editor receives everything you have sent. An agent that is just dropped sends no close frame.
    pub async fn detach(mut self) {
        if let Some(mut conn) = self.conn.take() {
            conn.machine_mut().close();
            while conn.next_event().await.is_some() {}
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

    /// Takes one step of the session. All state is in the agent, so the future can be dropped at any time.
    async fn advance(&mut self) {
        match self.session.step(self.clock.now()) {
            AgentStep::Connect { host, port } => match address_of(&host, port) {
                Ok(address) => {
                    self.connecting = Some(Connecting(Box::pin(Async::<TcpStream>::connect(address))));
                }
                Err(error) => self.session.on_not_connected(self.now(), error),
            },
            AgentStep::Wait(until) => self.connected_or_at(until).await,
            AgentStep::Move => {
                let Some(conn) = &mut self.conn else { return };
                if let Some(event) = conn.next_event().await {
                    self.session.on_event(self.clock.now(), event);
                }
            }
            AgentStep::Over | _ => {}
        }
        // The step may have ended the attempt, for example because it took too long.
        if !self.session.is_connecting() {
            self.connecting = None;
        }
        if !self.session.has_connection() {
            if let Some(mut conn) = self.conn.take() {
                conn.write();
            }
        }
    }

    /// Waits for the connecting socket, or until this time. The next step ends an attempt that takes too
    /// long.
    async fn connected_or_at(&mut self, until: Time) {
        let mut timer = Timer::after(until.saturating_since(self.now()));
        let connecting = &mut self.connecting;
        let socket = poll_fn(|context| {
            let future = connecting.as_mut().map(|Connecting(future)| future.as_mut());
            match future.map(|future| future.poll(context)) {
                Some(Poll::Ready(socket)) => Poll::Ready(Some(socket)),
                _ => Pin::new(&mut timer).poll(context).map(|_| None),
            }
        })
        .await;
        self.connecting = None;
        match socket {
            Some(Ok(stream)) => self.open(stream),
            Some(Err(error)) => self.session.on_not_connected(self.now(), error),
            None => {}
        }
    }

    /// Checks the server of a connected socket, and begins the session on it.
    fn open(&mut self, stream: Async<TcpStream>) {
        let now = self.now();
        let (local, peer) = (stream.get_ref().local_addr(), stream.get_ref().peer_addr());
        if self.session.on_connected(now, local, peer) {
            let client = self.session.machine(now);
            self.conn = client.map(|client| Conn::on(stream, client).with_clock(self.clock));
        }
    }
}

/// A socket that is connecting.
struct Connecting(Pin<Box<dyn Future<Output = io::Result<Async<TcpStream>>> + Send + Sync>>);

impl fmt::Debug for Connecting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Connecting")
    }
}

/// A wait for an outcome. Dropping it before the outcome has come gives up the wait.
struct Wait<'a> {
    agent: &'a mut Agent,
}

impl Drop for Wait<'_> {
    fn drop(&mut self) {
        self.agent.session.abandon_wait(self.agent.conn.as_mut().map(Conn::machine_mut));
    }
}
