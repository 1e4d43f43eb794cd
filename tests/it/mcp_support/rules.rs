//! The form of every sent message: the envelope of JSON-RPC, narrowed by MCP and by the negotiated
//! version. The checks follow the specification alone; of the crate they use only the names of the
//! versions.

use ide_mcp::mcp::ProtocolVersion;
use serde::Deserialize;
use serde_json::{Value, value::RawValue};

/// A message that keeps the rules.
#[derive(Debug)]
pub enum Said {
    /// The spelling of the id, and the code if it is an error.
    Answer {
        token: String,
        error: Option<i64>,
    },
    Request {
        token: String,
        method: String,
        params: Value,
    },
    Notification {
        method: String,
        params: Value,
    },
}

#[derive(Deserialize)]
struct Tokens<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
}

/// Returns the messages of `text`: one message or, in version 2025-03-26, an array of messages.
#[track_caller]
pub fn check(text: &str, version: Option<ProtocolVersion>) -> Vec<Said> {
    if !text.starts_with('[') {
        return vec![check_one(text, version)];
    }
    assert_eq!(version, Some(ProtocolVersion::V2025_03_26), "a batch: {text}");
    let elements: Vec<&RawValue> = serde_json::from_str(text).unwrap();
    assert!(!elements.is_empty(), "an empty batch");
    elements.into_iter().map(|element| check_one(element.get(), version)).collect()
}

#[track_caller]
fn check_one(text: &str, version: Option<ProtocolVersion>) -> Said {
    let message: Value = serde_json::from_str(text).unwrap();
    let members = message.as_object().unwrap_or_else(|| panic!("no object: {text}"));
    let names: Vec<&str> = members.keys().map(String::as_str).collect();
    assert_eq!(text.matches(r#""jsonrpc":"#).count(), 1, "{text}");
    assert_eq!(members.get("jsonrpc"), Some(&Value::from("2.0")), "{text}");
    assert!(!has_null(&message), "a null: {text}");
    for later in ["resultType", "ttlMs", "cacheScope", "io.modelcontextprotocol/"] {
        assert!(!text.contains(later), "{later} belongs to a later version: {text}");
    }
    let token = || {
        let tokens: Tokens<'_> = serde_json::from_str(text).unwrap();
        let token = tokens.id.unwrap().get().to_owned();
        assert!(
            token.starts_with('"') || token.starts_with(|c: char| c == '-' || c.is_ascii_digit()),
            "{text}"
        );
        token
    };
    let params = || {
        let params = members.get("params").cloned().unwrap_or_else(|| serde_json::json!({}));
        assert!(params.is_object(), "{text}");
        params
    };
    let sorted = |mut names: Vec<&str>| {
        names.sort_unstable();
        names.retain(|name| !matches!(*name, "jsonrpc" | "params"));
        names.join(" ")
    };
    match sorted(names).as_str() {
        "id result" => {
            assert!(members["result"].is_object(), "{text}");
            assert!(!members.contains_key("params"), "{text}");
            Said::Answer { token: token(), error: None }
        }
        "error id" => {
            let error = members["error"].as_object().unwrap();
            assert!(error.keys().all(|name| matches!(name.as_str(), "code" | "message" | "data")), "{text}");
            assert!(error["message"].is_string() && !members.contains_key("params"), "{text}");
            let code = error["code"].as_i64().unwrap();
            assert!(!(-32022..=-32020).contains(&code), "a code of a later version: {text}");
            Said::Answer { token: token(), error: Some(code) }
        }
        "id method" => Said::Request {
            token: token(),
            method: members["method"].as_str().unwrap().into(),
            params: params(),
        },
        "method" => {
            let (method, params) = (members["method"].as_str().unwrap().to_owned(), params());
            if method == "notifications/progress" {
                assert!(params["progress"].is_number() && !params["progressToken"].is_null(), "{text}");
                let says = params.get("message").is_some();
                assert!(!says || version > Some(ProtocolVersion::V2024_11_05), "{text}");
            }
            Said::Notification { method, params }
        }
        other => panic!("members {other}: {text}"),
    }
}

fn has_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(values) => values.iter().any(has_null),
        Value::Object(members) => members.values().any(has_null),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}
