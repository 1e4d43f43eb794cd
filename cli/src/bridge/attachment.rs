//! The editor's side: the connection, and its reconnection.

use crate::bridge::attempt::{Attempt, Progress};
use crate::bridge::routes::Above;
use crate::support::{find, not_connected, report_unknown};
use ide_mcp::Time;
use ide_mcp::ide::discovery::{Backoff, Reconnect};
use ide_mcp::ide::kit::display_safe;
use ide_mcp::ide::{Client, ClientConfig, ClientEvent};
use ide_mcp::mcp::{Forward, Implementation, ServerInfo};
use ide_mcp::rpc::{Json, SessionId};
use ide_mcp::ws::Closed;
use ide_mcp_driver::ConnectError;
use ide_mcp_lockfile::{EditorSearch, FoundEditor, Unknown};
use ide_mcp_mio::{Conn, Trust, address_of};
use mio::event::Event;
use mio::net::TcpStream;
use mio::{Registry, Token};
use std::fmt::Display;
use std::{mem, process};

/// How many requests to the editor may be pending: the 256 that the client may have open, and 64 more for calls that end
/// some of those, such as `closeTab`.
const REQUESTS: usize = 256 + 64;

/// How the bridge introduces itself to the editor: as the client that started it.
#[derive(Clone, Debug)]
pub(crate) struct Identity {
    pub(crate) info: Implementation,
    pub(crate) capabilities: Option<Json>,
}

/// The state of the connection to the editor.
#[derive(Debug, Default)]
enum Link {
    #[default]
    None,
    Connecting(Attempt),
    Open(Box<Conn<Above>>),
}

/// The check of the server at the other end of a socket.
type Check = fn(Trust, &TcpStream) -> Result<Option<Unknown>, ConnectError>;

#[derive(Debug)]
pub(crate) struct Attachment {
    search: EditorSearch,
    trust: Trust,
    check: Check,
    /// The editor that the last search found.
    editor: FoundEditor,
    identity: Identity,
    registry: Registry,
    token: Token,
    link: Link,
    reconnect: Reconnect,
    /// The end of the connection, until the turn reports it.
    closed: Option<Closed>,
    /// The number of the last session. It is part of the ids of that session's calls and requests.
    sessions: u64,
    /// True if the last connection had an open session.
    was_attached: bool,
    /// True if the bridge has given up. It tries again at the next message of the client.
    has_given_up: bool,
    /// Why the bridge has given up; `None` once that is reported.
    reason: Option<String>,
    /// True if the bridge has left the editor for good.
    is_left: bool,
}

/// A change of the connection in a turn.
#[derive(Debug)]
pub(crate) enum Change {
    Attached(ServerInfo),
    /// There is no editor to connect to, and this is why.
    NotConnected(String),
    Lost(Closed),
}

impl Attachment {
    /// Creates the attachment; `place` has the registry and the token for the socket.
    pub(crate) fn new(
        search: EditorSearch,
        trust: Trust,
        editor: FoundEditor,
        identity: Identity,
        place: (Registry, Token),
    ) -> Self {
        let (registry, token) = place;
        let reconnect = Reconnect::new(Backoff::default(), Time::ZERO);
        Self {
            search,
            trust,
            check: |trust, stream| trust.check(stream.local_addr(), stream.peer_addr()),
            editor,
            identity,
            registry,
            token,
            link: Link::None,
            reconnect,
            closed: None,
            // The session of the client has number one.
            sessions: 1,
            was_attached: false,
            has_given_up: false,
            reason: None,
            is_left: false,
        }
    }

    /// Attaches with this identity from now on.
    pub(crate) fn set_identity(&mut self, identity: Identity, now: Time) {
        self.identity = identity;
        self.reconnect = Reconnect::new(Backoff::default(), now);
    }

    pub(crate) fn handle(&mut self, event: &Event) {
        if let Link::Open(conn) = &mut self.link {
            conn.handle_event(event);
        }
    }

    /// Returns the client of the editor while the session is open.
    pub(crate) fn client(&mut self) -> Option<&mut Above> {
        let Link::Open(conn) = &mut self.link else { return None };
        Some(conn.machine_mut()).filter(|client| client.is_ready())
    }

    /// Returns true if the editor reads too slowly: the send buffer to it has reached its high-water mark.
    pub(crate) fn is_full(&self) -> bool {
        matches!(&self.link, Link::Open(conn) if conn.machine().is_full())
    }

