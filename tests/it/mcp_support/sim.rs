//! Two sessions joined by a WebSocket whose bytes are cut, delayed, stalled and ended, on a clock
//! of their own. A stranger inserts messages of every kind between theirs. Both sessions run under
//! the model of `mcp_support::watch`. Every script ends in good order: each open call is answered
//! or times out, and then both sessions are closed.

use std::{collections::VecDeque, time::Duration};

use ide_mcp::Keepalive;
use ide_mcp::{
    Machine, Time, Wire,
    mcp::{
        Client, ClientConfig, Forward, Implementation, List, LogLevel, Progress, ProtocolVersion, Server,
        ServerConfig, Timeout,
    },
    rpc::SessionId,
    testing::Random,
    ws::{self, ClientRequest, OwnedEvent},
};

use crate::mcp_support::{
    TestTools,
    peer::{Happened, Peer},
    watch::{Hits, Meaning, Watch, same},
};

/// The smallest number of steps of a script.
pub const STEPS: usize = 50;

/// The hits that a run of many scripts has to reach.
pub const MUST_HIT: &[&str] = &[
    "C1",
    "C2",
    "C3",
    "C4",
    "C5",
    "C6",
    "C7",
    "C8",
    "C9",
    "C10",
    "C11",
    "C12",
    "C13",
    "C14",
    "C15",
    "C16",
    "C17",
    "C18",
    "C19",
    "C20",
    "C21",
    "race: cancelled, then answered",
    "race: answered, then cancelled",
    "race: cancelled twice",
    "race: cancelled what never was",
    "race: cancelled, its id again, then answered",
    "race: initialize is not cancelled",
    "race: cancelled, then progress",
    "race: cancelled, then closed",
    "violation LateResponse",
    "violation UnknownResponse",
    "violation MalformedResponse",
    "violation UnknownProgress",
    "violation StaleProgress",
    "violation RequestWithoutId",
    "violation BatchLength",
    "outcome Result",
    "outcome Error",
    "outcome TimedOut",
    "outcome Cancelled",
    "outcome Malformed",
    "outcome Closed",
    "call ended Cancelled",
    "call ended Expired",
    "call ended ShutDown",
    "call ended Closed",
    "refused Answered",
    "refused Cancelled",
    "refused Expired",
    "refused Closed",
    "refused Unknown",
    "answer result",
    "answer -32600",
    "answer -32601",
    "answer -32602",
    "answer -32603",
    "progress sent",
    "progress received",
    "cancelled sent",
    "unresponsive",
    "link ended",
    "link stalled",
    "closed in order",
];

