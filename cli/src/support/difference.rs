//! Finds the first difference between two JSON values, and its path.

use ide_mcp::ide::kit::display_safe;
use serde_json::Value;

/// The first place at which two things differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// A path such as `result.tools[2].name`, or another description of the place.
    pub(crate) path: String,
    pub(crate) recorded: String,
    pub(crate) now: String,
}

/// How much of a value must be equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// All of it.
    Whole,
    /// The recorded part: an object must contain the recorded members, an array must begin with the recorded
    /// elements, and [`ANY`] stands for any value.
    Part,
}

/// The string that stands for any value in a recorded part.
pub(crate) const ANY: &str = "${any}";

/// The strings that stand for the agent's folder in a script, as a path and as a URI.
pub(crate) const FOLDER: &str = "${folder}";
pub(crate) const FOLDER_URI: &str = "${folder_uri}";

/// Returns the first difference in meaning, by the order of names and of elements; `None` if there is none. The order
/// of members does not matter. Numbers are compared by value, and strings that contain JSON are compared as JSON.
pub(crate) fn difference(recorded: &Value, now: &Value, extent: Extent) -> Option<Place> {
    in_values("", Some(recorded), Some(now), extent)
}

/// The maximum number of characters of a value that are shown.
const SHOWN: usize = 300;

/// The number of equal characters that are shown before a difference in a string.
const BEFORE: usize = 20;

/// Returns the beginning of some bytes as text that is safe for a screen.
pub(crate) fn quote(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes.trim_ascii_end()).replace("\r\n", " | ");
    let short: String = text.chars().take(SHOWN).collect();
    let more = if short.len() < text.len() { " …" } else { "" };
    format!("{}{more}", display_safe(&short))
}

fn in_values(path: &str, recorded: Option<&Value>, now: Option<&Value>, extent: Extent) -> Option<Place> {
    match (recorded, now) {
        (Some(Value::String(any)), Some(_)) if extent == Extent::Part && any == ANY => None,
        (Some(Value::Object(a)), Some(Value::Object(b))) => {
            let more = b.keys().filter(|name| extent == Extent::Whole && !a.contains_key(*name));
            a.keys().chain(more).find_map(|name| {
                let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
                let dot = if path.is_empty() || path.ends_with(' ') { "" } else { "." };
                let path = if plain { format!("{path}{dot}{name}") } else { format!("{path}[{name:?}]") };
                in_values(&path, a.get(name), b.get(name), extent)
            })
        }
        (Some(Value::Array(a)), Some(Value::Array(b))) => {
            let len = if extent == Extent::Whole { a.len().max(b.len()) } else { a.len() };
            (0..len)
                .find_map(|index| in_values(&format!("{path}[{index}]"), a.get(index), b.get(index), extent))
        }
        (Some(Value::Number(a)), Some(Value::Number(b)))
            if a.as_f64() == b.as_f64() && a.is_f64() != b.is_f64() =>
        {
            None
        }
        (Some(a), Some(b)) if a == b => None,
        (Some(a), Some(b)) => {
            if let (Some(a), Some(b)) = (contained(a, extent), contained(b, Extent::Whole)) {
                return in_values(&format!("{path} → "), Some(&a), Some(&b), extent);
            }
            let [recorded, now] = shown(a, b);
            Some(place(path, recorded, now))
        }
        (a, b) => {
            let show = |value: Option<&Value>| value.map_or_else(|| "nothing".into(), whole);
            Some(place(path, show(a), show(b)))
        }
    }
}

fn place(path: &str, recorded: String, now: String) -> Place {
    let path = if path.is_empty() { "the whole value" } else { path.trim_end_matches(" → ") };
    Place { path: path.into(), recorded, now }
}

/// Returns the JSON that a string contains, if it is an object or an array. A recorded part may have that object or
/// array itself instead of the string.
fn contained(value: &Value, extent: Extent) -> Option<Value> {
    match value {
        Value::String(text) if text.trim_start().starts_with(['{', '[']) => serde_json::from_str(text).ok(),
        Value::Object(_) | Value::Array(_) if extent == Extent::Part => Some(value.clone()),
        _ => None,
    }
}

/// Returns two values as they are shown: of two long strings only the part around the first difference.
fn shown(a: &Value, b: &Value) -> [String; 2] {
    if let (Value::String(a), Value::String(b)) = (a, b) {
        let equal = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
        if equal > 2 * BEFORE {
            return [a, b].map(|text| {
                let rest: String = text.chars().skip(equal.saturating_sub(BEFORE)).collect();
                format!("… {}", whole(&rest.into()))
            });
        }
    }
    [whole(a), whole(b)]
}

