//! The ids of the requests that the replayed side makes: it may choose others than the recorded side.

use crate::support::message::{Kind, Message};
use crate::support::units::{Piece, frame};
use serde_json::Value;

/// The requests of one connection whose ids differ, as pairs of the recorded id and that of the replay.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ids {
    pairs: Vec<(Value, Value)>,
}

impl Ids {
    /// Remembers the ids of a request of the replayed side.
    pub(crate) fn learn(&mut self, recorded: &str, now: &str) {
        let read = |text: &str| serde_json::from_str::<Value>(text).unwrap_or_default();
        let (recorded, now) = (read(recorded), read(now));
        let is_request = |message: &Value| message.get("method").is_some() && message.get("id").is_some();
        if let (true, Some(a), Some(b)) =
            (is_request(&recorded) && is_request(&now), recorded.get("id"), now.get("id"))
            && a != b
        {
            self.pairs.push((a.clone(), b.clone()));
        }
    }

    /// Returns true if an id differs, so that answers must be changed.
    pub(crate) fn differ(&self) -> bool {
        !self.pairs.is_empty()
    }

    /// Gives a message of the replay the recorded ids of its own requests, so that they compare as equal.
    pub(crate) fn adopt(&self, recorded: &Value, now: &mut Value) {
        let adopted = |recorded: Option<&Value>, now: &mut Value| {
            if let Some(recorded) = recorded {
                *now = recorded.clone();
            }
        };
        if now.get("method").is_some() {
            if let Some(id) = now.get_mut("id") {
                adopted(recorded.get("id"), id);
            }
            if let Some(token) = now.pointer_mut("/params/_meta/progressToken") {
                adopted(recorded.pointer("/params/_meta/progressToken"), token);
            }
        }
        if now.get("method").is_some_and(|method| method == "notifications/cancelled")
            && let Some(id) = now.pointer_mut("/params/requestId")
        {
            let known = self.pairs.iter().rev().find(|(_, now)| now == id);
            adopted(known.map(|(recorded, _)| recorded), id);
        }
    }

    /// Returns an answer of the peer with the id of the replay; `None` if that is the recorded one.
    pub(crate) fn answer(&mut self, text: &str, masked: bool) -> Option<Piece> {
        let message: Message = serde_json::from_str(text).ok()?;
        let Some(Kind::Answer { id }) = message.kind() else { return None };
        let id: Value = serde_json::from_str(id).ok()?;
        let place = self.pairs.iter().position(|(recorded, _)| *recorded == id)?;
        let (_, now) = self.pairs.remove(place);
        let mut answer: Value = serde_json::from_str(text).ok()?;
        *answer.get_mut("id")? = now;
        let text = answer.to_string();
        Some(Piece { bytes: frame(&text, masked), unit: None, message: Some(text) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn answers_get_the_id_of_the_replay() {
        let mut ids = Ids::default();
        ids.learn(r#"{"id":9001,"method":"ping"}"#, r#"{"id":1,"method":"ping"}"#);
        ids.learn(r#"{"id":7,"method":"ping"}"#, r#"{"id":7,"method":"ping"}"#);
        ids.learn(r#"{"id":3,"result":1}"#, r#"{"id":4,"result":1}"#);
        assert!(ids.differ());
        let mut answered = |text: &str| ids.answer(text, true).and_then(|piece| piece.message);
        assert_eq!(answered(r#"{"id":7,"result":{}}"#), None);
        assert_eq!(answered(r#"{"id":9001,"method":"ping"}"#), None, "a request of the peer");
        assert_eq!(answered(r#"{"id":9001,"result":{}}"#).as_deref(), Some(r#"{"id":1,"result":{}}"#));
        assert_eq!(answered(r#"{"id":9001,"result":{}}"#), None, "a second answer");
    }

    #[test]
    fn own_ids_are_adopted() {
        let mut ids = Ids::default();
        ids.learn(r#"{"id":9001,"method":"a"}"#, r#"{"id":1,"method":"a"}"#);
        let cancel = |id: u64| json!({"method": "notifications/cancelled", "params": {"requestId": id}});
        let ask = |id: u64, token: u64| json!({"id": id, "method": "a", "params": {"_meta": {"progressToken": token}}});
        let answer = |id: u64| json!({"id": id, "result": 1});
        let cases = [
            ("a request", ask(9001, 5), ask(1, 6), ask(9001, 5)),
            ("a cancellation", cancel(9001), cancel(1), cancel(9001)),
            ("a cancellation of another request", cancel(9001), cancel(2), cancel(2)),
            ("an answer", answer(9001), answer(1), answer(1)),
        ];
        for (name, recorded, mut now, expected) in cases {
            ids.adopt(&recorded, &mut now);
            assert_eq!(now, expected, "{name}");
        }
    }
}
