//! The minimum of work, to compare with: only the passes over the bytes, with the boundaries of the frames
//! known in advance, and a handshake without any of our checks.

use crate::tally::Tally;
use crate::workload::{Source, Workload};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use sha1::{Digest as _, Sha1};
use std::hint::black_box;

/// The passes that a decoder makes over the bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Passes {
    /// Only the read.
    Copy,
    /// The read, unmasking, and the validation of `core`.
    CopyXorUtf8,
    /// The read, unmasking, and the validation of `simdutf8`.
    CopyXorSimdUtf8,
}

/// Receives the workload in reads of at most `limit` bytes.
pub fn decode(workload: &'static Workload, limit: usize, passes: Passes) -> impl FnMut(&mut Tally, usize) {
    let mut source = Source::new(&workload.wire, limit);
    let mut buf = vec![0; workload.wire.len()];
    let (mut filled, mut next) = (0, 0);
    move |tally, until| {
        while tally.messages() < until {
            let frame = &workload.frames[next];
            if filled < frame.payload.end {
                filled += source.read(&mut buf[filled..]);
                continue;
            }
            let payload = &mut buf[frame.payload.clone()];
            match passes {
                Passes::Copy => tally.take(&workload.texts[next]),
                Passes::CopyXorUtf8 => {
                    xor(payload, frame.key);
                    tally.take(std::str::from_utf8(payload).expect("the workload is text"));
                }
                Passes::CopyXorSimdUtf8 => {
                    xor(payload, frame.key);
                    tally.take(simdutf8::basic::from_utf8(payload).expect("the workload is text"));
                }
            }
            next += 1;
            if next == workload.frames.len() {
                (filled, next) = (0, 0);
            }
        }
    }
}

/// Copies this many texts, one after the other, into a buffer that is emptied after each of them.
pub fn encode(workload: &'static Workload) -> impl FnMut(usize) {
    let mut out = Vec::with_capacity(2 * workload.wire.len());
    let mut texts = workload.texts.iter().cycle();
    move |times| {
        for _ in 0..times {
            let text = texts.next().expect("a cycle has no end");
            out.extend_from_slice(text.as_bytes());
            black_box(&out);
            out.clear();
        }
    }
}

/// Parses the request, computes the accept key and writes the answer.
pub fn handshake(request: &'static [u8]) -> impl FnMut(usize) {
    let mut out = Vec::with_capacity(1024);
    let mut read = vec![0; 8192];
    move |times| {
        for _ in 0..times {
            read[..request.len()].copy_from_slice(request);
            out.clear();
            answer(&read[..request.len()], &mut out).expect("the request is whole");
            black_box(&out);
        }
    }
}

/// Writes the answer that accepts a request, without checking it; `None` if the request is incomplete.
pub fn answer(request: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let mut fields = [httparse::EMPTY_HEADER; 64];
    let mut parsed = httparse::Request::new(&mut fields);
    parsed.parse(request).ok()?.is_complete().then_some(())?;
    let key = parsed.headers.iter().find(|field| field.name.eq_ignore_ascii_case("sec-websocket-key"))?.value;
    out.extend_from_slice(
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
          Sec-WebSocket-Accept: ",
    );
    out.extend_from_slice(&accept_key(key));
    out.extend_from_slice(b"\r\nSec-WebSocket-Protocol: mcp\r\n\r\n");
    Some(())
}

/// Returns the accept key of RFC 6455 section 4.2.2, step 5.4.
pub fn accept_key(key: &[u8]) -> [u8; 28] {
    let digest =
        Sha1::new().chain_update(key).chain_update(b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").finalize();
    let mut text = [0; 28];
    BASE64_STANDARD.encode_slice(digest, &mut text).expect("20 bytes are 28 characters");
    text
}

fn xor(data: &mut [u8], key: [u8; 4]) {
    let key = u32::from_le_bytes(key);
    let wide = u64::from(key) | u64::from(key) << 32;
    let (words, rest) = data.as_chunks_mut::<8>();
    for word in words {
        *word = (u64::from_le_bytes(*word) ^ wide).to_le_bytes();
    }
    for (byte, key) in rest.iter_mut().zip(wide.to_le_bytes()) {
        *byte ^= key;
    }
}
