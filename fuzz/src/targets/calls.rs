//! Calls of tools as a peer may write them, with arguments that are right, wrong, missing, repeated or unknown. We know
//! what to expect of a call from the way it was generated.

use super::foreign::tool_index;
use ide_mcp::ide::Dialect;
use ide_mcp::ide::tool::Tool;
use ide_mcp::testing::arbitrary::{Result, Unstructured};
use serde_json::Value;

/// A call of a tool.
#[derive(Clone, Debug)]
pub struct Called {
    /// The tool; `None` if the name is not that of a tool, and an error if there is no name.
    pub tool: std::result::Result<Option<Tool>, ()>,
    pub fit: Fit,
}

/// The result of comparing the arguments with those of the tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    Right,
    Wrong,
    /// Only the code under test can decide.
    Unknown,
}

/// Returns the parameters of a call of any tool, with arguments that are right, wrong, missing,
/// repeated or unknown.
pub fn call(u: &mut Unstructured<'_>) -> Result<(String, Called)> {
    let dialect = *u.choose(&[Dialect::VsCode, Dialect::SnakeCase])?;
    let tool = Tool::ALL[tool_index(u.arbitrary()?)];
    let spec = tool.spec(dialect);
    let schema = schema(tool, dialect);
    let properties = schema["properties"].as_object().expect("arguments have names");
    let (mut members, mut given) = (Vec::new(), Vec::new());
    for (name, property) in properties {
        let written = match u.int_in_range(0..=7)? {
            0 => continue,
            1 => value(u, 3)?,
            2 => {
                let first = fitting(u, &property["type"])?;
                members.push(format!("\"{name}\":{first}"));
                given.push((name.as_str(), first));
                fitting(u, &property["type"])?
            }
            _ => fitting(u, &property["type"])?,
        };
        given.push((name.as_str(), written.clone()));
        members.push(format!("\"{name}\":{written}"));
    }
    if u.ratio(1, 8)? {
        members.push(format!("\"unknown\":{}", value(u, 2)?));
    }
    let (arguments, fit) = if u.ratio(1, 16)? {
        let other = value(u, 2)?;
        // An object of `value` contains no name of an argument.
        let is_object = other == "null" || other.starts_with('{');
        let fit = if is_object { Fit::of(tool, &schema, &[]) } else { Fit::Wrong };
        (other, fit)
    } else {
        (format!("{{{}}}", members.join(",")), Fit::of(tool, &schema, &given))
    };
    let name = if u.ratio(1, 16)? { value(u, 1)? } else { format!("\"{}\"", spec.name) };
    let meta = if u.ratio(1, 8)? {
        format!(r#","_meta":{{"progressToken":{}}}"#, value(u, 1)?)
    } else {
        String::new()
    };
    let called = Called { tool: text_in(&name).map(|name| Tool::from_name(&name)).ok_or(()), fit };
    Ok(match u.int_in_range(0..=15)? {
        0 => {
            let called = Called { fit: Fit::of(tool, &schema, &[]), ..called };
            (format!(r#"{{"name":{name}{meta}}}"#), called)
        }
        1 => (format!(r#"{{"arguments":{arguments}{meta}}}"#), Called { tool: Err(()), fit }),
        2 => (format!(r#"{{"arguments":{arguments},"name":{name}{meta}}}"#), called),
        3 => {
            let params = format!(r#"{{"name":{name},"name":{name},"arguments":{arguments}}}"#);
            (params, Called { tool: Err(()), fit })
        }
        _ => (format!(r#"{{"name":{name},"arguments":{arguments}{meta}}}"#), called),
    })
}

/// Returns a call of this tool by its name, without arguments.
pub fn no_arguments(tool: Tool) -> Called {
    Called { tool: Ok(Some(tool)), fit: Fit::of(tool, &schema(tool, Dialect::VsCode), &[]) }
}

fn schema(tool: Tool, dialect: Dialect) -> Value {
    serde_json::from_str(&tool.spec(dialect).input_schema).expect("a schema is JSON")
}

impl Fit {
    /// Compares these arguments, names with their JSON texts, with the schema.
    fn of(tool: Tool, schema: &Value, given: &[(&str, String)]) -> Self {
        let is_given = |name: &str| given.iter().any(|(other, _)| name == *other);
        let is_there = |name: &str| match (tool, name) {
            // Either path is enough: it replaces the other path and the name of the tab.
            (Tool::OpenDiff, "old_file_path" | "new_file_path" | "tab_name") => {
                is_given("old_file_path") || is_given("new_file_path")
            }
            _ => is_given(name),
        };
        let mut required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
        if !required.all(is_there) {
            return Self::Wrong;
        }
        let mut fit = Self::Right;
        for (at, (name, written)) in given.iter().enumerate() {
            let known = match schema["properties"][name]["type"].as_str() {
                _ if written == "null" => Self::Unknown,
                // Half of a surrogate pair: in a text it becomes U+FFFD, and in a name it is refused.
                Some("string") if written.starts_with('"') && text_in(written).is_none() => Self::Unknown,
                Some("string") if text_in(written).is_none() => Self::Wrong,
                Some("boolean") if !["true", "false"].contains(&written.as_str()) => Self::Wrong,
                Some("string" | "boolean") => Self::Right,
                _ => Self::Unknown,
            };
            let is_twice = given.iter().take(at).any(|(other, _)| name == other);
            // The model does not say what happens with an empty string, or with an argument that is present twice.
            let known =
                if known == Self::Right && (is_twice || written == "\"\"") { Self::Unknown } else { known };
            match known {
                Self::Right => {}
                Self::Wrong => return Self::Wrong,
                Self::Unknown => fit = Self::Unknown,
            }
        }
        fit
    }
}

/// Returns a value for an argument of this type.
fn fitting(u: &mut Unstructured<'_>, kind: &Value) -> Result<String> {
    const TEXTS: [&str; 8] = [
        "\"/a\"",
        "\"tab 0\"",
        "\"tab 1\"",
        "\"\"",
        "\"file:///a%20b\"",
        "\"\\u0041\\n\"",
        "\"C:\\\\a\"",
        "\"✻\"",
    ];
    Ok(match kind.as_str() {
        Some("boolean") => u.choose(&["true", "false"])?.to_string(),
        Some("integer") => u.choose(&["0", "1", "4294967295", "4294967296", "1.0", "1e2"])?.to_string(),
        Some("array") => format!("[{},{}]", u.choose(&TEXTS)?, u.choose(&TEXTS)?),
        Some("object") => r#"{"start":{"line":0,"character":1},"end":{"line":2,"character":3}}"#.into(),
        _ => u.choose(&TEXTS)?.to_string(),
    })
}

/// Returns any JSON with at most this many levels.
pub fn value(u: &mut Unstructured<'_>, levels: usize) -> Result<String> {
    const VALUES: [&str; 16] = [
        "null",
        "true",
        "false",
        "0",
        "-0",
        "1.5",
        "1e400",
        "-1",
        "18446744073709551616",
        "\"\"",
        "\"x\"",
        "\"2025-03-26\"",
        "\"\\ud83d\"",
        "\"\\u0000\"",
        "{}",
        "[]",
    ];
    if levels == 0 || u.ratio(1, 2)? {
        return Ok(u.choose(&VALUES)?.to_string());
    }
    let inner = value(u, levels - 1)?;
    Ok(match u.int_in_range(0..=3)? {
        0 => format!("[{inner}]"),
        1 => format!("[{inner},{}]", value(u, levels - 1)?),
        2 => format!("{{\"a\":{inner}}}"),
        _ => format!("{{\"a\":{inner},\"a\":{}}}", value(u, levels - 1)?),
    })
}

/// Returns the content of a JSON string, or `None` if `token` is not a JSON string.
pub fn text_in(token: &str) -> Option<String> {
    serde_json::from_str(token).ok()
}
