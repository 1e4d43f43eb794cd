//! What an editor needs to be attached to, where a thread may wait for it.

use crate::Waker;
use crate::parking::{park, waker};
use crate::sockets::Sockets;
use ide_mcp::ide::{HostConfig, HostEvent};
use ide_mcp::{Clock, Time};
use ide_mcp_link::{Next, WakeSet};
use ide_mcp_server::{Bind, Server as Inner};
use std::io;
use std::time::Duration;

/// The server of an editor, on the thread that calls it.
///
/// [`next_event`](Server::next_event) waits, and hands over one event at a time. The connections and the host stay on
/// the calling thread. One thread accepts, and each connection has one that reads and one that writes what the socket
/// had no room for: they move bytes through buffers of 64 KiB, and know nothing of what they move. So the caller never waits for a peer, whether it
/// reads or not, and where nothing happens nobody wakes but for the timers of the protocol. (Reading all sockets once
/// a frame needs no threads, and wakes sixty times a second for nothing: for a program that does so anyway,
/// [`poll`](Server::poll) with [`Duration::ZERO`] looks at what is there.)
///
/// ```no_run
/// use ide_mcp::ide::{HostConfig, HostEvent, LockFile, Policy, ServerConfig, ServerEvent, ToolSet};
/// use ide_mcp::mcp::Implementation;
/// use ide_mcp_blocking::{Bind, Server};
/// use ide_mcp_lockfile::{LockDir, new_token, workspace_folders};
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
/// while !server.is_over() {
///     if let Some(HostEvent::Agent { event: ServerEvent::Call(call), .. }) = server.next_event() {
///         let _ = server.host_mut().call(call).fail(-32601, "not yet");
///     }
///     for _quit in queue.try_iter() {
///         server.shutdown();
///     }
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Server {
    inner: Inner<Sockets>,
    wakes: WakeSet,
    clock: Clock,
}

impl Server {
    /// Listens. Its clock starts now.
    ///
    /// The port of the configured policy is set to the one that is listened on.
    ///
    /// # Errors
    /// [`InvalidInput`](io::ErrorKind::InvalidInput) if other machines may reach it and no token is asked for; else
    /// whatever binding, or starting a thread, reports.
    pub fn bind(bind: Bind, config: HostConfig) -> io::Result<Self> {
        let wakes = WakeSet::new();
        let inner = Inner::bind(bind, config, |listener| Sockets::new(listener, wakes.clone()))?;
        Ok(Self { inner, wakes, clock: Clock::new() })
    }

    ide_mcp_server::hand_over!();

    /// Uses this clock, that of the application.
    #[must_use]
    pub const fn with_clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }

    /// The time now, for methods of the host that want it.
    #[must_use]
    pub fn now(&self) -> Time {
        self.clock.now()
    }

    /// By which another thread ends the wait.
    #[must_use]
    pub fn waker(&self) -> Waker {
        self.wakes.waker()
    }

    /// Waits for the next event. `None` if a [`Waker`] asks to look at the queue, or if all [is over](Server::is_over)
    /// after [`shutdown`](Server::shutdown).
    ///
    /// Nothing but bytes moves while nobody waits here, so do not stay away for long.
    pub fn next_event(&mut self) -> Option<HostEvent> {
        self.wait(None)
    }

    /// The same, but waits for no longer than about `at_most`; zero looks at what is there. `None` also if there was
    /// none in time.
    pub fn poll(&mut self, at_most: Duration) -> Option<HostEvent> {
        self.wait(Some(self.now().saturating_add(at_most)))
    }

    /// Removes the lock file, stops listening, and closes every connection in good order. Go on with
    /// [`next_event`](Server::next_event) until it [is over](Server::is_over): a few seconds at most.
    pub fn shutdown(&mut self) {
        self.inner.shutdown(self.clock.now());
    }

    fn wait(&mut self, until: Option<Time>) -> Option<HostEvent> {
        loop {
            // Registering comes first: a wake-up from here on wakes the thread.
            let ready = self.wakes.register(&waker());
            let now = self.now();
            match self.inner.next(now, &ready) {
                Next::Event(event) => return Some(event),
                Next::Wait(_) if until.is_some_and(|until| until <= now) => return None,
                Next::Wait(due) => park(now, due.into_iter().chain(until).min()),
                // An application that was woken looks at its queue, and at whether all is over.
                Next::Wake | Next::Over | _ => return None,
            }
        }
    }
}
