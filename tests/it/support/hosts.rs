//! `ide::Server` as a subject of the laws, through one of its connections. A second connection acts
//! on its own, and a third is over.

use super::calls;
use super::editors::{
    Editor, IdeServer, MARK, MESSAGE, Standing, Unwritable, copied, foreign, respond, selection,
};
use super::frames::masked;
use super::law::{Law, broken};
use super::laws::{Calls, Record, Subject};
use super::said::{PING, attached, open_diff, request, text};
use super::subject::Refusals;
use ide_mcp::ide::{ConnId, Mention, MentionError, Server, ServerConfig, ServerEvent};
use ide_mcp::mcp::{Timeout, ToolResult};
use ide_mcp::rpc::{CallId, NotOpen, NotSent};
use ide_mcp::testing::pass;
use ide_mcp::ws::Closed;
use ide_mcp::{Output, Polled, Time};
use std::time::Duration;

/// An `ide::Server` with two clients, observed through the connection of the first.
#[derive(Debug, Default)]
pub struct IdeHost(pub IdeServer);

/// The host as the machine of one of its connections.
#[derive(Debug)]
pub struct OneOfHost {
    host: Server,
    conn: ConnId,
    other: ConnId,
    /// A connection that is over, whose place another connection has by now, and a call of the one that is over.
    gone: (ConnId, CallId),
    /// The latest time.
    now: Time,
    /// True from the first poll of a pass to its `Wait`.
    is_passing: bool,
    /// The last offer, since the bytes that a host lends cannot be returned out of a loop.
    offer: Vec<u8>,
    /// The number of bytes that the last pass has left unwritten.
    unwritten: usize,
    /// True after the end of the connection, if the host counted it as unauthenticated without an
    /// event.
    is_counted: bool,
    /// What the host wanted, if an event came before it.
    delayed: Option<Delayed>,
}

#[derive(Clone, Copy, Debug)]
enum Delayed {
    Write,
    Close,
    Wait(Option<Time>),
}

