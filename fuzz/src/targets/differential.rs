//! Feeds the same frames to this crate and to tungstenite, in either role. Both must report the same messages and the
//! same end, with two exceptions: the rules in [`is_stricter`], and the moment at which they find a fault, because this
//! crate does not wait for the rest of a faulty frame.

use crate::support::frames::HEAD;
use crate::support::laws::Subject as _;
use crate::support::sockets::{WsClient, WsServer};
use ide_mcp::testing::{pass, pass_with};
use ide_mcp::ws::{Closed, OwnedEvent, ProtocolError};
use ide_mcp::{Machine, Time};
use std::io::{self, Read, Write};
use tungstenite::protocol::{Role, WebSocketConfig};
use tungstenite::{Message, WebSocket};

/// Compares this crate with tungstenite. The first byte selects the role; the rest is the input
/// from the peer.
pub fn against_tungstenite(data: &[u8]) {
    let Some((choice, bytes)) = data.split_first() else { return };
    let ((ours, our_end), (theirs, their_end)) = if choice & 1 == 0 {
        let mut server = WsServer.make(Time::ZERO);
        server.feed(Time::ZERO, HEAD.as_bytes());
        pass_with(&mut server, Time::ZERO, usize::MAX, |server, _| assert!(server.accept(None).is_ok()));
        (ours(&mut server, bytes), theirs(Role::Server, bytes))
    } else {
        let mut client = WsClient.make(Time::ZERO);
        client.feed(Time::ZERO, &WsClient.opening());
        assert_eq!(pass(&mut client, Time::ZERO, usize::MAX).events.len(), 1);
        (ours(&mut client, bytes), theirs(Role::Client, bytes))
    };
    match (our_end, their_end) {
        (End::Fault(Some(rule)), End::Waits | End::Closed) if is_stricter(rule) => {
            assert!(theirs.starts_with(&ours), "{ours:?} {theirs:?}");
        }
        (End::Fault(Some(rule)), End::Fault(_)) if is_stricter(rule) => {
            assert!(theirs.starts_with(&ours), "{ours:?} {theirs:?}");
        }
        (End::Fault(Some(rule)), End::Waits) => {
            assert!(ends_within_a_frame(bytes), "{rule:?}: tungstenite does not enforce this rule");
            assert_eq!(ours, theirs, "{rule:?}");
        }
        (End::Fault(_), End::Fault(_)) | (End::Waits, End::Waits) | (End::Closed, End::Closed) => {
            assert_eq!(ours, theirs);
        }
        (ours, theirs) => panic!("we: {ours:?}, they: {theirs:?}"),
    }
}

/// Returns true if this crate enforces this rule and tungstenite does not.
const fn is_stricter(rule: ProtocolError) -> bool {
    match rule {
        // tungstenite reads lengths in any form, also the small length of a control frame in a long
        // form. This crate reports such a control frame as `LongControlFrame` as soon as it has
        // read the 7-bit length, which is 126 or 127, without waiting for the length that follows.
        ProtocolError::LengthNotMinimal | ProtocolError::LongControlFrame => true,
        // tungstenite answers a close code that is not allowed in a frame as if it were allowed.
        ProtocolError::InvalidCloseCode(_) => true,
        _ => false,
    }
}

#[derive(Clone, Copy, Debug)]
enum End {
    Waits,
    Closed,
    Fault(Option<ProtocolError>),
}

fn ours(machine: &mut impl Machine<Event = OwnedEvent, Conn = ()>, bytes: &[u8]) -> (Vec<Message>, End) {
    let mut messages = Vec::new();
    for piece in bytes.chunks(1024) {
        machine.feed(Time::ZERO, (), piece);
        for event in pass(machine, Time::ZERO, usize::MAX).events {
            messages.push(match event {
                OwnedEvent::Text(text) => Message::text(text),
                OwnedEvent::Binary(bytes) => Message::binary(bytes),
                OwnedEvent::Ping(bytes) => Message::Ping(bytes.into_vec().into()),
                OwnedEvent::Pong(bytes) => Message::Pong(bytes.into_vec().into()),
                OwnedEvent::Closed(Closed::Remote { .. }) => return (messages, End::Closed),
                OwnedEvent::Closed(Closed::ProtocolError(rule)) => return (messages, End::Fault(Some(rule))),
                other => panic!("{other:?}"),
            });
        }
    }
    (messages, End::Waits)
}

fn theirs(role: Role, bytes: &[u8]) -> (Vec<Message>, End) {
    // The message limit of this crate; tungstenite has a frame limit as well.
    let config = WebSocketConfig::default().max_frame_size(Some(64 << 20)).max_message_size(Some(64 << 20));
    let mut peer = WebSocket::from_raw_socket(Input(bytes), role, Some(config));
    let mut messages = Vec::new();
    let end = loop {
        match peer.read() {
            Ok(Message::Close(_)) => break End::Closed,
            Ok(message) => messages.push(message),
            Err(tungstenite::Error::Io(error)) if error.kind() == io::ErrorKind::WouldBlock => {
                break End::Waits;
            }
            Err(_) => break End::Fault(None),
        }
    };
    (messages, end)
}

/// Returns true if the last frame is incomplete; reads the headers without checking any rule.
fn ends_within_a_frame(mut bytes: &[u8]) -> bool {
    while !bytes.is_empty() {
        let Some(second) = bytes.get(1) else { return true };
        let (size, len) = match second & 0x7f {
            126 => (4, bytes.get(2..4).map(|len| u64::from(u16::from_be_bytes(len.try_into().unwrap())))),
            127 => (10, bytes.get(2..10).map(|len| u64::from_be_bytes(len.try_into().unwrap()))),
            short => (2, Some(u64::from(short))),
        };
        let size = size + if second & 0x80 == 0 { 0 } else { 4 };
        let whole = len.and_then(|len| usize::try_from(len).ok()).and_then(|len| len.checked_add(size));
        let Some(rest) = whole.and_then(|whole| bytes.get(whole..)) else { return true };
        bytes = rest;
    }
    false
}

/// A stream that reads these bytes and then returns `WouldBlock`, and that discards all written
/// bytes.
struct Input<'a>(&'a [u8]);

impl Read for Input<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.0.is_empty() { Err(io::ErrorKind::WouldBlock.into()) } else { self.0.read(out) }
    }
}

impl Write for Input<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
