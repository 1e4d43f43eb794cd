//! When a server asks about its clients: one at a time, and not for a while after a refusal.

use crate::support::ide::{HEAD, INITIALIZE, INITIALIZED, answer, at, call, config, text, texts};
use crate::support::passes::{lose, read_by};
use ide_mcp::ide::{AgentId, ConnId, MODELS_TARGET, Server, ServerEvent};
use ide_mcp::{Output, Time};
use std::time::Duration;

/// A server that asks, with a clock. Its connections have no timers of their own.
struct Room {
    server: Server,
    now: Time,
}

/// What happens to a client that the person is asked about.
#[derive(Clone, Copy, Debug)]
enum Fate {
    Allowed,
    Refused,
    Leaves,
}
use Fate::{Allowed, Leaves, Refused};

impl Room {
    fn new() -> Self {
        let mut config = config();
        config.asks_for_consent = true;
        (config.ws.keepalive, config.mcp.keepalive) = (None, None);
        Self { server: Server::new(config), now: Time::ZERO }
    }

    fn feed(&mut self, agent: AgentId, bytes: &[u8]) {
        self.server.feed(self.now, agent.conn().unwrap(), bytes);
    }

    /// Connects a client that introduces itself, and returns it with the clients that are asked about.
    fn join(&mut self) -> (AgentId, Vec<AgentId>) {
        self.join_at("/")
    }

    fn join_at(&mut self, target: &str) -> (AgentId, Vec<AgentId>) {
        let agent = AgentId::from(self.server.connect(self.now));
        let head = HEAD.replacen("GET / ", &format!("GET {target} "), 1);
        self.feed(agent, &[head.into_bytes(), text(INITIALIZE), text(INITIALIZED)].concat());
        (agent, self.questions())
    }

    /// Polls every event, and returns the clients that are asked about.
    fn questions(&mut self) -> Vec<AgentId> {
        self.events().into_iter().filter(|(_, event)| is_question(event)).map(|(agent, _)| agent).collect()
    }

    fn events(&mut self) -> Vec<(AgentId, ServerEvent)> {
        let mut events = Vec::new();
        loop {
            let due = self.server.deadline();
            match self.server.poll(self.now) {
                Output::Event(event) => {
                    assert!(due.is_some_and(|due| due <= self.now), "law 5: {event:?}, due {due:?}");
                    let Some(agent) = event.agent() else { panic!("{event:?}") };
                    events.push((agent, event));
                }
                Output::Write { .. } | Output::Close(_) => {}
                Output::Wait(due) => {
                    assert!(due.is_none_or(|due| due > self.now), "law 4: due {due:?} at {:?}", self.now);
                    return events;
                }
            }
        }
    }

    fn at(&mut self, now: Time) -> Vec<AgentId> {
        self.now = now;
        self.questions()
    }

    /// Decides about a client. Returns the clients that are asked about next.
    fn end(&mut self, agent: AgentId, fate: Fate) -> Vec<AgentId> {
        match fate {
            Allowed => assert!(self.server.agent_mut(agent).allow(), "{agent:?}"),
            Refused => self.server.agent_mut(agent).disconnect(self.now),
            Leaves => {}
        }
        let mut pending = self.questions();
        // An allowed client leaves too, so that the table has room.
        lose(&mut self.server, self.now, agent.conn().unwrap());
        pending.extend(self.questions());
        pending
    }

    /// Connects a client, and expects the question about it at once.
    fn open(&mut self) -> AgentId {
        let (agent, pending) = self.join();
        assert_eq!(pending, [agent], "at {:?}", self.now);
        agent
    }
}

fn is_question(event: &ServerEvent) -> bool {
    matches!(event, ServerEvent::ConsentPending { .. })
}

