//! The server of an editor in its own `Poll`, inside a loop that has none.
//!
//! ```text
//!  the loop of the application            NestedServer
//!  ┌──────────────────────────┐   ┌──────────────────────────────────────┐
//!  │ waits for one descriptor │──▶│ Poll ◀─ sockets, guard of the file   │
//!  │ readable: dispatch       │   │      ◀─ timer: the deadline          │
//!  └──────────────────────────┘   │      ◀─ waker: the work of a Handle  │
//!                                 └──────────────────────────────────────┘
//! ```
//!
//! On Windows a thread waits in the `Poll`. The descriptor there is a socket, the bell, which the thread
//! makes readable when there is work.
//!
//! Invariant: after [`dispatch`](NestedServer::dispatch) and [`machine_mut`](NestedServer::machine_mut), the
//! timer is set to the deadline of the server or to an earlier time. So the descriptor becomes readable
//! whenever the server has work.

mod waiting;

use crate::Server;
use ide_mcp::ide::{self, ServerConfig, ServerEvent};
use ide_mcp::{Clock, Time};
use ide_mcp_driver::{Bind, Handle, StartError, StartOptions};
use std::io;
#[cfg(unix)]
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
#[cfg(windows)]
use std::os::windows::io::{AsRawSocket, AsSocket, BorrowedSocket, RawSocket};
use std::time::Duration;
use waiting::{FREE, Waiting};

/// The server of an editor with its own `Poll`, clock and timer, for two kinds of loops:
///
/// - **One descriptor**: it is readable whenever the server has work: for a socket, for a timer of the
///   protocol, or from a [`Handle`]. Let GLib, libuv, Qt, calloop, `polling` or `poll(2)` wait for it, and
///   call [`dispatch`](Self::dispatch). On Windows it is a socket, for `WSAPoll`, `WSAEventSelect` and the
///   watches of libuv and Qt, with a waiting thread behind it.
/// - **Frames** (every system): in a game or an immediate-mode interface, call `dispatch` once in each frame.
///   Without work, that is one system call.
///
/// Watch the descriptor level-triggered, and call `dispatch` in the callback of the watch. If you defer the
/// call to a later task, the descriptor stays readable and wakes your loop again and again until that task
/// has run; stop watching until then.
///
/// ```no_run
/// use ide_mcp_mio::ide::tool::{Tool, ToolCall};
/// use ide_mcp_mio::ide::{ServerConfig, ServerEvent};
/// use ide_mcp_mio::NestedServer;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut server = NestedServer::start(ServerConfig::new("My Editor", "1.0").folder(".").tools([Tool::OpenDiff]))?;
///
/// let mut open = Vec::new();
/// // The loop of the application calls this when the descriptor is readable, or once in each frame:
/// server.dispatch(|_, event| match event {
///     // Show both texts to the person. The agent waits.
///     ServerEvent::Call { call: ToolCall::OpenDiff(call, diff), .. } => open.push((call, diff)),
///     // The agent has gone, or the person decided in its terminal: close the view.
///     ServerEvent::DiffClosed { call, .. } => open.retain(|(of_view, _)| of_view.id() != call),
///     _ => {}
/// })?;
/// // Once the person has accepted one:
/// if let Some((call, diff)) = open.pop() {
///     // An error means that the call has ended meanwhile. The agent writes the file.
///     let _ = server.machine_mut().answer(call, diff.accept());
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct NestedServer {
    server: Server,
    waiting: Waiting,
    clock: Clock,
}

impl NestedServer {
    /// Starts the server of an editor: binds the listener, and publishes the lock file.
    ///
    /// # Errors
    /// [`StartError`]. After an error nothing listens, and no lock file is left behind.
    pub fn start(editor: impl Into<StartOptions>) -> Result<Self, StartError> {
        let clock = Clock::new();
        let waiting = Waiting::new(clock).map_err(StartError::Poll)?;
        let server = Server::start(editor, waiting.registry(), FREE)?;
        Ok(Self::with(server, waiting, clock))
    }

    /// Binds the listener without a lock file, as [`Server::bind`] does. To publish one, call
    /// [`EditorLock::publish`](crate::EditorLock::publish) next.
    ///
    /// # Errors
    /// The errors of [`Server::bind`].
    pub fn bind(bind: Bind, config: ServerConfig) -> io::Result<Self> {
        let clock = Clock::new();
        let waiting = Waiting::new(clock)?;
        let server = Server::bind(bind, config, waiting.registry(), FREE)?;
        Ok(Self::with(server, waiting, clock))
    }

