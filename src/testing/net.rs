//! A server and its connections, joined in memory, with virtual time.

use alloc::vec::Vec;
use core::time::Duration;

use arbitrary::{Arbitrary, Unstructured};

use super::pair::{NEVER_IDLE, PATIENCE, assert_moves_on, earlier, never_idle, turn};
use super::{AgentAct, Change, Link, Pair, Random, Step, Way, script};
use crate::{
    Output, Time,
    ide::discovery::AuthToken,
    ide::{Auth, Client, ClientConfig, ClientEvent, ConnId, Server, ServerConfig, ServerEvent},
    mcp::Implementation,
    rpc::{RequestId, SessionId},
};

/// How many connections a script may open.
const MAX_CONNECTIONS: usize = 64;

/// A [`Server`] with any number of agents, and with programs that send arbitrary bytes.
///
/// ```text
///                ┌─ to_server: Link ◀─┐
///  Server ◀────────┤                  ├──▶ Client, or bytes of a program that is not an agent
///   │            └─ to_peer: Link ──┘         (as often as there are connections)
///   └──▶ ServerEvent ──▶ the application under test
/// ```
///
/// A net passes each event of the server to the application, a function that you pass to its methods. Time passes only
/// in [`advance`](Net::advance) and in the steps of a script.
///
/// To test one answer, or the arguments of one call, use [`Pair::attach`] instead: a net shows what the editor gets, not
/// what the agents get. You can compare
/// events, but you cannot make a [`Call`](crate::ide::tool::Call): compare its id with
/// [`AgentId::call`](crate::ide::AgentId::call), which counts from 1.
///
/// # A fuzz target for an editor
///
/// The application is the function that handles the events of your editor. One line turns `fuzz` into a fuzz target:
/// `libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz(data));`
///
/// ```
/// use ide_mcp::ide::tool::{Diagnostics, Tool, ToolCall};
/// use ide_mcp::ide::{Server, ServerConfig, ServerEvent};
/// use ide_mcp::rpc::ErrorObject;
/// use ide_mcp::testing::Net;
///
/// fn on_event(server: &mut Server, event: ServerEvent) {
///     let ServerEvent::Call { call, .. } = event else { return };
///     // An error means that the call has ended in the meantime.
///     let _ = match call {
///         ToolCall::OpenDiff(call, diff) => server.answer(call, &diff.accept()),
///         ToolCall::GetDiagnostics(call, _) => server.answer(call, &Diagnostics { files: Vec::new() }),
///         other => server.call(other).fail(ErrorObject::method_not_found("this editor shows diffs and nothing else")),
///     };
/// }
///
/// fn fuzz(data: &[u8]) {
///     let tools = [Tool::OpenDiff, Tool::GetDiagnostics];
///     Net::new(ServerConfig::new("my editor", "1").tools(tools)).play_all(data, on_event);
/// }
///
/// fuzz(b"any bytes are a script, and equal bytes are equal scripts");
/// ```
#[derive(Debug)]
pub struct Net {
    server: Server,
    now: Time,
    agent: ClientConfig,
    connections: Vec<Connection>,
}

/// A step of a script for a [`Net`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NetAct {
    /// Another agent attaches.
    Attach,
    /// The agent with this number does this. The number is taken modulo the number of agents that have not ended; if
    /// all have ended, another one attaches.
    Agent(u8, AgentAct),
    /// A link of the connection with this number, modulo the number of connections, changes.
    Link(u8, Way, Change),
    /// A program that is not an agent connects, sends these bytes, and then only reads.
    Bytes(Vec<u8>),
}

impl<'a> Arbitrary<'a> for NetAct {
    /// Returns a step. Three of four are acts of agents.
    fn arbitrary(u: &mut Unstructured<'a>) -> arbitrary::Result<Self> {
        Ok(match u.int_in_range(0..=15)? {
            0 => Self::Attach,
            1 => Self::Link(u.arbitrary()?, u.arbitrary()?, u.arbitrary()?),
            2 | 3 => {
                let len = usize::from(u.arbitrary::<u8>()?).min(u.len());
                Self::Bytes(u.bytes(len)?.to_vec())
            }
            _ => Self::Agent(u.arbitrary()?, u.arbitrary()?),
        })
    }
}

#[derive(Debug)]
struct Connection {
    conn: ConnId,
    peer: Peer,
    to_server: Link,
    to_peer: Link,
}

