//! Parameters and results of the methods that a session handles itself. Reading is tolerant and borrows from the text;
//! writing leaves absent members out.

use alloc::{borrow::Cow, boxed::Box};

use serde::{Deserialize, Serialize, Serializer, ser::SerializeMap};
use serde_json::value::RawValue;

use super::{ClientConfig, Implementation, LogLevel, ProtocolVersion, ServerConfig};
use crate::rpc::{each_member, is_object, name_of, read_object, read_owned, text_of};
use crate::text::truncate;

/// The arguments of a call whose peer left them out.
pub(super) const NO_ARGUMENTS: &str = "{}";

/// An object without members, for writing.
#[derive(Serialize)]
pub(super) struct Empty {}

/// The capabilities of a client, for writing: roots and elicitation if they are on, and what the configuration adds.
pub(super) struct ClientCapabilitiesOut<'a> {
    pub(super) config: &'a ClientConfig,
}

impl Serialize for ClientCapabilitiesOut<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (roots, elicitation) = (self.config.roots.is_some(), self.config.elicitation);
        let mut out = serializer.serialize_map(None)?;
        if roots {
            out.serialize_entry("roots", &ListCapability { list_changed: true })?;
        }
        if elicitation {
            out.serialize_entry("elicitation", &Empty {})?;
        }
        let mut written = Ok(());
        if let Some(added) = self.config.capabilities.as_deref() {
            // Capabilities that are not objects are left out.
            let _ = each_member(added, |name, value| {
                let name = name_of(name).unwrap_or_default();
                let is_modelled = match name.as_ref() {
                    "roots" => roots,
                    "elicitation" => elicitation,
                    _ => false,
                };
                if !is_modelled && written.is_ok() {
                    written = out.serialize_entry(&name, value);
                }
            });
        }
        written?;
        out.end()
    }
}

/// What a client can answer, according to its capabilities.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ClientCapabilities {
    /// True if the client answers `roots/list`.
    pub(super) roots: bool,
    /// True if the client shows forms.
    pub(super) forms: bool,
}

impl ClientCapabilities {
    pub(super) fn read(declared: Option<&RawValue>) -> Self {
        #[derive(Default, Deserialize)]
        struct Declared<'a> {
            #[serde(borrow)]
            roots: Option<&'a RawValue>,
            elicitation: Option<&'a RawValue>,
        }
        #[derive(Deserialize)]
        struct Modes<'a> {
            #[serde(borrow)]
            form: Option<&'a RawValue>,
            url: Option<&'a RawValue>,
        }
        let declared = declared.and_then(read_object::<Declared<'_>>).unwrap_or_default();
        let modes = declared.elicitation.and_then(read_object::<Modes<'_>>);
        Self {
            roots: declared.roots.is_some_and(is_object),
            // In MCP 2025-11-25 an object without members means forms only.
            forms: modes.is_some_and(|modes| modes.form.is_some() || modes.url.is_none()),
        }
    }
}

/// The parameters of `initialize`, for reading. Each member is read separately, so that a fault in one does not affect
/// the others, and every `initialize` can be answered.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Initialize<'a> {
    #[serde(borrow)]
    protocol_version: Option<&'a RawValue>,
    client_info: Option<&'a RawValue>,
    pub(super) capabilities: Option<&'a RawValue>,
}

impl Initialize<'_> {
    pub(super) fn version(&self) -> ProtocolVersion {
        ProtocolVersion::negotiate(self.protocol_version.and_then(text_of).as_deref())
    }

    pub(super) fn client(&self) -> Option<Implementation> {
        read_owned(self.client_info?)
    }
}

/// The parameters of `initialize`, for writing.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct InitializeOut<'a> {
    pub(super) protocol_version: &'static str,
    pub(super) capabilities: ClientCapabilitiesOut<'a>,
    pub(super) client_info: &'a Implementation,
}

/// The answer to `initialize`, for writing.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct InitializeResultOut<'a> {
    pub(super) protocol_version: &'static str,
    pub(super) capabilities: Capabilities<'a>,
    pub(super) server_info: &'a Implementation,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) instructions: Option<&'a str>,
}

/// The capabilities of a server, for writing: tools, logging if it is on, the declared prompts and resources, and what
/// the configuration adds.
pub(super) struct Capabilities<'a> {
    pub(super) config: &'a ServerConfig,
}

