//! The client's side of a session: the agent.

use alloc::{borrow::Cow, boxed::Box, vec::Vec};

use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

use super::{
    ClientEvent, List, Outcome, ProtocolVersion, Root, Timeout,
    endpoint::Endpoint,
    incoming::Incoming,
    listing::Listing,
    outgoing::{Outgoing, Purpose},
    params::{CallOut, ClientCapabilitiesOut, InitializeOut, InitializeResult},
    session::{Session, State},
    timeout::Waits,
};
use crate::{
    Outbox, Time,
    rpc::{Json, NotSent, RequestId, SessionId, is_object, read_object, read_owned, text_of},
    text::truncate,
};

mod config;
mod role;
mod server_info;

pub use config::ClientConfig;
pub use server_info::{Failure, ServerInfo};

/// One session of MCP as a client: the agent's side.
///
/// [`start`](Client::start) begins the handshake; [`ClientEvent::Ready`] or [`ClientEvent::Failed`] ends it. Then you
/// send requests, and each ends with one outcome. The session itself answers the requests of the server: `ping` with
/// `{}`, `roots/list` with the configured roots, and all others with -32601, except forms and what you forward to
/// yourself.
///
/// ```
/// use ide_mcp::mcp::{Client, ClientConfig, ClientEvent, Implementation, Lines, Timeout};
/// use ide_mcp::{Time, rpc::SessionId};
///
/// let (now, mut out) = (Time::ZERO, Lines::new());
/// let mut client = Client::new(ClientConfig::new(Implementation::new("agent", "1.0")), SessionId::new(1));
/// client.start(now, &mut out)?;
/// let answer = r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{},
///     "serverInfo":{"name":"demo","version":"1.0"}}}"#;
/// client.receive(now, answer, &mut out);
/// assert!(matches!(client.poll(now, &mut out), Some(ClientEvent::Ready)));
/// let request = client.call_tool("greet", &(), Timeout::Default, &mut out)?;
/// // Later: `ClientEvent::Outcome` with this request.
/// # let _ = request;
/// # Ok::<(), ide_mcp::rpc::NotSent>(())
/// ```
pub type Client = Endpoint<ClientRole, ClientEvent>;

/// The role of a client.
#[derive(Debug)]
#[allow(unnameable_types, reason = "its name is `Client`")]
pub struct ClientRole {
    config: ClientConfig,
    server: Option<ServerInfo>,
}

impl Client {
    /// Creates a session that has not started. `session` becomes part of all its handles: give each session of your
    /// program a different one, so that you cannot mix up their handles.
    #[must_use]
    pub fn new(config: ClientConfig, session: SessionId) -> Self {
        let waits = Waits { default: config.call_deadline, longest: config.longest_call };
        let session = Session::new(
            State::Idle,
            config.limits.clone(),
            Incoming::new(session, &config.limits, waits),
            Outgoing::new(session, &config.limits, config.request_timeout),
            config.keepalive,
        );
        Self { role: ClientRole { config, server: None }, session }
    }

    /// Sends `initialize`.
    ///
    /// # Errors
    ///
    /// If the session has started or ended before, or if the outbox is full.
    pub fn start(&mut self, now: Time, out: &mut impl Outbox) -> Result<(), NotSent> {
        self.session.set_now(now);
        match self.session.state {
            State::Idle if out.is_full() => return Err(NotSent::Full),
            State::Idle => {}
            State::Closed => return Err(NotSent::Closed),
            State::Awaiting | State::Opening | State::Ready | State::Draining | State::Failed => {
                return Err(NotSent::NotReady);
            }
        }
        let params = InitializeOut {
            protocol_version: self.role.config.version.as_str(),
            capabilities: ClientCapabilitiesOut { config: &self.role.config },
            client_info: &self.role.config.info,
        };
        let timeout = Timeout::After(self.role.config.initialize_timeout);
        self.session.send_request(("initialize", Some(&params)), timeout, Purpose::Initialize, out)?;
        self.session.state = State::Opening;
        Ok(())
    }

    /// Returns true once [`start`](Client::start) has sent `initialize`.
    #[cfg(feature = "ide")]
    pub(crate) fn has_started(&self) -> bool {
        self.session.state != State::Idle
    }

    /// Returns the answer of the server to `initialize`, once the session is ready.
    #[must_use]
    pub const fn server(&self) -> Option<&ServerInfo> {
        self.role.server.as_ref()
    }

