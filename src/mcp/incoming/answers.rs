//! How the calls of the peer are answered: by the application, or by the session for it.

use alloc::{borrow::Cow, format, vec::Vec};
use core::time::Duration;

use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

use super::{AnswerKind, Call, Incoming};
use crate::{
    Outbox, Time, To,
    mcp::{
        Progress, ProtocolVersion, ResourceBody, ResourceContents, ResourceResult, ToolResult,
        outgoing::send, progress::ProgressOut,
    },
    rpc::{CallId, ErrorObject, Id, NotAnswered, NotSent, SessionLimits, code, is_object, write},
    text::truncate,
};

impl Incoming {
    /// Answers a call with the result of a tool. A request for a prompt, a form, or a resource without a tool needs
    /// another kind of answer, and stays open.
    pub(in crate::mcp) fn respond(
        &mut self,
        call: CallId,
        result: &ToolResult<'_>,
        out: &mut impl Outbox,
    ) -> Result<(), NotAnswered> {
        if matches!(self.get(call)?.kind, AnswerKind::Request) {
            return Err(NotAnswered::NotAnAnswer);
        }
        self.respond_to_tool(call, result, out)
    }

    /// Answers a call that is known to be a call of a tool.
    pub(crate) fn respond_to_tool(
        &mut self,
        call: CallId,
        result: &ToolResult<'_>,
        out: &mut impl Outbox,
    ) -> Result<(), NotAnswered> {
        let is_sent = send_tool_result(self.get(call)?, result, out);
        self.finish_sent(call, is_sent)
    }

    /// Ends an open call if its answer was sent. If the outbox was closed, the call stays open and ends with the
    /// session.
    fn finish_sent(&mut self, call: CallId, is_sent: bool) -> Result<(), NotAnswered> {
        if !is_sent {
            return Err(NotAnswered::Closed);
        }
        self.end(call.number(), NotAnswered::Answered);
        Ok(())
    }

    /// Answers a call with a value that is written as an object. With any other value the call stays open.
    pub(in crate::mcp) fn respond_with<R: Serialize + ?Sized>(
        &mut self,
        call: CallId,
        result: &R,
        out: &mut impl Outbox,
    ) -> Result<(), NotAnswered> {
        let open = self.get(call)?;
        if matches!(open.kind, AnswerKind::Resource(_)) {
            let raw = to_raw_value(result).map_err(|_| NotAnswered::Unserializable)?;
            let result = ToolResult::read_whole(&raw).ok_or(NotAnswered::Unserializable)?;
            return self.respond_to_tool(call, &result, out);
        }
        let id = &open.id;
        let sent = send(out, To::Answer(id), |buf| write::result(buf, id, result));
        if sent == Err(NotSent::Unserializable) {
            return Err(NotAnswered::Unserializable);
        }
        self.finish_sent(call, sent.is_ok())
    }

    /// Answers a forwarded request with any value, for methods outside MCP.
    #[cfg(any(test, feature = "ide"))]
    pub(in crate::mcp) fn respond_with_any(
        &mut self,
        call: CallId,
        result: &RawValue,
        out: &mut impl Outbox,
    ) -> Result<(), NotAnswered> {
        let Call { id, kind, .. } = self.get(call)?;
        if !matches!(kind, AnswerKind::Forwarded) {
            return Err(NotAnswered::NotAnAnswer);
        }
        let is_sent = out.message(To::Answer(id), |buf| write::any_result(buf, id, result)).is_ok();
        self.finish_sent(call, is_sent)
    }

    pub(in crate::mcp) fn fail(
        &mut self,
        call: CallId,
        error: (i64, &str, Option<&RawValue>),
        out: &mut impl Outbox,
    ) -> Result<(), NotAnswered> {
        let is_sent = send_error(&self.get(call)?.id, error, out);
        self.finish_sent(call, is_sent)
    }

    /// Answers a request with an error about what is wrong with it.
    #[cfg(any(test, feature = "ide"))]
    pub(in crate::mcp) fn fail_invalid(
        &mut self,
        call: CallId,
        error: &ErrorObject,
        limits: &SessionLimits,
        out: &mut impl Outbox,
    ) -> Result<(), NotAnswered> {
        self.fail(call, limited(error, limits), out)
    }

    /// Reports the progress of a call to the peer, and restarts the timeout of the call.
    pub(in crate::mcp) fn progress(
        &mut self,
        now: Time,
        call: CallId,
        report: &Progress<'_>,
        version: Option<ProtocolVersion>,
        out: &mut impl Outbox,
    ) -> Result<bool, NotAnswered> {
        let open = self.get_mut(call)?;
        if !report.progress.is_finite() || report.progress <= open.reached {
            return Ok(false);
        }
        let is_sent = match &open.token {
            Some(token) if !out.is_full() => {
                let params = ProgressOut { token, report, version };
                let sent = send(out, To::Unsolicited, |buf| {
                    write::notification(buf, "notifications/progress", Some(&params))
                });
                debug_assert_ne!(sent, Err(NotSent::Unserializable), "numbers and strings are always JSON");
                sent.is_ok()
            }
            Some(_) | None => false,
        };
        open.reached = report.progress;
        if let Some(wait) = open.wait {
            self.calls.set_deadline(call.number(), wait.deadline(now));
        }
        Ok(is_sent)
    }

