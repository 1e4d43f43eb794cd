//! The open requests of one connection: each requires exactly one answer of the right kind.

use super::model::{Answer, Expected, Open};
use ide_mcp::Time;
use std::time::Duration;

/// The timeout of every answer except a verdict. The editor's own deadline is 30 s.
const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Debug)]
struct OpenRequest {
    expected: Expected,
    since: Time,
    /// True if the client cancelled the request. An answer can still come, since it can have been
    /// on its way.
    is_cancelled: bool,
}

#[derive(Debug, Default)]
pub(super) struct Ledger(Open<OpenRequest>);

impl Ledger {
    pub(super) fn requested(&mut self, id: String, expected: Expected, now: Time) {
        self.0.ask(id, OpenRequest { expected, since: now, is_cancelled: false });
    }

    /// Removes the request that this answer fits, and returns an error if there is none.
    pub(super) fn answered(&mut self, answer: &Answer) -> Result<(), String> {
        let fits = |open: &OpenRequest| open.is_cancelled || open.expected.fits(answer);
        self.0.answer(&answer.id, fits).map(drop)
    }

    /// Cancels all requests with this id, and returns the number of newly cancelled ones.
    pub(super) fn cancelled(&mut self, id: &str) -> usize {
        let mut cancelled = 0;
        for open in self.0.of(id).filter(|open| !open.is_cancelled) {
            open.is_cancelled = true;
            cancelled = usize::saturating_add(cancelled, 1);
        }
        cancelled
    }

    /// Returns a complaint about a request that is overdue, if there is one.
    pub(super) fn overdue(&self, now: Time) -> Option<String> {
        let waited = |open: &OpenRequest| now.saturating_since(open.since);
        let (id, late) = self.0.iter().find(|(_, open)| open.is_quick() && waited(open) > PATIENCE)?;
        Some(format!("{id} is not answered for {} s: {late:?}", waited(late).as_secs()))
    }

    /// Returns the ids of the proposals that wait for a verdict.
    pub(super) fn proposals(&self) -> impl Iterator<Item = &str> {
        let waits = |open: &OpenRequest| !open.is_cancelled && matches!(open.expected, Expected::Verdict(_));
        self.0.iter().filter(move |(_, open)| waits(open)).map(|(id, _)| id)
    }

    /// Returns true if only proposals and cancelled requests are open.
    pub(super) fn is_settled(&self) -> bool {
        !self.0.iter().any(|(_, open)| open.is_quick())
    }

    /// Returns the number of open requests that are not cancelled, and the number of cancelled ones.
    pub(super) fn open(&self) -> (usize, usize) {
        let cancelled = self.0.iter().filter(|(_, open)| open.is_cancelled).count();
        (self.0.iter().count().saturating_sub(cancelled), cancelled)
    }
}

impl OpenRequest {
    const fn is_quick(&self) -> bool {
        !self.is_cancelled && !matches!(self.expected, Expected::Verdict(_))
    }
}

#[cfg(test)]
mod tests {
    use super::super::model::EDITED;
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn one_answer_of_expected_kind_is_taken() {
        let answer = |result: Value| Answer { id: "7".into(), result: Some(result.to_string()), code: None };
        let result = || answer(json!({}));
        let failed = || answer(json!({"isError": true}));
        let late = || answer(json!({"isError": true, "content": [{"text": "unknown: not in time"}]}));
        let error = |code: i64| Answer { id: "7".into(), result: None, code: Some(code) };
        let verdict = |texts: &[&str]| {
            let content: Vec<_> = texts.iter().map(|text| json!({"type": "text", "text": text})).collect();
            answer(json!({"content": content}))
        };
        let proposal = || Expected::Verdict("p".into());
        let cases = [
            ("a result", Expected::Result, result(), true),
            ("a failure instead of a result", Expected::Result, failed(), false),
            ("an error instead of a result", Expected::Result, error(-1), false),
            ("a failure", Expected::Failed, failed(), true),
            ("a result instead of a failure", Expected::Failed, result(), false),
            ("a result in time", Expected::ResultOrLate, result(), true),
            ("a failure at the deadline", Expected::ResultOrLate, late(), true),
            ("another failure", Expected::ResultOrLate, failed(), false),
            ("any result", Expected::Answered, failed(), true),
            ("an error instead of any result", Expected::Answered, error(-1), false),
            ("the error", Expected::Error(-1), error(-1), true),
            ("another error", Expected::Error(-1), error(-2), false),
            ("accepted", proposal(), verdict(&["FILE_SAVED", "p"]), true),
            ("changed", proposal(), verdict(&["FILE_SAVED", EDITED]), true),
            ("another proposal", proposal(), verdict(&["FILE_SAVED", "q"]), false),
            ("rejected", proposal(), verdict(&["DIFF_REJECTED", "tab"]), true),
            ("no verdict", proposal(), result(), false),
            ("refused", Expected::Refused, error(-32600), true),
            ("refused otherwise", Expected::Refused, error(-1), false),
        ];
        for (name, expected, answer, is_good) in cases {
            let mut ledger = Ledger::default();
            ledger.requested("7".into(), expected, Time::ZERO);
            let other = Answer { id: "\"7\"".into(), ..answer.clone() };
            assert!(ledger.answered(&other).is_err(), "{name}: of another id");
            assert_eq!(ledger.answered(&answer).is_ok(), is_good, "{name}");
            assert_eq!(ledger.open(), (usize::from(!is_good), 0), "{name}");
            assert!(ledger.answered(&answer).is_err(), "{name}: twice");
        }
    }

    #[test]
    fn cancelled_request_can_be_answered_once() {
        let mut ledger = Ledger::default();
        ledger.requested("1".into(), Expected::Result, Time::ZERO);
        assert_eq!((ledger.cancelled("1"), ledger.cancelled("1"), ledger.cancelled("2")), (1, 0, 0));
        assert_eq!((ledger.open(), ledger.is_settled()), ((0, 1), true));
        let answer = Answer { id: "1".into(), result: Some("{}".into()), code: None };
        assert!(ledger.answered(&answer).is_ok());
        assert!(ledger.answered(&answer).is_err());
    }

    #[test]
    fn only_verdicts_are_never_overdue() {
        let late = Time::ZERO.saturating_add(PATIENCE + Duration::from_millis(1));
        for (expected, is_overdue) in [(Expected::Result, true), (Expected::Verdict(String::new()), false)] {
            let mut ledger = Ledger::default();
            ledger.requested("1".into(), expected, Time::ZERO);
            assert_eq!(ledger.overdue(Time::ZERO.saturating_add(PATIENCE)), None);
            assert_eq!(ledger.overdue(late).is_some(), is_overdue);
            assert_eq!(ledger.is_settled(), !is_overdue);
        }
    }
}
