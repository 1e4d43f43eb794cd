//! Law 7 for the IDE layer: the requests of a run in both directions, and the end of each.
//!
//! A request of the peer is identified by its id as it is written. So a script must not write two ids alike, although
//! it may use one id twice (`2` and `2.0` are the same id). Our own requests are numbered in the order of sending.

use super::client_messages::TEXT;
use super::frames::{self, Read};
use super::laws::{Calls, Record};
use crate::model::Message;
use ide_mcp::ide::tool::ToolCall;
use ide_mcp::ide::{ClientEvent, DiffEnd, ServerEvent};
use ide_mcp::mcp::CallEnd;
use ide_mcp::rpc::{CallId, RequestId};
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// Returns the calls of a connection from the side of the editor.
pub fn of_editor(record: &Record<ServerEvent>) -> Calls {
    let mut names = BTreeMap::new();
    let (mut unanswered, mut outcomes) = (Vec::new(), Vec::new());
    for event in &record.events {
        match event {
            ServerEvent::Call { call, .. } => drop(names.insert(call.id(), name(call))),
            ServerEvent::CallEnded { call, reason: CallEnd::Cancelled { .. } | CallEnd::Closed, .. }
            | ServerEvent::DiffClosed { call, reason: DiffEnd::Cancelled | DiffEnd::Disconnected, .. } => {
                unanswered.push(*call);
            }
            ServerEvent::Outcome { request, .. } => outcomes.push(*request),
            _ => {}
        }
    }
    let of_peer = request_ids(messages(&texts_in(&record.input, true)));
    let mut calls = incoming(of_peer, &names, &unanswered, &record.output);
    outgoing(&mut calls, &record.output, &outcomes);
    calls
}

/// Returns the calls of a connection from the side of the agent.
pub fn of_agent(record: &Record<ClientEvent>) -> Calls {
    let outcomes: Vec<RequestId> = record
        .events
        .iter()
        .filter_map(|event| match event {
            ClientEvent::Outcome { request, .. } => Some(*request),
            _ => None,
        })
        .collect();
    let of_peer = request_ids(messages(&texts_in(&record.input, false)));
    let mut calls = incoming(of_peer, &BTreeMap::new(), &[], &record.output);
    outgoing(&mut calls, &record.output, &outcomes);
    calls
}

/// Returns true if a frame of a server answers a tool call.
pub fn is_answer_to_a_call(frame: &Read) -> bool {
    let text = String::from_utf8_lossy(&frame.payload);
    let answer = Message::read(&text).filter(|_| frame.first == TEXT).and_then(|message| message.answer());
    answer.is_some_and(|answer| answer.result.is_some_and(|result| result.starts_with(r#"{"content""#)))
}

/// Returns the answer under an id that no request has.
pub fn under_another_id(frame: &Read) -> Vec<u8> {
    let mut message: BTreeMap<String, Box<RawValue>> = serde_json::from_slice(&frame.payload).unwrap();
    message.insert("id".into(), RawValue::from_string(r#""nobody's""#.into()).unwrap());
    frames::plain(frame.first, &serde_json::to_vec(&message).unwrap())
}

/// Returns the requests of the peer, up to the last one that the machine read, and the end of each.
fn incoming(
    mut of_peer: Vec<String>,
    names: &BTreeMap<CallId, String>,
    unanswered: &[CallId],
    output: &[u8],
) -> Calls {
    let texts = texts_out(output);
    let answers = messages(&texts).filter_map(|message| message.answer());
    let mut ended: Vec<String> = answers.map(|answer| answer.id).filter(|id| id != "null").collect();
    // The machine does not read requests after the end of the connection.
    let was_seen = |id: &String| ended.contains(id) || names.values().any(|name| name == id);
    of_peer.truncate(of_peer.iter().rposition(was_seen).map_or(0, |last| last + 1));
    let of_nobody = || "a call without its event".to_owned();
    ended.extend(unanswered.iter().map(|call| names.get(call).cloned().unwrap_or_else(of_nobody)));
    Calls { begun: of_peer, ended }
}

/// Adds our own requests and their outcomes. `initialize` and the requests for later pages of a list do not
/// count: the application did not send them.
fn outgoing(calls: &mut Calls, output: &[u8], outcomes: &[RequestId]) {
    let texts = texts_out(output);
    let of_application = messages(&texts).filter(|message| {
        let is_later_page = message.get("params").is_some_and(|params| params.starts_with(r#"{"cursor""#));
        message.method() != Some("initialize") && !is_later_page
    });
    let number = |number: usize| format!("our own {number}");
    calls.begun.extend((0..request_ids(of_application).len()).map(number));
    // The order of the handles is the order of the requests.
    let mut handles = outcomes.to_vec();
    handles.sort();
    handles.dedup();
    calls.ended.extend(outcomes.iter().map(|outcome| number(handles.partition_point(|one| one < outcome))));
}

/// Returns the id that the scripts repeat in the arguments of a call.
fn name(call: &ToolCall) -> String {
    match call {
        ToolCall::OpenDiff(_, diff) => diff.new_file_contents.clone(),
        ToolCall::GetDiagnostics(_, query) => query.uri.clone().unwrap_or_default(),
        ToolCall::Other(_, other) => {
            Message::read(other.raw().unwrap().get()).as_ref().and_then(id).unwrap_or_default()
        }
        call => panic!("{call:?} is no event"),
    }
}

/// Returns the ids of the requests among these messages.
fn request_ids<'a>(messages: impl Iterator<Item = Message<'a>>) -> Vec<String> {
    messages.filter(|message| message.get("method").is_some()).filter_map(|message| id(&message)).collect()
}

/// Returns the id as raw text; `None` for `null`.
fn id(message: &Message<'_>) -> Option<String> {
    message.get("id").filter(|id| *id != "null").map(str::to_owned)
}

fn messages(texts: &[String]) -> impl Iterator<Item = Message<'_>> {
    texts.iter().filter_map(|text| Message::read(text))
}

/// Returns the messages in our output; none if the output is the refusal of an opening handshake.
fn texts_out(output: &[u8]) -> Vec<String> {
    if output.starts_with(b"HTTP/") && !output.starts_with(b"HTTP/1.1 101") {
        return Vec::new();
    }
    frames::read(output).into_iter().filter(|frame| frame.first == TEXT).map(Read::text).collect()
}

/// Returns the messages in the input, which can be cut off anywhere.
fn texts_in(input: &[u8], masked: bool) -> Vec<String> {
    let Some(head) = input.windows(4).position(|end| end == b"\r\n\r\n") else { return Vec::new() };
    let frames = frames::whole(&input[head + 4..]).0.into_iter();
    let texts = frames.filter(|frame| frame.first & 0xf == 1 && frame.key.is_some() == masked);
    texts.filter_map(|frame| String::from_utf8(frame.payload).ok()).collect()
}
