//! The loop of `std_loop`, over sockets that take seven bytes at a time, block every second time, close and fail.

#[allow(dead_code, reason = "the example has a `main` of its own")]
#[path = "../std_loop.rs"]
mod example;

use example::turn;
use ide_mcp::Time;
use ide_mcp::ide::discovery::AuthToken;
use ide_mcp::ide::tool::{OpenDiff, Tool, ToolCall};
use ide_mcp::ide::{
    Client, ClientConfig, ClientEvent, ConnId, Mention, Push, Server, ServerConfig, ServerEvent,
};
use ide_mcp::mcp::{Implementation, Outcome};
use ide_mcp::rpc::SessionId;
use ide_mcp::testing::{Random, pass};
use std::collections::BTreeMap;
use std::io::{self, ErrorKind, Read, Write};
use std::time::Duration;

/// A non-blocking socket that moves seven bytes at a time, and would block every second time.
#[derive(Default)]
struct Socket {
    input: Vec<u8>,
    output: Vec<u8>,
    is_blocked: bool,
    /// What a read returns after the input: this error, or the end of the stream for `UnexpectedEof`.
    then: Option<ErrorKind>,
    /// Every write fails.
    is_broken: bool,
}

impl Socket {
    fn blocks(&mut self) -> bool {
        self.is_blocked = !self.is_blocked;
        self.is_blocked
    }
}

impl Read for Socket {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let len = buf.len().min(self.input.len()).min(7);
        if len == 0 {
            return match self.then {
                Some(ErrorKind::UnexpectedEof) => Ok(0),
                kind => Err(kind.unwrap_or(ErrorKind::WouldBlock).into()),
            };
        }
        if self.blocks() {
            return Err(ErrorKind::WouldBlock.into());
        }
        buf[..len].copy_from_slice(&self.input[..len]);
        self.input.drain(..len);
        Ok(len)
    }
}

impl Write for Socket {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        if self.is_broken {
            return Err(ErrorKind::BrokenPipe.into());
        }
        if self.blocks() {
            return Err(ErrorKind::WouldBlock.into());
        }
        let len = buf.len().min(7);
        self.output.extend_from_slice(&buf[..len]);
        Ok(len)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// An editor in the loop of the example, and agents at the other ends of its sockets.
struct World {
    server: Server,
    sockets: BTreeMap<ConnId, Socket>,
    agents: Vec<(ConnId, Client)>,
    events: Vec<ClientEvent>,
    now: Time,
}

impl World {
    fn with_agents(count: u64) -> Self {
        let token = AuthToken::from_text("550e8400-e29b-41d4-a716-446655440000").unwrap();
        let config = ServerConfig::new("editor", "1").listening(1, token.clone()).tools([Tool::OpenDiff]);
        let (server, sockets, now) = (Server::new(config), BTreeMap::new(), Time::ZERO);
        let mut world = Self { server, sockets, agents: Vec::new(), events: Vec::new(), now };
        for number in 0..count {
            let conn = world.server.connect(now);
            world.sockets.insert(conn, Socket::default());
            let config = ClientConfig::new(Implementation::new("agent", "1"), 1, Some(token.clone()));
            let client =
                Client::new(config, Random::new(number).source(), SessionId::new(number + 1), now).unwrap();
            world.agents.push((conn, client));
        }
        world.run(Duration::from_secs(10), accept);
        world
    }

    /// Takes turns for `span`: each at the deadline of the turn before, or a millisecond later if bytes have
    /// moved.
    fn run(&mut self, span: Duration, mut on_event: impl FnMut(&mut Server, ServerEvent)) {
        let end = self.now.saturating_add(span);
        let mut turns = 0;
        while self.now < end {
            let until = turn(&mut self.server, &mut self.sockets, self.now, &mut on_event);
            assert!(until.is_none_or(|until| until > self.now), "the loop would spin at {:?}", self.now);
            let is_idle = !self.carry();
            let soon = self.now.saturating_add(Duration::from_millis(1));
            self.now = if is_idle { until.unwrap_or(end).min(end).max(soon) } else { soon };
            turns += 1;
            assert!(turns < 20_000, "the loop does not come to rest");
        }
    }

    /// Moves the bytes between the sockets and the agents. Returns true if there were any.
    fn carry(&mut self) -> bool {
        let mut moved = false;
        for (conn, client) in &mut self.agents {
            let Some(socket) = self.sockets.get_mut(conn) else { continue };
            client.feed(self.now, &std::mem::take(&mut socket.output));
            let passed = pass(client, self.now, usize::MAX);
            socket.input.extend(passed.written_bytes());
            moved |= !passed.events.is_empty() || !socket.input.is_empty() || self.server.wants_output(*conn);
            self.events.extend(passed.events);
        }
        moved
    }
}

fn accept(server: &mut Server, event: ServerEvent) {
    if let Some(ToolCall::OpenDiff(call, diff)) = event.into_call() {
        server.answer(call, diff.accept()).unwrap();
    }
}

#[test]
fn a_session_works_over_bad_sockets() {
    let mut world = World::with_agents(2);
    assert_eq!(world.server.agents().count(), 2);
    for (_, client) in &mut world.agents {
        client.call_tool(&OpenDiff::new("/w/a", "new", "tab")).unwrap();
    }
    world.run(Duration::from_secs(10), accept);
    let is_accepted = |event: &&ClientEvent| {
        matches!(event, ClientEvent::Outcome { outcome: Outcome::Result(result), .. }
            if result.get().contains("FILE_SAVED"))
    };
    assert_eq!(world.events.iter().filter(is_accepted).count(), 2, "{:?}", world.events);
    world.server.shutdown(world.now);
    world.run(Duration::from_secs(10), accept);
    assert!(world.sockets.is_empty(), "both are closed");
}

#[test]
fn a_lost_socket_is_reported_once_and_dropped() {
    for (name, then, is_broken) in [
        ("the end of the stream", Some(ErrorKind::UnexpectedEof), false),
        ("a reset", Some(ErrorKind::ConnectionReset), false),
        ("a write that fails", None, true),
    ] {
        let mut world = World::with_agents(1);
        let socket = world.sockets.values_mut().next().unwrap();
        (socket.then, socket.is_broken) = (then, is_broken);
        world.agents[0].1.call_tool(&OpenDiff::new("/w/a", "new", "tab")).unwrap();
        let mut closed = 0;
        world.run(Duration::from_secs(10), |server, event| {
            closed += usize::from(matches!(event, ServerEvent::Closed { .. }));
            accept(server, event);
        });
        assert_eq!((closed, world.sockets.len(), world.server.agents().count()), (1, 0, 0), "{name}");
    }
}

/// A mention that was not written reaches the other agent.
#[test]
fn a_mention_survives_a_broken_socket() {
    let mut world = World::with_agents(2);
    let latest = *world.sockets.keys().last().unwrap();
    world.sockets.get_mut(&latest).unwrap().is_broken = true;
    world.server.mention(world.now, Mention::new("/w/a.txt", None), None).unwrap();
    world.run(Duration::from_secs(10), accept);
    let is_mention = |event: &&ClientEvent| matches!(event, ClientEvent::Pushed(Push::AtMentioned(_)));
    assert_eq!((world.sockets.len(), world.events.iter().filter(is_mention).count()), (1, 1));
}
