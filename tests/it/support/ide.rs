//! The shared code of the tests of the IDE layer: messages of a client, written by hand, one
//! connection of an editor, and the decoding of its output.

pub use super::frames;
pub use super::frames::{frame, masked, read};
pub use super::said::{
    ACCEPTED, BINARY, CLOSE, CONNECTED, HEAD, INITIALIZE, INITIALIZED, PING, PORT, TEXT, TOKEN, call,
    cancelled, close_tab, open_diff, request, text, token,
};

use std::{fmt::Display, time::Duration};

use ide_mcp::{
    Machine, Polled, Time, Wire,
    ide::{
        Connection, DiffOutcome, Policy, Position, Range, Selection, ServerConfig, ServerEvent, Tool, ToolSet,
    },
    mcp::ToolResult,
    rpc::{CallId, RespondError, SessionId},
    testing::pass,
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
    let mut config = ServerConfig::new("editor", "1.0").policy(Policy::new(PORT, token())).tools(tools());
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

/// Writes and returns the send buffer, with everything that enters it once there is room.
pub fn written(wire: &mut impl Wire) -> Vec<u8> {
    let mut bytes = Vec::new();
    while !wire.outgoing().is_empty() {
        let len = wire.outgoing().len();
        bytes.extend_from_slice(wire.outgoing());
        wire.sent(len);
    }
    bytes
}

/// Returns the events of a machine. Checks law 5 as far as it can be seen without the time.
pub fn drain<M: Machine>(machine: &mut M) -> Vec<M::Event> {
    std::iter::from_fn(|| {
        let due = machine.deadline();
        machine.poll_event().inspect(|_| assert_ne!(due, None, "an event waits unseen"))
    })
    .collect()
}

/// Answers a diff as saved with these contents.
pub fn save(server: &mut Connection, diff: CallId, contents: &str) -> Result<(), RespondError> {
    let saved = DiffOutcome::Accepted { contents: contents.into() };
    server.call(diff).respond(&ToolResult::diff(&saved))
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

/// One connection of an editor, and the time.
pub struct Editor {
    pub server: Connection,
    now: Time,
}

impl Editor {
    pub fn new(config: ServerConfig) -> Self {
        Self { server: Connection::new(config, SessionId::new(1), Time::ZERO), now: Time::ZERO }
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
            editor.say(text);
        }
        editor.written();
        editor
    }

    pub fn feed(&mut self, bytes: &[u8]) -> Vec<ServerEvent> {
        Polled::feed(&mut self.server, self.now, (), bytes);
        pass(&mut self.server, self.now, 0).events
    }

    pub fn say(&mut self, said: &str) -> Vec<ServerEvent> {
        self.feed(&text(said))
    }

    /// Ends both directions of the transport.
    pub fn eof(&mut self) -> Vec<ServerEvent> {
        Polled::feed_eof(&mut self.server, self.now, ());
        Polled::feed_eof(&mut self.server, self.now, ());
        pass(&mut self.server, self.now, 0).events
    }

    /// Sets the time and returns the events. Checks law 4.
    pub fn at(&mut self, millis: u64) -> Vec<ServerEvent> {
        self.now = at(millis);
        pass(&mut self.server, self.now, 0).events
    }

    pub fn written(&mut self) -> Vec<u8> {
        let passed = pass(&mut self.server, self.now, usize::MAX);
        assert!(passed.events.is_empty(), "events would be lost: {:?}", passed.events);
        passed.bytes()
    }

    pub fn texts(&mut self) -> Vec<String> {
        texts(&self.written())
    }
}