impl Serialize for Capabilities<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_map(None)?;
        out.serialize_entry("tools", &ListCapability { list_changed: self.config.tools_list_changed })?;
        if self.config.logging.is_some() {
            out.serialize_entry("logging", &Empty {})?;
        }
        let context = &self.config.context;
        let (prompts, resources) = (context.declares_prompts(), context.declares_resources());
        for (name, is_declared) in [("prompts", prompts), ("resources", resources)] {
            if is_declared {
                out.serialize_entry(name, &ListCapability { list_changed: true })?;
            }
        }
        let declared = |name: &str| match name {
            "tools" => true,
            "logging" => self.config.logging.is_some(),
            "prompts" => prompts,
            "resources" => resources,
            _ => false,
        };
        for (name, value) in self.config.capabilities.iter().filter(|(name, _)| !declared(name)) {
            match serde_json::from_str::<&RawValue>(value) {
                Ok(value) if is_object(value) => out.serialize_entry(name, value)?,
                Ok(_) | Err(_) => out.serialize_entry(name, &Empty {})?,
            }
        }
        out.end()
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ListCapability {
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    list_changed: bool,
}

/// The answer to `initialize`, for reading. Only the version must be readable.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct InitializeResult<'a> {
    #[serde(borrow)]
    pub(super) protocol_version: Cow<'a, str>,
    pub(super) capabilities: Option<&'a RawValue>,
    pub(super) server_info: Option<&'a RawValue>,
    pub(super) instructions: Option<&'a RawValue>,
}

/// The parameters of `tools/call`, for reading.
#[derive(Deserialize)]
pub(super) struct Call<'a> {
    #[serde(borrow)]
    pub(super) name: Cow<'a, str>,
    pub(super) arguments: Option<&'a RawValue>,
    #[serde(rename = "_meta")]
    pub(super) meta: Option<&'a RawValue>,
}

/// The parameters of `logging/setLevel`.
#[derive(Deserialize)]
pub(super) struct SetLevel<'a> {
    #[serde(borrow)]
    level: Cow<'a, str>,
}

impl<'a> SetLevel<'a> {
    pub(super) fn read(params: Option<&'a RawValue>) -> Option<LogLevel> {
        let params: Self = serde_json::from_str(params?.get()).ok()?;
        LogLevel::from_name(&params.level)
    }
}

/// The parameters of `notifications/message`.
#[derive(Serialize)]
pub(super) struct LogOut<'a, D: ?Sized> {
    pub(super) level: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) logger: Option<&'a str>,
    pub(super) data: &'a D,
}

/// Returns true if a request for a list has a cursor. Our own lists have a single page, so every cursor is invalid.
/// Null and the empty string do not count as cursors, because some clients send them for the first page.
pub(super) fn has_cursor(params: Option<&RawValue>) -> bool {
    #[derive(Deserialize)]
    struct ListParams<'a> {
        #[serde(borrow)]
        cursor: Option<&'a RawValue>,
    }
    let read = params.and_then(|params| serde_json::from_str::<ListParams<'_>>(params.get()).ok());
    read.and_then(|read| read.cursor).is_some_and(|cursor| !matches!(cursor.get(), "null" | "\"\""))
}

/// The parameters of `tools/call`, for writing.
#[derive(Serialize)]
pub(super) struct CallOut<'a> {
    pub(super) name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) arguments: Option<&'a RawValue>,
}

/// The parameters of `notifications/cancelled`, for reading.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Cancelled<'a> {
    #[serde(borrow)]
    pub(super) request_id: Option<&'a RawValue>,
    reason: Option<&'a RawValue>,
}

impl Cancelled<'_> {
    /// Returns the reason, if there is a readable one: at most `limit` bytes, truncated at a
    /// character boundary.
    pub(super) fn reason(&self, limit: usize) -> Option<Box<str>> {
        Some(truncate(&text_of(self.reason?)?, limit).into())
    }
}

/// The parameters of `notifications/cancelled`, for writing.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CancelledOut<'a> {
    pub(super) request_id: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<&'a str>,
}

/// The answer to a request for a list: the name of the member, and the items.
pub(super) struct ListOut<'a, T>(pub(super) &'static str, pub(super) &'a [T]);

impl<T: Serialize> Serialize for ListOut<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map([(self.0, self.1)])
    }
}
