//! The WebSocket server: reads the request of the opening handshake, lets the application accept or
//! reject the request, and serves the connection.

use super::head::{EMPTY_LINE, EndSearch};
use super::mask::Unmasked;
use super::output::{Phase, Timer};
use super::request::{self, Key, Refusal, Request};
use super::sender::Lend;
use super::stream::{Head, Stream};
use super::{Closed, Event, Limits, OwnedEvent, SendError, Sender};
use crate::pass::{Pass, Single, machine};
use crate::{Output, Time};

/// The server's side of one accepted connection. The states are drawn in the documentation of
/// [`ws`](super).
///
/// Feed it what the socket reads, and poll it until it waits; [`Output`] has the rules of the loop.
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
#[derive(Debug)]
pub struct Server {
    pub(crate) stream: Stream<Unmasked>,
    opening: Opening,
}

/// The progress of the opening handshake.
#[derive(Debug)]
enum Opening {
    Reading(EndSearch),
    /// The wait for the decision of the application on the head with this length and this key.
    Deciding(usize, Key),
    Over,
}

impl Server {
    /// Creates the server's side of a connection that was accepted at `now`. If a limit is 0, the
    /// connection ends at once ([`Closed::ZeroLimit`]).
    #[must_use]
    pub fn new(limits: Limits, now: Time) -> Self {
        let zero = limits.first_zero();
        let mut server = Self {
            stream: Stream::new(Unmasked, true, limits, now),
            opening: Opening::Reading(EndSearch::default()),
        };
        if let Some(limit) = zero {
            server.end_misconfigured(limit);
        }
        server
    }

    /// Ends the connection because this limit, of this layer or of a layer above, is 0.
    pub(crate) fn end_misconfigured(&mut self, limit: &'static str) {
        self.opening = Opening::Over;
        self.stream.output.end_abruptly(Closed::ZeroLimit(limit));
    }

    /// Feeds bytes from the socket. Their events come with the next [`poll`](Self::poll).
    ///
    /// The connection ends ([`InputOverflow`](crate::ws::Closed::InputOverflow)) if bytes come while
    /// [`wants_input`](Self::wants_input) is false, or a piece is larger than 256 KiB.
    #[inline]
    pub fn feed(&mut self, now: Time, bytes: &[u8]) {
        if self.has_room() || bytes.is_empty() {
            self.stream.feed(now, bytes);
        } else {
            self.stream.overfeed(now);
        }
    }

    /// Tells the server that the client's stream has ended, or that the last [`Write`](Output::Write) has failed.
    ///
    /// What came before the end is still delivered and answered: a client can close its side and read on. After a failed
    /// write, or a second end, nothing more is written.
    pub fn feed_eof(&mut self, now: Time) {
        self.take_end(now);
    }

