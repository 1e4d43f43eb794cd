//! The server's side of the opening handshake: the client's request (RFC 6455 section 4.2.1), and the answers.
//!
//! A request is judged here by RFC 6455 and RFC 9112 alone. Whether to accept the client (by `Host`, `Origin`, a token,
//! the path) is up to the application, at [`Event::Upgrade`](super::Event::Upgrade); [`ide`](crate::ide) decides it for
//! editors.

use super::head::{Fields, MAX_FIELDS, elements};
use super::{HeaderField, Status};
use alloc::{borrow::Cow, format, string::ToString, vec::Vec};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use core::fmt;
use core::mem::MaybeUninit;
use sha1::{Digest as _, Sha1};

/// A valid request to open a WebSocket, for you to accept or reject. Its target is in origin-form or absolute-form, its
/// version 13, and it has one valid key.
#[derive(Clone, Copy)]
pub struct Request<'a>(Fields<'a>);

impl<'a> Request<'a> {
    /// Creates a view of a head that [`check`] has accepted.
    pub(crate) const fn new(head: &'a [u8]) -> Self {
        Self(Fields(head))
    }

    /// Returns the path and query of the request target. It begins with `/` and is visible ASCII. For a target in
    /// absolute-form (`http://127.0.0.1:41111/mcp`), it is the part after the authority, with `/` for an empty path
    /// (RFC 9110 section 4.2.3).
    #[must_use]
    pub fn target(&self) -> Cow<'a, str> {
        let target = self.whole_target();
        Target::of(target).map_or(Cow::Borrowed(target), |target| target.path)
    }

    /// Returns the host and port that the request names: the value of the `Host` field. If the target is in
    /// absolute-form, its authority counts instead (RFC 9112 section 3.2.2); the request must still have exactly one
    /// `Host` field (section 3.2).
    #[must_use]
    pub fn host(&self) -> HeaderField<'a> {
        let authority = Target::of(self.whole_target()).and_then(|target| target.authority);
        match (self.single("host"), authority) {
            (HeaderField::One(_), Some(authority)) => HeaderField::One(authority.as_bytes()),
            (field, _) => field,
        }
    }

    fn whole_target(&self) -> &'a str {
        let target = self.0.first_line().split(|byte| *byte == b' ').nth(1).unwrap_or_default();
        core::str::from_utf8(target).unwrap_or_default()
    }

    /// Returns name and value of each header field, in order. A value can contain any byte except control characters;
    /// tabs are allowed.
    pub fn fields(&self) -> impl Iterator<Item = (&'a [u8], &'a [u8])> + use<'a> {
        self.0.iter()
    }

    /// Returns the field with this name, compared without case.
    #[must_use]
    pub fn single(&self, name: &str) -> HeaderField<'a> {
        self.0.single(name)
    }

    /// Returns true if a field with this name is present.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.0.values(name).next().is_some()
    }

    /// Returns true if the client offers this sub-protocol. Case matters (RFC 6455 section 4.1).
    #[must_use]
    pub fn offers(&self, subprotocol: &str) -> bool {
        self.0.list("sec-websocket-protocol").any(|offered| offered == subprotocol.as_bytes())
    }

    /// Returns the head as it arrived.
    pub(crate) const fn head(&self) -> &'a [u8] {
        self.0.0
    }
}

impl fmt::Debug for Request<'_> {
    /// Shows only the target: a field can contain a secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request").field("target", &self.target()).finish_non_exhaustive()
    }
}

/// The parts of a request target in origin-form or in absolute-form (RFC 9112 section 3.2).
struct Target<'a> {
    /// The host and port of a target in absolute-form.
    authority: Option<&'a str>,
    /// The path, which begins with `/`, and the query.
    path: Cow<'a, str>,
}

impl<'a> Target<'a> {
    /// Splits a target; `None` for another form. The scheme is `http`, that of a WebSocket without TLS (RFC 6455
    /// section 4.1). User information is an error (RFC 9110 section 4.2.4).
    fn of(target: &'a str) -> Option<Self> {
        const SCHEME: &str = "http://";
        if !target.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'#') {
            return None;
        }
        if target.starts_with('/') {
            return Some(Self { authority: None, path: Cow::Borrowed(target) });
        }
        let (scheme, rest) = target.split_at_checked(SCHEME.len())?;
        let (authority, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
        let is_valid = scheme.eq_ignore_ascii_case(SCHEME)
            && !authority.is_empty()
            && !authority.starts_with(':')
            && !authority.contains('@');
        is_valid.then(|| Self {
            authority: Some(authority),
            path: if path.starts_with('/') { Cow::Borrowed(path) } else { Cow::Owned(format!("/{path}")) },
        })
    }
}

