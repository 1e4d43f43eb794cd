//! What the peer asks, of whichever role, and what waits for the application's answer: each call is answered once, or
//! ends with an event that says why not.

use alloc::{boxed::Box, format};
use core::time::Duration;

use serde::Serialize;
use serde_json::value::RawValue;

use super::{
    Progress, ProtocolVersion, Timeout, ToolResult, outgoing::send, progress::ProgressOut, timeout::Wait,
};
use crate::{
    Outbox, Time, To,
    rpc::{
        CallId, Calls, ErrorObject, Id, NotOpen, NotSent, RespondError, SessionId, SessionLimits, code,
        is_object, write,
    },
    text::truncate,
};

/// How a call ended without an answer of the application.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CallEnd {
    /// The peer does not want the answer any more. Nothing was and will be sent.
    Cancelled {
        /// What the peer said about it, cut to [`SessionLimits::reason`](crate::rpc::SessionLimits::reason).
        reason: Option<Box<str>>,
    },
    /// Its deadline passed, and it was answered for the application.
    Expired,
    /// This side shut down, and it was answered as failed.
    ShutDown,
    /// The session ended first; it was not answered.
    Closed,
}

/// How long calls wait for the application.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waits {
    /// Unless something else is said.
    pub(super) usual: Duration,
    /// However much progress is reported.
    pub(super) longest: Duration,
}

/// The calls of the peer that wait for the application.
///
/// `bytes` is the sum of `Call::bytes` over `calls`. A call that waits is accepted while `bytes`, its own message
/// included, is at most `limit` (one call alone may be larger) and at most `quota`. The decision depends on open calls
/// only, so it does not depend on how the bytes were cut.
#[derive(Debug)]
pub(super) struct Incoming {
    calls: Calls<Call>,
    waits: Waits,
    bytes: usize,
    limit: usize,
    /// The share of this session in what several sessions may hold.
    quota: usize,
    /// The size of the message that is being taken.
    message: usize,
}

/// What its tool says of a call.
#[derive(Clone, Copy, Debug)]
pub(super) struct Terms {
    pub(super) timeout: Timeout,
    /// The result if the application has none in time, as JSON.
    pub(super) when_late: Option<&'static str>,
    /// It ends before anything else is read, so it is let in however many wait.
    pub(super) at_once: bool,
}

#[derive(Debug)]
struct Call {
    /// The size of its message.
    bytes: usize,
    /// A tool fails with a result, everything else with an error.
    is_tool: bool,
    wait: Option<Wait>,
    /// The result when it is over, as JSON.
    when_late: Option<&'static str>,
    /// By which the peer wants to hear of progress.
    token: Option<Id>,
    reached: f64,
}

impl Incoming {
    pub(super) const fn new(session: SessionId, limits: &SessionLimits, waits: Waits) -> Self {
        Self {
            calls: Calls::new(session, limits.open_calls),
            waits,
            bytes: 0,
            limit: limits.open_bytes,
            quota: usize::MAX,
            message: 0,
        }
    }

    /// Notes the size of the message, or element of a batch, whose calls are opened next.
    pub(super) const fn on_message(&mut self, bytes: usize) {
        self.message = bytes;
    }

    pub(super) const fn set_quota(&mut self, bytes: usize) {
        self.quota = bytes;
    }

    /// Returns the size of the messages of the open calls.
    pub(super) const fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn deadline(&self) -> Option<Time> {
        self.calls.deadline()
    }

    pub(super) fn len(&self) -> usize {
        self.calls.len()
    }

    /// Returns true if there is no room for one more call, of those that wait or of those that are answered at once.
    pub(super) fn is_full(&self, at_once: bool) -> bool {
        if at_once {
            self.calls.is_full_at_once()
        } else {
            self.calls.is_full() || !self.has_room_for(self.message)
        }
    }

    const fn has_room_for(&self, bytes: usize) -> bool {
        let sum = self.bytes.saturating_add(bytes);
        (self.bytes == 0 || sum <= self.limit) && sum <= self.quota
    }

    pub(super) fn is_open(&self, call: CallId) -> bool {
        self.calls.is_open(call)
    }

    pub(super) fn is_in_flight(&self, id: &Id) -> bool {
        self.calls.is_in_flight(id)
    }

    /// Takes a call of a tool, or answers that there are too many.
    pub(super) fn open_tool(
        &mut self,
        now: Time,
        id: Id,
        terms: Terms,
        token: Option<Id>,
        out: &mut impl Outbox,
    ) -> Option<CallId> {
        self.open(now, id, true, terms, token, out)
    }

    /// Takes any other request, or answers that there are too many.
    pub(super) fn open_raw(
        &mut self,
        now: Time,
        id: Id,
        at_once: bool,
        token: Option<Id>,
        out: &mut impl Outbox,
    ) -> Option<CallId> {
        let terms = Terms { timeout: Timeout::Default, when_late: None, at_once };
        self.open(now, id, false, terms, token, out)
    }

