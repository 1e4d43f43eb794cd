//! The bytes of one connection of a host.

use super::{ConnId, Server};
use crate::ide::Connection;
use crate::{Time, Wire};

/// The byte side of one connection of a [`Server`], for the loop that owns its socket.
///
/// The events, timers and answers of the connection go through the host.
#[derive(Debug)]
pub struct ServerWire<'a> {
    pub(super) host: &'a mut Server,
    pub(super) conn: ConnId,
}

impl ServerWire<'_> {
    fn server(&self) -> Option<&Connection> {
        self.host.connections.get(self.conn.index())
    }

    /// Runs `act` on the connection, and queues the connection for its events and output.
    fn with(&mut self, now: Option<Time>, act: impl FnOnce(&mut Connection)) {
        if let Some(now) = now {
            self.host.connections.set_now(now);
        }
        self.host.connections.with(self.conn.index(), act);
    }
}

impl Wire for ServerWire<'_> {
    fn space(&mut self) -> &mut [u8] {
        self.host.connections.get_mut(self.conn.index()).map(Wire::space).unwrap_or_default()
    }

    fn filled(&mut self, now: Time, n: usize) {
        self.with(Some(now), |server| server.filled(now, n));
    }

    fn feed(&mut self, now: Time, bytes: &[u8]) {
        self.with(Some(now), |server| server.feed(now, bytes));
    }

    fn feed_eof(&mut self, now: Time) {
        self.with(Some(now), |server| server.feed_eof(now));
    }

    fn outgoing(&self) -> &[u8] {
        self.server().map(Wire::outgoing).unwrap_or_default()
    }

    fn sent(&mut self, n: usize) {
        self.with(None, |server| server.sent(n));
        if !self.server().is_some_and(Connection::has_unwritten_mention) {
            self.host.mentions.on_written(self.conn.into());
        }
        self.host.send_mentions();
    }

    fn wants_input(&self) -> bool {
        self.server().is_some_and(Wire::wants_input)
    }

    fn is_done(&self) -> bool {
        self.server().is_none_or(Wire::is_done)
    }

    fn trim(&mut self) {
        if let Some(server) = self.host.connections.get_mut(self.conn.index()) {
            server.trim();
        }
    }
}