    /// Requests a list of the server, page by page to the end. The `timeout` applies to each page. You get one
    /// [`Outcome`], with the list as if it had come in one page.
    ///
    /// The outcome is `Malformed` if a page cannot be read, or if the list exceeds [`ClientConfig::list_pages`] or
    /// [`ClientConfig::list_bytes`]. If a cursor repeats an earlier one, or is not a string, the list ends there: you
    /// get the event [`PeerFault::BrokenCursor`](crate::mcp::PeerFault::BrokenCursor), and then the items so far.
    ///
    /// # Errors
    ///
    /// As for [`request`](Client::request).
    pub fn list(
        &mut self,
        list: List,
        timeout: Timeout,
        out: &mut impl Outbox,
    ) -> Result<RequestId, NotSent> {
        let purpose = Purpose::Page(Box::new(Listing::new(list, timeout)));
        self.session.request((list.method(), None::<&()>), timeout, purpose, out)
    }

    /// Calls a tool. `arguments` must be an object, or `null` for none. Read the result with
    /// [`ToolResult::read`](super::ToolResult::read). For a tool that waits for a person, use [`Timeout::Never`].
    ///
    /// # Errors
    ///
    /// As for [`request`](Client::request).
    pub fn call_tool<A: Serialize + ?Sized>(
        &mut self,
        name: &str,
        arguments: &A,
        timeout: Timeout,
        out: &mut impl Outbox,
    ) -> Result<RequestId, NotSent> {
        let arguments = to_raw_value(arguments).map_err(|_| NotSent::Unserializable)?;
        let arguments = Some(&*arguments).filter(|arguments| arguments.get() != "null");
        if arguments.is_some_and(|arguments| !is_object(arguments)) {
            return Err(NotSent::Unserializable);
        }
        self.request("tools/call", Some(&CallOut { name, arguments }), timeout, out)
    }

    /// Returns the folders that the client works in, if roots are declared.
    #[must_use]
    pub fn roots(&self) -> Option<&[Root]> {
        self.role.config.roots.as_deref()
    }

    /// Replaces the folders that the client works in, and notifies the server if the list has changed. A server whose
    /// session is not ready yet needs no notification.
    ///
    /// # Errors
    ///
    /// [`Undeclared`](NotSent::Undeclared) if [`ClientConfig::roots`] is `None`. Otherwise as for
    /// [`notify`](Client::notify), except that you may call it while the session is being opened. After an error the
    /// list is as before.
    pub fn set_roots(&mut self, roots: Vec<Root>, out: &mut impl Outbox) -> Result<(), NotSent> {
        let known = self.role.config.roots.as_ref().ok_or(NotSent::Undeclared)?;
        if *known == roots {
            return Ok(());
        }
        if !matches!(self.session.state, State::Idle | State::Opening) {
            self.notify("notifications/roots/list_changed", None::<&()>, out)?;
        }
        self.role.config.roots = Some(roots);
        Ok(())
    }

    /// Handles the outcome of the handshake. If it succeeded, sends `notifications/initialized` at once.
    fn negotiated(&mut self, outcome: Outcome, out: &mut impl Outbox) -> ClientEvent {
        let accepted = match outcome {
            // The session was drained in the meantime.
            Outcome::Result(_) if self.session.state != State::Opening => Err(Failure::Closed),
            Outcome::Result(result) => self.accept(&result),
            Outcome::Error(error) => Err(Failure::Refused(error)),
            Outcome::TimedOut => Err(Failure::TimedOut),
            Outcome::Malformed => Err(Failure::Malformed),
            Outcome::Cancelled | Outcome::Closed => Err(Failure::Closed),
        };
        match accepted {
            Ok(server) => {
                self.session.version = Some(server.protocol_version);
                self.session.open();
                self.session.announce("notifications/initialized", out);
                self.role.server = Some(server);
                ClientEvent::Ready
            }
            Err(failure) => {
                if self.session.state != State::Closed {
                    self.session.state = State::Failed;
                }
                ClientEvent::Failed(failure)
            }
        }
    }

    fn accept(&self, result: &RawValue) -> Result<ServerInfo, Failure> {
        let read: InitializeResult<'_> = read_object(result).ok_or(Failure::Malformed)?;
        let Some(protocol_version) = ProtocolVersion::from_name(&read.protocol_version) else {
            return Err(Failure::UnknownVersion(
                truncate(&read.protocol_version, self.role.config.limits.method).into(),
            ));
        };
        Ok(ServerInfo {
            info: read.server_info.and_then(read_owned),
            protocol_version,
            instructions: read.instructions.and_then(text_of).map(Cow::into_owned),
            capabilities: read.capabilities.map(Json::from),
        })
    }
}
