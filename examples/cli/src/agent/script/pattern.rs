//! The comparison of an event with an expected event.

use serde_json::Value;

/// Returns true if `came` contains `expected`. An object has to contain the expected members, an
/// array has to begin with the expected elements, and any other value has to be equal. Numbers are
/// compared by value.
pub(crate) fn matches(expected: &Value, came: &Value) -> bool {
    match (expected, came) {
        (Value::Object(expected), Value::Object(came)) => {
            expected.iter().all(|(name, expected)| came.get(name).is_some_and(|came| matches(expected, came)))
        }
        (Value::Array(expected), Value::Array(came)) => {
            expected.len() <= came.len()
                && expected.iter().zip(came).all(|(expected, came)| matches(expected, came))
        }
        (Value::Number(expected), Value::Number(came)) => {
            expected == came || expected.as_f64().is_some_and(|expected| Some(expected) == came.as_f64())
        }
        (expected, came) => expected == came,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn expected_event_matches_as_a_part() {
        let came = json!({"event": "e", "params": {"a": 1, "b": [1, {"c": 2, "d": null}, 3]}});
        let cases = [
            (json!({}), true),
            (json!({"event": "e"}), true),
            (json!({"event": "f"}), false),
            (json!({"Event": "e"}), false),
            (json!({"params": {"a": 1.0}}), true),
            (json!({"params": {"a": "1"}}), false),
            (json!({"params": {"b": [1, {"c": 2}]}}), true),
            (json!({"params": {"b": [1, {"c": 2}, 3, 4]}}), false),
            (json!({"params": {"b": [{"c": 2}]}}), false),
            (json!({"params": {"b": [1, {"d": null}]}}), true),
            (json!({"params": {"b": [1, {"e": null}]}}), false),
            (json!([]), false),
            (came.clone(), true),
        ];
        for (expected, is_match) in cases {
            assert_eq!(matches(&expected, &came), is_match, "{expected}");
        }
    }
}