#[derive(Debug)]
enum Peer {
    Agent {
        client: alloc::boxed::Box<Client>,
        open: Vec<RequestId>,
    },
    /// A program that sends these bytes, and reads until the end.
    Program(Vec<u8>),
}

/// Returns the configuration of an agent for this editor. Completes that of the editor as an adapter does when it
/// listens: with a port, and with a token for [`Auth::Generated`].
fn agent_for(config: &mut ServerConfig) -> ClientConfig {
    let policy = &mut config.policy;
    policy.port = policy.port.max(1);
    if matches!(policy.auth, Auth::Generated) {
        let Ok(token) = AuthToken::generate(Random::new(0).source());
        policy.auth = Auth::Token(token);
    }
    ClientConfig::new(Implementation::new("agent", "1"), policy.port, policy.auth.token().cloned())
}

/// Creates an agent with this number.
fn client(config: ClientConfig, number: usize, now: Time) -> Client {
    let seed = u64::try_from(number).unwrap_or(u64::MAX);
    #[allow(clippy::expect_used, reason = "its random bytes never fail, and its limits are the default ones")]
    Client::new(config, Random::new(seed).source(), SessionId::new(seed), now)
        .expect("a client with default limits")
}

impl Pair<Server, Client> {
    /// Creates an editor with this configuration and an agent, and lets the agent attach. As in a [`Net`], the
    /// configuration needs no port and no token.
    ///
    /// Use it to test what an agent gets: an answer, a selection, the end of a call.
    ///
    /// ```
    /// use ide_mcp::ide::tool::{Diagnostics, GetDiagnostics, Tool, ToolCall};
    /// use ide_mcp::ide::{ClientEvent, Server, ServerConfig, ServerEvent};
    /// use ide_mcp::testing::Pair;
    ///
    /// // The function of your editor.
    /// fn on_event(server: &mut Server, event: ServerEvent) {
    ///     if let ServerEvent::Call { call: ToolCall::GetDiagnostics(call, _), .. } = event {
    ///         let _ = server.answer(call, Diagnostics { files: Vec::new() });
    ///     }
    /// }
    ///
    /// let mut pair = Pair::attach(ServerConfig::new("my editor", "1.0").tools([Tool::GetDiagnostics]));
    /// let pending = pair.client.call_tool(&GetDiagnostics::default()).unwrap();
    /// pair.settle();
    /// for event in std::mem::take(&mut pair.server_events) {
    ///     on_event(&mut pair.server, event);
    /// }
    /// pair.settle();
    /// let outcome = pair.client_events.drain(..).find_map(|event| match event {
    ///     ClientEvent::Outcome { request, outcome } if request == pending.id() => Some(outcome),
    ///     _ => None,
    /// });
    /// assert!(pending.answer(outcome.unwrap()).unwrap().files.is_empty());
    /// ```
    #[must_use]
    pub fn attach(mut config: ServerConfig) -> Self {
        let client = client(agent_for(&mut config), 0, Time::ZERO);
        let mut server = Server::new(config);
        let conn = server.connect(Time::ZERO);
        let mut pair = Self::joined(server, conn, client, Time::ZERO);
        pair.settle_with(
            |server, event| {
                // An adapter looks up who owns the socket. This one is ours.
                if let ServerEvent::AdmissionPending { conn } = event {
                    server.admit(*conn);
                }
            },
            |_, _| {},
        );
        pair
    }
}

impl Net {
    /// Creates a net without connections at the time zero. Pass the configuration of your editor: as an adapter does,
    /// the net chooses a port and a token if the policy leaves them open, and its agents have both.
    #[must_use]
    pub fn new(mut config: ServerConfig) -> Self {
        let agent = agent_for(&mut config);
        Self { server: Server::new(config), now: Time::ZERO, agent, connections: Vec::new() }
    }

    /// Returns the server, for what the editor does on its own initiative.
    pub const fn server(&mut self) -> &mut Server {
        &mut self.server
    }

    /// Returns the time of the server and of all agents.
    #[must_use]
    pub const fn now(&self) -> Time {
        self.now
    }

    /// Connects an agent. Returns the number of its connection, counted from 0.
    pub fn attach(&mut self) -> usize {
        let client = client(self.agent.clone(), self.connections.len(), self.now);
        self.connect(Peer::Agent { client: client.into(), open: Vec::new() })
    }

    /// Connects a program that sends these bytes. Returns the number of its connection.
    fn connect_program(&mut self, bytes: &[u8]) -> usize {
        self.connect(Peer::Program(bytes.to_vec()))
    }

