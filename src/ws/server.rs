//! The WebSocket server: reads the opening request, lets you accept or reject it, and serves the connection.

use super::connection::{Connection, Side};
use super::head::{EMPTY_LINE, EndSearch};
use super::mask::{Masking as _, Unmasked};
use super::output::{Phase, Timer};
use super::request::{self, Key, Refusal, Request};
use super::stream::{Head, Stream};
use super::{Closed, Event, Limits, SendError, Sender};
use crate::Time;

/// The server's side of one accepted socket. [`ws`](super) has a diagram of its states.
///
/// Feed it what you read, and poll it until it waits; [`Output`](crate::Output) has the rules of the loop.
///
/// ```
/// use ide_mcp::{Output, Time, ws};
///
/// let (mut server, now) = (ws::Server::new(ws::Limits::default(), Time::ZERO), Time::ZERO);
/// server.feed(now, b"GET /chat HTTP/1.1\r\nHost: 127.0.0.1:1\r\nConnection: Upgrade\r\n\
///     Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
///     Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n\x81\x82\0\0\0\0Hi");
/// loop {
///     match server.poll(now) {
///         Output::Event(ws::OwnedEvent::Upgrade(upgrade)) => {
///             assert_eq!(upgrade.request().target(), "/chat");
///             server.accept(None).unwrap();
///         }
///         Output::Event(ws::OwnedEvent::Text(text)) => server.sender().text(&text).unwrap(),
///         Output::Write { bytes, .. } => {
///             assert!(bytes.starts_with(b"HTTP/1.1 101") && bytes.ends_with(b"\x81\x02Hi"));
///             let n = bytes.len();
///             server.written(n);
///         }
///         Output::Event(_) | Output::Close(()) => {}
///         Output::Wait(_) => break,
///     }
/// }
/// ```
pub type Server = Connection<Accepting>;

/// The side that accepts the connection.
#[derive(Debug)]
#[allow(unnameable_types, reason = "its name is `Server`")]
pub struct Accepting(Opening);

/// The progress of the opening handshake.
#[derive(Debug)]
enum Opening {
    Reading(EndSearch),
    /// The head with this length and this key waits for the decision of the application.
    Deciding(usize, Key),
    Over,
}

impl Server {
    /// Creates the server's side of a connection that you accepted at `now`. If a limit is 0, it ends at once
    /// ([`Closed::ZeroLimit`]).
    #[must_use]
    pub fn new(limits: Limits, now: Time) -> Self {
        let zero = limits.first_zero();
        let mut server = Self {
            stream: Stream::new(Unmasked, true, limits, now),
            side: Accepting(Opening::Reading(EndSearch::default())),
        };
        if let Some(limit) = zero {
            server.end_misconfigured(limit);
        }
        server
    }

    /// Ends the connection because this limit, of this or a higher layer, is 0.
    pub(crate) fn end_misconfigured(&mut self, limit: &'static str) {
        self.side.give_up();
        self.stream.output.end_abruptly(Closed::ZeroLimit(limit));
    }

    /// Accepts the request of [`Event::Upgrade`], with one of the sub-protocols that the client offered, or with none.
    ///
    /// # Errors
    /// [`SendError`] if no request is pending, or the client did not offer the sub-protocol; then nothing has changed.
    pub fn accept(&mut self, subprotocol: Option<&str>) -> Result<(), SendError> {
        let (head, key) = self.deciding().ok_or(SendError::NoPendingRequest)?;
        let request = Request::new(self.stream.input.rx.bytes().get(..head).unwrap_or_default());
        if subprotocol.is_some_and(|chosen| !request.offers(chosen)) {
            return Err(SendError::NotOffered);
        }
        request::write_acceptance(&key, subprotocol, self.stream.output.tx.buffer());
        self.stream.input.rx.consume(head);
        self.stream.output.open();
        self.side.give_up();
        Ok(())
    }

    /// Refuses the request of [`Event::Upgrade`] with this answer, and ends the connection ([`Closed::Refused`]). Bytes
    /// after the request are dropped unread.
    ///
    /// # Errors
    /// [`SendError::NoPendingRequest`] if no request is pending.
    pub fn reject(&mut self, refusal: Refusal) -> Result<(), SendError> {
        self.deciding().ok_or(SendError::NoPendingRequest)?;
        self.refuse(refusal);
        Ok(())
    }

