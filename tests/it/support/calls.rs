//! Law 7 for the IDE layer: the requests of a run in both directions, and the end of each.
//!
//! The text of its id identifies a request of the peer, so each id has to be written in its own way
//! in a script (`2` and `2.0` are the same id, written in two ways). Our own requests are numbered
//! in the order in which they were sent.

use super::frames::{self, Read};
use super::laws::{Calls, Record};
use super::said::TEXT;
use ide_mcp::ide::tool::ToolCall;
use ide_mcp::ide::{ClientEvent, DiffEnd, ServerEvent};
use ide_mcp::mcp::CallEnd;
use ide_mcp::rpc::{CallId, RequestId};
use ide_mcp::ws::frame::{Header, Opcode, mask};
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// The members of a message, as raw text.
type Message = BTreeMap<String, Box<RawValue>>;

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
    let of_peer = asked(&messages_in(&record.input, true));
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
    let of_peer = asked(&messages_in(&record.input, false));
    let mut calls = incoming(of_peer, &BTreeMap::new(), &[], &record.output);
    outgoing(&mut calls, &record.output, &outcomes);
    calls
}

/// Returns true if a frame of a server answers a tool call.
pub fn is_answer_to_a_call(frame: &Read) -> bool {
    let message = (frame.first == TEXT).then(|| read(&frame.payload)).flatten().unwrap_or_default();
    answers(&message) && message.get("result").is_some_and(|result| result.get().starts_with(r#"{"content""#))
}

/// Returns the answer under an id that no request has.
pub fn under_another_id(frame: &Read) -> Vec<u8> {
    let mut message = read(&frame.payload).unwrap();
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
    let mut ended: Vec<String> =
        messages_out(output).iter().filter(|message| answers(message)).filter_map(id).collect();
    // The machine does not read requests behind the end of the connection.
    let was_seen = |id: &String| ended.contains(id) || names.values().any(|name| name == id);
    of_peer.truncate(of_peer.iter().rposition(was_seen).map_or(0, |last| last + 1));
    let of_nobody = || "a call without its event".to_owned();
    ended.extend(unanswered.iter().map(|call| names.get(call).cloned().unwrap_or_else(of_nobody)));
    Calls { begun: of_peer, ended }
}

/// Adds our own requests and their outcomes. `initialize` and the requests for later pages of a list do not
/// count: the application did not send them.
fn outgoing(calls: &mut Calls, output: &[u8], outcomes: &[RequestId]) {
    let messages = messages_out(output).into_iter();
    let is_later_page = |message: &Message| {
        message.get("params").is_some_and(|params| params.get().starts_with(r#"{"cursor""#))
    };
    let of_application = messages.filter(|message| {
        message.get("method").is_some_and(|name| name.get() != r#""initialize""#) && !is_later_page(message)
    });
    let number = |number: usize| format!("our own {number}");
    calls.begun.extend((0..asked(&of_application.collect::<Vec<_>>()).len()).map(number));
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
        ToolCall::GetDiagnostics(_, ask) => ask.uri.clone().unwrap_or_default(),
        ToolCall::Other(_, other) => {
            read(other.raw().unwrap().get().as_bytes()).as_ref().and_then(id).unwrap_or_default()
        }
        call => panic!("{call:?} is no event"),
    }
}

/// Returns the ids of the requests among these messages.
fn asked(messages: &[Message]) -> Vec<String> {
    messages.iter().filter(|message| message.contains_key("method")).filter_map(id).collect()
}

fn answers(message: &Message) -> bool {
    !message.contains_key("method") && (message.contains_key("result") || message.contains_key("error"))
}

/// Returns the id as raw text; `None` for `null`.
fn id(message: &Message) -> Option<String> {
    message.get("id").map(|id| id.get().to_owned()).filter(|id| id != "null")
}

fn read(text: &[u8]) -> Option<Message> {
    serde_json::from_slice(text).ok()
}

/// Returns the messages in our output; none if the output is the refusal of an opening handshake.
fn messages_out(output: &[u8]) -> Vec<Message> {
    if output.starts_with(b"HTTP/") && !output.starts_with(b"HTTP/1.1 101") {
        return Vec::new();
    }
    let texts = frames::read(output).into_iter().filter(|frame| frame.first == TEXT);
    texts.map(|frame| read(&frame.payload).unwrap()).collect()
}

/// Returns the messages in the input, which can be cut off anywhere.
fn messages_in(input: &[u8], masked: bool) -> Vec<Message> {
    let Some(head) = input.windows(4).position(|end| end == b"\r\n\r\n") else { return Vec::new() };
    let mut rest = &input[head + 4..];
    let mut messages = Vec::new();
    while let Ok(Some((header, size))) = Header::parse(rest, masked) {
        let end = size + usize::try_from(header.len).unwrap();
        let Some(payload) = rest.get(size..end) else { break };
        let mut payload = payload.to_vec();
        mask(header.key.unwrap_or_default(), 0, &mut payload);
        if header.opcode == Opcode::Text {
            messages.extend(read(&payload));
        }
        rest = &rest[end..];
    }
    messages
}