    /// Lets a call wait that was to be answered at once. Returns false if too many calls wait, and answers this one so.
    pub(super) fn defer(&mut self, call: CallId, out: &mut impl Outbox) -> bool {
        // Its own message is counted already.
        if self.has_room_for(0) && self.calls.defer(call).is_ok() {
            return true;
        }
        if let Ok((id, _)) = self.finish(call) {
            refuse_busy(&id, out);
        }
        false
    }

    fn usual(&self, now: Time) -> Wait {
        Wait::new(now, self.waits.usual, self.waits.usual.max(self.waits.longest))
    }

    fn open(
        &mut self,
        now: Time,
        id: Id,
        is_tool: bool,
        Terms { timeout, when_late, at_once }: Terms,
        token: Option<Id>,
        out: &mut impl Outbox,
    ) -> Option<CallId> {
        if self.is_full(at_once) {
            refuse_busy(&id, out);
            return None;
        }
        let wait = timeout.begin(now, self.usual(now));
        let deadline = wait.and_then(|wait| wait.deadline(now));
        let call = Call { bytes: self.message, is_tool, wait, when_late, token, reached: f64::NEG_INFINITY };
        // There is room and, as was seen before anything else was, the id is not in flight.
        let opened = match at_once {
            true => self.calls.open_at_once(id, deadline, call),
            false => self.calls.open(id, deadline, call),
        };
        let opened = opened.ok()?;
        self.bytes = self.bytes.saturating_add(self.message);
        Some(opened)
    }

    fn finish(&mut self, call: CallId) -> Result<(Id, Call), NotOpen> {
        let (id, ended) = self.calls.finish(call)?;
        self.ended(&ended);
        Ok((id, ended))
    }

    const fn ended(&mut self, call: &Call) {
        self.bytes = self.bytes.saturating_sub(call.bytes);
    }

    /// Answers with the result of a tool, which is always an object.
    pub(super) fn respond(
        &mut self,
        call: CallId,
        result: &ToolResult<'_>,
        out: &mut impl Outbox,
    ) -> Result<(), NotOpen> {
        let is_sent = send_result(self.calls.id(call)?, result, out);
        self.finish_sent(call, is_sent)
    }

    /// Ends a call whose answer was sent. Where a closed outbox did not take it, the call stays open and ends with the
    /// session.
    fn finish_sent(&mut self, call: CallId, is_sent: bool) -> Result<(), NotOpen> {
        if !is_sent {
            return Err(NotOpen::Closed);
        }
        self.finish(call).map(drop)
    }

    /// Answers with whatever is an object; with anything else the call stays open.
    pub(super) fn respond_with<R: Serialize + ?Sized>(
        &mut self,
        call: CallId,
        result: &R,
        out: &mut impl Outbox,
    ) -> Result<(), RespondError> {
        let id = self.calls.id(call)?;
        match send(out, To::Answer(id), |buf| write::result(buf, id, result)) {
            Ok(()) => Ok(self.finish(call).map(drop)?),
            Err(NotSent::Unserializable) => Err(RespondError::Unserializable),
            Err(_) => Err(RespondError::NotOpen(NotOpen::Closed)),
        }
    }

    /// Answers with any value, as methods do that are not of MCP.
    pub(super) fn respond_with_any(
        &mut self,
        call: CallId,
        result: &RawValue,
        out: &mut impl Outbox,
    ) -> Result<(), NotOpen> {
        let id = self.calls.id(call)?;
        let is_sent = out.message(To::Answer(id), |buf| write::any_result(buf, id, result)).is_ok();
        self.finish_sent(call, is_sent)
    }

    pub(super) fn fail(
        &mut self,
        call: CallId,
        error: (i64, &str, Option<&RawValue>),
        out: &mut impl Outbox,
    ) -> Result<(), NotOpen> {
        let is_sent = send_error(self.calls.id(call)?, error, out);
        self.finish_sent(call, is_sent)
    }

    /// Answers with what was wrong with the request.
    pub(super) fn fail_invalid(
        &mut self,
        call: CallId,
        error: &ErrorObject,
        limits: &SessionLimits,
        out: &mut impl Outbox,
    ) -> Result<(), NotOpen> {
        self.fail(call, limited(error, limits), out)
    }

    /// Tells the peer how far a call has come, and starts its clock again.
    pub(super) fn progress(
        &mut self,
        now: Time,
        call: CallId,
        said: &Progress<'_>,
        version: Option<ProtocolVersion>,
        out: &mut impl Outbox,
    ) -> Result<bool, NotOpen> {
        let open = self.calls.get_mut(call)?;
        if !said.progress.is_finite() || said.progress <= open.reached {
            return Ok(false);
        }
        let told = match &open.token {
            Some(token) if !out.is_full() => {
                let params = ProgressOut { token, said, version };
                let sent = send(out, To::Unasked, |buf| {
                    write::notification(buf, "notifications/progress", Some(&params))
                });
                debug_assert_ne!(sent, Err(NotSent::Unserializable), "numbers and strings are always JSON");
                sent.is_ok()
            }
            Some(_) | None => false,
        };
        open.reached = said.progress;
        if let Some(wait) = open.wait {
            self.calls.set_deadline(call, wait.deadline(now));
        }
        Ok(told)
    }

