//! The cases over `ide-mcp-blocking`.

use crate::adapter::{self, Adapter, Editor, as_its_server};
use ide_mcp::ide::discovery::{AuthToken, LockFile};
use ide_mcp::ide::tool::ToolArguments;
use ide_mcp::ide::{self, Client, ClientEvent, FromResult, Pending, ServerConfig, ServerEvent};
use ide_mcp::rpc::NotSent;
use ide_mcp::{Machine, Time};
use ide_mcp_blocking::{
    Agent, AgentError, AgentOptions, Bind, CallError, Conn, Handle, Server, StartError, StartOptions,
};
use ide_mcp_lockfile::{Error, LockDir};
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::time::Duration;

pub(crate) struct Blocking;

impl Adapter for Blocking {
    type Editor = Server;
    type Agent = Agent;

    fn connect<M: Machine<Conn = ()>>(
        addr: SocketAddr,
        machine: M,
        on: impl FnMut(&mut M, M::Event),
    ) -> io::Result<Option<ErrorKind>> {
        Conn::connect(addr, machine).map(|conn| drive(conn, on))
    }

    fn accept<M: Machine<Conn = ()>>(
        stream: TcpStream,
        machine: M,
        on: impl FnMut(&mut M, M::Event),
    ) -> Option<ErrorKind> {
        drive(Conn::from_stream(stream, machine).unwrap(), on)
    }
}

fn drive<M: Machine<Conn = ()>>(
    mut conn: Conn<M>,
    mut on: impl FnMut(&mut M, M::Event),
) -> Option<ErrorKind> {
    while let Some(event) = conn.next_event() {
        on(conn.machine_mut(), event);
    }
    assert!(conn.is_over());
    conn.error().map(io::Error::kind)
}

impl Editor for Server {
    as_its_server!();

    fn step(&mut self, at_most: Duration, mut on: impl FnMut(&mut ide::Server, ServerEvent)) {
        if let Some(event) = self.poll(at_most) {
            on(self.machine_mut(), event);
        }
    }
}

impl adapter::Agent for Agent {
    fn attach(options: AgentOptions) -> Result<Self, AgentError> {
        Self::attach(options)
    }

    fn start_and_detach(options: AgentOptions, after: Duration) {
        let mut agent = Self::start(options).unwrap();
        assert!(agent.poll(after).unwrap().is_none());
        agent.detach();
    }

    fn call_tool<T: ToolArguments>(&mut self, arguments: &T) -> Result<T::Answer, CallError> {
        self.call_tool(arguments)
    }

    fn wait_for<T: FromResult>(&mut self, pending: Pending<T>) -> Result<T, CallError> {
        self.wait_for(pending)
    }

    fn client_mut(&mut self) -> Result<&mut Client, NotSent> {
        self.client_mut()
    }

    fn is_over(&self) -> bool {
        self.is_over()
    }

    fn detach(self) {
        self.detach();
    }

    fn next_event(&mut self) -> Result<ClientEvent, AgentError> {
        self.next_event()
    }
}
