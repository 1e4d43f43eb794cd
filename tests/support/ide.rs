//! What the tests of the IDE layer share: a client's bytes written by hand, one connection to talk to, and one that
//! is read back.
#![allow(
    dead_code,
    missing_docs,
    missing_debug_implementations,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::panic,
    clippy::wildcard_enum_match_arm,
    reason = "shared by several tests, none of which uses all of it"
)]

mod frames;
pub mod pair;
pub mod random;

use std::fmt::Display;

use ide_mcp::{
    Machine, Time, Wire,
    ide::{AuthToken, Policy, Position, Range, Selection, Server, ServerConfig, ServerEvent, Tool, ToolSet},
    mcp::Implementation,
    rpc::{CallId, SessionId},
};

pub const PORT: u16 = 41111;
pub const TOKEN: &str = "tok-0123456789abcdef0123456789abcdef";

/// The head that the real client sends; the key is that of RFC 6455 section 1.3.
pub const HEAD: &str = "GET / HTTP/1.1\r\nHost: 127.0.0.1:41111\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
    Sec-WebSocket-Version: 13\r\nSec-WebSocket-Extensions: permessage-deflate; client_max_window_bits\r\n\
    Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: mcp\r\n\
    User-Agent: claude-code/2.1.330 (cli)\r\n\
    X-Claude-Code-Ide-Authorization: tok-0123456789abcdef0123456789abcdef\r\n\r\n";

/// The answer to [`HEAD`].
pub const ACCEPTED: &str = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
    Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\nSec-WebSocket-Protocol: mcp\r\n\r\n";

pub const INITIALIZE: &str = r#"{"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"claude-code","version":"2.1.330"}},"jsonrpc":"2.0","id":0}"#;
pub const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
pub const CONNECTED: &str = r#"{"jsonrpc":"2.0","method":"ide_connected","params":{"pid":24316}}"#;

/// The first bytes of frames that end their message.
pub const TEXT: u8 = 0x81;
pub const BINARY: u8 = 0x82;
pub const CLOSE: u8 = 0x88;
pub const PING: u8 = 0x89;

pub fn at(millis: u64) -> Time {
    Time::from_millis(millis)
}

pub fn token() -> AuthToken {
    AuthToken::from_text(TOKEN).unwrap()
}

/// Everything that can be handled, and one tool of the application's own.
pub fn tools() -> ToolSet {
    ToolSet::new().handle(Tool::OpenDiff).handle(Tool::GetDiagnostics).handle(Tool::OpenFile).own(
        "countLines",
        "Counts lines",
        r#"{"type":"object"}"#,
    )
}

pub fn config() -> ServerConfig {
    ServerConfig::new(Implementation::new("editor", "1.0"), Policy::new(PORT, token()), tools())
}

pub fn selection(text: &str) -> Selection {
    Selection::new("/w/a.txt", Range::new(Position::new(0, 0), Position::new(0, 5)), text)
}

pub fn request(id: impl Display, method: &str) -> String {
    format!(r#"{{"method":"{method}","jsonrpc":"2.0","id":{id}}}"#)
}

pub fn call(id: impl Display, name: &str, arguments: &str) -> String {
    format!(
        r#"{{"method":"tools/call","params":{{"name":"{name}","arguments":{arguments}}},"jsonrpc":"2.0","id":{id}}}"#
    )
}

pub fn open_diff(id: impl Display, tab: &str) -> String {
    let arguments = format!(
        r#"{{"old_file_path":"/w/a","new_file_path":"/w/a","new_file_contents":"new","tab_name":"{tab}"}}"#
    );
    call(id, "openDiff", &arguments)
}

pub fn close_tab(id: impl Display, tab: &str) -> String {
    call(id, "close_tab", &format!(r#"{{"tab_name":"{tab}"}}"#))
}

/// The answer of a tool with these blocks of text.
pub fn answer(id: impl Display, texts: &[&str]) -> String {
    let blocks: Vec<String> =
        texts.iter().map(|text| format!(r#"{{"type":"text","text":"{text}"}}"#)).collect();
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{}]}}}}"#, blocks.join(","))
}

/// A client's frame.
pub fn frame(first: u8, key: [u8; 4], payload: &[u8]) -> Vec<u8> {
    frames::frame(first, Some(key), payload)
}

