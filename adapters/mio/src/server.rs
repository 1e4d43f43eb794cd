//! The server of an editor, in the application's loop.

use crate::sockets::{GUARD, Sockets, TOKENS};
use ide_mcp::Time;
use ide_mcp::ide::{Host, HostConfig, HostEvent};
use ide_mcp_driver::{Bind, Server as Inner};
use mio::event::Event;
use mio::{Registry, Token};
use std::io;

/// The server of an editor, on one thread, in a `Poll` of the application.
///
/// ```no_run
/// use ide_mcp_mio::ide::{Diagnostics, HostConfig, HostEvent, LockFile, Policy, ServerConfig, ServerEvent};
/// use ide_mcp_mio::ide::{Tool, ToolCall, ToolSet};
/// use ide_mcp_mio::mcp::Implementation;
/// use ide_mcp_mio::lockfile::{LockDir, new_token, workspace_folders};
/// use ide_mcp_mio::{Bind, Clock, Server, Waker, mio};
/// use std::sync::mpsc;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// // What agents may ask for, and who may attach: agents that have the token from the lock file.
/// let token = new_token()?;
/// let tools = ToolSet::new().handle(Tool::OpenDiff).handle(Tool::GetDiagnostics);
/// let policy = Policy::new(0, token.clone());
/// let config = HostConfig::new(ServerConfig::new(Implementation::new("editor", "1"), policy, tools));
///
/// // Listen first, publish second.
/// let mut poll = mio::Poll::new()?;
/// let mut server = Server::bind(Bind::AnyPort, config, poll.registry(), mio::Token(1))?;
/// let file = LockFile::new(std::process::id(), workspace_folders(["."])?, "Editor", token);
/// server.publish(&LockDir::from_environment()?, &file)?;
///
/// // Other threads put something into the queue first, and wake second.
/// let (sender, queue) = mpsc::channel();
/// let waker = Waker::new(poll.registry(), mio::Token(0))?;
/// let theirs = waker.clone();
/// std::thread::spawn(move || {
///     let _ = sender.send("quit");
///     theirs.wake()
/// });
///
/// let (clock, mut events) = (Clock::new(), mio::Events::with_capacity(64));
/// while !server.is_over() {
///     let wait = clock.until(server.deadline(clock.now()));
///     match poll.poll(&mut events, wait) {
///         Err(error) if error.kind() != std::io::ErrorKind::Interrupted => return Err(error.into()),
///         _ => {}
///     }
///     for event in &events {
///         server.handle(event);
///     }
///     let now = clock.now();
///     for _quit in queue.try_iter() {
///         server.shutdown(now);
///     }
///     while let Some(event) = server.next_event(now) {
///         let HostEvent::Agent { event: ServerEvent::Call(call), .. } = event else { continue };
///         let host = server.host_mut();
///         // An error means that the agent has gone, or does not want the answer any more.
///         let _ = match call {
///             // Yours here: the agent takes an empty list for "no problems".
///             ToolCall::GetDiagnostics(call, _) => host.answer(call, &Diagnostics::new(Vec::new())),
///             // Yours here: ask the person, and decide in a later turn. The agent writes the file, nobody else.
///             ToolCall::OpenDiff(call, diff) => host.answer(call, &diff.accept()),
///             other => host.call(other).fail(-32601, "this editor shows diffs and nothing else"),
///         };
///     }
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Server {
    inner: Inner<Sockets>,
    base: Token,
}

impl Server {
    /// The number of tokens that a server owns, counted from its base: 1,024. The first is for the
    /// listener, the last for the guard of the lock file, and the others are for connections. The
    /// application uses tokens outside of this range for its own sources.
    pub const TOKENS: usize = TOKENS;

    /// Binds the listener, and registers in the `Poll` of this registry under tokens from `base` on.
    ///
    /// Sets the port of the configured policy to the port of the listener.
    ///
    /// # Errors
    /// [`InvalidInput`](io::ErrorKind::InvalidInput) if other machines can reach the listener and the
    /// policy requires no token; otherwise the error of binding or of registering.
    pub fn bind(bind: Bind, config: HostConfig, registry: &Registry, base: Token) -> io::Result<Self> {
        let inner = Inner::bind(bind, config, |listener| Sockets::new(listener, registry, base))?;
        Ok(Self { inner, base })
    }

    ide_mcp_driver::delegate_server!();

    /// Returns true if events with this token are for the server.
    #[must_use]
    pub const fn owns(&self, token: Token) -> bool {
        matches!(token.0.checked_sub(self.base.0), Some(offset) if offset < TOKENS)
    }

    /// Notes an event of the `Poll`. Returns true if it was for the server.
    pub fn handle(&mut self, event: &Event) -> bool {
        match event.token().0.checked_sub(self.base.0) {
            Some(0) => self.inner.acceptable(),
            Some(GUARD) => self.inner.lock_ready(),
            Some(offset) if offset < TOKENS => self.inner.ready(offset.saturating_sub(1)),
            Some(_) | None => return false,
        }
        true
    }

    /// Takes one turn: accepts and reads, ticks, passes every event to `on`, and writes the output,
    /// on every connection that has work. Reads about 256 KiB in all at most, and writes about as
    /// much per connection.
    pub fn turn(&mut self, now: Time, on: impl FnMut(&mut Host, HostEvent)) {
        self.inner.turn(now, on);
    }

    /// Returns the next event of a turn, or `None` at the end of the turn. An application uses this
    /// method if it needs `&mut self` to handle an event: `while let Some(event) =
    /// self.server.next_event(now) { self.handle(event) }`. The next call after `None` begins another
    /// turn. Nothing is lost or done twice if the next call comes later.
    pub fn next_event(&mut self, now: Time) -> Option<HostEvent> {
        self.inner.event_of_turn(now)
    }

    /// Returns the latest time for the next turn: `now` while there is work.
    #[must_use]
    pub fn deadline(&mut self, now: Time) -> Option<Time> {
        self.inner.deadline(now)
    }

    /// Removes the lock file, stops listening, and begins to close every connection cleanly: an open
    /// WebSocket with a close handshake. Continue with the loop until [`is_over`](Server::is_over): a
    /// few seconds at most.
    pub fn shutdown(&mut self, now: Time) {
        self.inner.shutdown(now);
    }
}
