//! The timer and the descriptor, which a test outside this crate cannot tell apart.

#![allow(clippy::unwrap_used, clippy::wildcard_enum_match_arm, reason = "a test states what it expects")]

use super::*;
use crate::{Conn, address_of};
use ide_mcp::ide::discovery::AuthToken;
use ide_mcp::ide::kit::{Position, Range};
use ide_mcp::ide::tool::{Call, DiffOutcome, OpenDiff, Tool, ToolCall, ToolSet};
use ide_mcp::ide::{Auth, Client, ClientConfig, ClientEvent, Policy, Selection, ServerConfig};
use ide_mcp::mcp::Implementation;
use ide_mcp::rpc::SessionId;
use ide_mcp_lockfile::new_token;
use mio::{Events, Poll, Token};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::net::TcpStream;

/// No step takes this long, even on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);

/// A nested server whose loop waits for the descriptor only, and its agent.
struct World {
    editor: NestedServer,
    token: AuthToken,
    /// The proposals that are not decided yet.
    open: Vec<(Call<OpenDiff>, OpenDiff)>,
    poll: Poll,
    events: Events,
    clock: Clock,
    agent: Option<Conn<Client>>,
    /// The names of what the agent has received.
    received: Vec<&'static str>,
}

impl World {
    fn new(change: impl FnOnce(&mut ServerConfig)) -> Self {
        let token = new_token().unwrap();
        let policy = Policy::new(0, Auth::Token(token.clone()));
        let tools = ToolSet::new().handle(Tool::OpenDiff);
        let mut config = ServerConfig::new("editor", "1").policy(policy).tools(tools);
        change(&mut config);
        let editor = NestedServer::bind(Bind::AnyPort, config).unwrap();
        let (poll, events) = (Poll::new().unwrap(), Events::with_capacity(8));
        Self {
            editor,
            token,
            open: Vec::new(),
            poll,
            events,
            clock: Clock::new(),
            agent: None,
            received: Vec::new(),
        }
    }

    fn attach(&mut self) {
        let port = self.editor.server().local_addr().port();
        let info = Implementation::new("agent", "1");
        let config = ClientConfig::new(info, port, Some(self.token.clone()));
        let client = Client::new(config, getrandom::fill, SessionId::new(1), self.clock.now()).unwrap();
        let address = address_of("127.0.0.1", port).unwrap();
        self.agent = Some(Conn::connect(address, client, self.poll.registry(), Token(0)).unwrap());
        self.until("it attaches", |world| world.received.contains(&"ready"));
    }

    /// Returns true if the descriptor is readable, or becomes so within this time.
    fn is_readable(&self, at_most: Duration) -> bool {
        let at_most = Timespec::try_from(at_most).unwrap();
        poll(&mut [PollFd::new(&self.editor, PollFlags::IN)], Some(&at_most)).unwrap() > 0
    }

    /// Gives the editor a turn if its descriptor is readable, and the agent in any case.
    fn step(&mut self) {
        if self.is_readable(Duration::from_millis(1)) {
            let open = &mut self.open;
            let on = |_: &mut ide::Server, event: ServerEvent| {
                if let Some(ToolCall::OpenDiff(call, diff)) = event.into_call() {
                    open.push((call, diff));
                }
            };
            self.editor.dispatch(on).unwrap();
            self.check("a turn");
        }
        let Some(agent) = &mut self.agent else { return };
        self.poll.poll(&mut self.events, Some(Duration::ZERO)).unwrap();
        for event in &self.events {
            agent.handle_event(event);
        }
        let received = &mut self.received;
        agent.turn(self.clock.now(), |_, event| {
            received.push(match event {
                ClientEvent::Ready(_) => "ready",
                ClientEvent::Pushed(_) => "push",
                ClientEvent::Outcome { .. } => "outcome",
                ClientEvent::Closed(_) => "closed",
                _ => return,
            });
        });
    }

