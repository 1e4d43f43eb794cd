//! The send half of a connection: frames, the waiting pong, the close frame, the timers, and the end.

use super::close::{self, CloseCode};
use super::frame::{self, Header, Opcode};
use super::mask::Masking;
use super::message::Kind;
use super::{Closed, Limits, ProtocolError, SendError};
use crate::Time;
use crate::buf::Tx;
use crate::keepalive::{Pulse, PulseEvent};
#[cfg(feature = "mcp")]
use crate::outbox::NotSent;
use crate::pass::Pass;
use crate::text::truncate;
use crate::time::Timers;
use alloc::{boxed::Box, vec::Vec};

/// The phase of a connection. The diagram is in the documentation of [`ws`](super).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// The opening handshake, until it succeeds.
    Handshake,
    Open,
    /// The close handshake: our close frame is sent, the peer's has not come.
    Closing,
    /// The connection has ended, and the end is not reported yet.
    Ended,
    /// The end was reported.
    Reported,
}

/// The timers of a connection, apart from its keepalive.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Timer {
    /// The phase is over, see [`Output::time_phase`].
    Phase,
    /// The peer must have read one high-water mark of bytes since this was set. Runs while the send buffer is above its
    /// mark, and while our close frame waits in it.
    Stalled,
}

const TIMERS: usize = 2;

/// The send half, with the phase, clock and timers that sending and ending need.
#[derive(Debug)]
pub(crate) struct Output<M> {
    pub(crate) tx: Tx,
    mask: M,
    pub(crate) phase: Phase,
    pub(crate) now: Time,
    pub(crate) timers: Timers<TIMERS>,
    pulse: Pulse,
    pub(crate) limits: Limits,
    /// The end, until it is reported.
    closed: Option<Closed>,
    /// The pong that waits while [`MAX_PONGS`] others are still unwritten.
    waiting_pong: Option<Box<[u8]>>,
    /// Where the last pong, or our close frame, ends in the outgoing stream. No pong follows a close frame.
    last_pong_ends: u64,
    /// How many pongs were sent since all of them were last written.
    unwritten_pongs: u8,
    /// The kind of the fragmented message in progress.
    unfinished: Option<Kind>,
    /// True once the peer's stream has ended. Earlier input is still delivered and answered, since a peer may end its
    /// stream and read on.
    pub(crate) is_cut_off: bool,
    /// True if nothing more can be written either.
    pub(crate) is_severed: bool,
    pub(crate) pass: Pass,
    /// Where in the outgoing stream [`Timer::Stalled`] is set again.
    extended_at: u64,
    /// True while the connection waits for the peer to read. It may be allowed to wait forever, and then no timer would
    /// show it.
    is_watched: bool,
}

/// How many pongs may be unwritten in the send buffer. Pings that arrive in one read are answered before anything can
/// be written; cases 2.10 and 2.11 of the Autobahn test suite send ten and expect ten answers.
///
/// While the peer reads, every ping gets its answer. If it does not, [`MAX_PONGS`] are answered, and the pong for the
/// latest ping waits; RFC 6455 section 5.5.3 allows us to leave out the others. So a flood of pings cannot fill the
/// buffer.
const MAX_PONGS: u8 = 16;

impl<M: Masking> Output<M> {
    /// The length of the header of a message of 126 to 65,535 bytes, the size of most messages. The buffer reserves
    /// this much, so that the text can be written in place.
    #[cfg(feature = "mcp")]
    const RESERVED: usize = if M::MASKS { 8 } else { 4 };

    #[inline]
    pub(crate) fn new(mask: M, limits: Limits, now: Time) -> Self {
        let mut output = Self {
            pulse: Pulse::new(limits.keepalive),
            tx: Tx::new(limits.outgoing),
            mask,
            phase: Phase::Handshake,
            now,
            timers: Timers::new(),
            limits,
            closed: None,
            waiting_pong: None,
            last_pong_ends: 0,
            unwritten_pongs: 0,
            unfinished: None,
            is_cut_off: false,
            is_severed: false,
            pass: Pass::default(),
            extended_at: 0,
            is_watched: false,
        };
        output.time_phase();
        output
    }

    #[inline]
    pub(crate) fn set_now(&mut self, now: Time) {
        self.now = self.now.max(now);
    }

    /// Records that the opening handshake has succeeded.
    pub(crate) fn open(&mut self) {
        self.phase = Phase::Open;
        self.time_phase();
        self.pulse.on_activity(self.now);
        // The answer to the handshake alone may reach the mark.
        self.watch_fill();
    }

    /// Records that a byte arrived from the peer.
    #[inline]
    pub(crate) fn on_activity(&mut self) {
        // Above the high-water mark we may stop reading, so silence does not mean that the peer is dead.
        if self.is_open() && !self.tx.is_full() {
            self.pulse.on_activity(self.now);
        }
    }

