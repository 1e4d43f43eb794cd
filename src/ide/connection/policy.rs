//! Who gets in: decides about each opening handshake, before any 101.
//!
//! A browser sends `Origin` and cannot set the header field of the token, so neither a web page nor DNS rebinding gets
//! in (CVE-2025-52882 and similar attacks). Other users of the machine cannot read the lock file. The first broken rule
//! in this table decides the answer:
//!
//! | finding | answer |
//! | --- | --- |
//! | the request breaks HTTP or RFC 6455 (decided by [`ws`](crate::ws)) | 408 431 400 505 426 |
//! | `Host` missing, repeated, or not one of localhost, `[::1]` and 127.0.0.0/8, each with our port, and the [extra hosts](Policy::extra_hosts); the authority of a target in absolute-form counts instead of `Host` (RFC 9112 3.2.2) | 403 |
//! | `Origin` or `Sec-Fetch-Site` present, the origin not allowed | 403 |
//! | an unknown target: neither [`MODELS_TARGET`] nor in the [list of paths](Policy::paths), nor, if the list is empty, `/` or `/mcp` with any query | 404 |
//! | token missing, repeated or wrong; the three answers are byte-identical and take the same work | 401, or by [`AuthFailure`] 101 and 1008 |
//! | the sub-protocol `mcp` required and not offered | 400 |
//! | the maximum number of clients is attached | 503 |
//! | a resumed token ([`Auth::Resumed`]), and the application does not admit the client: as a wrong token | 401 |

use super::peer::{MODELS_TARGET, Peer};
use crate::ide::discovery::AuthToken;
use crate::ws::{HeaderField, Refusal, Request, Status};
use alloc::{string::String, vec::Vec};
use core::net::Ipv4Addr;

/// The sub-protocol of the real client, which drops the connection if it is not in the 101 (measured).
pub(crate) const SUBPROTOCOL: &str = "mcp";

/// The header field of the opening handshake that carries the token of the lock file (measured).
pub const TOKEN_FIELD: &str = "X-Claude-Code-Ide-Authorization";

/// What a client must show to attach.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Auth {
    /// A token that the server of an adapter generates when it binds its listener, and puts here as a
    /// [`Token`](Self::Token). Without such a server there is no token, and no client gets in.
    Generated,
    /// The token of the lock file.
    Token(AuthToken),
    /// A token that an earlier process of the editor has published; [`Server::admit`](crate::ide::Server::admit) then
    /// accepts the client.
    ///
    /// While no editor listened, any user of the machine could take its port, and clients that reconnected sent the
    /// token there. So the token alone proves nothing: each client that sends it becomes an
    /// [`AdmissionPending`](crate::ide::ServerEvent::AdmissionPending), and you should admit it only if its socket
    /// belongs to the user of the editor.
    Resumed(AuthToken),
    /// Nothing: every program that reaches the port on this machine attaches, except browsers.
    Disabled,
}

impl Auth {
    /// Returns the token that clients must send.
    #[must_use]
    pub const fn token(&self) -> Option<&AuthToken> {
        match self {
            Self::Token(token) | Self::Resumed(token) => Some(token),
            Self::Generated | Self::Disabled => None,
        }
    }

    /// Returns true if the request carries the required token, once.
    fn accepts(&self, request: &Request<'_>) -> bool {
        let token = match self {
            Self::Token(token) | Self::Resumed(token) => token,
            Self::Generated => return false,
            Self::Disabled => return true,
        };
        let offered = match request.single(TOKEN_FIELD) {
            HeaderField::One(offered) => Some(offered),
            HeaderField::Absent | HeaderField::Many => None,
        };
        token.matches(offered)
    }
}

/// How to answer a client whose token is missing or wrong. To the real client both answers are the same (measured).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum AuthFailure {
    /// 401 instead of the 101: no frame is sent or read.
    #[default]
    Unauthorized,
    /// 101 and then a close frame with 1008 and the reason "Invalid or missing authentication token", as
    /// the JetBrains plugin does. No message of the client is read.
    CloseAfterUpgrade,
}

