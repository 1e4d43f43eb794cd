//! `ide::Server` as a subject of the laws, through one of its connections. A second connection acts
//! on its own, and a third has been removed.

use super::calls;
use super::editors::{
    Editor, IdeServer, MARK, MESSAGE, Standing, Unwritable, copied, foreign, respond, selection,
};
use super::frames::masked;
use super::laws::{Calls, Record, Subject};
use super::said::{PING, attached, open_diff, request, text};
use super::subject::Refusals;
use ide_mcp::ide::{ConnId, Mention, MentionError, Server, ServerConfig, ServerEvent, ServerWire};
use ide_mcp::mcp::{Timeout, ToolResult};
use ide_mcp::rpc::{CallId, NotOpen, NotSent};
use ide_mcp::ws::Closed;
use ide_mcp::{Machine, Output, Time, Wire};
use std::time::Duration;

/// An `ide::Server` with two clients, observed through the connection of the first.
#[derive(Debug, Default)]
pub struct IdeHost(pub IdeServer);

/// The host as the `Wire` of one of its connections. It keeps copies of the slices of `ServerWire`,
/// since a slice cannot outlive that guard.
#[derive(Debug)]
pub struct OneOfHost {
    host: Server,
    conn: ConnId,
    other: ConnId,
    /// A removed connection, whose place another connection has by now, and a call of the removed one.
    gone: (ConnId, CallId),
    space: Vec<u8>,
    outgoing: Vec<u8>,
    wants_input: bool,
    is_done: bool,
    /// True after the end of the connection, if the host counted it as unauthenticated without an
    /// event.
    is_counted: bool,
    /// True if a write was offered, and an event came before it.
    is_offered: bool,
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
        host.wire(gone).unwrap().feed(now, &[attached(), text(&open_diff("1", "gone"))].concat());
        let called = std::iter::from_fn(|| host.poll_event()).find_map(|event| match event {
            ServerEvent::Call { call, .. } => Some(call.id()),
            _ => None,
        });
        // Without a tool for diffs, a call of another session takes the place.
        let call = called.unwrap_or_else(|| foreign().0);
        host.remove(now, gone);
        while host.poll_event().is_some() {}
        let other = host.connect(now);
        host.wire(other).unwrap().feed(now, &attached());
        while host.poll_event().is_some() {}
        let conn = host.connect(now);
        while host.poll_transmit().is_some() {}
        let mut machine = Self {
            host,
            conn,
            other,
            gone: (gone, call),
            // The largest space of any wire, so that the growth of this copy does not count as the
            // machine's.
            space: Vec::with_capacity(256 * 1024),
            outgoing: Vec::new(),
            wants_input: true,
            is_done: false,
            is_counted: false,
            is_offered: false,
        };
        machine.look();
        machine
    }

    /// Acts on the wire, if the connection is still there, and updates the copies.
    fn with(&mut self, act: impl FnOnce(&mut ServerWire<'_>)) {
        if let Some(mut wire) = self.host.wire(self.conn) {
            act(&mut wire);
        }
        self.look();
    }

    fn look(&mut self) {
        let Some(mut wire) = self.host.wire(self.conn) else { return };
        self.space.resize(wire.space().len(), 0);
        self.outgoing.clear();
        self.outgoing.extend_from_slice(wire.outgoing());
        self.wants_input = wire.wants_input();
        self.is_done = wire.is_done();
    }

    /// Feeds the other connection a ping and a request, which the host answers.
    fn aside(&mut self, now: Time) {
        self.other_says(now, &[masked(PING, b"aside"), text(&request(7, "ping"))].concat());
    }

    /// Acts on the host in the place of the application.
    pub fn act(&mut self, act: impl FnOnce(&mut Server)) {
        act(&mut self.host);
        self.look();
    }

    /// Feeds the other connection these bytes, if it wants input.
    pub fn other_says(&mut self, now: Time, bytes: &[u8]) {
        let Some(mut wire) = self.host.wire(self.other) else { return };
        wire.sent(usize::MAX);
        wire.feed(now, if wire.wants_input() { bytes } else { &[] });
        self.look();
    }

    /// Takes the next step of a pass, for this connection: the socket of the other one is full.
    pub fn poll(&mut self, now: Time) -> Output<'_, ServerEvent> {
        if std::mem::take(&mut self.is_offered) {
            return Output::Write { conn: (), bytes: &self.outgoing };
        }
        loop {
            let (conn, other) = (self.conn, self.other);
            match self.host.poll(now) {
                Output::Event(event) if event.agent() == Some(conn.into()) => {
                    self.look();
                    return Output::Event(event);
                }
                Output::Event(_) => {}
                Output::Write { conn, .. } if conn == other => self.host.written(conn, 0),
                Output::Write { bytes, .. } => {
                    self.outgoing = bytes.to_vec();
                    if let Some(closed) = self.counted() {
                        self.is_offered = true;
                        return Output::Event(closed);
                    }
                    return Output::Write { conn: (), bytes: &self.outgoing };
                }
                Output::Close(closed) if closed == conn => {
                    self.is_done = true;
                    return Output::Close(());
                }
                Output::Close(_) => {}
                Output::Wait(until) => {
                    self.look();
                    return self.counted().map_or(Output::Wait(until), Output::Event);
                }
            }
        }
    }

    /// Returns the end of this connection, once, if the host has only counted it: that of a connection that was not let
    /// in. The laws of a single connection require an event.
    fn counted(&mut self) -> Option<ServerEvent> {
        let is_new = self.host.unauthenticated().total() > 0 && !self.is_counted;
        self.is_counted |= is_new;
        is_new.then_some(ServerEvent::Closed { agent: self.conn.into(), reason: Closed::Abnormal })
    }

    pub fn written(&mut self, n: usize) {
        self.host.written(self.conn, n);
        self.look();
    }

    /// Ends the transport after a failed write.
    pub fn end(&mut self, now: Time) {
        self.host.feed_eof(now, self.conn);
        self.look();
    }

    fn standing(&self) -> Standing {
        let server = self.host.connections().find(|(id, _)| *id == self.conn).map(|(_, server)| server);
        Standing {
            is_open: server.is_some_and(|server| server.is_open()),
            is_full: self.outgoing.len() >= MARK,
        }
    }
}

