//! What both roles share: the connection after the opening handshake, and an end during it.

use super::close::{self, CloseCode};
use super::frame::Opcode;
use super::head::EndSearch;
use super::mask::Masking;
use super::message::Kind;
use super::output::{Output, Phase, Timer};
use super::receiver::{Item, Receiver};
use super::sender::Sender;
use super::{Closed, Event, Limits, ProtocolError, utf8};
use crate::Time;

/// A connection. Its halves are two fields, so that one can be borrowed while you use the other.
#[derive(Debug)]
pub(crate) struct Stream<M> {
    pub(crate) input: Receiver,
    pub(crate) output: Output<M>,
}

/// How far the head of the opening handshake was read.
pub(crate) enum Head {
    /// A complete head of this length.
    Whole(usize),
    /// The head is incomplete: more bytes are needed, or the transport has ended.
    Awaited,
    /// These bytes cannot become a head, for this reason.
    Malformed(&'static str),
    TooLong,
    TooSlow,
}

/// What a poll found, before anything is lent.
enum Found {
    Item(Item),
    /// The end of the connection, not reported yet.
    End,
}

impl<M: Masking> Stream<M> {
    pub(crate) fn new(mask: M, peer_masks: bool, limits: Limits, now: Time) -> Self {
        Self { input: Receiver::new(peer_masks), output: Output::new(mask, limits, now) }
    }

    /// Searches for the end of the head.
    pub(crate) fn read_head(&mut self, search: &mut EndSearch) -> Head {
        let Self { input, output } = self;
        let (held, limit) = (input.rx.bytes().len(), output.limits.head);
        // The search ends at the limit, so its result does not depend on how the bytes were cut.
        match search.end(input.rx.bytes().get(..held.min(limit)).unwrap_or_default()) {
            Err(reason) => Head::Malformed(reason),
            Ok(Some(len)) => Head::Whole(len),
            Ok(None) if held > limit => Head::TooLong,
            Ok(None) => {
                input.rx.mark_drained();
                let late = !output.is_cut_off && output.timers.take_due(Timer::Phase as usize, output.now);
                if late { Head::TooSlow } else { Head::Awaited }
            }
        }
    }

    #[inline]
    pub(crate) fn poll_borrowed(&mut self) -> Option<(Event<'_>, Sender<'_>)> {
        if self.awaits_more() { None } else { self.next_event() }
    }

    /// Returns true if a quick check shows that only more bytes can bring an event.
    // If a frame comes byte by byte, this and the functions below run for every byte, and a call that is not inlined
    // shows in measurements.
    #[inline(always)]
    pub(crate) fn awaits_more(&mut self) -> bool {
        if self.input.is_holding() {
            return self.flows() && self.output.is_quiet() && self.input.awaits_more();
        }
        !self.input.rx.has_fresh() && self.flows() && self.output.is_quiet()
    }

    #[inline]
    pub(crate) fn next_event(&mut self) -> Option<(Event<'_>, Sender<'_>)> {
        if !M::MASKS && self.flows() {
            if let Some(common) = self.input.common(self.output.limits.message) {
                let payload = self.input.take_common(common);
                return match common.kind {
                    Kind::Binary => Some((Event::Binary(payload), M::lend(&mut self.output))),
                    Kind::Text => lend_text(&mut self.output, payload),
                };
            }
        }
        self.next_event_of_any_kind()
    }

    /// Returns true if the connection is open, its transport has not ended, and its send buffer is not full, which is
    /// nearly always the case.
    #[inline]
    pub(crate) fn flows(&self) -> bool {
        self.output.is_open() && !self.output.is_cut_off && !self.output.tx.is_full()
    }

    #[inline(always)]
    fn next_event_of_any_kind(&mut self) -> Option<(Event<'_>, Sender<'_>)> {
        let item = match self.find()? {
            Found::End => {
                let closed = self.output.take_closed()?;
                return Some((Event::Closed(closed), M::lend(&mut self.output)));
            }
            Found::Item(item) => item,
        };
        let event = match item {
            Item::Assembled(Kind::Text) => Event::Text(self.input.text()),
            Item::Assembled(Kind::Binary) => Event::Binary(self.input.binary()),
            Item::Whole { kind: Kind::Binary, len } => Event::Binary(self.input.rx.consumed(len)),
            Item::Whole { kind: Kind::Text, len } => {
                return lend_text(&mut self.output, self.input.rx.consumed(len));
            }
            Item::Control { opcode: Opcode::Ping, len } => Event::Ping(self.input.rx.consumed(len)),
            Item::Control { len, .. } => Event::Pong(self.input.rx.consumed(len)),
        };
        Some((event, M::lend(&mut self.output)))
    }

