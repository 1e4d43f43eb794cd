//! The WebSocket client: sends the request of the opening handshake, checks the answer, and masks every
//! frame that it sends.

use super::head::EndSearch;
use super::mask::Masked;
use super::output::Phase;
use super::response::{self, ClientRequest, InvalidClientRequest, NotAccepted};
use super::sender::Lend;
use super::stream::{Head, Stream};
use super::{Closed, Event, Limits, OwnedEvent, Sender};
use crate::pass::{Pass, Single, machine};
use crate::{Output, Time};
use base64::{Engine as _, prelude::BASE64_STANDARD};

/// The client's side of one connection. The first pass writes its request.
///
/// If the source of its masking keys fails, the connection ends with [`Closed::Entropy`].
#[derive(Debug)]
pub struct Client {
    pub(crate) stream: Stream<Masked>,
    opening: Option<Opening>,
}

/// The state of an opening handshake that waits for the answer.
#[derive(Debug)]
struct Opening {
    search: EndSearch,
    ask: ClientRequest,
    /// The bytes of the interim answers so far.
    interim: usize,
    /// The key of the handshake: 16 random bytes in base64.
    key: [u8; 24],
}

impl Client {
    /// Creates a client that requests to open a connection. `random` fills a slice with bytes that nobody can predict,
    /// as `getrandom::fill` does: RFC 6455 section 5.3 demands such keys for masking, and the handshake has one too.
    ///
    /// # Errors
    /// [`InvalidClientRequest`] if a part of the request is invalid, or a limit is 0.
    pub fn new<E>(
        ask: ClientRequest,
        random: impl FnMut(&mut [u8]) -> Result<(), E> + Send + Sync + 'static,
        limits: Limits,
        now: Time,
    ) -> Result<Self, InvalidClientRequest> {
        ask.check()?;
        if let Some(limit) = limits.first_zero() {
            return Err(InvalidClientRequest::ZeroLimit(limit));
        }
        let (mut mask, mut key) = (Masked::new(random), [0; 24]);
        let nonce = mask.nonce();
        let mut stream = Stream::new(mask, false, limits, now);
        if let Some(nonce) = nonce {
            // 16 bytes are 24 characters, so they always fit.
            let _ = BASE64_STANDARD.encode_slice(nonce, &mut key);
            ask.write(text(&key), stream.output.tx.buffer());
        } else {
            stream.output.end(Closed::Entropy);
        }
        let opening = Opening { search: EndSearch::default(), ask, interim: 0, key };
        Ok(Self { stream, opening: Some(opening) })
    }

    /// Feeds bytes from the socket. Their events come with the next [`poll`](Self::poll).
    ///
    /// The connection ends ([`InputOverflow`](crate::ws::Closed::InputOverflow)) if bytes come while
    /// [`wants_input`](Self::wants_input) is false, or a piece is larger than 256 KiB.
    #[inline]
    pub fn feed(&mut self, now: Time, bytes: &[u8]) {
        self.stream.feed(now, bytes);
    }

    /// Tells the client that the server's stream has ended, or that the last [`Write`](Output::Write) has failed.
    ///
    /// What came before the end is still delivered and answered: a server can close its side and read on. After a failed
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

    /// Returns true if you may read more bytes from the socket. While it is false, the client waits for a poll, or for
    /// room in the send buffer.
    #[inline]
    #[must_use]
    pub fn wants_input(&self) -> bool {
        self.stream.wants_input()
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
        self.stream.space()
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

    /// Returns the next event, lent instead of copied, together with the sender to answer it: see
    /// [`Server::poll_lent`](super::Server::poll_lent).
    pub fn poll_lent(&mut self) -> Option<(Event<'_>, Sender<'_>)> {
        if self.opening.is_some() {
            if let Some(chosen) = self.read_answer() {
                let offered = self.opening.as_ref().map(|opening| &opening.ask.subprotocols);
                let subprotocol = chosen.and_then(|index| Some(offered?.get(index)?.as_str()));
                return Some((Event::Open { subprotocol }, self.stream.output.lend()));
            }
        }
        self.stream.poll_lent()
    }

    /// Returns the sender of the connection.
    #[inline]
    pub fn sender(&mut self) -> Sender<'_> {
        self.stream.output.lend()
    }

    /// Returns true if the send buffer is at or above [`Limits::outgoing`]. Then the client reads and
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

    /// Ends the connection at once, without a close frame: for a client that gives up its opening handshake.
    #[cfg(feature = "ide")]
    pub(crate) fn abort(&mut self) {
        self.opening = None;
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

    /// Reads the answer. Once the answer is complete and valid, returns the index of the sub-protocol
    /// that the server chose, if any.
    fn read_answer(&mut self) -> Option<Option<usize>> {
        if self.stream.output.phase != Phase::Handshake {
            // The event `Open` has been returned by now, or will never be returned.
            self.opening = None;
            return None;
        }
        let opening = self.opening.as_mut()?;
        let found = loop {
            let head = self.stream.read_head(&mut opening.search);
            let Stream { input, output } = &mut self.stream;
            let len = match head {
                Head::Awaited => return None,
                Head::Whole(len) => len,
                Head::Malformed(_) => break Err(NotAccepted::Malformed),
                Head::TooLong => break Err(NotAccepted::TooLong),
                Head::TooSlow => break Err(NotAccepted::TimedOut),
            };
            let head = input.rx.bytes().get(..len).unwrap_or_default();
            match response::check(head, text(&opening.key), &opening.ask) {
                // Any number of interim answers can precede the last one (RFC 9110 section 15.2). Together they have
                // as many bytes as one head.
                Err(NotAccepted::Status(100 | 102..=199, _)) => {
                    opening.interim = opening.interim.saturating_add(len);
                    if opening.interim > output.limits.head {
                        break Err(NotAccepted::TooLong);
                    }
                    input.rx.consume(len);
                    opening.search = EndSearch::default();
                }
                checked => break checked.map(|chosen| (len, chosen)),
            }
        };
        let Stream { input, output } = &mut self.stream;
        let (len, chosen) = found.map_err(|error| output.end_abruptly(Closed::NotAccepted(error))).ok()?;
        input.rx.consume(len);
        output.open();
        Some(chosen)
    }
}

fn text(key: &[u8; 24]) -> &str {
    core::str::from_utf8(key).unwrap_or_default()
}

impl Single for Client {
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
        let awaiting = self.stream.output.phase == Phase::Handshake;
        if awaiting && self.stream.input.rx.has_fresh() {
            return Time::ZERO;
        }
        self.stream.due()
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

machine!(Client: OwnedEvent);
