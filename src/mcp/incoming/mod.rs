//! The calls of the peer that wait for the application, in either role. Each is answered once, or ends with an event
//! that says why it was not.
//!
//! ```text
//! open ──▶ waiting ──respond───▶ answered      or fail
//!                  ──cancelled─▶ cancelled     the peer expects no answer any more
//!                  ──expire────▶ expired       answered for the application
//!                  ──fail_one──▶ answered      answered as failed, because this side shuts down
//!                  ──defer─────▶ answered      refused, because too many calls wait
//!                  ──close_one─▶ closed
//! ```
//!
//! We remember how the last calls ended, so that a late answer is refused with the reason.

mod answers;

use alloc::{borrow::Cow, boxed::Box, collections::VecDeque, vec::Vec};

pub(super) use answers::{answer, not_found, refuse, refuse_busy, refuse_duplicate, refuse_invalid};

use super::{
    Timeout,
    table::{Table, insert, place, remove},
    timeout::{Wait, Waits},
};
use crate::{
    Outbox, Time,
    rpc::{CallId, Id, NotAnswered, SessionId, SessionLimits},
};

/// How a call ended without your answer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CallEnd {
    /// The peer cancelled the call. It was not answered, and cannot be any more.
    Cancelled {
        /// The reason that the peer gave, truncated to
        /// [`SessionLimits::reason`](crate::rpc::SessionLimits::reason).
        reason: Option<Box<str>>,
    },
    /// The deadline passed. The session answered the call for you.
    Expired,
    /// You shut the session down, and it answered the call as failed.
    ShutDown,
    /// The session or its outbox ended. The call was not answered.
    Closed,
}

/// How long a call waits for the application, and what happens then.
#[derive(Debug)]
pub(super) struct Terms {
    pub(super) timeout: Timeout,
    /// The result if the application does not answer in time, as JSON.
    pub(super) when_late: Option<&'static str>,
    /// True if the application answers the call before anything else is read. Such a call is accepted however many
    /// others wait.
    pub(super) at_once: bool,
    pub(super) kind: AnswerKind,
}

impl Terms {
    /// Returns the terms of a request other than a tool call.
    pub(super) const fn request() -> Self {
        Self { timeout: Timeout::Default, when_late: None, at_once: false, kind: AnswerKind::Request }
    }

    /// Returns the terms of a forwarded request.
    pub(super) const fn forwarded(at_once: bool) -> Self {
        Self { timeout: Timeout::Default, when_late: None, at_once, kind: AnswerKind::Forwarded }
    }
}

/// What kind of answer a call needs.
#[derive(Clone, Debug)]
pub(super) enum AnswerKind {
    /// The result of a tool. A failure is a result too.
    Tool,
    /// Any object. A failure is an error.
    Request,
    /// Any value: the request was forwarded, and may be of another protocol. A failure is an error.
    Forwarded,
    /// The contents of a resource, which the application gives as the result of a tool. The fields are the URI and the
    /// media type. A failure is an error.
    Resource(Box<(Cow<'static, str>, Cow<'static, str>)>),
}

/// How many [`Ended`] entries to remember at least. If more calls may be open at a time, it is that many, so that we
/// know the end of each call when the session is closed.
const REMEMBERED: usize = 256;

/// How many calls that are answered at once may be open, in addition to those that wait. A batch can open as many calls
/// as it has messages, and they are answered before the next message is read.
const AT_ONCE: usize = 64;