/// A client's text message.
pub fn text(text: &str) -> Vec<u8> {
    frames::masked(TEXT, text.as_bytes())
}

/// Splits what a server wrote into the head, if it begins with one, and frames: first byte and payload.
pub fn read(bytes: &[u8]) -> (String, Vec<(u8, Vec<u8>)>) {
    let head = if bytes.starts_with(b"HTTP/") { frames::head_len(bytes) } else { 0 };
    let (head, rest) = bytes.split_at(head);
    let frames = frames::read(rest).into_iter().map(|frame| {
        assert_eq!(frame.key, None, "a server's frame is masked");
        (frame.first, frame.payload)
    });
    (String::from_utf8(head.to_vec()).unwrap(), frames.collect())
}

/// The texts among what a server wrote.
pub fn texts(bytes: &[u8]) -> Vec<String> {
    let frames = read(bytes).1.into_iter();
    frames.filter(|(first, _)| *first == TEXT).map(|(_, text)| String::from_utf8(text).unwrap()).collect()
}

/// Everything that waits to be written, as if it had been.
pub fn written(wire: &mut impl Wire) -> Vec<u8> {
    let bytes = wire.outgoing().to_vec();
    wire.sent(bytes.len());
    bytes
}

pub fn drain<M: Machine>(machine: &mut M) -> Vec<M::Event> {
    std::iter::from_fn(|| machine.poll_event()).collect()
}

/// The only call among these events.
pub fn called(events: &[ServerEvent]) -> CallId {
    let calls: Vec<CallId> = events
        .iter()
        .filter_map(|event| if let ServerEvent::Call { call, .. } = event { Some(*call) } else { None })
        .collect();
    assert_eq!(calls.len(), 1, "{events:?}");
    calls[0]
}

/// What an event says, without the handles.
pub fn shown(events: &[ServerEvent]) -> Vec<String> {
    events.iter().map(show).collect()
}

pub fn show(event: &ServerEvent) -> String {
    match event {
        ServerEvent::Call { request, .. } => format!("call {}", request.name()),
        ServerEvent::CallEnded { how, .. } => format!("ended {how:?}"),
        ServerEvent::DiffClosed { tab_name, why, .. } => format!("diff {tab_name} {why:?}"),
        event => format!("{event:?}"),
    }
}

/// One connection of an editor under test, and the time.
pub struct Editor {
    pub server: Server,
    now: Time,
}

impl Editor {
    pub fn new(config: ServerConfig) -> Self {
        Self { server: Server::new(config, SessionId::new(1), Time::ZERO), now: Time::ZERO }
    }

    /// A client that was let in at 0 ms and has not said anything.
    pub fn open(config: ServerConfig) -> Self {
        let mut editor = Self::new(config);
        assert_eq!(shown(&editor.feed(HEAD.as_bytes())), [""; 0]);
        assert_eq!(String::from_utf8(editor.written()).unwrap(), ACCEPTED);
        editor
    }

    /// A client that has been initialized and said `ide_connected`, all at 0 ms.
    pub fn attached(config: ServerConfig) -> Self {
        let mut editor = Self::open(config);
        for text in [INITIALIZE, INITIALIZED, CONNECTED] {
            editor.say(text);
        }
        editor.written();
        editor
    }

    pub fn feed(&mut self, bytes: &[u8]) -> Vec<ServerEvent> {
        self.server.feed(self.now, bytes);
        drain(&mut self.server)
    }

    pub fn say(&mut self, said: &str) -> Vec<ServerEvent> {
        self.feed(&text(said))
    }

    pub fn eof(&mut self) -> Vec<ServerEvent> {
        self.server.feed_eof(self.now);
        drain(&mut self.server)
    }

    /// Lets it become this time.
    pub fn at(&mut self, millis: u64) -> Vec<ServerEvent> {
        self.now = at(millis);
        self.server.tick(self.now);
        let events = drain(&mut self.server);
        assert!(self.server.deadline().is_none_or(|due| due > self.now), "law 4 at {millis} ms");
        events
    }

    pub fn written(&mut self) -> Vec<u8> {
        written(&mut self.server)
    }

    pub fn texts(&mut self) -> Vec<String> {
        texts(&self.written())
    }
}
