//! A call of a tool in the form that a person writes.

use ide_mcp::ide::{OpenDiff, OtherTool};
use serde_json::value::{RawValue, to_raw_value};

/// Returns the call of this tool with these arguments, a JSON object.
///
/// An `openDiff` waits for a person, so the function checks its arguments. It does not change the
/// arguments of other tools.
pub(crate) fn request(name: &str, arguments: &str) -> Result<OtherTool, String> {
    let raw: Box<RawValue> =
        serde_json::from_str(arguments).map_err(|error| format!("the arguments are not JSON: {error}"))?;
    if !raw.get().starts_with('{') {
        return Err("the arguments must be a JSON object".into());
    }
    let read = |raw: &RawValue| to_raw_value(&serde_json::from_str::<OpenDiff>(raw.get())?);
    let raw = match name {
        "openDiff" => read(&raw).map_err(|error| format!("these are no arguments of openDiff: {error}"))?,
        _ => raw,
    };
    Ok(OtherTool::new(name, raw))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_checked_before_sending() {
        let cases = [
            ("any tool", "t", r#"{"a": 1}"#, Ok(r#"{"a": 1}"#)),
            (
                "a diff",
                "openDiff",
                r#"{"old_file_path":"/a","new_file_contents":""}"#,
                Ok(r#"{"old_file_path":"/a","new_file_path":"/a","new_file_contents":"","tab_name":"/a"}"#),
            ),
            ("a diff of nothing", "openDiff", "{}", Err("no arguments of openDiff")),
            ("no JSON", "t", "{", Err("not JSON")),
            ("no object", "t", "[]", Err("must be a JSON object")),
        ];
        for (name, tool, arguments, expected) in cases {
            match (request(tool, arguments), expected) {
                (Ok(request), Ok(written)) => {
                    assert_eq!(request.raw().map(RawValue::get), Some(written), "{name}");
                }
                (Err(message), Err(expected)) => assert!(message.contains(expected), "{name}: {message}"),
                (other, _) => panic!("{name}: {other:?}"),
            }
        }
    }
}
