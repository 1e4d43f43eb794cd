//! The client's side of the opening handshake: its request, and the server's answer (RFC 6455 sections
//! 4.1 and 4.2.2).

use super::head::{Fields, HeaderField, MAX_FIELDS};
use super::request::{accept_key, push};
use alloc::{boxed::Box, string::String, vec::Vec};
use core::fmt;
use core::mem::MaybeUninit;

/// The opening request of a client: host, target, sub-protocols to offer, and further header fields.
///
/// ```
/// use ide_mcp::ws::ClientRequest;
///
/// let request = ClientRequest::new("127.0.0.1:41111").subprotocol("mcp").field("X-Agent", "mine");
/// ```
#[derive(Clone)]
pub struct ClientRequest {
    host: String,
    target: String,
    pub(super) subprotocols: Vec<String>,
    fields: Vec<(String, String)>,
}

impl ClientRequest {
    /// Creates a request to `host` for the target `/`. Write `host` as in the `Host` field (`127.0.0.1:41111`).
    #[must_use]
    pub fn new(host: impl Into<String>) -> Self {
        Self { host: host.into(), target: "/".into(), subprotocols: Vec::new(), fields: Vec::new() }
    }

    /// Requests this path, with a query if there is one, instead of `/`.
    #[must_use]
    pub fn target(mut self, target: impl Into<String>) -> Self {
        self.target = target.into();
        self
    }

    /// Offers another sub-protocol.
    #[must_use]
    pub fn subprotocol(mut self, name: impl Into<String>) -> Self {
        self.subprotocols.push(name.into());
        self
    }

    /// Adds a header field.
    #[must_use]
    pub fn field(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.fields.push((name.into(), value.into()));
        self
    }

    /// Checks that every part is valid in a request.
    pub(crate) fn check(&self) -> Result<(), InvalidClientRequest> {
        let visible = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
        if !visible(&self.host) {
            return Err(InvalidClientRequest::Server);
        }
        if !visible(&self.target) || !self.target.starts_with('/') || self.target.contains('#') {
            return Err(InvalidClientRequest::Target);
        }
        if !self.subprotocols.iter().all(|name| is_token(name)) {
            return Err(InvalidClientRequest::Subprotocol);
        }
        let value = |value: &str| !value.bytes().any(|byte| byte.is_ascii_control() && byte != b'\t');
        if !self.fields.iter().all(|field| is_token(&field.0) && value(&field.1)) {
            return Err(InvalidClientRequest::Field);
        }
        Ok(())
    }

    /// Appends the request. `key` is 16 random bytes in base64.
    pub(crate) fn write(&self, key: &str, out: &mut Vec<u8>) {
        push(out, &["GET ", &self.target, " HTTP/1.1\r\nHost: ", &self.host, "\r\n"]);
        push(out, &["Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"]);
        push(out, &["Sec-WebSocket-Key: ", key, "\r\n"]);
        for (index, name) in self.subprotocols.iter().enumerate() {
            push(out, &[if index == 0 { "Sec-WebSocket-Protocol: " } else { ", " }, name]);
        }
        push(out, &[if self.subprotocols.is_empty() { "" } else { "\r\n" }]);
        for (name, value) in &self.fields {
            push(out, &[name, ": ", value, "\r\n"]);
        }
        push(out, &["\r\n"]);
    }
}

impl fmt::Debug for ClientRequest {
    /// Shows only the names of the fields: a value can be a secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.fields.iter().map(|field| field.0.as_str()).collect();
        f.debug_struct("ClientRequest")
            .field("host", &self.host)
            .field("target", &self.target)
            .field("subprotocols", &self.subprotocols)
            .field("fields", &names)
            .finish()
    }
}

/// What is wrong with a [`ClientRequest`]. Nothing was sent.
///
/// [Causes and reactions](crate::guide::errors#the-agent-cannot-attach).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InvalidClientRequest {
    /// The host is empty, or has a character that is not visible ASCII.
    Server,
    /// The target is not a path of visible ASCII that begins with `/`.
    Target,
    /// The sub-protocol is not a token (RFC 9110 section 5.6.2).
    Subprotocol,
    /// The name of a field is not a token, or its value has a control character other than a tab.
    Field,
    /// This limit is 0, so the client could receive or send nothing.
    ZeroLimit(&'static str),
}

impl fmt::Display for InvalidClientRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ZeroLimit(name) => return write!(f, "a limit must be greater than 0: {name}"),
            Self::Server => "the host must be visible ASCII, such as 127.0.0.1:8080",
            Self::Target => "the target must be a path that begins with /",
            Self::Subprotocol => "a sub-protocol must be a token",
            Self::Field => "a header field must be a token with a value without control characters",
        })
    }
}