    /// Returns the next thing to do: react to an event, write, close, or wait.
    pub fn poll(&mut self, now: Time) -> Output<'_, OwnedEvent> {
        self.next_output(now)
    }

    /// Reports how many bytes of the last [`Write`](Output::Write) the socket took; 0 if it would block. The rest is
    /// offered again, in the next pass at the latest. A number above the length of the offer counts as the whole offer.
    #[inline]
    pub fn written(&mut self, n: usize) {
        self.take_written(n);
    }

    /// Reads from a socket that does not block, and feeds what has come, until the socket would block or
    /// [`wants_input`](Self::wants_input) is false. An error is more than the end of the
    /// stream: nothing is written after it either.
    ///
    /// Returns true if the machine wanted no more, so that the socket can have more to read. A poller that tells you of a
    /// socket only once (mio, epoll with EPOLLET) will not tell you again: read it once more after the pass.
    #[cfg(feature = "std")]
    pub fn read_from(&mut self, now: Time, socket: &mut (impl std::io::Read + ?Sized)) -> bool {
        self.read_socket(now, socket)
    }

    /// Answers the last [`Write`](Output::Write): writes its bytes to a socket that does not block, and reports with
    /// [`written`](Self::written) or [`feed_eof`](Self::feed_eof) what came of it. A wrong count is the one mistake of a
    /// loop that nobody here can see, and this method makes none.
    #[cfg(feature = "std")]
    pub fn write_to(&mut self, now: Time, socket: &mut (impl std::io::Write + ?Sized)) {
        self.write_socket(now, socket);
    }

    /// Returns true if you may read more bytes from the socket. While it is false, the server waits for a poll, or for
    /// room in the send buffer.
    #[inline]
    #[must_use]
    pub fn wants_input(&self) -> bool {
        self.has_room() && self.stream.wants_input()
    }

    /// Returns true unless a head has arrived that is too long.
    #[inline]
    fn has_room(&self) -> bool {
        matches!(self.opening, Opening::Over)
            || self.stream.input.rx.bytes().len() <= self.stream.output.limits.head
    }

    /// Returns true if bytes wait for room in the socket: let your loop wake when the socket is writable.
    #[inline]
    #[must_use]
    pub fn wants_output(&self) -> bool {
        !self.stream.output.outgoing().is_empty()
    }

    /// Returns room for a read, to [feed](Self::feed) without a copy: read into it, then call
    /// [`filled`](Self::filled). Empty exactly while [`wants_input`](Self::wants_input) is false, and valid until the
    /// next poll, [`feed`](Self::feed) or [`trim`](Self::trim).
    #[inline]
    pub fn space(&mut self) -> &mut [u8] {
        if matches!(self.stream.output.phase, Phase::Handshake) {
            self.head_space()
        } else {
            self.stream.space()
        }
    }

    /// Feeds the first `n` bytes of [`space`](Self::space). An `n` beyond it ends the connection as too many bytes in
    /// [`feed`](Self::feed) do.
    #[inline]
    pub fn filled(&mut self, now: Time, n: usize) {
        self.stream.filled(now, n);
    }

    /// Frees the memory that an idle connection does not need. Nothing else changes.
    pub fn trim(&mut self) {
        self.stream.trim();
    }

    /// Returns the time of the next pass, as the last [`Wait`](Output::Wait) did, but with what you have done since:
    /// not in the future while there is something to do.
    #[must_use]
    pub fn deadline(&self) -> Option<Time> {
        self.next_pass()
    }

    /// Returns the next event that the received bytes bring, lent instead of copied, together with the sender to answer
    /// it. Call this until it returns `None`, and then run the pass: it writes and closes, and still brings the events of
    /// timers.
    ///
    /// ```
    /// # use ide_mcp::ws;
    /// fn echo(server: &mut ws::Server) {
    ///     while let Some((event, mut sender)) = server.poll_lent() {
    ///         if let ws::Event::Text(text) = event {
    ///             let _ = sender.text(text);
    ///         }
    ///     }
    /// }
    /// ```
    #[inline]
    pub fn poll_lent(&mut self) -> Option<(Event<'_>, Sender<'_>)> {
        if self.stream.awaits_more() { None } else { self.next_event() }
    }

    /// Accepts the request of [`Event::Upgrade`], with a sub-protocol that the client offered, or with
    /// none.
    ///
    /// # Errors
    /// [`SendError`] if no request is pending, or the client did not offer the sub-protocol; then
    /// nothing has changed.
    pub fn accept(&mut self, subprotocol: Option<&str>) -> Result<(), SendError> {
        let (head, key) = self.deciding().ok_or(SendError::NoPendingRequest)?;
        let request = Request::new(self.stream.input.rx.bytes().get(..head).unwrap_or_default());
        if subprotocol.is_some_and(|chosen| !request.offers(chosen)) {
            return Err(SendError::NotOffered);
        }
        request::write_acceptance(&key, subprotocol, self.stream.output.tx.buffer());
        self.stream.input.rx.consume(head);
        self.stream.output.open();
        self.opening = Opening::Over;
        Ok(())
    }

    /// Refuses the request of [`Event::Upgrade`] with this answer, and ends the connection
    /// ([`Closed::Refused`]). Bytes behind the request are dropped unread.
    ///
    /// # Errors
    /// [`SendError::NoPendingRequest`] if no request is pending.
    pub fn reject(&mut self, refusal: Refusal) -> Result<(), SendError> {
        self.deciding().ok_or(SendError::NoPendingRequest)?;
        self.refuse(refusal);
        Ok(())
    }

    /// Returns the sender of the connection.
    #[inline]
    pub fn sender(&mut self) -> Sender<'_> {
        self.stream.output.lend()
    }

    /// Returns true if the send buffer is at or above [`Limits::outgoing`]. Then the server reads and
    /// keeps the input, and delivers it once there is room or the transport has ended.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.stream.output.tx.is_full()
    }

    /// Returns true if the connection has ended, even if the end is not reported yet.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.stream.output.has_ended()
    }

    /// Returns true if the opening handshake has succeeded and the connection has not begun to close or
    /// end.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.stream.output.is_open()
    }

    /// Ends the connection at once, without an answer and without a close frame: for a peer that is to
    /// receive no output.
    #[cfg(feature = "ide")]
    pub(crate) fn abort(&mut self) {
        self.opening = Opening::Over;
        self.stream.output.end_abruptly(Closed::Local { clean: false });
    }

    /// Ends the connection because the peer broke a rule of this layer or of a layer above. An open
    /// connection sends a close frame with the code of
    /// [`ProtocolError::close_code`](super::ProtocolError::close_code).
    #[cfg(feature = "ide")]
    pub(crate) fn fail(&mut self, error: super::ProtocolError) {
        self.stream.output.fail(error);
    }

    /// Ends the connection because the peer did not answer a layer above this one in time. An open connection
    /// sends a close frame with 1001 and this reason, of which at most 123 bytes are written.
    #[cfg(feature = "ide")]
    pub(crate) fn time_out(&mut self, reason: &str) {
        self.stream.output.time_out(reason);
    }

    fn deciding(&self) -> Option<(usize, Key)> {
        match self.opening {
            Opening::Deciding(head, key) if !self.stream.output.has_ended() => Some((head, key)),
            Opening::Deciding(..) | Opening::Reading(_) | Opening::Over => None,
        }
    }

    fn next_event(&mut self) -> Option<(Event<'_>, Sender<'_>)> {
        if matches!(self.stream.output.phase, Phase::Handshake) {
            if let Some(head) = self.read_head() {
                let head = self.stream.input.rx.bytes().get(..head).unwrap_or_default();
                return Some((Event::Upgrade(Request::new(head)), self.stream.output.lend()));
            }
        }
        self.stream.next_event()
    }

    /// Returns the length of a valid head, once it is complete. An invalid, late or too long head ends
    /// the connection.
    fn read_head(&mut self) -> Option<usize> {
        let Opening::Reading(search) = &mut self.opening else { return None };
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
        self.opening = Opening::Deciding(len, key);
        Some(len)
    }

    /// Returns the space for a read during the handshake: no more than a head of the permitted length needs.
    fn head_space(&mut self) -> &mut [u8] {
        let held = self.stream.input.rx.bytes().len();
        let room = if self.wants_input() {
            self.stream.output.limits.head.saturating_add(1).saturating_sub(held)
        } else {
            0
        };
        self.stream.input.rx.space_up_to(room)
    }

    fn refuse(&mut self, refusal: Refusal) {
        refusal.write(self.stream.output.tx.buffer());
        self.stream.output.end(Closed::Refused(refusal));
    }
}

