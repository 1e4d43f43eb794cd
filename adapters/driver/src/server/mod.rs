//! The parts of a server (listener, lock file, sockets, [`ide::Server`]) and the steps of a turn.

mod bind;
mod connections;
mod guarding;
mod handle;
mod inbox;
mod listener;
mod lock;
mod options;
mod proof;
mod transport;

pub use bind::Bind;
pub use guarding::{Guarding, Wake};
pub use handle::{Handle, HandleError};
pub use lock::EditorLock;
pub use options::{StartError, StartOptions};
pub use transport::{RETRY, Transport};

use crate::socket::Link;
use crate::waiting::{FairPoll, Next, Readiness};
use connections::Connections;
use ide_mcp::ide::{self, LockFileEvent, ServerConfig, ServerEvent};
use ide_mcp::{Output, Time};
use ide_mcp_lockfile::can_report_clients;
use inbox::Inbox;
use listener::{ACCEPTED_A_TURN, Listener};
use proof::{auth, belongs_to_us};
use std::io;
use std::mem;
use std::net::{SocketAddr, TcpListener};

/// The server of an editor over any [`Transport`].
#[derive(Debug)]
pub struct Server<T: Transport> {
    // The fields are dropped in this order, so that a lock file never names a port on which nothing listens.
    lock: EditorLock,
    listener: Listener<T>,
    machine: ide::Server,
    connections: Connections<T::Socket>,
    addr: SocketAddr,
    /// True if a turn has begun, and not all of its events were taken.
    in_turn: bool,
    fair: FairPoll,
    inbox: Inbox,
}

impl<T: Transport> Server<T> {
    /// Binds the listener. `open` makes the transport from it; the listener is still in blocking mode.
    ///
    /// The port of the configured policy becomes that of the listener. With [`Bind::Resume`], or
    /// [`Auth::Resumed`](ide_mcp::ide::Auth::Resumed), the configured token admits only clients of our own
    /// user; if the system does not report who owns a socket, the server generates a new token, which
    /// [`EditorLock::token`] returns.
    ///
    /// # Errors
    /// [`InvalidInput`](io::ErrorKind::InvalidInput) if other machines can reach the listener and the policy
    /// requires no token; otherwise the error of binding, of `open`, or of the system's random numbers.
    pub fn bind(
        bind: Bind,
        mut config: ServerConfig,
        open: impl FnOnce(TcpListener) -> io::Result<T>,
    ) -> io::Result<Self> {
        let is_resumed = matches!(bind, Bind::Resume(_));
        let policy = &mut config.policy;
        let listener = bind.listen(&policy.auth)?;
        let addr = listener.local_addr()?;
        policy.port = addr.port();
        policy.auth = auth(policy.auth.clone(), is_resumed, || can_report_clients(addr))?;
        let token = policy.auth.token().cloned();
        let transport = open(listener)?;
        Ok(Self {
            lock: EditorLock::new(addr.port(), token, transport.guarding()),
            listener: Listener::new(transport),
            machine: ide::Server::new(config),
            connections: Connections::new(),
            addr,
            in_turn: false,
            fair: FairPoll::new(),
            inbox: Inbox::default(),
        })
    }

    /// Returns the address of the listener, even after it has closed.
    #[must_use]
    pub const fn local_addr(&self) -> SocketAddr {
        self.addr
    }

    /// Returns the machine, for example to list the agents.
    #[must_use]
    pub const fn machine(&self) -> &ide::Server {
        &self.machine
    }

    /// Returns the machine, so that you can send something. [`deadline`](Server::deadline) then asks for a
    /// turn.
    pub const fn machine_mut(&mut self) -> &mut ide::Server {
        &mut self.machine
    }

    /// Returns the lock file of the server.
    #[must_use]
    pub const fn lock_file(&self) -> &EditorLock {
        &self.lock
    }

    /// Returns the lock file of the server, so that you can publish or change it.
    /// [`deadline`](Server::deadline) then asks for a turn.
    pub const fn lock_file_mut(&mut self) -> &mut EditorLock {
        &mut self.lock
    }

    /// Call this when connections may wait at the listener.
    pub const fn acceptable(&mut self) {
        self.listener.ready();
    }

    /// Call this when the socket with this number may be readable, writable, or broken.
    pub fn ready(&mut self, number: usize) {
        self.connections.ready(number);
    }

    /// Call this when the descriptor of the guard may be readable.
    pub fn lock_ready(&mut self) {
        self.lock.notified(&mut self.listener.transport);
    }

    /// Call this when the socket with this number has room but no new input, see
    /// [`Link::report_room`](crate::Link::report_room).
    pub fn report_room(&mut self, number: usize) {
        self.connections.report_room(number);
    }

    /// Call this when the stream of the socket with this number has ended, or the socket has failed.
    pub fn report_end(&mut self, number: usize) {
        self.connections.report_end(number);
    }

    /// Takes one turn: accepts, reads, passes every event to `on`, and writes the output of every connection
    /// that has work. Reads at most about 256 KiB in all, and writes about as much to each connection.
    pub fn turn(&mut self, now: Time, mut on: impl FnMut(&mut ide::Server, ServerEvent)) {
        while let Some(event) = self.event_of_turn(now) {
            on(&mut self.machine, event);
        }
    }

    /// Returns the next event of a turn, or `None` at its end; the call after that begins another turn. You
    /// may call it later, or use the machine in between: nothing of a turn is lost or done twice.
    pub fn event_of_turn(&mut self, now: Time) -> Option<ServerEvent> {
        if !mem::replace(&mut self.in_turn, true) {
            self.begin(now);
        }
        let event = self.pass(now);
        self.in_turn = event.is_some();
        event
    }

