//! `ide::Server` as a subject of the laws, through one of its connections: an editor that answers at once, later, or
//! never. A second connection acts on its own, and a third is over.

use super::calls;
use super::client_messages::{
    BINARY, CLOSE, HEAD, PING, TOKEN, attached, call, cancelled, close_tab, open_diff, request, talk, text,
};
use super::editors::{
    Editor, MARK, MESSAGE, Standing, Unwritable, copied, foreign, respond, selection, server_config, tools,
};
use super::frames::{self, masked};
use super::law::{Law, broken};
use super::laws::{Calls, Record, Subject};
use super::subject::Refusals;
use ide_mcp::ide::tool::{Tool, ToolSet};
use ide_mcp::ide::{ConnId, Dialect, Mention, MentionError, Server, ServerConfig, ServerEvent};
use ide_mcp::mcp::{Timeout, ToolResult};
use ide_mcp::rpc::{CallId, ErrorObject, NotAnswered, NotSent};
use ide_mcp::testing::pass;
use ide_mcp::ws::Closed;
use ide_mcp::ws::frame::Header;
use ide_mcp::{Machine, Output, Time};
use std::time::Duration;

/// `ide::Server` with two clients, observed through the connection of one. Its application answers at once, later, or
/// never.
#[derive(Debug)]
pub struct IdeServer {
    pub tools: ToolSet,
    pub dialect: Dialect,
}

impl Default for IdeServer {
    fn default() -> Self {
        Self { tools: tools(), dialect: Dialect::VsCode }
    }
}

impl IdeServer {
    pub fn config(&self) -> ServerConfig {
        server_config(self.tools.clone()).with_dialect(self.dialect)
    }
}

/// The server as the machine of one of its connections.
#[derive(Debug)]
pub struct OneOfServer {
    server: Server,
    conn: ConnId,
    other: ConnId,
    /// A connection that is over and whose slot was reused, and a call of that connection.
    gone: (ConnId, CallId),
    /// The latest time.
    now: Time,
    /// True from the first poll of a pass to its `Wait`.
    is_passing: bool,
    /// The last offer, since the bytes that the server lends cannot be returned out of a loop.
    offer: Vec<u8>,
    /// The number of bytes that the last pass has left unwritten.
    unwritten: usize,
    /// True after the end of the connection, if the server counted it as unauthenticated without an
    /// event.
    is_counted: bool,
    /// What the server wanted, if an event came before it.
    delayed: Option<Delayed>,
}

#[derive(Clone, Copy, Debug)]
enum Delayed {
    Write,
    Close,
    Wait(Option<Time>),
}

impl OneOfServer {
    fn new(now: Time, mut config: ServerConfig) -> Self {
        config.max_pending_connections = 2;
        config.debounce = Duration::from_millis(60);
        config.debounce_max = Duration::from_millis(250);
        config.mention_timeout = Duration::from_secs(31);
        let mut server = Server::new(config);
        let gone = server.connect(now);
        server.feed(now, gone, &[attached(), text(&open_diff("1", "gone"))].concat());
        let called = pass(&mut server, now, usize::MAX).events.into_iter().find_map(|event| match event {
            ServerEvent::Call { call, .. } => Some(call.id()),
            _ => None,
        });
        // Without a tool for diffs, a call of another session takes its place.
        let call = called.unwrap_or_else(|| foreign().0);
        server.feed_eof(now, gone);
        server.feed_eof(now, gone);
        assert_eq!(pass(&mut server, now, usize::MAX).closed, [gone]);
        let other = server.connect(now);
        server.feed(now, other, &attached());
        pass(&mut server, now, usize::MAX);
        let conn = server.connect(now);
        Self {
            server,
            conn,
            other,
            gone: (gone, call),
            now,
            is_passing: false,
            offer: Vec::new(),
            unwritten: 0,
            is_counted: false,
            delayed: None,
        }
    }

    /// Feeds the other connection a ping and a request, which the server answers.
    fn aside(&mut self, now: Time) {
        self.feed_other(now, &[masked(PING, b"aside"), text(&request(7, "ping"))].concat());
    }

    /// Acts on the server as an application would.
    pub fn act(&mut self, act: impl FnOnce(&mut Server)) {
        act(&mut self.server);
    }

    /// Feeds the other connection these bytes, if it wants input.
    pub fn feed_other(&mut self, now: Time, bytes: &[u8]) {
        self.sees(now);
        self.server.feed(now, self.other, if self.server.wants_input(self.other) { bytes } else { &[] });
        // The time of a server reaches a connection when the connection is used.
        self.server.space(self.conn);
    }

