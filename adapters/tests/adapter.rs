//! What the cases need from an adapter.

use ide_mcp::ide::discovery::{AuthToken, LockFile};
use ide_mcp::ide::tool::ToolArguments;
use ide_mcp::ide::{Client, ClientEvent, FromResult, Pending, Server, ServerConfig, ServerEvent};
use ide_mcp::rpc::NotSent;
use ide_mcp::{Machine, Time};
use ide_mcp_driver::{AgentError, AgentOptions, Bind, CallError, Handle, StartError, StartOptions};
use ide_mcp_lockfile::{Error, LockDir};
use std::io;
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::time::Duration;

/// One of the adapters.
pub(crate) trait Adapter {
    type Editor: Editor;
    type Agent: Agent + Send + 'static;

    /// Connects, and runs the connection to its end. Returns the error that ended it, if there was one.
    fn connect<M: Machine<Conn = ()>>(
        addr: SocketAddr,
        machine: M,
        on: impl FnMut(&mut M, M::Event),
    ) -> io::Result<Option<io::ErrorKind>>;

    /// Runs an accepted socket to its end, as [`connect`](Self::connect) does.
    fn accept<M: Machine<Conn = ()>>(
        stream: TcpStream,
        machine: M,
        on: impl FnMut(&mut M, M::Event),
    ) -> Option<io::ErrorKind>;
}

/// The server of an adapter, with its loop.
pub(crate) trait Editor: Sized {
    fn bind(bind: Bind, config: ServerConfig) -> io::Result<Self>;
    fn start(editor: StartOptions) -> Result<Self, StartError>;
    fn publish(&mut self, dir: &LockDir, file: &LockFile) -> Result<(), Error>;
    fn set_folders(&mut self, folders: &[&str]) -> Result<(), Error>;
    fn token(&self) -> Option<&AuthToken>;
    fn handle(&mut self) -> Handle;
    fn lock_path(&self) -> Option<PathBuf>;
    fn local_addr(&self) -> SocketAddr;
    fn machine_mut(&mut self) -> &mut Server;
    fn now(&self) -> Time;
    fn shutdown(&mut self);
    fn is_over(&self) -> bool;
    fn waker(&mut self) -> impl Fn() + Clone + Send + 'static;

    /// Waits once, for at most about `at_most`, and passes the events to `on`.
    fn step(&mut self, at_most: Duration, on: impl FnMut(&mut Server, ServerEvent));
}

/// The agent of an adapter, with its wait.
pub(crate) trait Agent: Sized {
    fn attach(options: AgentOptions) -> Result<Self, AgentError>;
    /// Starts an agent, waits this long for an event, and detaches.
    fn start_and_detach(options: AgentOptions, after: Duration);
    fn call_tool<T: ToolArguments>(&mut self, arguments: &T) -> Result<T::Answer, CallError>;
    fn wait_for<T: FromResult>(&mut self, pending: Pending<T>) -> Result<T, CallError>;
    fn client_mut(&mut self) -> Result<&mut Client, NotSent>;
    fn is_over(&self) -> bool;
    fn detach(self);

    /// Waits for the next event. An error ends the agent.
    fn next_event(&mut self) -> Result<ClientEvent, AgentError>;
}

/// Defines the methods of an [`Editor`] that forward to its adapter's server. If the editor is that server,
/// these are all methods but [`step`](Editor::step); if the server is a field, those that need only the
/// server.
macro_rules! as_its_server {
    () => {
        $crate::adapter::as_its_server!(@);

        fn bind(bind: Bind, config: ServerConfig) -> io::Result<Self> {
            Self::bind(bind, config)
        }

        fn start(editor: StartOptions) -> Result<Self, StartError> {
            Self::start(editor)
        }

        fn handle(&mut self) -> Handle {
            self.handle()
        }

        fn now(&self) -> Time {
            self.now()
        }

        fn shutdown(&mut self) {
            self.shutdown();
        }

        fn waker(&mut self) -> impl Fn() + Clone + Send + 'static {
            let waker = Self::waker(self);
            move || waker.wake()
        }
    };
    ($server:ident) => {
        $crate::adapter::as_its_server!(@ .$server);
    };
    (@ $($server:tt)*) => {
        fn publish(&mut self, dir: &LockDir, file: &LockFile) -> Result<(), Error> {
            self $($server)* .lock_file_mut().publish(dir, file)
        }

        fn set_folders(&mut self, folders: &[&str]) -> Result<(), Error> {
            self $($server)* .lock_file_mut().set_folders(folders)
        }

        fn token(&self) -> Option<&AuthToken> {
            self $($server)* .lock_file().token()
        }

        fn lock_path(&self) -> Option<PathBuf> {
            self $($server)* .lock_file().path().map(std::path::Path::to_owned)
        }

        fn local_addr(&self) -> SocketAddr {
            self $($server)* .local_addr()
        }

        fn machine_mut(&mut self) -> &mut ide::Server {
            self $($server)* .machine_mut()
        }

        fn is_over(&self) -> bool {
            self $($server)* .is_over()
        }
    };
}

pub(crate) use as_its_server;