    /// Returns true between a successful opening handshake and the beginning of any ending.
    #[inline]
    pub(crate) fn is_open(&self) -> bool {
        matches!(self.phase, Phase::Open)
    }

    /// Pings a silent peer, and ends the connection after the keepalive timeout. Returns true if it did either.
    pub(crate) fn check(&mut self) -> bool {
        match self.pulse.check(self.now, self.limits.keepalive) {
            None => return false,
            Some(PulseEvent::Ping) => {
                // The pulse is armed only while the connection is open and has room.
                let _ = self.ping(&[]);
            }
            Some(PulseEvent::Timeout) => self.end_abruptly(Closed::TimedOut),
        }
        true
    }

    /// Returns true if certainly no timer is due.
    #[inline]
    pub(crate) fn is_quiet(&self) -> bool {
        self.now < self.timers.due && self.now < self.pulse.due
    }

    /// Returns when the next timer is due.
    #[inline]
    pub(crate) fn due(&self) -> Time {
        self.timers.due.min(self.pulse.due)
    }

    /// Sends a message or a part of a message; `last` is true for the last part.
    pub(crate) fn send(&mut self, kind: Kind, payload: &[u8], last: bool) -> Result<(), SendError> {
        self.may_send()?;
        if self.tx.is_full() {
            return Err(SendError::Full);
        }
        let opcode = match (self.unfinished, kind) {
            (None, Kind::Text) => Opcode::Text,
            (None, Kind::Binary) => Opcode::Binary,
            (Some(begun), kind) if begun == kind => Opcode::Continuation,
            (Some(_), _) => return Err(SendError::Unfinished),
        };
        self.frame(last, opcode, payload)?;
        self.unfinished = (!last).then_some(kind);
        Ok(())
    }

    /// Sends a whole message, which cannot lie inside a fragmented message (RFC 6455 section 5.4).
    #[inline]
    pub(crate) fn send_whole(&mut self, kind: Kind, payload: &[u8]) -> Result<(), SendError> {
        // A short message of a server nearly always fits the memory that the buffer has.
        if let (false, Phase::Open, None, Ok(len @ 0..=125)) =
            (M::MASKS, self.phase, self.unfinished, u8::try_from(payload.len()))
        {
            let first = match kind {
                Kind::Text => 0x81,
                Kind::Binary => 0x82,
            };
            if self.tx.push_short([first, len], payload) {
                return Ok(());
            }
        }
        self.send_any(kind, payload)
    }

    fn send_any(&mut self, kind: Kind, payload: &[u8]) -> Result<(), SendError> {
        self.may_send()?;
        if self.unfinished.is_some() {
            return Err(SendError::Unfinished);
        }
        self.send(kind, payload, true)
    }

    pub(crate) fn ping(&mut self, payload: &[u8]) -> Result<(), SendError> {
        if payload.len() > 125 {
            return Err(SendError::TooLong);
        }
        self.may_send()?;
        if self.tx.is_full() {
            return Err(SendError::Full);
        }
        self.frame(true, Opcode::Ping, payload)
    }

    /// Begins a text message, whose length is known only once it is written, and returns where its text begins in the
    /// buffer. Above the high-water mark only answers are written, and they are accepted. But after the end of the
    /// transport they are refused above the mark, because the input that is still delivered must not cause unbounded
    /// output.
    #[cfg(feature = "mcp")]
    pub(crate) fn begin_message(&mut self) -> Result<usize, NotSent> {
        let goes_nowhere = self.is_cut_off && self.tx.is_full();
        if !self.is_open() || self.unfinished.is_some() || goes_nowhere {
            return Err(NotSent::Closed);
        }
        let buf = self.tx.buffer();
        let body = buf.len().saturating_add(Self::RESERVED);
        buf.resize(body, 0);
        Ok(body)
    }

    /// Ends the message whose text begins at `body`. If there is no text, there is no message.
    #[cfg(feature = "mcp")]
    pub(crate) fn end_message(&mut self, body: usize) -> Result<(), NotSent> {
        let at = body.saturating_sub(Self::RESERVED);
        let buf = self.tx.buffer();
        let len = buf.len().saturating_sub(body);
        if len == 0 {
            buf.truncate(at);
            return Ok(());
        }
        // Draw the key only if there is a message, so that a refused one costs none.
        let Ok(key) = self.mask.key() else {
            buf.truncate(at);
            self.end(Closed::Entropy);
            return Err(NotSent::Closed);
        };
        if let (Some(key), Some(payload)) = (key, buf.get_mut(body..)) {
            frame::mask(key, 0, payload);
        }
        let header = Header { fin: true, opcode: Opcode::Text, len: len as u64, key }.encode();
        match buf.get_mut(at..body) {
            Some(place) if place.len() == header.bytes().len() => place.copy_from_slice(header.bytes()),
            _ => drop(buf.splice(at..body.min(buf.len()), header.bytes().iter().copied())),
        }
        self.watch_fill();
        Ok(())
    }