    /// Answers one call that is due. Returns it, and whether the answer was sent: a closed outbox does not take it.
    pub(in crate::mcp) fn expire(&mut self, now: Time, out: &mut impl Outbox) -> Option<(CallId, bool)> {
        let (number, open) = self.calls.expire(now)?;
        self.note(number, &open, NotAnswered::Expired);
        let result = open.when_late.and_then(|text| serde_json::from_str::<&RawValue>(text).ok());
        let is_answered = match result.filter(|result| is_object(result)) {
            Some(result) => send_result(&open.id, result, out),
            None => {
                let idle = open.wait.map_or(Duration::MAX, |wait| wait.idle);
                give_up(&open, &format!("no answer to this call within {idle:?}"), out)
            }
        };
        Some((CallId::new(self.session, number), is_answered))
    }

    /// Answers the oldest call as failed. Returns it, and whether the answer was sent.
    pub(in crate::mcp) fn fail_one(&mut self, text: &str, out: &mut impl Outbox) -> Option<(CallId, bool)> {
        let number = self.calls.first()?;
        let open = self.end(number, NotAnswered::Answered)?;
        Some((CallId::new(self.session, number), give_up(&open, text, out)))
    }
}

/// Answers a call as failed, in place of the application. The answer to a tool call is a result, because a model must
/// be able to read why the tool failed. Returns true if it was sent.
fn give_up(call: &Call, text: &str, out: &mut impl Outbox) -> bool {
    match call.kind {
        AnswerKind::Tool => send_result(&call.id, &ToolResult::error(text), out),
        AnswerKind::Request | AnswerKind::Forwarded | AnswerKind::Resource(_) => {
            send_error(&call.id, (code::INTERNAL_ERROR, text, None), out)
        }
    }
}

/// Answers a call with the result of a tool, or with the resource that the tool has read. Returns true
/// if the answer was sent.
fn send_tool_result(call: &Call, result: &ToolResult<'_>, out: &mut impl Outbox) -> bool {
    let AnswerKind::Resource(resource) = &call.kind else { return send_result(&call.id, result, out) };
    let (uri, mime_type) = &**resource;
    if result.is_error {
        let text = result.texts().collect::<Vec<_>>().join("\n");
        return send_error(&call.id, (code::INTERNAL_ERROR, &text, None), out);
    }
    // The first text is the document. The others are notes about it, such as the number of missing bytes.
    let mime_types = core::iter::once(&**mime_type).chain(core::iter::repeat("text/plain"));
    let contents =
        |(text, mime_type)| ResourceContents::new(&**uri, mime_type, ResourceBody::Text(Cow::Borrowed(text)));
    let contents: Vec<_> = result.texts().zip(mime_types).map(contents).collect();
    if contents.is_empty() {
        return send_error(&call.id, (code::INTERNAL_ERROR, "the tool answered without any text", None), out);
    }
    send_result(&call.id, &ResourceResult::new(contents), out)
}

/// Answers with a value that is known to be an object. Returns true if the answer was sent.
fn send_result<R: Serialize + ?Sized>(id: &Id, result: &R, out: &mut impl Outbox) -> bool {
    let mut written = Ok(());
    let sent = out.message(To::Answer(id), |buf| written = write::result(buf, id, result));
    debug_assert!(written.is_ok(), "a result of our own is an object");
    written.is_ok() && sent.is_ok()
}

/// Answers with an error. Returns true if the answer was sent.
///
/// We never answer with a code that MCP 2026-07-28 reserves: it would mean that we speak that version, and the peer
/// would not fall back to a session with `initialize` (measured: after any other code, the real client does).
fn send_error(id: &Id, (code, message, data): (i64, &str, Option<&RawValue>), out: &mut impl Outbox) -> bool {
    let is_of_later = RESERVED.contains(&code) && code != URL_REQUIRED;
    let code = if is_of_later { code::INTERNAL_ERROR } else { code };
    out.message(To::Answer(id), |buf| write::error(buf, id, code, message, data)).is_ok()
}

/// The codes that MCP 2026-07-28 reserves for itself.
const RESERVED: core::ops::RangeInclusive<i64> = -32099..=-32020;

/// The code of MCP 2025-11-25 for "the person must open a web page first". An editor behind a bridge may send it.
const URL_REQUIRED: i64 = -32042;

/// Returns the parts of an error to send. The message is truncated, because it may repeat text of the peer at any
/// length.
fn limited<'a>(error: &'a ErrorObject, limits: &SessionLimits) -> (i64, &'a str, Option<&'a RawValue>) {
    (error.code, truncate(&error.message, limits.reason), error.data.as_deref())
}

// The functions below answer requests that the application never sees. If the outbox is closed, the answer is lost, and
// there is nothing to undo.

/// Answers with a value that is known to be an object.
pub(in crate::mcp) fn answer<R: Serialize + ?Sized>(id: &Id, result: &R, out: &mut impl Outbox) {
    send_result(id, result, out);
}

pub(in crate::mcp) fn refuse(id: &Id, code: i64, message: &str, out: &mut impl Outbox) {
    send_error(id, (code, message, None), out);
}

/// Answers a request with an error about what is wrong with it.
pub(in crate::mcp) fn refuse_invalid(
    id: &Id,
    error: &ErrorObject,
    limits: &SessionLimits,
    out: &mut impl Outbox,
) {
    send_error(id, limited(error, limits), out);
}

pub(in crate::mcp) fn refuse_busy(id: &Id, out: &mut impl Outbox) {
    refuse(id, code::INTERNAL_ERROR, "busy: too many calls are open", out);
}

pub(in crate::mcp) fn refuse_duplicate(id: &Id, out: &mut impl Outbox) {
    refuse(id, code::INVALID_REQUEST, "a request with this id is open", out);
}

pub(in crate::mcp) fn not_found(id: &Id, method: &str, out: &mut impl Outbox) {
    refuse(id, code::METHOD_NOT_FOUND, &format!("method not found: {method}"), out);
}