/// The calls of the peer that wait for the application.
///
/// Over all `calls`, `bytes` is the sum of `Call::bytes`, and `at_once` counts those with `Call::at_once`. A call that
/// waits is accepted while `bytes`, its own message included, is at most `most_bytes` (a single call may be larger) and
/// at most `quota`. This depends only on open calls, so it does not matter how the stream is cut into reads.
#[derive(Debug)]
pub(crate) struct Incoming {
    session: SessionId,
    pub(super) calls: Table<Call>,
    /// The digest of the id and the number of each open call, sorted, for searches.
    by_id: Vec<(u64, u64)>,
    /// The last calls that ended.
    ended: VecDeque<Ended>,
    waits: Waits,
    /// How many calls may wait, not counting those that are answered at once.
    most: usize,
    at_once: usize,
    most_bytes: usize,
    pub(crate) bytes: usize,
    /// This session's share, in bytes, of a limit on several sessions together. Calls that are open stay open.
    pub(crate) quota: usize,
    /// The size of the message, or of the element of a batch, that opens the next call.
    pub(super) message: usize,
}

#[derive(Debug)]
pub(super) struct Call {
    /// The id that the answer must carry.
    id: Id,
    /// The size of the message of the call.
    bytes: usize,
    at_once: bool,
    kind: AnswerKind,
    wait: Option<Wait>,
    /// The result at the end of the timeout, as JSON.
    when_late: Option<&'static str>,
    /// The token that the peer gave for reports of progress.
    token: Option<Id>,
    reached: f64,
}

/// Calls with consecutive numbers that ended in this order and in the same way, as nearly all calls of a session do.
#[derive(Debug)]
struct Ended {
    first: u64,
    last: u64,
    reason: NotAnswered,
}

impl Incoming {
    pub(super) const fn new(session: SessionId, limits: &SessionLimits, waits: Waits) -> Self {
        Self {
            session,
            calls: Table::new(),
            by_id: Vec::new(),
            ended: VecDeque::new(),
            waits,
            most: limits.open_calls,
            at_once: 0,
            most_bytes: limits.open_bytes,
            bytes: 0,
            quota: usize::MAX,
            message: 0,
        }
    }

    /// Releases memory that is not in use.
    pub(super) fn trim(&mut self) {
        self.calls.trim();
        self.by_id.shrink_to_fit();
        self.ended.shrink_to_fit();
    }

    /// Returns the number of open calls.
    pub(super) fn len(&self) -> usize {
        self.calls.len()
    }

    /// Returns true if there is no room for one more call that is answered at once (`at_once`), or one that waits.
    pub(super) fn is_full(&self, at_once: bool) -> bool {
        if at_once { self.at_once >= AT_ONCE } else { !self.has_room_for(self.message) }
    }

    /// Returns true if there is room for one more waiting call whose message has this size.
    fn has_room_for(&self, bytes: usize) -> bool {
        let sum = self.bytes.saturating_add(bytes);
        let waiting = self.calls.len().saturating_sub(self.at_once);
        waiting < self.most && (self.bytes == 0 || sum <= self.most_bytes) && sum <= self.quota
    }

    pub(super) fn is_open(&self, call: CallId) -> bool {
        self.get(call).is_ok()
    }

    /// Makes a call wait that was accepted to be answered at once. If too many calls wait already, answers it with an
    /// error and returns false.
    #[cfg(any(test, feature = "ide"))]
    pub(super) fn defer(&mut self, call: CallId, out: &mut impl Outbox) -> bool {
        // The message of this call is counted already.
        let has_room = self.has_room_for(0);
        let Ok(open) = self.get_mut(call) else { return true };
        if open.at_once && has_room {
            open.at_once = false;
            self.at_once = self.at_once.saturating_sub(1);
        } else if open.at_once {
            refuse_busy(&open.id, out);
            self.end(call.number(), NotAnswered::Answered);
            return false;
        }
        true
    }

    /// Sets another timeout for a call, counted from `now`.
    pub(super) fn set_call_timeout(
        &mut self,
        now: Time,
        call: CallId,
        timeout: Timeout,
    ) -> Result<(), NotAnswered> {
        let wait = timeout.begin(now, self.waits);
        self.get_mut(call)?.wait = wait;
        self.calls.set_deadline(call.number(), wait.map_or(Time::NEVER, |wait| wait.deadline(now)));
        Ok(())
    }

