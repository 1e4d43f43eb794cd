//! What the tests of the IDE layer share: messages of a client, written by hand, and an editor with one connection,
//! whose output is decoded.

pub use super::client_messages::{
    ACCEPTED, BINARY, CLOSE, CONNECTED, HEAD, INITIALIZE, INITIALIZED, PING, PORT, TEXT, TOKEN, call,
    cancelled, close_tab, open_diff, request, text, token,
};
pub use super::frames;
pub use super::frames::{frame, masked, read};

use std::{fmt::Display, time::Duration};

use ide_mcp::ide::kit::{Position, Range};
use ide_mcp::ide::tool::{Answer, DiffOutcome, Tool, ToolSet};
use ide_mcp::{
    Time,
    ide::{
        Agent, AgentMut, Auth, ConnId, Dialect, Mention, MentionError, Policy, Selected, Selection, Server,
        ServerConfig, ServerEvent,
    },
    mcp::ToolResult,
    rpc::{CallId, NotAnswered},
    testing::{Passed, pass, written_answer},
};

pub fn at(millis: u64) -> Time {
    Time::from_millis(millis)
}

/// Returns three tools of the crate, and one custom tool.
pub fn tools() -> ToolSet {
    ToolSet::new().handle(Tool::OpenDiff).handle(Tool::GetDiagnostics).handle(Tool::OpenFile).custom(
        "countLines",
        "Counts lines",
        r#"{"type":"object"}"#,
    )
}

/// Returns an editor without a settle time: it sends pushes from `initialized` on.
pub fn config() -> ServerConfig {
    let mut config = settling();
    config.settle = Some(Duration::ZERO);
    config
}

/// Returns an editor that waits for the settle time of a client, and whose tools read no resources.
pub fn settling() -> ServerConfig {
    let mut config =
        ServerConfig::new("editor", "1.0").policy(Policy::new(PORT, Auth::Token(token()))).tools(tools());
    config.tool_resources = false;
    config
}

pub fn selection(text: &str) -> Selection {
    Selection::new("/w/a.txt", Range::new(Position::new(0, 0), Position::new(0, 5)), text)
}

/// Returns the answer to a tool call with these blocks of text.
pub fn answer(id: impl Display, texts: &[&str]) -> String {
    let blocks: Vec<String> =
        texts.iter().map(|text| format!(r#"{{"type":"text","text":"{text}"}}"#)).collect();
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{}]}}}}"#, blocks.join(","))
}

/// Returns the text messages in the output of a server.
pub fn texts(bytes: &[u8]) -> Vec<String> {
    let frames = read(bytes).into_iter().inspect(|frame| assert_eq!(frame.key, None, "the frame is masked"));
    frames.filter(|frame| frame.first == TEXT).map(frames::Read::text).collect()
}

/// Answers a diff as saved with these contents.
pub fn save(server: &mut Server, diff: CallId, contents: &str) -> Result<(), NotAnswered> {
    let saved = DiffOutcome::Accepted { contents: contents.into() };
    server.call(diff).respond(&vs_code(&saved))
}

/// Returns the only call among these events.
pub fn called(events: &[ServerEvent]) -> CallId {
    let calls: Vec<CallId> = events
        .iter()
        .filter_map(|event| if let ServerEvent::Call { call, .. } = event { Some(call.id()) } else { None })
        .collect();
    assert_eq!(calls.len(), 1, "{events:?}");
    calls[0]
}

/// Returns the events as text, without their handles.
pub fn shown(events: &[ServerEvent]) -> Vec<String> {
    events.iter().map(show).collect()
}

pub fn show(event: &ServerEvent) -> String {
    match event {
        ServerEvent::Call { call, .. } => format!("call {}", call.name()),
        ServerEvent::CallEnded { reason: how, .. } => format!("ended {how:?}"),
        ServerEvent::DiffClosed { tab_name, reason: why, .. } => format!("diff {tab_name} {why:?}"),
        ServerEvent::EditExpected { path, .. } => format!("edit of {path}"),
        ServerEvent::EditEnded { path, reason, .. } => format!("edit of {path} {reason:?}"),
        ServerEvent::Closed { reason, .. } => format!("Closed({reason:?})"),
        ServerEvent::AdmissionPending { .. } => "AdmissionPending".to_owned(),
        ServerEvent::PeerError { error, .. } => format!("PeerError({error:?})"),
        ServerEvent::PeerFault { fault, .. } => format!("PeerFault({fault:?})"),
        event => {
            let agent = event.agent().map(|agent| format!("agent: {agent:?}, ")).unwrap_or_default();
            format!("{event:?}").replacen(&agent, "", 1)
        }
    }
}

