//! How an editor is driven: what [`Server::poll`] returns, and how you report back.

use super::connections::Connections;
use super::{ConnId, Server, ServerEvent};
use crate::ide::connection::Connection;
#[cfg(feature = "std")]
use crate::pass::{moved, read_all, report};
use crate::{Machine, Output, Time};

impl Server {
    /// Feeds bytes from the socket of a connection. You get their events from [`poll`](Server::poll).
    ///
    /// The connection ends ([`InputOverflow`](crate::ws::Closed::InputOverflow)) if you feed it while
    /// [`wants_input`](Server::wants_input) is false, or more than 256 KiB at once. Bytes for a connection that is over
    /// are dropped.
    pub fn feed(&mut self, now: Time, conn: ConnId, bytes: &[u8]) {
        if let Some(connection) = self.connections.input(now, conn) {
            connection.feed(now, bytes);
        }
    }

    /// Tells the server that the client's stream has ended, or that the last [`Write`](Output::Write) to it has failed.
    ///
    /// What came before the end is still delivered and answered, because a client may close its sending side and go on
    /// reading. After a failed write, or a second end, nothing more is written to it.
    pub fn feed_eof(&mut self, now: Time, conn: ConnId) {
        if self.connections.offers.offered.is_some_and(|(offered, _)| offered == conn) {
            self.connections.written(conn, 0);
            self.end_stream(now, conn);
        }
        self.end_stream(now, conn);
    }

    fn end_stream(&mut self, now: Time, conn: ConnId) {
        self.connections.set_now(now);
        self.connections.with(conn, Connection::end_stream);
    }