fn whole(value: &Value) -> String {
    quote(value.to_string().as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn first_difference_has_path_and_values() {
        let long = "x".repeat(100);
        let around = |end: &str| format!("… \"{}{end}\"", "x".repeat(20));
        let [ends_a, ends_b] = ["a", "b"].map(|end| json!(format!("{long}{end}")));
        let text = |value: Value| json!({ "text": value.to_string() });
        let cases: Vec<(&str, Value, Value, Option<[&str; 3]>)> = vec![
            ("equal", json!({"a": 1, "b": [2]}), json!({"b": [2], "a": 1}), None),
            ("a number in another form", json!([1]), json!([1.0]), None),
            (
                "large numbers",
                json!(u64::MAX),
                json!(u64::MAX - 1),
                Some(["the whole value", "18446744073709551615", "18446744073709551614"]),
            ),
            (
                "a member",
                json!({"a": [1, {"b": 2}]}),
                json!({"a": [1, {"b": 3}]}),
                Some(["a[1].b", "2", "3"]),
            ),
            ("a missing member", json!({"a": {"b": 1}}), json!({"a": {}}), Some(["a.b", "1", "nothing"])),
            ("null is not a missing member", json!({"a": null}), json!({}), Some(["a", "null", "nothing"])),
            ("one element too many", json!([]), json!([null]), Some(["[0]", "nothing", "null"])),
            ("a name with a space", json!({"a b": 1}), json!({"a b": 2}), Some([r#"["a b"]"#, "1", "2"])),
            ("an object and an array", json!({"a": {}}), json!({"a": []}), Some(["a", "{}", "[]"])),
            ("strings", json!({"a": "b"}), json!({"a": "c"}), Some(["a", "\"b\"", "\"c\""])),
            (
                "equal JSON in strings",
                text(json!({"a": 1, "b": 2})),
                json!({"text": "{\"b\":2, \"a\":1}"}),
                None,
            ),
            (
                "JSON in strings",
                text(json!([{"a": 1}])),
                text(json!([{"a": 2}])),
                Some(["text → [0].a", "1", "2"]),
            ),
            (
                "JSON in only one string",
                text(json!([1])),
                json!({"text": "x"}),
                Some(["text", "\"[1]\"", "\"x\""]),
            ),
            (
                "an array is not a string",
                json!([1]),
                json!("[1]"),
                Some(["the whole value", "[1]", "\"[1]\""]),
            ),
            ("long strings", ends_a, ends_b, Some(["the whole value", &around("a"), &around("b")])),
        ]
        .into_iter()
        .map(|(name, a, b, found)| {
            (
                name,
                a,
                b,
                found.map(|three| three.map(|one: &str| Box::leak(one.to_owned().into_boxed_str()) as &str)),
            )
        })
        .collect();
        for (name, recorded, now, expected) in &cases {
            let place = difference(recorded, now, Extent::Whole);
            let place = place.as_ref().map(|place| [&*place.path, &*place.recorded, &*place.now]);
            assert_eq!(place, *expected, "{name}");
        }
    }

    #[test]
    fn recorded_part_matches_longer_value() {
        let actual = json!({"event": "e", "params": {"a": 1, "b": [1, {"c": 2, "d": null}, 3]}, "text": "{\"x\":[1,2]}"});
        let cases = [
            (json!({}), None),
            (json!({"event": "e"}), None),
            (json!({"event": "f"}), Some("event")),
            (json!({"Event": "e"}), Some("Event")),
            (json!({"params": {"a": 1.0}}), None),
            (json!({"params": {"a": "1"}}), Some("params.a")),
            (json!({"params": {"b": [1, {"c": 2}]}}), None),
            (json!({"params": {"b": [1, {"c": 2}, 3, 4]}}), Some("params.b[3]")),
            (json!({"params": {"b": [{"c": 2}]}}), Some("params.b[0]")),
            (json!({"params": {"b": [1, {"d": null}]}}), None),
            (json!({"params": {"b": [1, {"e": null}]}}), Some("params.b[1].e")),
            (json!({"params": {"a": ANY, "b": [ANY, ANY, 3]}}), None),
            (json!({"params": {"z": ANY}}), Some("params.z")),
            (json!({"text": {"x": [1]}}), None),
            (json!({"text": {"x": [2]}}), Some("text → x[0]")),
            (json!([]), Some("the whole value")),
            (actual.clone(), None),
        ];
        for (expected, path) in cases {
            let place = difference(&expected, &actual, Extent::Part);
            assert_eq!(place.map(|place| place.path).as_deref(), path, "{expected}");
        }
    }
}
