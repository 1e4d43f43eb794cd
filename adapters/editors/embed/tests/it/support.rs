//! An editor and agents in memory, in virtual time.

use ide_mcp::ide::{Client, ClientConfig, ClientEvent};
use ide_mcp::mcp::{Implementation, Root};
use ide_mcp::rpc::SessionId;
use ide_mcp::testing::{Random, pass};
use ide_mcp::{Output, Time};
use ide_mcp_embed::{CommandError, EVENTS, Editor, Event};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::time::Duration;

pub(crate) const TOKEN: &str = "0123456789abcdef";

/// Returns a configuration as JSON. `more` adds members, each after a comma.
pub(crate) fn config(more: &str) -> String {
    format!(
        r#"{{"name":"E","folders":["/w"],"port":4711,"token":"{TOKEN}","tools":["openDiff","getDiagnostics","openFile","getOpenEditors","executeCode"]{more}}}"#
    )
}

/// Returns a path below `/w` as this system writes it: on Windows `/w` is the drive W:.
pub(crate) fn native(path: &str) -> String {
    if cfg!(windows) { path.replacen("/w", "W:", 1).replace('/', r"\") } else { path.into() }
}

/// An editor and its agents.
#[derive(Debug)]
pub(crate) struct Room {
    pub(crate) editor: Editor,
    pub(crate) agents: Vec<Agent>,
    pub(crate) now: Time,
    lines: u64,
    /// What was written to connections that are not our own clients.
    written: BTreeMap<u64, Vec<u8>>,
}

/// An agent and its connection.
#[derive(Debug)]
pub(crate) struct Agent {
    pub(crate) conn: u64,
    pub(crate) client: Client,
    pub(crate) events: Vec<ClientEvent>,
    is_linked: bool,
}

impl Room {
    pub(crate) fn new(more: &str) -> Self {
        let editor = Editor::new(&config(more)).unwrap();
        Self { editor, agents: Vec::new(), now: Time::ZERO, lines: 0, written: BTreeMap::new() }
    }

    /// Adds an agent with this target, and returns the events of its attachment.
    pub(crate) fn attach_at(&mut self, target: &str) -> Vec<Value> {
        let info = Implementation::new("agent", "1");
        let mut config = ClientConfig::new(
            info,
            4711,
            Some(ide_mcp::ide::discovery::AuthToken::from_text(TOKEN).unwrap()),
        );
        (config.pid, config.target) = (Some(77), target.into());
        (config.mcp.roots, config.mcp.elicitation) = (Some(vec![Root::new("file:///w")]), true);
        let seed = self.agents.len() as u64;
        let client = Client::new(config, Random::new(seed).source(), SessionId::new(seed), self.now).unwrap();
        let conn = self.editor.connect(self.now);
        self.agents.push(Agent { conn, client, events: Vec::new(), is_linked: true });
        self.settle()
    }

    pub(crate) fn attach(&mut self) -> Vec<Value> {
        self.attach_at("/")
    }

    /// Connects with this target, without our own client, and returns the number of the connection.
    pub(crate) fn connect_raw(&mut self, target: &str) -> u64 {
        let conn = self.editor.connect(self.now);
        let head = format!(
            "GET {target} HTTP/1.1\r\nHost: 127.0.0.1:4711\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
             Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: mcp\r\n\
             X-Claude-Code-Ide-Authorization: {TOKEN}\r\n\r\n"
        );
        self.editor.feed(self.now, conn, head.as_bytes());
        conn
    }

    /// Feeds a message on a connection without our own client.
    pub(crate) fn feed_message(&mut self, conn: u64, message: &Value) {
        let text = message.to_string();
        let head = match u8::try_from(text.len()) {
            Ok(short @ ..126) => vec![0x81, 0x80 | short],
            _ => [&[0x81, 0xfe], u16::try_from(text.len()).unwrap().to_be_bytes().as_slice()].concat(),
        };
        let frame = [head.as_slice(), &[0; 4], text.as_bytes()].concat();
        self.editor.feed(self.now, conn, &frame);
    }

    /// Returns what was written to a connection without our own client.
    pub(crate) fn written(&mut self, conn: u64) -> String {
        let seen = self.settle();
        assert!(seen.is_empty(), "{seen:?}");
        String::from_utf8_lossy(&self.written.remove(&conn).unwrap_or_default()).into_owned()
    }

    pub(crate) fn client(&mut self, at: usize) -> &mut Client {
        &mut self.agents[at].client
    }

    /// Cuts the connection of an agent, and returns the events.
    pub(crate) fn cut(&mut self, at: usize) -> Vec<Value> {
        self.agents[at].is_linked = false;
        self.lose(self.agents[at].conn);
        self.settle()
    }

    /// Moves bytes and events until nothing more happens, and returns the events of the editor.
    pub(crate) fn settle(&mut self) -> Vec<Value> {
        let mut seen = Vec::new();
        loop {
            let mut is_idle = true;
            for agent in self.agents.iter_mut().filter(|agent| agent.is_linked) {
                let passed = pass(&mut agent.client, self.now, usize::MAX);
                is_idle &= passed.events.is_empty() && passed.written.is_empty();
                agent.events.extend(passed.events);
                for (_, bytes) in passed.written {
                    self.editor.feed(self.now, agent.conn, &bytes);
                }
            }
            loop {
                match self.editor.poll(self.now) {
                    Output::Event(event) => seen.push(checked(&event)),
                    Output::Write { conn, bytes } => {
                        let n = bytes.len();
                        match self.agents.iter_mut().find(|agent| agent.conn == conn) {
                            Some(agent) => agent.client.feed(self.now, bytes),
                            None => self.written.entry(conn).or_default().extend_from_slice(bytes),
                        }
                        self.editor.written(conn, n);
                    }
                    Output::Close(conn) => {
                        self.agents
                            .iter_mut()
                            .filter(|agent| agent.conn == conn)
                            .for_each(|agent| agent.is_linked = false);
                    }
                    Output::Wait(_) => break,
                }
                is_idle = false;
            }
            if is_idle {
                return seen;
            }
        }
    }

    /// Ends a connection in both directions.
    pub(crate) fn lose(&mut self, conn: u64) {
        self.editor.feed_eof(self.now, conn);
        self.editor.feed_eof(self.now, conn);
    }

    /// Lets time pass, and returns the events.
    pub(crate) fn wait(&mut self, millis: u64) -> Vec<Value> {
        let end = self.now.saturating_add(Duration::from_millis(millis));
        let mut seen = Vec::new();
        loop {
            let clients = self.agents.iter().filter(|agent| agent.is_linked);
            let due = clients.filter_map(|agent| agent.client.deadline()).chain(self.editor.deadline()).min();
            self.now = due.filter(|due| *due < end).unwrap_or(end).max(self.now);
            seen.extend(self.settle());
            if self.now >= end {
                return seen;
            }
            self.now = self.now.saturating_add(Duration::from_millis(1)).min(end);
        }
    }

    /// Runs a command, and returns the events.
    pub(crate) fn command(&mut self, command: &str) -> Result<Vec<Value>, CommandError> {
        self.lines += 1;
        self.editor.command(self.now, self.lines, command)?;
        Ok(self.settle())
    }

    /// Runs a command, and returns its only event.
    pub(crate) fn one(&mut self, command: &str) -> Value {
        let events = self.command(command).unwrap_or_else(|error| panic!("{command}: {error}"));
        assert_eq!(events.len(), 1, "{command}: {events:?}");
        events.into_iter().next().unwrap()
    }

    /// Runs a command that has no event.
    pub(crate) fn no_event(&mut self, command: &str) {
        let events = self.command(command).unwrap_or_else(|error| panic!("{command}: {error}"));
        assert_eq!(events, [Value::Null; 0], "{command}");
    }

    pub(crate) fn refused(&mut self, command: &str) -> String {
        self.command(command).unwrap_err().to_string()
    }

    /// Returns the latest outcome of a request of an agent, as a string.
    pub(crate) fn outcome(&self, at: usize) -> String {
        let outcome = self.agents[at].events.iter().rev().find_map(|event| match event {
            ClientEvent::Outcome { outcome, .. } => Some(outcome),
            _ => None,
        });
        match outcome.unwrap() {
            ide_mcp::mcp::Outcome::Result(raw) => raw.get().to_owned(),
            other => format!("{other:?}"),
        }
    }
}

/// Checks that an event is one line of JSON with the members of its row in the table, and returns it.
pub(crate) fn checked(event: &Event) -> Value {
    let text = event.to_json();
    assert!(!text.contains(['\n', '\r']), "{text}");
    let value: Value = serde_json::from_str(&text).unwrap();
    let row = EVENTS.iter().find(|row| row.name == event.name()).unwrap();
    let object: &Map<String, Value> = value.as_object().unwrap();
    for member in row.members {
        assert!(
            object.contains_key(member.name) || !member.is_required,
            "{} has no {}",
            row.name,
            member.name
        );
        assert_eq!(event.member(member.name).is_some(), object.contains_key(member.name));
    }
    for name in object.keys() {
        let is_known = name == "event" || row.members.iter().any(|member| member.name == name);
        assert!(is_known, "{name} is not in the row {}", row.name);
    }
    value
}

/// Returns the names of events.
pub(crate) fn names(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["event"].as_str().unwrap()).collect()
}
