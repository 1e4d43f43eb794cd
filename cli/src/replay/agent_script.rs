//! Turns a recorded session into a script of the agent's side, for `ide-mcp agent --script`.

use crate::replay::portable::Portable;
use crate::support::difference::ANY;
use crate::support::json_line;
use crate::support::message::{Fault, Kind, Message, read_member};
use crate::support::transcript::{Side, Transcript, What};
use crate::support::units::Units;
use ide_mcp::Time;
use ide_mcp::ide::kit::display_safe;
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

/// What the agent of a script sends by itself.
const BY_ITSELF: [&str; 3] = ["initialize", "notifications/initialized", "ide_connected"];

/// What the agent of a script answers by itself.
const ANSWERED_BY_ITSELF: [&str; 2] = ["roots/list", "ping"];

/// How long a script waits for an answer by default. If the recorded answer took long, the script waits that much
/// longer.
const WITHIN: Duration = Duration::from_secs(10);

/// A script, and the connection from which its messages come.
#[derive(Debug)]
pub(crate) struct AgentScript {
    pub(crate) text: String,
    pub(crate) conn: u32,
    /// The number of connections in the transcript.
    pub(crate) conns: usize,
}

impl AgentScript {
    /// Writes the script of this connection, or else of the one with the most requests. Pass `folder`, the folder of
    /// the session, if the transcript does not name it.
    ///
    /// # Errors
    /// If the agent makes no request on the connection.
    pub(crate) fn new(
        transcript: &Transcript,
        conn: Option<u32>,
        folder: Option<&str>,
    ) -> Result<Self, String> {
        let conns = messages(transcript);
        let requests = |sent: &[Sent]| sent.iter().filter(|one| one.is_request()).count();
        // If several connections have the most requests, take the first.
        let most = || conns.iter().rev().max_by_key(|(_, sent)| requests(sent)).map(|(conn, _)| *conn);
        let conn = conn.or_else(most).unwrap_or_default();
        let sent = conns.get(&conn).filter(|sent| requests(sent) > 0).ok_or_else(|| {
            format!("connection {conn} of the record has no request that a script could make")
        })?;
        let declared = || sent.iter().find_map(Sent::declared_root);
        let named = || transcript.header.as_ref().and_then(|header| header.folders.first().cloned());
        let folder = folder.map(str::to_owned).or_else(named).or_else(declared);
        let mut writer = Lines::new(Portable::new(folder.as_deref()));
        writer.head(transcript);
        sent.iter().for_each(|sent| writer.write(sent));
        Ok(Self { text: writer.finish(), conn, conns: conns.len() })
    }
}

/// A message, and its sender.
#[derive(Debug)]
struct Sent {
    at: Time,
    from: Side,
    message: Message,
}

impl Sent {
    /// Returns true if this is a request that a script makes.
    fn is_request(&self) -> bool {
        let method = self.message.method.as_deref();
        let is_own = method.is_some_and(|method| BY_ITSELF.contains(&method));
        self.from == Side::Agent && matches!(self.message.kind(), Some(Kind::Request { .. })) && !is_own
    }

    /// Returns the first folder in an answer of the agent to `roots/list`.
    fn declared_root(&self) -> Option<String> {
        let root = ide_mcp::mcp::Root::read_list(self.message.result.as_deref()?)?.into_iter().next()?;
        (self.from == Side::Agent).then_some(root.uri)
    }
}

/// Returns the messages of each connection, in their order.
fn messages(transcript: &Transcript) -> BTreeMap<u32, Vec<Sent>> {
    let mut streams: BTreeMap<(u32, Side), Units> = BTreeMap::new();
    let mut conns: BTreeMap<u32, Vec<Sent>> = BTreeMap::new();
    for (_, line) in transcript.lines.iter().filter(|(_, line)| !line.by_tap) {
        let (from, texts) = match &line.what {
            What::Text(from, text) => (*from, vec![text.clone()]),
            What::Bytes(from, bytes) => {
                let new = || Units::new(*from == Side::Agent);
                let pieces = streams.entry((line.conn, *from)).or_insert_with(new).push(bytes);
                (*from, pieces.into_iter().filter_map(|piece| piece.message).collect())
            }
            What::Open | What::End(..) => continue,
        };
        let messages = texts.iter().flat_map(|text| Message::read(text));
        let sent = messages.map(|message| Sent { at: line.at, from, message });
        conns.entry(line.conn).or_default().extend(sent);
    }
    conns
}