/// The answer that refuses an opening request: a status and a reason.
///
/// [Causes and reactions](crate::guide::errors#the-editor-refuses-a-client).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The status of the answer.
    pub status: Status,
    /// What is wrong, in words. It is also the body of the answer.
    pub reason: &'static str,
}

impl Refusal {
    /// Creates a refusal with this status and body.
    #[must_use]
    pub const fn new(status: Status, reason: &'static str) -> Self {
        Self { status, reason }
    }

    /// Appends the answer.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        push(out, &["HTTP/1.1 ", self.status.line(), "\r\nConnection: close\r\n"]);
        if self.status == Status::UpgradeRequired {
            // RFC 6455 section 4.4 and RFC 9110 section 15.5.22.
            push(out, &["Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"]);
        }
        let length = self.reason.len().saturating_add(1).to_string();
        push(out, &["Content-Type: text/plain; charset=utf-8\r\nContent-Length: ", &length]);
        // The body ends with a line feed, so that a terminal shows it on a line of its own.
        push(out, &["\r\n\r\n", self.reason, "\n"]);
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.status.line(), self.reason)
    }
}

/// The key of a request: 16 random bytes in base64.
pub(crate) type Key = [u8; 24];

/// Checks a complete head. Returns its key, or the refusal for the first rule that it breaks.
pub(crate) fn check(head: &[u8]) -> Result<Key, Refusal> {
    let mut fields = [const { MaybeUninit::uninit() }; MAX_FIELDS];
    let mut request = httparse::Request::new(&mut []);
    match request.parse_with_uninit_headers(head, &mut fields) {
        Ok(httparse::Status::Complete(len)) if len == head.len() => {}
        Ok(_) => return Err(bad("the request is not HTTP/1.1")),
        Err(httparse::Error::TooManyHeaders) => return Err(TOO_MANY_FIELDS),
        Err(httparse::Error::Version) => return Err(WRONG_HTTP_VERSION),
        Err(_) => return Err(bad("the request is not HTTP/1.1")),
    }
    if request.method != Some("GET") {
        return Err(bad("the method must be GET"));
    }
    if request.path.and_then(Target::of).is_none() {
        return Err(bad("the request target must be a path or an http URI"));
    }
    if request.version != Some(1) {
        return Err(WRONG_HTTP_VERSION);
    }
    let found = Needed::of(request.headers)?;
    if !found.upgrade {
        return Err(bad("this is a WebSocket endpoint: the Upgrade field must name websocket"));
    }
    if !found.connection {
        return Err(bad("the Connection field must name Upgrade"));
    }
    let version = found.version.ok_or(bad("Sec-WebSocket-Version is missing"))?;
    let key = found.key.ok_or(bad("Sec-WebSocket-Key is missing"))?;
    if version != b"13" {
        return Err(Refusal::new(Status::UpgradeRequired, "the WebSocket version must be 13"));
    }
    // The base64 engine refuses padding that is not canonical and trailing bits that are not zero.
    let mut nonce = [0; 18];
    let key = <Key>::try_from(key).ok();
    key.filter(|key| BASE64_STANDARD.decode_slice(key, &mut nonce) == Ok(16))
        .ok_or(bad("Sec-WebSocket-Key must be 16 bytes in base64"))
}

/// Returns the refusal of a request that breaks a rule of HTTP or of RFC 6455.
pub(crate) const fn bad(reason: &'static str) -> Refusal {
    Refusal::new(Status::BadRequest, reason)
}

/// The fields that decide about the upgrade, collected in one pass.
#[derive(Default)]
struct Needed<'a> {
    upgrade: bool,
    connection: bool,
    version: Option<&'a [u8]>,
    key: Option<&'a [u8]>,
}