    /// Returns what to do next for all connections: react to an event, write, close a socket, or wait.
    pub fn poll(&mut self, now: Time) -> Output<'_, ServerEvent, ConnId> {
        if !self.connections.offers.in_pass {
            self.connections.begin_pass(now);
        }
        if let Some(event) = self.next_event() {
            return Output::Event(event);
        }
        if let Some((conn, _)) = self.connections.offers.offered {
            self.connections.written(conn, 0);
        }
        if let Some(conn) = self.connections.next_done() {
            self.mentions.on_removed(conn.into());
            return Output::Close(conn);
        }
        if self.connections.offers.queue.is_empty() {
            self.connections.offers.in_pass = false;
            return Output::Wait(self.deadline());
        }
        // The queue has only connections with output. If one had none, the next poll would be due at once.
        let now = self.connections.now;
        match self.connections.offer() {
            Some((conn, bytes)) => Output::Write { conn, bytes },
            None => Output::Wait(Some(now)),
        }
    }

    /// Returns the next event: first from the connections, then from what the agents share.
    fn next_event(&mut self) -> Option<ServerEvent> {
        if let Some(event) = self.lock_file.pop_front() {
            return Some(ServerEvent::LockFile(event));
        }
        loop {
            if !self.connections.eventful.is_empty() {
                if let Some(event) = self.next_event_of_agent() {
                    return Some(event);
                }
            }
            if self.mentions.is_idle() && !self.due().is_due(self.connections.now) {
                return None;
            }
            if let Some(question) = self.next_question() {
                return Some(question);
            }
            if let Some(selection) = self.debounce.release(self.connections.now) {
                self.send_selection(&selection);
                continue;
            }
            self.send_mentions();
            let ended = self.mentions.addressees().find(|agent| !self.is_there(*agent));
            let mention = self.mentions.expire(self.connections.now, ended)?;
            return Some(ServerEvent::MentionExpired { mention });
        }
    }

    /// Reports how many bytes of the last [`Write`](Output::Write) to this connection its socket took; 0 if it would
    /// block. The rest is offered again: at once after a short write, in the next pass after 0. A number above the
    /// length of the offer counts as the whole offer; without an offer it is ignored.
    pub fn written(&mut self, conn: ConnId, n: usize) {
        if !self.connections.written(conn, n) || self.mentions.is_idle() {
            return;
        }
        if !self.connections.get(conn).is_some_and(Connection::has_unwritten_mention) {
            self.mentions.on_written(conn.into());
        }
        self.send_mentions();
    }

    /// Reads the non-blocking socket of a connection and feeds what has come, until it would block or
    /// [`wants_input`](Server::wants_input) is false. After an error, unlike the end of the stream, nothing more is
    /// written.
    ///
    /// Returns true if the machine wanted no more, so the socket may still have more. A poller that tells you of a
    /// socket only once (mio, epoll with EPOLLET) will not tell you again: read it once more after the pass.
    #[cfg(feature = "std")]
    pub fn read_from(&mut self, now: Time, conn: ConnId, socket: &mut (impl std::io::Read + ?Sized)) -> bool {
        // The end of the input does not answer an offer, so this is not `feed_eof`.
        read_all(self, now, conn, socket, |server| server.end_stream(now, conn))
    }

    /// Answers the last [`Write`](Output::Write): writes its bytes to the non-blocking socket of the connection, and
    /// calls [`written`](Server::written) or [`feed_eof`](Server::feed_eof). Prefer this to doing it yourself: a wrong
    /// count is the one mistake that no machine can detect.
    #[cfg(feature = "std")]
    pub fn write_to(&mut self, now: Time, conn: ConnId, socket: &mut (impl std::io::Write + ?Sized)) {
        let Some((_, len)) = self.connections.offers.offered.filter(|(offered, _)| *offered == conn) else {
            return;
        };
        // More output may have been added since the offer.
        let moved = moved(|| socket.write(self.outgoing(conn).get(..len).unwrap_or_default()));
        report(self, now, conn, moved);
    }

    /// Returns true while you may read more bytes from the socket of the connection. If not, the connection waits for a
    /// poll, or for room in its send buffer.
    #[must_use]
    pub fn wants_input(&self, conn: ConnId) -> bool {
        self.connections.get(conn).is_some_and(Connection::wants_input)
    }

    /// Returns true while bytes of the connection wait for room in its socket: ask your poller to wake you when it is
    /// writable.
    #[must_use]
    pub fn wants_output(&self, conn: ConnId) -> bool {
        !self.outgoing(conn).is_empty()
    }

    /// Returns room for a read, which saves the copy of [`feed`](Server::feed): read into it, then call
    /// [`filled`](Server::filled). It is empty exactly while [`wants_input`](Server::wants_input) is false, and valid
    /// until the next poll, [`feed`](Server::feed) or [`trim`](Server::trim).
    pub fn space(&mut self, conn: ConnId) -> &mut [u8] {
        self.connections.get_mut(conn).map(Connection::space).unwrap_or_default()
    }

    /// Feeds the first `n` bytes of [`space`](Server::space). A larger `n` ends the connection, as too many bytes in
    /// [`feed`](Server::feed) do.
    pub fn filled(&mut self, now: Time, conn: ConnId, n: usize) {
        if let Some(connection) = self.connections.input(now, conn) {
            connection.filled(now, n);
        }
    }

    /// Returns when the next pass is due, taking into account what you have done since the last [`Wait`](Output::Wait):
    /// not in the future while there is something to do.
    #[must_use]
    pub fn deadline(&self) -> Option<Time> {
        let Connections { eventful, done, offers, deadlines, now, .. } = &self.connections;
        let is_busy = !eventful.is_empty() || !done.is_empty() || !offers.queue.is_empty() || offers.in_pass;
        let addressee_gone = || self.mentions.addressees().any(|agent| !self.is_there(agent));
        if is_busy || !self.lock_file.is_empty() || !self.mentions.is_idle() && addressee_gone() {
            return Some(*now);
        }
        deadlines.first.min(self.due()).finite()
    }

    /// Returns when something is due that the agents share: a selection, a mention or a question.
    fn due(&self) -> Time {
        self.debounce.due.min(self.mentions.due).min(self.questions.due)
    }

    /// Frees memory that an idle connection does not need. Nothing else changes.
    pub fn trim(&mut self, conn: ConnId) {
        if let Some(connection) = self.connections.get_mut(conn) {
            connection.trim();
        }
    }

    /// Returns the bytes of a connection that its socket has not taken yet. A [`Write`](Output::Write) has them too,
    /// but you cannot keep its borrow while you use the server. Then keep only `conn`, and get the bytes from here.
    #[must_use]
    pub fn outgoing(&self, conn: ConnId) -> &[u8] {
        self.connections.get(conn).map(Connection::outgoing).unwrap_or_default()
    }
}

impl Machine for Server {
    type Event = ServerEvent;
    type Conn = ConnId;

    fn poll(&mut self, now: Time) -> Output<'_, ServerEvent, ConnId> {
        self.poll(now)
    }

    fn written(&mut self, conn: ConnId, n: usize) {
        self.written(conn, n);
    }

    fn feed(&mut self, now: Time, conn: ConnId, bytes: &[u8]) {
        self.feed(now, conn, bytes);
    }

    fn feed_eof(&mut self, now: Time, conn: ConnId) {
        self.feed_eof(now, conn);
    }

    fn wants_input(&self, conn: ConnId) -> bool {
        self.wants_input(conn)
    }

    fn wants_output(&self, conn: ConnId) -> bool {
        self.wants_output(conn)
    }

    fn space(&mut self, conn: ConnId) -> &mut [u8] {
        self.space(conn)
    }

    fn filled(&mut self, now: Time, conn: ConnId, n: usize) {
        self.filled(now, conn, n);
    }

    fn trim(&mut self, conn: ConnId) {
        self.trim(conn);
    }

    fn deadline(&self) -> Option<Time> {
        self.deadline()
    }
}