    /// Ends the call with this id, which the peer has cancelled.
    pub(super) fn cancelled(&mut self, id: &Id) -> Option<CallId> {
        let number = self.find(id)?;
        self.end(number, NotAnswered::Cancelled)?;
        Some(CallId::new(self.session, number))
    }

    /// Ends the oldest call because the session ends. Repeat until the result is `None`.
    pub(super) fn close_one(&mut self) -> Option<CallId> {
        let number = self.calls.first()?;
        self.end(number, NotAnswered::Closed)?;
        Some(CallId::new(self.session, number))
    }

    /// Opens a call, or answers that too many are open. The caller has checked that there is no open call with its id.
    pub(super) fn open(
        &mut self,
        now: Time,
        id: Id,
        Terms { timeout, when_late, at_once, kind }: Terms,
        token: Option<Id>,
        out: &mut impl Outbox,
    ) -> Option<CallId> {
        if self.is_full(at_once) {
            refuse_busy(&id, out);
            return None;
        }
        let (digest, bytes) = (id.digest(), self.message);
        let wait = timeout.begin(now, self.waits);
        let deadline = match wait {
            Some(wait) => wait.deadline(now),
            None => Time::NEVER,
        };
        let call = Call { id, bytes, at_once, kind, wait, when_late, token, reached: f64::NEG_INFINITY };
        let number = self.calls.open(deadline, call);
        insert(&mut self.by_id, (digest, number));
        self.at_once = self.at_once.saturating_add(usize::from(at_once));
        self.bytes = self.bytes.saturating_add(bytes);
        Some(CallId::new(self.session, number))
    }

    /// Returns an open call, or how it ended.
    fn get(&self, call: CallId) -> Result<&Call, NotAnswered> {
        if call.session() != self.session {
            return Err(NotAnswered::Unknown);
        }
        self.calls.get(call.number()).ok_or_else(|| self.end_of(call.number()))
    }

    fn get_mut(&mut self, call: CallId) -> Result<&mut Call, NotAnswered> {
        self.get(call)?;
        self.calls.get_mut(call.number()).ok_or(NotAnswered::Unknown)
    }

    /// Returns the number of the open call with this id.
    pub(super) fn find(&self, id: &Id) -> Option<u64> {
        let digest = id.digest();
        let from = place(&self.by_id, &(digest, 0));
        let alike = self.by_id.get(from..)?.iter().take_while(|(known, _)| *known == digest);
        alike
            .map(|(_, number)| *number)
            .find(|number| self.calls.get(*number).is_some_and(|open| open.id == *id))
    }

    fn end(&mut self, number: u64, reason: NotAnswered) -> Option<Call> {
        let call = self.calls.end(number)?;
        self.note(number, &call, reason);
        Some(call)
    }

    /// Remembers the end of a call that is no longer in the table.
    fn note(&mut self, number: u64, call: &Call, reason: NotAnswered) {
        self.bytes = self.bytes.saturating_sub(call.bytes);
        self.at_once = self.at_once.saturating_sub(usize::from(call.at_once));
        remove(&mut self.by_id, &(call.id.digest(), number));
        if let Some(last) = self.ended.back_mut() {
            if last.reason == reason && last.last.checked_add(1) == Some(number) {
                last.last = number;
                return;
            }
        }
        if self.ended.len() >= self.most.saturating_add(AT_ONCE).max(REMEMBERED) {
            self.ended.pop_front();
        }
        self.ended.push_back(Ended { first: number, last: number, reason });
    }

    fn end_of(&self, number: u64) -> NotAnswered {
        let mut latest_first = self.ended.iter().rev();
        let ended = latest_first.find(|ended| (ended.first..=ended.last).contains(&number));
        ended.map_or(NotAnswered::Unknown, |ended| ended.reason)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        To,
        rpc::{ErrorObject, NotAnswered, NotSent},
    };
    use alloc::string::String;
    use core::time::Duration;

