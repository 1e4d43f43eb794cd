//! The configuration that makes a client give your editor's tools to its model. There is no I/O here:
//! `ide-mcp-lockfile` writes the file.

use super::AuthToken;
use crate::ide::{MODELS_TARGET, TOKEN_FIELD};
use alloc::{collections::BTreeMap, format, string::String};
use serde::Serialize;

/// Makes an MCP client give your editor's tools to its model: a configuration with one server, your editor.
///
/// Over the connection of `--ide`, the real client does not give an editor's own tools to its model. But it gives the
/// model all tools of a server in `--mcp-config FILE`, as `mcp__NAME__tool` (measured with 2.1.332). It opens a second
/// connection for this, to [`MODELS_TARGET`] on the port of the editor.
///
/// The configuration contains the token. So put it into a file that only the user can read, with
/// `ide_mcp_lockfile::write_private`. Do not put it on a command line, although the client accepts that: other users
/// can read the arguments of a process.
///
/// ```
/// use ide_mcp::ide::discovery::{AuthToken, McpConfig};
/// # fn main() -> Result<(), ide_mcp::ide::discovery::InvalidToken> {
/// let token = AuthToken::from_text("550e8400-e29b-41d4-a716-446655440000")?;
/// let config = McpConfig::new("editor", 41111, Some(token));
/// assert_eq!(
///     config.to_json(),
///     r#"{"mcpServers":{"editor":{"type":"ws","url":"ws://127.0.0.1:41111/models","headers":{"X-Claude-Code-Ide-Authorization":"550e8400-e29b-41d4-a716-446655440000"}}}}"#
/// );
/// assert!(!format!("{config:?}").contains("550e8400"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct McpConfig {
    /// The name of the server, which becomes part of the names of its tools. Use letters, digits, `_` and `-`, but not
    /// `ide`, which the client uses for the connection of `--ide`.
    pub name: String,
    /// The host of the editor: an address, or a name that the [`Policy`](crate::ide::Policy) accepts.
    /// Default 127.0.0.1.
    pub host: String,
    /// The port on which the editor listens.
    pub port: u16,
    /// The token of the lock file; `None` for an editor that requires none.
    pub token: Option<AuthToken>,
}

impl McpConfig {
    /// Returns the configuration for the editor on this port of 127.0.0.1.
    #[must_use]
    pub fn new(name: impl Into<String>, port: u16, token: Option<AuthToken>) -> Self {
        Self { name: name.into(), host: "127.0.0.1".into(), port, token }
    }

    /// Returns the JSON for `--mcp-config`, with the token.
    #[must_use]
    pub fn to_json(&self) -> String {
        let Self { name, host, port, token } = self;
        let server = Written {
            kind: "ws",
            url: format!("ws://{host}:{port}{MODELS_TARGET}"),
            headers: token.iter().map(|token| (TOKEN_FIELD, token.as_str())).collect(),
        };
        let servers = BTreeMap::from([("mcpServers", BTreeMap::from([(name.as_str(), server)]))]);
        // Strings can always be serialized, so there is no error.
        serde_json::to_string(&servers).unwrap_or_default()
    }
}

#[derive(Serialize)]
struct Written<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    url: String,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    headers: BTreeMap<&'a str, &'a str>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn read(config: &McpConfig) -> Value {
        serde_json::from_str(&config.to_json()).unwrap()
    }

    #[test]
    fn every_field_is_written() {
        let token = AuthToken::from_text(r#"a"b\c"#).unwrap();
        let mut config = McpConfig::new(r#"my "editor""#, 1, Some(token));
        config.host = "host.docker.internal".into();
        let server = json!({
            "type": "ws",
            "url": "ws://host.docker.internal:1/models",
            "headers": {"X-Claude-Code-Ide-Authorization": r#"a"b\c"#},
        });
        assert_eq!(read(&config), json!({"mcpServers": {r#"my "editor""#: server}}));
        let bare = json!({"type": "ws", "url": "ws://127.0.0.1:65535/models"});
        assert_eq!(read(&McpConfig::new("e", 65535, None)), json!({"mcpServers": {"e": bare}}));
    }

    #[test]
    fn l10_debug_output_hides_the_token() {
        let token = AuthToken::from_text("a-secret-of-the-editor").unwrap();
        let shown = format!("{:?}", McpConfig::new("editor", 1, Some(token)));
        assert!(!shown.contains("a-secret") && shown.contains("editor"), "{shown}");
    }
}