impl Wire for OneOfHost {
    fn space(&mut self) -> &mut [u8] {
        &mut self.space
    }

    fn filled(&mut self, now: Time, n: usize) {
        if let Some(mut wire) = self.host.wire(self.conn) {
            wire.space().copy_from_slice(&self.space);
            wire.filled(now, n);
        }
        self.look();
    }

    fn feed(&mut self, now: Time, bytes: &[u8]) {
        self.with(|wire| wire.feed(now, bytes));
    }

    fn feed_eof(&mut self, now: Time) {
        self.with(|wire| wire.feed_eof(now));
    }

    fn outgoing(&self) -> &[u8] {
        &self.outgoing
    }

    fn sent(&mut self, n: usize) {
        self.with(|wire| wire.sent(n));
    }

    fn wants_input(&self) -> bool {
        self.wants_input
    }

    fn is_done(&self) -> bool {
        self.is_done
    }

    fn trim(&mut self) {
        self.with(|wire| wire.trim());
    }
}

impl Machine for OneOfHost {
    type Event = ServerEvent;

    fn tick(&mut self, now: Time) {
        self.host.tick(now);
        self.look();
    }

    /// Returns the next event of this connection, and skips the events of the other.
    fn poll_event(&mut self) -> Option<ServerEvent> {
        let found = loop {
            match self.host.poll_event() {
                Some(event) if event.agent() == Some(self.conn.into()) => break Some(event),
                Some(_) => {}
                None => break self.counted(),
            }
        };
        self.look();
        found
    }

    fn deadline(&self) -> Option<Time> {
        self.host.deadline()
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
            6 => drop(host.client(agent).request("roots/list", None::<&()>, Timeout::Default)),
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
        machine.look();
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

    fn refuse(&self, app: &Editor, machine: &mut OneOfHost, refusals: &mut Refusals) {
        let (name, allowed) = app.refused_with(machine.standing());
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
        let unwritable = host.client(agent).notify("x", Some(&Unwritable));
        refusals.expect_err("an unserializable value", unwritable, allowed);
        let unwritable = host.client(agent).request("x", Some(&Unwritable), Timeout::Never);
        refusals.expect_err("an unserializable value", unwritable, allowed);
        if let Some(name) = name {
            refusals.expect_err(name, host.client(agent).notify("x", None::<&()>), allowed);
            refusals.expect_err(name, host.client(agent).request("x", None::<&()>, Timeout::Never), allowed);
        }
        if app.has_closed() {
            let mention = host.mention(Time::ZERO, Mention::new("/a", None), Some(agent));
            refusals.expect_err("after the end", mention, &[MentionError::NoSuchAgent]);
        }
        let of_gone = "a removed connection";
        let mention = host.mention(Time::ZERO, Mention::new("/a", None), Some(gone_agent));
        refusals.expect_err(of_gone, mention, &[MentionError::NoSuchAgent]);
        refusals.expect_err(of_gone, host.client(gone_agent).notify("x", None::<&()>), &[NotSent::Closed]);
        let asked = host.client(gone_agent).request("x", None::<&()>, Timeout::Never);
        refusals.expect_err(of_gone, asked, &[NotSent::Closed]);
        refusals.expect(of_gone, host.wire(gone).is_none());
        host.remove(Time::ZERO, gone);
        machine.look();
    }

    fn must_refuse(&self) -> &'static [&'static str] {
        &[
            "a foreign call",
            "an ended call",
            "an unserializable value",
            "before it is ready",
            "above the mark",
            "after the end",
            "a removed connection",
        ]
    }

    fn transmit(&self, machine: &mut OneOfHost) -> bool {
        machine.host.poll_transmit().is_some()
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
