//! The open requests of one connection: each requires exactly one answer of the right kind.

use super::contract::{Answer, Expected};
use ide_mcp::Time;
use serde_json::Value;
use std::time::Duration;

/// The timeout of every answer except a verdict. The editor's own deadline is 30 s.
const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Debug)]
struct Owed {
    /// The id as JSON text.
    id: String,
    expected: Expected,
    since: Time,
    /// True if the client cancelled the request. An answer can still come, since it can have been
    /// on its way.
    is_cancelled: bool,
}

#[derive(Debug, Default)]
pub(super) struct Ledger(Vec<Owed>);

impl Ledger {
    pub(super) fn asked(&mut self, id: String, expected: Expected, now: Time) {
        self.0.push(Owed { id, expected, since: now, is_cancelled: false });
    }

    /// Removes the request that this answer fits, and returns an error if there is none.
    pub(super) fn answered(&mut self, id: &str, answer: &Value) -> Result<(), String> {
        let result = answer.get("result").map(Value::to_string);
        let code = answer.pointer("/error/code").and_then(Value::as_i64);
        let kind = Answer { result: result.as_deref(), code };
        let fits = |owed: &Owed| owed.id == id && (owed.is_cancelled || owed.expected.fits(&kind));
        match self.0.iter().position(fits) {
            Some(at) => {
                self.0.swap_remove(at);
                Ok(())
            }
            None => {
                let expected: Vec<_> =
                    self.0.iter().filter(|owed| owed.id == id).map(|owed| &owed.expected).collect();
                Err(match expected.as_slice() {
                    [] => format!("the answer {answer} is one to nothing, or the second"),
                    expected => format!("{answer} is not what was expected: {expected:?}"),
                })
            }
        }
    }

    /// Cancels all requests with this id, and returns the number of newly cancelled ones.
    pub(super) fn cancelled(&mut self, id: &str) -> usize {
        let mut cancelled = 0;
        for owed in self.0.iter_mut().filter(|owed| owed.id == id && !owed.is_cancelled) {
            owed.is_cancelled = true;
            cancelled = usize::saturating_add(cancelled, 1);
        }
        cancelled
    }

    /// Returns a complaint about a request that is overdue, if there is one.
    pub(super) fn overdue(&self, now: Time) -> Option<String> {
        let is_late = |owed: &&Owed| owed.is_quick() && now.saturating_since(owed.since) > PATIENCE;
        let late = self.0.iter().find(is_late)?;
        Some(format!(
            "{} is not answered for {} s: {late:?}",
            late.id,
            now.saturating_since(late.since).as_secs()
        ))
    }

    /// Returns the ids of the proposals that wait for a verdict.
    pub(super) fn proposals(&self) -> impl Iterator<Item = &str> {
        let waits = |owed: &&Owed| !owed.is_cancelled && matches!(owed.expected, Expected::Verdict(_));
        self.0.iter().filter(waits).map(|owed| owed.id.as_str())
    }

    /// Returns true if only proposals and cancelled requests are open.
    pub(super) fn is_settled(&self) -> bool {
        !self.0.iter().any(Owed::is_quick)
    }

    /// Returns the number of open requests that are not cancelled, and the number of cancelled ones.
    pub(super) fn open(&self) -> (usize, usize) {
        let cancelled = self.0.iter().filter(|owed| owed.is_cancelled).count();
        (self.0.len().saturating_sub(cancelled), cancelled)
    }
}

impl Owed {
    const fn is_quick(&self) -> bool {
        !self.is_cancelled && !matches!(self.expected, Expected::Verdict(_))
    }
}

#[cfg(test)]
mod tests {
    use super::super::contract::EDITED;
    use super::*;
    use serde_json::json;

    #[test]
    fn one_answer_of_expected_kind_is_taken() {
        let result = || json!({"result": {}});
        let failed = || json!({"result": {"isError": true}});
        let late = || json!({"result": {"isError": true, "content": [{"text": "unknown: not in time"}]}});
        let error = |code: i64| json!({"error": {"code": code}});
        let verdict = |texts: &[&str]| {
            let content: Vec<_> = texts.iter().map(|text| json!({"type": "text", "text": text})).collect();
            json!({"result": {"content": content}})
        };
        let proposal = || Expected::Verdict("p".into());
        let cases = [
            ("a result", Expected::Result, result(), true),
            ("a failure for a result", Expected::Result, failed(), false),
            ("an error for a result", Expected::Result, error(-1), false),
            ("a failure", Expected::Failed, failed(), true),
            ("a result for a failure", Expected::Failed, result(), false),
            ("a result in time", Expected::ResultOrLate, result(), true),
            ("a failure at the deadline", Expected::ResultOrLate, late(), true),
            ("another failure", Expected::ResultOrLate, failed(), false),
            ("any result", Expected::Answered, failed(), true),
            ("an error for any result", Expected::Answered, error(-1), false),
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
            ledger.asked("7".into(), expected, Time::ZERO);
            assert!(ledger.answered("\"7\"", &answer).is_err(), "{name}: of another id");
            assert_eq!(ledger.answered("7", &answer).is_ok(), is_good, "{name}");
            assert_eq!(ledger.open(), (usize::from(!is_good), 0), "{name}");
            assert!(ledger.answered("7", &answer).is_err(), "{name}: twice");
        }
    }

    #[test]
    fn cancelled_request_can_be_answered_once() {
        let mut ledger = Ledger::default();
        ledger.asked("1".into(), Expected::Result, Time::ZERO);
        assert_eq!((ledger.cancelled("1"), ledger.cancelled("1"), ledger.cancelled("2")), (1, 0, 0));
        assert_eq!((ledger.open(), ledger.is_settled()), ((0, 1), true));
        assert!(ledger.answered("1", &json!({"result": {}})).is_ok());
        assert!(ledger.answered("1", &json!({"result": {}})).is_err());
    }

    #[test]
    fn only_verdicts_are_never_overdue() {
        let late = Time::ZERO.saturating_add(PATIENCE + Duration::from_millis(1));
        for (expected, is_overdue) in [(Expected::Result, true), (Expected::Verdict(String::new()), false)] {
            let mut ledger = Ledger::default();
            ledger.asked("1".into(), expected, Time::ZERO);
            assert_eq!(ledger.overdue(Time::ZERO.saturating_add(PATIENCE)), None);
            assert_eq!(ledger.overdue(late).is_some(), is_overdue);
            assert_eq!(ledger.is_settled(), !is_overdue);
        }
    }
}