impl Single for Server {
    fn pass(&self) -> Pass {
        self.stream.output.pass
    }

    fn pass_mut(&mut self) -> &mut Pass {
        &mut self.stream.output.pass
    }

    fn tick(&mut self, now: Time) {
        self.stream.output.set_now(now);
    }

    fn poll_event(&mut self) -> Option<OwnedEvent> {
        self.poll_lent().map(|(event, _)| event.into_owned())
    }

    fn due(&self) -> Time {
        let is_opening = matches!(self.stream.output.phase, Phase::Handshake);
        // The next poll reads the bytes of a head that is not whole yet.
        let is_reading = is_opening && matches!(self.opening, Opening::Reading(_));
        if is_reading && self.stream.input.rx.has_fresh() { Time::ZERO } else { self.stream.due() }
    }

    #[inline]
    fn outgoing(&self) -> &[u8] {
        self.stream.output.outgoing()
    }

    #[inline]
    fn sent(&mut self, n: usize) {
        self.stream.output.sent(n);
    }

    fn end_stream(&mut self, now: Time) {
        self.stream.end_stream(now);
    }

    fn is_done(&self) -> bool {
        self.stream.output.is_done()
    }
}

machine!(Server: OwnedEvent);

#[cfg(all(test, target_pointer_width = "64"))]
mod tests {
    use super::*;

    /// The close frame of 1001 has the reason, and the application hears of the time.
    #[cfg(feature = "ide")]
    #[test]
    fn time_out_goes_away_with_the_reason() {
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
