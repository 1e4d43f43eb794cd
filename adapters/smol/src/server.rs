//! The server of an editor, in a task.

use crate::Waker;
use crate::sockets::Sockets;
use crate::waiting::Waiting;
use ide_mcp::ide::{HostConfig, HostEvent};
use ide_mcp::{Clock, Time};
use ide_mcp_driver::WakeSet;
use ide_mcp_driver::{Bind, Server as Inner};
use std::future::poll_fn;
use std::io;

/// The server of an editor, in a task of the application, on any executor.
///
/// [`next_event`](Server::next_event) waits, and returns one event at a time. So the task that awaits it
/// can also `await` the data for an answer, and race the wait against its own channels. A callback could
/// do neither. The output that the application has given to [`host_mut`](Server::host_mut) is sent by
/// the next call of `next_event`.
///
/// ```no_run
/// use ide_mcp_smol::ide::{HostConfig, HostEvent, LockFile, Policy, ServerConfig, ServerEvent, ToolSet};
/// use ide_mcp_smol::mcp::Implementation;
/// use ide_mcp_smol::lockfile::{LockDir, new_token, workspace_folders};
/// use ide_mcp_smol::{Bind, Server};
/// use std::sync::mpsc;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let token = new_token()?;
/// let policy = Policy::new(0, token.clone());
/// let config = HostConfig::new(ServerConfig::new(Implementation::new("editor", "1"), policy, ToolSet::new()));
///
/// let mut server = Server::bind(Bind::AnyPort, config)?;
/// let file = LockFile::new(std::process::id(), workspace_folders(["."])?, "Editor", token);
/// server.publish(&LockDir::from_environment()?, &file)?;
///
/// // Other threads put something into the queue first, and wake second.
/// let (sender, queue) = mpsc::channel();
/// let waker = server.waker();
/// std::thread::spawn(move || {
///     let _ = sender.send("quit");
///     waker.wake();
/// });
///
/// async_io::block_on(async {
///     while !server.is_over() {
///         if let Some(HostEvent::Agent { event: ServerEvent::Call(call), .. }) = server.next_event().await {
///             let _ = server.host_mut().call(call).fail(-32601, "not yet");
///         }
///         for _quit in queue.try_iter() {
///             server.shutdown();
///         }
///     }
/// });
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Server {
    inner: Inner<Sockets>,
    waiting: Waiting,
}

impl Server {
    /// Binds the listener, and starts the clock of the server.
    ///
    /// Sets the port of the configured policy to the port of the listener.
    ///
    /// # Errors
    /// [`InvalidInput`](io::ErrorKind::InvalidInput) if other machines can reach the listener and the
    /// policy requires no token; otherwise the error of binding.
    pub fn bind(bind: Bind, config: HostConfig) -> io::Result<Self> {
        let wakes = WakeSet::new();
        let inner = Inner::bind(bind, config, |listener| Sockets::new(listener, wakes.clone()))?;
        Ok(Self { inner, waiting: Waiting::new(wakes) })
    }

    ide_mcp_driver::delegate_server!();

    /// Uses `clock`, so that the server and the application share one time.
    #[must_use]
    pub fn with_clock(mut self, clock: Clock) -> Self {
        self.waiting.clock = clock;
        self
    }

    /// Returns the current time, for methods of the host that take a time.
    #[must_use]
    pub fn now(&self) -> Time {
        self.waiting.clock.now()
    }

    /// Returns the waker by which another thread or task ends the wait.
    #[must_use]
    pub fn waker(&self) -> Waker {
        self.waiting.wakes.waker()
    }

    /// Waits for the next event. Returns `None` if a [`Waker`] was used, or if the server [is
    /// over](Server::is_over) after [`shutdown`](Server::shutdown).
    ///
    /// The future is cancel-safe: it has no state of its own, and dropping it at any time loses nothing.
    /// No byte moves and no timer runs between two calls, so do not wait long before the next call. The
    /// future yields to the other tasks of its executor at the end of every turn, and after 128 events
    /// in a row.
    pub async fn next_event(&mut self) -> Option<HostEvent> {
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
