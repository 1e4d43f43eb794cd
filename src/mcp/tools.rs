//! The tools that a server offers: their list, and the decoding of a call into a value of the
//! application.

use alloc::{borrow::Cow, boxed::Box, format, vec::Vec};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use super::Timeout;
use super::listing::{object_or_empty, text_or_empty};
use crate::rpc::{self, ErrorObject, Json};

/// The tools that a [`Server`](super::Server) offers. [`RawTools`] is a ready-made implementation.
pub trait Tools {
    /// One call, decoded.
    type Call;

    /// Returns the list for `tools/list`. Tools that are served without being listed are not in it.
    fn specs(&self) -> &[ToolSpec];

    /// Checks if calls of this name are served, listed or not. By default the listed ones are, and the application
    /// answers [in its own time](Served::Later).
    ///
    /// # Errors
    ///
    /// The error that answers the call if the name is not served: by default -32602 for every name
    /// that is not listed.
    fn check(&self, name: &str) -> Result<Served, ErrorObject> {
        if self.specs().iter().any(|spec| spec.name == name) {
            return Ok(Served::Later);
        }
        Err(ErrorObject::invalid_params(format!("tool {name} not found")))
    }

    /// Decodes a call from its arguments, which are an object: `{}` if the peer sent none. The
    /// server calls this method only with a name that passed [`check`](Tools::check).
    ///
    /// # Errors
    ///
    /// If the arguments do not fit. The peer receives the text of the error, with -32602 and the id
    /// of the call.
    fn decode<'de, D: Deserializer<'de>>(&self, name: &str, arguments: D) -> Result<Self::Call, D::Error>;

    /// Takes the `_meta` of a call, which can be any JSON value. The server calls this method after
    /// [`decode`](Tools::decode), unless the peer sent no `_meta`. The default returns the call
    /// unchanged.
    fn with_meta(&self, call: Self::Call, meta: &RawValue) -> Self::Call {
        let _ = meta;
        call
    }

    /// Takes the call of a tool by which the server answers a request for a resource (see
    /// [`ResourceSpec::tool`](crate::mcp::ResourceSpec::tool)). The server calls this method after
    /// [`decode`](Tools::decode), in place of [`with_meta`](Tools::with_meta). The default returns the
    /// call unchanged.
    fn as_resource(&self, call: Self::Call) -> Self::Call {
        call
    }

    /// Returns the time that this call can wait before the session answers it for the application.
    /// The server calls this method once, when the call arrives. The default is the time in the
    /// configuration.
    ///
    /// The real client waits for ever on the socket of an editor, so a forgotten call makes its
    /// user wait for ever.
    fn timeout(&self, call: &Self::Call) -> Timeout {
        let _ = call;
        Timeout::Default
    }

    /// Returns the result for a call whose time is over: a JSON object. The server calls this
    /// method once, when the call arrives. The default is `None`, which stands for a result with
    /// `isError` and a text about the timeout. A text that is no JSON object counts as `None`.
    fn result_when_late(&self, call: &Self::Call) -> Option<&'static str> {
        let _ = call;
        None
    }
}

/// When the application answers the calls of a tool: what [`Tools::check`] returns for a name that is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "there is no third time")]
pub enum Served {
    /// In its own time.
    Later,
    /// As soon as the call is polled. Such a call is accepted even while
    /// [`SessionLimits::open_calls`](crate::rpc::SessionLimits::open_calls) other calls wait, since its answer can end
    /// those calls. If the application does not answer it at once, it ends at its deadline. At most 64 such calls are
    /// open at a time.
    AtOnce,
}

/// The description of one tool in `tools/list`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolSpec {
    /// The name of the tool.
    pub name: Cow<'static, str>,
    /// The name that a client shows in place of [`name`](Self::name) (MCP 2025-06-18). Left out if empty.
    #[serde(default, deserialize_with = "text_or_empty", skip_serializing_if = "str::is_empty")]
    pub title: Cow<'static, str>,
    /// A description of the tool, for the model that chooses it. Left out if empty.
    #[serde(default, deserialize_with = "text_or_empty", skip_serializing_if = "str::is_empty")]
    pub description: Cow<'static, str>,
    /// The JSON Schema of the arguments, as JSON.
    ///
    /// If the schema is not a JSON object, the list has the schema of any object in its place
    /// (`{"type":"object"}`). So one faulty schema does not cost the peer the whole list. In a list that
    /// a client has read, the text is empty if the tool has no such object.
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
    /// Returns the description of a tool.
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

/// Writes a schema. If the schema is no object, writes the schema of any object.
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

/// Returns a digest: equal lists have equal digests, and different lists almost never do.
pub(super) fn digest(specs: &[ToolSpec]) -> u64 {
    let texts = specs
        .iter()
        .flat_map(|spec| [&spec.name, &spec.title, &spec.description, &spec.input_schema, &spec.annotations]);
    // Each text is followed by a byte that occurs in no text.
    rpc::digest(texts.flat_map(|text| text.bytes().chain([0xff])))
}

/// Tools whose arguments the application reads itself, by their list. Every listed name is served. After a change of
/// the list, call [`Server::tools_list_changed`](super::Server::tools_list_changed).
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
    fn spec_omits_its_missing_parts() {
        const CASES: &[(&str, &str, &str, &str)] = &[
            (
                "complete",
                "does it",
                r#"{"type": "object"}"#,
                r#"{"name":"t","description":"does it","inputSchema":{"type": "object"}}"#,
            ),
            ("no description", "", "{}", r#"{"name":"t","inputSchema":{}}"#),
            ("schema is no JSON", "", "{", r#"{"name":"t","inputSchema":{"type":"object"}}"#),
            ("schema is no object", "", "true", r#"{"name":"t","inputSchema":{"type":"object"}}"#),
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
    fn each_text_changes_the_digest() {
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
