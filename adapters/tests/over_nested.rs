//! The cases over a `NestedServer`, in a loop that knows nothing but its descriptor, not even a deadline.

use crate::adapter::{Adapter, Editor};
use crate::over_mio::Mio;
use ide_mcp::ide::discovery::{AuthToken, LockFile};
use ide_mcp::ide::{Server, ServerConfig, ServerEvent};
use ide_mcp::{Machine, Time};
use ide_mcp_lockfile::{Error, LockDir};
use ide_mcp_mio::{Bind, Handle, NestedServer, StartError, StartOptions};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::time::Duration;

pub(crate) struct Nested;

impl Adapter for Nested {
    type Editor = NestedServer;
    type Agent = <Mio as Adapter>::Agent;

    fn connect<M: Machine<Conn = ()>>(
        addr: SocketAddr,
        machine: M,
        on: impl FnMut(&mut M, M::Event),
    ) -> io::Result<Option<ErrorKind>> {
        Mio::connect(addr, machine, on)
    }

    fn accept<M: Machine<Conn = ()>>(
        stream: TcpStream,
        machine: M,
        on: impl FnMut(&mut M, M::Event),
    ) -> Option<ErrorKind> {
        Mio::accept(stream, machine, on)
    }
}

impl Editor for NestedServer {
    fn bind(bind: Bind, config: ServerConfig) -> io::Result<Self> {
        Self::bind(bind, config)
    }

    fn start(editor: StartOptions) -> Result<Self, StartError> {
        Self::start(editor)
    }

    fn publish(&mut self, dir: &LockDir, file: &LockFile) -> Result<(), Error> {
        self.server_mut().lock_file_mut().publish(dir, file)
    }

    fn set_folders(&mut self, folders: &[&str]) -> Result<(), Error> {
        self.server_mut().lock_file_mut().set_folders(folders)
    }

    fn token(&self) -> Option<&AuthToken> {
        self.server().lock_file().token()
    }

    fn handle(&mut self) -> Handle {
        self.handle()
    }

    fn lock_path(&self) -> Option<PathBuf> {
        self.server().lock_file().path().map(std::path::Path::to_owned)
    }

    fn local_addr(&self) -> SocketAddr {
        self.server().local_addr()
    }

    fn machine_mut(&mut self) -> &mut Server {
        self.machine_mut()
    }

    fn now(&self) -> Time {
        self.now()
    }

    fn shutdown(&mut self) {
        self.shutdown();
    }

    fn is_over(&self) -> bool {
        self.is_over()
    }

    fn waker(&mut self) -> impl Fn() + Clone + Send + 'static {
        let handle = self.handle();
        move || while handle.with(|_, _| ()).is_err() {}
    }

    fn step(&mut self, at_most: Duration, on: impl FnMut(&mut Server, ServerEvent)) {
        let mut descriptor = [PollFd::new(self, PollFlags::IN)];
        match poll(&mut descriptor, Some(&Timespec::try_from(at_most).unwrap())) {
            Ok(0) | Err(Errno::INTR) => {}
            polled => {
                polled.unwrap();
                self.dispatch(on).unwrap();
            }
        }
    }
}
