//! A call of a tool, or a request for a prompt, as typed on the command line.

use ide_mcp::ide::tool::{OpenDiff, OtherTool};
use ide_mcp::mcp::GetPrompt;
use ide_mcp::rpc::from_json;
use serde_json::value::{RawValue, to_raw_value};

/// Returns the call of this tool with these arguments, a JSON object.
///
/// The arguments of `openDiff` are checked, since it waits for a user. Those of other tools are sent as they are.
pub(crate) fn request(name: &str, arguments: &str) -> Result<OtherTool, String> {
    let raw: Box<RawValue> =
        serde_json::from_str(arguments).map_err(|error| format!("the arguments are not JSON: {error}"))?;
    if !raw.get().starts_with('{') {
        return Err("the arguments must be a JSON object".into());
    }
    let read = |raw: &RawValue| to_raw_value(&from_json::<OpenDiff>(raw.get())?);
    let raw = match name {
        "openDiff" => read(&raw).map_err(|error| format!("these are not arguments of openDiff: {error}"))?,
        _ => raw,
    };
    Ok(OtherTool::new(name, raw))
}

/// Returns the request for this prompt with these arguments, a JSON object of strings.
pub(crate) fn prompt(name: &str, arguments: &str) -> Result<GetPrompt, String> {
    let mut prompt = GetPrompt::new(name);
    prompt.arguments = from_json(arguments)
        .map_err(|error| format!("the arguments of a prompt must be a JSON object of strings: {error}"))?;
    Ok(prompt)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_of_prompts_are_strings() {
        let request = prompt("p", r#"{"a":"1","b":""}"#).unwrap();
        assert_eq!(request, GetPrompt::new("p").argument("a", "1").argument("b", ""));
        assert_eq!(prompt("p", "{}"), Ok(GetPrompt::new("p")));
        for wrong in ["{", "[]", r#"{"a":1}"#, "null"] {
            let problem = prompt("p", wrong).unwrap_err();
            assert!(problem.contains("a JSON object of strings"), "{wrong}: {problem}");
        }
    }

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
            ("a diff without arguments", "openDiff", "{}", Err("not arguments of openDiff")),
            ("not JSON", "t", "{", Err("not JSON")),
            ("not an object", "t", "[]", Err("must be a JSON object")),
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