    /// Answers a ping with a pong, which may wait for room.
    pub(crate) fn pong(&mut self, payload: &[u8]) {
        if self.tx.written() >= self.last_pong_ends {
            self.unwritten_pongs = 0;
        }
        if self.unwritten_pongs < MAX_PONGS && self.waiting_pong.is_none() {
            self.write_pong(payload);
        } else {
            self.waiting_pong = Some(payload.into());
        }
    }

    /// Begins the close handshake. The peer has [`Limits::close`] to answer once the close frame is written.
    ///
    /// Before that, the connection ends if nothing is written for [`Limits::close`] (the peer reads nothing), or less
    /// than the high-water mark in [`Limits::stalled`] (it reads too slowly).
    pub(crate) fn close(&mut self, code: CloseCode, reason: &str) -> Result<(), SendError> {
        self.may_send()?;
        self.close_frame(Some(code), reason)?;
        self.phase = Phase::Closing;
        self.waiting_pong = None;
        self.last_pong_ends = self.tx.position();
        self.pulse.stop();
        self.time_phase();
        self.watch_anew();
        Ok(())
    }

    /// Handles the peer's close frame: answers it with the same code, unless it is the answer to our
    /// close frame.
    pub(crate) fn closed_by_peer(&mut self, code: Option<CloseCode>, reason: &str) {
        if self.phase == Phase::Closing {
            return self.end(Closed::Local { clean: true });
        }
        let _ = self.close_frame(code, "");
        self.end(Closed::Remote { code, reason: reason.into() });
    }

    /// Ends the connection because the peer broke a rule. If the connection is open, it first sends a close frame that
    /// names the rule.
    pub(crate) fn fail(&mut self, error: ProtocolError) {
        self.end_with(error.close_code(), error.rule(), Closed::ProtocolError(error));
    }

    /// Ends the connection because the peer does not answer. An open connection sends a close frame first, because the
    /// peer may still be reading.
    #[cfg(feature = "ide")]
    pub(crate) fn time_out(&mut self, reason: &str) {
        self.end_with(CloseCode::GOING_AWAY, reason, Closed::TimedOut);
    }

    /// Ends the connection. An open connection sends a close frame with this code and reason first.
    pub(crate) fn end_with(&mut self, code: CloseCode, reason: &str, closed: Closed) {
        if self.phase == Phase::Open {
            let _ = self.close_frame(Some(code), reason);
        }
        self.end(closed);
    }

    /// Records the end of the peer's stream. A second call means that nothing can be written either.
    pub(crate) fn cut_off(&mut self) {
        if core::mem::replace(&mut self.is_cut_off, true) {
            self.is_severed = true;
            self.tx.discard();
        }
    }

    /// Ends the connection. What is in the send buffer may take the drain time to be written.
    pub(crate) fn end(&mut self, closed: Closed) {
        if matches!(self.phase, Phase::Ended | Phase::Reported) {
            return;
        }
        if self.is_severed {
            self.tx.discard();
        }
        self.phase = Phase::Ended;
        self.closed = Some(closed);
        self.waiting_pong = None;
        self.pulse.stop();
        self.timers = Timers::new();
        self.time_phase();
    }

    /// Ends the connection and drops the send buffer, because nothing more can be written.
    pub(crate) fn end_abruptly(&mut self, closed: Closed) {
        self.tx.discard();
        self.end(closed);
    }

    /// Returns the end of the connection, once.
    pub(crate) fn take_closed(&mut self) -> Option<Closed> {
        let closed = self.closed.take()?;
        self.phase = Phase::Reported;
        Some(closed)
    }

    /// Returns true until the connection or the peer's stream has ended.
    #[inline]
    pub(crate) const fn is_reading(&self) -> bool {
        !self.has_ended() && !self.is_cut_off
    }

    #[inline]
    pub(crate) const fn has_ended(&self) -> bool {
        matches!(self.phase, Phase::Ended | Phase::Reported)
    }

    pub(crate) fn is_done(&self) -> bool {
        matches!(self.phase, Phase::Reported) && self.outgoing().is_empty()
    }

    #[inline]
    pub(crate) fn outgoing(&self) -> &[u8] {
        if self.has_ended() && self.drain_is_over() { &[] } else { self.tx.pending() }
    }

    /// Records that `n` pending bytes were written. Returns true if anything was, or may have been, waiting for that.
    #[inline]
    pub(crate) fn sent(&mut self, n: usize) -> bool {
        if n == 0 {
            return false;
        }
        self.tx.sent(n);
        let has_waited = self.waiting_pong.is_some() || self.is_watched;
        if has_waited {
            self.has_room();
        }
        has_waited || !self.is_open()
    }

