//! A server for one tool, written by hand on serde_json, which decodes a call in one pass. It has no
//! states, deadlines or limits, and accepts the members in one order only: for a single client, one could
//! not write less.

use super::calls::check;
use super::ours::OpenDiff;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::hint::black_box;

#[derive(Deserialize)]
struct Initialize<'a> {
    #[serde(borrow)]
    id: &'a RawValue,
}

/// A call, member by member.
#[derive(Deserialize)]
struct Call<'a> {
    #[serde(borrow)]
    id: &'a RawValue,
    params: Params,
}

#[derive(Deserialize)]
struct Params {
    #[allow(dead_code, reason = "there is one tool")]
    name: String,
    arguments: OpenDiff,
}

#[derive(Serialize)]
struct Response<'a> {
    jsonrpc: &'static str,
    id: &'a RawValue,
    result: ToolResult<'a>,
}

#[derive(Serialize)]
struct ToolResult<'a> {
    content: [Block<'a>; 2],
}

#[derive(Serialize)]
struct Block<'a> {
    r#type: &'static str,
    text: &'a str,
}

/// Writes the answer to a call.
pub fn serve(text: &str, out: &mut Vec<u8>) {
    let call: Call<'_> = serde_json::from_str(text).expect("it is a call");
    let tab = black_box(&call.params.arguments).tab_name.as_str();
    let content = [Block { r#type: "text", text: "DIFF_REJECTED" }, Block { r#type: "text", text: tab }];
    let response = Response { jsonrpc: "2.0", id: call.id, result: ToolResult { content } };
    serde_json::to_writer(out, &response).expect("it can be written");
}

/// Writes the answer to any message that has one.
#[cfg_attr(not(feature = "peers"), allow(dead_code, reason = "used over sockets"))]
pub fn answer(text: &str, out: &mut Vec<u8>) {
    if text.starts_with(r#"{"method":"tools/call""#) {
        return serve(text, out);
    }
    if text.starts_with(r#"{"method":"initialize""#) {
        let Initialize { id } = serde_json::from_str(text).expect("it has an id");
        out.extend(br#"{"jsonrpc":"2.0","id":"#);
        out.extend(id.get().as_bytes());
        out.extend(br#","result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"h","version":"1"}}}"#);
    }
}

/// Answers calls that all have this text.
pub fn texts(text: String) -> impl FnMut(usize) {
    let mut out = Vec::new();
    move |times| {
        for _ in 0..times {
            serve(&text, &mut out);
            black_box(&out);
            out.clear();
        }
    }
}

/// Answers calls on tungstenite, in memory. Each call is a frame with this text.
#[cfg(feature = "peers")]
pub fn frames(text: &str) -> impl FnMut(usize) + use<> {
    use crate::peers::pipe::Pipe;
    use tungstenite::protocol::Role;
    use tungstenite::{Message, WebSocket};
    let wire: &'static [u8] = Box::leak(super::calls::frame(text).into());
    let mut socket = WebSocket::from_raw_socket(Pipe::new(wire, usize::MAX), Role::Server, None);
    move |times| {
        for _ in 0..times {
            let Message::Text(text) = socket.read().expect("it is a text") else { panic!("no text") };
            let mut out = Vec::new();
            serve(text.as_str(), &mut out);
            let answer = String::from_utf8(out).expect("JSON is text");
            socket.send(Message::text(answer)).expect("the pipe takes everything");
        }
    }
}

/// Checks that the answer is correct.
pub fn prove(text: &str, id: u32) {
    let mut out = Vec::new();
    answer(text, &mut out);
    check(std::str::from_utf8(&out).expect("JSON is text"), id);
}
