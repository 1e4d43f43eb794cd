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

/// The server of an editor, in a task of the application, on any executor.
///
/// [`next_event`](Server::next_event) waits, and returns one event at a time. So the task that awaits it
/// can also `await` the data for an answer, and race the wait against its own channels. A callback could
/// do neither. The output that the application has given to [`machine_mut`](Server::machine_mut) is sent by
/// the next call of `next_event`.
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
    /// [`StartError`]. After an error nothing listens, and no lock file is left.
    pub fn start(editor: impl Into<StartOptions>) -> Result<Self, StartError> {
        let wakes = WakeSet::new();
        let inner = Inner::start(editor, |listener| Sockets::new(listener, wakes.clone()))?;
        Ok(Self { inner, waiting: Waiting::new(wakes) })
    }

    /// Binds the listener, and starts the clock of the server. [`EditorLock::publish`] then publishes a
    /// lock file.
    ///
    /// # Errors
    /// [`InvalidInput`](io::ErrorKind::InvalidInput) if other machines can reach the listener and the
    /// policy requires no token; otherwise the error of binding.
    pub fn bind(bind: Bind, config: ServerConfig) -> io::Result<Self> {
        let wakes = WakeSet::new();
        let inner = Inner::bind(bind, config, |listener| Sockets::new(listener, wakes.clone()))?;
        Ok(Self { inner, waiting: Waiting::new(wakes) })
    }

    /// Returns the machine, which has the connections and their shared state.
    #[must_use]
    pub const fn machine(&self) -> &ide::Server {
        self.inner.machine()
    }

    /// Returns the machine, to answer a call or to report what the person does. Its output is written in
    /// the next turn.
    pub const fn machine_mut(&mut self) -> &mut ide::Server {
        self.inner.machine_mut()
    }

    /// Returns the lock file: its path and its token.
    #[must_use]
    pub const fn lock_file(&self) -> &EditorLock {
        self.inner.lock_file()
    }

    /// Returns the lock file, to publish one or to change its folders. The guard of a new file begins with the
    /// next turn.
    pub const fn lock_file_mut(&mut self) -> &mut EditorLock {
        self.inner.lock_file_mut()
    }

    /// Returns the address of the listener, also after it has closed.
    #[must_use]
    pub const fn local_addr(&self) -> SocketAddr {
        self.inner.local_addr()
    }

    /// Returns true if the server was shut down and nothing is left to do.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.inner.is_over()
    }

    /// Uses `clock`, so that the server and the application share one time.
    #[must_use]
    pub fn with_clock(mut self, clock: Clock) -> Self {
        self.waiting.clock = clock;
        self
    }

    /// Returns the current time, for methods of the server that take a time.
    #[must_use]
    pub fn now(&self) -> Time {
        self.waiting.clock.now()
    }

    /// Returns the waker by which another thread or task ends the wait.
    #[must_use]
    pub fn waker(&self) -> Waker {
        self.waiting.wakes.waker()
    }

    /// Returns a handle by which other threads and tasks use the server. Work that comes while
    /// [`next_event`](Self::next_event) waits runs inside of it.
    pub fn handle(&mut self) -> Handle {
        let waker = self.waiting.wakes.handle_waker();
        self.inner.handle(move || waker.wake_by_ref())
    }

    /// Waits for the next event. Returns `None` if a [`Waker`] was used, or if the server [is
    /// over](Server::is_over) after [`shutdown`](Server::shutdown).
    ///
    /// The future is cancel-safe: it has no state of its own, and dropping it at any time loses nothing.
    /// No byte moves and no timer runs between two calls, so do not wait long before the next call. The
    /// future yields to the other tasks of its executor at the end of every turn, and after 128 events
    /// in a row.
    pub async fn next_event(&mut self) -> Option<ServerEvent> {
        let Self { inner, waiting } = self;
        poll_fn(|context| waiting.poll(context, |now, ready| inner.next(now, ready))).await
    }

    /// Removes the lock file, stops listening, and begins to close every connection cleanly: an open
    /// WebSocket with a close handshake. Continue with [`next_event`](Server::next_event) until the
    /// server [is over](Server::is_over): a few seconds at most.
    pub fn shutdown(&mut self) {
        let now = self.now();
        self.inner.shutdown(now);
    }
}
