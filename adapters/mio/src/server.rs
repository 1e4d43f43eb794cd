//! What an editor needs to be attached to: listener, lock file, sockets and a [`Host`], in the application's loop.
//!
//! There is no protocol here; who may come in and what is said is the business of the [`Host`].

use crate::Bind;
use crate::conn::prepare;
use crate::listener::Listener;
use ide_mcp::ide::{Auth, ConnId, Host, HostConfig, HostEvent, LockFile};
use ide_mcp::{Machine, Time};
use ide_mcp_link::{BUDGET, Link};
use ide_mcp_lockfile::{Error, LockDir, Published};
use mio::event::Event;
use mio::net::TcpStream;
use mio::{Registry, Token};
use std::collections::{BTreeMap, VecDeque};
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::time::Duration;

/// How many connections are accepted before those that were are read. A stranger can push out another one only if
/// that had its chance to say who it is.
const ACCEPTED_A_TURN: usize = 4;

/// How many sockets may linger at once so that their farewell arrives. They hold nothing but a file descriptor.
const LINGERING: usize = 16;

/// How often it is seen to that the lock file is still there: a client that cannot see our process deletes it.
const WATCH: Duration = Duration::from_secs(5);

/// The server of an editor, on one thread, in a `Poll` of the application.
///
/// ```no_run
/// use ide_mcp::Clock;
/// use ide_mcp::ide::{HostConfig, HostEvent, LockFile, Policy, ServerConfig, ServerEvent, ToolSet, locate::Extras};
/// use ide_mcp::mcp::Implementation;
/// use ide_mcp_lockfile::{LockDir, from_environment, new_token, workspace_folders};
/// use ide_mcp_mio::{Bind, Server};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let token = new_token()?;
/// let policy = Policy::new(0, token.clone());
/// let config = HostConfig::new(ServerConfig::new(Implementation::new("editor", "1"), policy, ToolSet::new()));
///
/// let mut poll = mio::Poll::new()?;
/// let mut server = Server::bind(Bind::AnyPort, config, poll.registry(), mio::Token(100))?;
/// let file = LockFile::new(std::process::id(), workspace_folders(["."])?, "Editor", token);
/// if let Some(candidate) = from_environment(Extras::default())?.first() {
///     server.publish(&LockDir::create(&candidate.dir)?, &file)?;
/// }
///
/// let (clock, mut events) = (Clock::new(), mio::Events::with_capacity(64));
/// loop {
///     let wait = clock.until(server.deadline(clock.now()));
///     poll.poll(&mut events, wait)?;
///     for event in &events {
///         server.handle(event);
///     }
///     server.turn(clock.now(), |host, event| {
///         if let HostEvent::Connection { event: ServerEvent::Call { call, .. }, .. } = event {
///             let _ = host.fail(call, -32601, "not yet");
///         }
///     });
/// }
/// # }
/// ```
#[derive(Debug)]
pub struct Server {
    // Fields are dropped in this order: a lock file never names a port where nobody listens.
    lock: Option<Lock>,
    listener: Option<Listener>,
    host: Host,
    links: BTreeMap<ConnId, Link<TcpStream>>,
    /// Their connection is over; they discard what still comes.
    lingering: VecDeque<(Token, Link<TcpStream>)>,
    registry: Registry,
    base: usize,
    addr: SocketAddr,
    lock_error: Option<Error>,
}

#[derive(Debug)]
struct Lock {
    published: Published,
    watch_at: Option<Time>,
}

impl Server {
    /// How many tokens a server owns, counted from its base.
    pub const TOKENS: usize = 1024;