impl<'a> Needed<'a> {
    /// Collects the fields, and refuses one that an opening request must not have.
    fn of(fields: &[httparse::Header<'a>]) -> Result<Self, Refusal> {
        let mut found = Self::default();
        for field in fields {
            let is = |name: &str| field.name.eq_ignore_ascii_case(name);
            // The length alone distinguishes nearly all names, before a byte is compared.
            match field.name.len() {
                6 if is("expect") => return Err(bad("Expect is not accepted")),
                7 if is("upgrade") => found.upgrade |= names(field.value, "websocket"),
                10 if is("connection") => found.connection |= names(field.value, "upgrade"),
                14 if is("content-length") && field.value != b"0" => {
                    return Err(bad("a request to upgrade has no body: Content-Length must be 0 or absent"));
                }
                17 if is("transfer-encoding") => {
                    return Err(bad("a request to upgrade has no body: Transfer-Encoding is not accepted"));
                }
                17 if is("sec-websocket-key") && found.key.replace(field.value).is_some() => {
                    return Err(bad("Sec-WebSocket-Key is repeated"));
                }
                21 if is("sec-websocket-version") && found.version.replace(field.value).is_some() => {
                    return Err(bad("Sec-WebSocket-Version is repeated"));
                }
                _ => {}
            }
        }
        Ok(found)
    }
}

/// Returns true if a comma-separated list contains this element, compared without case.
fn names(list: &[u8], element: &str) -> bool {
    elements(list).any(|found| found.eq_ignore_ascii_case(element.as_bytes()))
}

/// The refusal of a head that did not arrive in time.
pub(crate) const TOO_SLOW: Refusal =
    Refusal::new(Status::RequestTimeout, "the request was not complete in time");
/// The refusal of a head that is longer than the limit.
pub(crate) const TOO_LONG: Refusal = Refusal::new(Status::HeadTooLarge, "the request head is too long");
const TOO_MANY_FIELDS: Refusal =
    Refusal::new(Status::HeadTooLarge, "the request has more than 64 header fields");
const WRONG_HTTP_VERSION: Refusal = Refusal::new(Status::VersionNotSupported, "the HTTP version must be 1.1");

/// Appends the answer that opens the WebSocket (RFC 6455 section 4.2.2).
pub(crate) fn write_acceptance(key: &Key, subprotocol: Option<&str>, out: &mut Vec<u8>) {
    // Fits the whole answer, which is usually 129 bytes and the sub-protocol.
    out.reserve(160_usize.saturating_add(subprotocol.map_or(0, str::len)));
    push(out, &["HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"]);
    push(out, &["Sec-WebSocket-Accept: "]);
    out.extend_from_slice(&accept_key(key));
    if let Some(subprotocol) = subprotocol {
        push(out, &["\r\nSec-WebSocket-Protocol: ", subprotocol]);
    }
    push(out, &["\r\n\r\n"]);
}

/// Returns the proof that a server understood the key (RFC 6455 section 4.2.2, step 5.4): base64 of SHA-1 of the key
/// and a fixed string.
pub(crate) fn accept_key(key: &[u8]) -> [u8; 28] {
    let digest =
        Sha1::new().chain_update(key).chain_update(b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").finalize();
    let mut text = [0; 28];
    // 20 bytes are 28 characters, so they always fit.
    let _ = BASE64_STANDARD.encode_slice(digest, &mut text);
    text
}

pub(crate) fn push(out: &mut Vec<u8>, parts: &[&str]) {
    for part in parts {
        out.extend_from_slice(part.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::String;

    const GOOD: &[&str] = &[
        "Host: 127.0.0.1:1",
        "Connection: Upgrade",
        "Upgrade: websocket",
        "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    ];

    /// Returns the good request with another first line, without one field and with additional fields.
    fn head(line: &str, without: &str, with: &[&str]) -> String {
        let mut head = format!("{line}\r\n");
        for field in GOOD.iter().filter(|field| without.is_empty() || !field.starts_with(without)).chain(with)
        {
            head.push_str(field);
            head.push_str("\r\n");
        }
        head + "\r\n"
    }

    #[test]
    fn h05_h07_requests() {
        const GET: &str = "GET / HTTP/1.1";
        const OTHERS: &[&str] = &[
            "Accept: a",
            "Trailer: a",
            "User-Agent: a",
            "Accept-Charset: a",
            "If-Modified-Since: a",
            "X-Forwarded-For-Proxy: a",
        ];
        let cases: &[(&str, &str, &str, &[&str], u16)] = &[
            ("good", GET, "", &[], 101),
            ("list of tokens in any case", GET, "Connection", &["Connection: keep-alive, UPGRADE"], 101),
            ("Content-Length 0, as the JDK sends it", GET, "", &["Content-Length: 0"], 101),
            ("a value with bytes above ASCII", GET, "", &["X: \u{fc}"], 101),
            ("POST", "POST / HTTP/1.1", "", &[], 400),
            ("lower-case get", "get / HTTP/1.1", "", &[], 400),
            ("absolute form", "GET http://evil/ HTTP/1.1", "", &[], 101),
            ("absolute form without a path", "GET HTTP://evil:1 HTTP/1.1", "", &[], 101),
            ("absolute form, a query without a path", "GET http://evil?a HTTP/1.1", "", &[], 101),
            ("absolute form, a query without a host", "GET http://?a HTTP/1.1", "", &[], 400),
            ("absolute form, a user in the query", "GET http://evil?a@b HTTP/1.1", "", &[], 101),
            ("absolute form without a host", "GET http:///a HTTP/1.1", "", &[], 400),
            ("absolute form with a port alone", "GET http://:1/a HTTP/1.1", "", &[], 400),
            ("absolute form with a user", "GET http://a@evil/ HTTP/1.1", "", &[], 400),
            ("absolute form with a fragment", "GET http://evil/#a HTTP/1.1", "", &[], 400),
            ("absolute form with TLS", "GET https://evil/ HTTP/1.1", "", &[], 400),
            ("the scheme of WebSocket", "GET ws://evil/ HTTP/1.1", "", &[], 400),
            ("a scheme without slashes", "GET http:evil/ HTTP/1.1", "", &[], 400),
            ("authority form", "GET evil:80 HTTP/1.1", "", &[], 400),
            ("asterisk form", "GET * HTTP/1.1", "", &[], 400),
            ("fragment in the target", "GET /#a HTTP/1.1", "", &[], 400),
            ("target above ASCII", "GET /\u{e9} HTTP/1.1", "", &[], 400),
            ("two spaces", "GET  / HTTP/1.1", "", &[], 400),
            ("HTTP/1.0", "GET / HTTP/1.0", "", &[], 505),
            ("HTTP/1.2", "GET / HTTP/1.2", "", &[], 505),
            ("HTTP/2.0", "GET / HTTP/2.0", "", &[], 505),
            ("Transfer-Encoding", GET, "", &["Transfer-Encoding: chunked"], 400),
            ("a body", GET, "", &["Content-Length: 5"], 400),
            ("two lengths", GET, "", &["Content-Length: 0", "Content-Length: 5"], 400),
            ("Expect", GET, "", &["Expect: 100-continue"], 400),
            ("other fields of the same lengths", GET, "", OTHERS, 101),
            ("no Upgrade", GET, "Upgrade", &[], 400),
            ("websocket only in another field", GET, "Upgrade", &["Trailer: websocket"], 400),
            ("Upgrade names websocket twice", GET, "", &["Upgrade: websocket"], 101),
            ("Upgrade names another protocol", GET, "Upgrade", &["Upgrade: websockets"], 400),
            ("no Connection", GET, "Connection", &[], 400),
            ("upgrade only in another field", GET, "Connection", &["User-Agent: upgrade"], 400),
            ("Connection names upgrade twice", GET, "", &["Connection: upgrade"], 101),
            ("Connection has a longer word", GET, "Connection", &["Connection: keep-alive-upgradex"], 400),
            ("no version", GET, "Sec-WebSocket-Version", &[], 400),
            ("version 12", GET, "Sec-WebSocket-Version", &["Sec-WebSocket-Version: 12"], 426),
            (
                "two versions in one field",
                GET,
                "Sec-WebSocket-Version",
                &["Sec-WebSocket-Version: 13, 8"],
                426,
            ),
            ("two versions", GET, "", &["Sec-WebSocket-Version: 13"], 400),
            ("no key", GET, "Sec-WebSocket-Key", &[], 400),
            ("two keys", GET, "", &["Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="], 400),
            ("key of 23", GET, "Sec-WebSocket-Key", &["Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ="], 400),
            ("key of 25", GET, "Sec-WebSocket-Key", &["Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==="], 400),
            (
                "key of padding",
                GET,
                "Sec-WebSocket-Key",
                &["Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25j===="],
                400,
            ),
            (
                "key of 18 bytes",
                GET,
                "Sec-WebSocket-Key",
                &["Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZTEy"],
                400,
            ),
            (
                "trailing bits",
                GET,
                "Sec-WebSocket-Key",
                &["Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZR=="],
                400,
            ),
            ("folded field", GET, "", &["X: a", " b"], 400),
            ("space before the colon", GET, "", &["X : a"], 400),
            ("control character in a value", GET, "", &["X: a\u{1}b"], 400),
            ("a field without a name", GET, "", &[": a"], 400),
        ];
        for (name, line, without, with, expected) in cases {
            let found = check(head(line, without, with).as_bytes());
            assert_eq!(found.map_or_else(|refusal| refusal.status.code(), |_| 101), *expected, "{name}");
        }
        assert!(check((head(GET, "", &[]) + "x").as_bytes()).is_err(), "bytes after the head");
    }

    #[test]
    fn absolute_target_names_the_host() {
        let cases: &[(&str, &str, &[u8])] = &[
            ("/a?b", "/a?b", b"127.0.0.1:1"),
            ("http://h:2/a?b", "/a?b", b"h:2"),
            ("hTTp://[::1]:2", "/", b"[::1]:2"),
            ("http://h:2?", "/?", b"h:2"),
            ("http://h:2?a/b?c", "/?a/b?c", b"h:2"),
            ("http://h//a", "//a", b"h"),
        ];
        for (target, path, host) in cases {
            let head = head(&format!("GET {target} HTTP/1.1"), "", &[]);
            let request = Request::new(head.as_bytes());
            assert!(check(head.as_bytes()).is_ok(), "{target}");
            assert_eq!(request.target(), *path, "{target}");
            assert_eq!(request.host(), HeaderField::One(host), "{target}");
        }
        let two = head("GET http://h/ HTTP/1.1", "", &["Host: h"]);
        assert_eq!(Request::new(two.as_bytes()).host(), HeaderField::Many);
        let none = head("GET http://h/ HTTP/1.1", "Host", &[]);
        assert_eq!(Request::new(none.as_bytes()).host(), HeaderField::Absent);
    }

    #[test]
    fn the_limit_of_fields_is_64() {
        let with = |count: usize| head("GET / HTTP/1.1", "", &alloc::vec!["a: b"; count - GOOD.len()]);
        assert_eq!(check(with(64).as_bytes()), Ok(*b"dGhlIHNhbXBsZSBub25jZQ=="));
        assert_eq!(check(with(65).as_bytes()), Err(TOO_MANY_FIELDS));
    }

    #[test]
    fn key_of_the_rfc_has_its_answer() {
        assert_eq!(&accept_key(b"dGhlIHNhbXBsZSBub25jZQ=="), b"s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
        let mut out = Vec::new();
        write_acceptance(b"dGhlIHNhbXBsZSBub25jZQ==", Some("mcp"), &mut out);
        let expected = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
            Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\nSec-WebSocket-Protocol: mcp\r\n\r\n";
        assert_eq!(core::str::from_utf8(&out), Ok(expected));
    }

    #[test]
    fn a_refusal_is_a_complete_answer() {
        let mut out = Vec::new();
        Refusal::new(Status::Forbidden, "no").write(&mut out);
        let expected = "HTTP/1.1 403 Forbidden\r\nConnection: close\r\n\
            Content-Type: text/plain; charset=utf-8\r\nContent-Length: 3\r\n\r\nno\n";
        assert_eq!(core::str::from_utf8(&out), Ok(expected));
        assert_eq!(format!("{}", Refusal::new(Status::Forbidden, "no")), "403 Forbidden: no");
        out.clear();
        Refusal::new(Status::UpgradeRequired, "").write(&mut out);
        assert!(String::from_utf8(out).unwrap().contains("\r\nSec-WebSocket-Version: 13\r\n"));
    }

    #[test]
    fn request_debug_shows_target_without_fields() {
        let head = head("GET /mcp?x HTTP/1.1", "", &["X-Secret: hush", "Sec-WebSocket-Protocol: a, mcp"]);
        let request = Request::new(head.as_bytes());
        assert_eq!(request.target(), "/mcp?x");
        assert!(request.offers("mcp") && !request.offers("MCP") && !request.offers("mc"));
        assert_eq!(request.single("x-secret"), HeaderField::One(b"hush"));
        assert!(request.has("host") && !request.has("hos"));
        assert_eq!((request.fields().count(), request.head()), (GOOD.len() + 2, head.as_bytes()));
        assert!(request.fields().any(|field| field == (b"X-Secret", b"hush")));
        assert_eq!(format!("{request:?}"), r#"Request { target: "/mcp?x", .. }"#);
    }
}
