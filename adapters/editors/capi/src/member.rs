//! Looks up members of events, by a name or by two names with a dot: `arguments.uri` is the member `uri` of
//! the JSON in the member `arguments`.

use ide_mcp_embed::{Event, Value};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Returns a member as a string: a string as it is, any other value as JSON; `None` for null and for a member
/// that does not exist.
pub(crate) fn text<'a>(event: &'a Event, name: &str) -> Option<Cow<'a, str>> {
    if name == "event" {
        return Some(event.name().into());
    }
    Some(match member(event, name)? {
        Value::Text(text) => text.into(),
        Value::Number(number) => number.to_string().into(),
        Value::Bool(value) => value.to_string().into(),
        Value::Json(raw) if raw.get() == "null" => return None,
        Value::Json(raw) if raw.get().starts_with('"') => {
            serde_json::from_str::<String>(raw.get()).ok()?.into()
        }
        Value::Json(raw) => raw.get().into(),
        _ => return None,
    })
}

/// Returns a member as a number: a whole number, or 0 for false and 1 for true.
pub(crate) fn number(event: &Event, name: &str) -> Option<i64> {
    match member(event, name)? {
        Value::Number(number) => i64::try_from(number).ok(),
        Value::Bool(value) => Some(value.into()),
        Value::Json(raw) => match raw.get() {
            "true" => Some(1),
            "false" => Some(0),
            other => other.parse().ok(),
        },
        Value::Text(_) | _ => None,
    }
}

fn member<'a>(event: &'a Event, name: &str) -> Option<Value<'a>> {
    let Some((name, inner)) = name.split_once('.') else { return event.member(name) };
    let Value::Json(raw) = event.member(name)? else { return None };
    let members: BTreeMap<Cow<'a, str>, &'a RawValue> = serde_json::from_str(raw.get()).ok()?;
    members.get(inner).copied().map(Value::Json)
}
