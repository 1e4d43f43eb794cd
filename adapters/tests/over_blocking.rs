//! The adapter for blocking sockets.

use crate::adapter::{Adapter, Editor, as_its_server};
use ide_mcp::ide::{AuthToken, Host, HostConfig, HostEvent, LockFile};
use ide_mcp::{Machine, Time, Wire};
use ide_mcp_blocking::{Bind, Conn, EditorOptions, Handle, Server, StartError};
use ide_mcp_lockfile::{Error, LockDir};
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::time::Duration;

pub(crate) struct Blocking;

impl Adapter for Blocking {
    type Editor = Server;

    fn connect<M: Wire + Machine>(
        addr: SocketAddr,
        machine: M,
        on: impl FnMut(&mut M, M::Event),
    ) -> io::Result<Option<ErrorKind>> {
        Conn::connect(addr, machine).map(|conn| drive(conn, on))
    }

    fn accept<M: Wire + Machine>(
        stream: TcpStream,
        machine: M,
        on: impl FnMut(&mut M, M::Event),
    ) -> Option<ErrorKind> {
        drive(Conn::from_stream(stream, machine).unwrap(), on)
    }
}

fn drive<M: Wire + Machine>(mut conn: Conn<M>, mut on: impl FnMut(&mut M, M::Event)) -> Option<ErrorKind> {
    while let Some(event) = conn.next_event() {
        on(conn.machine_mut(), event);
    }
    assert!(conn.is_over());
    conn.error().map(io::Error::kind)
}

impl Editor for Server {
    as_its_server!();

    fn step(&mut self, at_most: Duration, mut on: impl FnMut(&mut Host, HostEvent)) {
        if let Some(event) = self.poll(at_most) {
            on(self.host_mut(), event);
        }
    }
}
