//! What a server offers: the list of tools, and how a call of one becomes a value of the application.

use alloc::{borrow::Cow, boxed::Box, format, vec::Vec};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use super::Timeout;
use crate::rpc::{self, ErrorObject, code};

/// What a [`Server`](super::Server) offers. [`RawTools`] is the ready-made one.
pub trait Tools {
    /// One call, decoded.
    type Call;

    /// What `tools/list` answers. Tools that are served without being listed are not in it.
    fn specs(&self) -> &[ToolSpec];

    /// Whether calls of this name are served, listed or not.
    ///
    /// # Errors
    ///
    /// What answers the call if not: by default -32602 for every name that is not listed.
    fn check(&self, name: &str) -> Result<(), ErrorObject> {
        if self.specs().iter().any(|spec| spec.name == name) {
            return Ok(());
        }
        Err(ErrorObject::new(code::INVALID_PARAMS, format!("tool {name} not found")))
    }

    /// Makes a call of its arguments, which are an object: `{}` where the peer sent none. Only asked for names that
    /// passed [`check`](Tools::check).
    ///
    /// # Errors
    ///
    /// If they do not fit. The text of the error goes to the peer, with -32602 and the id of the call.
    fn decode<'de, D: Deserializer<'de>>(&self, name: &str, arguments: D) -> Result<Self::Call, D::Error>;

    /// How long this call may wait before it is answered for the application. Asked once, when the call comes; by
    /// default as long as the configuration says.
    ///
    /// The real client waits for ever on the socket of an editor, so a call that is forgotten hangs its user.
    fn timeout(&self, call: &Self::Call) -> Timeout {
        let _ = call;
        Timeout::Default
    }

    /// The result that is sent then: a JSON object. Asked once, when the call comes; by default `None`, for a result
    /// with `isError` that says so. Text that is no JSON object counts as `None`.
    fn result_when_late(&self, call: &Self::Call) -> Option<&'static str> {
        let _ = call;
        None
    }

    /// Whether a call of this name is answered as soon as it is polled: by default none. It is let in although
    /// [`SessionLimits::open_calls`](crate::rpc::SessionLimits::open_calls) others wait, since it may be what ends them. One that is
    /// left to wait all the same is answered by its deadline; beside 64 of these, no further one is let in.
    fn is_answered_at_once(&self, name: &str) -> bool {
        let _ = name;
        false
    }
}

/// One tool as `tools/list` describes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ToolSpec {
    /// What it is called by.
    pub name: Cow<'static, str>,
    /// What it does, for the model that chooses it. Left out if empty.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub description: Cow<'static, str>,
    /// The JSON Schema of its arguments, as JSON.
    ///
    /// Where this is not a JSON object, any object is announced (`{"type":"object"}`), so that one faulty schema does
    /// not cost the peer the whole list.
    #[serde(rename = "inputSchema", serialize_with = "schema")]
    pub input_schema: Cow<'static, str>,
}

impl ToolSpec {
    /// A tool with this name, description and schema.
    pub fn new(
        name: impl Into<Cow<'static, str>>,
        description: impl Into<Cow<'static, str>>,
        input_schema: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self { name: name.into(), description: description.into(), input_schema: input_schema.into() }
    }
}

/// Writes a schema; in place of what is no object, that of any object.
fn schema<S: Serializer>(text: &str, serializer: S) -> Result<S::Ok, S::Error> {
    match serde_json::from_str::<&RawValue>(text) {
        Ok(schema) if rpc::is_object(schema) => schema.serialize(serializer),
        Ok(_) | Err(_) => serializer.collect_map([("type", "object")]),
    }
}

/// A number that equal lists share and others hardly ever do.
pub(super) fn digest(specs: &[ToolSpec]) -> u64 {
    let texts = specs.iter().flat_map(|spec| [&spec.name, &spec.description, &spec.input_schema]);
    // A byte that is in no text lies behind each.
    rpc::digest(texts.flat_map(|text| text.bytes().chain([0xff])))
}

/// Tools whose arguments the application reads itself: every listed name is served.
#[derive(Clone, Debug, Default)]
pub struct RawTools(Vec<ToolSpec>);

impl RawTools {
    /// Serves these tools.
    #[must_use]
    pub const fn new(specs: Vec<ToolSpec>) -> Self {
        Self(specs)
    }

    /// The list, to change it. Tell the peer with [`Server::tools_list_changed`](super::Server::tools_list_changed).
    pub const fn specs_mut(&mut self) -> &mut Vec<ToolSpec> {
        &mut self.0
    }
}

/// A call as [`RawTools`] hands it over.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RawCall {
    /// Which tool.
    pub name: Box<str>,
    /// A JSON object.
    pub arguments: Box<RawValue>,
}

impl Tools for RawTools {
    type Call = RawCall;

    fn specs(&self) -> &[ToolSpec] {
        &self.0
    }

    fn decode<'de, D: Deserializer<'de>>(&self, name: &str, arguments: D) -> Result<RawCall, D::Error> {
        Ok(RawCall { name: name.into(), arguments: Box::<RawValue>::deserialize(arguments)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spec_is_written_without_what_it_does_not_have() {
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
    }

    #[test]
    fn only_listed_names_are_served_by_default() {
        let tools = RawTools::new(alloc::vec![ToolSpec::new("here", "", "{}")]);
        assert!(tools.check("here").is_ok());
        let error = tools.check("Here").unwrap_err();
        assert_eq!((error.code, error.message.as_str()), (-32602, "tool Here not found"));
    }
}