impl OneOfHost {
    fn new(now: Time, server: ServerConfig) -> Self {
        let mut config = server;
        config.max_pending_connections = 2;
        config.debounce = Duration::from_millis(60);
        config.debounce_max = Duration::from_millis(250);
        config.mention_timeout = Duration::from_secs(31);
        let mut host = Server::new(config);
        let gone = host.connect(now);
        host.feed(now, gone, &[attached(), text(&open_diff("1", "gone"))].concat());
        let called = pass(&mut host, now, usize::MAX).events.into_iter().find_map(|event| match event {
            ServerEvent::Call { call, .. } => Some(call.id()),
            _ => None,
        });
        // Without a tool for diffs, a call of another session takes the place.
        let call = called.unwrap_or_else(|| foreign().0);
        host.feed_eof(now, gone);
        host.feed_eof(now, gone);
        assert_eq!(pass(&mut host, now, usize::MAX).closed, [gone]);
        let other = host.connect(now);
        host.feed(now, other, &attached());
        pass(&mut host, now, usize::MAX);
        let conn = host.connect(now);
        Self {
            host,
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

    /// Feeds the other connection a ping and a request, which the host answers.
    fn aside(&mut self, now: Time) {
        self.other_says(now, &[masked(PING, b"aside"), text(&request(7, "ping"))].concat());
    }

    /// Acts on the host in the place of the application.
    pub fn act(&mut self, act: impl FnOnce(&mut Server)) {
        act(&mut self.host);
    }

    /// Feeds the other connection these bytes, if it wants input.
    pub fn other_says(&mut self, now: Time, bytes: &[u8]) {
        self.sees(now);
        self.host.feed(now, self.other, if self.host.wants_input(self.other) { bytes } else { &[] });
        // The time of a host reaches a connection when the connection is used.
        self.host.space(self.conn);
    }

    /// Returns the end of this connection, once, if the host has only counted it: that of a connection that was not let
    /// in. The laws of a single connection require an event.
    fn counted(&mut self) -> Option<ServerEvent> {
        let is_new = self.host.unauthenticated().total() > 0 && !self.is_counted;
        self.is_counted |= is_new;
        is_new.then_some(ServerEvent::Closed { agent: self.conn.into(), reason: Closed::Abnormal })
    }

    fn sees(&mut self, now: Time) {
        self.now = self.now.max(now);
    }

    /// Takes the next step of a pass for this connection: what the host wants, or an event before it.
    fn next(&mut self, now: Time) -> Result<ServerEvent, Delayed> {
        let begins = !std::mem::replace(&mut self.is_passing, true);
        loop {
            let (conn, other) = (self.conn, self.other);
            let is_due = self.host.deadline().is_some_and(|due| due <= self.now);
            let wanted = match self.host.poll(now) {
                Output::Event(event) => {
                    if !is_due {
                        broken(Law::NothingUnseen, format_args!("the deadline of the host hides {event:?}"));
                    }
                    match event {
                        event if event.agent() == Some(conn.into()) => return Ok(event),
                        _ => continue,
                    }
                }
                Output::Write { conn, bytes } if conn == other => {
                    let n = bytes.len();
                    self.host.written(conn, n);
                    continue;
                }
                Output::Write { bytes, .. } => {
                    self.offer.clear();
                    self.offer.extend_from_slice(bytes);
                    // A loop over many connections looks at this one only if the host is due.
                    if begins && self.unwritten == 0 && !is_due {
                        broken(Law::NothingUnseen, "the deadline of the host hides new output");
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

    fn standing(&self, is_full: bool) -> Standing {
        let server = self.host.connections().find(|(id, _)| *id == self.conn).map(|(_, server)| server);
        Standing { is_open: server.is_some_and(|server| server.is_open()), is_full }
    }
}

impl Polled for OneOfHost {
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
        self.host.written(self.conn, n);
    }

    fn feed(&mut self, now: Time, (): (), bytes: &[u8]) {
        self.sees(now);
        self.host.feed(now, self.conn, bytes);
    }

    fn feed_eof(&mut self, now: Time, (): ()) {
        self.sees(now);
        self.host.feed_eof(now, self.conn);
    }

    fn wants_input(&self, (): ()) -> bool {
        self.host.wants_input(self.conn)
    }

    fn wants_output(&self, (): ()) -> bool {
        self.host.wants_output(self.conn)
    }

    fn space(&mut self, (): ()) -> &mut [u8] {
        self.host.space(self.conn)
    }

    fn filled(&mut self, now: Time, (): (), n: usize) {
        self.sees(now);
        self.host.filled(now, self.conn, n);
    }

    fn trim(&mut self, (): ()) {
        self.host.trim(self.conn);
    }

    fn deadline(&self) -> Option<Time> {
        if self.is_passing { Some(self.now) } else { self.host.deadline() }
    }
}

impl Subject for IdeHost {
    type Machine = OneOfHost;
    type App = Editor;
    const MARK: usize = MARK;
    const ROOM: usize = MESSAGE + MARK;

    fn name(&self) -> String {
        "ide::Server".into()
    }

    fn make(&self, now: Time) -> OneOfHost {
        OneOfHost::new(now, self.0.config())
    }

    fn app(&self, seed: u64) -> Editor {
        self.0.app(seed)
    }

    fn react(&self, app: &mut Editor, machine: &mut OneOfHost, event: &ServerEvent) {
        let (host, agent) = (&mut machine.host, machine.conn.into());
        match app.choose(12) {
            6 => drop(host.agent_mut(agent).request("roots/list", None::<&()>, Timeout::Default)),
            7 | 8 => drop(host.select(Time::ZERO, selection(app.choose(300)))),
            9 => drop(host.mention(Time::ZERO, Mention::new("/a", None), Some(agent))),
            10 => drop(host.mention(Time::ZERO, Mention::new("/b", Some((1, 2))), None)),
            11 if app.choose(3) == 2 => host.shutdown(Time::ZERO),
            _ => {}
        }
        if let Some((call, answer)) = app.direct_answer(event) {
            let _ = host.call(call).respond_direct(&answer);
        }
        app.on_event(event, &mut |call, result| respond(host.call(call), result));
    }

    fn copied(event: &ServerEvent) -> Option<ServerEvent> {
        copied(event)
    }

    fn is_closed(event: &ServerEvent) -> bool {
        matches!(event, ServerEvent::Closed { .. })
    }

    fn scripts(&self) -> Vec<Vec<u8>> {
        self.0.scripts()
    }

    fn opening(&self) -> Vec<u8> {
        self.0.opening()
    }

    fn message(&self, len: usize) -> Vec<u8> {
        self.0.message(len)
    }

    fn refuse(&self, app: &Editor, machine: &mut OneOfHost, is_full: bool, refusals: &mut Refusals) {
        let (name, allowed) = app.refused_with(machine.standing(is_full));
        let (host, (gone, stale)) = (&mut machine.host, machine.gone);
        let (agent, gone_agent) = (machine.conn.into(), gone.into());
        let text = ToolResult::text("refused");
        for call in [foreign().0, stale] {
            refusals.expect_err("a foreign call", respond(host.call(call), &text), &[NotOpen::Closed]);
            refusals.expect_err("a foreign call", host.call(call).fail(1, "refused"), &[NotOpen::Closed]);
        }
        for call in app.ended() {
            refusals.expect_err("an ended call", respond(host.call(*call), &text), Editor::ENDED);
            refusals.expect_err("an ended call", host.call(*call).fail(1, "refused"), Editor::ENDED);
        }
        let unwritable = host.agent_mut(agent).notify("x", Some(&Unwritable));
        refusals.expect_err("an unserializable value", unwritable, allowed);
        let unwritable = host.agent_mut(agent).request("x", Some(&Unwritable), Timeout::Never);
        refusals.expect_err("an unserializable value", unwritable, allowed);
        if let Some(name) = name {
            refusals.expect_err(name, host.agent_mut(agent).notify("x", None::<&()>), allowed);
            refusals.expect_err(
                name,
                host.agent_mut(agent).request("x", None::<&()>, Timeout::Never),
                allowed,
            );
        }
        if app.has_closed() {
            let mention = host.mention(Time::ZERO, Mention::new("/a", None), Some(agent));
            refusals.expect_err("after the end", mention, &[MentionError::NoSuchAgent]);
        }
        let of_gone = "a connection that is over";
        let mention = host.mention(Time::ZERO, Mention::new("/a", None), Some(gone_agent));
        refusals.expect_err(of_gone, mention, &[MentionError::NoSuchAgent]);
        refusals.expect_err(of_gone, host.agent_mut(gone_agent).notify("x", None::<&()>), &[NotSent::Closed]);
        let asked = host.agent_mut(gone_agent).request("x", None::<&()>, Timeout::Never);
        refusals.expect_err(of_gone, asked, &[NotSent::Closed]);
        refusals.expect(of_gone, host.space(gone).is_empty() && !host.wants_output(gone));
        host.feed(Time::ZERO, gone, b"too late");
        host.feed_eof(Time::ZERO, gone);
    }

    fn must_refuse(&self) -> &'static [&'static str] {
        &[
            "a foreign call",
            "an ended call",
            "an unserializable value",
            "before it is ready",
            "above the mark",
            "after the end",
            "a connection that is over",
        ]
    }

    fn aside(&self, machine: &mut OneOfHost, now: Time) -> bool {
        machine.aside(now);
        true
    }

    fn calls(&self, record: &Record<ServerEvent>) -> Calls {
        calls::of_editor(record)
    }

    fn messages(output: &[u8]) -> Vec<Vec<u8>> {
        IdeServer::messages(output)
    }

    fn under_another_id(message: &[u8]) -> Option<Vec<u8>> {
        IdeServer::under_another_id(message)
    }

    fn ends_a_call(event: &ServerEvent) -> bool {
        IdeServer::ends_a_call(event)
    }
}
