//! The connections of a server: their limits, and what they share (the selection, mentions, turns).

use std::time::Duration;

use crate::support::ide::{
    ACCEPTED, CLOSE, CONNECTED, HEAD, INITIALIZE, INITIALIZED, answer, at, call, close_tab, config, masked,
    open_diff, read, request, selection, settling, show, text, texts,
};
use crate::support::passes::{lose, read_by};
use ide_mcp::ide::tool::{DiffOutcome, Tool, ToolCall, ToolSet};
use ide_mcp::testing::{Random, pass, pass_with};
use ide_mcp::{
    Output, Time,
    ide::{
        AgentId, ConnId, LockFileEvent, Mention, MentionError, Selected, Server, ServerConfig, ServerEvent,
    },
    mcp::{Outcome, Timeout, ToolResult},
    rpc::{CallId, ErrorObject, NotAnswered, NotSent},
};

const NOTHING: [&str; 0] = [];
const FULL: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\n";

/// An editor, the time, and the connections that are over.
struct Editors {
    server: Server,
    now: Time,
    closed: Vec<ConnId>,
}

impl Editors {
    fn new() -> Self {
        Self::with(config())
    }

    fn with(config: ServerConfig) -> Self {
        Self { server: Server::new(config), now: Time::ZERO, closed: Vec::new() }
    }

    fn connect(&mut self) -> ConnId {
        self.server.connect(self.now)
    }

    /// Opens a client that has sent nothing after its opening handshake.
    fn open(&mut self) -> ConnId {
        let conn = self.connect();
        self.feed(conn, HEAD.as_bytes());
        assert_eq!(self.poll(), NOTHING);
        assert_eq!(self.written(conn), ACCEPTED.as_bytes());
        conn
    }

    /// Attaches a client that accepts pushes.
    fn attach(&mut self) -> ConnId {
        let conn = self.open();
        self.hello(conn);
        self.written(conn);
        conn
    }

    /// Sends the messages of a client that accepts pushes, and drops the events.
    fn hello(&mut self, conn: ConnId) {
        for message in [INITIALIZE, INITIALIZED, CONNECTED] {
            self.receive(conn, message);
        }
    }

    fn feed(&mut self, conn: ConnId, bytes: &[u8]) {
        self.server.feed(self.now, conn, bytes);
    }

    fn receive(&mut self, conn: ConnId, message: &str) -> Vec<String> {
        self.feed(conn, &text(message));
        self.poll()
    }

    /// Returns the events of a pass in which no socket takes anything. Checks laws 4 and 5.
    fn events(&mut self) -> Vec<ServerEvent> {
        let mut events = Vec::new();
        loop {
            let due = self.server.deadline();
            let is_due = due.is_some_and(|due| due <= self.now);
            match self.server.poll(self.now) {
                Output::Event(event) => {
                    assert!(is_due, "law 5 at {:?}: {event:?}", self.now);
                    events.push(event);
                }
                Output::Close(conn) => {
                    assert!(is_due, "law 5 at {:?}: the closing of {conn:?}", self.now);
                    self.closed.push(conn);
                }
                Output::Write { .. } => {}
                Output::Wait(until) => {
                    let moves_on = until.is_none_or(|until| until > self.now);
                    assert!(moves_on, "law 4 at {:?}: {until:?}", self.now);
                    return events;
                }
            }
        }
    }

    fn poll(&mut self) -> Vec<String> {
        self.events().iter().map(shown).collect()
    }

    fn call(&mut self, conn: ConnId, message: &str) -> CallId {
        self.feed(conn, &text(message));
        let events = self.events();
        let [ServerEvent::Call { call, .. }] = &events[..] else { panic!("{events:?}") };
        call.id()
    }

    fn written(&mut self, conn: ConnId) -> Vec<u8> {
        read_by(&mut self.server, conn)
    }

    fn texts(&mut self, conn: ConnId) -> Vec<String> {
        texts(&self.written(conn))
    }

    /// Returns the connections that have something to write, in the order in which a pass offers it.
    fn offered(&mut self) -> Vec<ConnId> {
        let passed = pass(&mut self.server, self.now, 0);
        assert!(passed.events.is_empty() && passed.closed.is_empty(), "{passed:?}");
        passed.unwritten.into_iter().map(|(conn, _)| conn).collect()
    }

    /// Ends a connection whose socket is gone.
    fn lose(&mut self, conn: ConnId) {
        lose(&mut self.server, self.now, conn);
    }

    /// Sets the time, and returns the events.
    fn at(&mut self, millis: u64) -> Vec<String> {
        self.now = at(millis);
        self.poll()
    }