    /// An outbox that keeps the sent messages.
    #[derive(Debug, Default)]
    struct Sent(Vec<String>);

    impl Outbox for Sent {
        fn message(&mut self, _: To<'_>, write: impl FnOnce(&mut Vec<u8>)) -> Result<(), NotSent> {
            let mut text = Vec::new();
            write(&mut text);
            self.0.push(String::from_utf8(text).unwrap());
            Ok(())
        }

        fn is_full(&self) -> bool {
            false
        }
    }

    struct Calls {
        incoming: Incoming,
        out: Sent,
    }

    const DUE: Time = Time::from_millis(10);

    impl Calls {
        fn new(most: usize) -> Self {
            let limits = SessionLimits { open_calls: most, ..SessionLimits::default() };
            let wait = Duration::from_millis(10);
            let waits = Waits { default: wait, longest: wait };
            Self { incoming: Incoming::new(SessionId::new(1), &limits, waits), out: Sent::default() }
        }

        /// Opens a request that is due at [`DUE`].
        fn open(&mut self, id: impl Into<Id>, at_once: bool) -> Option<CallId> {
            self.incoming.open(Time::ZERO, id.into(), Terms::forwarded(at_once), None, &mut self.out)
        }

        fn fail(&mut self, call: CallId) -> Result<(), NotAnswered> {
            self.incoming.fail(call, (1, "failed", None), &mut self.out)
        }

        fn expire(&mut self, now: Time) -> Option<CallId> {
            self.incoming.expire(now, &mut self.out).map(|(call, _)| call)
        }
    }

    #[test]
    fn the_last_ends_are_remembered() {
        let mut calls = Calls::new(1);
        let mut ended = Vec::new();
        for number in 0..=REMEMBERED {
            let call = calls.open(1, false).unwrap();
            if number % 2 == 0 {
                calls.fail(call).unwrap();
            } else {
                assert_eq!(calls.incoming.cancelled(&Id::from(1)), Some(call));
            }
            ended.push(call);
        }
        assert_eq!(calls.fail(ended[0]), Err(NotAnswered::Unknown), "its end is no longer remembered");
        assert_eq!(calls.fail(ended[1]), Err(NotAnswered::Cancelled));
        assert_eq!(calls.fail(ended[2]), Err(NotAnswered::Answered));
    }

    #[test]
    fn equal_ends_are_remembered_together() {
        let mut calls = Calls::new(2);
        let waiting = calls.open(0, false).unwrap();
        let mut ended = Vec::new();
        for _ in 0..2 * REMEMBERED {
            let call = calls.open(1, false).unwrap();
            calls.fail(call).unwrap();
            ended.push(call);
            calls.incoming.trim();
        }
        assert_eq!(calls.incoming.ended.len(), 1);
        assert!(calls.incoming.is_open(waiting));
        calls.fail(waiting).unwrap();
        for call in ended.into_iter().chain([waiting]) {
            assert_eq!(calls.fail(call), Err(NotAnswered::Answered));
        }
        assert_eq!(calls.incoming.ended.len(), 2, "the first call ended last");
    }

    #[test]
    fn closing_remembers_every_open_call() {
        let mut calls = Calls::new(300);
        let open: Vec<CallId> = (0..364).map(|id| calls.open(id, id >= 300).unwrap()).collect();
        while calls.incoming.close_one().is_some() {}
        assert!(open.iter().all(|call| calls.fail(*call) == Err(NotAnswered::Closed)));
    }

    /// Digests of ids may collide: only the id itself counts.
    #[test]
    fn calls_with_colliding_digests_are_told_apart() {
        const TOKENS: &[&str] =
            &["0", "1", "-1", "\"\"", "\"0\"", "\"a\"", "1e30", "-1e30", "14695981039346656037"];
        let read =
            |token: &str| Id::read(serde_json::from_str(token).unwrap(), &SessionLimits::default()).unwrap();
        let mut calls = Calls::new(16);
        let open: Vec<_> = TOKENS.iter().map(|token| calls.open(read(token), false).unwrap()).collect();
        for (token, call) in TOKENS.iter().zip(open) {
            assert_eq!(calls.incoming.cancelled(&read(token)), Some(call), "{token}");
            assert!(calls.incoming.find(&read(token)).is_none(), "{token}");
        }
        assert_eq!(calls.incoming.by_id, []);
    }

