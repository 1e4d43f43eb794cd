//! Resources: documents that a client reads by their URI (MCP 2025-11-25, resources).

use alloc::{borrow::Cow, string::String, vec, vec::Vec};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::{Deserialize, Serialize, Serializer, ser::SerializeMap};
use serde_json::value::RawValue;

use crate::mcp::listing::text_or_empty;
use crate::rpc::{ErrorObject, members, read_object, text_of};

/// Describes one resource in `resources/list`.
///
/// ```
/// use ide_mcp::mcp::{Context, ResourceSpec};
///
/// let log = ResourceSpec::new("ide://build-log", "build log").mime_type("text/plain");
/// let context = Context::new().resource(log);
/// assert_eq!(context.listed_resources().map(<[_]>::len), Some(1));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ResourceSpec {
    /// The URI that a client reads it by, compared byte for byte.
    pub uri: Cow<'static, str>,
    /// What a client shows if there is no title.
    pub name: Cow<'static, str>,
    /// What a client shows instead of [`name`](Self::name) (MCP 2025-06-18). Left out if empty.
    #[serde(default, deserialize_with = "text_or_empty", skip_serializing_if = "str::is_empty")]
    pub title: Cow<'static, str>,
    /// What the resource is, for the model that chooses it. Left out if empty.
    #[serde(default, deserialize_with = "text_or_empty", skip_serializing_if = "str::is_empty")]
    pub description: Cow<'static, str>,
    /// The media type. Left out if empty.
    #[serde(default, deserialize_with = "text_or_empty", skip_serializing_if = "str::is_empty")]
    pub mime_type: Cow<'static, str>,
    /// The tool that reads this resource: a request for the resource becomes a call of this tool without arguments, and
    /// the text blocks of your answer become the contents. While you do not offer the tool, requests get the error that
    /// the resource is not found. `None` if you answer the requests yourself.
    #[serde(skip)]
    pub tool: Option<Cow<'static, str>>,
}

impl ResourceSpec {
    /// Describes a resource that you read yourself, without title, description and media type.
    pub fn new(uri: impl Into<Cow<'static, str>>, name: impl Into<Cow<'static, str>>) -> Self {
        Self {
            uri: uri.into(),
            name: name.into(),
            title: Cow::Borrowed(""),
            description: Cow::Borrowed(""),
            mime_type: Cow::Borrowed(""),
            tool: None,
        }
    }

    /// Sets the [title](Self::title).
    #[must_use]
    pub fn title(mut self, title: impl Into<Cow<'static, str>>) -> Self {
        self.title = title.into();
        self
    }

    /// Sets the [description](Self::description).
    #[must_use]
    pub fn description(mut self, description: impl Into<Cow<'static, str>>) -> Self {
        self.description = description.into();
        self
    }

    /// Sets the [media type](Self::mime_type).
    #[must_use]
    pub fn mime_type(mut self, mime_type: impl Into<Cow<'static, str>>) -> Self {
        self.mime_type = mime_type.into();
        self
    }

    /// Sets the [tool](ResourceSpec::tool) that reads this resource.
    #[must_use]
    pub fn read_by(mut self, tool: impl Into<Cow<'static, str>>) -> Self {
        self.tool = Some(tool.into());
        self
    }
}

/// Describes resources whose URIs follow a template, in `resources/templates/list`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ResourceTemplate {
    /// The template (RFC 6570), for example `ide://buffer/{path}`. It is not evaluated here.
    pub uri_template: Cow<'static, str>,
    /// What a client shows if there is no title.
    pub name: Cow<'static, str>,
    /// What a client shows instead of [`name`](Self::name) (MCP 2025-06-18). Left out if empty.
    #[serde(default, deserialize_with = "text_or_empty", skip_serializing_if = "str::is_empty")]
    pub title: Cow<'static, str>,
    /// What the resources are, for the model that chooses them. Left out if empty.
    #[serde(default, deserialize_with = "text_or_empty", skip_serializing_if = "str::is_empty")]
    pub description: Cow<'static, str>,
    /// The media type of all these resources. Left out if empty.
    #[serde(default, deserialize_with = "text_or_empty", skip_serializing_if = "str::is_empty")]
    pub mime_type: Cow<'static, str>,
}

impl ResourceTemplate {
    /// Describes resources, without title, description and media type.
    pub fn new(uri_template: impl Into<Cow<'static, str>>, name: impl Into<Cow<'static, str>>) -> Self {
        Self {
            uri_template: uri_template.into(),
            name: name.into(),
            title: Cow::Borrowed(""),
            description: Cow::Borrowed(""),
            mime_type: Cow::Borrowed(""),
        }
    }

