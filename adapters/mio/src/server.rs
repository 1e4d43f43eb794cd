//! The server of an editor, in your loop.

use crate::Waker;
use crate::conn::Report;
use crate::sockets::{GUARD, Sockets, TOKENS};
use ide_mcp::Time;
use ide_mcp::ide::{self, ServerConfig, ServerEvent};
use ide_mcp_driver::{Bind, EditorLock, Handle, Server as Inner, StartError, StartOptions};
use mio::event::Event;
use mio::{Registry, Token};
use std::io;
use std::net::SocketAddr;

/// The server of an editor, on one thread, in your `Poll`.
///
/// The [front page](crate) has an example.
#[derive(Debug)]
pub struct Server {
    inner: Inner<Sockets>,
    base: Token,
}

impl Server {
    /// How many tokens a server owns, counted from its base: 1,024. The first is for the listener, the last
    /// for the guard of the lock file, and those between for connections. Use tokens outside this range for
    /// your own sources.
    pub const TOKENS: usize = TOKENS;

    /// Starts the server of an editor: binds the listener, publishes the lock file, and registers in the
    /// `Poll` of this registry, with tokens from `base` on.
    ///
    /// # Errors
    /// [`StartError`]. After an error nothing listens, and no lock file is left behind.
    pub fn start(
        editor: impl Into<StartOptions>,
        registry: &Registry,
        base: Token,
    ) -> Result<Self, StartError> {
        let inner = Inner::start(editor, |listener| Sockets::new(listener, registry, base))?;
        Ok(Self { inner, base })
    }

    /// Binds the listener, and registers in the `Poll` of this registry, with tokens from `base` on. To
    /// publish a lock file, call [`EditorLock::publish`] next.
    ///
    /// # Errors
    /// [`InvalidInput`](io::ErrorKind::InvalidInput) if other machines can reach the listener and the policy
    /// requires no token; otherwise the error of binding or of registering.
    pub fn bind(bind: Bind, config: ServerConfig, registry: &Registry, base: Token) -> io::Result<Self> {
        let inner = Inner::bind(bind, config, |listener| Sockets::new(listener, registry, base))?;
        Ok(Self { inner, base })
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
    /// starts with the next turn, so ask [`deadline`](Self::deadline) again before you wait.
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

    /// Returns true if events with this token are for the server.
    #[must_use]
    pub const fn owns(&self, token: Token) -> bool {
        matches!(token.0.checked_sub(self.base.0), Some(offset) if offset < TOKENS)
    }

    /// Takes an event of the `Poll`. Returns true if it was for the server.
    pub fn handle_event(&mut self, event: &Event) -> bool {
        let offset = event.token().0.checked_sub(self.base.0).filter(|offset| *offset < TOKENS);
        let Some(offset) = offset else { return false };
        match (offset.checked_sub(1), Report::of(event)) {
            (None, _) => self.inner.acceptable(),
            (Some(_), _) if offset == GUARD => self.inner.lock_ready(),
            (Some(number), Report::Input) => self.inner.ready(number),
            (Some(number), Report::Room) => self.inner.report_room(number),
            (Some(number), Report::End) => self.inner.report_end(number),
        }
        true
    }

    /// Returns a handle with which other threads can use the server. Its work runs in the next
    /// [`turn`](Self::turn), for which `waker` wakes your loop; only the `waker` of the first call is used.
    pub fn handle(&mut self, waker: &Waker) -> Handle {
        let waker = waker.clone();
        // An error means that the `Poll` is gone, and no turn follows.
        self.handle_by(move || drop(waker.wake()))
    }

    pub(crate) fn handle_by(&mut self, wake: impl Fn() + Send + Sync + 'static) -> Handle {
        self.inner.handle(wake)
    }

    /// Takes one turn: accepts, reads, runs timers, passes every event to `on`, and writes the output of
    /// every connection that has work. Reads at most about 256 KiB in all, and writes about as much to each
    /// connection.
    pub fn turn(&mut self, now: Time, on: impl FnMut(&mut ide::Server, ServerEvent)) {
        self.inner.turn(now, on);
    }

    /// Returns the next event of a turn, or `None` at its end; the call after that begins another turn. Use
    /// this instead of [`turn`](Self::turn) if you need `&mut self` to handle an event:
    /// `while let Some(event) = self.server.next_event(now) { self.handle(event) }`. You may call it later:
    /// nothing is lost or done twice.
    pub fn next_event(&mut self, now: Time) -> Option<ServerEvent> {
        self.inner.event_of_turn(now)
    }

    /// Returns when the next turn is due at the latest: `now` while there is work.
    #[must_use]
    pub fn deadline(&mut self, now: Time) -> Option<Time> {
        self.inner.deadline(now)
    }

    /// Removes the lock file, stops listening, and begins to close every connection cleanly, an open
    /// WebSocket with a close handshake. Go on with your loop until [`is_over`](Server::is_over), a few
    /// seconds at most.
    pub fn shutdown(&mut self, now: Time) {
        self.inner.shutdown(now);
    }
}