    fn until(&mut self, what: &str, mut done: impl FnMut(&mut Self) -> bool) {
        let begin = self.clock.now();
        while !done(self) {
            assert!(self.clock.now().saturating_since(begin) < PATIENCE, "{what}: the descriptor is silent");
            self.step();
        }
    }

    /// Takes steps until nothing is due within [`PATIENCE`].
    fn rest(&mut self) {
        self.until("it rests", |world| {
            !world.is_readable(Duration::ZERO) && world.editor.timeout().is_none_or(|wait| wait > PATIENCE)
        });
    }

    /// Checks the invariant of the module. All times that have passed count as the same: the descriptor is
    /// readable.
    fn check(&mut self, after: &str) {
        let now = self.editor.now();
        let deadline = self.editor.server.deadline(now).map(|deadline| deadline.max(now));
        let set_to = self.editor.waiting.set_to();
        let is_early = deadline.is_none_or(|deadline| set_to.is_some_and(|set_to| set_to <= deadline));
        assert!(is_early, "after {after}: due at {deadline:?}, and the timer is set to {set_to:?}");
    }

    fn count(&self, what: &str) -> usize {
        self.received.iter().filter(|received| **received == what).count()
    }
}

/// All deadlines are an hour away, so only the use itself can make the descriptor readable.
#[test]
fn use_outside_a_turn_makes_the_descriptor_readable() {
    type Use = fn(&mut NestedServer);
    let uses: [(&str, Use); 4] = [
        ("the server", |editor| {
            let _ = editor.server_mut();
        }),
        ("the machine", |editor| {
            let _ = editor.machine_mut();
        }),
        ("a handle", |editor| editor.handle().with(|_, _| ()).unwrap()),
        ("the shutdown", NestedServer::shutdown),
    ];
    let states: [(&str, fn(&mut World) -> Option<TcpStream>); 3] = [
        ("no connection", |_| None),
        ("a connection is silent", |world| {
            Some(TcpStream::connect(world.editor.server().local_addr()).unwrap())
        }),
        ("an agent is attached", |world| {
            world.attach();
            None
        }),
    ];
    let hour = Duration::from_secs(60 * 60);
    for (state, enter) in states {
        let mut world = World::new(|config| {
            (config.ws.handshake, config.ws.keepalive) = (hour, None);
            (config.debounce, config.debounce_max) = (hour, hour);
        });
        let _stream = enter(&mut world);
        // The second use comes after the turns that the first one caused.
        for (name, act) in uses.iter().flat_map(|one| [one, one]) {
            world.rest();
            act(&mut world.editor);
            assert!(world.is_readable(PATIENCE), "{state}: {name} was used, and the descriptor is silent");
            if world.editor.is_over() {
                break;
            }
        }
    }
}

#[test]
fn timer_is_never_later_than_the_server() {
    let mut world = World::new(|_| {});
    world.attach();
    let range = Range::new(Position::new(0, 0), Position::new(0, 1));
    for round in 1..4 {
        // A push waits for a later one that may replace it, so each push moves the server's deadline.
        for text in ["a", "ab", "abc"] {
            let now = world.editor.now();
            let _ = world.editor.machine_mut().select(now, Selection::new("/w/a", range, text));
            world.check("a push");
        }
        world.until("the push arrives", |world| world.count("push") >= round);
        let diff = OpenDiff::new("/w/a", "new", format!("tab {round}"));
        world.agent.as_mut().unwrap().machine_mut().call_tool(&diff).unwrap();
        world.until("the call arrives", |world| !world.open.is_empty());
        for (call, diff) in std::mem::take(&mut world.open) {
            let accepted = DiffOutcome::Accepted { contents: diff.new_file_contents };
            world.editor.machine_mut().answer(call, &accepted).unwrap();
            world.check("an answer");
        }
        world.until("the answer arrives", |world| world.count("outcome") == round);
    }
    world.editor.shutdown();
    world.check("the shutdown");
    world.until("the end", |world| world.editor.is_over() && world.count("closed") == 1);
}
