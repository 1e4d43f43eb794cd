//! The server of an editor, in a task.

use crate::Waker;
use crate::sockets::Sockets;
use crate::waiting::Waiting;
use ide_mcp::ide::{self, ServerConfig, ServerEvent};
use ide_mcp::{Clock, Time};
use ide_mcp_driver::{Bind, EditorLock, Handle, Server as Inner, StartError, StartOptions, WakeSet};
use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;

/// The server of an editor, in a task, on any executor.
///
/// [`next_event`](Server::next_event) waits, and returns one event at a time. So your task can also `await`
/// the data for an answer, or race the wait against its own channels, which a callback could not do. What you
/// have given to [`machine_mut`](Server::machine_mut) is sent by the next call of `next_event`.
///
/// The [front page](crate) has an example.
#[derive(Debug)]
pub struct Server {
    inner: Inner<Sockets>,
    waiting: Waiting,
}

impl Server {
    /// Starts the server of an editor: binds the listener, publishes the lock file, and starts the clock.
    ///
    /// # Errors
    /// [`StartError`]. After an error nothing listens, and no lock file is left behind.
    pub fn start(editor: impl Into<StartOptions>) -> Result<Self, StartError> {
        let wakes = WakeSet::new();
        let inner = Inner::start(editor, |listener| Sockets::new(listener, wakes.clone()))?;
        Ok(Self { inner, waiting: Waiting::new(wakes) })
    }

    /// Binds the listener and starts the clock of the server. To publish a lock file, call
    /// [`EditorLock::publish`] next.
    ///
    /// # Errors
    /// [`InvalidInput`](io::ErrorKind::InvalidInput) if other machines can reach the listener and the policy
    /// requires no token; otherwise the error of binding.
    pub fn bind(bind: Bind, config: ServerConfig) -> io::Result<Self> {
        let wakes = WakeSet::new();
        let inner = Inner::bind(bind, config, |listener| Sockets::new(listener, wakes.clone()))?;
        Ok(Self { inner, waiting: Waiting::new(wakes) })
    }

    /// Returns the machine, for example to list the agents.
    #[must_use]
    pub const fn machine(&self) -> &ide::Server {
        self.inner.machine()
    }

    /// Returns the machine, so that you can answer a call or report what the person does. The next turn
    /// writes its output.
    pub const fn machine_mut(&mut self) -> &mut ide::Server {
        self.inner.machine_mut()
    }

    /// Returns the lock file: its path and its token.
    #[must_use]
    pub const fn lock_file(&self) -> &EditorLock {
        self.inner.lock_file()
    }

    /// Returns the lock file, so that you can publish one or change its folders. The guard of a new file
    /// starts with the next turn.
    pub const fn lock_file_mut(&mut self) -> &mut EditorLock {
        self.inner.lock_file_mut()
    }

    /// Returns the address of the listener, even after it has closed.
    #[must_use]
    pub const fn local_addr(&self) -> SocketAddr {
        self.inner.local_addr()
    }

    /// Returns true if the server was shut down and nothing is left to do.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.inner.is_over()
    }

    /// Uses `clock`, so that the server and your program share one time.
    #[must_use]
    pub fn with_clock(mut self, clock: Clock) -> Self {
        self.waiting.clock = clock;
        self
    }

    /// Returns the current time, for methods of the server that take one.
    #[must_use]
    pub fn now(&self) -> Time {
        self.waiting.clock.now()
    }

    /// Returns a waker with which another thread or task can end the wait.
    #[must_use]
    pub fn waker(&self) -> Waker {
        self.waiting.wakes.waker()
    }

    /// Returns a handle with which other threads and tasks can use the server. Work that comes while
    /// [`next_event`](Self::next_event) waits runs inside it.
    pub fn handle(&mut self) -> Handle {
        let waker = self.waiting.wakes.handle_waker();
        self.inner.handle(move || waker.wake_by_ref())
    }

    /// Waits for the next event. Returns `None` if a [`Waker`] was used, or if the server [is
    /// over](Server::is_over) after [`shutdown`](Server::shutdown).
    ///
    /// The future is cancel-safe: you can drop it at any time without losing anything. It yields to the other
    /// tasks of its executor at the end of every turn, and after 128 events in a row. No byte moves and no
    /// timer runs between two calls, so do not wait long before the next one.
    pub async fn next_event(&mut self) -> Option<ServerEvent> {
        let Self { inner, waiting } = self;
        poll_fn(|context| waiting.poll(context, |now, ready| inner.next(now, ready))).await
    }

    /// Removes the lock file, stops listening, and begins to close every connection cleanly, an open
    /// WebSocket with a close handshake. Go on calling [`next_event`](Server::next_event) until the server
    /// [is over](Server::is_over), a few seconds at most.
    pub fn shutdown(&mut self) {
        let now = self.now();
        self.inner.shutdown(now);
    }
}
