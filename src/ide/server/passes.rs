//! The passes over an editor: what [`Server::poll`] returns, and the answers to it.

use super::connections::Connections;
use super::{ConnId, Server, ServerEvent};
use crate::ide::connection::Connection;
#[cfg(feature = "std")]
use crate::pass::{moved, read_all, report};
use crate::{Machine, Output, Time};

impl Server {
    /// Feeds bytes from the socket of a connection. Their events come with the next [`poll`](Server::poll).
    ///
    /// The connection ends ([`InputOverflow`](crate::ws::Closed::InputOverflow)) if bytes come while
    /// [`wants_input`](Server::wants_input) is false, or a piece is larger than 256 KiB. Bytes for a connection that
    /// is over are dropped.
    pub fn feed(&mut self, now: Time, conn: ConnId, bytes: &[u8]) {
        if let Some(connection) = self.connections.input(now, conn) {
            connection.feed(now, bytes);
        }
    }

    /// Tells the server that the client's stream has ended, or that the last [`Write`](Output::Write) to it has failed.
    ///
    /// What came before the end is still delivered and answered: a client can close its side and read on. After a failed
    /// write, or a second end, nothing more is written to it.
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

    /// Returns the next thing to do for all connections: react to an event, write, close a socket, or wait.
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
        // The queue has only connections with output. If it had another one, the next poll would come at once.
        let now = self.connections.now;
        match self.connections.offer() {
            Some((conn, bytes)) => Output::Write { conn, bytes },
            None => Output::Wait(Some(now)),
        }
    }

    /// Returns the next event: those of the connections, then those of what the agents share.
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
    /// block. The rest is offered again: at once after a short write, in the next pass after 0. A number above the length
    /// of the offer counts as the whole offer, and a number without an offer as nothing.
    pub fn written(&mut self, conn: ConnId, n: usize) {
        if !self.connections.written(conn, n) || self.mentions.is_idle() {
            return;
        }
        if !self.connections.get(conn).is_some_and(Connection::has_unwritten_mention) {
            self.mentions.on_written(conn.into());
        }
        self.send_mentions();
    }

    /// Reads from the socket of a connection, which does not block, and feeds what has come, until the socket would block
    /// or [`wants_input`](Server::wants_input) is false. An error is more than the end of the stream: nothing is
    /// written after it either.
    ///
    /// Returns true if the machine wanted no more, so that the socket can have more to read. A poller that tells you of a
    /// socket only once (mio, epoll with EPOLLET) will not tell you again: read it once more after the pass.
    #[cfg(feature = "std")]
    pub fn read_from(&mut self, now: Time, conn: ConnId, socket: &mut (impl std::io::Read + ?Sized)) -> bool {
        // The end of the input is no answer to an offer.
        read_all(self, now, conn, socket, |server| server.end_stream(now, conn))
    }

    /// Answers the last [`Write`](Output::Write): writes its bytes to the socket of the connection, which does not block,
    /// and reports with [`written`](Server::written) or [`feed_eof`](Server::feed_eof) what came of it. A wrong count is the
    /// one mistake of a loop that nobody here can see, and this method makes none.
    #[cfg(feature = "std")]
    pub fn write_to(&mut self, now: Time, conn: ConnId, socket: &mut (impl std::io::Write + ?Sized)) {
        let Some((_, len)) = self.connections.offers.offered.filter(|(offered, _)| *offered == conn) else {
            return;
        };
        // More can have come since.
        let moved = moved(|| socket.write(self.outgoing(conn).get(..len).unwrap_or_default()));
        report(self, now, conn, moved);
    }

    /// Returns true if you may read more bytes from the socket of the connection. While it is false, the connection waits
    /// for a poll, or for room in its send buffer.
    #[must_use]
    pub fn wants_input(&self, conn: ConnId) -> bool {
        self.connections.get(conn).is_some_and(Connection::wants_input)
    }

    /// Returns true if bytes of the connection wait for room in its socket: let your loop wake when the socket is
    /// writable.
    #[must_use]
    pub fn wants_output(&self, conn: ConnId) -> bool {
        !self.outgoing(conn).is_empty()
    }

    /// Returns room for a read, to [feed](Server::feed) without a copy: read into it, then call [`filled`](Server::filled).
    /// Empty exactly while [`wants_input`](Server::wants_input) is false, and valid until the next poll,
    /// [`feed`](Server::feed) or [`trim`](Server::trim).
    pub fn space(&mut self, conn: ConnId) -> &mut [u8] {
        self.connections.get_mut(conn).map(Connection::space).unwrap_or_default()
    }

    /// Feeds the first `n` bytes of [`space`](Server::space). An `n` beyond it ends the connection as too many bytes in
    /// [`feed`](Server::feed) do.
    pub fn filled(&mut self, now: Time, conn: ConnId, n: usize) {
        if let Some(connection) = self.connections.input(now, conn) {
            connection.filled(now, n);
        }
    }

    /// Returns the time of the next pass, as the last [`Wait`](Output::Wait) did, but with what you have done since: not
    /// in the future while there is something to do.
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

    /// Returns the time at which something is due that the agents share: a selection, a mention or a question.
    fn due(&self) -> Time {
        self.debounce.due.min(self.mentions.due).min(self.questions.due)
    }

    /// Frees the memory that an idle connection does not need. Nothing else changes.
    pub fn trim(&mut self, conn: ConnId) {
        if let Some(connection) = self.connections.get_mut(conn) {
            connection.trim();
        }
    }

    /// Returns the bytes of a connection that were not written.
    fn outgoing(&self, conn: ConnId) -> &[u8] {
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
