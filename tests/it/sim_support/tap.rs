//! Watches a wire without taking part: frames and their messages.

use ide_mcp::ws::frame::{Header, Opcode, mask};

/// A whole item on the wire.
#[derive(Debug)]
pub enum Item {
    /// The head of a handshake.
    Head(String),
    Text(String),
    Ping,
    Pong,
    Close(Option<u16>),
    Binary,
}

/// One direction of a connection.
#[derive(Debug, Default)]
pub struct Tap {
    masked: bool,
    bytes: Vec<u8>,
    has_head: bool,
    /// The fragments of a message so far.
    partial: Vec<u8>,
    /// True if the bytes were not a frame. All later bytes are ignored.
    pub is_broken: bool,
    /// True if the head was a refusal, which is followed by a text for people and no frames.
    is_refusal: bool,
}

impl Tap {
    pub fn new(masked: bool) -> Self {
        Self { masked, ..Self::default() }
    }

    /// Takes some bytes. Returns the items that they complete.
    pub fn take(&mut self, bytes: &[u8]) -> Vec<Item> {
        let mut items = Vec::new();
        if self.is_broken || self.is_refusal {
            return items;
        }
        self.bytes.extend_from_slice(bytes);
        if !self.has_head {
            let Some(at) = self.bytes.windows(4).position(|end| end == b"\r\n\r\n") else { return items };
            let rest = self.bytes.split_off(at + 4);
            let head = String::from_utf8_lossy(&self.bytes).into_owned();
            self.is_refusal = head.starts_with("HTTP/") && !head.starts_with("HTTP/1.1 101 ");
            items.push(Item::Head(head));
            if self.is_refusal {
                return items;
            }
            self.bytes = rest;
            self.has_head = true;
        }
        let mut at = 0;
        loop {
            match Header::parse(&self.bytes[at..], self.masked) {
                Err(_) => self.is_broken = true,
                Ok(Some((header, size))) => {
                    let Ok(len) = usize::try_from(header.len) else { break };
                    let Some(end) = (at + size).checked_add(len) else { break };
                    if end > self.bytes.len() {
                        break;
                    }
                    let payload = &mut self.bytes[at + size..end];
                    if let Some(key) = header.key {
                        mask(key, 0, payload);
                    }
                    at = end;
                    items.extend(Self::item(&mut self.partial, header, &self.bytes[at - len..at]));
                    continue;
                }
                Ok(None) => {}
            }
            break;
        }
        self.bytes.drain(..at);
        items
    }

    fn item(partial: &mut Vec<u8>, header: Header, payload: &[u8]) -> Option<Item> {
        Some(match header.opcode {
            Opcode::Text | Opcode::Continuation => {
                partial.extend_from_slice(payload);
                if !header.fin {
                    return None;
                }
                Item::Text(String::from_utf8_lossy(&std::mem::take(partial)).into_owned())
            }
            Opcode::Binary => Item::Binary,
            Opcode::Ping => Item::Ping,
            Opcode::Pong => Item::Pong,
            Opcode::Close => Item::Close(payload.first_chunk::<2>().map(|code| u16::from_be_bytes(*code))),
        })
    }
}

/// Returns the mark of a call, which occurs in its arguments and in its answer, so that a mix-up of
/// answers shows.
pub fn nonce(number: u64) -> String {
    format!("nonce-{number:08}-")
}

/// Returns the first mark in a text.
pub fn nonce_in(text: &str) -> Option<&str> {
    let at = text.find("nonce-")?;
    text.get(at..at + 15)
}

/// Returns true if the number of a mark is odd.
pub fn is_odd(mark: &str) -> bool {
    mark.trim_end_matches('-').ends_with(['1', '3', '5', '7', '9'])
}

/// Returns the beginning of a selection's text, which contains the number of the selection.
pub fn selected(number: u64) -> String {
    format!("sel-{number:08}-")
}

/// Returns the number of the selection in a text.
pub fn selection_in(text: &str) -> Option<u64> {
    let at = text.find("sel-")?;
    text.get(at + 4..at + 12)?.parse().ok()
}

/// Returns the edition of the tools in a list.
pub fn edition_in(text: &str) -> Option<u64> {
    text.split("\"edition").nth(1)?.split('"').next()?.parse().ok()
}