#[test]
fn n07_one_client_at_a_time_is_asked_about() {
    let mut room = Room::new();
    let first = room.open();
    let (second, pending) = room.join_at(MODELS_TARGET);
    assert_eq!(pending, []);
    let (third, pending) = room.join();
    assert_eq!(pending, []);
    assert_eq!(room.server.deadline(), None, "no question is due while one is open");
    // Meanwhile the deadlines of the calls of a client apply, and its calls are held.
    read_by(&mut room.server, third.conn().unwrap());
    room.feed(third, &text(&call(1, "getDiagnostics", r#"{"uri":"file:///w/a"}"#)));
    room.feed(third, &text(&call(2, "countLines", "{}")));
    assert!(room.events().is_empty());
    assert_eq!(room.at(at(60_000)), []);
    let sent = texts(&read_by(&mut room.server, third.conn().unwrap()));
    assert_eq!(sent[0], answer(1, &["[]"]), "{sent:?}");
    // In the order in which they introduced themselves.
    assert!(room.server.agent_mut(first).allow());
    let events = room.events();
    let [(ready, ServerEvent::Ready { .. }), (pending, question)] = &events[..] else { panic!("{events:?}") };
    assert!((*ready, *pending) == (first, second));
    let ServerEvent::ConsentPending { client, is_for_models, .. } = question else { panic!("{question:?}") };
    assert!(*is_for_models && client.as_ref().is_some_and(|client| client.name == "claude-code"));
    assert_eq!(room.end(second, Allowed), [third]);
    // A client that introduces itself at the moment of an answer comes after those that wait.
    let (fourth, _) = room.join();
    assert!(room.server.agent_mut(third).allow());
    let (fifth, pending) = room.join();
    assert_eq!(pending, [fourth]);
    assert_eq!(room.end(fourth, Allowed), [fifth]);
}

/// Checks the length of each quiet time, at both sides of its end.
#[test]
fn n07_quiet_time_doubles_with_each_refusal() {
    let rows = [
        (Leaves, 10),
        (Leaves, 10),
        (Refused, 10),
        (Refused, 20),
        (Leaves, 20),
        (Refused, 40),
        (Refused, 80),
        (Refused, 160),
        (Refused, 300),
        (Refused, 300),
        (Leaves, 300),
        (Allowed, 0),
        (Leaves, 10),
        (Refused, 10),
        (Refused, 20),
        (Allowed, 0),
        (Refused, 10),
    ];
    let mut room = Room::new();
    let (mut agent, mut end) = (room.open(), 0);
    for (row, (fate, seconds)) in rows.into_iter().enumerate() {
        let named = format!("row {row}: {fate:?} at {end}");
        assert_eq!(room.end(agent, fate), [], "{named}");
        let (next, pending) = room.join();
        end += seconds * 1_000;
        if seconds == 0 {
            assert_eq!(pending, [next], "{named}");
        } else {
            assert_eq!(pending, [], "{named}");
            assert_eq!(room.server.deadline(), Some(at(end)), "{named}");
            assert_eq!(room.at(at(end - 1)), [], "{named}");
            assert_eq!(room.server.deadline(), Some(at(end)), "{named}");
            assert_eq!(room.at(at(end)), [next], "{named}");
        }
        assert_eq!(room.server.deadline(), None, "{named}");
        agent = next;
    }
}

/// Checks a program that connects again half a second after each end.
#[test]
fn n07_person_is_rarely_asked_about_a_nagging_client() {
    // How many questions come in 12 s (without a quiet time 24 were measured), and in an hour.
    for (fate, in_12_s, in_an_hour) in [(Refused, 2, 16), (Leaves, 2, 360)] {
        let mut room = Room::new();
        let mut counts = [0, 0];
        let (mut client, mut pending) = room.join();
        for now in (500..3_600_000).step_by(500) {
            if pending == [client] {
                counts[0] += u32::from(now <= 12_000);
                counts[1] += 1;
                room.end(client, fate);
                room.now = at(now);
                (client, pending) = room.join();
            } else {
                pending = room.at(at(now));
            }
        }
        assert_eq!(counts, [in_12_s, in_an_hour], "{fate:?}");
    }
}

/// Checks that a client that leaves before its question leaves no trace.
#[test]
fn n07_waiting_client_can_leave() {
    let mut room = Room::new();
    let first = room.open();
    let ((second, _), (third, _), (fourth, _)) = (room.join(), room.join(), room.join());
    assert_eq!(room.end(second, Leaves), []);
    assert_eq!(room.end(third, Refused), []);
    assert_eq!(room.end(first, Allowed), [fourth], "neither of the two was refused");
    assert_eq!(room.end(fourth, Refused), []);
    let (fifth, _) = room.join();
    assert_eq!(room.server.deadline(), Some(at(10_000)));
    assert_eq!(room.end(fifth, Leaves), []);
    assert_eq!(room.server.deadline(), None, "no client waits for the end of the quiet time");
}

/// Checks that a waiting client is not asked about if it leaves in the pass in which its turn comes.
#[test]
fn n07_client_that_leaves_is_not_asked_about() {
    let mut room = Room::new();
    let first = room.open();
    let (second, _) = room.join();
    assert!(room.server.agent_mut(first).allow());
    let third = AgentId::from(room.server.connect(room.now));
    room.feed(third, &[HEAD.as_bytes().to_vec(), text(INITIALIZE), text(INITIALIZED)].concat());
    lose(&mut room.server, room.now, second.conn().unwrap());
    assert_eq!(room.questions(), [third]);
    // A shutdown begins the ends of all clients.
    room.end(third, Refused);
    room.join();
    assert_eq!(room.at(at(9_000)), []);
    room.server.shutdown(room.now);
    assert_eq!(room.at(at(10_000)), []);
}

/// Checks that an application can allow a client before its question.
#[test]
fn waiting_client_can_be_allowed() {
    let mut room = Room::new();
    let first = room.open();
    room.end(first, Refused);
    let ((second, _), (third, _)) = (room.join(), room.join());
    assert!(room.server.agent_mut(second).allow());
    let events = room.events();
    let [(ready, ServerEvent::Ready { .. }), (pending, question)] = &events[..] else { panic!("{events:?}") };
    assert!((*ready, *pending) == (second, third) && is_question(question), "no quiet time is left");
    // This question stays open.
    let (fourth, pending) = room.join();
    assert_eq!(pending, []);
    assert!(room.server.agent_mut(fourth).allow());
    assert_eq!(room.questions(), []);
    let (fifth, pending) = room.join();
    assert_eq!(pending, []);
    assert_eq!(room.end(third, Allowed), [fifth]);
}

/// Checks that one client counts as one refusal, however often it is refused and even if it leaves as
/// well.
#[test]
fn n07_refusal_counts_once() {
    for leaves_first in [true, false] {
        let mut room = Room::new();
        let agent = room.open();
        let conn: ConnId = agent.conn().unwrap();
        if leaves_first {
            lose(&mut room.server, at(0), conn);
        }
        // The application has not polled the end yet.
        room.server.agent_mut(agent).disconnect(at(0));
        room.server.agent_mut(agent).disconnect(at(0));
        room.questions();
        room.now = at(5_000);
        lose(&mut room.server, room.now, conn);
        room.server.agent_mut(agent).disconnect(room.now);
        assert!(!room.server.agent_mut(agent).allow());
        let (next, pending) = room.join();
        assert_eq!((pending, room.at(at(9_999)), room.at(at(10_000))), (vec![], vec![], vec![next]));
        room.end(next, Refused);
        let (next, _) = room.join();
        assert_eq!((room.at(at(29_999)), room.at(at(30_000))), (vec![], vec![next]), "the second refusal");
    }
}

#[test]
fn quiet_time_up_to_the_end_of_time_never_ends() {
    let mut room = Room::new();
    let first = room.open();
    room.join();
    assert_eq!(room.at(Time::new(Duration::from_nanos(u64::MAX - 1))), []);
    assert_eq!(room.end(first, Refused), []);
    assert_eq!(room.at(Time::new(Duration::MAX)), []);
}