    fn connect(&mut self, peer: Peer) -> usize {
        let conn = self.server.connect(self.now);
        self.connections.push(Connection {
            conn,
            peer,
            to_server: Link::default(),
            to_peer: Link::default(),
        });
        self.connections.len().saturating_sub(1)
    }

    /// Makes the agent of a connection do this. Nothing happens if the connection has no agent.
    pub fn act(&mut self, number: usize, act: &AgentAct) {
        if let Some(Peer::Agent { client, open }) = self.connections.get_mut(number).map(|c| &mut c.peer) {
            act.on(client, open);
        }
    }

    /// Moves bytes and events until nothing more happens at this time. Each event of the server goes to `app`.
    ///
    /// # Panics
    ///
    /// Panics if the net does not become idle, or if a request of an agent ends twice.
    pub fn settle(&mut self, mut app: impl FnMut(&mut Server, ServerEvent)) {
        for _ in 0..NEVER_IDLE {
            let mut moved = self.pass(&mut app);
            for connection in &mut self.connections {
                moved |= connection.step(&mut self.server, self.now);
            }
            if !moved {
                return;
            }
        }
        never_idle()
    }

    /// Runs one pass of the server. Returns true if it did anything.
    fn pass(&mut self, app: &mut impl FnMut(&mut Server, ServerEvent)) -> bool {
        let mut moved = false;
        for _ in 0..NEVER_IDLE {
            match self.server.poll(self.now) {
                // An adapter looks up who owns the socket. All sockets here are ours.
                Output::Event(ServerEvent::AdmissionPending { conn }) => _ = self.server.admit(conn),
                Output::Event(event) => app(&mut self.server, event),
                Output::Write { conn, bytes } => {
                    let connection = self.connections.iter_mut().find(|connection| connection.conn == conn);
                    let n = connection.map_or(0, |connection| connection.to_peer.write(self.now, bytes));
                    self.server.written(conn, n);
                    if n == 0 {
                        continue;
                    }
                }
                Output::Close(conn) => {
                    if let Some(closed) = self.connections.iter_mut().find(|c| c.conn == conn) {
                        closed.to_peer.finish();
                        closed.to_server.abandon();
                    }
                }
                Output::Wait(until) => {
                    assert_moves_on(until, self.now);
                    return moved;
                }
            }
            moved = true;
        }
        never_idle()
    }

    /// Lets the time `span` pass, deadline by deadline.
    ///
    /// # Panics
    ///
    /// Panics as [`settle`](Net::settle) does.
    pub fn advance(&mut self, span: Duration, mut app: impl FnMut(&mut Server, ServerEvent)) {
        let end = self.now.saturating_add(span);
        for _ in 0..NEVER_IDLE {
            let due = self.deadline().filter(|due| *due < end).unwrap_or(end);
            self.now = due.max(self.now);
            self.settle(&mut app);
            if self.now >= end {
                return;
            }
        }
        never_idle()
    }

    /// Plays all steps that `data` encodes, and then ends everything as [`finish`](Net::finish) does. The same bytes
    /// always give the same steps.
    ///
    /// # Panics
    ///
    /// Panics as [`finish`](Net::finish) does.
    pub fn play_all(mut self, data: &[u8], mut app: impl FnMut(&mut Server, ServerEvent)) {
        self.attach();
        for step in script(data) {
            self.play(&step, &mut app);
        }
        self.finish(app);
    }

    /// Plays a step, and settles the net. [`Step::Link`] does not name a connection, and so changes the links of all
    /// connections.
    ///
    /// # Panics
    ///
    /// Panics as [`settle`](Net::settle) does.
    pub fn play(&mut self, step: &Step<NetAct>, mut app: impl FnMut(&mut Server, ServerEvent)) {
        let len = self.connections.len();
        match step {
            Step::Act(NetAct::Attach) if len < MAX_CONNECTIONS => _ = self.attach(),
            Step::Act(NetAct::Bytes(bytes)) if len < MAX_CONNECTIONS => _ = self.connect_program(bytes),
            Step::Act(NetAct::Attach | NetAct::Bytes(_)) => {}
            Step::Act(NetAct::Agent(number, act)) => match self.living_agent((*number).into()) {
                Some(number) => self.act(number, act),
                None if len < MAX_CONNECTIONS => _ = self.attach(),
                None => {}
            },
            Step::Act(NetAct::Link(number, way, change)) => {
                let number = usize::from(*number).checked_rem(len).unwrap_or_default();
                if let Some(connection) = self.connections.get_mut(number) {
                    connection.change(*way, *change, self.now);
                }
            }
            Step::Link(way, change) => {
                self.connections.iter_mut().for_each(|c| c.change(*way, *change, self.now));
            }
            Step::Wait(span) => self.advance(span.duration(), &mut app),
            Step::Sleep(span) => self.now = self.now.saturating_add(span.duration()),
            Step::Due => {
                let due = self.deadline().unwrap_or(self.now);
                self.advance(due.saturating_since(self.now), &mut app);
            }
        }
        self.settle(app);
    }

