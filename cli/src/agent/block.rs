//! Shows the content blocks of a result, to a user or to a program that reads lines: text as it is, and one line for
//! anything else.

use crate::support::counted;
use ide_mcp::ide::kit::display_safe;
use ide_mcp::mcp::Content;
use ide_mcp::rpc::from_json;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// Returns a block as text: the text of a text block or of an embedded resource, or else one line that describes the
/// block.
pub(crate) fn shown<'a>(block: &'a Content<'_>) -> Cow<'a, str> {
    match block {
        Content::Text(text) => Cow::Borrowed(text),
        Content::Raw(raw) => Cow::Owned(other(raw)),
        block => Cow::Owned(format!("{block:?}")),
    }
}

/// Returns the `structuredContent` of a result as JSON. Servers usually repeat it in a text block, so it is needed only
/// if there is none.
pub(crate) fn structured(result: &RawValue) -> Option<String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Result {
        structured_content: Option<Box<RawValue>>,
    }
    let found = from_json::<Result>(result.get()).ok()?.structured_content?;
    Some(found.get().into())
}

fn other(raw: &RawValue) -> String {
    let Ok(block) = from_json::<Value>(raw.get()) else { return raw.get().into() };
    let resource = block.get("resource").unwrap_or(&Value::Null);
    match text(&block, "type") {
        Some(kind @ ("image" | "audio")) => {
            line(&[Some(kind.into()), word(&block, "mimeType"), size(&block, "data")])
        }
        Some(kind @ "resource") => text(resource, "text").map_or_else(
            || {
                line(&[
                    Some(kind.into()),
                    word(resource, "uri"),
                    word(resource, "mimeType"),
                    size(resource, "blob"),
                ])
            },
            Into::into,
        ),
        Some("resource_link") => line(&[
            Some("link".into()),
            word(&block, "uri"),
            word(&block, "title").or_else(|| word(&block, "name")),
        ]),
        _ => raw.get().into(),
    }
}

fn line(parts: &[Option<String>]) -> String {
    let parts: Vec<&str> = parts.iter().flatten().map(String::as_str).collect();
    format!("[{}; --json prints it]", parts.join(", "))
}

fn text<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    value.get(name)?.as_str()
}

fn word(value: &Value, name: &str) -> Option<String> {
    text(value, name).map(|text| display_safe(text).into_owned())
}

/// Returns the size of the data that a member has in Base64.
fn size(value: &Value, name: &str) -> Option<String> {
    let len = text(value, name)?.trim_end_matches('=').len();
    Some(counted(len.saturating_mul(3) / 4, "byte"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn block_without_text_is_shown_in_one_line() {
        let rows = [
            ("a text", r#"{"type":"text","text":"a\nb"}"#, "a\nb"),
            (
                "an image",
                r#"{"type":"image","mimeType":"image/png","data":"iVBORw0KGgo="}"#,
                "[image, image/png, 8 bytes; --json prints it]",
            ),
            (
                "audio without a MIME type",
                r#"{"type":"audio","data":"AA=="}"#,
                "[audio, 1 byte; --json prints it]",
            ),
            (
                "a resource with text",
                r#"{"type":"resource","resource":{"uri":"n://1","text":"x\ud800"}}"#,
                "x\u{fffd}",
            ),
            (
                "a binary resource",
                r#"{"type":"resource","resource":{"uri":"n://\u001b1","mimeType":"a/b","blob":"AAAA"}}"#,
                "[resource, n://\u{fffd}1, a/b, 3 bytes; --json prints it]",
            ),
            (
                "a link",
                r#"{"type":"resource_link","uri":"n://1","name":"n"}"#,
                "[link, n://1, n; --json prints it]",
            ),
            ("an unknown block", r#"{"type":"hologram","x":1.0}"#, r#"{"type":"hologram","x":1.0}"#),
            ("a text block without a string", r#"{"type":"text","text":7}"#, r#"{"type":"text","text":7}"#),
            ("not an object", "7", "7"),
        ];
        for (name, json, want) in rows {
            let result = RawValue::from_string(format!(r#"{{"content":[{json}]}}"#)).unwrap();
            let result = ide_mcp::mcp::ToolResult::read(&result).unwrap();
            assert_eq!(shown(&result.content[0]), want, "{name}");
        }
    }

    #[test]
    fn structured_content_is_json() {
        let of = |text: &str| structured(&RawValue::from_string(text.into()).unwrap());
        assert_eq!(of(r#"{"structuredContent":{"a":[1, 2]}}"#).as_deref(), Some(r#"{"a":[1, 2]}"#));
        assert_eq!(of(r#"{"structuredContent":null}"#), None);
        assert_eq!(of(r#"{"content":[]}"#), None);
    }
}