    /// Listens, and registers in the `Poll` of this registry under tokens from `base` on.
    ///
    /// The port of the configured policy is set to the one that is listened on.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`] if other machines may reach it and no token is asked for; else whatever binding or
    /// registering reports.
    pub fn bind(
        bind: Bind,
        mut config: HostConfig,
        registry: &Registry,
        Token(base): Token,
    ) -> io::Result<Self> {
        let exposed = matches!(bind, Bind::ExposedToOtherMachines(addr) if !addr.ip().is_loopback());
        if exposed && matches!(config.server.policy.auth, Auth::Disabled) {
            let why = "without a token other machines must not reach the editor";
            return Err(io::Error::new(ErrorKind::InvalidInput, why));
        }
        let listener = Listener::new(bind, registry, Token(base))?;
        let addr = listener.addr();
        config.server.policy.port = addr.port();
        Ok(Self {
            lock: None,
            listener: Some(listener),
            host: Host::new(config),
            links: BTreeMap::new(),
            lingering: VecDeque::new(),
            registry: registry.try_clone()?,
            base,
            addr,
            lock_error: None,
        })
    }

    /// Publishes a lock file for the port. It is brought back if it vanishes, and removed before the listener closes.
    /// One that was published before is removed.
    ///
    /// # Errors
    /// As [`LockDir::publish`], and [`Error::PortZero`] after [`shutdown`](Server::shutdown), when nothing listens any
    /// more; nothing is published then.
    pub fn publish(&mut self, dir: &LockDir, file: &LockFile) -> Result<(), Error> {
        // First: the old guard would take a new file with the same name and token for its own.
        self.lock = None;
        let port = if self.listener.is_some() { self.port() } else { 0 };
        let published = dir.publish(port, file)?;
        self.lock = Some(Lock { published, watch_at: None });
        Ok(())
    }

    /// The lock file, to say where it is.
    #[must_use]
    pub fn published(&self) -> Option<&Published> {
        self.lock.as_ref().map(|lock| &lock.published)
    }

    /// The lock file, to update it when folders are opened or closed.
    pub fn published_mut(&mut self) -> Option<&mut Published> {
        self.lock.as_mut().map(|lock| &mut lock.published)
    }

    /// What last went wrong with watching or removing the lock file, for a person to know. Watching goes on.
    #[must_use]
    pub const fn lock_error(&self) -> Option<&Error> {
        self.lock_error.as_ref()
    }

    /// Where it listens, or did.
    #[must_use]
    pub const fn local_addr(&self) -> SocketAddr {
        self.addr
    }

    /// The port of [`local_addr`](Server::local_addr).
    #[must_use]
    pub const fn port(&self) -> u16 {
        self.addr.port()
    }

    /// The connections and what they share.
    #[must_use]
    pub const fn host(&self) -> &Host {
        &self.host
    }

    /// The host, to answer a call or to tell a selection. [`deadline`](Server::deadline) then asks for a turn.
    pub const fn host_mut(&mut self) -> &mut Host {
        &mut self.host
    }

    /// Whether events with this token are for the server.
    #[must_use]
    pub const fn owns(&self, token: Token) -> bool {
        matches!(token.0.checked_sub(self.base), Some(offset) if offset < Self::TOKENS)
    }

    /// Takes note of an event of the `Poll`; whether it was for the server.
    pub fn handle(&mut self, event: &Event) -> bool {
        if let Some(listener) = &mut self.listener {
            listener.handle(event);
        }
        for (id, link) in &mut self.links {
            if link_token(self.base, *id) == event.token() {
                link.ready();
            }
        }
        for (token, link) in &mut self.lingering {
            if *token == event.token() {
                link.ready();
            }
        }
        self.owns(event.token())
    }

    /// One turn: accepts and reads what waits, ticks, hands every event to `on`, and writes what there is to write, on
    /// every connection that has something. Moves about 256 KiB a connection and direction at most.
    pub fn turn(&mut self, now: Time, mut on: impl FnMut(&mut Host, HostEvent)) {
        self.accept(now);
        self.read(now);
        self.host.tick(now);
        while let Some(event) = self.host.poll_event() {
            on(&mut self.host, event);
        }
        self.write(now);
        self.linger(now);
        self.watch(now);
    }