/// An editor with one connection, and the time.
pub struct Editor {
    pub server: Server,
    pub conn: ConnId,
    now: Time,
    is_over: bool,
}

impl Editor {
    /// Returns an editor that has accepted a connection. It sends each selection at once.
    pub fn new(mut config: ServerConfig) -> Self {
        config.debounce = Duration::ZERO;
        let mut server = Server::new(config);
        let conn = server.connect(Time::ZERO);
        Self { server, conn, now: Time::ZERO, is_over: false }
    }

    /// Returns an editor whose client has sent nothing after its opening handshake at 0 ms.
    pub fn open(config: ServerConfig) -> Self {
        let mut editor = Self::new(config);
        assert_eq!(shown(&editor.feed(HEAD.as_bytes())), [""; 0]);
        assert_eq!(String::from_utf8(editor.written()).unwrap(), ACCEPTED);
        editor
    }

    /// Returns an editor whose client has been initialized and has sent `ide_connected`, all at 0 ms.
    pub fn attached(config: ServerConfig) -> Self {
        let mut editor = Self::open(config);
        for text in [INITIALIZE, INITIALIZED, CONNECTED] {
            editor.receive(text);
        }
        editor.written();
        editor
    }

    /// Returns what the editor knows of its agent, which must be attached.
    pub fn agent(&self) -> Agent<'_> {
        self.server.agent(self.conn.into()).unwrap()
    }

    /// Returns the open diffs of the agent; none if it is gone.
    pub fn open_diffs(&self) -> Vec<(CallId, &str)> {
        self.server.agent(self.conn.into()).into_iter().flat_map(Agent::open_diffs).collect()
    }

    pub fn agent_mut(&mut self) -> AgentMut<'_> {
        self.server.agent_mut(self.conn.into())
    }

    /// Returns true if the client has been accepted, and its connection has not ended.
    pub fn is_attached(&self) -> bool {
        self.server.agent(self.conn.into()).is_some()
    }

    /// Returns true if the editor has closed the connection.
    pub const fn is_over(&self) -> bool {
        self.is_over
    }

    pub fn select(&mut self, selection: Selection) -> Selected {
        self.server.select(self.now, selection)
    }

    pub fn mention(&mut self, mention: Mention) -> Result<(), MentionError> {
        self.server.mention(self.now, mention, Some(self.conn.into()))
    }

    /// Feeds bytes whose effects come with the next pass.
    pub fn feed_unpolled(&mut self, bytes: &[u8]) {
        self.server.feed(self.now, self.conn, bytes);
    }

    pub fn feed(&mut self, bytes: &[u8]) -> Vec<ServerEvent> {
        self.feed_unpolled(bytes);
        self.events()
    }

    pub fn receive(&mut self, message: &str) -> Vec<ServerEvent> {
        self.feed(&text(message))
    }

    /// Ends the client's stream. Its effects come with the next pass.
    pub fn half_eof(&mut self) {
        self.server.feed_eof(self.now, self.conn);
    }

    /// Ends both directions of the transport.
    pub fn eof(&mut self) -> Vec<ServerEvent> {
        self.half_eof();
        self.half_eof();
        self.events()
    }

    /// Sets the time and returns the events.
    pub fn at(&mut self, millis: u64) -> Vec<ServerEvent> {
        self.now = at(millis);
        self.events()
    }

    /// Makes a pass with room for this many bytes in the socket.
    pub fn pass(&mut self, room: usize) -> Passed<ServerEvent, ConnId> {
        let passed = pass(&mut self.server, self.now, room);
        if !passed.closed.is_empty() {
            assert!(!self.is_over && passed.closed == [self.conn], "{:?}", passed.closed);
            self.is_over = true;
        }
        passed
    }

    /// Returns the events, and writes nothing.
    pub fn events(&mut self) -> Vec<ServerEvent> {
        self.pass(0).events
    }

    /// Returns the number of bytes that wait for room in the socket.
    pub fn waiting(&mut self) -> usize {
        let passed = self.pass(0);
        assert!(passed.events.is_empty(), "events would be lost: {:?}", passed.events);
        passed.unwritten_bytes().len()
    }

    pub fn written(&mut self) -> Vec<u8> {
        let passed = self.pass(usize::MAX);
        assert!(passed.events.is_empty(), "events would be lost: {:?}", passed.events);
        passed.written_bytes()
    }

    pub fn texts(&mut self) -> Vec<String> {
        texts(&self.written())
    }
}

/// Returns an answer as an editor of the family of VS Code writes it.
pub fn vs_code<A: Answer>(answer: &A) -> ToolResult<'_> {
    written_answer(answer, Dialect::VsCode)
}
