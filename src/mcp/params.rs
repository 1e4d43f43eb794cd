//! The shapes of what is sent with the methods that this module handles itself: read borrowed and tolerantly, written
//! without members that are absent.

use alloc::{borrow::Cow, boxed::Box};

use serde::{Deserialize, Serialize, Serializer, ser::SerializeMap};
use serde_json::value::RawValue;

use super::{Implementation, LogLevel, ProtocolVersion, ServerConfig, ToolSpec};
use crate::rpc::{is_object, read_object, text_of};
use crate::text::truncate;

/// An object without members, as arguments that a peer left out are read.
pub(super) const NO_ARGUMENTS: &str = "{}";

/// The same, written.
#[derive(Serialize)]
pub(super) struct Empty {}

/// The capabilities of a client: what its owner says, or none.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum ClientCapabilities<'a> {
    Raw(&'a RawValue),
    None {},
}

/// What a client says in `initialize`. Every member is read for itself, so that a fault in one does not cost another:
/// negotiation always has an answer.
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
        read_object(self.client_info?)
    }
}

/// What a client sends in `initialize`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct InitializeOut<'a> {
    pub(super) protocol_version: &'static str,
    pub(super) capabilities: ClientCapabilities<'a>,
    pub(super) client_info: &'a Implementation,
}

/// What a server answers to `initialize`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct InitializeResultOut<'a> {
    pub(super) protocol_version: &'static str,
    pub(super) capabilities: Capabilities<'a>,
    pub(super) server_info: &'a Implementation,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) instructions: Option<&'a str>,
}

/// What this server can do: tools, and what its owner adds.
pub(super) struct Capabilities<'a> {
    pub(super) config: &'a ServerConfig,
}

impl Serialize for Capabilities<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_map(None)?;
        out.serialize_entry("tools", &ToolsCapability { list_changed: self.config.tools_list_changed })?;
        if self.config.logging.is_some() {
            out.serialize_entry("logging", &Empty {})?;
        }
        let declared = |name: &str| name == "tools" || name == "logging" && self.config.logging.is_some();
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
struct ToolsCapability {
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    list_changed: bool,
}

/// What a client reads of the answer to `initialize`. Only the version has to be right.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct InitializeResult<'a> {
    #[serde(borrow)]
    pub(super) protocol_version: Cow<'a, str>,
    pub(super) capabilities: Option<&'a RawValue>,
    pub(super) server_info: Option<&'a RawValue>,
    pub(super) instructions: Option<&'a RawValue>,
}

/// The parameters of `tools/call`.
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
        let asked: Self = serde_json::from_str(params?.get()).ok()?;
        LogLevel::from_name(&asked.level)
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

/// The cursor of a request for a list. One of our own lists has no second page, so there is no valid one; null and the
/// empty text, which some send for the first page, count as none.
pub(super) fn has_cursor(params: Option<&RawValue>) -> bool {
    #[derive(Deserialize)]
    struct ListParams<'a> {
        #[serde(borrow)]
        cursor: Option<&'a RawValue>,
    }
    let read = params.and_then(|params| serde_json::from_str::<ListParams<'_>>(params.get()).ok());
    read.and_then(|read| read.cursor).is_some_and(|cursor| !matches!(cursor.get(), "null" | "\"\""))
}

/// The same, written.
#[derive(Serialize)]
pub(super) struct CallOut<'a> {
    pub(super) name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) arguments: Option<&'a RawValue>,
}

/// The parameters of `notifications/cancelled`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Cancelled<'a> {
    #[serde(borrow)]
    pub(super) request_id: Option<&'a RawValue>,
    reason: Option<&'a RawValue>,
}

impl Cancelled<'_> {
    /// The reason, if there is a readable one: at most `limit` bytes of it, cut at a character.
    pub(super) fn reason(&self, limit: usize) -> Option<Box<str>> {
        Some(truncate(&text_of(self.reason?)?, limit).into())
    }
}

/// The same, written.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CancelledOut<'a> {
    pub(super) request_id: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<&'a str>,
}

/// The answer to `tools/list`.
#[derive(Serialize)]
pub(super) struct ToolList<'a> {
    pub(super) tools: &'a [ToolSpec],
}

/// The answer to a request for a list of a server that has none: the name of the member, and no items.
pub(super) struct EmptyList(pub(super) &'static str);

impl Serialize for EmptyList {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map([(self.0, [(); 0])])
    }
}
