//! A lock file, an editor in memory, and the steps of an attempt.

use crate::agent::{AgentOptions, AgentSession, AgentStep, ConnectError, Trust};
use ide_mcp::ide::discovery::AuthToken;
use ide_mcp::ide::{Auth, Client, ClientEvent, Policy, Server, ServerConfig};
use ide_mcp::ws::{Closed, NotAccepted};
use ide_mcp::{Machine, Output, Time};
use ide_mcp_lockfile::Error;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::{env, fs, io, process};

pub(super) const PORT: u16 = 41111;

/// A process id that no process can have: the largest one of Linux is 4,194,304.
pub(super) const DEAD: u32 = 4_000_000_000;

/// A lock file in a directory of its own; both are removed when it is dropped.
pub(super) struct LockFile(pub(super) PathBuf);

impl LockFile {
    pub(super) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("ide-mcp-driver-{}-{}", process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let dir = env::temp_dir().canonicalize().unwrap().join(name);
        fs::create_dir(&dir).unwrap();
        let lock = Self(dir.join(format!("{PORT}.lock")));
        lock.write('a', process::id());
        lock
    }

    pub(super) fn write(&self, token: char, pid: u32) {
        let token = token.to_string().repeat(32);
        let text = format!(
            r#"{{"pid":{pid},"workspaceFolders":["/w"],"ideName":"E","transport":"ws","runningInWindows":{},"authToken":"{token}"}}"#,
            cfg!(windows)
        );
        fs::write(&self.0, text).unwrap();
    }

    /// Returns a session that trusts every server, so that it needs no real socket.
    pub(super) fn session(&self) -> AgentSession {
        self.session_with(Trust::EveryUser)
    }

    pub(super) fn session_with(&self, trust: Trust) -> AgentSession {
        let mut options = AgentOptions::new("agent", "1").lock_file(&self.0);
        options.trust = trust;
        AgentSession::find(options).unwrap()
    }

    pub(super) fn attached(&self) -> AgentSession {
        let mut session = self.session();
        attach(&mut session, at(0));
        assert!(matches!(session.next_event(), Ok(Some(ClientEvent::Ready(_)))));
        session
    }
}

impl Drop for LockFile {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(self.0.parent().unwrap());
    }
}

pub(super) fn at(seconds: u64) -> Time {
    Time::from_millis(seconds * 1000)
}

pub(super) fn addr(port: u16) -> io::Result<SocketAddr> {
    Ok(SocketAddr::from(([127, 0, 0, 1], port)))
}

pub(super) fn connect(session: &mut AgentSession, now: Time) {
    assert_eq!(session.step(now), AgentStep::Connect { host: "127.0.0.1".into(), port: PORT });
}

/// Attaches to an editor in memory. Returns the machine of the connection.
pub(super) fn attach(session: &mut AgentSession, now: Time) -> Client {
    connect(session, now);
    assert!(session.on_connected(now, addr(1), addr(PORT)));
    open(session, now)
}

/// Opens the session on a socket that has connected.
pub(super) fn open(session: &mut AgentSession, now: Time) -> Client {
    let mut client: Client = session.machine(now).unwrap();
    let token = AuthToken::from_text("a".repeat(32)).unwrap();
    let mut policy = Policy::new(PORT, Auth::Token(token));
    policy.paths = ["/", "/mcp", "/own"].map(String::from).into();
    let config = ServerConfig::new("E", "1").policy(policy);
    let mut server = Server::new(config);
    let conn = server.connect(now);
    while !session.is_attached() {
        assert!(session.has_connection(), "the editor admits the agent");
        loop {
            match client.poll(now) {
                Output::Event(event) => session.on_event(now, event),
                Output::Write { bytes, .. } => {
                    server.feed(now, conn, bytes);
                    let n = bytes.len();
                    client.written(n);
                }
                Output::Close(()) | Output::Wait(_) => break,
            }
        }
        loop {
            match server.poll(now) {
                Output::Event(_) => {}
                Output::Write { bytes, .. } => {
                    client.feed(now, bytes);
                    let n = bytes.len();
                    server.written(conn, n);
                }
                Output::Close(_) | Output::Wait(_) => break,
            }
        }
    }
    client
}

/// Runs a pass of a machine, and returns its events and what it writes.
pub(super) fn pass<M: Machine>(machine: &mut M, now: Time) -> (Vec<M::Event>, Vec<u8>) {
    let (mut events, mut output) = (Vec::new(), Vec::new());
    loop {
        match machine.poll(now) {
            Output::Event(event) => events.push(event),
            Output::Write { conn, bytes } => {
                let n = bytes.len();
                output.extend_from_slice(bytes);
                machine.written(conn, n);
            }
            Output::Close(_) => {}
            Output::Wait(_) => return (events, output),
        }
    }
}

pub(super) fn foreign() -> ConnectError {
    ConnectError::NotTrusted(Error::PortNotOurs { addr: addr(PORT).unwrap(), owner: 1, us: 2 })
}

pub(super) fn refused() -> ClientEvent {
    answered(401)
}

pub(super) fn answered(status: u16) -> ClientEvent {
    ClientEvent::Closed(Closed::NotAccepted(NotAccepted::Status(status, "".into())))
}

pub(super) fn lose(session: &mut AgentSession, now: Time) {
    session.on_event(now, ClientEvent::Closed(Closed::Abnormal));
    assert!(matches!(session.next_event(), Ok(Some(ClientEvent::Closed(Closed::Abnormal)))));
}
