//! The cases over `ide-mcp-mio`.

use crate::adapter::{self, Adapter, Editor, as_its_server};
use crate::plain::PATIENCE;
use ide_mcp::ide::discovery::{AuthToken, LockFile};
use ide_mcp::ide::tool::ToolArguments;
use ide_mcp::ide::{self, Client, FromResult, Pending, ServerConfig, ServerEvent};
use ide_mcp::rpc::NotSent;
use ide_mcp::{Clock, Machine, Time};
use ide_mcp_driver::CallError;
use ide_mcp_lockfile::{Error, LockDir};
use ide_mcp_mio::ide::ClientEvent;
use ide_mcp_mio::{
    Agent, AgentError, AgentOptions, Bind, Conn, Handle, Server, StartError, StartOptions, Waker,
};
use mio::{Events, Poll, Token};
use std::collections::VecDeque;
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::time::Duration;

const WAKER: Token = Token(0);
const BASE: Token = Token(1);

pub(crate) struct Mio;

pub(crate) struct MioEditor {
    pub(crate) poll: Poll,
    pub(crate) events: Events,
    clock: Clock,
    waker: Waker,
    pub(crate) server: Server,
}

impl Adapter for Mio {
    type Editor = MioEditor;
    type Agent = MioAgent;

    fn connect<M: Machine<Conn = ()>>(
        addr: SocketAddr,
        machine: M,
        on: impl FnMut(&mut M, M::Event),
    ) -> io::Result<Option<ErrorKind>> {
        let poll = Poll::new()?;
        let conn = Conn::connect(addr, machine, poll.registry(), BASE)?;
        Ok(drive(poll, conn, on))
    }

    fn accept<M: Machine<Conn = ()>>(
        stream: TcpStream,
        machine: M,
        on: impl FnMut(&mut M, M::Event),
    ) -> Option<ErrorKind> {
        let poll = Poll::new().unwrap();
        stream.set_nonblocking(true).unwrap();
        let stream = mio::net::TcpStream::from_std(stream);
        let conn = Conn::new(stream, machine, poll.registry(), BASE).unwrap();
        drive(poll, conn, on)
    }
}

fn drive<M: Machine<Conn = ()>>(
    mut poll: Poll,
    mut conn: Conn<M>,
    mut on: impl FnMut(&mut M, M::Event),
) -> Option<ErrorKind> {
    let (clock, mut events) = (Clock::new(), Events::with_capacity(8));
    while !conn.is_over() {
        let wait = clock.until(conn.deadline(clock.now()));
        wait_for(&mut poll, &mut events, wait.unwrap_or(PATIENCE));
        for event in &events {
            assert!(conn.handle_event(event));
        }
        // One turn: `next_event` returns its events one by one, and `None` at its end.
        let now = clock.now();
        while let Some(event) = conn.next_event(now) {
            on(conn.machine_mut(), event);
        }
    }
    conn.error().map(io::Error::kind)
}

fn wait_for(poll: &mut Poll, events: &mut Events, wait: Duration) {
    match poll.poll(events, Some(wait)) {
        Err(error) if error.kind() == ErrorKind::Interrupted => {}
        polled => polled.unwrap(),
    }
}

impl Editor for MioEditor {
    as_its_server!(server);

    fn bind(bind: Bind, config: ServerConfig) -> io::Result<Self> {
        let poll = Poll::new()?;
        let waker = Waker::new(poll.registry(), WAKER)?;
        let server = Server::bind(bind, config, poll.registry(), BASE)?;
        Ok(Self { poll, events: Events::with_capacity(64), clock: Clock::new(), waker, server })
    }

    fn start(editor: StartOptions) -> Result<Self, StartError> {
        let poll = Poll::new().unwrap();
        let waker = Waker::new(poll.registry(), WAKER).unwrap();
        let server = Server::start(editor, poll.registry(), BASE)?;
        Ok(Self { poll, events: Events::with_capacity(64), clock: Clock::new(), waker, server })
    }

    fn handle(&mut self) -> Handle {
        self.server.handle(&self.waker)
    }

    fn now(&self) -> Time {
        self.clock.now()
    }

    fn shutdown(&mut self) {
        self.server.shutdown(self.clock.now());
    }

