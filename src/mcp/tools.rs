//! The tools that a server offers: their list, and how a call is decoded into a value of the application.

use alloc::{borrow::Cow, boxed::Box, format, vec::Vec};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use super::Timeout;
use super::listing::{object_or_empty, text_or_empty};
use crate::rpc::{self, ErrorObject, Json};

/// The tools of your [`Server`](super::Server), and how their calls are decoded. If you read the arguments yourself,
/// [`RawTools`] is all you need.
pub trait Tools {
    /// One call, decoded.
    type Call;

    /// Returns the list for `tools/list`. You may serve tools that are not in it.
    fn specs(&self) -> &[ToolSpec];

    /// Returns whether you serve calls of this name, listed or not. By default you serve what you list, and answer [in
    /// your own time](Served::Later).
    ///
    /// # Errors
    ///
    /// The error that answers the call if you do not serve the name: by default -32602 for every name that is not
    /// listed.
    fn check(&self, name: &str) -> Result<Served, ErrorObject> {
        if self.specs().iter().any(|spec| spec.name == name) {
            return Ok(Served::Later);
        }
        Err(ErrorObject::invalid_params(format!("tool {name} not found")))
    }

    /// Decodes a call from its arguments, an object: `{}` if the peer sent none. The name has passed
    /// [`check`](Tools::check).
    ///
    /// # Errors
    ///
    /// If the arguments do not fit. The peer gets the message of the error: from MCP 2025-11-25 on as a result with
    /// `isError`, so that its model can correct the call, and in earlier versions as an error with -32602.
    fn decode<'de, D: Deserializer<'de>>(&self, name: &str, arguments: D) -> Result<Self::Call, D::Error>;

    /// Adds the `_meta` of a call, which may be any JSON value. Called after [`decode`](Tools::decode), if the peer
    /// sent a `_meta`. By default the call stays as it is.
    fn with_meta(&self, call: Self::Call, meta: &RawValue) -> Self::Call {
        let _ = meta;
        call
    }

    /// Marks a call that reads a resource (see [`ResourceSpec::tool`](crate::mcp::ResourceSpec::tool)). Called after
    /// [`decode`](Tools::decode), instead of [`with_meta`](Tools::with_meta). By default the call stays as it is.
    fn as_resource(&self, call: Self::Call) -> Self::Call {
        call
    }

    /// Returns how long this call may wait before the session answers it for you. Called once, when the call arrives.
    /// By default it is the time in the configuration.
    ///
    /// The real client never stops waiting for an editor, so without a timeout a forgotten call would make its user
    /// wait forever.
    fn timeout(&self, call: &Self::Call) -> Timeout {
        let _ = call;
        Timeout::Default
    }

    /// Returns the result of a call that you did not answer in time: a JSON object. Called once, when the call arrives.
    /// If you return `None` (the default) or anything but an object, the result is one with `isError` and a text about
    /// the timeout.
    fn result_when_late(&self, call: &Self::Call) -> Option<&'static str> {
        let _ = call;
        None
    }
}

/// When you answer the calls of a tool: what [`Tools::check`] returns for a name that you serve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "there is no third time")]
pub enum Served {
    /// In your own time.
    Later,
    /// As soon as you poll the call. Such a call is accepted even while as many others wait as
    /// [`SessionLimits::open_calls`](crate::rpc::SessionLimits::open_calls) permits, because its answer can end those
    /// (closing a tab ends its diff, for example). If you do not answer at once, it ends at its deadline. At most 64
    /// such calls are open at a time.
    AtOnce,
}

/// Describes one tool in `tools/list`.
///
/// ```
/// use ide_mcp::mcp::ToolSpec;
///
/// let schema = r#"{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}"#;
/// let tool = ToolSpec::new("reveal", "Shows a file in the tree of the editor.", schema).title("Reveal in tree");
/// assert_eq!((&*tool.name, &*tool.title), ("reveal", "Reveal in tree"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolSpec {
    /// The name of the tool.
    pub name: Cow<'static, str>,
    /// What a client shows instead of [`name`](Self::name) (MCP 2025-06-18). Left out if empty.
    #[serde(default, deserialize_with = "text_or_empty", skip_serializing_if = "str::is_empty")]
    pub title: Cow<'static, str>,
    /// What the tool does, for the model that chooses it. Left out if empty.
    #[serde(default, deserialize_with = "text_or_empty", skip_serializing_if = "str::is_empty")]
    pub description: Cow<'static, str>,
    /// The JSON Schema of the arguments, as JSON.
    ///
    /// If this is not a JSON object, the list has `{"type":"object"}` instead, so that the peer does not lose the whole
    /// list because of one faulty schema. In a list that a client has read, it is empty if the tool has no schema.
    #[serde(
        rename = "inputSchema",
        default,
        deserialize_with = "object_or_empty",
        serialize_with = "schema"
    )]
    pub input_schema: Cow<'static, str>,
    /// Hints about the effects of the tool, such as `readOnlyHint` (MCP 2025-03-26), as JSON. Left out
    /// unless they are a JSON object.
    #[serde(
        default,
        deserialize_with = "object_or_empty",
        serialize_with = "schema",
        skip_serializing_if = "is_no_object"
    )]
    pub annotations: Cow<'static, str>,
}