    fn deciding(&self) -> Option<(usize, Key)> {
        match self.side.0 {
            Opening::Deciding(head, key) if !self.stream.output.has_ended() => Some((head, key)),
            Opening::Deciding(..) | Opening::Reading(_) | Opening::Over => None,
        }
    }

    fn next_event(&mut self) -> Option<(Event<'_>, Sender<'_>)> {
        if matches!(self.stream.output.phase, Phase::Handshake) {
            if let Some(head) = self.read_head() {
                let head = self.stream.input.rx.bytes().get(..head).unwrap_or_default();
                return Some((Event::Upgrade(Request::new(head)), Unmasked::lend(&mut self.stream.output)));
            }
        }
        self.stream.next_event()
    }

    /// Returns the length of a valid head, once it is complete. A head that is invalid, late or too long ends the
    /// connection.
    fn read_head(&mut self) -> Option<usize> {
        let Opening::Reading(search) = &mut self.side.0 else { return None };
        let found = match self.stream.read_head(search) {
            Head::Awaited => return None,
            Head::Whole(mut len) => {
                let rx = &mut self.stream.input.rx;
                if rx.bytes().starts_with(EMPTY_LINE) {
                    rx.consume(EMPTY_LINE.len());
                    len = len.saturating_sub(EMPTY_LINE.len());
                }
                request::check(rx.bytes().get(..len).unwrap_or_default()).map(|key| (len, key))
            }
            Head::Malformed(reason) => Err(request::bad(reason)),
            Head::TooLong => Err(request::TOO_LONG),
            Head::TooSlow => Err(request::TOO_SLOW),
        };
        let (len, key) = found.map_err(|refusal| self.refuse(refusal)).ok()?;
        self.stream.output.timers.clear(Timer::Phase as usize);
        self.side.0 = Opening::Deciding(len, key);
        Some(len)
    }

    fn refuse(&mut self, refusal: Refusal) {
        refusal.write(self.stream.output.tx.buffer());
        self.stream.output.end(Closed::Refused(refusal));
    }
}

impl Side for Accepting {
    type Mask = Unmasked;

    fn reads_head(&self) -> bool {
        matches!(self.0, Opening::Reading(_))
    }

    fn give_up(&mut self) {
        self.0 = Opening::Over;
    }

    #[inline]
    fn has_room(server: &Server) -> bool {
        matches!(server.side.0, Opening::Over)
            || server.stream.input.rx.bytes().len() <= server.stream.output.limits.head
    }

    /// Returns space for a head of the permitted length, and for one byte more, which shows that a head is too long.
    fn head_space(server: &mut Server) -> &mut [u8] {
        let held = server.stream.input.rx.bytes().len();
        let room = if server.wants_input() {
            server.stream.output.limits.head.saturating_add(1).saturating_sub(held)
        } else {
            0
        };
        server.stream.input.rx.space_up_to(room)
    }

    #[inline]
    fn poll_borrowed(server: &mut Server) -> Option<(Event<'_>, Sender<'_>)> {
        if server.stream.awaits_more() { None } else { server.next_event() }
    }
}

#[cfg(all(test, target_pointer_width = "64"))]
mod tests {
    use super::*;
    #[cfg(feature = "ide")]
    use crate::{Output, ws::OwnedEvent};

    /// The close frame has the code 1001 and the reason, and the application learns that the time ran out.
    #[cfg(feature = "ide")]
    #[test]
    fn time_out_closes_with_going_away_and_the_reason() {
        let mut server = Server::new(Limits::default(), Time::ZERO);
        let head = "GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n\
            Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
        server.feed(Time::ZERO, head.as_bytes());
        assert!(matches!(server.poll(Time::ZERO), Output::Event(OwnedEvent::Upgrade(_))));
        server.accept(None).unwrap();
        server.time_out("no answer");
        assert!(matches!(server.poll(Time::ZERO), Output::Event(OwnedEvent::Closed(Closed::TimedOut))));
        assert!(server.stream.output.outgoing().ends_with(b"\x88\x0b\x03\xe9no answer"));
    }

    #[test]
    fn connection_has_at_most_512_bytes() {
        assert!(size_of::<Server>() <= 512, "{}", size_of::<Server>());
    }
}
