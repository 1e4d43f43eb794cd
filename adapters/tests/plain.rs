//! Peers that are plain sockets: what they send, and how they end.

use ide_mcp::ide::discovery::AuthToken;
use std::io::Read;
use std::net::TcpStream;
use std::time::Duration;

/// The time after which a test fails. No step takes as long, even on a busy machine, and a test that passes
/// never waits for it.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// The opening handshake of a client without a token.
pub(crate) const HEAD: &[u8] =
    b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
    Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";

/// How far a plain peer has got.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Upto {
    Nothing,
    HalfRequest,
    Open,
    HalfFrame,
    Initialized,
    OpenDiff,
    CloseFrame,
}

impl Upto {
    pub(crate) const ALL: [Self; 7] = [
        Self::Nothing,
        Self::HalfRequest,
        Self::Open,
        Self::HalfFrame,
        Self::Initialized,
        Self::OpenDiff,
        Self::CloseFrame,
    ];
}

/// Returns what an attaching client has sent when it has got this far.
pub(crate) fn script(token: &AuthToken, port: u16, upto: Upto) -> Vec<u8> {
    let request = request_of(token, port);
    let mut bytes = match upto {
        Upto::Nothing => return Vec::new(),
        Upto::HalfRequest => return request.as_bytes().iter().take(40).copied().collect(),
        _ => request.into_bytes(),
    };
    if upto == Upto::HalfFrame {
        bytes.extend([0x81, 0xff]);
    }
    if upto >= Upto::Initialized {
        let hello = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"plain","version":"1"}}}"#;
        bytes.extend(frame(0x81, hello.as_bytes()));
        bytes.extend(frame(0x81, br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#));
    }
    if upto == Upto::OpenDiff {
        let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"openDiff","arguments":{"old_file_path":"/w/a","new_file_path":"/w/a","new_file_contents":"x","tab_name":"t"}}}"#;
        bytes.extend(frame(0x81, call.as_bytes()));
    }
    if upto == Upto::CloseFrame {
        bytes.extend(frame(0x88, &[0x03, 0xe8]));
    }
    bytes
}

fn request_of(token: &AuthToken, port: u16) -> String {
    format!(
        "GET / HTTP/1.1\r\nHost: localhost:{port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\
         X-Claude-Code-Ide-Authorization: {}\r\n\r\n",
        token.as_str()
    )
}

/// Returns a frame of a client, masked with zeros.
pub(crate) fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut frame = vec![first];
    match u8::try_from(payload.len()) {
        Ok(len @ ..=125) => frame.push(0x80 | len),
        _ => {
            frame.push(0xfe);
            frame.extend(u16::try_from(payload.len()).unwrap().to_be_bytes());
        }
    }
    frame.extend([0; 4]);
    frame.extend(payload);
    frame
}

/// Reads until the stream ends, by a clean close or by a reset.
pub(crate) fn read_all(stream: &mut TcpStream) -> Vec<u8> {
    let (mut all, mut space) = (Vec::new(), [0; 4096]);
    while let Ok(n @ 1..) = stream.read(&mut space) {
        all.extend(space.iter().take(n));
    }
    all
}

pub(crate) fn contains(all: &[u8], part: &[u8]) -> bool {
    all.windows(part.len()).any(|window| window == part)
}