    fn selections(&mut self, conn: ConnId) -> Vec<String> {
        let texts = self.texts(conn).into_iter();
        texts
            .filter_map(|text| Some(text.split_once(r#""text":""#)?.1.split('"').next()?.to_owned()))
            .collect()
    }

    fn mentions(&mut self, conn: ConnId) -> Vec<String> {
        let texts = self.texts(conn).into_iter();
        texts
            .filter(|text| text.contains("at_mentioned"))
            .map(|text| text.split('"').rev().nth(1).unwrap().to_owned())
            .collect()
    }
}

fn shown(event: &ServerEvent) -> String {
    match (event, event.agent()) {
        (_, Some(agent)) => format!("{}: {}", agent.number(), show(event)),
        (ServerEvent::MentionExpired { mention }, _) => format!("expired {}", mention.file_path),
        (event, _) => format!("{event:?}"),
    }
}

fn mention(path: &str) -> Mention {
    Mention::new(path, None)
}

fn saved(contents: &str) -> DiffOutcome {
    DiffOutcome::Accepted { contents: contents.into() }
}

#[test]
fn seventeenth_client_is_refused_as_full() {
    let mut editors = Editors::new();
    let conns: Vec<ConnId> = (0..16).map(|_| editors.open()).collect();
    let late = editors.connect();
    editors.feed(late, HEAD.as_bytes());
    assert_eq!(editors.poll(), NOTHING);
    assert!(editors.written(late).starts_with(FULL));
    // A client without the token does not learn that the editor is full.
    let stranger = editors.connect();
    editors.feed(stranger, HEAD.replace("tok-", "kot-").as_bytes());
    editors.poll();
    assert!(editors.written(stranger).starts_with(b"HTTP/1.1 401 "));
    // The place of a removed connection is free again.
    editors.lose(conns[3]);
    assert_eq!(editors.poll(), ["4: Closed(Abnormal)"]);
    editors.open();
}

#[test]
fn simultaneous_clients_do_not_share_a_place() {
    let mut config = config();
    config.max_clients = 1;
    let mut editors = Editors::with(config);
    let (one, two) = (editors.connect(), editors.connect());
    for conn in [one, two] {
        editors.feed(conn, HEAD.as_bytes());
    }
    editors.poll();
    assert_eq!(editors.written(one), ACCEPTED.as_bytes());
    assert!(editors.written(two).starts_with(FULL));
}

#[test]
fn ninth_pending_connection_ends_the_oldest() {
    let mut editors = Editors::new();
    let friend = editors.attach();
    let conns: Vec<ConnId> = (0..8).map(|_| editors.connect()).collect();
    for conn in &conns {
        editors.feed(*conn, b"GET / HTTP/1.1\r\n");
    }
    assert_eq!(editors.poll(), NOTHING);
    let ninth = editors.connect();
    assert_eq!((editors.poll(), editors.server.unauthenticated().ended), (vec![], 1));
    assert_eq!(editors.closed, [conns[0]]);
    assert!(!editors.server.wants_output(conns[0]) && !editors.server.wants_input(conns[0]));
    assert!(editors.server.space(conns[0]).is_empty());
    editors.feed(ninth, HEAD.as_bytes());
    assert_eq!(editors.poll(), NOTHING);
    assert_eq!(editors.written(ninth), ACCEPTED.as_bytes());
    assert_eq!(editors.texts(friend), NOTHING);
}

#[test]
fn many_connections_leave_eight_pending() {
    let mut editors = Editors::new();
    let conns: Vec<ConnId> = (0..1000).map(|_| editors.connect()).collect();
    assert_eq!(editors.poll(), NOTHING);
    assert_eq!(editors.server.unauthenticated().ended, 992, "with or without polls in between");
    assert_eq!(conns.iter().filter(|conn| editors.server.wants_input(**conn)).count(), 8);
    assert_eq!(editors.closed, conns[..992]);
    // A refused connection with an unwritten answer does not count as pending.
    for conn in &conns[992..] {
        editors.feed(*conn, b"no HTTP\r\n\r\n");
    }
    assert_eq!((editors.poll(), editors.server.unauthenticated().refused), (vec![], 8));
    let more: Vec<ConnId> = (0..8).map(|_| editors.connect()).collect();
    assert_eq!(editors.poll(), NOTHING);
    assert!(more.iter().all(|conn| editors.server.wants_input(*conn)));
    assert!(editors.written(conns[999]).starts_with(b"HTTP/1.1 400 "), "the answer is still there");
}

#[test]
fn noisy_client_does_not_delay_quiet_client() {
    let mut editors = Editors::new();
    let (noisy, quiet) = (editors.attach(), editors.attach());
    let noise: Vec<u8> = (0..500).flat_map(|id| text(&call(id, "countLines", "{}"))).take(200_000).collect();
    editors.feed(noisy, &noise);
    editors.feed(quiet, &text(&call(1, "getDiagnostics", "{}")));
    editors.feed(quiet, &text(&call(2, "getDiagnostics", "{}")));
    let of = |output: Output<'_, ServerEvent, ConnId>| match output {
        Output::Event(event) if event.agent().is_some() => event.agent().unwrap().conn().unwrap(),
        other => panic!("{other:?}"),
    };
    let order: Vec<ConnId> = (0..5).map(|_| of(editors.server.poll(editors.now))).collect();
    assert_eq!(order, [noisy, quiet, noisy, quiet, noisy]);
}

#[test]
fn i30_resting_selection_reaches_all_clients() {
    let mut editors = Editors::new();
    let (one, two) = (editors.attach(), editors.attach());
    let deaf = editors.open();
    for (millis, text) in [(100, "a"), (120, "ab"), (149, "abc")] {
        editors.at(millis);
        assert_eq!(editors.server.select(editors.now, selection(text)), Selected::Whole);
        assert_eq!(editors.poll(), NOTHING);
    }
    assert_eq!(editors.server.deadline(), Some(at(199)), "50 ms after the last");
    assert_eq!((editors.at(198), editors.offered()), (vec![], vec![]));
    editors.now = at(199);
    assert!(matches!(editors.server.poll(editors.now), Output::Write { conn, .. } if conn == one));
    assert_eq!(editors.server.deadline(), Some(at(199)), "law 5: the other is not offered yet");
    assert!(matches!(editors.server.poll(editors.now), Output::Write { conn, .. } if conn == two));
    let wait = editors.server.poll(editors.now);
    assert!(matches!(wait, Output::Wait(Some(due)) if due > at(199)), "{wait:?}");
    for conn in [one, two] {
        assert_eq!(editors.selections(conn), ["abc"]);
    }
    // An equal selection is not sent again. A client that attaches later receives the selection.
    editors.server.select(editors.now, selection("abc"));
    editors.at(10_000);
    assert_eq!(editors.offered(), []);
    editors.hello(deaf);
    assert_eq!(editors.selections(deaf), ["abc"]);
    let late = editors.open();
    editors.hello(late);
    assert_eq!(editors.selections(late), ["abc"]);
}

#[test]
fn moving_selection_is_sent_after_200_ms() {
    let mut editors = Editors::new();
    let conn = editors.attach();
    let mut incoming = Vec::new();
    for millis in (1_000..2_000).step_by(20) {
        editors.at(millis);
        editors.server.select(editors.now, selection(&format!("{millis}")));
        editors.poll();
        incoming.extend(editors.selections(conn).into_iter().map(|text| (millis, text)));
    }
    let expected = [(1_200, "1180"), (1_400, "1380"), (1_600, "1580"), (1_800, "1780")];
    assert_eq!(incoming, expected.map(|(millis, text)| (millis, text.to_owned())));
}

#[test]
fn zero_debounce_sends_every_selection_at_once() {
    let mut config = config();
    config.debounce = Duration::ZERO;
    let mut editors = Editors::with(config);
    let conn = editors.attach();
    for text in ["a", "b"] {
        editors.server.select(editors.now, selection(text));
        assert_eq!(editors.server.deadline(), Some(editors.now));
        editors.poll();
        assert_eq!(editors.selections(conn), [text]);
    }
    assert_eq!(editors.server.select(editors.now, selection(&"x".repeat(262_145))), Selected::Truncated);
}

#[test]
fn mentions_reach_addressee_or_latest_in_order() {
    let mut editors = Editors::new();
    let (old, recent) = (editors.attach(), editors.attach());
    for (path, to) in [("1", None), ("2", Some(old)), ("3", Some(recent)), ("4", None), ("5", Some(old))] {
        assert_eq!(editors.server.mention(editors.now, mention(path), to.map(AgentId::from)), Ok(()));
    }
    assert_eq!(editors.server.deadline(), Some(editors.now), "law 5: the first mentions can be sent");
    assert_eq!(editors.offered(), [recent, old]);
    let mentions = editors.mentions_until(300, &[old, recent]);
    assert_eq!(
        mentions,
        [(0, old, "2"), (0, recent, "1"), (100, old, "5"), (100, recent, "3"), (200, recent, "4")]
            .map(|(millis, conn, path)| (millis, conn, path.to_owned()))
    );
    // After the end of the latest client, the client before it is the latest.
    editors.lose(recent);
    editors.poll();
    editors.server.mention(editors.now, mention("6"), None).unwrap();
    assert_eq!(editors.mentions(old), ["6"]);
    assert_eq!(
        editors.server.mention(editors.now, mention("7"), Some(recent.into())),
        Err(MentionError::NoSuchAgent)
    );
}

#[test]
fn mentions_wait_for_settle_time_in_order() {
    let mut editors = Editors::with(settling());
    editors.at(1_000);
    let conn = editors.open();
    editors.server.mention(editors.now, mention("1"), Some(conn.into())).unwrap();
    editors.receive(conn, INITIALIZE);
    editors.receive(conn, INITIALIZED);
    editors.server.mention(editors.now, mention("2"), None).unwrap();
    editors.server.mention(editors.now, mention("3"), Some(conn.into())).unwrap();
    assert_eq!(editors.mentions(conn), NOTHING);
    assert_eq!(editors.server.deadline(), Some(at(2_600)), "1.6 s after `initialized`");
    let mentions = editors.mentions_until(4_000, &[conn]);
    assert_eq!(mentions, [(2_600, conn, "1".into()), (2_700, conn, "2".into()), (2_800, conn, "3".into())]);
}

#[test]
fn mentions_wait_for_send_buffer_room() {
    let mut config = config();
    config.ws.outgoing = 1_000;
    let mut editors = Editors::with(config);
    let conn = editors.attach();
    let call = editors.call(conn, &call(1, "countLines", "{}"));
    editors.server.call(call).respond(&ToolResult::text("x".repeat(1_000))).unwrap();
    let waiting = pass(&mut editors.server, editors.now, 0).unwritten_bytes();
    editors.server.mention(editors.now, mention("1"), None).unwrap();
    assert_eq!(
        pass(&mut editors.server, editors.now, 0).unwritten_bytes(),
        waiting,
        "the mention waits for room"
    );
    pass(&mut editors.server, editors.now, waiting.len() - 999);
    assert!(editors.written(conn).ends_with(br#""at_mentioned","params":{"filePath":"1"}}"#));
}

#[test]
fn mentions_expire_by_time_or_with_addressee() {
    let mut editors = Editors::new();
    let deaf = editors.open();
    editors.receive(deaf, INITIALIZE);
    editors.written(deaf);
    editors.at(1_000);
    editors.server.mention(editors.now, mention("nobody"), None).unwrap();
    editors.server.mention(editors.now, mention("deaf"), Some(deaf.into())).unwrap();
    editors.at(1_001);
    editors.server.mention(editors.now, mention("later"), None).unwrap();
    assert_eq!(editors.at(30_999), NOTHING);
    editors.written(deaf);
    assert_eq!(editors.at(31_000), ["expired nobody", "expired deaf"]);
    assert_eq!(editors.at(31_001), ["expired later"]);

    for path in ["gone", "gone too"] {
        editors.server.mention(editors.now, mention(path), Some(deaf.into())).unwrap();
    }
    editors.feed(deaf, &masked(CLOSE, &[0x03, 0xe8]));
    let closed = r#"1: Closed(Remote { code: Some(CloseCode(1000)), reason: "" })"#;
    assert_eq!(editors.poll(), [closed, "expired gone", "expired gone too"], "its socket is still there");
    assert_eq!(editors.closed, []);
    assert_eq!(
        editors.server.mention(editors.now, mention("ended"), Some(deaf.into())),
        Err(MentionError::NoSuchAgent)
    );
}

#[test]
fn unwritten_mention_outlives_its_client() {
    let mut editors = Editors::new();
    let (old, recent) = (editors.attach(), editors.attach());
    for (path, to) in [("any", None), ("addressed", Some(old))] {
        editors.server.mention(editors.now, mention(path), to.map(AgentId::from)).unwrap();
    }
    // Both mentions are in the send buffers. The mention in the buffer of the second client is for
    // any client.
    editors.lose(old);
    assert_eq!(editors.poll(), ["1: Closed(Abnormal)", "expired addressed"]);
    editors.lose(recent);
    assert_eq!(editors.poll(), ["2: Closed(Abnormal)"]);
    let next = editors.attach_kept();
    assert_eq!(editors.mentions(next), ["any"]);
    // A mention that was written is not sent again.
    editors.lose(next);
    assert_eq!(editors.poll().len(), 1);
    let last = editors.attach_kept();
    assert_eq!(editors.mentions(last), NOTHING);
}

#[test]
fn mention_written_in_part_outlives_its_client() {
    let mut editors = Editors::new();
    let conn = editors.attach();
    editors.server.mention(editors.now, mention("x"), None).unwrap();
    let whole = pass(&mut editors.server, editors.now, 0).unwritten_bytes().len();
    pass(&mut editors.server, editors.now, whole - 1);
    editors.lose(conn);
    assert_eq!(editors.poll(), ["1: Closed(Abnormal)"]);
    let next = editors.attach_kept();
    assert_eq!(editors.mentions(next), ["x"]);
}

/// Checks that bytes that are written after the server has begun to close the connection count as the mention only
/// if they contain the whole mention.
#[test]
fn unwritten_mention_outlives_a_client_that_the_server_closes() {
    let mut editors = Editors::new();
    for is_whole in [false, true, false] {
        let conn = editors.attach();
        editors.server.mention(editors.now, mention("x"), None).unwrap();
        editors.server.agent_mut(conn.into()).disconnect(editors.now);
        let passed = pass(&mut editors.server, editors.now, if is_whole { usize::MAX } else { 1 });
        assert!(passed.events.is_empty() && passed.unwritten.is_empty() == is_whole, "{passed:?}");
        editors.lose(conn);
        assert_eq!(editors.poll().len(), 1, "only the end");
        let next = editors.attach_kept();
        assert_eq!(editors.mentions(next), if is_whole { vec![] } else { vec!["x"] });
        editors.lose(next);
        assert_eq!(editors.poll().len(), 1);
    }
}

#[test]
fn unwritten_mention_precedes_mentions_that_waited() {
    let mut editors = Editors::new();
    let old = editors.attach();
    for path in ["1", "2", "3"] {
        editors.server.mention(editors.now, mention(path), None).unwrap();
    }
    // The first mention is in the send buffer, and the others wait.
    assert_eq!(editors.offered(), [old]);
    editors.lose(old);
    assert_eq!(editors.poll(), ["1: Closed(Abnormal)"]);
    let next = editors.attach_kept();
    let mentions = editors.mentions_until(300, &[next]);
    assert_eq!(mentions, [(0, next, "1".into()), (100, next, "2".into()), (200, next, "3".into())]);
}

#[test]
fn queued_mentions_up_to_256_arrive() {
    let mut editors = Editors::new();
    for index in 0..256 {
        assert_eq!(editors.server.mention(editors.now, mention(&format!("{index}")), None), Ok(()));
    }
    assert_eq!(editors.server.mention(editors.now, mention("256"), None), Err(MentionError::TooMany));
    let conn = editors.open();
    editors.hello(conn);
    // The last mention is sent 25.5 s after the first: within the 30 s for which a mention waits.
    let mentions = editors.mentions_until(30_000, &[conn]);
    let expected: Vec<_> = (0..256).map(|index| (100 * index, conn, format!("{index}"))).collect();
    assert_eq!(mentions, expected);
    assert_eq!(editors.server.mention(editors.now, mention("256"), None), Ok(()));
}

impl Editors {
    /// Attaches a client that accepts pushes, and leaves them in its send buffer.
    fn attach_kept(&mut self) -> ConnId {
        let conn = self.open();
        for message in [INITIALIZE, INITIALIZED] {
            self.receive(conn, message);
        }
        conn
    }

    /// Lets the time pass up to `millis`. Returns the mentions that these clients received, each
    /// with its time.
    fn mentions_until(&mut self, millis: u64, conns: &[ConnId]) -> Vec<(u64, ConnId, String)> {
        let mut received = Vec::new();
        let mut now = u64::try_from(self.now.since_start().as_millis()).unwrap();
        while now < millis {
            for conn in conns {
                received.extend(self.mentions(*conn).into_iter().map(|path| (now, *conn, path)));
            }
            now += 1;
            assert_eq!(self.at(now), NOTHING, "at {now} ms");
        }
        received
    }
}

#[test]
fn pass_offers_connections_with_output() {
    let mut editors = Editors::new();
    let (one, two, three) = (editors.attach(), editors.attach(), editors.attach());
    assert_eq!(editors.offered(), []);
    editors.receive(two, &request(1, "ping"));
    for _ in 0..2 {
        assert_eq!(editors.offered(), [two], "in each pass, until it is written");
    }
    editors.receive(two, &request(2, "ping"));
    editors.receive(one, &request(2, "ping"));
    editors.receive(two, &request(3, "ping"));
    let passed = pass(&mut editors.server, editors.now, usize::MAX);
    let answers: Vec<_> = passed.written.iter().map(|(conn, bytes)| (*conn, texts(bytes).len())).collect();
    assert_eq!(answers, [(two, 3), (one, 1)], "one write for each, in the order of their first output");
    // Neither a notification nor `trim` causes output.
    editors.receive(three, r#"{"jsonrpc":"2.0","method":"notifications/anything"}"#);
    editors.server.trim(three);
    editors.at(1_000);
    assert_eq!(editors.offered(), []);
    // A connection is over when its close frame is written, and not before.
    editors.feed(three, &masked(CLOSE, &[0x03, 0xe8]));
    editors.poll();
    assert_eq!((editors.offered(), &editors.closed), (vec![three], &vec![]));
    let passed = pass(&mut editors.server, editors.now, usize::MAX);
    assert_eq!((passed.written.len(), passed.closed), (1, vec![three]));
    let passed = pass(&mut editors.server, editors.now, usize::MAX);
    assert!(passed.written.is_empty() && passed.closed.is_empty(), "once: {passed:?}");
}

#[test]
fn reused_slot_does_not_inherit_output() {
    let mut editors = Editors::new();
    let old = editors.attach();
    editors.feed(old, &text(&request(1, "ping")));
    editors.poll();
    editors.lose(old);
    assert_eq!(editors.poll(), ["1: Closed(Abnormal)"]);
    let new = editors.connect();
    assert_eq!((new.index(), new.number()), (0, 2), "the place is used again");
    assert_eq!(editors.offered(), []);
    assert!(
        editors.server.deadline() > Some(editors.now),
        "nothing is due, so the deadline is in the future"
    );
}

#[test]
fn reused_slot_reports_its_own_output_and_end() {
    // The earlier connection wrote more than the later one will, and was closed.
    let reused = || {
        let mut editors = Editors::new();
        let old = editors.attach();
        editors.feed(old, &masked(CLOSE, &[0x03, 0xe8]));
        editors.poll();
        assert_eq!(pass(&mut editors.server, editors.now, usize::MAX).closed, [old]);
        let new = editors.connect();
        assert_eq!((new.index(), new.number()), (0, 2), "the place is used again");
        (editors, new)
    };
    let (mut editors, new) = reused();
    editors.feed(new, HEAD.as_bytes());
    assert_eq!((editors.poll(), editors.offered()), (vec![], vec![new]), "the answer to the head");

    let (mut editors, new) = reused();
    editors.server.feed_eof(editors.now, new);
    assert_eq!((editors.poll(), editors.closed), (vec![], vec![new]), "over without output");
}

#[test]
fn reused_slot_is_queued_once() {
    let mut editors = Editors::new();
    // The place is still in the queue of the offers when the next connection gets the place.
    for number in 1..=3 {
        let conn = editors.connect();
        assert_eq!((conn.index(), conn.number()), (0, number), "the place is used again");
        for message in [HEAD.into(), text(INITIALIZE), text(INITIALIZED)].iter().map(AsRef::<[u8]>::as_ref) {
            editors.feed(conn, message);
            while matches!(editors.server.poll(editors.now), Output::Event(_)) {}
        }
        editors.lose(conn);
        let event = editors.server.poll(editors.now);
        assert!(matches!(event, Output::Event(ServerEvent::Closed { .. })), "{event:?}");
        assert!(matches!(editors.server.poll(editors.now), Output::Close(closed) if closed == conn));
    }
}

#[test]
fn idle_server_has_neither_connection_nor_report() {
    let mut editors = Editors::new();
    assert!(editors.server.is_idle());
    editors.server.on_lock_file(LockFileEvent::Lost);
    assert!(!editors.server.is_idle(), "the report waits");
    assert_eq!(editors.poll().len(), 1);
    let conn = editors.attach();
    assert!(!editors.server.is_idle(), "a connection");
    editors.lose(conn);
    editors.poll();
    assert!(editors.server.is_idle());
}

#[test]
fn only_the_event_of_a_call_has_the_call() {
    let mut editors = Editors::new();
    let conn = editors.attach();
    editors.feed(conn, &text(&open_diff(5, "tab")));
    let mut events = editors.events();
    let call = events.pop().and_then(ServerEvent::into_call);
    assert!(matches!(call, Some(ToolCall::OpenDiff(..))), "{call:?}");
    editors.lose(conn);
    events.extend(editors.events());
    assert!(!events.is_empty() && events.into_iter().all(|event| event.into_call().is_none()));
}

#[test]
fn connection_that_times_out_is_closed() {
    let mut editors = Editors::new();
    let conn = editors.attach();
    editors.feed(conn, &masked(CLOSE, &[0x03, 0xe8]));
    editors.poll();
    assert_eq!(editors.offered(), [conn]);
    assert_eq!(editors.server.deadline(), Some(at(2_000)), "the client does not read the close frame");
    assert_eq!((editors.at(2_000), &editors.closed), (vec![], &vec![conn]));
    assert_eq!(editors.server.deadline(), None);
}

#[test]
fn connection_is_lost_in_any_state() {
    /// The name of a state, the acts that lead to it, and the events after the connection is lost.
    type Step = (&'static str, fn(&mut Editors, ConnId), &'static [&'static str]);
    let steps: &[Step] = &[
        ("at once", |_, _| {}, &[]),
        ("in the head", |editors, conn| editors.feed(conn, b"GET"), &[]),
        (
            "with a head unpolled",
            |editors, conn| editors.feed(conn, HEAD.as_bytes()),
            &["2: Closed(Abnormal)"],
        ),
        (
            "refused",
            |editors, conn| {
                editors.feed(conn, b"\r\n\r\n");
                editors.poll();
            },
            &[],
        ),
        ("about to be refused", |editors, conn| editors.feed(conn, b"GET / HTTP/1.1\r\nX\r\n\r\n"), &[]),
        (
            "in the middle of a diff",
            |editors, conn| {
                attach(editors, conn);
                editors.receive(conn, &open_diff(1, "t"));
            },
            &["2: diff t Disconnected", "2: Closed(Abnormal)"],
        ),
        (
            "with a diff unpolled",
            |editors, conn| {
                attach(editors, conn);
                editors.feed(conn, &text(&open_diff(1, "t")));
            },
            &["2: call openDiff", "2: diff t Disconnected", "2: Closed(Abnormal)"],
        ),
        (
            "after its close frame",
            |editors, conn| {
                attach(editors, conn);
                editors.feed(conn, &masked(CLOSE, &[]));
                editors.poll();
            },
            &[],
        ),
    ];
    for (name, act, expected) in steps {
        let mut editors = Editors::new();
        let other = editors.attach();
        let conn = editors.connect();
        act(&mut editors, conn);
        editors.lose(conn);
        assert!(!editors.server.wants_input(conn) && !editors.server.wants_output(conn), "{name}");
        editors.lose(conn);
        assert_eq!(editors.poll(), *expected, "{name}");
        assert_eq!((editors.offered(), &editors.closed), (vec![], &vec![conn]), "{name}");
        assert_eq!(editors.server.connections().count(), 1, "{name}");
        // Calls with the old id do not reach the new connection in the same place.
        let next = editors.connect();
        assert_eq!((next.index(), next.number()), (conn.index(), 3), "{name}");
        assert_ne!(next, conn, "{name}");
        editors.lose(conn);
        assert_eq!(
            editors.server.agent_mut(conn.into()).notify("x", None::<&()>),
            Err(NotSent::Closed),
            "{name}"
        );
        assert!(!editors.server.wants_input(conn) && editors.server.wants_input(next), "{name}");
        assert_eq!(editors.receive(other, &request(9, "ping")), NOTHING, "{name}");
        assert_eq!(editors.texts(other).len(), 1, "{name}");
    }
}

fn attach(editors: &mut Editors, conn: ConnId) {
    editors.feed(conn, HEAD.as_bytes());
    editors.hello(conn);
}

#[test]
fn i35_answer_goes_to_the_calling_client() {
    let mut editors = Editors::new();
    let (one, two) = (editors.attach(), editors.attach());
    let (first, second) = (editors.call(one, &open_diff(1, "t")), editors.call(two, &open_diff(1, "t")));
    assert_ne!(first, second);
    assert_eq!((AgentId::of_call(first), AgentId::of_call(second)), (one.into(), two.into()));
    // A client closes only its own diffs.
    assert_eq!(editors.receive(one, &close_tab(2, "t")), ["1: diff t TabClosed"]);
    assert_eq!(
        editors.server.call(first).respond(&crate::support::ide::vs_code(&saved("x"))),
        Err(NotAnswered::Answered)
    );
    assert_eq!(editors.server.call(second).respond(&crate::support::ide::vs_code(&saved("x"))), Ok(()));
    assert_eq!(editors.texts(one), [answer(1, &["DIFF_REJECTED", "t"]), answer(2, &["TAB_CLOSED"])]);
    assert_eq!(editors.texts(two), [answer(1, &["FILE_SAVED", "x"])]);

    // A call from before a reconnection is closed, though the JSON-RPC id and the place are the same.
    let old = editors.call(one, &open_diff(7, "t"));
    editors.lose(one);
    editors.poll();
    let again = editors.attach();
    assert_eq!(again.index(), one.index());
    let new = editors.call(again, &open_diff(7, "t"));
    assert_eq!(
        editors.server.call(old).respond(&crate::support::ide::vs_code(&saved("x"))),
        Err(NotAnswered::Closed)
    );
    assert_eq!(editors.server.call(old).fail(ErrorObject::new(-1, "x")), Err(NotAnswered::Closed));
    assert_eq!(editors.texts(again), NOTHING);
    assert_eq!(editors.server.call(new).respond(&crate::support::ide::vs_code(&saved("y"))), Ok(()));
    assert_eq!(editors.texts(again), [answer(7, &["FILE_SAVED", "y"])]);
}

#[test]
fn close_all_diff_tabs_spares_other_clients() {
    let mut editors = Editors::new();
    let (one, two) = (editors.attach(), editors.attach());
    for tab in ["a", "b"] {
        editors.call(one, &open_diff(1, tab));
        editors.texts(one);
        let kept = editors.call(two, &open_diff(1, tab));
        let ended = editors.receive(one, &call(2, "closeAllDiffTabs", "{}"));
        assert_eq!(ended, [format!("1: diff {tab} AllClosed")]);
        let texts = [answer(1, &["DIFF_REJECTED", tab]), answer(2, &["CLOSED_1_DIFF_TABS"])];
        assert_eq!(editors.texts(one), texts);
        assert_eq!(editors.texts(two), NOTHING);
        assert_eq!(editors.server.call(kept).respond(&crate::support::ide::vs_code(&saved("x"))), Ok(()));
        assert_eq!(editors.texts(two), [answer(1, &["FILE_SAVED", "x"])]);
    }
}

#[test]
fn open_diffs_do_not_delay_diagnostics() {
    let mut editors = Editors::new();
    let conns = [editors.attach(), editors.attach()];
    let mut diffs = Vec::new();
    for conn in conns {
        for id in 0..8 {
            diffs.push(editors.call(conn, &open_diff(id, &format!("tab {id}"))));
        }
    }
    for conn in conns {
        editors.feed(conn, &text(&call(8, "getDiagnostics", "{}")));
    }
    for event in editors.events() {
        let ServerEvent::Call { call, .. } = event else { panic!("{event:?}") };
        assert!(matches!(call, ToolCall::GetDiagnostics(..)));
        editors.server.call(call).respond(&ToolResult::text("[]")).unwrap();
    }
    assert_eq!(editors.offered(), conns);
    for conn in conns {
        assert_eq!(editors.texts(conn), [answer(8, &["[]"])]);
    }
    // The application decides the diffs from the last to the first.
    for diff in diffs.iter().rev() {
        assert_eq!(editors.server.call(*diff).respond(&crate::support::ide::vs_code(&saved("x"))), Ok(()));
    }
    for conn in conns {
        let expected: Vec<String> = (0..8).rev().map(|id| answer(id, &["FILE_SAVED", "x"])).collect();
        assert_eq!(editors.texts(conn), expected);
    }
}

#[test]
fn shutdown_answers_and_closes_every_connection() {
    let mut editors = Editors::new();
    let (one, two) = (editors.attach(), editors.attach());
    let stranger = editors.connect();
    editors.call(one, &open_diff(1, "t"));
    // The loop has slept for 100 s, and has no pass before it shuts down.
    editors.now = at(100_000);
    editors.server.shutdown(editors.now);
    assert_eq!(editors.poll(), ["1: diff t ShutDown"]);
    assert_eq!(editors.server.unauthenticated().ended, 1);
    assert_eq!((editors.offered(), &editors.closed), (vec![one, two], &vec![stranger]));
    let frames = read(&editors.written(one));
    assert_eq!(frames, [(0x81, answer(1, &["DIFF_REJECTED", "t"]).into_bytes()), (CLOSE, vec![0x03, 0xe9])]);
    assert_eq!(read(&editors.written(two)), [(CLOSE, vec![0x03, 0xe9])]);
    assert_eq!(editors.server.deadline(), Some(at(102_000)));

    let late = editors.connect();
    editors.feed(late, HEAD.as_bytes());
    editors.poll();
    assert!(editors.written(late).starts_with(FULL), "a server that shuts down admits no client");

    editors.feed(two, &masked(CLOSE, &[0x03, 0xe9]));
    assert_eq!(editors.poll(), ["2: Closed(Local { clean: true })"]);
    assert_eq!(editors.at(101_999), NOTHING);
    assert_eq!(editors.at(102_000), ["1: Closed(Local { clean: false })"]);
    assert_eq!(editors.closed, [stranger, two, one]);
    assert_eq!(editors.server.connections().count(), 0);
    assert_eq!(editors.server.deadline(), None);
}

/// Checks the two timeouts of a client that reads nothing: 2 s for the close handshake, then 2 s
/// for the last bytes. The simulation found that 2 s in all are not enough.
#[test]
fn shutdown_with_stalled_client_takes_four_seconds() {
    let mut editors = Editors::new();
    let conn = editors.attach();
    editors.server.shutdown(editors.now);
    assert_eq!(editors.at(1_999), NOTHING);
    assert_eq!(editors.at(2_000), ["1: Closed(Local { clean: false })"]);
    assert_eq!(editors.at(3_999), NOTHING);
    assert_eq!(
        (editors.offered(), &editors.closed),
        (vec![conn], &vec![]),
        "the close frame is still offered"
    );
    assert_eq!(editors.at(4_000), NOTHING);
    assert_eq!(editors.closed, [conn]);
}

#[test]
fn request_to_idle_client_keeps_its_timeout() {
    let mut editors = Editors::new();
    let conn = editors.attach();
    editors.at(1_000_000);
    // Less than the timeout of the keepalive.
    let patience = Timeout::After(Duration::from_secs(10));
    let pending = editors.server.agent_mut(conn.into()).request("roots/list", None::<&()>, patience).unwrap();
    assert_eq!(AgentId::of_request(pending), conn.into());
    assert_eq!(editors.at(1_009_999), NOTHING);
    editors.now = at(1_010_000);
    let events = editors.events();
    let [ServerEvent::Outcome { request, outcome: Outcome::TimedOut, .. }] = &events[..] else {
        panic!("{events:?}")
    };
    assert_eq!(*request, pending);
}

#[test]
fn tools_change_is_announced_to_ready_clients() {
    let mut editors = Editors::new();
    let conn = editors.attach();
    let unready = editors.open();
    editors.server.set_tools(ToolSet::new().handle(Tool::GetDiagnostics));
    assert_eq!(editors.offered(), [conn], "the client that is not ready has not listed the old tools");
    assert_eq!(editors.texts(conn), [r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#]);
    let late = editors.attach();
    for message in [INITIALIZE, INITIALIZED] {
        editors.receive(unready, message);
    }
    editors.written(unready);
    for conn in [conn, unready, late] {
        editors.receive(conn, &request(1, "tools/list"));
        let texts = editors.texts(conn);
        assert!(texts[0].contains("getDiagnostics") && !texts[0].contains("openDiff"), "{texts:?}");
    }
}

/// What the outputs so far have reported: the connections that have ended, those that are over, and the open calls.
#[derive(Default)]
struct Reported {
    ended: Vec<ConnId>,
    closed: Vec<ConnId>,
    open: Vec<CallId>,
}

impl Reported {
    /// Takes an event. Checks laws 3 and 7: no event comes after `Closed`, and a call that ends was
    /// open.
    fn on_event(&mut self, event: ServerEvent) {
        let Some(agent) = event.agent() else { return };
        let conn = agent.conn().unwrap();
        assert!(!self.ended.contains(&conn) && !self.closed.contains(&conn), "law 3: {event:?}");
        match event {
            ServerEvent::Call { call, .. } => self.open.push(call.id()),
            ServerEvent::CallEnded { call, .. } | ServerEvent::DiffClosed { call, .. } => self.end(call),
            ServerEvent::Closed { .. } => {
                assert!(
                    !self.open.iter().any(|call| AgentId::of_call(*call) == agent),
                    "law 7: a call is open"
                );
                self.ended.push(conn);
            }
            _ => {}
        }
    }

    /// Takes the closing of a connection. Checks law 3: it comes once.
    fn close(&mut self, conn: ConnId) {
        assert!(!self.closed.contains(&conn), "law 3: {conn:?} is closed twice");
        self.closed.push(conn);
    }

    /// Removes an open call. Panics if the call is not open.
    fn end(&mut self, call: CallId) {
        let at = self.open.iter().position(|open| *open == call);
        self.open.swap_remove(at.unwrap());
    }
}

/// Checks laws 3, 4, 5 and 7 for a server, with random acts of clients, application, sockets and clock.
#[test]
fn server_obeys_the_laws_in_random_runs() {
    for seed in 0..300 {
        let mut random = Random::new(seed);
        let mut config = config();
        config.max_clients = 3;
        config.max_pending_connections = 2;
        let mut editors = Editors::with(config);
        let (mut conns, mut offered): (Vec<ConnId>, Vec<ConnId>) = (Vec::new(), Vec::new());
        let (mut record, mut passing_since) = (Reported::default(), None);
        for step in 0..200_u32 {
            let conn = conns.get(random.below(conns.len())).copied();
            let wired = conn.filter(|conn| !record.closed.contains(conn));
            match (random.below(13), wired) {
                (0 | 1, _) => conns.push(editors.connect()),
                (2, Some(conn)) => editors.lose(conn),
                (3, Some(conn)) => editors.server.feed_eof(editors.now, conn),
                (4, _) => {
                    editors.server.select(editors.now, selection(&format!("{step}")));
                }
                (5, _) => {
                    let to = conn.filter(|_| random.one_in(2));
                    let _ = editors.server.mention(editors.now, mention("m"), to.map(AgentId::from));
                }
                (6, _) if !record.open.is_empty() => {
                    let call = record.open[random.below(record.open.len())];
                    if editors.server.call(call).respond(&ToolResult::text("done")) == Ok(()) {
                        record.end(call);
                        assert_eq!(
                            editors.server.call(call).respond(&ToolResult::text("again")),
                            Err(NotAnswered::Answered)
                        );
                    }
                }
                (7, _) => {
                    let soon = editors.now.saturating_add(Duration::from_millis(random.number() % 3_000));
                    let due = editors.server.deadline().filter(|_| random.one_in(2));
                    editors.now = due.unwrap_or(soon).max(editors.now);
                }
                (_, Some(conn)) => {
                    let message = match random.below(10) {
                        0..4 => HEAD.into(),
                        4 => text(INITIALIZE),
                        5 => text(INITIALIZED),
                        6 => text(CONNECTED),
                        7 => text(&open_diff(step, "t")),
                        8 => text(&call(step, "getDiagnostics", "{}")),
                        _ => text(&close_tab(step, "t")),
                    };
                    if editors.server.wants_input(conn) {
                        editors.feed(conn, &message);
                    }
                }
                _ => {}
            }
            if step == 190 && random.one_in(2) {
                editors.server.shutdown(editors.now);
            }
            // Takes a part of a pass. One time in eight the pass ends, and nothing is due then.
            let ends = random.one_in(8);
            while ends || random.one_in(2) {
                // A pass has the time of its first poll.
                let passing = *passing_since.get_or_insert(editors.now);
                let is_due = editors.server.deadline().is_some_and(|due| due <= editors.now);
                match editors.server.poll(editors.now) {
                    Output::Event(event) => {
                        assert!(is_due, "law 5, seed {seed}: {event:?}");
                        record.on_event(event);
                    }
                    Output::Close(conn) => {
                        assert!(is_due, "law 5, seed {seed}: the closing of {conn:?}");
                        record.close(conn);
                    }
                    Output::Write { conn, bytes } => {
                        // What was left in an earlier pass waits for room in its socket, and not for a time.
                        let is_new = !offered.contains(&conn);
                        assert!(is_due || !is_new, "law 5, seed {seed}, step {step}: output of {conn:?}");
                        let n = random.below(bytes.len() + 1);
                        offered.retain(|of| *of != conn);
                        if n < bytes.len() {
                            offered.push(conn);
                        }
                        editors.server.written(conn, n);
                    }
                    Output::Wait(until) => {
                        assert!(until.is_none_or(|until| until > passing), "law 4, seed {seed}: {until:?}");
                        passing_since = None;
                        break;
                    }
                }
            }
        }
        for conn in &conns {
            editors.lose(*conn);
        }
        editors.events().into_iter().for_each(|event| record.on_event(event));
        std::mem::take(&mut editors.closed).into_iter().for_each(|conn| record.close(conn));
        // Each connection ended once: with an event, or with a count if it was pending.
        let counted = usize::try_from(editors.server.unauthenticated().total()).unwrap();
        assert!(record.closed.iter().all(|conn| conns.contains(conn)), "seed {seed}");
        assert_eq!(record.closed.len(), conns.len(), "seed {seed}");
        assert_eq!((record.ended.len() + counted, record.open), (conns.len(), vec![]), "seed {seed}");
        assert_eq!(editors.server.connections().count(), 0, "seed {seed}");
    }
}

/// Checks a slow handler that passes the time of its own clock to `select`.
#[test]
fn polling_terminates_when_handler_brings_time() {
    let mut editors = Editors::new();
    let conn = editors.server.connect(at(0));
    for bytes in [HEAD.as_bytes().to_vec(), text(INITIALIZE), text(INITIALIZED)] {
        editors.server.feed(at(0), conn, &bytes);
    }
    let mut polled = 0;
    while matches!(editors.server.poll(at(0)), Output::Event(_)) && polled < 100 {
        editors.server.select(at(700), selection("x"));
        polled += 1;
    }
    assert_eq!(polled, 1);
}

#[test]
fn polling_terminates_when_sockets_bring_different_times() {
    let mut server = Server::new(config());
    let (one, other) = (server.connect(at(0)), server.connect(at(0)));
    server.feed(at(0), one, b"GET");
    server.feed(at(100_000), other, b"GET");
    // At the latest time of the server, the deadlines of 5 s of both connections have passed.
    assert!(!matches!(server.poll(at(0)), Output::Event(_)));
    assert!(pass(&mut server, at(100_000), 0).events.is_empty());
    assert_eq!(server.unauthenticated().total(), 2);
}

#[test]
fn polling_terminates_at_the_end_of_time() {
    let mut editors = Editors::new();
    let conn = editors.attach();
    editors.now = Time::new(Duration::MAX);
    for _ in 0..3 {
        assert!((0..100).any(|_| matches!(editors.server.poll(editors.now), Output::Wait(_))));
        assert_eq!(editors.receive(conn, &request(1, "ping")), NOTHING);
    }
    assert_eq!(editors.texts(conn).len(), 3);
}

#[test]
fn queued_mention_precedes_later_answers() {
    for cut in [false, true] {
        let mut editors = Editors::new();
        let conn = editors.open();
        editors.receive(conn, INITIALIZE);
        editors.written(conn);
        editors.server.mention(editors.now, mention("waits"), None).unwrap();
        editors.feed(conn, &text(INITIALIZED));
        if cut {
            editors.poll();
        }
        editors.feed(conn, &text(&request(1, "ping")));
        editors.poll();
        let message: Vec<bool> =
            editors.texts(conn).iter().map(|text| text.contains("at_mentioned")).collect();
        assert_eq!(message, [true, false], "cut: {cut}");
    }
}

#[test]
fn pass_uses_the_latest_time_of_any_connection() {
    let mut editors = Editors::new();
    let (refused, other) = (editors.connect(), editors.open());
    editors.feed(refused, b"x\r\n\r\n");
    assert_eq!((editors.poll(), editors.offered()), (vec![], vec![refused]));
    editors.server.feed(at(2_000), other, b"\x89");
    // The 2 s in which the refusal must be written are over.
    assert!(matches!(editors.server.poll(Time::ZERO), Output::Close(conn) if conn == refused));
}

#[test]
fn time_that_comes_within_a_pass_counts() {
    let mut editors = Editors::new();
    let (ended, other) = (editors.attach(), editors.open());
    editors.feed(ended, &masked(CLOSE, &[0x03, 0xe8]));
    // The server does not know yet that no event follows.
    let event = editors.server.poll(editors.now);
    assert!(matches!(event, Output::Event(ServerEvent::Closed { .. })), "{event:?}");
    assert!(editors.server.wants_output(ended));
    editors.server.feed(editors.now.saturating_add(Duration::from_secs(2)), other, b"\x89");
    // The 2 s in which the answer to the close frame must be written are over.
    assert!(matches!(editors.server.poll(editors.now), Output::Close(conn) if conn == ended));
}

/// Checks that a connection that is over as soon as it is made is closed in the pass that made it.
#[test]
fn connection_without_limits_ends_in_its_pass() {
    let mut config = config();
    config.mcp.limits.depth = 0;
    let mut server = Server::new(config);
    server.on_lock_file(LockFileEvent::Lost);
    let passed = pass_with(&mut server, at(1), usize::MAX, |server, _| {
        let _ = server.connect(at(1));
    });
    assert_eq!((passed.closed.len(), passed.wait), (1, None));
}