    fn waker(&mut self) -> impl Fn() + Clone + Send + 'static {
        let waker = self.waker.clone();
        move || waker.wake().unwrap()
    }

    fn step(&mut self, at_most: Duration, mut on: impl FnMut(&mut ide::Server, ServerEvent)) {
        let wait = self.clock.until(self.server.deadline(self.clock.now()));
        wait_for(&mut self.poll, &mut self.events, wait.unwrap_or(at_most).min(at_most));
        for event in &self.events {
            assert!(self.server.handle_event(event) || event.token() == WAKER, "{event:?}");
        }
        let now = self.clock.now();
        while let Some(event) = self.server.next_event(now) {
            on(self.server.machine_mut(), event);
        }
    }
}

pub(crate) struct MioAgent {
    poll: Poll,
    events: Events,
    clock: Clock,
    agent: Agent,
    /// The events that arrived while a call waited.
    kept: VecDeque<ClientEvent>,
}

impl MioAgent {
    fn start(options: AgentOptions) -> Result<Self, AgentError> {
        let poll = Poll::new().unwrap();
        let agent = Agent::start(options, poll.registry(), BASE)?;
        Ok(Self { poll, events: Events::with_capacity(8), clock: Clock::new(), agent, kept: VecDeque::new() })
    }

    /// Waits for the agent's next event, and leaves the kept ones.
    fn wait(&mut self) -> Result<ClientEvent, AgentError> {
        loop {
            if let Some(event) = self.agent.next_event(self.clock.now())? {
                return Ok(event);
            }
            self.sleep(PATIENCE);
        }
    }

    /// Waits for the socket or the deadline, for at most `at_most`.
    fn sleep(&mut self, at_most: Duration) {
        let wait = self.clock.until(self.agent.deadline(self.clock.now()));
        wait_for(&mut self.poll, &mut self.events, wait.unwrap_or(at_most).min(at_most));
        for event in &self.events {
            assert!(self.agent.handle_event(event));
        }
    }
}

impl adapter::Agent for MioAgent {
    fn attach(options: AgentOptions) -> Result<Self, AgentError> {
        let mut this = Self::start(options)?;
        loop {
            match this.wait()? {
                ClientEvent::Ready(_) => {
                    // Finish the turn, which writes.
                    while let Some(event) = this.agent.next_event(this.clock.now())? {
                        this.kept.push_back(event);
                    }
                    return Ok(this);
                }
                event => this.kept.push_back(event),
            }
        }
    }

    fn start_and_detach(options: AgentOptions, after: Duration) {
        let mut agent = Self::start(options).unwrap();
        let until = agent.clock.now().saturating_add(after);
        while agent.clock.now() < until {
            assert!(agent.agent.next_event(agent.clock.now()).unwrap().is_none());
            agent.sleep(Duration::from_millis(10));
        }
        adapter::Agent::detach(agent);
    }

    fn call_tool<T: ToolArguments>(&mut self, arguments: &T) -> Result<T::Answer, CallError> {
        let pending = self.agent.client_mut()?.call_tool(arguments)?;
        self.wait_for(pending)
    }

    fn wait_for<T: FromResult>(&mut self, pending: Pending<T>) -> Result<T, CallError> {
        let mut earlier = std::mem::take(&mut self.kept);
        loop {
            match earlier.pop_front().map_or_else(|| self.wait(), Ok).unwrap() {
                ClientEvent::Outcome { request, outcome } if request == pending.id() => {
                    self.kept.append(&mut earlier);
                    return Ok(pending.answer(outcome)?);
                }
                event => self.kept.push_back(event),
            }
        }
    }

    fn client_mut(&mut self) -> Result<&mut Client, NotSent> {
        self.agent.client_mut()
    }

    fn is_over(&self) -> bool {
        self.agent.is_over()
    }

    fn detach(mut self) {
        self.agent.detach();
        while !self.agent.is_over() {
            self.sleep(PATIENCE);
            while self.agent.next_event(self.clock.now()).unwrap().is_some() {}
        }
    }

    fn next_event(&mut self) -> Result<ClientEvent, AgentError> {
        self.kept.pop_front().map_or_else(|| self.wait(), Ok)
    }
}
