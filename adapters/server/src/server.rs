//! Listener, lock file, sockets and a [`Host`], and the steps of a turn.

use crate::door::Door;
use crate::links::Links;
use crate::lock::Lock;
use crate::proof::{auth, belongs_to_us};
use crate::{Bind, Guarding, Transport};
use ide_mcp::ide::{Auth, AuthToken, Host, HostConfig, HostEvent, LockFile, LockFileEvent, ServerEvent};
use ide_mcp::{Machine, Time};
use ide_mcp_link::{FairPoll, Next, Readiness};
use ide_mcp_lockfile::{Error, LockDir, can_tell_clients};
use std::io::{self, ErrorKind};
use std::mem;
use std::net::{SocketAddr, TcpListener};
use std::path::Path;

/// How many connections are accepted before those that were are read. A pending connection can push out another only if
/// that had its chance to say who it is.
const ACCEPTED_A_TURN: usize = 4;

/// The server of an editor over any [`Transport`].
#[derive(Debug)]
pub struct Server<T: Transport> {
    // Fields are dropped in this order: a lock file never names a port where nobody listens.
    lock: Option<Lock>,
    door: Door<T>,
    host: Host,
    links: Links<T::Socket>,
    addr: SocketAddr,
    /// The token that it asks for.
    token: Option<AuthToken>,
    /// A turn was begun, and its end waits for its events.
    in_turn: bool,
    fair: FairPoll,
    /// The number of pending connections that had ended when their sockets were last looked for.
    ended_pending: u64,
}

impl<T: Transport> Server<T> {
    /// Listens. `open` makes the transport of the listener, which waits for its connections as it was bound.
    ///
    /// The port of the configured policy is set to the one that is listened on. With [`Bind::Resume`], or
    /// [`Policy::resumed`](ide_mcp::ide::Policy::resumed), the token of the policy opens the door to our own user alone; where the
    /// system does not tell whose a socket is, a fresh token takes its place, which [`token`](Server::token) returns.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`] if other machines may reach it and no token is asked for; else the error of binding, of `open`,
    /// or of the randomness of the system.
    pub fn bind(
        bind: Bind,
        mut config: HostConfig,
        open: impl FnOnce(TcpListener) -> io::Result<T>,
    ) -> io::Result<Self> {
        if bind.is_exposed() && matches!(config.server.policy.auth, Auth::Disabled) {
            let why = "without a token other machines must not reach the editor";
            return Err(io::Error::new(ErrorKind::InvalidInput, why));
        }
        let is_resumed = matches!(bind, Bind::Resume(_));
        let listener = bind.listen()?;
        let addr = listener.local_addr()?;
        let policy = &mut config.server.policy;
        policy.port = addr.port();
        policy.auth = auth(policy.auth.clone(), is_resumed, || can_tell_clients(addr))?;
        let token = match &policy.auth {
            Auth::Token(token) | Auth::Resumed(token) => Some(token.clone()),
            Auth::Disabled | _ => None,
        };
        Ok(Self {
            lock: None,
            door: Door::new(open(listener)?),
            host: Host::new(config),
            links: Links::new(),
            addr,
            token,
            in_turn: false,
            fair: FairPoll::new(),
            ended_pending: 0,
        })
    }

    /// Publishes a lock file for the port, with the [token](Server::token) that the server asks for. It is brought back if it
    /// vanishes, and removed before the listener closes. One that was published before is removed.
    ///
    /// # Errors
    /// As [`LockDir::publish`], and [`Error::PortZero`] after [`shutdown`](Server::shutdown), when nothing listens any
    /// more; nothing is published then.
    pub fn publish(&mut self, dir: &LockDir, file: &LockFile) -> Result<(), Error> {
        let guarding = self.door.transport.guarding();
        self.publish_guarded(dir, file, guarding)
    }

    /// Publishes a lock file as [`publish`](Self::publish) does, with a guard that runs where and when `guarding` says.
    ///
    /// # Errors
    /// As [`publish`](Self::publish), and [`Error::Io`] where the guard gets no thread; nothing is published then.
    pub fn publish_guarded(
        &mut self,
        dir: &LockDir,
        file: &LockFile,
        guarding: Guarding,
    ) -> Result<(), Error> {
        // First: the old guard would take a new file with the same name and token for its own.
        self.lock = None;
        self.door.transport.unwatch();
        let port = if self.door.is_open() { self.addr.port() } else { 0 };
        let mut file = file.clone();
        if self.token.is_some() {
            file.auth_token.clone_from(&self.token);
        }
        let published = dir.publish(port, &file)?;
        self.lock = Some(Lock::new(published, guarding, &mut self.door.transport)?);
        Ok(())
    }

    /// Returns the token that clients have to know, for an editor that keeps it for its next run. It is not that of the
    /// configuration where a token of an earlier process cannot be used ([`bind`](Server::bind)).
    #[must_use]
    pub const fn token(&self) -> Option<&AuthToken> {
        self.token.as_ref()
    }

    /// Returns where the lock file is.
    #[must_use]
    pub fn lock_path(&self) -> Option<&Path> {
        self.lock.as_ref().map(Lock::path)
    }

    /// Publishes other contents, when folders were opened or closed. A guard on a thread does so soon, and reports a
    /// failure as an event; otherwise this waits for the disk. Nothing happens where nothing is published.
    ///
    /// # Errors
    /// As [`Published::update`](ide_mcp_lockfile::Published::update).
    pub fn update_lock_file(&mut self, file: &LockFile) -> Result<(), Error> {
        self.lock.as_mut().map_or(Ok(()), |lock| lock.update(file))
    }