/// One direction: the texts that have not departed, each with its time and meaning, and the
/// meanings of the texts in flight.
#[derive(Default)]
struct Link {
    lines: VecDeque<(Time, String, Meaning, Option<&'static str>)>,
    travelling: VecDeque<(Meaning, Option<&'static str>)>,
    stalled: bool,
}

impl Link {
    fn is_empty(&self) -> bool {
        self.lines.is_empty() && self.travelling.is_empty()
    }
}

/// The connection that carries both directions.
struct Socket {
    client: ws::Client,
    server: ws::Server,
}

impl Socket {
    fn open(random: &mut Random) -> Self {
        let mut limits = ws::Limits::default();
        limits.keepalive = None;
        let ask = ClientRequest::new("127.0.0.1:1");
        let mut socket = Self {
            client: ws::Client::new(ask, Random::new(random.number()), limits.clone(), Time::ZERO).unwrap(),
            server: ws::Server::new(limits, Time::ZERO),
        };
        carry(&mut socket.client, &mut socket.server, Time::ZERO, usize::MAX);
        assert!(matches!(socket.server.poll_event(), Some(OwnedEvent::Upgrade(_))));
        socket.server.accept(None).unwrap();
        carry(&mut socket.server, &mut socket.client, Time::ZERO, usize::MAX);
        assert!(matches!(socket.client.poll_event(), Some(OwnedEvent::Open { .. })));
        socket
    }
}

/// Moves at most `most` bytes from one end to the other.
fn carry(from: &mut impl Wire, to: &mut impl Wire, now: Time, most: usize) {
    let bytes = from.outgoing();
    let some = &bytes[..bytes.len().min(most)];
    to.feed(now, some);
    let sent = some.len();
    from.sent(sent);
}

/// Sends a text, whole or in two parts with a ping between them.
fn write(mut sender: ws::Sender<'_>, text: &str, random: &mut Random) {
    let middle = (0..=text.len() / 2).rev().find(|at| text.is_char_boundary(*at)).unwrap();
    if random.one_in(8) {
        let (first, last) = text.split_at(middle);
        sender.text_part(first, false).unwrap();
        sender.ping(b"sim").unwrap();
        sender.text_part(last, true).unwrap();
    } else {
        sender.text(text).unwrap();
    }
}

/// A script.
pub struct Sim {
    random: Random,
    now: Time,
    server: Watch<Server<TestTools>>,
    client: Watch<Client>,
    up: Link,
    down: Link,
    socket: Socket,
    ended: bool,
    reach: f64,
    /// The number of requests that were sent without a timeout.
    endless: usize,
    hits: Hits,
}

/// One of the two sides.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Server,
    Client,
}

/// Evaluates an expression with the model of either side.
macro_rules! at {
    ($sim:expr, $side:expr, |$watch:ident| $do:expr) => {
        match $side {
            Side::Server => {
                let $watch = &mut $sim.server;
                $do
            }
            Side::Client => {
                let $watch = &mut $sim.client;
                $do
            }
        }
    };
}

/// Runs the script with this number, and adds its hits to `hits`.
#[track_caller]
pub fn run(seed: u64, hits: &mut Hits) {
    let mut sim = Sim::new(seed);
    let steps = STEPS + sim.random.below(30);
    for _ in 0..steps {
        sim.step();
    }
    sim.finish();
    for from in [&sim.hits, &sim.server.hits, &sim.client.hits] {
        for (what, count) in from {
            *hits.entry(what.clone()).or_default() += count;
        }
    }
}

impl Sim {
    fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let versions = [
            ProtocolVersion::V2024_11_05,
            ProtocolVersion::V2025_03_26,
            ProtocolVersion::V2025_06_18,
            ProtocolVersion::V2025_11_25,
        ];
        let mut server = ServerConfig::new(Implementation::new("editor", "1"));
        let mut client = ClientConfig::new(Implementation::new("agent", "2"));
        client.version = versions[random.below(4)];
        server.logging = Some(LogLevel::Info);
        server.call_deadline = Duration::from_millis(900);
        client.call_deadline = Duration::from_millis(900);
        server.request_timeout = Duration::from_millis(700);
        client.request_timeout = Duration::from_millis(700);
        server.forward = Forward::Methods(vec!["x/raw".into()]);
        client.forward = if random.one_in(2) { Forward::Everything } else { Forward::Nothing };
        if random.one_in(3) {
            server.keepalive = Some(Keepalive::JSON_RPC);
            client.keepalive = Some(Keepalive::JSON_RPC);
        }
        // The limits are so small that some scripts reach them.
        let limit = 2 + random.below(6);
        for limits in [&mut server.limits, &mut client.limits] {
            limits.open_calls = limit;
            limits.requests = 6;
        }
        let socket = Socket::open(&mut random);
        let mut sim = Self {
            socket,
            random,
            now: Time::ZERO,
            server: Watch::new(Server::new(server, TestTools::default(), SessionId::new(1))),
            client: Watch::new(Client::new(client, SessionId::new(2))),
            up: Link::default(),
            down: Link::default(),
            ended: false,
            reach: 0.0,
            endless: 0,
            hits: Hits::new(),
        };
        sim.server.limit = limit;
        sim.client.limit = limit;
        sim.server.opened_by = Some("1".into());
        sim.client.act(|client, out| client.start(Time::ZERO, out)).unwrap();
        sim.collect();
        // Three of four scripts deliver the handshake first; in the others a stranger can come before.
        if !sim.random.one_in(4) {
            for _ in 0..4 {
                sim.deliver_all();
            }
        }
        sim
    }

    fn hit(&mut self, what: &str) {
        *self.hits.entry(what.into()).or_default() += 1;
    }