    /// Takes a step and returns its outcome, for a loop that waits on a [`WakeSet`](crate::WakeSet). `ready`
    /// is what [`register`](crate::WakeSet::register) has just returned. A turn may begin before you took all
    /// events of the one before; no event is lost.
    pub fn next(&mut self, now: Time, ready: &Readiness) -> Next<ServerEvent> {
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

    /// Returns when the next turn is due at the latest: `now` while there is work.
    #[must_use]
    pub fn deadline(&mut self, now: Time) -> Option<Time> {
        if self.inbox.is_due() {
            return Some(now);
        }
        let connections = self.connections.deadline(&self.machine, now);
        [connections, self.lock.deadline(now), self.listener.deadline(now), self.machine.deadline()]
            .into_iter()
            .flatten()
            .min()
    }

    /// Removes the lock file, stops listening, and begins to close every connection cleanly. Go on taking
    /// turns until [`is_over`](Server::is_over), a few seconds at most.
    pub fn shutdown(&mut self, now: Time) {
        if let Err(error) = self.lock.close(&mut self.listener.transport) {
            self.machine.on_lock_file(LockFileEvent::Failed { error: error.to_string() });
        }
        self.listener.close();
        self.machine.shutdown(now);
        // Without connections there is no further turn.
        self.end_if_over();
    }

    /// Returns true if the server was shut down and nothing is left to do.
    #[must_use]
    pub fn is_over(&self) -> bool {
        !self.listener.is_open()
            && self.connections.is_empty()
            && self.machine.is_idle()
            && !self.inbox.has_events()
    }

    /// Returns the next event. If there is none, ends the current turn and begins another, unless the loop
    /// must look at the sockets in between.
    fn step(&mut self, now: Time) -> Option<ServerEvent> {
        let was_in_turn = self.in_turn;
        let event = self.rest_of_turn(now);
        if event.is_some() || was_in_turn && T::IS_LEVEL_TRIGGERED { event } else { self.event_of_turn(now) }
    }

    /// Returns the next event of a turn that has begun; `None` at its end, or if no turn has begun.
    pub fn rest_of_turn(&mut self, now: Time) -> Option<ServerEvent> {
        if self.in_turn { self.event_of_turn(now) } else { None }
    }

    /// Returns the transport.
    #[must_use]
    pub const fn transport(&self) -> &T {
        &self.listener.transport
    }

    /// Returns true if a timer is due. A level-triggered loop should then look at the sockets before its next
    /// turn: input that came in time can keep the timer from firing.
    #[must_use]
    pub fn has_due_timer(&self, now: Time) -> bool {
        !self.in_turn && self.machine.deadline().is_some_and(|due| due <= now)
    }

    /// Returns true if a level-triggered loop must wait for new clients too.
    #[must_use]
    pub const fn awaits_clients(&self) -> bool {
        self.listener.waits()
    }

    /// Returns what a level-triggered loop must wait for: the number of each socket, the socket, and whether
    /// to wait for input and for room.
    pub fn awaited(&self) -> impl Iterator<Item = (usize, &T::Socket, bool, bool)> {
        self.connections.waiting(&self.machine)
    }

    fn begin(&mut self, now: Time) {
        for _ in 0..ACCEPTED_A_TURN {
            let Some(incoming) = self.listener.accept(now) else { break };
            let id = self.machine.connect(now);
            match self.listener.transport.adopt(id.index(), incoming) {
                Ok(socket) => {
                    let link = Link::new(socket);
                    let link = if T::SHORT_READS_DRAIN { link.short_reads_drain() } else { link };
                    self.connections.insert(id, link);
                }
                // The server closes it in this turn.
                Err(_) => self.connections.sever(&mut self.machine, id, now),
            }
        }
        self.connections.read(&mut self.machine, now);
        self.run_inbox(now);
        self.lock.tick(now, &mut self.machine, &mut self.listener.transport);
    }

    /// Takes the steps of a pass up to its next event; `None` at its end.
    fn pass(&mut self, now: Time) -> Option<ServerEvent> {
        loop {
            if let Some(event) = self.inbox.poll_event() {
                self.end_if_over();
                return Some(event);
            }
            match self.machine.poll(now) {
                Output::Event(ServerEvent::AdmissionPending { conn }) => {
                    let is_ours =
                        self.connections.socket(conn).is_some_and(|socket| belongs_to_us(T::ends(socket)));
                    let _ = if is_ours { self.machine.admit(conn) } else { self.machine.refuse(conn) };
                }
                Output::Event(event) => {
                    // After the last event, the application may take no further turn.
                    self.end_if_over();
                    return Some(event);
                }
                Output::Write { conn, bytes } => match self.connections.write(conn, bytes, now) {
                    Some(n) => self.machine.written(conn, n),
                    None => self.connections.sever(&mut self.machine, conn, now),
                },
                Output::Close(conn) => self.connections.close(conn, now),
                Output::Wait(_) => break,
            }
        }
        self.connections.rest(&mut self.machine, now);
        let transport = &mut self.listener.transport;
        self.connections.linger(now, |socket| transport.release(socket));
        self.end_if_over();
        None
    }

    /// Ends the handles if nothing is left to do.
    pub(super) fn end_if_over(&self) {
        if self.is_over() {
            self.inbox.end();
        }
    }
}
