//! The passes over an editor: what [`Server::poll`] returns, and the answers to it.
//!
//! ```text
//!  Idle ──new output──▶ Queued ──offered, written(n)──▶ Queued at the end, or Idle when all is written
//!                          ▲  └──offered, nothing taken──▶ Full
//!                          └────────── next pass ───────────┘
//! ```
//!
//! The connections with output stand in a queue, so that each gets its turn, and a poll for one of a thousand looks at
//! that one alone.

use super::{ConnId, Server, ServerEvent};
use crate::ide::connection::Connection;
use crate::pass::machine;
#[cfg(feature = "std")]
use crate::pass::{moved, read_all, report};
use crate::time::earlier;
use crate::{Output, Time};
use alloc::collections::VecDeque;
use core::mem;

/// The connections with unwritten output, by their places.
#[derive(Debug, Default)]
pub(super) struct Offers {
    queue: VecDeque<usize>,
    /// Those whose socket took nothing in this pass.
    full: VecDeque<usize>,
    /// Whether a place is in one of the two.
    is_queued: alloc::vec::Vec<bool>,
    /// The offer to the first of the queue that waits for its answer: the connection, and the number of bytes.
    offered: Option<(ConnId, usize)>,
    /// True from the first poll of a pass to its `Wait`: a pass that was left is due.
    in_pass: bool,
}

impl Offers {
    /// Begins a pass, unless one is under way.
    fn begin(&mut self) -> bool {
        let begins = !mem::replace(&mut self.in_pass, true);
        if begins {
            self.queue.append(&mut self.full);
        }
        begins
    }

    /// Queues a place with output, unless it is queued.
    pub(super) fn add(&mut self, index: usize) {
        if self.is_queued.len() <= index {
            self.is_queued.resize(index.saturating_add(1), false);
        }
        if let Some(is_queued) = self.is_queued.get_mut(index).filter(|is_queued| !**is_queued) {
            *is_queued = true;
            self.queue.push_back(index);
        }
    }

    /// Takes the first out of the queue: nothing of it is unwritten.
    fn drop_first(&mut self) {
        if let Some(is_queued) = self.queue.pop_front().and_then(|index| self.is_queued.get_mut(index)) {
            *is_queued = false;
        }
    }

    /// Takes a place out of the queues, so that another connection in it is queued anew.
    pub(super) fn drop_place(&mut self, index: usize) {
        if let Some(is_queued) = self.is_queued.get_mut(index).filter(|is_queued| **is_queued) {
            *is_queued = false;
            self.queue.retain(|queued| *queued != index);
            self.full.retain(|queued| *queued != index);
        }
    }

    /// Returns true if a place is queued.
    pub(super) fn has(&self, index: usize) -> bool {
        self.is_queued.get(index).is_some_and(|is_queued| *is_queued)
    }

    /// Returns true if there is output that no pass has offered yet.
    pub(super) fn are_new(&self) -> bool {
        !self.queue.is_empty()
    }

    /// Takes the answer to the last offer: the socket took `n` bytes. Returns how many of them were offered.
    fn answer(&mut self, conn: ConnId, n: usize) -> usize {
        let Some((_, len)) = self.offered.take_if(|(offered, _)| *offered == conn) else { return 0 };
        let taken = n.min(len);
        if let Some(index) = self.queue.pop_front() {
            if taken == 0 { self.full.push_back(index) } else { self.queue.push_back(index) }
        }
        taken
    }
}

impl Server {
    /// Feeds bytes from the socket of a connection. Their events come with the next [`poll`](Server::poll).
    ///
    /// The connection ends ([`InputOverflow`](crate::ws::Closed::InputOverflow)) if bytes come while
    /// [`wants_input`](Server::wants_input) is false, or a piece is larger than 256 KiB. Bytes for a connection that
    /// is over are dropped.
    pub fn feed(&mut self, now: Time, conn: ConnId, bytes: &[u8]) {
        self.take_input(now, conn, |connection, now| connection.feed(now, bytes));
    }

    /// Tells the server that the client's stream has ended, or that the last [`Write`](Output::Write) to it has failed.
    ///
    /// What came before the end is still delivered and answered: a client can close its side and read on. After a failed
    /// write, or a second end, nothing more is written to it.
    pub fn feed_eof(&mut self, now: Time, conn: ConnId) {
        if self.connections.offers.offered.is_some_and(|(offered, _)| offered == conn) {
            self.connections.offers.answer(conn, 0);
            self.end_stream(now, conn);
        }
        self.end_stream(now, conn);
    }

    fn end_stream(&mut self, now: Time, conn: ConnId) {
        let now = self.connections.set_now(now);
        self.act(conn, |connection| connection.end_stream(now));
    }