impl ToolSpec {
    /// Describes a tool. `input_schema` is JSON.
    pub fn new(
        name: impl Into<Cow<'static, str>>,
        description: impl Into<Cow<'static, str>>,
        input_schema: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self {
            name: name.into(),
            title: Cow::Borrowed(""),
            description: description.into(),
            input_schema: input_schema.into(),
            annotations: Cow::Borrowed(""),
        }
    }

    /// Sets the [title](Self::title).
    #[must_use]
    pub fn title(mut self, title: impl Into<Cow<'static, str>>) -> Self {
        self.title = title.into();
        self
    }
}

/// Writes a schema. If it is not an object, writes the schema of any object instead.
fn schema<S: Serializer>(text: &str, serializer: S) -> Result<S::Ok, S::Error> {
    match object(text) {
        Some(schema) => schema.serialize(serializer),
        None => serializer.collect_map([("type", "object")]),
    }
}

fn is_no_object(text: &str) -> bool {
    object(text).is_none()
}

fn object(text: &str) -> Option<&RawValue> {
    serde_json::from_str::<&RawValue>(text).ok().filter(|raw| rpc::is_object(raw))
}

/// Returns a digest: equal lists have equal digests, different lists almost never.
pub(super) fn digest(specs: &[ToolSpec]) -> u64 {
    let texts = specs
        .iter()
        .flat_map(|spec| [&spec.name, &spec.title, &spec.description, &spec.input_schema, &spec.annotations]);
    // Each string is followed by a byte that cannot occur in UTF-8.
    rpc::digest(texts.flat_map(|text| text.bytes().chain([0xff])))
}

/// Tools whose arguments you read yourself, given by their list. Every listed name is served. After you change the
/// list, call [`Server::tools_list_changed`](super::Server::tools_list_changed).
#[derive(Clone, Debug, Default)]
#[allow(clippy::exhaustive_structs, reason = "a list is all that it is")]
pub struct RawTools(pub Vec<ToolSpec>);

/// A call as [`RawTools`] decodes it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RawCall {
    /// The name of the tool.
    pub name: Box<str>,
    /// The arguments: a JSON object.
    pub arguments: Json,
}

impl Tools for RawTools {
    type Call = RawCall;

    fn specs(&self) -> &[ToolSpec] {
        &self.0
    }

    fn decode<'de, D: Deserializer<'de>>(&self, name: &str, arguments: D) -> Result<RawCall, D::Error> {
        Ok(RawCall { name: name.into(), arguments: Json::deserialize(arguments)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spec_leaves_out_empty_members() {
        const CASES: &[(&str, &str, &str, &str)] = &[
            (
                "complete",
                "does it",
                r#"{"type": "object"}"#,
                r#"{"name":"t","description":"does it","inputSchema":{"type": "object"}}"#,
            ),
            ("no description", "", "{}", r#"{"name":"t","inputSchema":{}}"#),
            ("schema is not JSON", "", "{", r#"{"name":"t","inputSchema":{"type":"object"}}"#),
            ("schema is not an object", "", "true", r#"{"name":"t","inputSchema":{"type":"object"}}"#),
        ];
        for (name, description, schema, want) in CASES {
            let got = serde_json::to_string(&ToolSpec::new("t", *description, *schema)).unwrap();
            assert_eq!(got, *want, "{name}");
        }
        let annotations = r#"{"readOnlyHint":true}"#.into();
        let titled = ToolSpec { annotations, ..ToolSpec::new("t", "", "{}").title("T") };
        assert_eq!(
            serde_json::to_string(&titled).unwrap(),
            r#"{"name":"t","title":"T","inputSchema":{},"annotations":{"readOnlyHint":true}}"#
        );
        let titled = ToolSpec { annotations: "true".into(), ..titled };
        assert_eq!(serde_json::to_string(&titled).unwrap(), r#"{"name":"t","title":"T","inputSchema":{}}"#);
    }

    #[test]
    fn each_member_changes_the_digest() {
        let spec = || ToolSpec::new("a", "b", "c");
        let specs = [
            spec(),
            ToolSpec::new("x", "b", "c"),
            ToolSpec::new("a", "x", "c"),
            ToolSpec::new("a", "b", "x"),
            spec().title("x"),
            ToolSpec { annotations: "x".into(), ..spec() },
            ToolSpec::new("ab", "", "c"),
        ];
        let digests: alloc::collections::BTreeSet<u64> =
            specs.into_iter().map(|spec| digest(&[spec])).collect();
        assert_eq!(digests.len(), 7);
        assert_eq!(digest(&[spec()]), digest(&[spec()]));
    }

    #[test]
    fn only_listed_names_are_served_by_default() {
        let tools = RawTools(alloc::vec![ToolSpec::new("here", "", "{}")]);
        assert!(tools.check("here").is_ok());
        let error = tools.check("Here").unwrap_err();
        assert_eq!((error.code, error.message.as_str()), (-32602, "tool Here not found"));
    }
}
