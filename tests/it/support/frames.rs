//! Frames of RFC 6455 written by hand: the input from a peer, valid or not.

/// An opening handshake that every server accepts, with the key of RFC 6455 section 1.3.
pub const HEAD: &str = "GET / HTTP/1.1\r\nHost: 127.0.0.1:1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
    Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";

/// Returns the length of the HTTP head at the beginning of `bytes`.
pub fn head_len(bytes: &[u8]) -> usize {
    bytes.windows(4).position(|end| end == b"\r\n\r\n").unwrap() + 4
}

/// Returns a frame with any first byte, and with its length in the shortest form.
pub fn frame(first: u8, key: Option<[u8; 4]>, payload: &[u8]) -> Vec<u8> {
    let mask = if key.is_some() { 0x80 } else { 0 };
    let mut out = vec![first];
    match payload.len() {
        len @ 0..126 => out.push(mask | u8::try_from(len).unwrap()),
        len @ 126..0x1_0000 => {
            out.push(mask | 126);
            out.extend(u16::try_from(len).unwrap().to_be_bytes());
        }
        len => {
            out.push(mask | 127);
            out.extend(u64::try_from(len).unwrap().to_be_bytes());
        }
    }
    out.extend(key.iter().flatten());
    let key = key.unwrap_or_default();
    out.extend(payload.iter().zip(key.iter().cycle()).map(|(byte, key)| byte ^ key));
    out
}

/// Returns a frame of a client.
pub fn masked(first: u8, payload: &[u8]) -> Vec<u8> {
    frame(first, Some([0x37, 0xfa, 0x21, 0x3d]), payload)
}

/// Returns a frame of a server.
pub fn plain(first: u8, payload: &[u8]) -> Vec<u8> {
    frame(first, None, payload)
}

/// A frame that was read back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Read {
    pub first: u8,
    pub key: Option<[u8; 4]>,
    pub payload: Vec<u8>,
}

impl Read {
    pub fn text(self) -> String {
        String::from_utf8(self.payload).unwrap()
    }
}

/// Compares a frame of a server with its first byte and its payload.
impl PartialEq<(u8, Vec<u8>)> for Read {
    fn eq(&self, (first, payload): &(u8, Vec<u8>)) -> bool {
        self.first == *first && self.key.is_none() && self.payload == *payload
    }
}

/// Reads all frames, after an HTTP head if there is one. Panics if the last frame is cut off.
pub fn read(bytes: &[u8]) -> Vec<Read> {
    let head = if bytes.starts_with(b"HTTP/") || bytes.starts_with(b"GET ") { head_len(bytes) } else { 0 };
    let (frames, rest) = whole(&bytes[head..]);
    assert!(rest.is_empty(), "a frame is cut off: {rest:x?}");
    frames
}

/// Reads the frames that are whole, and returns the rest.
pub fn whole(mut bytes: &[u8]) -> (Vec<Read>, &[u8]) {
    let mut frames = Vec::new();
    while let Some((frame, rest)) = first(bytes) {
        frames.push(frame);
        bytes = rest;
    }
    (frames, bytes)
}

fn first(bytes: &[u8]) -> Option<(Read, &[u8])> {
    let [first, second, rest @ ..] = bytes else { return None };
    let (len, rest) = match second & 0x7f {
        126 => (u64::from(u16::from_be_bytes(*rest.first_chunk()?)), &rest[2..]),
        127 => (u64::from_be_bytes(*rest.first_chunk()?), &rest[8..]),
        short => (u64::from(short), rest),
    };
    let (key, rest) = match second & 0x80 {
        0 => (None, rest),
        _ => (Some(*rest.first_chunk::<4>()?), &rest[4..]),
    };
    let (payload, rest) = rest.split_at_checked(usize::try_from(len).ok()?)?;
    let mask = key.unwrap_or_default();
    let payload = payload.iter().zip(mask.iter().cycle()).map(|(byte, key)| byte ^ key).collect();
    Some((Read { first: *first, key, payload }, rest))
}
