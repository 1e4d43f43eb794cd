//! What both roles share once the handshake is over, and the ending that may come before it is.

use super::close::{self, CloseCode};
use super::frame::Opcode;
use super::head::EndSearch;
use super::mask::Masking;
use super::message::Kind;
use super::output::{Output, Phase, Timer};
use super::receiver::{Item, Receiver};
use super::sender::{Lend, Sender};
use super::{Closed, Event, Limits, ProtocolError, utf8};
use crate::{Time, Wire};

/// A connection: its two halves are different fields, so that one can be lent while the other is used.
#[derive(Debug)]
pub(crate) struct Stream<M> {
    pub(crate) input: Receiver,
    pub(crate) output: Output<M>,
}

/// How far the head is that opens the connection.
pub(crate) enum Head {
    /// It is there, and has this length.
    Whole(usize),
    /// More bytes are needed, or the transport has ended.
    Awaited,
    /// It cannot become one, for this reason.
    Malformed(&'static str),
    TooLong,
    TooSlow,
}

/// What a poll found, before anything is lent.
enum Found {
    Item(Item),
    /// It is over, and that was not told.
    End,
}

impl<M: Masking> Stream<M>
where
    Output<M>: Lend,
{
    pub(crate) fn new(mask: M, peer_masks: bool, limits: Limits, now: Time) -> Self {
        Self { input: Receiver::new(peer_masks), output: Output::new(mask, limits, now) }
    }

    /// Looks for the end of the head.
    pub(crate) fn read_head(&mut self, search: &mut EndSearch) -> Head {
        let Self { input, output } = self;
        let (held, limit) = (input.rx.bytes().len(), output.limits.head);
        // What lies behind the limit is not looked at: it must not matter whether it came in the same piece.
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
    pub(crate) fn poll_lent(&mut self) -> Option<(Event<'_>, Sender<'_>)> {
        if self.awaits_more() { None } else { self.next_event() }
    }

    /// Whether it is known at a glance that only more bytes can bring more.
    #[inline]
    pub(crate) fn awaits_more(&mut self) -> bool {
        self.input.is_holding() && self.flows() && self.output.is_quiet() && self.input.awaits_more()
    }

    #[inline]
    pub(crate) fn next_event(&mut self) -> Option<(Event<'_>, Sender<'_>)> {
        if !M::MASKS && self.flows() {
            if let Some(common) = self.input.common(self.output.limits.message) {
                let payload = self.input.take_common(common);
                return match common.kind {
                    Kind::Binary => Some((Event::Binary(payload), self.output.lend())),
                    Kind::Text => lend_text(&mut self.output, payload),
                };
            }
        }
        self.next_event_of_any_kind()
    }

    /// Whether the connection is open and nothing holds it up, as is nearly always so.
    #[inline]
    pub(crate) fn flows(&self) -> bool {
        self.output.is_open() && !self.output.is_cut_off && !self.output.tx.is_full()
    }

    fn next_event_of_any_kind(&mut self) -> Option<(Event<'_>, Sender<'_>)> {
        let item = match self.find()? {
            Found::End => {
                let closed = self.output.take_closed()?;
                return Some((Event::Closed(closed), self.output.lend()));
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
        Some((event, self.output.lend()))
    }

    /// Bytes, then the end of the transport, then timers.
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
            // Above the mark nothing is parsed that could provoke more output. After our close frame nothing does, and
            // after the end of the transport nothing is added to the send buffer.
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

    /// Nothing more comes of the bytes: does the end of the transport, or the time, end the connection?
    fn end_of_input_or_time(&mut self) -> Option<()> {
        let now = self.output.now;
        // Nearly always neither does.
        if !self.output.is_cut_off && self.output.is_quiet() {
            return None;
        }
        let mut due = |timer: Timer| self.output.timers.take_due(timer as usize, now);
        if self.output.is_cut_off {
            // After our close frame the end of the transport is an answer, if a curt one.
            let closing = self.output.phase == Phase::Closing;
            let closed = if closing { Closed::Local { clean: false } } else { Closed::Abnormal };
            self.output.end_abruptly(closed);
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

    /// Whether the bytes could bring an event.
    fn has_unparsed(&self) -> bool {
        match self.output.phase {
            Phase::Open => self.input.rx.has_fresh() && !self.output.tx.is_full(),
            Phase::Closing => self.input.rx.has_fresh(),
            Phase::Handshake | Phase::Ended | Phase::Reported => false,
        }
    }

    pub(crate) fn deadline(&self) -> Option<Time> {
        let output = &self.output;
        match output.phase {
            Phase::Ended => Some(output.now),
            Phase::Reported if self.is_done() => None,
            _ if !output.has_ended() && (self.output.is_cut_off || self.has_unparsed()) => Some(output.now),
            Phase::Handshake | Phase::Open | Phase::Closing | Phase::Reported => output.deadline(),
        }
    }

    /// Bytes came although none were wanted.
    pub(crate) fn overfeed(&mut self, now: Time) {
        self.output.set_now(now);
        if !self.output.has_ended() && !self.output.is_cut_off {
            self.output.end_with(CloseCode::INTERNAL, "", Closed::InputOverflow);
        }
    }

    pub(crate) fn tick(&mut self, now: Time) {
        self.output.set_now(now);
        if self.output.is_done() {
            self.output.tx.discard();
        }
    }
}

/// Lends a whole text; if it is none, that ends the connection.
#[inline]
fn lend_text<'a, M: Masking>(output: &'a mut Output<M>, payload: &'a [u8]) -> Option<(Event<'a>, Sender<'a>)>
where
    Output<M>: Lend,
{
    if let Ok(text) = utf8::check(payload) {
        return Some((Event::Text(text), output.lend()));
    }
    output.fail(ProtocolError::InvalidUtf8);
    Some((Event::Closed(output.take_closed()?), output.lend()))
}

impl<M: Masking> Wire for Stream<M>
where
    Output<M>: Lend,
{
    #[inline]
    fn space(&mut self) -> &mut [u8] {
        let room = if self.flows() || self.wants_input() { usize::MAX } else { 0 };
        self.input.rx.space_up_to(room)
    }

    #[inline]
    fn filled(&mut self, now: Time, n: usize) {
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

    fn feed(&mut self, now: Time, bytes: &[u8]) {
        self.output.set_now(now);
        if bytes.is_empty() || self.output.has_ended() || self.output.is_cut_off {
            return;
        }
        if self.wants_input() && self.input.rx.append(bytes) {
            self.output.on_activity();
        } else {
            self.overfeed(now);
        }
    }

    fn feed_eof(&mut self, now: Time) {
        self.output.set_now(now);
        self.output.is_cut_off = true;
        if self.output.has_ended() {
            self.output.tx.discard();
        }
    }

    #[inline]
    fn outgoing(&self) -> &[u8] {
        self.output.outgoing()
    }

    #[inline]
    fn sent(&mut self, n: usize) {
        self.output.sent(n);
    }

    fn wants_input(&self) -> bool {
        !self.output.has_ended() && !self.output.is_cut_off && self.input.rx.allowed() > 0
    }

    fn is_done(&self) -> bool {
        self.output.is_done()
    }

    fn trim(&mut self) {
        self.input.trim();
        self.output.tx.trim();
    }
}