    /// Shuts the server down, breaks all connections after ten minutes, and checks that everything has
    /// ended.
    ///
    /// # Panics
    ///
    /// Panics as [`settle`](Net::settle) does, and if a request of an agent has no outcome, an agent
    /// has not ended, or the server still has a connection.
    pub fn finish(mut self, mut app: impl FnMut(&mut Server, ServerEvent)) {
        self.server.shutdown(self.now);
        self.settle(&mut app);
        self.advance(PATIENCE, &mut app);
        for connection in &mut self.connections {
            connection.to_server.cut();
            connection.to_peer.cut();
        }
        self.advance(PATIENCE, app);
        for Connection { peer, to_peer, .. } in &self.connections {
            if let Peer::Agent { open, .. } = peer {
                assert!(open.is_empty(), "requests without an outcome: {open:?}");
                assert!(to_peer.is_abandoned(), "the server has ended, and an agent has not");
            }
        }
        assert!(self.server.is_idle(), "the server was shut down and still has a connection");
    }

    /// Returns when the next timer is due or the next bytes arrive.
    #[must_use]
    pub fn deadline(&self) -> Option<Time> {
        self.connections.iter().fold(self.server.deadline(), |at, connection| {
            let Connection { peer, to_server, to_peer, .. } = connection;
            let client = match peer {
                Peer::Agent { client, .. } => client.deadline(),
                Peer::Program(_) => None,
            };
            let links = earlier(to_server.next_arrival(self.now), to_peer.next_arrival(self.now));
            earlier(earlier(at, client), links)
        })
    }

    /// Returns the number of the `nth` connection whose agent has not ended, modulo the number of these connections.
    fn living_agent(&self, nth: usize) -> Option<usize> {
        let is_living = |c: &Connection| matches!(c.peer, Peer::Agent { .. }) && !c.to_peer.is_abandoned();
        let living = || self.connections.iter().enumerate().filter(|(_, c)| is_living(c));
        living().nth(nth.checked_rem(living().count())?).map(|(number, _)| number)
    }
}

impl Connection {
    /// Lets the peer act, and moves bytes in both directions. Returns true if something happened.
    fn step(&mut self, server: &mut Server, now: Time) -> bool {
        let Self { conn, peer, to_server, to_peer } = self;
        let moved = match peer {
            Peer::Agent { client, open } => {
                let acted = turn(client.as_mut(), (), now, to_peer, to_server, |_, event| {
                    let ClientEvent::Outcome { request, .. } = event else { return };
                    let at = open.iter().position(|open| *open == request);
                    assert!(at.is_some(), "a request that is not open has an outcome: {request:?}");
                    at.map(|at| open.swap_remove(at));
                });
                acted | to_peer.deliver(now, client.as_mut(), ())
            }
            Peer::Program(unsent) => {
                let sent = to_server.write(now, unsent);
                unsent.drain(..sent.min(unsent.len()));
                let read = to_peer.read(now, &mut [0; 4096]);
                let ends = to_peer.take_end();
                if ends {
                    to_server.finish();
                    to_peer.abandon();
                }
                sent > 0 || read > 0 || ends
            }
        };
        moved | to_server.deliver(now, server, *conn)
    }