    fn step(&mut self) {
        let side = if self.random.one_in(2) { Side::Server } else { Side::Client };
        match self.random.below(20) {
            0..=3 => self.deliver(side),
            4 => self.deliver_all(),
            5 | 6 => self.ask(side),
            7..=9 => self.answer(side),
            10 | 11 => self.progress(side),
            12 | 13 => self.inject(side),
            14 => self.cancel(side),
            15 => self.stranger_cancels(side),
            16 => {
                let span = [0, 1, 50, 400, 700, 1_000, 5_000][self.random.below(7)];
                self.pass(Duration::from_millis(span));
            }
            17 => at!(self, side, |watch| watch.notify("x/note")),
            18 => self.server_speaks(),
            _ => self.disturb(side),
        }
        self.collect();
        self.react();
    }

    /// Moves the sent messages onto the link.
    fn collect(&mut self) {
        let now = self.now;
        for (outbox, link) in
            [(&mut self.server.outbox, &mut self.down), (&mut self.client.outbox, &mut self.up)]
        {
            for (text, meaning) in outbox.drain(..) {
                let delay = [0, 0, 0, 30, 300][self.random.below(5)];
                let at = now.saturating_add(Duration::from_millis(delay));
                if !self.ended {
                    link.lines.push_back((at, text, meaning, None));
                }
            }
        }
    }

    /// Delivers some bytes.
    fn deliver(&mut self, side: Side) {
        let bytes = [1, 3, 20, 100, 1_000][self.random.below(5)];
        self.arrive(side, bytes);
    }

    fn deliver_all(&mut self) {
        for side in [Side::Server, Side::Client] {
            self.arrive(side, usize::MAX);
            self.collect();
        }
    }

    fn arrive(&mut self, side: Side, bytes: usize) {
        let (link, Socket { client, server }) = match side {
            Side::Server => (&mut self.up, &mut self.socket),
            Side::Client => (&mut self.down, &mut self.socket),
        };
        if link.stalled || self.ended {
            return;
        }
        while link.lines.front().is_some_and(|(at, ..)| *at <= self.now) {
            let Some((_, text, meaning, row)) = link.lines.pop_front() else { break };
            match side {
                Side::Server => write(client.sender(), &text, &mut self.random),
                Side::Client => write(server.sender(), &text, &mut self.random),
            }
            link.travelling.push_back((meaning, row));
        }
        match side {
            Side::Server => carry(client, server, self.now, bytes),
            Side::Client => carry(server, client, self.now, bytes),
        }
        loop {
            let event = match side {
                Side::Server => self.socket.server.poll_event(),
                Side::Client => self.socket.client.poll_event(),
            };
            match event {
                Some(OwnedEvent::Text(text)) => self.arrived(side, &text),
                Some(OwnedEvent::Ping(_) | OwnedEvent::Pong(_)) => {}
                Some(other) => panic!("{other:?}"),
                None => return,
            }
        }
    }

    fn arrived(&mut self, side: Side, text: &str) {
        let link = if side == Side::Server { &mut self.up } else { &mut self.down };
        let (meaning, row) = link.travelling.pop_front().unwrap();
        at!(self, side, |watch| {
            let batches = watch.peer.version() == Some(ProtocolVersion::V2025_03_26);
            // A batch is row C3 in the version that has batches. In other versions it is row C4 and
            // gets no answer.
            let (row, meaning) = match row {
                Some("C3") if !batches => (Some("C4"), Meaning::nothing()),
                row => (row, meaning),
            };
            if let Some(row) = row.filter(|_| !watch.peer.is_closed()) {
                watch.hit(row);
            }
            watch.hear(text, &meaning);
        });
    }

    fn pass(&mut self, span: Duration) {
        self.now = self.now.saturating_add(span);
        self.server.at(self.now);
        self.client.at(self.now);
    }

