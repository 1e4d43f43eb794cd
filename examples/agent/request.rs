//! A call of a tool, as a person writes it.

use ide_mcp::ide::{OtherTool, ToolRequest};
use serde_json::value::RawValue;

/// The call of this tool with these arguments, a JSON object.
///
/// An `openDiff` has to be known as one, since it waits for a person. Everything else goes out as it is written.
pub(crate) fn request(name: &str, arguments: &str) -> Result<ToolRequest, String> {
    let raw: Box<RawValue> =
        serde_json::from_str(arguments).map_err(|error| format!("the arguments are not JSON: {error}"))?;
    if !raw.get().starts_with('{') {
        return Err("the arguments must be a JSON object".into());
    }
    match name {
        "openDiff" => serde_json::from_str(raw.get())
            .map(ToolRequest::OpenDiff)
            .map_err(|error| format!("these are no arguments of openDiff: {error}")),
        name => Ok(ToolRequest::Other(OtherTool::new(name, raw))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_objects_and_diffs_are_known() {
        let cases = [
            ("any tool", "t", r#"{"a": 1}"#, Ok("Other")),
            ("a diff", "openDiff", r#"{"old_file_path":"/a","new_file_contents":""}"#, Ok("OpenDiff")),
            ("a diff of nothing", "openDiff", "{}", Err("no arguments of openDiff")),
            ("no JSON", "t", "{", Err("not JSON")),
            ("no object", "t", "[]", Err("must be a JSON object")),
        ];
        for (name, tool, arguments, expected) in cases {
            match (request(tool, arguments), expected) {
                (Ok(request), Ok(kind)) => {
                    assert!(format!("{request:?}").starts_with(kind), "{name}: {request:?}");
                }
                (Err(message), Err(expected)) => assert!(message.contains(expected), "{name}: {message}"),
                (other, _) => panic!("{name}: {other:?}"),
            }
        }
    }
}