    #[test]
    fn calls_answered_at_once_are_counted_apart() {
        let mut calls = Calls::new(1);
        let waiting = calls.open(1, false).unwrap();
        assert_eq!(calls.open(2, false), None);
        let at_once: Vec<_> = (2..66).map(|id| calls.open(id, true).unwrap()).collect();
        assert_eq!(calls.open(66, true), None);
        assert!(!calls.incoming.defer(at_once[0], &mut calls.out), "another call waits");
        assert_eq!(calls.fail(at_once[0]), Err(NotAnswered::Answered), "it was refused");
        calls.fail(waiting).unwrap();
        assert!(calls.incoming.defer(at_once[1], &mut calls.out));
        assert!(calls.incoming.defer(at_once[1], &mut calls.out), "it waits already");
        assert!(calls.incoming.defer(waiting, &mut calls.out), "it has ended");
        assert_eq!(calls.incoming.at_once, 62, "no call is counted twice");
        assert!(!calls.incoming.defer(at_once[2], &mut calls.out));
        // After any kind of end, these calls do not count any more, and the call that waits counts.
        calls.fail(at_once[3]).unwrap();
        calls.incoming.cancelled(&Id::from(6)).unwrap();
        calls.incoming.set_call_timeout(Time::ZERO, at_once[1], Timeout::Never).unwrap();
        while calls.expire(DUE).is_some() {}
        assert_eq!((calls.incoming.len(), calls.incoming.at_once), (1, 0));
        assert!(calls.incoming.is_full(false));
        calls.open(99, true).unwrap();
        while calls.incoming.close_one().is_some() {}
        assert_eq!((calls.incoming.at_once, calls.incoming.is_full(false)), (0, false));
    }

    #[test]
    fn the_bytes_of_waiting_calls_are_limited() {
        const ANY: usize = usize::MAX;
        // The quota; the size of each message, and true if its call is accepted. The limit is 10 bytes.
        let rows: [(&str, usize, [(usize, bool); 2]); 6] = [
            ("at the limit", ANY, [(6, true), (4, true)]),
            ("above the limit", ANY, [(6, true), (5, false)]),
            ("one larger call alone", ANY, [(20, true), (1, false)]),
            ("at the quota", 8, [(6, true), (2, true)]),
            ("above the quota", 8, [(6, true), (3, false)]),
            ("one call above the quota", 8, [(9, false), (8, true)]),
        ];
        for (name, quota, messages) in rows {
            let mut calls = Calls::new(8);
            calls.incoming.most_bytes = 10;
            calls.incoming.quota = quota;
            let mut held = 0;
            for (id, (bytes, is_taken)) in (1..).zip(messages) {
                calls.incoming.message = bytes;
                assert_eq!(calls.open(id, false).is_some(), is_taken, "{name}: {bytes} bytes");
                held += if is_taken { bytes } else { 0 };
                assert_eq!(calls.incoming.bytes, held, "{name}");
            }
            while calls.incoming.close_one().is_some() {}
            assert_eq!(calls.incoming.bytes, 0, "{name}");
        }
    }

    /// A waiting call whose message is larger than the limits, and a call that has ended.
    #[test]
    fn waiting_call_is_never_refused_by_defer() {
        for quota in [usize::MAX, 1] {
            let mut calls = Calls::new(8);
            calls.incoming.most_bytes = 10;
            calls.incoming.message = 20;
            let waiting = calls.open(1, false).unwrap();
            let cancelled = calls.open(2, true).unwrap();
            calls.incoming.cancelled(&Id::from(2)).unwrap();
            calls.incoming.quota = quota;
            for call in [waiting, cancelled] {
                assert!(calls.incoming.defer(call, &mut calls.out), "{quota}");
            }
            assert!(calls.out.0.is_empty() && calls.incoming.is_open(waiting), "{quota}");
        }
    }