    /// Performs one turn: connects if an attempt is due, and moves bytes and events.
    pub(crate) fn turn(&mut self, now: Time, mut on: impl FnMut(&mut Above, ClientEvent)) -> Option<Change> {
        let is_due = self.reconnect.next_attempt().is_some_and(|due| due <= now);
        if is_due && matches!(self.link, Link::None) && !self.is_left {
            self.reconnect.on_attempt();
            self.link = match self.attempt(now) {
                Ok(attempt) => Link::Connecting(attempt),
                Err(reason) => return Some(self.not_connected(now, reason)),
            };
        }
        self.link = match mem::take(&mut self.link) {
            Link::Connecting(attempt) => match self.proceed(now, attempt) {
                Ok(link) => link,
                Err(reason) => return Some(self.not_connected(now, reason)),
            },
            link => link,
        };
        let Link::Open(conn) = &mut self.link else { return None };
        let (mut change, closed) = (None, &mut self.closed);
        conn.turn(now, |client, event| match event {
            ClientEvent::Ready(info) => change = Some(Change::Attached(info)),
            ClientEvent::Closed(reason) => *closed = Some(reason),
            event => on(client, event),
        });
        if matches!(change, Some(Change::Attached(_))) {
            self.reconnect.on_connected();
            self.was_attached = true;
        }
        if conn.is_over() {
            self.link = Link::None;
        }
        match self.closed.take() {
            Some(closed) if !self.is_left => {
                self.lost(now, &closed);
                Some(Change::Lost(closed))
            }
            _ => change,
        }
    }

    pub(crate) fn deadline(&self, now: Time) -> Option<Time> {
        match &self.link {
            Link::None => self.reconnect.next_attempt().filter(|_| !self.is_left),
            Link::Connecting(attempt) => Some(attempt.deadline()),
            Link::Open(conn) => conn.deadline(now),
        }
    }

    /// Tries again if the bridge had given up, because the client has sent a message.
    pub(crate) fn try_again(&mut self, now: Time) {
        if self.has_given_up {
            self.has_given_up = false;
            self.reconnect = Reconnect::new(Backoff::default(), now);
        }
    }

    /// Returns why the bridge has just given up, once.
    pub(crate) fn take_reason(&mut self) -> Option<String> {
        self.reason.take()
    }

    /// Leaves the editor with a close frame.
    pub(crate) fn leave(&mut self) {
        self.is_left = true;
        match &mut self.link {
            Link::Open(conn) => conn.machine_mut().close(),
            // Nothing was sent yet.
            Link::None | Link::Connecting(_) => self.link = Link::None,
        }
    }

    /// Returns true if there is no connection any more.
    pub(crate) const fn is_over(&self) -> bool {
        matches!(self.link, Link::None)
    }

    /// Describes how the last connection ended, or that there was none.
    pub(crate) fn explain(&self, reason: &dyn Display) -> String {
        let (name, port, lock) =
            (display_safe(&self.editor.name), self.editor.port, self.editor.lock_file.display());
        let reason = display_safe(&reason.to_string()).into_owned();
        let what = if self.was_attached { "is lost" } else { "cannot be attached to" };
        format!("the editor {name:?} on port {port} {what}: {reason}; its lock file is {lock}")
    }

    /// Finds the editor, and begins to connect to it.
    fn attempt(&mut self, now: Time) -> Result<Attempt, String> {
        // An editor that was restarted can have another port and another token.
        self.editor = find::editor(&self.search)?;
        self.was_attached = false;
        let address = address_of(&self.editor.host, self.editor.port).map_err(|error| error.to_string())?;
        Attempt::begin(now, address, &self.registry, self.token).map_err(|error| self.explain(&error))
    }

    /// Begins the session once the socket is connected to a trusted server.
    fn proceed(&mut self, now: Time, attempt: Attempt) -> Result<Link, String> {
        let check = |stream: &TcpStream| {
            let unknown = (self.check)(self.trust, stream)?;
            if let (Some(unknown), Ok(peer)) = (unknown, stream.peer_addr()) {
                report_unknown("bridge", peer, unknown);
            }
            Ok(())
        };
        let trusted = match attempt.proceed(now, check) {
            Progress::Connecting(attempt) => return Ok(Link::Connecting(attempt)),
            Progress::Connected(trusted) => trusted,
            Progress::Failed(ConnectError::Io(error)) => return Err(self.explain(&error)),
            Progress::Failed(error) => return Err(not_connected(&error)),
        };
        let FoundEditor { host, port, token, .. } = &self.editor;
        let mut config =
            ClientConfig::new(self.identity.info.clone(), *port, token.clone()).with_host(host, *port);
        config.pid = Some(process::id());
        config.raw_notifications = true;
        config.mcp.capabilities = self.identity.capabilities.clone();
        config.mcp.forward = Forward::All;
        config.mcp.limits.requests = REQUESTS;
        config.ws.outgoing = super::run::MARK;
        self.sessions = self.sessions.saturating_add(1);
        let client = Client::new(config, getrandom::fill, SessionId::new(self.sessions), now);
        let client = client.map_err(|error| error.to_string())?;
        let conn = trusted.begin(client, &self.registry, self.token);
        conn.map(|conn| Link::Open(Box::new(conn))).map_err(|error| self.explain(&error))
    }

    fn not_connected(&mut self, now: Time, reason: String) -> Change {
        self.lost(now, &Closed::Abnormal);
        Change::NotConnected(reason)
    }