    /// Sends the waiting pong if the send buffer now has room for it, and updates the timers.
    #[cold]
    fn has_room(&mut self) {
        if self.tx.written() >= self.last_pong_ends {
            if let Some(payload) = self.waiting_pong.take() {
                self.unwritten_pongs = 0;
                self.write_pong(&payload);
            }
        }
        if self.phase == Phase::Closing {
            self.time_phase();
        }
        self.watch_fill();
    }

    /// Starts, extends or stops [`Timer::Stalled`], which watches a peer that does not read.
    #[inline]
    pub(crate) fn watch_fill(&mut self) {
        if self.is_watched || self.tx.is_full() {
            self.watch();
        }
    }

    #[cold]
    fn watch(&mut self) {
        match (self.is_watched, self.waits_for_reader()) {
            (true, false) => {
                self.is_watched = false;
                self.timers.clear(Timer::Stalled as usize);
                self.on_activity();
            }
            (false, true) => {
                self.pulse.stop();
                self.watch_anew();
            }
            (true, true) if self.tx.written() >= self.extended_at => self.watch_anew(),
            (true, true) | (false, false) => {}
        }
    }

    fn watch_anew(&mut self) {
        self.is_watched = true;
        self.extended_at = self.tx.written().saturating_add(self.limits.outgoing as u64);
        self.timers.set(Timer::Stalled as usize, self.now.saturating_add(self.limits.stalled));
    }

    /// Returns true if the connection waits until the peer reads.
    fn waits_for_reader(&self) -> bool {
        match self.phase {
            Phase::Handshake | Phase::Open => self.tx.is_full(),
            Phase::Closing => self.tx.written() < self.last_pong_ends,
            Phase::Ended | Phase::Reported => false,
        }
    }

    /// Sets [`Timer::Phase`], counted from now: for the opening handshake, then for writing our close frame and waiting
    /// for its answer, then for writing the last bytes. An open connection has no such timer, and a server clears it as
    /// soon as the head has arrived.
    fn time_phase(&mut self) {
        let limit = match self.phase {
            Phase::Open => return self.timers.clear(Timer::Phase as usize),
            Phase::Handshake => self.limits.handshake,
            Phase::Closing => self.limits.close,
            Phase::Ended | Phase::Reported => self.limits.drain,
        };
        self.timers.set(Timer::Phase as usize, self.now.saturating_add(limit));
    }

    /// Returns true if the drain time is over. The connection has ended, so the timer is set.
    fn drain_is_over(&self) -> bool {
        self.timers.is_due(Timer::Phase as usize, self.now)
    }

    fn may_send(&self) -> Result<(), SendError> {
        match self.phase {
            Phase::Open => Ok(()),
            Phase::Handshake => Err(SendError::NotOpen),
            Phase::Closing | Phase::Ended | Phase::Reported => Err(SendError::Closed),
        }
    }

    fn close_frame(&mut self, code: Option<CloseCode>, reason: &str) -> Result<(), SendError> {
        let Some(code) = code else { return self.frame(true, Opcode::Close, &[]) };
        let mut body = Vec::with_capacity(2 + close::MAX_REASON);
        body.extend_from_slice(&code.get().to_be_bytes());
        body.extend_from_slice(truncate(reason, close::MAX_REASON).as_bytes());
        self.frame(true, Opcode::Close, &body)
    }

    fn write_pong(&mut self, payload: &[u8]) {
        if self.frame(true, Opcode::Pong, payload).is_ok() {
            self.last_pong_ends = self.tx.position();
            self.unwritten_pongs = self.unwritten_pongs.saturating_add(1);
        }
    }

    fn frame(&mut self, fin: bool, opcode: Opcode, payload: &[u8]) -> Result<(), SendError> {
        let key = self.key()?;
        let header = Header { fin, opcode, len: payload.len() as u64, key }.encode();
        let buf = self.tx.buffer();
        buf.reserve(header.bytes().len().saturating_add(payload.len()));
        buf.extend_from_slice(header.bytes());
        let at = buf.len();
        buf.extend_from_slice(payload);
        if let (Some(key), Some(payload)) = (key, buf.get_mut(at..)) {
            frame::mask(key, 0, payload);
        }
        self.watch_fill();
        Ok(())
    }

    /// Returns the key for the next frame. If the source fails, the connection ends and can send nothing more, not even
    /// a close frame.
    fn key(&mut self) -> Result<Option<[u8; 4]>, SendError> {
        self.mask.key().map_err(|_| {
            self.end(Closed::Entropy);
            SendError::Entropy
        })
    }
}