    /// Sets the [title](Self::title).
    #[must_use]
    pub fn title(mut self, title: impl Into<Cow<'static, str>>) -> Self {
        self.title = title.into();
        self
    }

    /// Sets the [description](Self::description).
    #[must_use]
    pub fn description(mut self, description: impl Into<Cow<'static, str>>) -> Self {
        self.description = description.into();
        self
    }

    /// Sets the [media type](Self::mime_type).
    #[must_use]
    pub fn mime_type(mut self, mime_type: impl Into<Cow<'static, str>>) -> Self {
        self.mime_type = mime_type.into();
        self
    }
}

/// A client asks for the contents of a resource: the parameters of `resources/read`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ReadResource {
    /// The URI of the resource.
    pub uri: String,
}

impl ReadResource {
    /// Asks for a resource.
    pub fn new(uri: impl Into<String>) -> Self {
        Self { uri: uri.into() }
    }

    /// Reads the parameters.
    pub(in crate::mcp) fn read(params: Option<&RawValue>) -> Result<Self, ErrorObject> {
        #[derive(Deserialize)]
        struct Params {
            uri: String,
        }
        let read = params.and_then(read_object::<Params>);
        read.map(|Params { uri }| Self { uri })
            .ok_or_else(|| ErrorObject::invalid_params("resources/read needs a uri"))
    }
}

/// The result of `resources/read`.
///
/// ```
/// use ide_mcp::mcp::ResourceResult;
/// let result = ResourceResult::text("notes://today", "text/plain", "Buy bread.");
/// assert_eq!(
///     serde_json::to_string(&result)?,
///     r#"{"contents":[{"uri":"notes://today","mimeType":"text/plain","text":"Buy bread."}]}"#,
/// );
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ResourceResult<'a> {
    /// The documents: usually one, with the requested URI.
    pub contents: Vec<ResourceContents<'a>>,
}

/// One document of the result of `resources/read`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ResourceContents<'a> {
    /// The URI of the document.
    pub uri: Cow<'a, str>,
    /// The media type. Left out if empty.
    pub mime_type: Cow<'a, str>,
    /// The document.
    pub body: ResourceBody<'a>,
}

/// The body of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ResourceBody<'a> {
    /// Text.
    Text(Cow<'a, str>),
    /// Bytes, written in base64.
    Blob(Cow<'a, [u8]>),
}

impl Serialize for ResourceContents<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_map(None)?;
        out.serialize_entry("uri", &self.uri)?;
        if !self.mime_type.is_empty() {
            out.serialize_entry("mimeType", &self.mime_type)?;
        }
        match &self.body {
            ResourceBody::Text(text) => out.serialize_entry("text", text)?,
            ResourceBody::Blob(bytes) => out.serialize_entry("blob", &STANDARD.encode(bytes))?,
        }
        out.end()
    }
}

impl<'a> ResourceContents<'a> {
    /// Returns a document.
    pub fn new(
        uri: impl Into<Cow<'a, str>>,
        mime_type: impl Into<Cow<'a, str>>,
        body: ResourceBody<'a>,
    ) -> Self {
        Self { uri: uri.into(), mime_type: mime_type.into(), body }
    }

    /// Returns the text, if the body is text.
    fn as_text(&self) -> Option<&str> {
        match &self.body {
            ResourceBody::Text(text) => Some(text),
            ResourceBody::Blob(_) => None,
        }
    }

    fn into_owned(self) -> ResourceContents<'static> {
        let body = match self.body {
            ResourceBody::Text(text) => ResourceBody::Text(Cow::Owned(text.into_owned())),
            ResourceBody::Blob(bytes) => ResourceBody::Blob(Cow::Owned(bytes.into_owned())),
        };
        ResourceContents::new(self.uri.into_owned(), self.mime_type.into_owned(), body)
    }
}

impl<'a> ResourceResult<'a> {
    /// Returns a result with these documents.
    #[must_use]
    pub const fn new(contents: Vec<ResourceContents<'a>>) -> Self {
        Self { contents }
    }

    /// Returns a result with one document of text. `uri` is the requested URI.
    pub fn text(
        uri: impl Into<Cow<'a, str>>,
        mime_type: impl Into<Cow<'a, str>>,
        text: impl Into<Cow<'a, str>>,
    ) -> Self {
        Self::new(vec![ResourceContents::new(uri, mime_type, ResourceBody::Text(text.into()))])
    }