    fn ask(&mut self, side: Side) {
        let timeout = match self.random.below(5) {
            0 => {
                self.endless += 1;
                Timeout::Never
            }
            1 => Timeout::After(Duration::from_millis(200)),
            2 | 3 => {
                Timeout::Progress { idle: Duration::from_millis(500), total: Duration::from_millis(1_500) }
            }
            _ => Timeout::Default,
        };
        let tool = ["plain", "never", "soon", "typed", "nobody"][self.random.below(5)];
        let which = self.random.below(4);
        match side {
            Side::Server => {
                self.server.ask(["ping", "roots/list", "x/raw", "elicitation/create"][which], timeout);
            }
            Side::Client => match which {
                0 => {
                    let list = [List::Tools, List::Prompts, List::Resources][self.random.below(3)];
                    let asked = self.client.peer.list(list, timeout, &mut self.client.out).ok();
                    self.client.asked(asked);
                }
                1 => {
                    self.client.ask(["x/raw", "logging/setLevel", "nobody"][self.random.below(3)], timeout);
                }
                _ => {
                    let arguments = serde_json::json!({ "n": 1 });
                    let client = &mut self.client;
                    let asked = client.peer.call_tool(tool, &arguments, timeout, &mut client.out).ok();
                    self.client.asked(asked);
                }
            },
        }
    }

    /// Answers a call that is open, a call that has ended, or a call of the other side.
    fn answer(&mut self, side: Side) {
        let (dice, well) = (self.random.below(8), !self.random.one_in(4));
        let foreign =
            at!(self, if side == Side::Server { Side::Client } else { Side::Server }, |watch| watch.calls());
        let random = &mut self.random;
        at!(self, side, |watch| {
            let calls = match dice {
                0..=4 => watch.live_calls(),
                7 => foreign,
                _ => watch.calls(),
            };
            if let Some(call) = pick(random, &calls) {
                let _ = watch.answer(call, well);
            }
        });
    }

    fn progress(&mut self, side: Side) {
        self.reach += if self.random.one_in(4) { -0.5 } else { 1.0 };
        let said = Progress::new(self.reach).of(100.0).saying("on its way");
        let wait = self.random.one_in(6);
        let random = &mut self.random;
        at!(self, side, |watch| {
            let calls = if random.one_in(4) { watch.calls() } else { watch.live_calls() };
            if let Some(call) = pick(random, &calls) {
                watch.progress(call, &said);
                if wait {
                    watch.set_call_timeout(call, Timeout::After(Duration::from_millis(100)));
                }
            }
        });
    }

    fn cancel(&mut self, side: Side) {
        let random = &mut self.random;
        at!(self, side, |watch| {
            if let Some(request) = pick(random, &watch.requests()) {
                watch.cancel(request);
            }
        });
    }

    fn server_speaks(&mut self) {
        match self.random.below(3) {
            0 => {
                self.server.act(|server, _| server.tools_mut().add("another"));
            }
            1 => {
                let told = self.server.act(|server, out| server.tools_list_changed(out));
                let again = self.server.act(|server, out| server.tools_list_changed(out));
                assert!(told != Ok(true) || again == Ok(false), "I31");
            }
            _ => {
                let level = [LogLevel::Debug, LogLevel::Error][self.random.below(2)];
                let sent = self.server.act(|server, out| server.log(level, Some("sim"), "text", out));
                assert!(sent.is_err() || sent == Ok(level == LogLevel::Error), "the level counts");
            }
        }
    }

    /// Stalls, resumes or ends the link, or drains or shuts down a side.
    fn disturb(&mut self, side: Side) {
        match self.random.below(24) {
            0..=9 => {
                let link = if side == Side::Server { &mut self.up } else { &mut self.down };
                link.stalled = !link.stalled;
                self.hit("link stalled");
            }
            10 => {
                self.hit("link ended");
                self.end();
            }
            11 => at!(self, side, |watch| watch.drain()),
            12 => at!(self, side, |watch| watch.shutdown()),
            _ => {}
        }
    }

    /// Ends the transport for both sides.
    fn end(&mut self) {
        self.ended = true;
        self.server.close();
        self.client.close();
        self.up = Link::default();
        self.down = Link::default();
    }

    /// Ends the connection after a ping timeout or a failed handshake, as its owner would.
    fn react(&mut self) {
        let unresponsive = |happened: Vec<Happened>| {
            happened.iter().any(|event| matches!(event, Happened::PingTimeout | Happened::Failed))
        };
        let server = unresponsive(std::mem::take(&mut self.server.happened));
        let client = unresponsive(std::mem::take(&mut self.client.happened));
        if (server || client) && !self.ended {
            self.end();
        }
    }

