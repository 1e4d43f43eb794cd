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

use std::{convert::Infallible, fmt::Display};

use ide_mcp::{
    Machine, Time, Wire,
    ide::{AuthToken, Policy, Position, Range, Selection, Server, ServerConfig, ServerEvent, Tool, ToolSet},
    mcp::Implementation,
    rpc::{CallId, SessionId},
};
use rand_core::{TryCryptoRng, TryRng};

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

/// A client's frame: masked, its length in the shortest form.
pub fn frame(first: u8, key: [u8; 4], payload: &[u8]) -> Vec<u8> {
    let mut out = vec![first];
    match payload.len() {
        len @ 0..126 => out.push(0x80 | u8::try_from(len).unwrap()),
        len @ 126..0x1_0000 => {
            out.push(0x80 | 126);
            out.extend(u16::try_from(len).unwrap().to_be_bytes());
        }
        len => {
            out.push(0x80 | 127);
            out.extend(u64::try_from(len).unwrap().to_be_bytes());
        }
    }
    out.extend(key);
    out.extend(payload.iter().zip(key.iter().cycle()).map(|(byte, key)| byte ^ key));
    out
}

/// A client's text message.
pub fn text(text: &str) -> Vec<u8> {
    frame(TEXT, [0x37, 0xfa, 0x21, 0x3d], text.as_bytes())
}

/// Splits what a server wrote into the head, if it begins with one, and frames: first byte and payload.
pub fn read(bytes: &[u8]) -> (String, Vec<(u8, Vec<u8>)>) {
    let head = if bytes.starts_with(b"HTTP/") {
        bytes.windows(4).position(|end| end == b"\r\n\r\n").unwrap() + 4
    } else {
        0
    };
    let (head, mut bytes) = bytes.split_at(head);
    let mut frames = Vec::new();
    while let [first, second, rest @ ..] = bytes {
        let (len, rest) = match second {
            126 => (u64::from(u16::from_be_bytes(*rest.first_chunk().unwrap())), &rest[2..]),
            127 => (u64::from_be_bytes(*rest.first_chunk().unwrap()), &rest[8..]),
            short @ 0..126 => (u64::from(*short), rest),
            _ => panic!("a server's frame is masked"),
        };
        let (payload, rest) = rest.split_at(usize::try_from(len).unwrap());
        frames.push((*first, payload.to_vec()));
        bytes = rest;
    }
    assert!(bytes.is_empty(), "a frame is cut off: {bytes:x?}");
    (String::from_utf8(head.to_vec()).unwrap(), frames)
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

/// SplitMix64 (Steele, Lea and Flood 2014): numbers that look random and are the same in every run.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`; 0 if that is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(bound.max(1)).unwrap()).unwrap()
    }

    pub fn one_in(&mut self, many: usize) -> bool {
        self.below(many) == 0
    }
}

/// A source of masking keys for clients under test; nothing about it is secret.
impl TryRng for Random {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(u32::from_le_bytes(*self.next().to_le_bytes().first_chunk().unwrap()))
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.next())
    }

    fn try_fill_bytes(&mut self, out: &mut [u8]) -> Result<(), Infallible> {
        out.fill_with(|| self.next().to_le_bytes()[0]);
        Ok(())
    }
}

impl TryCryptoRng for Random {}
