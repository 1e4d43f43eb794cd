//! The probe of one editor: whether its port answers, whether it accepts its token, and whether it
//! refuses clients without the token, and browsers.
//!
//! Each step may take two seconds, or half a second if the process of the lock file is dead. The probe
//! ends after the first step if the port does not answer, does not belong to an editor, or belongs to
//! one that is full: further steps would tell nothing more.

use crate::doctor::facts::{Answer, Probe};
use crate::support::ended::ended;
use ide_mcp::ide::discovery::AuthToken;
use ide_mcp::ide::discovery::client_env::authority;
use ide_mcp::ide::kit::display_safe;
use ide_mcp::ide::{Client, ClientConfig, ClientEvent};
use ide_mcp::mcp::{self, Implementation};
use ide_mcp::rpc::SessionId;
use ide_mcp::ws::{self, ClientRequest, CloseCode, Closed, Limits, NotAccepted, OwnedEvent};
use ide_mcp::{Clock, Machine, Time};
use ide_mcp_blocking::{Conn, connect_checked};
use ide_mcp_driver::{ConnectError, Trust};
use ide_mcp_lockfile::{Error, Unknown, listening_process};
use serde_json::{Value, json};
use std::io::ErrorKind;
use std::net::TcpStream;
use std::time::Duration;

/// The timeout of a step. An editor on this machine answers within milliseconds.
const PATIENCE: Duration = Duration::from_secs(2);
/// The timeout of connecting. After a refusal Windows tries again for about two seconds (reported by others, not
/// measured).
const CONNECTING: Duration = if cfg!(windows) { Duration::from_secs(5) } else { PATIENCE };
/// The timeout for a program on the port of a dead process. There can be fifty such files, and no agent depends on
/// the answer.
const DEAD_PATIENCE: Duration = Duration::from_millis(500);
/// The timeout of a close handshake.
const CLOSE_TIMEOUT: Duration = Duration::from_millis(200);

const NAME: &str = "ide-mcp-doctor";
const TOKEN_FIELD: &str = "X-Claude-Code-Ide-Authorization";
/// A site that cannot exist (RFC 2606 section 2).
const ORIGIN: &str = "https://doctor.invalid";

/// The address of an editor, and the users that may own the port.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) host: &'a str,
    pub(super) port: u16,
    pub(super) trust: Trust,
}

impl Place<'_> {
    /// Connects to the editor, and checks who owns the server before anything is sent. The second
    /// value says why the owner is not known, if it is not.
    fn connect(&self) -> Result<(TcpStream, Option<Unknown>), ConnectError> {
        connect_checked(self.host, self.port, CONNECTING, self.trust)
    }
}

/// What a probe has found.
pub(super) struct Found {
    pub(super) answer: Probe,
    pub(super) process: Option<u32>,
    /// Why the owner of the port is not known.
    pub(super) unknown_owner: Option<Unknown>,
}

impl From<Probe> for Found {
    fn from(answer: Probe) -> Self {
        Self { answer, process: None, unknown_owner: None }
    }
}

/// Probes the listener at `place`, and finds its process. If the process of the lock file is `dead`, it sends
/// no token, and finds out only whether an editor listens.
pub(super) fn probe(place: Place<'_>, token: Option<&AuthToken>, dead: bool) -> Found {
    let (stream, unknown_owner) = match place.connect() {
        Ok(connected) => connected,
        Err(ConnectError::Io(error)) if error.kind() == ErrorKind::ConnectionRefused => {
            return Probe::Refused.into();
        }
        Err(ConnectError::NotTrusted(Error::PortNotOurs { owner, us, .. })) => {
            return Probe::NotOurs { owner, us }.into();
        }
        Err(ConnectError::NotTrusted(Error::PortWithoutOwner { .. })) => return Probe::WithoutOwner.into(),
        Err(error) => return Probe::Unreachable(error.to_string()).into(),
    };
    let ends = stream.local_addr().and_then(|local| Ok((local, stream.peer_addr()?)));
    let process = ends.ok().and_then(|(local, peer)| listening_process(local, peer));
    if dead {
        let without_token = visit_on(Ok(stream), place, None, None, DEAD_PATIENCE);
        // No token was sent, so it does not matter who owns the port.
        return Found { answer: Probe::Open { without_token }, process, unknown_owner: None };
    }
    let with_token = attach(stream, place, token);
    let answers = !matches!(with_token, Answer::Silent | Answer::Alien(_) | Answer::Full);
    let answer = Probe::Attempted {
        without_token: token.filter(|_| answers).map(|_| visit(place, None, None)),
        with_origin: answers.then(|| visit(place, token, Some(ORIGIN))),
        with_token,
    };
    Found { answer, process, unknown_owner }
}