    /// Reads the result of a `resources/read`. Returns `None` if `raw` has no array of documents, or if a document
    /// lacks a URI or a body.
    #[must_use]
    pub fn read(raw: &'a RawValue) -> Option<Self> {
        #[derive(Deserialize)]
        struct Members<'a> {
            #[serde(borrow)]
            contents: Vec<&'a RawValue>,
        }
        let read: Members<'a> = read_object(raw)?;
        Some(Self { contents: read.contents.into_iter().map(read_contents).collect::<Option<_>>()? })
    }

    /// Returns the texts of the documents, in order.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.contents.iter().filter_map(ResourceContents::as_text)
    }

    /// Returns the result with copies of all borrowed content.
    #[must_use]
    pub fn into_owned(self) -> ResourceResult<'static> {
        ResourceResult { contents: self.contents.into_iter().map(ResourceContents::into_owned).collect() }
    }
}

fn read_contents(raw: &RawValue) -> Option<ResourceContents<'_>> {
    let [uri, mime_type, text, blob] = members(raw, ["uri", "mimeType", "text", "blob"])?;
    let body = match (text.and_then(text_of), blob.and_then(text_of)) {
        (Some(text), _) => ResourceBody::Text(text),
        (None, Some(blob)) => ResourceBody::Blob(Cow::Owned(STANDARD.decode(blob.as_bytes()).ok()?)),
        (None, None) => return None,
    };
    let mime_type = mime_type.and_then(text_of).unwrap_or_default();
    Some(ResourceContents::new(text_of(uri?)?, mime_type, body))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn specs_leave_out_empty_members() {
        let bare = ResourceSpec::new("r://1", "r").read_by("tool");
        assert_eq!(serde_json::to_string(&bare).unwrap(), r#"{"uri":"r://1","name":"r"}"#);
        let whole = ResourceSpec::new("r://1", "r").title("t").description("d").mime_type("text/plain");
        let want = r#"{"uri":"r://1","name":"r","title":"t","description":"d","mimeType":"text/plain"}"#;
        assert_eq!(serde_json::to_string(&whole).unwrap(), want);
        let bare = ResourceTemplate::new("r://{n}", "r");
        assert_eq!(serde_json::to_string(&bare).unwrap(), r#"{"uriTemplate":"r://{n}","name":"r"}"#);
        let whole = bare.title("t").description("d").mime_type("text/plain");
        let want =
            r#"{"uriTemplate":"r://{n}","name":"r","title":"t","description":"d","mimeType":"text/plain"}"#;
        assert_eq!(serde_json::to_string(&whole).unwrap(), want);
    }

    #[test]
    fn a_written_result_is_read_back_equal() {
        const CASES: &[(&str, &str, Option<&[&str]>)] = &[
            ("an empty array of documents", r#"{"contents":[]}"#, Some(&[])),
            ("text", r#"{"contents":[{"uri":"r://1","mimeType":"text/plain","text":"a"}]}"#, Some(&["a"])),
            ("no media type", r#"{"contents":[{"uri":"r://1","text":""}]}"#, Some(&[""])),
            ("bytes", r#"{"contents":[{"uri":"r://1","blob":"AP8="}]}"#, Some(&[])),
            ("invalid base64", r#"{"contents":[{"uri":"r://1","blob":"?"}]}"#, None),
            ("no body", r#"{"contents":[{"uri":"r://1"}]}"#, None),
            ("no URI", r#"{"contents":[{"text":"a"}]}"#, None),
            ("no documents", "{}", None),
            ("not an object", "[]", None),
        ];
        for (name, text, want) in CASES {
            let raw: &RawValue = serde_json::from_str(text).unwrap();
            let read = ResourceResult::read(raw).map(ResourceResult::into_owned);
            let got = read.as_ref().map(|read| read.texts().collect::<Vec<_>>());
            assert_eq!(got.as_deref(), *want, "{name}");
            if let Some(read) = read {
                assert_eq!(serde_json::to_string(&read).unwrap(), text.to_string(), "{name}");
            }
        }
    }

    #[test]
    fn request_needs_a_uri() {
        for (name, text, want) in [
            ("a string", r#"{"uri":"r://1"}"#, true),
            ("a number", r#"{"uri":1}"#, false),
            ("none", "{}", false),
        ] {
            let params: &RawValue = serde_json::from_str(text).unwrap();
            assert_eq!(ReadResource::read(Some(params)).is_ok(), want, "{name}");
        }
    }
}
