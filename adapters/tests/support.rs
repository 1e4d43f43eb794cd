//! The tools of the cases: an editor that answers, and agents.

use crate::adapter::{Adapter, Editor};
use crate::plain::{PATIENCE, Upto, script};
use ide_mcp::ide::discovery::{AuthToken, LockFile};
use ide_mcp::ide::tool::{
    Call, DiffOutcome, GetDiagnostics, OpenDiff, Tool, ToolArguments, ToolCall, ToolSet,
};
use ide_mcp::ide::{
    AgentId, Auth, Client, ClientConfig, ClientEvent, LockFileEvent, Policy, Server, ServerConfig,
    ServerEvent,
};
use ide_mcp::mcp::{Implementation, Outcome, ToolResult};
use ide_mcp::rpc::{CallId, SessionId};
use ide_mcp::{Clock, Time, ws};
use ide_mcp_driver::{Bind, StartOptions};
use ide_mcp_lockfile::{Error, LockDir, new_token};
use std::fs;
use std::io;
use std::io::Write;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// An editor that answers, and counts its events.
pub(crate) struct World<A: Adapter> {
    pub(crate) editor: A::Editor,
    pub(crate) seen: Seen,
    pub(crate) token: AuthToken,
    clock: Clock,
}

#[derive(Default)]
pub(crate) struct Seen {
    /// The diffs that are not decided yet; always empty if `accepts` is true.
    pub(crate) open: Vec<(Call<OpenDiff>, OpenDiff)>,
    pub(crate) accepts: bool,
    /// True if calls of `getDiagnostics` are answered after the turn that brought them.
    pub(crate) answers_late: bool,
    late: Vec<CallId>,
    pub(crate) ready: Vec<AgentId>,
    pub(crate) calls: usize,
    pub(crate) notifications: usize,
    pub(crate) closed: Vec<(AgentId, ws::Closed)>,
    pub(crate) lock_file: Vec<LockFileEvent>,
    /// How many mentions have expired.
    pub(crate) expired: usize,
}

/// Ports for editors whose port matters after their end. The system might give an ephemeral port to another
/// program as soon as its editor has ended; these ports it gives only to a program that asks for them.
pub(crate) const LASTING: RangeInclusive<u16> = 10_000..=32_000;

/// Waits until an ended editor has freed its port: a process that another test starts may inherit the listener for
/// a moment.
pub(crate) fn await_port(port: u16) {
    let clock = Clock::new();
    while let Err(error) = TcpListener::bind(("127.0.0.1", port)) {
        assert!(clock.now() < Time::ZERO.saturating_add(PATIENCE), "port {port}: {error}");
        thread::sleep(Duration::from_millis(5));
    }
}

impl<A: Adapter> World<A> {
    pub(crate) fn new() -> Self {
        Self::with(|_| {})
    }

    /// Creates an editor, and changes its default settings first.
    pub(crate) fn with(change: impl FnOnce(&mut ServerConfig)) -> Self {
        Self::bound(Bind::AnyPort, new_token().unwrap(), change).unwrap()
    }

    /// Creates an editor that you can start [`again`](Self::again), or whose port must stay free after its end.
    pub(crate) fn lasting() -> Self {
        Self::bound(Bind::Ports(LASTING), new_token().unwrap(), |_| {}).unwrap()
    }

    /// Starts an editor again on its old port.
    pub(crate) fn again(port: u16, token: AuthToken) -> Self {
        await_port(port);
        Self::bound(Bind::Port(port), token, |_| {}).unwrap()
    }

    fn bound(bind: Bind, token: AuthToken, change: impl FnOnce(&mut ServerConfig)) -> io::Result<Self> {
        let mut config = config(Policy::new(0, Auth::Token(token.clone())));
        change(&mut config);
        let editor = A::Editor::bind(bind, config)?;
        Ok(Self { editor, seen: Seen::default(), token, clock: Clock::new() })
    }

    /// Starts an editor from options.
    pub(crate) fn start(options: StartOptions) -> Self {
        let editor = A::Editor::start(options).unwrap();
        let token = editor.token().unwrap().clone();
        Self { editor, seen: Seen::default(), token, clock: Clock::new() }
    }

    pub(crate) fn addr(&self) -> SocketAddr {
        self.editor.local_addr()
    }

    /// Waits once, for 20 ms at most.
    pub(crate) fn step(&mut self) {
        self.step_for(Duration::from_millis(20));
    }

    pub(crate) fn step_for(&mut self, at_most: Duration) {
        assert!(self.clock.now() < Time::ZERO.saturating_add(PATIENCE), "it takes too long");
        let seen = &mut self.seen;
        self.editor.step(at_most, |server, event| seen.note(server, event));
        for call in seen.late.drain(..) {
            let _ = self.editor.machine_mut().call(call).respond(&ToolResult::text("[]"));
        }
    }

    pub(crate) fn until(&mut self, mut done: impl FnMut(&mut Self) -> bool) {
        while !done(self) {
            self.step();
        }
    }

    /// Steps until the thread has ended.
    pub(crate) fn serve<T>(&mut self, thread: JoinHandle<T>) -> T {
        self.until(|_| thread.is_finished());
        thread.join().unwrap()
    }

    pub(crate) fn connections(&mut self) -> usize {
        self.editor.machine_mut().connections().count()
    }