    #[test]
    fn a_quota_limits_even_a_single_call() {
        let mut calls = Calls::new(8);
        calls.incoming.quota = 300;
        let mut opens = |id, len| {
            calls.incoming.message = len;
            calls.open(id, false).is_some()
        };
        assert!(!opens(1, 301) && opens(2, 300));
        calls.incoming.quota = 0;
        assert_eq!(calls.incoming.len(), 1, "it stays open");
        calls.incoming.message = 100;
        assert_eq!(calls.open(3, false), None);
    }

    #[test]
    fn any_result_or_error_ends_its_call() {
        let mut calls = Calls::new(8);
        let [answered, invalid] = [1, 2].map(|id| calls.open(id, false).unwrap());
        let result = serde_json::from_str("[1]").unwrap();
        assert_eq!(calls.incoming.respond_with_any(answered, result, &mut calls.out), Ok(()));
        let (fault, limits) = (ErrorObject::new(5, "fault"), SessionLimits::default());
        assert_eq!(calls.incoming.fail_invalid(invalid, &fault, &limits, &mut calls.out), Ok(()));
        let answers = [
            r#"{"jsonrpc":"2.0","id":1,"result":[1]}"#,
            r#"{"jsonrpc":"2.0","id":2,"error":{"code":5,"message":"fault"}}"#,
        ];
        assert_eq!((&calls.out.0[..], calls.incoming.len()), (&answers.map(String::from)[..], 0));
    }

    #[test]
    fn no_error_has_a_code_of_a_later_version() {
        for (given, sent) in [
            (-32_019, -32_019),
            (-32_020, -32_603),
            (-32_099, -32_603),
            (-32_100, -32_100),
            (-32_042, -32_042),
            (-32_002, -32_002),
        ] {
            let mut calls = Calls::new(8);
            let call = calls.open(1, false).unwrap();
            calls.incoming.fail(call, (given, "no", None), &mut calls.out).unwrap();
            let answer =
                alloc::format!(r#"{{"jsonrpc":"2.0","id":1,"error":{{"code":{sent},"message":"no"}}}}"#);
            assert_eq!(calls.out.0, [answer], "{given}");
        }
    }

    #[test]
    fn only_forwarded_request_accepts_any_value() {
        let mut calls = Calls::new(8);
        let of_resource = AnswerKind::Resource(Box::new(("r://1".into(), "".into())));
        let kinds = [
            ("a tool", AnswerKind::Tool, false),
            ("a resource that a tool reads", of_resource, false),
            ("a prompt, or a resource", AnswerKind::Request, false),
            ("a forwarded request", AnswerKind::Forwarded, true),
        ];
        for (name, kind, is_accepted) in kinds {
            for text in ["[1]", r#"{"content":[]}"#] {
                let terms = Terms { kind: kind.clone(), ..Terms::request() };
                let call = calls.incoming.open(Time::ZERO, 1.into(), terms, None, &mut calls.out).unwrap();
                let value = serde_json::from_str(text).unwrap();
                let answered = calls.incoming.respond_with_any(call, value, &mut calls.out);
                let want = if is_accepted { Ok(()) } else { Err(NotAnswered::NotAnAnswer) };
                assert_eq!(answered, want, "{name}: {text}");
                assert_eq!(calls.incoming.is_open(call), !is_accepted, "{name}: {text}");
                calls.incoming.close_one();
                let late = calls.incoming.respond_with_any(call, value, &mut calls.out);
                assert!(late.is_err_and(NotAnswered::is_over), "{name}: {late:?}");
            }
        }
        assert_eq!(calls.out.0.len(), 2);
    }
}
