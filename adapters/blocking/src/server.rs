//! The server of an editor, for a thread that can wait for it.

use crate::Waker;
use crate::parking::{park, waker};
use crate::sockets::Sockets;
use ide_mcp::ide::{HostConfig, HostEvent};
use ide_mcp::{Clock, Time};
use ide_mcp_driver::{Bind, EditorOptions, Handle, Next, Server as Inner, StartError, WakeSet};
use std::io;
use std::time::Duration;

/// The server of an editor, on the thread that calls it.
///
/// [`next_event`](Server::next_event) waits, and returns one event at a time. The connections and the
/// host stay on the calling thread. One thread accepts connections. Each connection has one thread
/// that reads, and one that writes the bytes for which the socket had no room. These threads move
/// bytes through buffers of 64 KiB and do not interpret them. So the caller never waits for a peer,
/// even for one that does not read. An idle server wakes only for the timers of the protocol.
///
/// A program that instead reads all sockets once per screen frame needs no threads, but wakes sixty
/// times a second even if nothing happens. A program that wakes so often anyway can call
/// [`poll`](Server::poll) with [`Duration::ZERO`], which returns an event that is ready.
///
/// The [front page](crate) has an example.
#[derive(Debug)]
pub struct Server {
    inner: Inner<Sockets>,
    wakes: WakeSet,
    clock: Clock,
}

impl Server {
    /// Starts the server of an editor: binds the listener, publishes the lock file, and starts the clock.
    ///
    /// # Errors
    /// [`StartError`]. After an error nothing listens, and no lock file is left.
    pub fn start(editor: EditorOptions) -> Result<Self, StartError> {
        let wakes = WakeSet::new();
        let inner = Inner::start(editor, |listener| Sockets::new(listener, wakes.clone()))?;
        Ok(Self { inner, wakes, clock: Clock::new() })
    }

    /// Binds the listener, and starts the clock of the server. [`publish`](Self::publish) then publishes a
    /// lock file.
    ///
    /// Sets the port of the configured policy to the port of the listener.
    ///
    /// # Errors
    /// [`InvalidInput`](io::ErrorKind::InvalidInput) if other machines can reach the listener and the
    /// policy requires no token; otherwise the error of binding, or of starting a thread.
    pub fn bind(bind: Bind, config: HostConfig) -> io::Result<Self> {
        let wakes = WakeSet::new();
        let inner = Inner::bind(bind, config, |listener| Sockets::new(listener, wakes.clone()))?;
        Ok(Self { inner, wakes, clock: Clock::new() })
    }

    ide_mcp_driver::delegate_server!();

    /// Uses `clock`, so that the server and the application share one time.
    #[must_use]
    pub const fn with_clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }

    /// Returns the current time, for methods of the host that take a time.
    #[must_use]
    pub fn now(&self) -> Time {
        self.clock.now()
    }

    /// Returns the waker by which another thread ends the wait.
    #[must_use]
    pub fn waker(&self) -> Waker {
        self.wakes.waker()
    }

    /// Returns a handle by which other threads use the host. Work that comes while
    /// [`next_event`](Self::next_event) waits runs inside of it.
    pub fn handle(&mut self) -> Handle {
        let waker = self.wakes.handle_waker();
        self.inner.handle(move || waker.wake_by_ref())
    }

    /// Waits for the next event. Returns `None` if a [`Waker`] was used, or if the server [is
    /// over](Server::is_over) after [`shutdown`](Server::shutdown).
    ///
    /// Messages are handled and timers run only inside this method and [`poll`](Server::poll), so call
    /// one of the two again soon.
    pub fn next_event(&mut self) -> Option<HostEvent> {
        self.wait(None)
    }

    /// Waits for the next event as [`next_event`](Server::next_event) does, but for at most about
    /// `at_most`. With zero, it does not wait, and returns an event only if one is ready. Returns `None`
    /// also if there was no event in time.
    pub fn poll(&mut self, at_most: Duration) -> Option<HostEvent> {
        self.wait(Some(self.now().saturating_add(at_most)))
    }

    /// Removes the lock file, stops listening, and begins to close every connection cleanly: an open
    /// WebSocket with a close handshake. Continue with [`next_event`](Server::next_event) until the
    /// server [is over](Server::is_over): a few seconds at most.
    pub fn shutdown(&mut self) {
        self.inner.shutdown(self.clock.now());
    }

    fn wait(&mut self, until: Option<Time>) -> Option<HostEvent> {
        loop {
            // The thread registers before the step, so that a wake-up during the step is not lost.
            let ready = self.wakes.register(&waker());
            let now = self.now();
            match self.inner.next(now, &ready) {
                Next::Event(event) => return Some(event),
                Next::Wait(_) if until.is_some_and(|until| until <= now) => return None,
                Next::Wait(due) => park(now, due.into_iter().chain(until).min()),
                // After a wake-up the application reads its queue and checks whether the server is
                // over.
                Next::Wake | Next::Over | _ => return None,
            }
        }
    }
}