    /// Returns the next thing to do for all connections: react to an event, write, close a socket, or wait.
    pub fn poll(&mut self, now: Time) -> Output<'_, ServerEvent, ConnId> {
        if self.connections.offers.begin() {
            self.connections.set_now(now);
            self.connections.tick();
        }
        if let Some(event) = self.next_event_of_pass() {
            return Output::Event(event);
        }
        if let Some((conn, _)) = self.connections.offers.offered {
            self.connections.offers.answer(conn, 0);
        }
        if let Some(conn) = self.connections.next_done() {
            self.mentions.on_removed(conn.into());
            return Output::Close(conn);
        }
        while let Some(index) = self.connections.offers.queue.front() {
            let unwritten = self.connections.unwritten(*index).filter(|(_, len)| *len > 0);
            if let Some((conn, len)) = unwritten {
                self.connections.offers.offered = Some((conn, len));
                return Output::Write { conn, bytes: self.connections.outgoing(conn) };
            }
            self.connections.offers.drop_first();
        }
        self.connections.offers.in_pass = false;
        Output::Wait(self.deadline())
    }

    /// Returns the next event of the pass.
    fn next_event_of_pass(&mut self) -> Option<ServerEvent> {
        if let Some(event) = self.lock_file.pop_front() {
            return Some(ServerEvent::LockFile(event));
        }
        loop {
            if let Some(event) = self.next_event() {
                return Some(event);
            }
            if let Some(selection) = self.debounce.release(self.connections.now) {
                self.send_selection(&selection);
                continue;
            }
            if self.mentions.is_empty() {
                return None;
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
        let taken = self.connections.offers.answer(conn, n);
        if taken == 0 || !self.act(conn, |connection| connection.sent(taken)) {
            return;
        }
        if !self.connection(conn).is_some_and(Connection::has_unwritten_mention) {
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
        let moved = moved(|| socket.write(self.connections.outgoing(conn).get(..len).unwrap_or_default()));
        report(self, now, conn, moved);
    }

    /// Returns true if you may read more bytes from the socket of the connection. While it is false, the connection waits
    /// for a poll, or for room in its send buffer.
    #[must_use]
    pub fn wants_input(&self, conn: ConnId) -> bool {
        self.connection(conn).is_some_and(Connection::wants_input)
    }

    /// Returns true if bytes of the connection wait for room in its socket: let your loop wake when the socket is
    /// writable.
    #[must_use]
    pub fn wants_output(&self, conn: ConnId) -> bool {
        !self.connections.outgoing(conn).is_empty()
    }

    /// Returns room for a read, to [feed](Server::feed) without a copy: read into it, then call [`filled`](Server::filled).
    /// Empty exactly while [`wants_input`](Server::wants_input) is false, and valid until the next poll,
    /// [`feed`](Server::feed) or [`trim`](Server::trim).
    pub fn space(&mut self, conn: ConnId) -> &mut [u8] {
        let Some(index) = self.connections.index(conn) else { return &mut [] };
        self.connections.get_mut(index).map(Connection::space).unwrap_or_default()
    }

    /// Feeds the first `n` bytes of [`space`](Server::space). An `n` beyond it ends the connection as too many bytes in
    /// [`feed`](Server::feed) do.
    pub fn filled(&mut self, now: Time, conn: ConnId, n: usize) {
        self.take_input(now, conn, |connection, now| connection.filled(now, n));
    }

    /// Returns the time of the next pass, as the last [`Wait`](Output::Wait) did, but with what you have done since: not
    /// in the future while there is something to do.
    #[must_use]
    pub fn deadline(&self) -> Option<Time> {
        let addressee_gone = || self.mentions.addressees().any(|agent| !self.is_there(agent));
        if addressee_gone() || !self.lock_file.is_empty() || self.connections.offers.in_pass {
            return Some(self.connections.now);
        }
        let pushes = earlier(self.debounce.deadline(), self.mentions.deadline());
        earlier(self.connections.deadline(), earlier(self.questions.deadline(), pushes))
    }

    /// Frees the memory that an idle connection does not need. Nothing else changes.
    pub fn trim(&mut self, conn: ConnId) {
        if let Some(connection) =
            self.connections.index(conn).and_then(|index| self.connections.get_mut(index))
        {
            connection.trim();
        }
    }

    /// Returns a connection that is not over.
    pub(super) fn connection(&self, conn: ConnId) -> Option<&Connection> {
        self.connections.get(self.connections.index(conn)?)
    }

    /// Gives input to a connection, and queues it for a poll, which finds what has come: a client that sends a message in
    /// a thousand pieces costs a thousand appends.
    fn take_input(&mut self, now: Time, conn: ConnId, take: impl FnOnce(&mut Connection, Time)) {
        let Some(index) = self.connections.index(conn) else { return };
        let now = self.connections.set_now(now);
        if let Some(connection) = self.connections.get_mut(index) {
            take(connection, now);
            self.connections.poll_next(index);
        }
    }

    /// Runs `act` on a connection that is not over, and queues the connection for its events and output.
    /// Returns false if there is no such connection.
    fn act(&mut self, conn: ConnId, act: impl FnOnce(&mut Connection)) -> bool {
        self.connections.index(conn).and_then(|index| self.connections.with(index, act)).is_some()
    }
}

machine!(Server: ServerEvent, conn: ConnId);