/// Attaches as an agent does, up to the session, but does not send `ide_connected`, which makes editors show an
/// agent.
fn attach(stream: TcpStream, Place { host, port, .. }: Place<'_>, token: Option<&AuthToken>) -> Answer {
    let info = Implementation::new(NAME, env!("CARGO_PKG_VERSION"));
    let config = ClientConfig::new(info, port, token.cloned()).with_host(host, port);
    let opened = Client::new(config, getrandom::fill, SessionId::new(1), Time::ZERO)
        .map_err(|error| error.to_string())
        .and_then(|client| Conn::from_stream(stream, client).map_err(|error| error.to_string()));
    let mut conn = match opened {
        Ok(conn) => conn,
        Err(error) => return Answer::Alien(error),
    };
    let mut failed = None;
    let answer = within(PATIENCE, &mut conn, |event| match event {
        ClientEvent::Ready(_) => Some(Answer::Attached),
        ClientEvent::Failed(mcp::Failure::Closed) => None,
        ClientEvent::Failed(failure) => {
            failed = Some(failure.to_string());
            None
        }
        // Our side closed, so either the session failed, or the sub-protocol was missing.
        ClientEvent::Closed(Closed::Local { .. }) => {
            Some(failed.take().map_or(Answer::NoSubprotocol, |reason| Answer::NoSession(safe(&reason))))
        }
        ClientEvent::Closed(closed) => Some(end(&closed)),
        _ => None,
    });
    conn.machine_mut().close();
    leave(conn);
    answer
}

/// Sends only the opening handshake and one request, as a stranger would.
fn visit(place: Place<'_>, token: Option<&AuthToken>, origin: Option<&str>) -> Answer {
    let stream = place.connect().map(|(stream, _)| stream).map_err(|error| error.to_string());
    visit_on(stream, place, token, origin, PATIENCE)
}

fn visit_on(
    stream: Result<TcpStream, String>,
    place: Place<'_>,
    token: Option<&AuthToken>,
    origin: Option<&str>,
    patience: Duration,
) -> Answer {
    let mut request = ClientRequest::new(authority(place.host, place.port))
        .subprotocol("mcp")
        .field("User-Agent", format!("{NAME}/{}", env!("CARGO_PKG_VERSION")));
    for (name, value) in [(TOKEN_FIELD, token.map(AuthToken::as_str)), ("Origin", origin)] {
        if let Some(value) = value {
            request = request.field(name, value);
        }
    }
    let opened = stream.and_then(|stream| {
        let client = ws::Client::new(request, getrandom::fill, Limits::default(), Time::ZERO);
        let client = client.map_err(|error| error.to_string())?;
        Conn::from_stream(stream, client).map_err(|error| error.to_string())
    });
    let mut conn = match opened {
        Ok(conn) => conn,
        Err(error) => return Answer::Alien(error),
    };
    let mut is_open = false;
    let mut answer = within(patience, &mut conn, |event| match event {
        OwnedEvent::Open { .. } => Some(Answer::Attached),
        OwnedEvent::Closed(closed) => Some(end(&closed)),
        _ => None,
    });
    if answer == Answer::Attached {
        is_open = true;
        // Some editors accept every handshake and then close, so only an answer counts.
        let _ = conn.machine_mut().sender().text(&initialize());
        answer = within(patience, &mut conn, |event| match event {
            OwnedEvent::Text(text) => is_result(&text).then_some(Answer::Attached),
            OwnedEvent::Closed(closed) => Some(end(&closed)),
            _ => None,
        });
    }
    if is_open {
        let _ = conn.machine_mut().sender().close(CloseCode::NORMAL, "");
    }
    leave(conn);
    answer
}

fn initialize() -> String {
    let info = json!({"name": NAME, "version": env!("CARGO_PKG_VERSION")});
    let params = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": info});
    json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}).to_string()
}

fn is_result(text: &str) -> bool {
    serde_json::from_str::<Value>(text).is_ok_and(|message| message.get("result").is_some())
}

/// Returns the first answer that `decide` finds in the events within the timeout.
fn within<M: Machine<Conn = ()>>(
    patience: Duration,
    conn: &mut Conn<M>,
    mut decide: impl FnMut(M::Event) -> Option<Answer>,
) -> Answer {
    let clock = Clock::new();
    let until = clock.now().saturating_add(patience);
    loop {
        let left = until.saturating_since(clock.now());
        let event = conn.poll(left);
        let is_last = event.is_none();
        if let Some(answer) = event.and_then(&mut decide) {
            return answer;
        }
        if is_last || left.is_zero() {
            return Answer::Silent;
        }
    }
}

fn leave<M: Machine<Conn = ()>>(mut conn: Conn<M>) {
    let clock = Clock::new();
    let until = clock.now().saturating_add(CLOSE_TIMEOUT);
    while clock.now() < until && conn.poll(until.saturating_since(clock.now())).is_some() {}
}

/// Returns what this end of a connection says about the editor.
fn end(closed: &Closed) -> Answer {
    match closed {
        Closed::NotAccepted(NotAccepted::TimedOut) => Answer::Silent,
        Closed::NotAccepted(NotAccepted::Status(503, _)) => Answer::Full,
        Closed::NotAccepted(NotAccepted::Status(401, phrase)) => Answer::Refused(status(401, phrase)),
        Closed::NotAccepted(NotAccepted::Status(code, phrase)) => match code {
            400 | 403 | 404 | 408 | 421 | 426 | 429 | 431 => Answer::Declined(status(*code, phrase)),
            // Most likely a web server.
            code => Answer::Alien(status(*code, phrase)),
        },
        Closed::NotAccepted(error) => Answer::Alien(safe(error)),
        Closed::Remote { code: Some(CloseCode::POLICY), .. } => Answer::Refused(ended("it", closed)),
        closed => Answer::Alien(ended("it", closed)),
    }
}

fn status(code: u16, phrase: &str) -> String {
    safe(&format!("{code} {phrase}")).trim_end().into()
}

fn safe(text: &impl ToString) -> String {
    display_safe(&text.to_string()).into_owned()
}