/// Decides which clients may attach.
///
/// You seldom need one of your own: [`ServerConfig::listening`](crate::ide::ServerConfig::listening) and the adapters
/// make it. To also accept clients in a container:
///
/// ```
/// use ide_mcp::ide::discovery::AuthToken;
/// use ide_mcp::ide::{Auth, Policy, ServerConfig};
///
/// let token = AuthToken::from_text("550e8400-e29b-41d4-a716-446655440000").unwrap();
/// let mut policy = Policy::new(41111, Auth::Token(token));
/// policy.extra_hosts.push("host.docker.internal".into());
/// let editor = ServerConfig::new("my editor", "1.0").policy(policy);
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Policy {
    /// What a client must show.
    pub auth: Auth,
    /// How to refuse a client that does not. Default 401.
    pub auth_failure: AuthFailure,
    /// The port that you listen on: the `Host` field must name it.
    pub port: u16,
    /// Other values of the `Host` field to accept, for clients in a container or on the other side of WSL:
    /// `host.docker.internal` (our port) or `host.docker.internal:8080`. Default none.
    ///
    /// Clients send their `CLAUDE_CODE_IDE_HOST_OVERRIDE` and the port (measured). Addresses of 127.0.0.0/8 are always
    /// accepted: a DNS rebinding attack sends a name, not an address.
    pub extra_hosts: Vec<String>,
    /// Origins of pages that may attach, compared byte for byte. Default none: the real client sends no `Origin`, and
    /// every browser does.
    pub allowed_origins: Vec<String>,
    /// The request targets where agents may attach, path and query, compared byte for byte. Default empty, which means
    /// `/`, which the real client requests (measured), and `/mcp`, each with any query. A model always attaches at
    /// [`MODELS_TARGET`]. Every other target is refused: if agents could attach at `/models/`, one slash too many in a
    /// configuration would give a model the rights of an agent.
    pub paths: Vec<String>,
    /// Set this to require that clients offer the sub-protocol `mcp`. Default false.
    pub subprotocol_required: bool,
}

impl Policy {
    /// Accepts clients that connect to this port and prove themselves with `auth`. The server of an adapter sets the
    /// port itself.
    #[must_use]
    pub const fn new(port: u16, auth: Auth) -> Self {
        Self {
            auth,
            auth_failure: AuthFailure::Unauthorized,
            port,
            extra_hosts: Vec::new(),
            allowed_origins: Vec::new(),
            paths: Vec::new(),
            subprotocol_required: false,
        }
    }

    /// Decides about an opening handshake.
    pub(crate) fn judge(&self, request: &Request<'_>, full: bool) -> Verdict {
        match self.check(request, full) {
            Ok(()) => {
                let entry = Entry { subprotocol: subprotocol(request), peer: Peer::of(request) };
                match self.auth {
                    Auth::Resumed(_) => Verdict::Decide(entry),
                    Auth::Generated | Auth::Token(_) | Auth::Disabled => Verdict::LetIn(entry),
                }
            }
            Err(WRONG_TOKEN) => self.not_admitted(subprotocol(request)),
            Err(refusal) => Verdict::Refuse(refusal),
        }
    }

    /// Decides about an opening handshake with a wrong token, or one that the application does not admit.
    pub(crate) fn not_admitted(&self, subprotocol: Option<&'static str>) -> Verdict {
        match self.auth_failure {
            AuthFailure::Unauthorized => Verdict::Refuse(WRONG_TOKEN),
            AuthFailure::CloseAfterUpgrade => Verdict::Close { subprotocol },
        }
    }

    fn check(&self, request: &Request<'_>, full: bool) -> Result<(), Refusal> {
        if !matches!(request.host(), HeaderField::One(host) if self.is_ours(host)) {
            return Err(FOREIGN_HOST);
        }
        let origin = request.single("origin");
        let allowed = matches!(origin, HeaderField::One(origin) if self.allows(origin));
        if !allowed && (origin != HeaderField::Absent || request.has("sec-fetch-site")) {
            return Err(FOREIGN_ORIGIN);
        }
        let target = request.target();
        if target != MODELS_TARGET && !self.is_for_agents(&target) {
            return Err(UNKNOWN_PATH);
        }
        if !self.auth.accepts(request) {
            return Err(WRONG_TOKEN);
        }
        if self.subprotocol_required && subprotocol(request).is_none() {
            return Err(NO_SUBPROTOCOL);
        }
        if full { Err(FULL) } else { Ok(()) }
    }

