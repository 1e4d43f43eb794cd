//! A small editor and a small agent, built from the public API of `ws` and `mcp` alone: the work of
//! `ide::Connection` without its tools. A program without the lock file and the dialects of editors can
//! be written like this.

use ide_mcp::mcp::{self, Implementation, Outcome, RawTools, Timeout, ToolResult, ToolSpec};
use ide_mcp::rpc::{CallId, RequestId, SessionId};
use ide_mcp::testing::Random;
use ide_mcp::ws::{self, CloseCode, Closed, Event, HeaderField, Refusal, Status};
use ide_mcp::{Machine, Output, Time};

const TOKEN: &str = "0123456789abcdef";
const NOW: Time = Time::ZERO;

#[test]
fn every_call_has_one_answer() {
    for seed in 0..200 {
        let mut random = Random::new(seed);
        let (mut editor, mut agent) = (Editor::new(), Agent::new(TOKEN, seed));
        let (mut pending, mut open, mut answered) = (Vec::new(), Vec::new(), Vec::new());
        let (mut pushed, mut seen) = (0, 0);
        while answered.len() < 20 {
            while let Some(event) = agent.poll() {
                match event {
                    AgentEvent::Ready => {
                        for _ in 0..20 {
                            pending.push(agent.call("ask").unwrap());
                        }
                    }
                    AgentEvent::Answer(request, text) => {
                        assert_eq!(text, "42", "seed {seed}");
                        assert!(!answered.contains(&request), "seed {seed}: a second answer");
                        answered.push(request);
                    }
                    AgentEvent::Pushed => seen += 1,
                    AgentEvent::Closed(closed) => panic!("seed {seed}: {closed}"),
                }
            }
            transfer(&mut agent.ws, &mut editor.ws, random.below(50));
            while let Some(event) = editor.poll() {
                match event {
                    EditorEvent::Call(call) => open.push(call),
                    EditorEvent::Closed(closed) => panic!("seed {seed}: {closed}"),
                }
            }
            // The editor answers later, and in any order.
            if !open.is_empty() && random.below(4) == 0 {
                let call = open.swap_remove(random.below(open.len()));
                assert!(editor.answer(call, "42"), "seed {seed}");
                assert!(!editor.answer(call, "43"), "seed {seed}: it is answered already");
                pushed += u32::from(editor.push());
            }
            transfer(&mut editor.ws, &mut agent.ws, random.below(50));
        }
        assert_eq!(pending.len(), answered.len(), "seed {seed}");
        assert!(pending.iter().all(|request| answered.contains(request)), "seed {seed}");
        assert!(seen <= pushed && editor.mcp.open_calls() == 0, "seed {seed}");
    }
}

#[test]
fn open_calls_end_with_the_connection() {
    let (mut editor, mut agent) = (Editor::new(), Agent::new(TOKEN, 1));
    let (mut call, mut pending) = (None, None);
    while call.is_none() {
        while let Some(event) = agent.poll() {
            if let AgentEvent::Ready = event {
                pending = Some(agent.call("ask").unwrap());
            }
        }
        transfer(&mut agent.ws, &mut editor.ws, usize::MAX);
        while let Some(event) = editor.poll() {
            if let EditorEvent::Call(open) = event {
                call = Some(open);
            }
        }
        transfer(&mut editor.ws, &mut agent.ws, usize::MAX);
    }
    editor.shutdown();
    assert!(!editor.answer(call.unwrap(), "late"), "the call was answered as failed");
    let (mut editor_end, mut agent_end, mut failed) = (None, None, None);
    let (mut editor_is_over, mut agent_is_over) = (false, false);
    for _ in 0..10 {
        while let Some(event) = agent.poll() {
            match event {
                AgentEvent::Answer(request, text) => failed = Some((request, text)),
                AgentEvent::Closed(closed) => agent_end = Some(closed),
                _ => {}
            }
        }
        agent_is_over |= transfer(&mut agent.ws, &mut editor.ws, usize::MAX);
        while let Some(event) = editor.poll() {
            if let EditorEvent::Closed(closed) = event {
                editor_end = Some(closed);
            }
        }
        editor_is_over |= transfer(&mut editor.ws, &mut agent.ws, usize::MAX);
    }
    assert_eq!(failed.map(|(request, _)| request), pending);
    assert_eq!(editor_end, Some(Closed::Local { clean: true }));
    assert!(matches!(agent_end, Some(Closed::Remote { code: Some(CloseCode::GOING_AWAY), .. })));
    assert!(editor_is_over && agent_is_over);
}