    /// When the next turn is due at the latest: `now` while there is something to do.
    #[must_use]
    pub fn deadline(&mut self, now: Time) -> Option<Time> {
        let host = &mut self.host;
        let mut links = self.links.iter();
        if links.any(|(id, link)| host.wire(*id).is_none_or(|wire| link.is_due(&wire))) {
            return Some(now);
        }
        let links = self.links.values().chain(self.lingering.iter().map(|(_, link)| link));
        let watch = self.lock.as_ref().map(|lock| lock.watch_at.unwrap_or(now));
        let listener = self.listener.as_ref().and_then(|listener| listener.deadline(now));
        let own = links.filter_map(|link| link.deadline(now)).chain(watch).chain(listener);
        own.chain(self.host.deadline()).min()
    }

    /// Removes the lock file, stops listening, and closes every connection in good order. Go on with the loop until
    /// [`is_over`](Server::is_over): a few seconds at most.
    pub fn shutdown(&mut self, now: Time) {
        if let Some(lock) = self.lock.take() {
            self.lock_error = lock.published.remove().err();
        }
        self.listener = None;
        self.host.shutdown(now);
    }

    /// Whether it was shut down and nothing is left to do.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.listener.is_none()
            && self.links.is_empty()
            && self.lingering.is_empty()
            && self.host.connections().next().is_none()
    }

    fn accept(&mut self, now: Time) {
        for _ in 0..ACCEPTED_A_TURN {
            let accepted = self.listener.as_mut().and_then(|listener| listener.accept(now));
            let Some(mut stream) = accepted else { return };
            let id = self.host.connect(now);
            // The first token is the listener's.
            let fits = id.index() < Self::TOKENS - 1;
            if fits && prepare(&mut stream, &self.registry, link_token(self.base, id)).is_ok() {
                self.links.insert(id, Link::new(stream));
            } else {
                self.host.remove(now, id);
            }
        }
    }

    fn read(&mut self, now: Time) {
        for (id, link) in &mut self.links {
            if let Some(mut wire) = self.host.wire(*id) {
                link.read(&mut wire, now, BUDGET);
            }
        }
    }

    fn write(&mut self, now: Time) {
        while let Some(id) = self.host.poll_transmit() {
            self.write_to(now, id);
        }
        // The host names a connection when it gets output. Where there was no room for it, or memory is to be given
        // back, the link knows.
        let host = &mut self.host;
        let needs_step = |(id, link): (&ConnId, &Link<TcpStream>)| {
            let due = host.wire(*id).is_none_or(|wire| link.is_due(&wire));
            (due || link.deadline(now).is_some_and(|at| at <= now)).then_some(*id)
        };
        let rest: Vec<_> = self.links.iter().filter_map(needs_step).collect();
        for id in rest {
            self.write_to(now, id);
        }
    }

    fn write_to(&mut self, now: Time, id: ConnId) {
        let Some(link) = self.links.get_mut(&id) else { return };
        let is_ending = match self.host.wire(id) {
            Some(mut wire) => {
                link.write(&mut wire, now, BUDGET);
                link.is_ending()
            }
            // The application removed it: the socket goes with it.
            None => true,
        };
        if is_ending {
            self.host.remove(now, id);
            if let Some(link) = self.links.remove(&id) {
                self.lingering.push_back((link_token(self.base, id), link));
            }
        }
    }

    /// Lets the sockets go whose farewell has arrived, or had its time.
    fn linger(&mut self, now: Time) {
        let surplus = self.lingering.len().saturating_sub(LINGERING);
        let mut index = 0_usize;
        self.lingering.retain_mut(|(_, link)| {
            link.discard(now, BUDGET);
            let goes = index < surplus || link.is_over() || !link.is_ending();
            index = index.saturating_add(1);
            if goes {
                let _ = self.registry.deregister(link.socket_mut());
            }
            !goes
        });
    }

    /// Sees to the lock file.
    fn watch(&mut self, now: Time) {
        let Some(lock) = &mut self.lock else { return };
        let next = lock.watch_at.get_or_insert_with(|| now.after(WATCH));
        if *next <= now {
            *next = now.after(WATCH);
            self.lock_error = lock.published.republish_if_missing().err();
        }
    }
}

/// The token of a connection: the first is the listener's.
const fn link_token(base: usize, id: ConnId) -> Token {
    Token(base.saturating_add(1).saturating_add(id.index()))
}