    fn is_for_agents(&self, target: &str) -> bool {
        if self.paths.is_empty() {
            return matches!(target.split('?').next(), Some("/" | "/mcp"));
        }
        self.paths.iter().any(|path| path == target)
    }

    fn is_ours(&self, host: &[u8]) -> bool {
        let with_our_port = |name: &str| {
            let (found, port) = host.split_at(host.len().min(name.len()));
            found.eq_ignore_ascii_case(name.as_bytes()) && self.is_our_port(port)
        };
        let is_extra = |extra: &String| {
            // The colons of an IPv6 address are in brackets.
            let has_port = extra.rsplit(']').next().is_some_and(|after| after.contains(':'));
            if has_port { host.eq_ignore_ascii_case(extra.as_bytes()) } else { with_our_port(extra) }
        };
        ["localhost", "[::1]"].into_iter().any(with_our_port)
            || self.is_our_loopback(host)
            || self.extra_hosts.iter().any(is_extra)
    }

    /// Returns true for an address of 127.0.0.0/8 in its canonical form (four decimal numbers without leading zeros),
    /// with our port.
    fn is_our_loopback(&self, host: &[u8]) -> bool {
        let (address, port) = host.split_at(host.iter().position(|byte| *byte == b':').unwrap_or(host.len()));
        let address = core::str::from_utf8(address).ok().and_then(|text| text.parse::<Ipv4Addr>().ok());
        address.is_some_and(|address| address.is_loopback()) && self.is_our_port(port)
    }

    /// Returns true for a colon and our port, in decimal without leading zeros.
    fn is_our_port(&self, text: &[u8]) -> bool {
        let Some(digits) = text.strip_prefix(b":") else { return false };
        let plain = digits.first().is_some_and(|first| (b'1'..=b'9').contains(first));
        let number = core::str::from_utf8(digits).ok().and_then(|digits| digits.parse::<u16>().ok());
        plain && number == Some(self.port)
    }

    fn allows(&self, origin: &[u8]) -> bool {
        self.allowed_origins.iter().any(|allowed| allowed.as_bytes() == origin)
    }
}

/// What kind of connection a verdict may open.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub(crate) subprotocol: Option<&'static str>,
    pub(crate) peer: Peer,
}

/// How an opening handshake is answered.
pub(crate) enum Verdict {
    LetIn(Entry),
    /// The application decides.
    Decide(Entry),
    /// Open the connection, and close it at once.
    Close {
        subprotocol: Option<&'static str>,
    },
    Refuse(Refusal),
}

/// Returns the sub-protocol `mcp` if the client offers it. No other offered name is ever echoed.
fn subprotocol(request: &Request<'_>) -> Option<&'static str> {
    request.offers(SUBPROTOCOL).then_some(SUBPROTOCOL)
}

const FOREIGN_HOST: Refusal = Refusal::new(
    Status::Forbidden,
    "the host of the request must be localhost, [::1] or an address of 127.0.0.0/8, with this port",
);
const FOREIGN_ORIGIN: Refusal = Refusal::new(Status::Forbidden, "web pages may not attach");
const UNKNOWN_PATH: Refusal =
    Refusal::new(Status::NotFound, "there is nothing at this path: agents attach at /");
pub(crate) const WRONG_TOKEN: Refusal = Refusal::new(
    Status::Unauthorized,
    "the token of the lock file is missing or wrong: read the lock file again",
);
const NO_SUBPROTOCOL: Refusal = Refusal::new(Status::BadRequest, "the sub-protocol mcp must be offered");
pub(crate) const FULL: Refusal =
    Refusal::new(Status::Unavailable, "too many agents are attached: end one of them");
