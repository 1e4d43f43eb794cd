//! The parts of the server that only this adapter has: the tokens of a `Poll`, and a time that the
//! test sets. The tests in `adapters/tests` cover everything else for all adapters at once.

use getrandom::SysRng;
use ide_mcp::ide::{
    AuthToken, Client, ClientConfig, ClientEvent, GetDiagnostics, Host, HostConfig, HostEvent, LockFile,
    Policy, ServerConfig, ServerEvent, Tool, ToolSet,
};
use ide_mcp::mcp::{Implementation, ToolResult};
use ide_mcp::rpc::SessionId;
use ide_mcp::{Clock, Time, ws};
use ide_mcp_blocking::Conn;
use ide_mcp_lockfile::{Error, LockDir, new_token};
use ide_mcp_mio::{Bind, Server};
use mio::{Events, Poll, Token};
use std::fs;
use std::io::ErrorKind;
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

/// The time after which a test fails: longer than any step takes on a busy machine. A test that
/// passes never waits for it.
const PATIENCE: Duration = Duration::from_secs(60);

const BASE: Token = Token(1000);

/// An editor that answers `getDiagnostics`, and its loop.
struct Editor {
    poll: Poll,
    events: Events,
    clock: Clock,
    server: Server,
    token: AuthToken,
    /// The time that the test has skipped.
    skipped: Duration,
}

impl Editor {
    fn new() -> Self {
        let (poll, token) = (Poll::new().unwrap(), new_token().unwrap());
        let config = config(Policy::new(0, token.clone()));
        let server = Server::bind(Bind::AnyPort, config, poll.registry(), BASE).unwrap();
        let events = Events::with_capacity(64);
        Self { poll, events, clock: Clock::new(), server, token, skipped: Duration::ZERO }
    }

    fn now(&self) -> Time {
        self.clock.now().saturating_add(self.skipped)
    }

    /// Waits once, for 20 ms at most, and takes a turn.
    fn step(&mut self, mut on: impl FnMut(&mut Host, HostEvent)) {
        let now = self.now();
        assert!(self.clock.now() < Time::ZERO.saturating_add(PATIENCE), "it takes too long");
        let wait = self.server.deadline(now).map_or(PATIENCE, |at| at.saturating_since(now));
        match self.poll.poll(&mut self.events, Some(wait.min(Duration::from_millis(20)))) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            polled => polled.unwrap(),
        }
        for event in &self.events {
            assert!(self.server.handle(event), "only the server is registered: {event:?}");
        }
        let now = self.now();
        self.server.turn(now, |host, event| {
            if let HostEvent::Agent { event: ServerEvent::Call(call), .. } = &event {
                host.call(call.id()).respond(&ToolResult::diagnostics(&[])).unwrap();
            }
            on(host, event);
        });
    }

    /// Steps until the thread has ended.
    fn serve<T>(&mut self, client: thread::JoinHandle<T>) -> T {
        while !client.is_finished() {
            self.step(|_, _| {});
        }
        client.join().unwrap()
    }
}

fn config(policy: Policy) -> HostConfig {
    let tools = ToolSet::new().handle(Tool::GetDiagnostics);
    HostConfig::new(ServerConfig::new(Implementation::new("editor", "1"), policy, tools))
}

/// Starts an agent on a thread of its own, which attaches, calls a tool once, and leaves. Returns how
/// the connection ended.
fn agent(port: u16, token: &AuthToken) -> thread::JoinHandle<(usize, ws::Closed)> {
    let config = ClientConfig::new(Implementation::new("agent", "1"), port, Some(token.clone()));
    thread::spawn(move || {
        let machine = Client::new(config, SysRng, SessionId::new(1), Time::ZERO).unwrap();
        let mut conn = Conn::connect((Ipv4Addr::LOCALHOST, port), machine).unwrap();
        let (mut answers, mut closed) = (0, None);
        while let Some(event) = conn.next_event() {
            match event {
                ClientEvent::Ready(_) => {
                    conn.machine_mut().call(&GetDiagnostics::default()).unwrap();
                }
                ClientEvent::Outcome { .. } => {
                    answers += 1;
                    conn.machine_mut().close();
                }
                ClientEvent::Closed(end) => closed = Some(end),
                _ => {}
            }
        }
        (answers, closed.unwrap())
    })
}