/// A line of a script. The members have the order in which people read them.
#[derive(Default, Serialize)]
struct Line<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    call: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    arguments: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    request: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    notify: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    params: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expect: Option<Event>,
    #[serde(skip_serializing_if = "Option::is_none")]
    within: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    answer: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unchecked: Option<bool>,
}

#[derive(Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
enum Event {
    Outcome { line: usize, outcome: Value },
    Form { message: Value },
}

/// The script so far.
struct Lines {
    lines: Vec<String>,
    portable: Portable,
    /// The requests without an answer so far, by id.
    open: BTreeMap<String, OpenRequest>,
    /// The ids of the forms that the script expects and answers.
    forms: Vec<String>,
}

struct OpenRequest {
    line: usize,
    at: Time,
    name: String,
    method: String,
}

impl Lines {
    const fn new(portable: Portable) -> Self {
        Self { lines: Vec::new(), portable, open: BTreeMap::new(), forms: Vec::new() }
    }

    fn head(&mut self, transcript: &Transcript) {
        let editor = transcript.header.as_ref().map(|header| header.editor.as_str()).unwrap_or_default();
        if !editor.is_empty() {
            self.comment(&format!("recorded with {editor}"));
        }
        self.comment("made by `ide-mcp replay --to-script`; in the folder that your editor has open, run");
        self.comment("  ide-mcp agent --script THIS_FILE");
    }

    fn write(&mut self, sent: &Sent) {
        let message = &sent.message;
        match (sent.from, message.kind()) {
            (_, Some(Kind::Request { method, .. } | Kind::Notification { method }))
                if BY_ITSELF.contains(&method) => {}
            (Side::Agent, Some(Kind::Request { id, method })) => self.request(sent.at, message, id, method),
            (Side::Agent, Some(Kind::Notification { method: "notifications/cancelled" })) => {
                let id = message.param("requestId");
                let request = id.and_then(|id| self.open.remove(id.get()));
                let line = request.map_or_else(String::new, |request| format!(" of line {}", request.line));
                self.comment(&format!("the agent cancelled the request{line}"));
            }
            (Side::Agent, Some(Kind::Notification { method })) => {
                let params = self.sent(&message.arguments());
                self.step(&Line { notify: Some(method), params, ..Line::default() });
            }
            (Side::Agent, Some(Kind::Answer { id })) => {
                let place = self.forms.iter().position(|form| form == id);
                if let (Some(place), Some(result)) = (place, message.result.as_deref()) {
                    self.forms.remove(place);
                    let answer = self.sent(result.get());
                    self.step(&Line { answer, unchecked: Some(true), ..Line::default() });
                }
            }
            (Side::Editor, Some(Kind::Answer { id })) => self.outcome(sent.at, message, id),
            (Side::Editor, Some(Kind::Request { id, method: "elicitation/create" }))
                if !self.open.is_empty() =>
            {
                let message: Option<Value> = read_member(message.params.as_deref(), "message");
                let message = message.map(|message| self.portable.generalize(&message)).unwrap_or_default();
                self.step(&Line { expect: Some(Event::Form { message }), ..Line::default() });
                self.forms.push(id.to_owned());
            }
            (Side::Editor, Some(Kind::Request { method, .. })) if ANSWERED_BY_ITSELF.contains(&method) => {}
            (Side::Editor, Some(Kind::Request { method, .. } | Kind::Notification { method })) => {
                self.comment(&format!("the editor sent {method}, which no request caused"));
            }
            (_, None) => {}
        }
    }