    /// Finds the next event: first in the bytes, then the end of the transport, then the timers.
    #[inline(always)]
    fn find(&mut self) -> Option<Found> {
        loop {
            let discard = match self.output.phase {
                Phase::Open => false,
                Phase::Closing => true,
                Phase::Handshake => {
                    self.end_of_input_or_time()?;
                    continue;
                }
                Phase::Ended => return Some(Found::End),
                Phase::Reported => {
                    self.input.discard();
                    return None;
                }
            };
            // Above the high-water mark no message is parsed, because it may cause more output. There are two
            // exceptions: after our close frame no message causes output, and after the end of the transport no message
            // is added to the send buffer above the mark.
            if self.output.tx.is_full() && !discard && !self.output.is_cut_off {
                self.input.hold_back(&self.output.limits);
                self.end_of_input_or_time()?;
                continue;
            }
            match self.input.next(&self.output.limits, discard) {
                Err(error) => self.output.fail(error),
                Ok(Some(Item::Control { opcode: Opcode::Close, len })) => {
                    match close::parse(self.input.rx.consumed(len)) {
                        Ok((code, reason)) => self.output.closed_by_peer(code, reason),
                        Err(error) => self.output.fail(error),
                    }
                }
                Ok(Some(_)) if discard => {}
                Ok(Some(item)) => {
                    if let Item::Control { opcode: Opcode::Ping, len } = item {
                        self.output.pong(self.input.rx.consumed(len));
                    }
                    return Some(Found::Item(item));
                }
                Ok(None) => {
                    self.input.rx.mark_drained();
                    self.end_of_input_or_time()?;
                }
            }
        }
    }

    /// Handles the end of the transport and the timers, once the bytes bring no more events. Returns `None` if neither
    /// changes anything.
    fn end_of_input_or_time(&mut self) -> Option<()> {
        let now = self.output.now;
        // Nearly always there is nothing to handle.
        if !self.output.is_cut_off && self.output.is_quiet() {
            return None;
        }
        let mut due = |timer: Timer| self.output.timers.take_due(timer as usize, now);
        if self.output.is_cut_off {
            match self.output.phase {
                // After our close frame the end of the stream counts as an answer, but not as a clean one.
                Phase::Closing => self.output.end(Closed::Local { clean: false }),
                Phase::Handshake => self.output.end_abruptly(Closed::Abnormal),
                Phase::Open | Phase::Ended | Phase::Reported => self.output.end(Closed::Abnormal),
            }
        } else if self.output.phase == Phase::Closing {
            if !due(Timer::Phase) && !due(Timer::Stalled) {
                return None;
            }
            self.output.end(Closed::Local { clean: false });
        } else if due(Timer::Stalled) {
            self.output.end_abruptly(Closed::Stalled);
        } else if !self.output.check() {
            return None;
        }
        Some(())
    }

    /// Returns when the next event is due; [`Time::ZERO`] while one can be polled.
    #[inline]
    pub(crate) fn due(&self) -> Time {
        let output = &self.output;
        match output.phase {
            Phase::Open if !output.is_cut_off && (output.tx.is_full() || !self.input.rx.has_fresh()) => {
                output.due()
            }
            Phase::Closing if !output.is_cut_off && !self.input.rx.has_fresh() => output.due(),
            Phase::Handshake if !output.is_cut_off => output.due(),
            // The bytes, the end of the transport, or the end of the connection.
            Phase::Open | Phase::Closing | Phase::Handshake | Phase::Ended => Time::ZERO,
            Phase::Reported if output.is_done() => Time::NEVER,
            Phase::Reported => output.due(),
        }
    }

    /// Ends the connection because it was fed more bytes than it accepts.
    pub(crate) fn overfeed(&mut self, now: Time) {
        self.output.set_now(now);
        if self.output.is_reading() {
            self.output.end_with(CloseCode::INTERNAL, "", Closed::InputOverflow);
        }
    }
}

impl<M: Masking> Stream<M> {
    #[inline]
    pub(crate) fn space(&mut self) -> &mut [u8] {
        let room = if self.flows() || self.wants_input() { usize::MAX } else { 0 };
        self.input.rx.space_up_to(room)
    }

    #[inline]
    pub(crate) fn filled(&mut self, now: Time, n: usize) {
        self.output.set_now(now);
        if n == 0 || self.output.has_ended() {
            return;
        }
        if self.input.rx.filled(n) {
            self.output.on_activity();
        } else {
            self.overfeed(now);
        }
    }

    pub(crate) fn feed(&mut self, now: Time, bytes: &[u8]) {
        self.output.set_now(now);
        if bytes.is_empty() {
            return;
        }
        if self.output.is_reading() && self.input.rx.append(bytes) {
            self.output.on_activity();
        } else {
            self.overfeed(now);
        }
    }

    pub(crate) fn end_stream(&mut self, now: Time) {
        self.output.set_now(now);
        self.output.cut_off();
    }

    pub(crate) fn wants_input(&self) -> bool {
        self.output.is_reading() && self.input.rx.allowed() > 0
    }

    pub(crate) fn trim(&mut self) {
        self.input.trim();
        self.output.tx.trim();
    }
}

/// Lends a whole text message. If the payload is not UTF-8, ends the connection.
#[inline]
fn lend_text<'a, M: Masking>(
    output: &'a mut Output<M>,
    payload: &'a [u8],
) -> Option<(Event<'a>, Sender<'a>)> {
    if let Ok(text) = utf8::check(payload) {
        return Some((Event::Text(text), M::lend(output)));
    }
    output.fail(ProtocolError::InvalidUtf8);
    Some((Event::Closed(output.take_closed()?), M::lend(output)))
}