    /// Ends all open calls and requests on a working link, and then closes both sides.
    fn finish(&mut self) {
        self.up.stalled = false;
        self.down.stalled = false;
        let mut rounds = 0;
        // 40 rounds of 200 ms are longer than any timeout, and now and then a ping is in flight.
        while rounds < 40 || !(self.up.is_empty() && self.down.is_empty()) {
            rounds += 1;
            assert!(rounds < 80, "the link comes to rest");
            self.pass(Duration::from_millis(200));
            self.deliver_all();
            for side in [Side::Server, Side::Client] {
                at!(self, side, |watch| for call in watch.live_calls() {
                    // An answer may end other calls of the list.
                    let _ = watch.answer(call, true);
                });
            }
            self.collect();
            self.react();
        }
        // Only requests without a timeout may still be pending.
        for waiting in [self.server.waiting(), self.client.waiting()] {
            assert!(waiting <= self.endless, "a request that has a time to end in has not ended");
        }
        if !self.ended {
            self.hit("closed in order");
        }
        self.end();
        // After the end nothing has any effect.
        for side in [Side::Server, Side::Client] {
            at!(self, side, |watch| {
                watch.hear(r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#, &Meaning::ask("7"));
                for call in watch.calls() {
                    assert!(watch.answer(call, true).is_err());
                }
                for request in watch.requests() {
                    assert!(!watch.cancel(request));
                }
                assert!(watch.ask("ping", Timeout::Default).is_none());
            });
        }
    }

    /// Inserts a message of some row between the messages of the other side.
    fn inject(&mut self, side: Side) {
        // The id of one of the latest requests of the side, or an id that it never used.
        let last = at!(self, side, |watch| watch.last_id());
        let serial = match self.random.below(5) {
            0 => 900,
            back => last.saturating_sub(u64::try_from(back).unwrap() - 1).max(1),
        };
        let (row, text, meaning) = line(&mut self.random, serial);
        let (row, text, meaning) = if self.random.one_in(5) {
            let (mut texts, mut all) = (Vec::new(), Meaning::nothing());
            for _ in 0..self.random.below(5) {
                let (row, text, meaning) = line(&mut self.random, serial);
                // In an array, a text that is no JSON would spoil the other elements. Of two
                // requests with one id, the model could not determine which one is open.
                let known = |id: &str| all.asks.iter().any(|ask| same(&ask.id, id));
                let twice = meaning.asks.iter().any(|ask| known(&ask.id));
                if !twice && !matches!(row, "C1" | "C20") {
                    texts.push(text);
                    all = all.and(meaning);
                }
            }
            ("C3", format!("[{}]", texts.join(",")), all)
        } else {
            (row, text, meaning)
        };
        if text.contains("notifications/progress") && self.random.one_in(2) {
            // The second report of the same progress does not grow.
            self.put(side, text.clone(), meaning.clone(), Some(row));
        }
        self.put(side, text, meaning, Some(row));
    }

    fn stranger_cancels(&mut self, side: Side) {
        let random = &mut self.random;
        let id = at!(self, side, |watch| {
            let live = watch.live_ids();
            if random.one_in(3) { None } else { pick(random, &live) }
        });
        let id = id.unwrap_or_else(|| IDS[self.random.below(IDS.len())].to_owned());
        let id = if self.random.one_in(8) { "1".to_owned() } else { id };
        let text = format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id},"reason":"so"}}}}"#
        );
        if self.random.one_in(3) {
            // A call uses the id again directly after the cancellation.
            let call = r#""method":"tools/call","params":{"name":"never"}"#;
            self.put(side, format!(r#"{{"jsonrpc":"2.0","id":{id},{call}}}"#), Meaning::ask(&id), Some("C5"));
        }
        self.put(side, text, Meaning::cancel(&id), None);
    }

    fn put(&mut self, side: Side, text: String, meaning: Meaning, row: Option<&'static str>) {
        if self.ended {
            return;
        }
        let link = if side == Side::Server { &mut self.up } else { &mut self.down };
        link.lines.push_front((self.now, text, meaning, row));
    }
}