impl core::error::Error for InvalidClientRequest {}

/// Why the answer of the server did not open a WebSocket: [`Closed::NotAccepted`](super::Closed::NotAccepted).
///
/// [Causes and reactions](crate::guide::errors#the-agent-cannot-attach).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotAccepted {
    /// No answer arrived in time.
    TimedOut,
    /// The answer is not HTTP/1.1.
    Malformed,
    /// The head of the answer, or of the interim answers (100, 103) together, is longer than
    /// [`Limits::head`](super::Limits::head).
    TooLong,
    /// The status is not 101: its number, and the phrase that the server sent with it.
    Status(u16, Box<str>),
    /// The `Upgrade` or `Connection` field does not name the change of protocol (RFC 6455 section 4.1).
    NotUpgraded,
    /// `Sec-WebSocket-Accept` does not match the key (section 4.1).
    WrongAccept,
    /// The server chose a sub-protocol that the client did not offer (section 4.1).
    UnknownSubprotocol,
    /// The server chose an extension, although the client offered none (section 4.1).
    UnknownExtension,
}

impl fmt::Display for NotAccepted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TimedOut => f.write_str("the server did not answer in time: it is not an editor, or hangs"),
            Self::Malformed => f.write_str("the answer is not HTTP/1.1: another program listens there"),
            Self::TooLong => f.write_str("the head of the answer is too long: another program listens there"),
            Self::Status(code, phrase) => write!(f, "the server answered {code} {phrase}"),
            Self::NotUpgraded => f.write_str(
                "the answer does not change the protocol to WebSocket: an HTTP server listens there",
            ),
            Self::WrongAccept => {
                f.write_str("Sec-WebSocket-Accept does not match the key: no WebSocket server has answered")
            }
            Self::UnknownSubprotocol => f.write_str("the server chose a sub-protocol that was not offered"),
            Self::UnknownExtension => f.write_str("the server chose an extension that was not offered"),
        }
    }
}

/// Checks the complete head of an answer. Returns the index, in `request`, of the sub-protocol that the server chose,
/// if any.
pub(crate) fn check(head: &[u8], key: &str, request: &ClientRequest) -> Result<Option<usize>, NotAccepted> {
    let mut fields = [const { MaybeUninit::uninit() }; MAX_FIELDS];
    let mut response = httparse::Response::new(&mut []);
    let parsed = httparse::ParserConfig::default().parse_response_with_uninit_headers(
        &mut response,
        head,
        &mut fields,
    );
    if !matches!(parsed, Ok(httparse::Status::Complete(len)) if len == head.len())
        || response.version != Some(1)
    {
        return Err(NotAccepted::Malformed);
    }
    let code = response.code.ok_or(NotAccepted::Malformed)?;
    if code != 101 {
        return Err(NotAccepted::Status(code, response.reason.unwrap_or_default().into()));
    }
    let fields = Fields(head);
    if !(fields.lists("upgrade", "websocket") && fields.lists("connection", "upgrade")) {
        return Err(NotAccepted::NotUpgraded);
    }
    if fields.single("sec-websocket-accept") != HeaderField::One(&accept_key(key.as_bytes())) {
        return Err(NotAccepted::WrongAccept);
    }
    if fields.list("sec-websocket-extensions").next().is_some() {
        return Err(NotAccepted::UnknownExtension);
    }
    match fields.single("sec-websocket-protocol") {
        HeaderField::Absent => Ok(None),
        HeaderField::Many => Err(NotAccepted::UnknownSubprotocol),
        HeaderField::One(chosen) => {
            let index = request.subprotocols.iter().position(|offered| offered.as_bytes() == chosen);
            index.map(Some).ok_or(NotAccepted::UnknownSubprotocol)
        }
    }
}