    /// Returns the end of this connection, once, if the server has only counted it: that of a connection that was not
    /// accepted. The laws of a single connection require an event.
    fn counted(&mut self) -> Option<ServerEvent> {
        let is_new = self.server.unauthenticated().total() > 0 && !self.is_counted;
        self.is_counted |= is_new;
        is_new.then_some(ServerEvent::Closed { agent: self.conn.into(), reason: Closed::Abnormal })
    }

    fn sees(&mut self, now: Time) {
        self.now = self.now.max(now);
    }

    /// Takes the next step of a pass for this connection: what the server wants, or an event before it.
    fn next(&mut self, now: Time) -> Result<ServerEvent, Delayed> {
        let begins = !std::mem::replace(&mut self.is_passing, true);
        loop {
            let (conn, other) = (self.conn, self.other);
            let is_due = self.server.deadline().is_some_and(|due| due <= self.now);
            let wanted = match self.server.poll(now) {
                Output::Event(event) => {
                    if !is_due {
                        broken(
                            Law::NothingUnseen,
                            format_args!("the deadline of the server hides {event:?}"),
                        );
                    }
                    match event {
                        event if event.agent() == Some(conn.into()) => return Ok(event),
                        _ => continue,
                    }
                }
                Output::Write { conn, bytes } if conn == other => {
                    let n = bytes.len();
                    self.server.written(conn, n);
                    continue;
                }
                Output::Write { bytes, .. } => {
                    self.offer.clear();
                    self.offer.extend_from_slice(bytes);
                    // A loop over many connections looks at this one only if the server is due.
                    if begins && self.unwritten == 0 && !is_due {
                        broken(Law::NothingUnseen, "the deadline of the server hides new output");
                    }
                    Delayed::Write
                }
                Output::Close(closed) if closed == conn => Delayed::Close,
                Output::Close(_) => continue,
                Output::Wait(until) => Delayed::Wait(until),
            };
            if let Some(closed) = self.counted() {
                self.delayed = Some(wanted);
                return Ok(closed);
            }
            return Err(wanted);
        }
    }

    /// Returns the state of this connection. Only a refused send shows that it is closing.
    fn standing(&mut self, is_full: bool) -> Standing {
        let agent = self.conn.into();
        let sent = self.server.agent_mut(agent).request("ping", Some(&Unwritable), Timeout::Never);
        let closes = matches!(sent, Err(NotSent::NotReady | NotSent::Closed));
        Standing { is_open: self.server.agent(agent).is_some() && !closes, is_full }
    }
}

impl Machine for OneOfServer {
    type Event = ServerEvent;
    type Conn = ();

    fn poll(&mut self, now: Time) -> Output<'_, ServerEvent> {
        self.sees(now);
        let wanted = match self.delayed.take() {
            Some(wanted) => wanted,
            None => match self.next(now) {
                Ok(event) => return Output::Event(event),
                Err(wanted) => wanted,
            },
        };
        match wanted {
            Delayed::Write => {
                self.unwritten = self.offer.len();
                Output::Write { conn: (), bytes: &self.offer }
            }
            Delayed::Close => Output::Close(()),
            Delayed::Wait(until) => {
                self.is_passing = false;
                Output::Wait(until)
            }
        }
    }

    fn written(&mut self, (): (), n: usize) {
        self.unwritten -= n.min(self.unwritten);
        self.server.written(self.conn, n);
    }

    fn feed(&mut self, now: Time, (): (), bytes: &[u8]) {
        self.sees(now);
        self.server.feed(now, self.conn, bytes);
    }

    fn feed_eof(&mut self, now: Time, (): ()) {
        self.sees(now);
        self.server.feed_eof(now, self.conn);
    }

    fn wants_input(&self, (): ()) -> bool {
        self.server.wants_input(self.conn)
    }

    fn wants_output(&self, (): ()) -> bool {
        self.server.wants_output(self.conn)
    }

    fn space(&mut self, (): ()) -> &mut [u8] {
        self.server.space(self.conn)
    }

    fn filled(&mut self, now: Time, (): (), n: usize) {
        self.sees(now);
        self.server.filled(now, self.conn, n);
    }

    fn trim(&mut self, (): ()) {
        self.server.trim(self.conn);
    }

    fn deadline(&self) -> Option<Time> {
        if self.is_passing { Some(self.now) } else { self.server.deadline() }
    }
}