    fn request(&mut self, at: Time, message: &Message, id: &str, method: &str) {
        let (tool, sent) = (message.tool(), self.sent(&message.arguments()));
        self.step(&match &tool {
            Some(tool) => Line { call: Some(tool), arguments: sent, ..Line::default() },
            None => Line { request: Some(method), params: sent, ..Line::default() },
        });
        let name = tool.unwrap_or_else(|| method.to_owned());
        let open = OpenRequest { line: self.lines.len(), at, name, method: method.to_owned() };
        self.open.insert(id.to_owned(), open);
    }

    fn outcome(&mut self, at: Time, message: &Message, id: &str) {
        let Some(OpenRequest { line, at: sent_at, name, method }) = self.open.remove(id) else { return };
        let result = message.result.as_deref().map(|raw| serde_json::from_str(raw.get()));
        let outcome = match (&message.error, result) {
            (Some(fault), _) if Fault::has_free_text(fault.code) => {
                json!({ "error": { "code": fault.code } })
            }
            (Some(fault), _) => {
                let message = self.portable.generalize(&fault.message.as_str().into());
                json!({ "error": { "code": fault.code, "message": message } })
            }
            (None, Some(Ok(result))) => {
                json!({ "result": self.portable.generalize(&essence(&method, result)) })
            }
            (None, Some(Err(error))) => {
                return self
                    .comment(&format!("the answer to {name} of line {line} cannot be compared: {error}"));
            }
            (None, None) => {
                return self.comment(&format!("the answer to {name} has neither a result nor an error"));
            }
        };
        let took = at.saturating_since(sent_at);
        let within = u64::try_from(took.saturating_add(WITHIN).as_millis()).unwrap_or(u64::MAX);
        let within = (took > WITHIN / 2).then_some(within);
        let expect = Some(Event::Outcome { line, outcome });
        self.step(&Line { expect, within, ..Line::default() });
    }

    /// Returns JSON to send, if there is any. What no `Value` can hold, such as `1e999`, is sent as recorded, and a
    /// comment says so.
    fn sent(&mut self, text: &str) -> Option<Box<RawValue>> {
        let sent = match serde_json::from_str(text) {
            Ok(value) => to_raw_value(&self.portable.relativize(&value)),
            Err(error) => {
                if !text.is_empty() {
                    self.comment(&format!("the next line is as recorded: {error}"));
                }
                RawValue::from_string(text.to_owned())
            }
        };
        sent.ok()
    }

    fn step(&mut self, step: &Line<'_>) {
        // Strings and numbers can always be written as JSON.
        self.lines.push(json_line(step).unwrap_or_default());
    }

    fn comment(&mut self, text: &str) {
        let line = format!("# {}", display_safe(text));
        // Editors send many equal pushes.
        if self.lines.last() != Some(&line) {
            self.lines.push(line);
        }
    }

    fn finish(mut self) -> String {
        for OpenRequest { line, name, .. } in std::mem::take(&mut self.open).into_values() {
            self.comment(&format!("{name} of line {line} has no answer in the record"));
        }
        self.lines.join("\n")
    }
}

/// Returns the part of a result that shows how the editor behaves. Of a list these are the names or URIs, since
/// descriptions and schemas change with every version.
fn essence(method: &str, result: Value) -> Value {
    let keys: [(&str, &str, &str); 4] = [
        ("tools/list", "tools", "name"),
        ("prompts/list", "prompts", "name"),
        ("resources/list", "resources", "uri"),
        ("resources/templates/list", "resourceTemplates", "uriTemplate"),
    ];
    let Some((_, list, key)) = keys.into_iter().find(|(of, ..)| *of == method) else { return result };
    let entries = result.get(list).and_then(Value::as_array).into_iter().flatten();
    let named = |entry: &Value| {
        Value::Object(Map::from_iter([(
            key.to_owned(),
            entry.get(key).cloned().unwrap_or_else(|| ANY.into()),
        )]))
    };
    json!({ list: entries.map(named).collect::<Vec<_>>() })
}

#[cfg(test)]
mod tests;