    /// Gives a call another time to wait, counted from now.
    pub(super) fn set_call_timeout(
        &mut self,
        now: Time,
        call: CallId,
        timeout: Timeout,
    ) -> Result<(), NotOpen> {
        let wait = timeout.begin(now, self.usual(now));
        self.calls.get_mut(call)?.wait = wait;
        self.calls.set_deadline(call, wait.and_then(|wait| wait.deadline(now)));
        Ok(())
    }

    /// Ends the call that is named exactly.
    pub(super) fn cancelled(&mut self, id: &Id) -> Option<CallId> {
        let (call, ended) = self.calls.cancel(id)?;
        self.ended(&ended);
        Some(call)
    }

    /// Answers one call that is due. Returns the call, and whether the answer was sent: a closed outbox takes none.
    pub(super) fn expire(&mut self, now: Time, out: &mut impl Outbox) -> Option<(CallId, bool)> {
        let (call, id, open) = self.calls.expire(now)?;
        self.ended(&open);
        let result = open.when_late.and_then(|text| serde_json::from_str::<&RawValue>(text).ok());
        let is_answered = match result.filter(|result| is_object(result)) {
            Some(result) => send_result(&id, result, out),
            None => {
                let idle = open.wait.map_or(Duration::MAX, |wait| wait.idle);
                give_up(&id, open.is_tool, &format!("no answer to this call within {idle:?}"), out)
            }
        };
        Some((call, is_answered))
    }

    /// Answers the oldest call as failed. Returns the call, and whether the answer was sent.
    pub(super) fn fail_one(&mut self, text: &str, out: &mut impl Outbox) -> Option<(CallId, bool)> {
        let call = self.calls.first()?;
        let (id, open) = self.finish(call).ok()?;
        Some((call, give_up(&id, open.is_tool, text, out)))
    }

    /// Ends one call because the session ends. To be repeated until `None`.
    pub(super) fn close_one(&mut self) -> Option<CallId> {
        let (call, ended) = self.calls.close_one()?;
        self.ended(&ended);
        Some(call)
    }
}

/// Answers for the application. What went wrong with a tool is for the model to read, so it is a result. Returns whether
/// the answer was sent.
fn give_up(id: &Id, is_tool: bool, text: &str, out: &mut impl Outbox) -> bool {
    if is_tool {
        send_result(id, &ToolResult::error(text), out)
    } else {
        send_error(id, (code::INTERNAL_ERROR, text, None), out)
    }
}

/// Answers with what is known to be an object. Returns whether the answer was sent.
fn send_result<R: Serialize + ?Sized>(id: &Id, result: &R, out: &mut impl Outbox) -> bool {
    let sent = send(out, To::Answer(id), |buf| write::result(buf, id, result));
    debug_assert_ne!(sent, Err(NotSent::Unserializable), "a result of our own is an object");
    sent.is_ok()
}

/// Answers with an error. Returns whether the answer was sent.
fn send_error(id: &Id, (code, message, data): (i64, &str, Option<&RawValue>), out: &mut impl Outbox) -> bool {
    out.message(To::Answer(id), |buf| write::error(buf, id, code, message, data)).is_ok()
}

/// Returns what is sent of an error whose message may repeat what the peer sent, at any length.
fn limited<'a>(error: &'a ErrorObject, limits: &SessionLimits) -> (i64, &'a str, Option<&'a RawValue>) {
    (error.code, truncate(&error.message, limits.reason), error.data.as_deref())
}

// The functions below answer what the application does not know of. Where the outbox is closed, no answer is awaited, and
// there is nothing to undo.

/// Answers with what is known to be an object.
pub(super) fn answer<R: Serialize + ?Sized>(id: &Id, result: &R, out: &mut impl Outbox) {
    send_result(id, result, out);
}

pub(super) fn refuse(id: &Id, code: i64, message: &str, out: &mut impl Outbox) {
    send_error(id, (code, message, None), out);
}

/// Answers with what was wrong with the request.
pub(super) fn refuse_invalid(id: &Id, error: &ErrorObject, limits: &SessionLimits, out: &mut impl Outbox) {
    send_error(id, limited(error, limits), out);
}

pub(super) fn refuse_busy(id: &Id, out: &mut impl Outbox) {
    refuse(id, code::INTERNAL_ERROR, "busy: too many calls are open", out);
}

pub(super) fn refuse_duplicate(id: &Id, out: &mut impl Outbox) {
    refuse(id, code::INVALID_REQUEST, "a request with this id is open", out);
}

pub(super) fn not_found(id: &Id, method: &str, out: &mut impl Outbox) {
    refuse(id, code::METHOD_NOT_FOUND, &format!("method not found: {method}"), out);
}