const IDS: &[&str] = &["7", "\"7\"", "0", "\"\"", "7.0", "-1", "9007199254740993"];

fn pick<T: Clone>(random: &mut Random, from: &[T]) -> Option<T> {
    from.get(random.below(from.len())).cloned()
}

/// Returns a message of some row of the classification. `serial` may be the id of a pending
/// request.
fn line(random: &mut Random, serial: u64) -> (&'static str, String, Meaning) {
    let id = IDS[random.below(IDS.len())];
    let asks = [
        r#""method":"ping""#,
        r#""method":"tools/call","params":{"name":"plain"}"#,
        r#""method":"tools/call","params":{"name":"never","arguments":{}}"#,
        r#""method":"tools/call","params":{"name":"typed"}"#,
        r#""method":"x/raw""#,
        r#""method":"tools/list""#,
        r#""method":"server/discover""#,
        r#""method":"initialize""#,
    ];
    let ask = asks[random.below(asks.len())];
    let say = |text: String, meaning: Meaning| (text, meaning);
    let (row, (text, meaning)) = match random.below(26) {
        0 => ("C1", say("garbage".into(), Meaning::nothing())),
        1 => ("C2", say(["1", "\"text\"", "{}", "null"][random.below(4)].into(), Meaning::nothing())),
        2 => {
            let method = ["x/note", "tools/call", "ping"][random.below(3)];
            ("C6", say(format!(r#"{{"jsonrpc":"2.0","method":"{method}"}}"#), Meaning::nothing()))
        }
        3 => ("C7", say(format!(r#"{{"jsonrpc":"2.0","id":null,{ask}}}"#), Meaning::nothing())),
        4 => {
            let id = ["1.5", "true", "{}", "[]"][random.below(4)];
            ("C8", say(format!(r#"{{"jsonrpc":"2.0","id":{id},{ask}}}"#), Meaning::nothing()))
        }
        5 => {
            let rest = [r#""method":7"#, r#""method":"x","result":{}"#][random.below(2)];
            ("C9", say(format!(r#"{{"jsonrpc":"2.0","id":{id},{rest}}}"#), Meaning::refused(id, -32600)))
        }
        6 => ("C10", say(format!(r#"{{"id":{id},{ask}}}"#), Meaning::refused(id, -32600))),
        7 => ("C11", say(format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#), Meaning::ask(id))),
        8 => (
            "C12",
            say(format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"x/raw","params":null}}"#), Meaning::ask(id)),
        ),
        9 => (
            "C13",
            say(
                format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping","params":[]}}"#),
                Meaning::refused(id, -32602),
            ),
        ),
        10 => ("C14", say(format!(r#"{{"jsonrpc":"2.0","id":{serial},"result":{{}}}}"#), Meaning::nothing())),
        11 => (
            "C15",
            say(
                format!(r#"{{"jsonrpc":"2.0","id":{serial},"error":{{"code":-1,"message":"no"}}}}"#),
                Meaning::nothing(),
            ),
        ),
        12 => (
            "C16",
            say(
                r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"what"}}"#.into(),
                Meaning::nothing(),
            ),
        ),
        13 => ("C17", say(format!(r#"{{"jsonrpc":"2.0","id":{serial}}}"#), Meaning::nothing())),
        14 => (
            "C18",
            say(
                format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping","method":"ping"}}"#),
                Meaning::refused(id, -32600),
            ),
        ),
        15 => ("C19", say(format!(r#"{{"jsonrpc":"2.0","x":[null],"id":{id},{ask}}}"#), Meaning::ask(id))),
        16 => ("C20", say(format!("\u{feff}{{\"jsonrpc\":\"2.0\",\"id\":{id},{ask}}}"), Meaning::ask(id))),
        17 => {
            // The progress token may be that of a request, and the number may go back.
            let progress = random.below(3);
            (
                "C6",
                say(
                    format!(
                        r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{serial},"progress":{progress}}}}}"#
                    ),
                    Meaning::nothing(),
                ),
            )
        }
        _ => ("C5", say(format!(r#"{{"jsonrpc":"2.0","id":{id},{ask}}}"#), Meaning::ask(id))),
    };
    (row, text, meaning)
}
