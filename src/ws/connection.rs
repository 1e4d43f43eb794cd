//! One connection from either side: the methods that server and client share.

use super::mask::Masking;
use super::output::Phase;
use super::stream::Stream;
use super::{Event, OwnedEvent, Sender};
use crate::pass::{Pass, Single};
use crate::{Output, Time};
use core::fmt::Debug;

/// One side of a connection: [`Server`](super::Server) or [`Client`](super::Client). `S` is that side.
#[derive(Debug)]
#[allow(private_bounds, reason = "a connection has these two sides and no other")]
pub struct Connection<S: Side> {
    pub(crate) stream: Stream<S::Mask>,
    pub(super) side: S,
}

/// What differs between the two sides: the masking and the opening handshake.
pub(crate) trait Side: Debug + Sized {
    /// How this side masks.
    type Mask: Masking + Debug;

    /// Returns true while the handshake waits for bytes of its head.
    fn reads_head(&self) -> bool;

    /// Forgets the handshake.
    fn give_up(&mut self);

    /// Returns true unless a head has arrived that is too long.
    fn has_room(connection: &Connection<Self>) -> bool;

    /// Returns the space for a read during the handshake.
    fn head_space(connection: &mut Connection<Self>) -> &mut [u8];

    /// Returns the next event, borrowed from the connection.
    fn poll_borrowed(connection: &mut Connection<Self>) -> Option<(Event<'_>, Sender<'_>)>;
}

#[allow(private_bounds, reason = "a connection has these two sides and no other")]
impl<S: Side> Connection<S> {
    /// Feeds bytes from the socket. You get their events from [`poll`](Self::poll).
    ///
    /// The connection ends ([`InputOverflow`](crate::ws::Closed::InputOverflow)) if you feed it while
    /// [`wants_input`](Self::wants_input) is false, or more than 256 KiB at once.
    #[inline]
    pub fn feed(&mut self, now: Time, bytes: &[u8]) {
        if S::has_room(self) || bytes.is_empty() {
            self.stream.feed(now, bytes);
        } else {
            self.stream.overfeed(now);
        }
    }

    /// Tells the connection that the peer's stream has ended, or that the last [`Write`](Output::Write) has failed.
    ///
    /// What came before the end is still delivered and answered, because a peer may close its side and read on. After a
    /// failed write, or a second end, nothing more is written.
    pub fn feed_eof(&mut self, now: Time) {
        self.take_end(now);
    }