    /// Returns how many agents are attached.
    pub(crate) fn attached(&mut self) -> usize {
        self.editor.machine_mut().agents().count()
    }

    /// Starts an agent over the same adapter, on its own thread. The agent makes a call, and stays attached
    /// if `stays` is true.
    pub(crate) fn agent(
        &self,
        request: impl ToolArguments + Send + 'static,
        stays: bool,
    ) -> JoinHandle<Report> {
        agent_with::<A>(self.addr(), &self.token, request, stays)
    }

    pub(crate) fn token(&self) -> &AuthToken {
        &self.token
    }

    /// Returns a connected socket that has sent what an attaching client sends until it has got this far.
    /// Nothing was read from it.
    pub(crate) fn plain(&self, upto: Upto) -> TcpStream {
        let mut stream = TcpStream::connect(self.addr()).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.write_all(&script(&self.token, self.addr().port(), upto)).unwrap();
        stream
    }
}

impl Seen {
    fn note(&mut self, server: &mut Server, event: ServerEvent) {
        match event {
            ServerEvent::LockFile(event) => self.lock_file.push(event),
            ServerEvent::MentionExpired { .. } => self.expired += 1,
            ServerEvent::Ready { agent, .. } => self.ready.push(agent),
            ServerEvent::Call { call: ToolCall::OpenDiff(call, diff), .. } => {
                self.calls += 1;
                if self.accepts {
                    server.answer(call, &DiffOutcome::Accepted { contents: diff.new_file_contents }).unwrap();
                } else {
                    self.open.push((call, diff));
                }
            }
            ServerEvent::Call { call, .. } => {
                self.calls += 1;
                if self.answers_late {
                    return self.late.push(call.id());
                }
                server.call(call).respond(&ToolResult::text("[]")).unwrap();
            }
            ServerEvent::DiffClosed { call, .. } => self.open.retain(|(open, _)| open.id() != call),
            ServerEvent::Notification { .. } => self.notifications += 1,
            ServerEvent::Closed { agent, reason: closed } => {
                assert!(self.closed.iter().all(|(known, _)| *known != agent), "{agent:?} ends twice");
                self.closed.push((agent, closed));
            }
            _ => {}
        }
    }
}

pub(crate) fn config(policy: Policy) -> ServerConfig {
    let tools = ToolSet::new().handle(Tool::GetDiagnostics).handle(Tool::OpenDiff);
    ServerConfig::new("editor", "1").policy(policy).tools(tools)
}

/// What an agent has received.
pub(crate) struct Report {
    /// The texts of its answers.
    pub(crate) answers: Vec<Vec<String>>,
    pub(crate) closed: ws::Closed,
}

pub(crate) fn diagnostics() -> GetDiagnostics {
    GetDiagnostics::default()
}

pub(crate) fn proposal(text: impl Into<String>) -> OpenDiff {
    OpenDiff::new("/w/a", text, "t")
}

pub(crate) fn agent_with<A: Adapter>(
    addr: SocketAddr,
    token: &AuthToken,
    request: impl ToolArguments + Send + 'static,
    stays: bool,
) -> JoinHandle<Report> {
    let config = ClientConfig::new(Implementation::new("agent", "1"), addr.port(), Some(token.clone()));
    thread::spawn(move || {
        let machine = Client::new(config, getrandom::fill, SessionId::new(1), Time::ZERO).unwrap();
        let mut talk = Talk::new(request, stays);
        A::connect(addr, machine, |machine, event| talk.event(machine, event)).unwrap();
        talk.report()
    })
}

/// The requests that an agent sends, and the answers that it receives.
pub(crate) struct Talk<T> {
    request: T,
    stays: bool,
    answers: Vec<Vec<String>>,
    closed: Option<ws::Closed>,
}

impl<T: ToolArguments> Talk<T> {
    pub(crate) fn new(request: T, stays: bool) -> Self {
        Self { request, stays, answers: Vec::new(), closed: None }
    }

    pub(crate) fn event(&mut self, machine: &mut Client, event: ClientEvent) {
        match event {
            ClientEvent::Ready(_) => drop(machine.call_tool(&self.request).unwrap()),
            ClientEvent::Outcome { outcome, .. } => {
                assert!(matches!(outcome, Outcome::Result(_)), "{outcome:?}");
                if let Outcome::Result(raw) = outcome {
                    let result = ToolResult::read(&raw).unwrap();
                    self.answers.push(result.texts().map(str::to_owned).collect());
                }
                if !self.stays {
                    machine.close();
                }
            }
            ClientEvent::Closed(closed) => self.closed = Some(closed),
            _ => {}
        }
    }

    pub(crate) fn report(self) -> Report {
        Report { answers: self.answers, closed: self.closed.unwrap() }
    }
}

/// A new directory, removed when it is dropped.
pub(crate) struct TempDir(pub(crate) PathBuf);

impl TempDir {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("ide-mcp-adapters-{}-{count}", std::process::id());
        Self(std::env::temp_dir().canonicalize().unwrap().join(name))
    }

    pub(crate) fn publish<A: Adapter>(&self, world: &mut World<A>) -> Result<(), Error> {
        let file = LockFile::new(std::process::id(), vec!["/w".into()], "editor", world.token.clone());
        world.editor.publish(&LockDir::create(&self.0)?, &file)
    }
}

impl Drop for TempDir {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