    /// Notes that the descriptor of the guard may be readable.
    pub fn lock_ready(&mut self) {
        if let Some(lock) = &mut self.lock {
            lock.notified(&mut self.door.transport);
        }
    }

    /// Where it listens, or did.
    #[must_use]
    pub const fn local_addr(&self) -> SocketAddr {
        self.addr
    }

    /// The connections and what they share.
    #[must_use]
    pub const fn host(&self) -> &Host {
        &self.host
    }

    /// The host, to answer a call or to tell something. [`deadline`](Server::deadline) then asks for a turn.
    pub const fn host_mut(&mut self) -> &mut Host {
        &mut self.host
    }

    /// Connections may wait at the listener.
    pub const fn acceptable(&mut self) {
        self.door.ready();
    }

    /// The socket with this number may have become readable, writable, or broken.
    pub fn ready(&mut self, number: usize) {
        self.links.ready(number);
    }

    /// One turn: accepts and reads what waits, ticks, hands every event to `on`, and writes what there is to write, on
    /// every connection that has something. Reads about 256 KiB in all at most, and writes about as much per connection.
    pub fn turn(&mut self, now: Time, mut on: impl FnMut(&mut Host, HostEvent)) {
        while let Some(event) = self.event_of_turn(now) {
            on(&mut self.host, event);
        }
    }

    /// The same, event by event: the next of this turn, or `None` at its end. The call after that begins another.
    ///
    /// Nothing of a turn is lost or done twice if the next call comes later, or the host was used in between.
    pub fn event_of_turn(&mut self, now: Time) -> Option<HostEvent> {
        if !mem::replace(&mut self.in_turn, true) {
            self.begin(now);
        }
        let event = self.poll_event();
        if event.is_none() {
            self.in_turn = false;
            self.finish(now);
        }
        event
    }

    /// Returns the outcome of a step, for a loop that waits by a [`WakeSet`](ide_mcp_link::WakeSet): register, then hand over the
    /// readiness. A turn may begin here before the events of the last have been taken; nothing is lost then.
    pub fn next(&mut self, now: Time, ready: &Readiness) -> Next<HostEvent> {
        if ready.listener {
            self.acceptable();
        }
        if ready.guard {
            self.lock_ready();
        }
        for number in &ready.sockets {
            self.ready(*number);
        }
        let mut fair = mem::take(&mut self.fair);
        let next = fair.next(ready.woken, || self.step(now));
        self.fair = fair;
        next.unwrap_or_else(|| if self.is_over() { Next::Over } else { Next::Wait(self.deadline(now)) })
    }

    /// When the next turn is due at the latest: `now` while there is something to do.
    #[must_use]
    pub fn deadline(&mut self, now: Time) -> Option<Time> {
        let links = self.links.deadline(&mut self.host, now);
        let lock = self.lock.as_ref().and_then(|lock| lock.deadline(now));
        [links, lock, self.door.deadline(now), self.host.deadline()].into_iter().flatten().min()
    }

    /// Removes the lock file, stops listening, and closes every connection in good order. Go on until
    /// [`is_over`](Server::is_over): a few seconds at most.
    pub fn shutdown(&mut self, now: Time) {
        if let Some(lock) = self.lock.take() {
            self.door.transport.unwatch();
            if let Err(error) = lock.remove() {
                self.host.on_lock_file(LockFileEvent::Failed { error: error.to_string() });
            }
        }
        self.door.close();
        self.host.shutdown(now);
    }

    /// Whether it was shut down and nothing is left to do.
    #[must_use]
    pub fn is_over(&self) -> bool {
        !self.door.is_open() && self.links.is_empty() && self.host.is_idle()
    }

    /// A turn that is interrupted by every event.
    fn step(&mut self, now: Time) -> Option<HostEvent> {
        // What the application did about the last event, and since.
        if let Some(event) = self.poll_event() {
            return Some(event);
        }
        self.finish(now);
        self.begin(now);
        let event = self.poll_event();
        if event.is_none() {
            self.finish(now);
        }
        event
    }

    fn begin(&mut self, now: Time) {
        for _ in 0..ACCEPTED_A_TURN {
            let Some(incoming) = self.door.accept(now) else { break };
            let id = self.host.connect(now);
            match self.door.transport.adopt(id.index(), incoming) {
                Ok(socket) => self.links.insert(id, socket),
                Err(_) => self.host.remove(now, id),
            }
        }
        self.links.read(&mut self.host, now);
        if let Some(lock) = &mut self.lock {
            lock.tick(now, &mut self.host);
        }
        self.host.tick(now);
    }

    fn poll_event(&mut self) -> Option<HostEvent> {
        loop {
            let event = self.host.poll_event()?;
            if let HostEvent::AdmissionPending { conn } = &event {
                let is_ours = self.links.socket(*conn).is_some_and(|socket| belongs_to_us(T::ends(socket)));
                self.host.admit(*conn, is_ours);
                continue;
            }
            if let HostEvent::Agent { agent, event: ServerEvent::Closed(_) } = &event {
                if let Some(conn) = agent.conn() {
                    self.links.ending(conn);
                }
            }
            return Some(event);
        }
    }

    fn finish(&mut self, now: Time) {
        // The end of a pending connection is no event, so the application may have removed it unnoticed.
        let ended_pending = self.host.unauthenticated().total();
        if mem::replace(&mut self.ended_pending, ended_pending) != ended_pending {
            self.links.touch_removed(&mut self.host);
        }
        self.links.write(&mut self.host, now);
        let transport = &mut self.door.transport;
        self.links.linger(now, |socket| transport.release(socket));
    }
}
