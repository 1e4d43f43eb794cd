//! One connection of a client: each message of the editor is checked against the requests.

use super::ledger::Ledger;
use super::model::{Expected, Message};
use super::shared::{Client, PATIENCE, Phase, Seen};
use super::totals::Counter;
use ide_mcp::Time;
use ide_mcp::ws::{self, OwnedEvent, Part};
use ide_mcp_blocking::Conn;
use serde_json::{Value, json};
use std::io;
use std::time::Duration;

/// The debounce time of selections in the editor, and so the time between two selections that it
/// sends. It sends the first at once.
const DEBOUNCE: Duration = Duration::from_millis(50);

/// The versions of MCP that the clients use. Only the first has batches.
pub(super) const VERSIONS: [&str; 4] = ["2025-03-26", "2025-11-25", "2025-06-18", "2024-11-05"];

/// One connection.
pub(super) struct Life<'c, 'a> {
    pub(super) client: &'c mut Client<'a>,
    life: u64,
    pub(super) conn: Conn<ws::Client>,
    pub(super) ledger: Ledger,
    /// The number of request ids so far.
    pub(super) requests: u64,
    /// The number of invalid messages that were sent.
    pub(super) violations: usize,
    pub(super) version: &'static str,
    /// True once the session is open.
    is_ready: bool,
    /// The beginning of the session, and the number of selections received since.
    attached: Time,
    selections: u64,
    /// The number of `tools/list` requests: the editor sends the selection again after each.
    pub(super) lists: u64,
    /// The end of the connection, if it has ended.
    pub(super) ended: Option<ws::Closed>,
}

impl<'c, 'a> Life<'c, 'a> {
    /// Connects.
    pub(super) fn begin(client: &'c mut Client<'a>, life: u64) -> Result<Self, String> {
        let (port, token) = (client.soak.editor.port, client.soak.editor.token.as_str());
        let ask = ws::ClientRequest::new(format!("127.0.0.1:{port}")).subprotocol("mcp");
        let ask = ask.field("x-claude-code-ide-authorization", token);
        let machine = ws::Client::new(ask, getrandom::fill, ws::Limits::default(), Time::ZERO);
        let (stream, _) = client.soak.connect()?;
        let conn = Conn::from_stream(stream, machine.map_err(|error| error.to_string())?);
        Ok(Self {
            version: VERSIONS[client.random.below(VERSIONS.len())],
            client,
            life,
            conn: conn.map_err(|error| error.to_string())?,
            ledger: Ledger::default(),
            requests: 0,
            violations: 0,
            is_ready: false,
            attached: Time::ZERO,
            selections: 0,
            lists: 0,
            ended: None,
        })
    }

    /// Opens the connection and the session. Returns false if the editor is full.
    pub(super) fn attach(&mut self) -> Result<bool, String> {
        let begin = self.client.soak.now();
        let (name, version) = (format!("soak-{}", self.client.number), self.life.to_string());
        let params = json!({
            "protocolVersion": self.version,
            "capabilities": {},
            "clientInfo": {"name": name, "version": version},
        });
        while !self.is_ready {
            let was_open = self.conn.machine().is_open();
            self.receive(Duration::from_millis(100))?;
            match &self.ended {
                Some(ws::Closed::NotAccepted(ws::NotAccepted::Status(503, _))) => return Ok(false),
                Some(closed) => return Err(format!("the editor refuses everybody: {closed}")),
                None => {}
            }
            if !was_open && self.conn.machine().is_open() {
                let version = json!(self.version).to_string();
                self.ask("initialize", Some(&params), Expected::of_editor("initialize", Some(&version)));
            }
            if self.client.soak.now().saturating_since(begin) > PATIENCE || self.phase() == Phase::Failed {
                return Err("the session does not open".into());
            }
        }
        self.client.soak.totals.add(Counter::Connections, 1);
        self.attached = self.client.soak.now();
        let life = self.life;
        // This must be before the first notification that the editor can send.
        self.client
            .soak
            .note(self.client.number, |seen| *seen = Seen { life, is_attached: true, ..Seen::default() });
        self.notify("notifications/initialized", &json!({}));
        self.notify("ide_connected", &json!({"pid": std::process::id()}));
        Ok(true)
    }

    /// Reads until the condition is true.
    pub(super) fn until(&mut self, what: &str, is_so: impl Fn(&Self) -> bool) -> Result<(), String> {
        let begin = self.client.soak.now();
        while !is_so(self) && self.phase() < Phase::Failed {
            self.receive(Duration::from_millis(20))?;
            if let Some(closed) = &self.ended {
                return Err(format!("before {what} the connection ended: {closed}; {:?}", self.ledger));
            }
            if self.client.soak.now().saturating_since(begin) > PATIENCE {
                return Err(format!(
                    "waited {} s in vain until {what}: {:?}",
                    PATIENCE.as_secs(),
                    self.ledger
                ));
            }
        }
        Ok(())
    }

    /// Reads until the connection ends, and returns the end.
    pub(super) fn closed(&mut self) -> Result<ws::Closed, String> {
        let begin = self.client.soak.now();
        while self.client.soak.now().saturating_since(begin) < PATIENCE && self.phase() < Phase::Failed {
            self.receive(Duration::from_millis(20))?;
            if let Some(closed) = self.ended.take() {
                return Ok(closed);
            }
        }
        Err(format!("the connection does not end within {} s", PATIENCE.as_secs()))
    }