/// A new directory. Dropping this value removes it.
struct TempDir(PathBuf);

impl TempDir {
    fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("ide-mcp-mio-{}-{}", process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        Self(std::env::temp_dir().canonicalize().unwrap().join(name))
    }

    fn publish(&self, editor: &mut Editor) -> Result<(), Error> {
        let file = LockFile::new(process::id(), vec!["/w".into()], "editor", editor.token.clone());
        editor.server.publish(&LockDir::create(&self.0)?, &file)
    }
}

impl Drop for TempDir {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn an_agent_attaches_calls_and_leaves() {
    let mut editor = Editor::new();
    assert!(editor.server.local_addr().ip().is_loopback());
    assert_ne!(editor.server.port(), 0);
    for _ in 0..3 {
        let agent = agent(editor.server.port(), &editor.token);
        let (answers, closed) = editor.serve(agent);
        assert_eq!((answers, closed), (1, ws::Closed::Local { clean: true }));
    }
    while editor.server.host().connections().next().is_some() {
        editor.step(|_, _| {});
    }
    // No client is attached, so the server has nothing to do.
    let until = editor.now().saturating_add(Duration::from_millis(1500));
    while editor.now() < until {
        editor.step(|_, _| {});
    }
    let now = editor.now();
    assert_eq!(editor.server.deadline(now), None);
}

#[test]
fn l06_a_lock_file_that_vanishes_comes_back() {
    let (dir, mut editor) = (TempDir::new(), Editor::new());
    dir.publish(&mut editor).unwrap();
    let path = editor.server.lock_path().unwrap().to_owned();
    editor.step(|_, _| {});
    fs::remove_file(&path).unwrap();
    let mut events = Vec::new();
    for _ in 0..3 {
        editor.step(|_, event| events.push(format!("{event:?}")));
        // Without notifications the guard looks after an interval.
        editor.skipped += Duration::from_secs(if cfg!(target_os = "linux") { 0 } else { 5 });
    }
    assert!(path.exists());
    let lost = if cfg!(target_os = "linux") { vec!["LockFile(Lost)"] } else { vec![] };
    assert_eq!(events, [lost, vec!["LockFile(Restored)"]].concat());
    let other = LockFile::new(1, vec![], "other", editor.token.clone());
    editor.server.update_lock_file(&other).unwrap();
    assert!(fs::read_to_string(&path).unwrap().contains("other"));
    // Another publication takes the place of the file.
    let elsewhere = TempDir::new();
    elsewhere.publish(&mut editor).unwrap();
    assert!(!path.exists());
    assert!(editor.server.lock_path().unwrap().starts_with(&elsewhere.0));
}

/// Waits longer than the interval at which a guard looks without notifications.
#[cfg(target_os = "linux")]
#[test]
fn idle_server_with_guard_never_wakes() {
    let (dir, mut editor) = (TempDir::new(), Editor::new());
    dir.publish(&mut editor).unwrap();
    for _ in 0..3 {
        editor.step(|_, event| panic!("{event:?}"));
    }
    let now = editor.now();
    assert_eq!(editor.server.deadline(now), None);
    editor.poll.poll(&mut editor.events, Some(Duration::from_millis(5_500))).unwrap();
    assert!(editor.events.is_empty(), "{:?}", editor.events);
    let now = editor.now();
    assert_eq!(editor.server.deadline(now), None);
}

#[test]
fn it_owns_its_tokens_and_no_others() {
    let editor = Editor::new();
    let cases = [("below", 999, false), ("first", 1000, true), ("last", 2023, true), ("above", 2024, false)];
    for (name, token, owns) in cases {
        assert_eq!(editor.server.owns(Token(token)), owns, "{name}");
    }
    assert!(!editor.server.owns(Token(0)) && !editor.server.owns(Token(usize::MAX)));
}