#[test]
fn a_wrong_token_is_refused() {
    let (mut editor, mut agent) = (Editor::new(), Agent::new("wrong", 1));
    transfer(&mut agent.ws, &mut editor.ws, usize::MAX);
    assert!(matches!(editor.poll(), Some(EditorEvent::Closed(Closed::Refused(_)))));
    assert!(editor.poll().is_none());
    assert!(transfer(&mut editor.ws, &mut agent.ws, usize::MAX), "the editor is over");
    assert!(matches!(agent.poll(), Some(AgentEvent::Closed(Closed::NotAccepted(_)))));
}

/// Runs a pass, which moves at most `most` bytes to the other machine. Returns true if the connection is over. The events
/// before it must have been polled.
fn transfer<M: Machine<Conn = ()>>(from: &mut M, to: &mut impl Machine<Conn = ()>, most: usize) -> bool {
    let (mut left, mut is_over) = (most, false);
    loop {
        match from.poll(NOW) {
            Output::Event(event) => panic!("{event:?} was not polled"),
            Output::Write { bytes, .. } => {
                let n = if to.wants_input(()) { bytes.len().min(left) } else { 0 };
                to.feed(NOW, (), &bytes[..n]);
                from.written((), n);
                left -= n;
            }
            Output::Close(()) => is_over = true,
            Output::Wait(_) => return is_over,
        }
    }
}

/// The editor's side of a connection: a WebSocket and the MCP session on it.
struct Editor {
    ws: ws::Server,
    mcp: mcp::Server<RawTools>,
    /// The end of the connection, until the events before it are polled.
    closed: Option<Closed>,
}

enum EditorEvent {
    Call(CallId),
    Closed(Closed),
}