/// Returns true for a token (RFC 9110 section 5.6.2).
fn is_token(text: &str) -> bool {
    !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;

    #[test]
    fn written_request_is_accepted_by_a_server() {
        let request =
            ClientRequest::new("localhost:1").subprotocol("a").subprotocol("mcp").field("X-Token", "secret");
        assert_eq!(request.check(), Ok(()));
        let mut out = Vec::new();
        request.write("dGhlIHNhbXBsZSBub25jZQ==", &mut out);
        assert!(super::super::request::check(&out).is_ok());
        assert!(super::super::Request::new(&out).offers("mcp"));
        assert_eq!(super::super::Request::new(&out).single("x-token"), HeaderField::One(b"secret"));
        let shown = r#"ClientRequest { host: "localhost:1", target: "/", subprotocols: ["a", "mcp"], fields: ["X-Token"] }"#;
        assert_eq!(format!("{request:?}"), shown);
    }

    #[test]
    fn invalid_part_of_request_is_refused() {
        let good = || ClientRequest::new("h");
        for (name, request, expected) in [
            ("empty host", ClientRequest::new(""), InvalidClientRequest::Server),
            ("host with a line break", ClientRequest::new("h\r\nX: y"), InvalidClientRequest::Server),
            ("empty target", good().target(""), InvalidClientRequest::Target),
            ("target without slash", good().target("x"), InvalidClientRequest::Target),
            ("target with a fragment", good().target("/a#b"), InvalidClientRequest::Target),
            ("target with a space", good().target("/a b"), InvalidClientRequest::Target),
            ("empty sub-protocol", good().subprotocol(""), InvalidClientRequest::Subprotocol),
            ("two sub-protocols in one", good().subprotocol("a,b"), InvalidClientRequest::Subprotocol),
            ("field name with a colon", good().field("a:", "b"), InvalidClientRequest::Field),
            ("field value with a line break", good().field("a", "b\r\nc: d"), InvalidClientRequest::Field),
        ] {
            assert_eq!(request.check(), Err(expected), "{name}");
            assert!(!format!("{expected}").is_empty());
        }
        assert_eq!(good().subprotocol("a.b").field("a", "b\tc").check(), Ok(()));
    }

    #[test]
    fn answers() {
        const ACCEPT: &str = "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n";
        const UPGRADE: &str = "Upgrade: websocket\r\nConnection: Upgrade\r\n";
        const LINE: &str = "HTTP/1.1 101 Switching Protocols\r\n";
        let request = ClientRequest::new("h").subprotocol("x").subprotocol("mcp");
        let cases: &[(&str, &[&str], Result<Option<usize>, NotAccepted>)] = &[
            ("no sub-protocol", &[LINE, UPGRADE, ACCEPT], Ok(None)),
            (
                "the second of the offered sub-protocols",
                &[LINE, UPGRADE, ACCEPT, "Sec-WebSocket-Protocol: mcp\r\n"],
                Ok(Some(1)),
            ),
            (
                "a sub-protocol that was not offered",
                &[LINE, UPGRADE, ACCEPT, "Sec-WebSocket-Protocol: y\r\n"],
                Err(NotAccepted::UnknownSubprotocol),
            ),
            (
                "an offered sub-protocol in another case",
                &[LINE, UPGRADE, ACCEPT, "Sec-WebSocket-Protocol: MCP\r\n"],
                Err(NotAccepted::UnknownSubprotocol),
            ),
            (
                "both",
                &[LINE, UPGRADE, ACCEPT, "Sec-WebSocket-Protocol: x, mcp\r\n"],
                Err(NotAccepted::UnknownSubprotocol),
            ),
            (
                "an extension",
                &[LINE, UPGRADE, ACCEPT, "Sec-WebSocket-Extensions: permessage-deflate\r\n"],
                Err(NotAccepted::UnknownExtension),
            ),
            ("no Sec-WebSocket-Accept", &[LINE, UPGRADE], Err(NotAccepted::WrongAccept)),
            ("two of Sec-WebSocket-Accept", &[LINE, UPGRADE, ACCEPT, ACCEPT], Err(NotAccepted::WrongAccept)),
            ("no Upgrade", &[LINE, "Connection: Upgrade\r\n", ACCEPT], Err(NotAccepted::NotUpgraded)),
            ("no Connection", &[LINE, "Upgrade: websocket\r\n", ACCEPT], Err(NotAccepted::NotUpgraded)),
            (
                "refused",
                &["HTTP/1.1 401 Unauthorized\r\n"],
                Err(NotAccepted::Status(401, "Unauthorized".into())),
            ),
            ("HTTP/1.0", &["HTTP/1.0 101 X\r\n", UPGRADE, ACCEPT], Err(NotAccepted::Malformed)),
            ("not HTTP", &["SSH-2.0-x\r\n"], Err(NotAccepted::Malformed)),
        ];
        for (name, parts, expected) in cases {
            let head = parts.concat() + "\r\n";
            assert_eq!(check(head.as_bytes(), "dGhlIHNhbXBsZSBub25jZQ==", &request), *expected, "{name}");
            if let Err(error) = expected {
                assert!(!format!("{error}").is_empty(), "{name}");
            }
        }
        let after = [LINE, UPGRADE, ACCEPT, "\r\nx"].concat();
        assert_eq!(
            check(after.as_bytes(), "dGhlIHNhbXBsZSBub25jZQ==", &request),
            Err(NotAccepted::Malformed),
            "bytes after the head"
        );
    }
}