    /// Reads messages for this time, or until the connection opens or ends.
    pub(super) fn receive(&mut self, at_most: Duration) -> Result<(), String> {
        let until = self.client.soak.now().saturating_add(at_most);
        loop {
            match self.conn.poll(until.saturating_since(self.client.soak.now())) {
                Some(OwnedEvent::Text(text)) => {
                    self.take(&text).map_err(|problem| format!("{problem}, in {text}"))?;
                }
                Some(OwnedEvent::Binary(_)) => return Err("the editor sent a binary message".into()),
                Some(OwnedEvent::Closed(closed)) => {
                    self.ended = Some(closed);
                    return Ok(());
                }
                Some(OwnedEvent::Open { subprotocol }) => {
                    if subprotocol.as_deref() != Some("mcp") {
                        return Err(format!("the editor chose {subprotocol:?}"));
                    }
                    return Ok(());
                }
                Some(_) => {}
                None if self.client.soak.now() >= until || self.conn.is_over() => return Ok(()),
                None => {}
            }
        }
    }

    /// Checks one message of the editor.
    fn take(&mut self, text: &str) -> Result<(), String> {
        if text.starts_with('[') && !self.has_batches() {
            return Err("no batch was asked for".into());
        }
        for message in Message::sent(text)? {
            if let Some(answer) = message.answer() {
                self.ledger.answered(&answer)?;
                self.client.soak.totals.add(Counter::Answers, 1);
                self.is_ready = true;
                continue;
            }
            match (message.get("id"), message.method()) {
                (Some(id), Some("ping")) => {
                    let answer = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#);
                    self.send(&answer);
                }
                (None, Some(method)) => {
                    let params = serde_json::from_str(message.get("params").unwrap_or("{}"));
                    self.check_notification(method, &params.map_err(|error| error.to_string())?)?;
                }
                (_, _) => return Err("an unexpected message".into()),
            }
        }
        Ok(())
    }

    /// Checks a notification.
    fn check_notification(&mut self, method: &str, params: &Value) -> Result<(), String> {
        let number = |at: &str| {
            params.pointer(at).and_then(Value::as_u64).and_then(|number| u32::try_from(number).ok())
        };
        let soak = self.client.soak;
        match method {
            "selection_changed" => {
                let line = number("/selection/start/line").ok_or("a selection has a line")?;
                soak.totals.add(Counter::Selections, 1);
                soak.note(self.client.number, |seen| seen.line = Some(line));
                self.selections += 1;
                let since = soak.now().saturating_since(self.attached).as_millis();
                let most = since / DEBOUNCE.as_millis() + 2 + u128::from(self.lists);
                if u128::from(self.selections) > most {
                    return Err(format!(
                        "selection {} came within {since} ms, too soon for the debounce",
                        self.selections
                    ));
                }
            }
            "at_mentioned" => {
                let line = number("/lineStart").ok_or("a mention has a line")?;
                soak.totals.add(Counter::Mentions, 1);
                let before = soak.note(self.client.number, |seen| std::mem::replace(&mut seen.mention, line));
                if before.is_some_and(|before| before >= line) {
                    return Err(format!("mention {line} came after {before:?}"));
                }
            }
            _ => return Err("an unexpected message".into()),
        }
        Ok(())
    }

    /// Sends a request with a random kind of id.
    pub(super) fn ask(&mut self, method: &str, params: Option<&Value>, expected: Expected) {
        let id = self.next_id();
        self.ask_as(id, method, params, expected);
    }

    pub(super) fn ask_as(&mut self, id: String, method: &str, params: Option<&Value>, expected: Expected) {
        let params = params.map(|params| format!(r#","params":{params}"#)).unwrap_or_default();
        let text = format!(r#"{{"jsonrpc":"2.0","method":"{method}"{params},"id":{id}}}"#);
        self.owe(id, expected);
        self.send(&text);
    }

    pub(super) fn owe(&mut self, id: String, expected: Expected) {
        self.client.soak.totals.add(Counter::Requests, 1);
        self.ledger.requested(id, expected, self.client.soak.now());
    }

    /// Returns a new id of a random kind.
    pub(super) fn next_id(&mut self) -> String {
        self.requests += 1;
        match (self.requests, self.client.random.below(5)) {
            // Real clients begin with 0.
            (1, _) => "0".into(),
            (n, 0) => format!("\"{n}\""),
            (n, 1) => format!("-{n}"),
            (n, 2) => format!("\"ünï ✻ {n}\""),
            (n, _) => n.to_string(),
        }
    }

    pub(super) fn notify(&mut self, method: &str, params: &Value) {
        self.send(&format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{params}}}"#));
    }

    /// Sends a text message, in one frame or in two.
    pub(super) fn send(&mut self, text: &str) {
        let half = text.len() / 2;
        let cut = self.client.random.one_in(20) && text.is_char_boundary(half);
        let mut sender = self.conn.machine_mut().sender();
        // An error means that the connection has ended, which is also an event.
        let _ = match text.split_at_checked(half).filter(|_| cut) {
            Some((begin, end)) => {
                sender.text_part(begin, Part::More).and_then(|()| sender.text_part(end, Part::Last))
            }
            None => sender.text(text),
        };
    }

    /// Writes the whole send buffer, so that bytes that bypass the machine can follow.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        if self.conn.flush(PATIENCE) && !self.conn.machine().wants_output() {
            return Ok(());
        }
        Err(io::ErrorKind::WriteZero.into())
    }

    /// Returns true if the version of the session has batches.
    pub(super) fn has_batches(&self) -> bool {
        self.version == VERSIONS[0]
    }

    pub(super) fn phase(&self) -> Phase {
        self.client.soak.phase()
    }
}