    fn lost(&mut self, now: Time, closed: &Closed) {
        if let Err(reason) = self.reconnect.on_disconnected(now, closed) {
            // A later attempt may succeed: a new lock file may have another token.
            self.reason = Some(format!("{reason}; the next message of the client tries again"));
            self.has_given_up = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bridge::greeting::itself;
    use ide_mcp::Clock;
    use ide_mcp::ide::discovery::LockFile;
    use ide_mcp_lockfile::{Error, LockDir, new_token};
    use mio::{Events, Poll};
    use std::cell::RefCell;
    use std::collections::VecDeque;
    use std::io::{self, Read as _};
    use std::net::TcpListener;
    use std::time::Duration;

    thread_local! {
        /// What the next checks of the port's owner find: whether it is our user.
        static OURS: RefCell<VecDeque<bool>> = const { RefCell::new(VecDeque::new()) };
    }

    fn given(trust: Trust, stream: &TcpStream) -> Result<Option<Unknown>, ConnectError> {
        if trust == Trust::EveryUser {
            return Ok(None);
        }
        let addr = stream.peer_addr()?;
        match OURS.with_borrow_mut(VecDeque::pop_front) {
            Some(true) => Ok(None),
            Some(false) => Err(ConnectError::NotTrusted(Error::PortNotOurs { addr, owner: 2, us: 1 })),
            None => Err(io::Error::other("one look-up too many").into()),
        }
    }

    /// Lets the bridge make its next attempt to this editor, which dies once it has received a request. Returns what
    /// the bridge sent, and how the attempt ended.
    fn attempt(
        attachment: &mut Attachment,
        poll: &mut Poll,
        editor: &TcpListener,
        now: Time,
    ) -> (String, Change) {
        let (mut events, mut stream, mut sent, mut end) = (Events::with_capacity(8), None, Vec::new(), None);
        let (mut is_over, clock) = (false, Clock::new());
        attachment.try_again(now);
        while !(is_over && end.is_some()) {
            assert!(clock.now() < Time::from_millis(20_000), "nothing happens: {end:?}");
            poll.poll(&mut events, Some(Duration::from_millis(1))).unwrap();
            for event in &events {
                attachment.handle(event);
            }
            end = attachment.turn(now, |_, _| ()).or(end);
            if stream.is_none() && !is_over {
                stream = editor.accept().ok().map(|(stream, _)| stream);
            }
            let Some(peer) = &mut stream else { continue };
            peer.set_nonblocking(true).unwrap();
            let mut space = [0; 4096];
            match peer.read(&mut space) {
                Ok(n) if n > 0 => sent.extend_from_slice(&space[..n]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                _ => is_over = true,
            }
            is_over |= sent.ends_with(b"\r\n\r\n");
            if is_over {
                stream = None;
            }
        }
        (String::from_utf8(sent).unwrap(), end.unwrap())
    }

    /// Another user can take the port as soon as the editor has died, so each attempt checks who listens before it
    /// sends the first byte.
    #[test]
    fn l13_each_attempt_looks_up_the_owner() {
        let rows: [(&str, Trust, &[bool]); 6] = [
            ("ours, then another", Trust::OurUser, &[true, false]),
            ("ours twice, then another", Trust::OurUser, &[true, true, false]),
            ("another from the beginning", Trust::OurUser, &[false, false, false]),
            ("another between ours", Trust::OurUser, &[true, false, true, false]),
            ("ours after another", Trust::OurUser, &[false, true, true]),
            ("every user is trusted", Trust::EveryUser, &[true, true]),
        ];
        let temp = crate::support::temp::private_temp_dir();
        let root = temp.path().join("attempts");
        let dir = LockDir::create(&root).unwrap();
        let token = new_token().unwrap();
        let editor = TcpListener::bind("127.0.0.1:0").unwrap();
        editor.set_nonblocking(true).unwrap();
        let file = LockFile::new(process::id(), vec!["/w".into()], "E", token.clone());
        let published = dir.publish(editor.local_addr().unwrap().port(), &file).unwrap();
        for (name, trust, owners) in rows {
            OURS.set(if trust == Trust::OurUser {
                owners.iter().copied().collect()
            } else {
                VecDeque::new()
            });
            let mut poll = Poll::new().unwrap();
            let search = EditorSearch::of_lock_file(published.path());
            let found = find::editor(&search).unwrap();
            let identity = Identity { info: itself(), capabilities: None };
            let place = (poll.registry().try_clone().unwrap(), Token(0));
            let mut attachment = Attachment::new(search, trust, found, identity, place);
            attachment.check = given;
            for (at, is_ours) in (1..).zip(owners) {
                // Later than any time at which the bridge tries again.
                let now = Time::from_millis(at * 60 * 60 * 1000);
                let (sent, end) = attempt(&mut attachment, &mut poll, &editor, now);
                if *is_ours {
                    assert!(sent.contains(token.as_str()), "{name}, attempt {at}: {sent}");
                    assert!(matches!(end, Change::Lost(_)), "{name}, attempt {at}: {end:?}");
                } else {
                    assert_eq!(sent, "", "{name}, attempt {at}");
                    let is_refused = matches!(&end, Change::NotConnected(why) if why.contains("user 2"));
                    assert!(is_refused, "{name}, attempt {at}: {end:?}");
                }
            }
            assert!(OURS.take().is_empty(), "{name}: an attempt without a look-up");
        }
        drop(published);
    }
}