/// Returns the messages of each script for one round, whose ids begin with `round`.
fn rounds(round: &str) -> Vec<Vec<u8>> {
    let id = |id: &str| format!("{round}{id}");
    let list = request(id("1"), "tools/list");
    let diff = |number: &str, tab: &str| open_diff(id(number), tab);
    let echo = |number: &str| call(id(number), "echo", &format!(r#"{{"id":{},"deep":[[[]]]}}"#, id(number)));
    let diagnostics =
        |number: &str| call(id(number), "getDiagnostics", &format!(r#"{{"uri":"{}"}}"#, id(number)));
    let text_id = format!("\"x{round}\"");
    vec![
        talk(&[
            &list,
            &diff("2", "a"),
            &diagnostics("3"),
            &close_tab(id("4"), "a"),
            &close_tab(id("5"), "a"),
            &call(id("6"), "closeAllDiffTabs", "{}"),
        ]),
        talk(&[
            &open_diff(&text_id, "a"),
            &diff("2", "a"),
            &diff("2.0", "b"),
            &cancelled(&text_id),
            &echo("7"),
            &request(id("8"), "ping"),
            &request(id("9"), "unknown"),
            r#"{"jsonrpc":"2.0","id":1,"result":{"roots":[]}}"#,
            &call(id("10"), "closeAllDiffTabs", "{}"),
        ]),
        talk(&[
            &diff("2", "left open"),
            &echo("3"),
            &call(id("4"), "nobody", "{}"),
            &call(id("5"), "openDiff", "{}"),
            "this is no message",
            &request("null", "ping"),
            &diff("6", "cancelled"),
            &echo("7"),
            &diagnostics("8"),
            &cancelled(id("7.0")),
            &cancelled(id("6")),
            &cancelled(id("5")),
        ]),
        talk(&[&diff("2", "a"), &echo("3")]),
    ]
}

impl Subject for IdeServer {
    type Machine = OneOfServer;
    type App = Editor;
    const MARK: usize = MARK;
    const ROOM: usize = MESSAGE + MARK;

    fn name(&self) -> String {
        "ide::Server".into()
    }

    fn make(&self, now: Time) -> OneOfServer {
        OneOfServer::new(now, self.config())
    }

    fn app(&self, seed: u64) -> Editor {
        Editor::new(seed, self.dialect)
    }

    fn react(&self, app: &mut Editor, machine: &mut OneOfServer, event: &ServerEvent) {
        let (server, agent) = (&mut machine.server, machine.conn.into());
        match app.choose(12) {
            5 => server.set_tools(ToolSet::new().handle(Tool::OpenDiff).custom("echo", "", "{}")),
            6 => drop(server.agent_mut(agent).request("roots/list", None::<&()>, Timeout::Default)),
            7 | 8 => drop(server.select(Time::ZERO, selection(app.choose(300)))),
            9 => drop(server.mention(Time::ZERO, Mention::new("/a", None), Some(agent))),
            10 => drop(server.mention(Time::ZERO, Mention::new("/b", Some((1, 2))), None)),
            11 if app.choose(3) == 2 => server.shutdown(Time::ZERO),
            _ => {}
        }
        if let Some((call, answer)) = app.direct_answer(event) {
            let _ = server.call(call).respond_direct(&answer);
        }
        app.on_event(event, &mut |call, result| respond(server.call(call), result));
    }

    fn copied(event: &ServerEvent) -> Option<ServerEvent> {
        copied(event)
    }

    fn is_closed(event: &ServerEvent) -> bool {
        matches!(event, ServerEvent::Closed { .. })
    }

    /// Returns streams of messages from a client, of every kind for which a server has an answer or an
    /// event. Each call repeats its id in its arguments.
    fn scripts(&self) -> Vec<Vec<u8>> {
        let [mut scripts, second] = ["", "10"].map(rounds);
        for (script, second) in scripts.iter_mut().zip(second) {
            script.extend(second);
        }
        let whole = |script: usize, end: &[u8]| [&attached(), &scripts[script], end].concat();
        let list = talk(&[&request(1, "tools/list")]);
        vec![
            whole(0, b""),
            whole(1, &masked(BINARY, b"binary")),
            whole(2, b""),
            whole(3, &talk(&["1", "2", "3", "4", "5", "6", "7", "8", "9", "10"])),
            whole(3, &[masked(CLOSE, b"\x03\xe8"), list.clone(), masked(CLOSE, b"")].concat()),
            [HEAD.replace(TOKEN, "wrong").as_bytes(), &list].concat(),
        ]
    }

    fn opening(&self) -> Vec<u8> {
        attached()
    }

    fn message(&self, len: usize) -> Vec<u8> {
        let arguments = format!(r#"{{"padding":"{}"}}"#, "p".repeat(len.saturating_sub(100)));
        text(&format!(r#"{{"jsonrpc":"2.0","id":"same","method":"ping","params":{arguments}}}"#))
    }

    fn refuse(&self, app: &Editor, machine: &mut OneOfServer, is_full: bool, refusals: &mut Refusals) {
        let standing = machine.standing(is_full);
        let (name, allowed) = app.refused_with(standing);
        let (server, (gone, stale)) = (&mut machine.server, machine.gone);
        let (agent, gone_agent) = (machine.conn.into(), gone.into());
        if !standing.is_open {
            // On an open connection a ping is allowed before the session is open.
            let ping = server.agent_mut(agent).request("ping", None::<&()>, Timeout::Never);
            refusals.expect_err("a ping", ping, &[NotSent::NotReady, NotSent::Closed]);
        }
        let text = ToolResult::text("refused");
        for call in [foreign().0, stale] {
            refusals.expect_err("a foreign call", respond(server.call(call), &text), &[NotAnswered::Closed]);
            refusals.expect_err(
                "a foreign call",
                server.call(call).fail(ErrorObject::new(1, "refused")),
                &[NotAnswered::Closed],
            );
        }
        for call in app.ended() {
            refusals.expect_err("an ended call", respond(server.call(*call), &text), Editor::ENDED);
            refusals.expect_err(
                "an ended call",
                server.call(*call).fail(ErrorObject::new(1, "refused")),
                Editor::ENDED,
            );
        }
        let unwritable = server.agent_mut(agent).notify("x", Some(&Unwritable));
        refusals.expect_err("an unserializable value", unwritable, allowed);
        let unwritable = server.agent_mut(agent).request("x", Some(&Unwritable), Timeout::Never);
        refusals.expect_err("an unserializable value", unwritable, allowed);
        if let Some(name) = name {
            refusals.expect_err(name, server.agent_mut(agent).notify("x", None::<&()>), allowed);
            refusals.expect_err(
                name,
                server.agent_mut(agent).request("x", None::<&()>, Timeout::Never),
                allowed,
            );
        }
        if app.has_closed() {
            let mention = server.mention(Time::ZERO, Mention::new("/a", None), Some(agent));
            refusals.expect_err("after the end", mention, &[MentionError::NoSuchAgent]);
        }
        let of_gone = "a connection that is over";
        let mention = server.mention(Time::ZERO, Mention::new("/a", None), Some(gone_agent));
        refusals.expect_err(of_gone, mention, &[MentionError::NoSuchAgent]);
        refusals.expect_err(
            of_gone,
            server.agent_mut(gone_agent).notify("x", None::<&()>),
            &[NotSent::Closed],
        );
        let pending = server.agent_mut(gone_agent).request("x", None::<&()>, Timeout::Never);
        refusals.expect_err(of_gone, pending, &[NotSent::Closed]);
        refusals.expect(of_gone, server.space(gone).is_empty() && !server.wants_output(gone));
        server.feed(Time::ZERO, gone, b"too late");
        server.feed_eof(Time::ZERO, gone);
    }

    fn must_refuse(&self) -> &'static [&'static str] {
        &[
            "a ping",
            "a foreign call",
            "an ended call",
            "an unserializable value",
            "before it is ready",
            "while it closes",
            "above the mark",
            "after the end",
            "a connection that is over",
        ]
    }

    fn aside(&self, machine: &mut OneOfServer, now: Time) -> bool {
        machine.aside(now);
        true
    }

    fn calls(&self, record: &Record<ServerEvent>) -> Calls {
        calls::of_editor(record)
    }

    fn messages(output: &[u8]) -> Vec<Vec<u8>> {
        let head = if output.starts_with(b"HTTP/") { frames::head_len(output) } else { 0 };
        let (head, mut rest) = output.split_at(head);
        let mut messages = vec![head.to_vec()];
        // The head of a refusal is followed by text, not by frames.
        while let Ok(Some((header, size))) = Header::parse(rest, false) {
            let (frame, behind) = rest.split_at(size + usize::try_from(header.len).unwrap());
            messages.push(frame.to_vec());
            rest = behind;
        }
        messages.push(rest.to_vec());
        messages
    }

    fn under_another_id(message: &[u8]) -> Option<Vec<u8>> {
        Header::parse(message, false).ok().flatten()?;
        let frame = frames::read(message).into_iter().next()?;
        calls::is_answer_to_a_call(&frame).then(|| calls::under_another_id(&frame))
    }

    fn ends_a_call(event: &ServerEvent) -> bool {
        matches!(event, ServerEvent::CallEnded { .. } | ServerEvent::DiffClosed { .. })
    }
}