impl Editor {
    fn new() -> Self {
        let tools = RawTools(vec![ToolSpec::new("ask", "Asks the person", r#"{"type":"object"}"#)]);
        let config = mcp::ServerConfig::new(Implementation::new("small editor", "1.0"));
        Self {
            ws: ws::Server::new(ws::Limits::default(), NOW),
            mcp: mcp::Server::new(config, tools, SessionId::new(1)),
            closed: None,
        }
    }

    /// Returns the next event. Every message that has arrived is received before the session looks at its timers.
    fn poll(&mut self) -> Option<EditorEvent> {
        while let Some((event, mut sender)) = self.ws.poll_borrowed() {
            match event {
                Event::Upgrade(request) => {
                    let is_welcome = matches!(
                        request.single("authorization"),
                        HeaderField::One(token) if token == TOKEN.as_bytes()
                    );
                    match is_welcome {
                        true => self.ws.accept(None).unwrap(),
                        false => self.ws.reject(Refusal::new(Status::Unauthorized, "wrong token")).unwrap(),
                    }
                }
                Event::Text(text) => self.mcp.receive(NOW, text, &mut sender),
                Event::Binary(_) => sender.close(CloseCode::UNSUPPORTED, "only texts").unwrap(),
                Event::Closed(closed) => {
                    self.mcp.close();
                    self.closed = Some(closed);
                }
                _ => {}
            }
        }
        // Above the high-water mark messages wait undelivered, and the timers must wait for them.
        if self.ws.is_full() && !self.ws.has_ended() {
            return None;
        }
        while let Some(event) = self.mcp.poll(NOW, &mut self.ws.sender()) {
            if let Some(event) = self.translate(event) {
                return Some(event);
            }
        }
        self.closed.take().map(EditorEvent::Closed)
    }

    fn translate(&mut self, event: mcp::ServerEvent<mcp::RawCall>) -> Option<EditorEvent> {
        match event {
            mcp::ServerEvent::Call { call, .. } => return Some(EditorEvent::Call(call)),
            mcp::ServerEvent::TooManyFaults => self.close(CloseCode::POLICY, "too many faults"),
            mcp::ServerEvent::PingTimeout => self.close(CloseCode::GOING_AWAY, "no answer to a ping"),
            _ => {}
        }
        None
    }

    fn close(&mut self, code: CloseCode, reason: &str) {
        self.ws.sender().close(code, reason).unwrap();
    }

    /// Answers a call. Returns false if the call is not open.
    fn answer(&mut self, call: CallId, text: &str) -> bool {
        self.mcp.respond(call, &ToolResult::text(text), &mut self.ws.sender()).is_ok()
    }

    /// Sends a notification. Returns false if there is no room.
    fn push(&mut self) -> bool {
        self.mcp.notify("selection_changed", None::<&()>, &mut self.ws.sender()).is_ok()
    }

    fn shutdown(&mut self) {
        self.mcp.shutdown("the editor shuts down", &mut self.ws.sender());
        self.close(CloseCode::GOING_AWAY, "");
    }
}

/// The agent's side of a connection.
struct Agent {
    ws: ws::Client,
    mcp: mcp::Client,
    closed: Option<Closed>,
}

enum AgentEvent {
    Ready,
    Answer(RequestId, String),
    Pushed,
    Closed(Closed),
}

impl Agent {
    fn new(token: &str, seed: u64) -> Self {
        let request = ws::ClientRequest::new("127.0.0.1").field("authorization", token);
        let config = mcp::ClientConfig::new(Implementation::new("small agent", "1.0"));
        Self {
            ws: ws::Client::new(request, Random::new(seed).source(), ws::Limits::default(), NOW).unwrap(),
            mcp: mcp::Client::new(config, SessionId::new(2)),
            closed: None,
        }
    }

    fn poll(&mut self) -> Option<AgentEvent> {
        while let Some((event, mut sender)) = self.ws.poll_borrowed() {
            match event {
                Event::Open { .. } => self.mcp.start(NOW, &mut sender).unwrap(),
                Event::Text(text) => self.mcp.receive(NOW, text, &mut sender),
                Event::Closed(closed) => {
                    self.mcp.close();
                    self.closed = Some(closed);
                }
                _ => {}
            }
        }
        if self.ws.is_full() && !self.ws.has_ended() {
            return None;
        }
        while let Some(event) = self.mcp.poll(NOW, &mut self.ws.sender()) {
            if let Some(event) = Self::translate(event) {
                return Some(event);
            }
        }
        self.closed.take().map(AgentEvent::Closed)
    }

    fn translate(event: mcp::ClientEvent) -> Option<AgentEvent> {
        Some(match event {
            mcp::ClientEvent::Ready => AgentEvent::Ready,
            mcp::ClientEvent::Outcome { request, outcome } => {
                let text = match outcome {
                    Outcome::Result(result) => {
                        ToolResult::read(&result).unwrap().texts().next().unwrap().to_owned()
                    }
                    other => format!("{other:?}"),
                };
                AgentEvent::Answer(request, text)
            }
            mcp::ClientEvent::Notification { .. } => AgentEvent::Pushed,
            _ => return None,
        })
    }

    fn call(&mut self, tool: &str) -> Result<RequestId, ide_mcp::rpc::NotSent> {
        self.mcp.call_tool(tool, &(), Timeout::Never, &mut self.ws.sender())
    }
}
