//! websocket-codec, in the framed stream of tokio-util for which it is made, and bare on a buffer.

use super::{now, pipe::Pipe};
use crate::tally::Tally;
use crate::workload::{Drain, Source, Workload};
use bytes::BytesMut;
use futures_util::StreamExt as _;
use tokio_util::codec::{Decoder as _, Encoder as _, FramedRead};
use websocket_codec::{ClientRequest, Message, MessageCodec};

pub fn decode(workload: &'static Workload, limit: usize) -> impl FnMut(&mut Tally, usize) {
    let mut framed = FramedRead::new(Pipe::new(&workload.wire, limit), MessageCodec::server());
    move |tally, until| {
        while tally.messages() < until {
            let message = now(framed.next()).expect("it does not end").expect("the workload is valid");
            tally.take(message.as_text().expect("it is text"));
        }
    }
}

pub fn decode_bare(workload: &'static Workload, limit: usize) -> impl FnMut(&mut Tally, usize) {
    let mut source = Source::new(&workload.wire, limit);
    let (mut codec, mut buf) = (MessageCodec::server(), BytesMut::with_capacity(64 * 1024));
    move |tally, until| {
        while tally.messages() < until {
            match codec.decode(&mut buf).expect("the workload is valid") {
                Some(message) => tally.take(message.as_text().expect("it is text")),
                None => buf.extend_from_slice(source.next(64 * 1024)),
            }
        }
    }
}

pub fn encode(workload: &'static Workload, mut codec: MessageCodec) -> impl FnMut(usize) {
    let mut texts = workload.texts.iter().cycle();
    let (mut buf, mut drain) = (BytesMut::new(), Drain::default());
    move |times| {
        for text in texts.by_ref().take(times) {
            codec.encode(&Message::text(text.as_str()), &mut buf).expect("it can be encoded");
            drain.write(&buf);
            buf.clear();
        }
    }
}

/// Answers requests with the check of websocket-codec. httparse parses them, which users must add themselves.
pub fn handshake(request: &'static [u8]) -> impl FnMut(usize) {
    let (mut read, mut out) = (vec![0; 8192], String::new());
    let mut drain = Drain::default();
    move |times| {
        for _ in 0..times {
            read[..request.len()].copy_from_slice(request);
            let mut fields = [httparse::EMPTY_HEADER; 64];
            let mut parsed = httparse::Request::new(&mut fields);
            assert!(parsed.parse(&read[..request.len()]).is_ok_and(|status| status.is_complete()));
            let find = |name: &str| parsed.headers.iter().find(|field| field.name.eq_ignore_ascii_case(name));
            let value = |name| std::str::from_utf8(find(name)?.value).ok();
            let judged = ClientRequest::parse(value).expect("the request is good");
            out.clear();
            out.push_str("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n");
            out.push_str("Sec-WebSocket-Accept: ");
            judged.ws_accept_buf(&mut out);
            out.push_str("\r\nSec-WebSocket-Protocol: mcp\r\n\r\n");
            drain.write(out.as_bytes());
        }
    }
}
