//! The server of an editor, over real loopback sockets and a real directory. Time is what the test says it is.

#![allow(clippy::unwrap_used, clippy::wildcard_enum_match_arm, reason = "a test states what it expects")]

use getrandom::SysRng;
use ide_mcp::ide::{
    AuthToken, Client, ClientConfig, ClientEvent, Host, HostConfig, HostEvent, LockFile, Policy,
    ServerConfig, ServerEvent, Tool, ToolRequest, ToolSet,
};
use ide_mcp::mcp::{Implementation, ToolResult};
use ide_mcp::rpc::SessionId;
use ide_mcp::{Clock, Time, ws};
use ide_mcp_blocking::Conn;
use ide_mcp_lockfile::{Error, LockDir, new_token};
use ide_mcp_mio::{Bind, Server};
use mio::{Events, Poll, Token};
use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::PathBuf;
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Barrier, mpsc};
use std::thread;
use std::time::Duration;

/// Longer than anything here may take on a busy machine; nothing waits for it where all is well.
const PATIENCE: Duration = Duration::from_secs(60);

const BASE: Token = Token(1000);

/// An editor that answers `getDiagnostics`, and its loop.
struct Editor {
    poll: Poll,
    events: Events,
    clock: Clock,
    server: Server,
    token: AuthToken,
    /// The time that has been skipped.
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
        self.clock.now().after(self.skipped)
    }

    /// Waits once, for a little while at most, and takes a turn.
    fn step(&mut self, mut on: impl FnMut(&mut Host, HostEvent)) {
        let now = self.now();
        assert!(self.clock.now() < Time::ZERO.after(PATIENCE), "it takes too long");
        let wait = self.server.deadline(now).map_or(PATIENCE, |at| at.since(now));
        match self.poll.poll(&mut self.events, Some(wait.min(Duration::from_millis(20)))) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            polled => polled.unwrap(),
        }
        for event in &self.events {
            assert!(self.server.handle(event), "only the server is registered: {event:?}");
        }
        let now = self.now();
        self.server.turn(now, |host, event| {
            if let HostEvent::Connection { event: ServerEvent::Call { call, .. }, .. } = &event {
                host.respond(*call, &ToolResult::text("none")).unwrap();
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

/// An agent on a thread of its own: attaches, calls a tool once, and stays until the editor closes if it is to. How the
/// connection ended.
fn agent(port: u16, token: &AuthToken, stays: bool) -> thread::JoinHandle<(usize, ws::Closed)> {
    let config = ClientConfig::new(Implementation::new("agent", "1"), port, Some(token.clone()));
    thread::spawn(move || {
        let machine = Client::new(config, SysRng, SessionId::new(1), Time::ZERO).unwrap();
        let mut conn = Conn::connect((Ipv4Addr::LOCALHOST, port), machine).unwrap();
        let (mut answers, mut closed) = (0, None);
        while let Some(event) = conn.next_event() {
            match event {
                ClientEvent::Ready(_) => {
                    conn.machine_mut().call(&ToolRequest::GetDiagnostics(Default::default())).unwrap();
                }
                ClientEvent::Outcome { .. } => {
                    answers += 1;
                    if !stays {
                        conn.machine_mut().close();
                    }
                }
                ClientEvent::Closed(end) => closed = Some(end),
                _ => {}
            }
        }
        (answers, closed.unwrap())
    })
}

/// A new directory that is removed with this.
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
        let agent = agent(editor.server.port(), &editor.token, false);
        let (answers, closed) = editor.serve(agent);
        assert_eq!((answers, closed), (1, ws::Closed::ByUs { answered: true }));
    }
    while editor.server.host().connections().next().is_some() {
        editor.step(|_, _| {});
    }
    // Nobody is there: it waits for as long as there is nothing to do.
    let until = editor.now().after(Duration::from_millis(1500));
    while editor.now() < until {
        editor.step(|_, _| {});
    }
    let now = editor.now();
    assert_eq!(editor.server.deadline(now), None);
}

#[test]
fn several_agents_are_served_at_once() {
    let mut editor = Editor::new();
    let agents: Vec<_> = (0..8).map(|_| agent(editor.server.port(), &editor.token, false)).collect();
    for agent in agents {
        assert_eq!(editor.serve(agent), (1, ws::Closed::ByUs { answered: true }));
    }
}

#[test]
fn a_wrong_token_is_told_so_before_the_reset() {
    let mut editor = Editor::new();
    let wrong = new_token().unwrap();
    let (answers, closed) = {
        let agent = agent(editor.server.port(), &wrong, false);
        editor.serve(agent)
    };
    assert_eq!(answers, 0);
    assert!(matches!(closed, ws::Closed::NotAccepted(_)), "{closed:?}");
}

#[test]
fn shutting_down_removes_the_lock_file_and_says_goodbye() {
    let (dir, mut editor) = (TempDir::new(), Editor::new());
    dir.publish(&mut editor).unwrap();
    let path = editor.server.published().unwrap().path().to_owned();
    let agent = agent(editor.server.port(), &editor.token, true);
    let mut answered = false;
    while !answered {
        editor.step(|_, event| {
            answered |= matches!(event, HostEvent::Connection { event: ServerEvent::Call { .. }, .. });
        });
    }
    assert!(path.exists());
    let now = editor.now();
    editor.server.shutdown(now);
    assert!(!path.exists());
    assert!(editor.server.lock_error().is_none());
    assert!(TcpStream::connect(editor.server.local_addr()).is_err(), "nobody listens any more");
    while !editor.server.is_over() {
        editor.step(|_, _| {});
    }
    let (answers, closed) = agent.join().unwrap();
    assert_eq!(answers, 1);
    let going_away = Some(ws::CloseCode::GOING_AWAY);
    assert!(matches!(closed, ws::Closed::ByPeer { code, .. } if code == going_away), "{closed:?}");
    assert!(matches!(dir.publish(&mut editor), Err(Error::PortZero)));
}

#[test]
fn l05_a_lock_file_never_names_a_port_where_nobody_listens() {
    for round in 0..50 {
        let (dir, mut editor) = (TempDir::new(), Editor::new());
        let addr = editor.server.local_addr();
        dir.publish(&mut editor).unwrap();
        let path = editor.server.published().unwrap().path().to_owned();
        let (begun, begins) = mpsc::channel();
        let observer = thread::spawn(move || {
            while path.exists() {
                // It may go while we connect, but not before the file has.
                let connected = TcpStream::connect(addr).is_ok();
                assert!(connected || !path.exists(), "round {round}: the file is there and nobody listens");
                let _ = begun.send(());
            }
        });
        begins.recv().unwrap();
        if round % 2 == 0 {
            editor.server.shutdown(Time::ZERO);
        }
        drop(editor);
        observer.join().unwrap();
    }
}

#[test]
fn l06_a_lock_file_that_vanishes_comes_back() {
    let (dir, mut editor) = (TempDir::new(), Editor::new());
    dir.publish(&mut editor).unwrap();
    let path = editor.server.published().unwrap().path().to_owned();
    editor.step(|_, _| {});
    fs::remove_file(&path).unwrap();
    editor.step(|_, _| {});
    assert!(!path.exists(), "its time has not come");
    let now = editor.now();
    assert!(editor.server.deadline(now).unwrap() <= now.after(Duration::from_secs(5)));
    editor.skipped += Duration::from_secs(5);
    editor.step(|_, _| {});
    assert!(path.exists());
    editor
        .server
        .published_mut()
        .unwrap()
        .update(&LockFile::new(1, vec![], "other", editor.token.clone()))
        .unwrap();
    assert!(fs::read_to_string(&path).unwrap().contains("other"));
    // Another publication takes its place.
    let elsewhere = TempDir::new();
    elsewhere.publish(&mut editor).unwrap();
    assert!(!path.exists());
    assert!(editor.server.published().unwrap().path().starts_with(&elsewhere.0));
}

#[test]
fn n05_a_crowd_of_strangers_keeps_nobody_out() {
    let mut editor = Editor::new();
    let addr = editor.server.local_addr();
    let (mut crowd, mut most) = (Vec::new(), 0);
    // In groups that the system lets wait; more at once would have to knock again a second later.
    for _ in 0..20 {
        for _ in 0..50 {
            let mut stranger = TcpStream::connect(addr).unwrap();
            let _ = stranger.write_all(b"G");
            crowd.push(stranger);
        }
        loop {
            editor.step(|_, _| {});
            most = most.max(editor.server.host().connections().count());
            let now = editor.now();
            if editor.server.deadline(now) != Some(now) {
                break;
            }
        }
    }
    let agent = agent(editor.server.port(), &editor.token, false);
    assert_eq!(editor.serve(agent), (1, ws::Closed::ByUs { answered: true }));
    while editor.server.host().connections().count() > 8 {
        editor.step(|_, _| {});
    }
    assert!(most <= 8 + 4, "{most} connections at once");
    let mut gone = 0;
    for mut stranger in crowd {
        stranger.set_nonblocking(true).unwrap();
        gone += usize::from(
            !matches!(stranger.read(&mut [0]), Err(error) if error.kind() == ErrorKind::WouldBlock),
        );
    }
    assert!(gone >= 1000 - 8, "{gone} have been let go");
}

#[test]
fn n04_where_it_listens() {
    let poll = Poll::new().unwrap();
    let bind = |bind, config| Server::bind(bind, config, poll.registry(), BASE);
    let token = || Policy::new(0, new_token().unwrap());
    let first = bind(Bind::default(), config(token())).unwrap();
    let port = first.port();
    assert_eq!(bind(Bind::Port(port), config(token())).unwrap_err().kind(), ErrorKind::AddrInUse);
    assert_eq!(bind(Bind::Ports(port..=port), config(token())).unwrap_err().kind(), ErrorKind::AddrInUse);
    if let Some(next) = port.checked_add(50) {
        let ranged = bind(Bind::Ports(port..=next), config(token())).unwrap();
        assert!(ranged.port() > port && ranged.port() <= next);
        assert!(ranged.local_addr().ip().is_loopback());
    }
    // An agent that was attached looks for the port of before; where somebody else has it, any will do.
    assert_ne!(bind(Bind::Resume(port), config(token())).unwrap().port(), port);
    drop(first);
    assert_eq!(bind(Bind::Resume(port), config(token())).unwrap().port(), port);
    let exposed = Bind::ExposedToOtherMachines(SocketAddr::from(([0, 0, 0, 0], 0)));
    let open = config(Policy::without_authentication(0));
    assert_eq!(bind(exposed.clone(), open.clone()).unwrap_err().kind(), ErrorKind::InvalidInput);
    assert!(bind(exposed, config(token())).unwrap().local_addr().ip().is_unspecified());
    assert!(bind(Bind::ExposedToOtherMachines(SocketAddr::from(([127, 0, 0, 1], 0))), open).is_ok());
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

/// Two at a time, a thousand times; each has its port and its lock file.
#[test]
fn n06_two_servers_that_start_at_once_never_collide() {
    let dir = TempDir::new();
    let both = Barrier::new(2);
    let start = || {
        let (mut ports, lock_dir) = (Vec::new(), LockDir::create(&dir.0).unwrap());
        for _ in 0..1000 {
            both.wait();
            let mut editor = Editor::new();
            let file = LockFile::new(1, vec!["/w".into()], "editor", editor.token.clone());
            editor.server.publish(&lock_dir, &file).unwrap();
            both.wait();
            let path = editor.server.published().unwrap().path();
            assert_eq!(LockFile::parse(&fs::read_to_string(path).unwrap()).unwrap(), file);
            ports.push(editor.server.port());
        }
        ports
    };
    let (one, other) = thread::scope(|scope| {
        let (one, other) = (scope.spawn(start), scope.spawn(start));
        (one.join().unwrap(), other.join().unwrap())
    });
    assert!(one.iter().zip(&other).all(|(one, other)| one != other));
    assert_eq!(fs::read_dir(&dir.0).unwrap().count(), 0, "each removed its own");
}
