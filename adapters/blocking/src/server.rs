//! The server of an editor, for a thread that can wait for it.

use crate::Waker;
use crate::readiness::{interest, wait};
use crate::sockets::Sockets;
use ide_mcp::ide::{self, ServerConfig, ServerEvent};
use ide_mcp::{Clock, Time};
use ide_mcp_driver::{
    Bell, Bind, EditorLock, Handle, Next, Server as Inner, StartError, StartOptions, WakeSet,
};
use rustix::event::{PollFd, PollFlags};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::task::Waker as Task;
use std::time::Duration;

/// The server of an editor, on the thread that calls it.
///
/// [`next_event`](Server::next_event) waits for all sockets at once, with poll(2), and returns one event at a
/// time. No single peer can hold up the thread, not even one that does not read. An idle server wakes only
/// for the timers of the protocol.
///
/// If your program wakes for each frame of its screen anyway, call [`poll`](Server::poll) with
/// [`Duration::ZERO`] there; it returns an event if one is ready.
///
/// The [front page](crate) has an example.
#[derive(Debug)]
pub struct Server {
    inner: Inner<Sockets>,
    wakes: WakeSet,
    bell: Arc<Bell>,
    /// Wakes this server by its bell.
    task: Task,
    clock: Clock,
}

impl Server {
    /// Starts the server of an editor: binds the listener, publishes the lock file, and starts the clock.
    ///
    /// # Errors
    /// [`StartError`]. After an error nothing listens, and no lock file is left behind.
    pub fn start(editor: impl Into<StartOptions>) -> Result<Self, StartError> {
        let wakes = WakeSet::new();
        let bell = Bell::new().map_err(StartError::Poll)?;
        let inner = Inner::start(editor, |listener| Sockets::new(listener, wakes.clone()))?;
        Ok(Self::new(inner, wakes, bell))
    }

    /// Binds the listener and starts the clock of the server. To publish a lock file, call
    /// [`EditorLock::publish`] next.
    ///
    /// # Errors
    /// [`InvalidInput`](io::ErrorKind::InvalidInput) if other machines can reach the listener and the policy
    /// requires no token; otherwise the error of binding.
    pub fn bind(bind: Bind, config: ServerConfig) -> io::Result<Self> {
        let wakes = WakeSet::new();
        let bell = Bell::new()?;
        let inner = Inner::bind(bind, config, |listener| Sockets::new(listener, wakes.clone()))?;
        Ok(Self::new(inner, wakes, bell))
    }

    fn new(inner: Inner<Sockets>, wakes: WakeSet, bell: Bell) -> Self {
        let bell = Arc::new(bell);
        Self { inner, wakes, task: Task::from(bell.clone()), bell, clock: Clock::new() }
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
    pub const fn with_clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }

    /// Returns the current time, for methods of the server that take one.
    #[must_use]
    pub fn now(&self) -> Time {
        self.clock.now()
    }

    /// Returns a waker with which another thread can end the wait.
    #[must_use]
    pub fn waker(&self) -> Waker {
        self.wakes.waker()
    }

    /// Returns a handle with which other threads can use the server. Work that comes while
    /// [`next_event`](Self::next_event) waits runs inside it.
    pub fn handle(&mut self) -> Handle {
        let waker = self.wakes.handle_waker();
        self.inner.handle(move || waker.wake_by_ref())
    }

    /// Waits for the next event. Returns `None` if a [`Waker`] was used, or if the server [is
    /// over](Server::is_over) after [`shutdown`](Server::shutdown).
    ///
    /// Call this or [`poll`](Server::poll) again soon: messages are handled and timers run only inside these
    /// two.
    pub fn next_event(&mut self) -> Option<ServerEvent> {
        self.wait(None)
    }

    /// Waits like [`next_event`](Server::next_event), but for about `at_most`; with zero, it only returns
    /// what is ready. Also returns `None` if there was no event in time.
    pub fn poll(&mut self, at_most: Duration) -> Option<ServerEvent> {
        self.wait(Some(self.now().saturating_add(at_most)))
    }

    /// Removes the lock file, stops listening, and begins to close every connection cleanly, an open
    /// WebSocket with a close handshake. Go on calling [`next_event`](Server::next_event) until the server
    /// [is over](Server::is_over), a few seconds at most.
    pub fn shutdown(&mut self) {
        self.inner.shutdown(self.clock.now());
    }

    fn wait(&mut self, until: Option<Time>) -> Option<ServerEvent> {
        let mut has_looked = false;
        loop {
            let now = self.now();
            if self.inner.has_due_timer(now) {
                self.look(now, Some(now));
            }
            // Register before the step, so that a wake-up during the step is not lost.
            let ready = self.wakes.register(&self.task);
            match self.inner.next(now, &ready) {
                Next::Event(event) => return Some(event),
                Next::Wait(_) if has_looked && until.is_some_and(|until| until <= now) => return None,
                Next::Wait(due) => {
                    self.look(now, due.into_iter().chain(until).min());
                    has_looked = true;
                }
                // After a wake-up, the application reads its queue and checks whether the server is over.
                Next::Wake | Next::Over | _ => return None,
            }
        }
    }

    /// Finds out which sockets are ready, and waits for one of them until a time.
    fn look(&mut self, now: Time, until: Option<Time>) {
        let (mut numbers, mut watched) = (Vec::new(), vec![PollFd::new(&*self.bell, PollFlags::IN)]);
        for (number, socket, input, output) in self.inner.awaited() {
            if let Some(flags) = interest(input, output) {
                numbers.push(number);
                watched.push(PollFd::new(socket, flags));
            }
        }
        if let Some(listener) = self.inner.transport().listener().filter(|_| self.inner.awaits_clients()) {
            watched.push(PollFd::new(listener, PollFlags::IN));
        }
        wait(&mut watched, now, until);
        let mut ready = watched.iter().map(|socket| !socket.revents().is_empty());
        let is_rung = ready.next() == Some(true);
        numbers.retain(|_| ready.next() == Some(true));
        let has_clients = ready.next() == Some(true);
        if is_rung {
            self.bell.silence();
        }
        numbers.into_iter().for_each(|number| self.inner.ready(number));
        if has_clients {
            self.inner.acceptable();
        }
    }
}
