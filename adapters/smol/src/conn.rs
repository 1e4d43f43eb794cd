//! One connection in a task.

use crate::Waker;
use crate::socket::Socket;
use crate::waiting::Waiting;
use async_io::Async;
use ide_mcp::{Clock, Machine, Time};
use ide_mcp_driver::{Conn as Inner, Link, WakeSet, refuse_itself};
use std::future::poll_fn;
use std::io;
use std::net::{SocketAddr, TcpStream};

/// One connection: a machine on a socket of the reactor.
///
/// [`next_event`](Conn::next_event) waits, and sends what you have given to the machine. Call it until
/// [`is_over`](Conn::is_over), or the last bytes may be lost.
///
/// ```no_run
/// use ide_mcp_smol::{Conn, Time, ws};
///
/// # smol::block_on(async {
/// let (stream, _) = std::net::TcpListener::bind("127.0.0.1:0")?.accept()?;
/// let mut conn = Conn::from_stream(stream, ws::Server::new(ws::Limits::default(), Time::ZERO))?;
/// while let Some(event) = conn.next_event().await {
///     match event {
///         ws::OwnedEvent::Upgrade(_) => conn.machine_mut().accept(None).unwrap_or_default(),
///         ws::OwnedEvent::Text(text) => conn.machine_mut().sender().text(&text).unwrap_or_default(),
///         _ => {}
///     }
/// }
/// # Ok::<(), std::io::Error>(())
/// # });
/// ```
#[derive(Debug)]
pub struct Conn<M: Machine> {
    inner: Inner<M, Socket>,
    waiting: Waiting,
}

impl<M: Machine<Conn = ()>> Conn<M> {
    /// Connects, and runs the machine on the connection.
    ///
    /// # Errors
    /// The error of connecting, or of preparing the socket.
    pub async fn connect(addr: SocketAddr, machine: M) -> io::Result<Self> {
        let stream = Async::<TcpStream>::connect(addr).await?;
        refuse_itself(stream.get_ref().local_addr(), stream.get_ref().peer_addr())?;
        Ok(Self::on(stream, machine))
    }

    /// Runs the machine on a connected socket, which becomes non-blocking.
    ///
    /// The clock of the connection starts now. That is right for a machine made at [`Time::ZERO`]; if you
    /// made it with another clock, pass that one to [`with_clock`](Conn::with_clock).
    ///
    /// # Errors
    /// The error of preparing the socket.
    pub fn from_stream(stream: TcpStream, machine: M) -> io::Result<Self> {
        Ok(Self::on(Async::new(stream)?, machine))
    }

    pub(crate) fn on(stream: Async<TcpStream>, machine: M) -> Self {
        let wakes = WakeSet::new();
        let socket = Socket::new(stream, wakes.socket_waker(0));
        Self {
            inner: Inner::new(machine, Link::new(socket).short_reads_drain()),
            waiting: Waiting::new(wakes),
        }
    }

    /// Uses the clock with which the machine was made.
    #[must_use]
    pub const fn with_clock(mut self, clock: Clock) -> Self {
        self.waiting.clock = clock;
        self
    }

    /// Returns the current time, for methods of the machine that take one.
    #[must_use]
    pub fn now(&self) -> Time {
        self.waiting.clock.now()
    }

    /// Returns the machine.
    #[must_use]
    pub const fn machine(&self) -> &M {
        self.inner.machine()
    }

    /// Returns the machine, so that you can send something. The next turn writes it.
    pub const fn machine_mut(&mut self) -> &mut M {
        self.inner.machine_mut()
    }

    /// Returns the error that ended the transport, if there was one.
    #[must_use]
    pub const fn error(&self) -> Option<&io::Error> {
        self.inner.link().error()
    }

    /// Returns true if the last event was delivered and nothing is left to do.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.inner.is_over()
    }

    /// Returns the socket, for its addresses.
    #[must_use]
    pub fn stream(&self) -> &TcpStream {
        self.inner.link().socket().stream()
    }

    /// Returns a waker with which another thread or task can end the wait.
    #[must_use]
    pub fn waker(&self) -> Waker {
        self.waiting.wakes.waker()
    }

    /// Writes the send buffer, as far as the socket has room.
    pub(crate) fn write(&mut self) {
        self.inner.flush(self.now());
    }

    /// Waits for the next event. Returns `None` if a [`Waker`] was used, or if the connection [is
    /// over](Conn::is_over): the last event was delivered, and nothing is left to do.
    ///
    /// The future is cancel-safe: you can drop it at any time without losing anything. It yields to the other
    /// tasks of its executor at the end of every turn, and after 128 events in a row.
    pub async fn next_event(&mut self) -> Option<M::Event> {
        let Self { inner, waiting } = self;
        poll_fn(|context| waiting.poll(context, |now, ready| inner.next(now, ready))).await
    }
}