    fn with(server: Server, waiting: Waiting, clock: Clock) -> Self {
        let mut nested = Self { server, waiting, clock };
        nested.set_timer();
        nested
    }

    /// Takes one turn without waiting: accepts, reads, runs timers, passes every event to `on`, and writes
    /// the output. If the turn leaves work over, the descriptor stays readable.
    ///
    /// # Errors
    /// The error of the `Poll`, after which the server cannot go on.
    pub fn dispatch(&mut self, on: impl FnMut(&mut ide::Server, ServerEvent)) -> io::Result<()> {
        self.dispatch_within(Some(Duration::ZERO), on)
    }

    /// Waits for work, but no longer than `at_most`, and then takes one turn as [`dispatch`](Self::dispatch)
    /// does. Use it on a thread that waits for nothing else. The work of a [`Handle`] ends the wait.
    ///
    /// # Errors
    /// The error of the `Poll`, after which the server cannot go on.
    pub fn dispatch_within(
        &mut self,
        at_most: Option<Duration>,
        on: impl FnMut(&mut ide::Server, ServerEvent),
    ) -> io::Result<()> {
        // The timeout bounds the wait where a `Poll` cannot have a timer.
        let wait = [at_most, self.timeout()].into_iter().flatten().min();
        let server = &mut self.server;
        self.waiting.wait(wait, |event| {
            server.handle_event(event);
        })?;
        server.turn(self.clock.now(), on);
        self.set_timer();
        Ok(())
    }

    /// Returns the server, for its lock file and its port.
    #[must_use]
    pub const fn server(&self) -> &Server {
        &self.server
    }

    /// Returns the server, so that you can change its lock file or use its machine. The descriptor becomes
    /// readable, so that the next [`dispatch`](Self::dispatch) writes the output.
    pub fn server_mut(&mut self) -> &mut Server {
        let now = self.clock.now();
        self.waiting.set(now, Some(now));
        &mut self.server
    }

    /// Returns the machine, so that you can answer a call or report what the person does. The descriptor
    /// becomes readable, as after [`server_mut`](Self::server_mut).
    pub fn machine_mut(&mut self) -> &mut ide::Server {
        self.server_mut().machine_mut()
    }

    /// Returns a handle with which other threads can use the server. Its work makes the descriptor readable.
    pub fn handle(&mut self) -> Handle {
        self.server.handle_by(self.waiting.wake())
    }

    /// Returns the current time, for methods of the server that take one.
    #[must_use]
    pub fn now(&self) -> Time {
        self.clock.now()
    }

    /// Returns how long you may wait until the next [`dispatch`](Self::dispatch) if you do not watch the
    /// descriptor; `None` if only the descriptor decides.
    #[must_use]
    pub fn timeout(&mut self) -> Option<Duration> {
        // The descriptor may also be readable because the server was used outside a turn.
        let due = [self.server.deadline(self.clock.now()), self.waiting.set_to()];
        self.clock.until(due.into_iter().flatten().min())
    }

    /// Removes the lock file, stops listening, and begins to close every connection cleanly. Go on calling
    /// [`dispatch`](Self::dispatch) until [`is_over`](Self::is_over), a few seconds at most.
    pub fn shutdown(&mut self) {
        // The descriptor becomes readable in any case: the loop must notice that the server is over.
        let now = self.clock.now();
        self.server_mut().shutdown(now);
    }

    /// Returns true if the server was shut down and nothing is left to do.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.server.is_over()
    }

    fn set_timer(&mut self) {
        let now = self.clock.now();
        self.waiting.set(now, self.server.deadline(now));
    }
}

#[cfg(unix)]
impl AsFd for NestedServer {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.waiting.registry().as_fd()
    }
}

#[cfg(unix)]
impl AsRawFd for NestedServer {
    fn as_raw_fd(&self) -> RawFd {
        self.as_fd().as_raw_fd()
    }
}

#[cfg(windows)]
impl AsSocket for NestedServer {
    fn as_socket(&self) -> BorrowedSocket<'_> {
        self.waiting.bell().as_socket()
    }
}

#[cfg(windows)]
impl AsRawSocket for NestedServer {
    fn as_raw_socket(&self) -> RawSocket {
        self.as_socket().as_raw_socket()
    }
}

#[cfg(test)]
mod tests;
