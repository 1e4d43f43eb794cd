//! The cases over `ide-mcp-smol`. Each step of the editor races against a timer; if the timer wins, the wait is
//! dropped.

use crate::adapter::{self, Adapter, Editor, as_its_server};
use ide_mcp::ide::discovery::{AuthToken, LockFile};
use ide_mcp::ide::tool::ToolArguments;
use ide_mcp::ide::{self, Client, ClientEvent, FromResult, Pending, ServerConfig, ServerEvent};
use ide_mcp::rpc::NotSent;
use ide_mcp::{Machine, Time};
use ide_mcp_lockfile::{Error, LockDir};
use ide_mcp_smol::{
    Agent, AgentError, AgentOptions, Bind, CallError, Conn, Handle, Server, StartError, StartOptions,
};
use smol::{Timer, block_on};
use std::future::{Future, poll_fn};
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;

pub(crate) struct Smol;

impl Adapter for Smol {
    type Editor = Server;
    type Agent = Agent;

    fn connect<M: Machine<Conn = ()>>(
        addr: SocketAddr,
        machine: M,
        on: impl FnMut(&mut M, M::Event),
    ) -> io::Result<Option<ErrorKind>> {
        block_on(Conn::connect(addr, machine)).map(|conn| drive(conn, on))
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
    block_on(async {
        while let Some(event) = conn.next_event().await {
            on(conn.machine_mut(), event);
        }
    });
    assert!(conn.is_over());
    conn.error().map(io::Error::kind)
}

impl Editor for Server {
    as_its_server!();

    fn step(&mut self, at_most: Duration, mut on: impl FnMut(&mut ide::Server, ServerEvent)) {
        let event = block_on(async {
            let mut timer = Timer::after(at_most);
            let mut next = pin!(self.next_event());
            poll_fn(|context| match next.as_mut().poll(context) {
                Poll::Pending => Pin::new(&mut timer).poll(context).map(|_| None),
                ready => ready,
            })
            .await
        });
        if let Some(event) = event {
            on(self.machine_mut(), event);
        }
    }
}

impl adapter::Agent for Agent {
    fn attach(options: AgentOptions) -> Result<Self, AgentError> {
        block_on(Self::attach(options))
    }

    fn start_and_detach(options: AgentOptions, after: Duration) {
        let mut agent = Self::start(options).unwrap();
        block_on(async {
            let mut timer = Timer::after(after);
            {
                let mut next = pin!(agent.next_event());
                poll_fn(|context| {
                    assert!(next.as_mut().poll(context).is_pending());
                    Pin::new(&mut timer).poll(context)
                })
                .await;
            }
            agent.detach().await;
        });
    }

    fn call_tool<T: ToolArguments>(&mut self, arguments: &T) -> Result<T::Answer, CallError> {
        block_on(self.call_tool(arguments))
    }

    fn wait_for<T: FromResult>(&mut self, pending: Pending<T>) -> Result<T, CallError> {
        block_on(self.wait_for(pending))
    }

    fn client_mut(&mut self) -> Result<&mut Client, NotSent> {
        self.client_mut()
    }

    fn is_over(&self) -> bool {
        self.is_over()
    }

    fn detach(self) {
        block_on(self.detach());
    }

    fn next_event(&mut self) -> Result<ClientEvent, AgentError> {
        block_on(self.next_event())
    }
}