    /// Returns what to do next: react to an event, write, close, or wait.
    pub fn poll(&mut self, now: Time) -> Output<'_, OwnedEvent> {
        self.next_output(now)
    }

    /// Reports how many bytes of the last [`Write`](Output::Write) the socket took; 0 if it would block. The rest is
    /// offered again, in the next pass at the latest. A number above the length of the offer counts as the whole offer.
    #[inline]
    pub fn written(&mut self, n: usize) {
        self.take_written(n);
    }

    /// Reads a non-blocking socket and feeds what has come, until it would block or [`wants_input`](Self::wants_input)
    /// is false. After an error, unlike the end of the stream, nothing more is written.
    ///
    /// Returns true if the machine wanted no more, so the socket may still have more. A poller that tells you of a
    /// socket only once (mio, epoll with EPOLLET) will not tell you again: read the socket once more after the pass.
    #[cfg(feature = "std")]
    pub fn read_from(&mut self, now: Time, socket: &mut (impl std::io::Read + ?Sized)) -> bool {
        self.read_socket(now, socket)
    }

    /// Answers the last [`Write`](Output::Write): writes its bytes to a non-blocking socket, and calls
    /// [`written`](Self::written) or [`feed_eof`](Self::feed_eof). Prefer this to doing it yourself: a wrong count is
    /// the one mistake that no machine can detect.
    #[cfg(feature = "std")]
    pub fn write_to(&mut self, now: Time, socket: &mut (impl std::io::Write + ?Sized)) {
        self.write_socket(now, socket);
    }

    /// Returns true while you may read more bytes from the socket. If not, the connection waits for a poll, or for room
    /// in the send buffer.
    #[inline]
    #[must_use]
    pub fn wants_input(&self) -> bool {
        S::has_room(self) && self.stream.wants_input()
    }

    /// Returns true while bytes wait for room in the socket: ask your poller to wake you when it is writable.
    #[inline]
    #[must_use]
    pub fn wants_output(&self) -> bool {
        !self.stream.output.outgoing().is_empty()
    }

    /// Returns room for a read, which saves the copy of [`feed`](Self::feed): read into it, then call
    /// [`filled`](Self::filled). It is empty exactly while [`wants_input`](Self::wants_input) is false, and valid until
    /// the next poll, [`feed`](Self::feed) or [`trim`](Self::trim).
    #[inline]
    pub fn space(&mut self) -> &mut [u8] {
        if matches!(self.stream.output.phase, Phase::Handshake) {
            S::head_space(self)
        } else {
            self.stream.space()
        }
    }

    /// Feeds the first `n` bytes of [`space`](Self::space). A larger `n` ends the connection, as too many bytes in
    /// [`feed`](Self::feed) do.
    #[inline]
    pub fn filled(&mut self, now: Time, n: usize) {
        self.stream.filled(now, n);
    }

    /// Frees memory that an idle connection does not need. Nothing else changes.
    pub fn trim(&mut self) {
        self.stream.trim();
    }

    /// Returns when the next pass is due, taking into account what you have done since the last [`Wait`](Output::Wait):
    /// not in the future while there is something to do.
    #[must_use]
    pub fn deadline(&self) -> Option<Time> {
        self.next_pass()
    }

    /// Returns the next event of the received bytes without copying it, together with a sender for your answer. Use
    /// this if the copies cost you too much time: call it until it returns `None`, then run the pass, which writes,
    /// closes, and returns the events of timers.
    ///
    /// ```
    /// # use ide_mcp::ws;
    /// fn echo(server: &mut ws::Server) {
    ///     while let Some((event, mut sender)) = server.poll_borrowed() {
    ///         if let ws::Event::Text(text) = event {
    ///             let _ = sender.text(text);
    ///         }
    ///     }
    /// }
    /// ```
    #[inline]
    pub fn poll_borrowed(&mut self) -> Option<(Event<'_>, Sender<'_>)> {
        S::poll_borrowed(self)
    }

    /// Returns the sender of the connection.
    #[inline]
    pub fn sender(&mut self) -> Sender<'_> {
        S::Mask::lend(&mut self.stream.output)
    }

    /// Returns true if the send buffer is at or above [`Limits::outgoing`](super::Limits::outgoing). The connection
    /// then keeps its input, and delivers it once there is room or the transport has ended.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.stream.output.tx.is_full()
    }

    /// Returns true if the connection has ended, even if you have not polled the end yet.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.stream.output.has_ended()
    }

    /// Returns true between a successful opening handshake and the beginning of any ending.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.stream.output.is_open()
    }

    /// Ends the connection at once, without an answer and without a close frame.
    #[cfg(feature = "ide")]
    pub(crate) fn abort(&mut self) {
        self.side.give_up();
        self.stream.output.end_abruptly(super::Closed::Local { clean: false });
    }

    /// Ends the connection because the peer broke a rule of this or a higher layer. An open connection sends a close
    /// frame with the code of [`ProtocolError::close_code`](super::ProtocolError::close_code).
    #[cfg(feature = "ide")]
    pub(crate) fn fail(&mut self, error: super::ProtocolError) {
        self.stream.output.fail(error);
    }

    /// Ends the connection because the peer did not answer a higher layer in time. An open connection sends a close
    /// frame with 1001 and the first 123 bytes of this reason.
    #[cfg(feature = "ide")]
    pub(crate) fn time_out(&mut self, reason: &str) {
        self.stream.output.time_out(reason);
    }
}

impl<S: Side> Single for Connection<S> {
    type Event = OwnedEvent;

    #[inline]
    fn feed(&mut self, now: Time, bytes: &[u8]) {
        Self::feed(self, now, bytes);
    }

    #[inline]
    fn wants_input(&self) -> bool {
        Self::wants_input(self)
    }

    #[inline]
    fn space(&mut self) -> &mut [u8] {
        Self::space(self)
    }

    #[inline]
    fn filled(&mut self, now: Time, n: usize) {
        Self::filled(self, now, n);
    }

    fn trim(&mut self) {
        Self::trim(self);
    }

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
        self.poll_borrowed().map(|(event, _)| event.into_owned())
    }

    fn due(&self) -> Time {
        // The next poll reads the bytes of an incomplete head.
        let is_reading = self.stream.output.phase == Phase::Handshake && self.side.reads_head();
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