    fn change(&mut self, way: Way, change: Change, now: Time) {
        if change == Change::Cut {
            self.to_server.cut();
            self.to_peer.cut();
        } else if way == Way::ToServer {
            self.to_server.change(change, now);
        } else {
            self.to_peer.change(change, now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ide::tool::{Diagnostics, GetDiagnostics, Tool, ToolCall, ToolSet};
    use crate::ide::{Auth, Policy, ServerConfig, ServerEvent};
    use alloc::vec::Vec;

    fn net() -> Net {
        let policy = Policy::new(1, Auth::Disabled);
        let tools = ToolSet::new().handle(Tool::OpenDiff).handle(Tool::GetDiagnostics);
        let mut config = ServerConfig::new("e", "1").policy(policy).tools(tools);
        config.max_clients = 2;
        Net::new(config)
    }

    #[test]
    fn agents_attach_with_each_policy() {
        let token = AuthToken::from_text("a-token").unwrap();
        for (name, config) in [
            ("the default", None),
            ("a port", Some(Policy::new(7, Auth::Generated))),
            ("no port", Some(Policy::new(0, Auth::Disabled))),
            ("a token", Some(Policy::new(0, Auth::Token(token.clone())))),
            ("a resumed token", Some(Policy::new(0, Auth::Resumed(token)))),
        ]
        .map(|(name, policy)| {
            let config = ServerConfig::new("e", "1").tools([Tool::GetDiagnostics]);
            (name, policy.into_iter().fold(config, ServerConfig::policy))
        }) {
            let (mut net, mut calls) = (Net::new(config.clone()), 0);
            let agent = net.attach();
            net.settle(answer);
            net.act(agent, &AgentAct::GetDiagnostics);
            net.settle(|server, event| {
                calls += i32::from(matches!(&event, ServerEvent::Call { .. }));
                answer(server, event);
            });
            assert_eq!(calls, 1, "{name}");
            let mut pair = Pair::attach(config);
            assert!(pair.client.call_tool(&GetDiagnostics::default()).is_ok(), "{name}");
            pair.finish_with(|_, _| {}, |_, _| {});
        }
    }

    fn answer(server: &mut Server, event: ServerEvent) {
        let ServerEvent::Call { call, .. } = event else { return };
        #[allow(clippy::wildcard_enum_match_arm, reason = "the editor has two tools")]
        let _ = match call {
            ToolCall::OpenDiff(call, diff) => server.answer(call, diff.accept()),
            ToolCall::GetDiagnostics(call, _) => server.answer(call, Diagnostics { files: Vec::new() }),
            other => server.call(other).fail("no"),
        };
    }

    #[test]
    fn scripts_of_any_bytes_end() {
        let (mut random, mut calls) = (Random::new(7), 0);
        for len in (0..3000).step_by(10) {
            let data: Vec<u8> = (0..len).map(|_| random.number().to_le_bytes()[0]).collect();
            net().play_all(&data, |server, event| {
                let is_call = matches!(&event, ServerEvent::Call { .. });
                calls += i32::from(is_call);
                // Some calls stay open until their deadline.
                if calls % 3 > 0 || !is_call {
                    answer(server, event);
                }
            });
        }
        assert!(calls > 100, "only {calls} calls reached the application");
    }

    #[test]
    fn agents_programs_and_a_full_host_coexist() {
        let mut net = net();
        let agents: Vec<usize> = (0..3).map(|_| net.attach()).collect();
        net.connect_program(b"GET / HTTP/1.1\r\n\r\n");
        net.settle(answer);
        let ready: Vec<bool> = agents.iter().map(|number| is_ready(&net, *number)).collect();
        assert_eq!(ready, [true, true, false], "the server takes two clients");
        assert_eq!(net.server().unauthenticated().total(), 2, "the third agent and the program");
        net.act(0, &AgentAct::GetDiagnostics);
        net.act(3, &AgentAct::GetDiagnostics);
        net.settle(|_, _| {});
        assert_eq!(open(&net, 0), 1);
        net.advance(Duration::from_secs(60), |_, _| {});
        assert_eq!(open(&net, 0), 0, "the server answers at the deadline");
        net.finish(answer);
    }

    #[test]
    #[should_panic = "requests without an outcome"]
    fn request_without_outcome_is_found() {
        let mut net = net();
        net.attach();
        net.settle(answer);
        let Peer::Agent { client, open } = &mut net.connections[0].peer else { return };
        let request = client.call_tool(&GetDiagnostics::new(None)).unwrap().id();
        open.extend([request, request]);
        net.finish(answer);
    }

    #[test]
    #[should_panic = "a request that is not open has an outcome"]
    fn second_outcome_is_found() {
        let mut net = net();
        net.attach();
        net.settle(answer);
        let Peer::Agent { client, .. } = &mut net.connections[0].peer else { return };
        client.call_tool(&GetDiagnostics::new(None)).unwrap();
        net.settle(answer);
    }

    fn is_ready(net: &Net, number: usize) -> bool {
        matches!(&net.connections[number].peer, Peer::Agent { client, .. } if client.is_ready())
    }

    fn open(net: &Net, number: usize) -> usize {
        let Peer::Agent { open, .. } = &net.connections[number].peer else { return 0 };
        open.len()
    }
}
