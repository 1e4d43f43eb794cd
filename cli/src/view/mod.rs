//! Shows the messages of a transcript, one row each, while they pass or afterwards.
//!
//! ```text
//!  line of a transcript ──View: units, messages, the request of an answer──▶ rows ──Filter, Screen──▶ text
//! ```

mod filter;
mod row;
mod screen;

pub(crate) use filter::{Filter, Word};
pub(crate) use screen::Screen;

use crate::support::ended::meaning;
use crate::support::message::{Kind as MessageKind, Message};
use crate::support::transcript::{Line, Side, What};
use crate::support::units::{Piece, Unit, Units};
use ide_mcp::Time;
use ide_mcp::ws::frame::Opcode;
use row::{Kind, Row};
use std::collections::BTreeMap;

/// The maximum number of bytes of an incomplete message: the default limit of a message in the WebSocket layer. If a
/// side sends a longer one, it is not shown any more.
const MAX_HELD: usize = 64 << 20;

/// The maximum number of requests of one side that wait for an answer: four times the default limit of calls of a
/// session. The answer to a request beyond these is shown without its request.
const MAX_OPEN: usize = 1024;

/// The maximum number of bytes of the id, method and tool of a waiting request together: the protocol's own names have
/// less than 100. With [`MAX_OPEN`], a side takes at most 512 KiB.
const MAX_NAMED: usize = 512;

/// The state of all connections, from the first line of a transcript.
#[derive(Debug)]
pub(crate) struct View {
    filter: Filter,
    max_held: usize,
    conns: BTreeMap<u32, Conn>,
}

/// One connection: the two sides, by the index of their [`Side`].
#[derive(Debug)]
struct Conn([Stream; 2]);

/// The output of one side of a connection.
#[derive(Debug)]
struct Stream {
    /// `None` after a message that was too long.
    units: Option<Units>,
    /// The open requests of this side, by the id as it is written.
    open: BTreeMap<String, OpenRequest>,
    is_ended: bool,
}

#[derive(Debug)]
struct OpenRequest {
    at: Time,
    method: String,
    tool: Option<String>,
}

impl View {
    pub(crate) const fn new(filter: Filter) -> Self {
        Self { filter, max_held: MAX_HELD, conns: BTreeMap::new() }
    }

    /// Returns the rows that this line completes and the filter shows, as text for this screen.
    pub(crate) fn show(&mut self, line: &Line, screen: &Screen) -> Vec<String> {
        let rows = self.rows(line).into_iter().filter(|row| self.filter.shows(row));
        rows.map(|row| row.render(screen)).collect()
    }

    fn rows(&mut self, line: &Line) -> Vec<Row> {
        let most = self.max_held;
        let conn = self.conns.entry(line.conn).or_insert_with(Conn::new);
        let row = |kind| Row::new(line, kind);
        match &line.what {
            What::Open => vec![row(Kind::Open)],
            What::Text(from, text) => conn.messages(line, *from, text),
            What::End(from, reason) => {
                let [ended, other] = conn.sides(*from);
                ended.is_ended = true;
                let is_over = other.is_ended;
                if is_over {
                    self.conns.remove(&line.conn);
                }
                vec![row(Kind::End).text(reason)]
            }
            What::Bytes(from, bytes) => {
                let [stream, _] = conn.sides(*from);
                let Some(units) = &mut stream.units else { return Vec::new() };
                let pieces = units.push(bytes);
                let is_too_long = units.held() > most;
                if is_too_long {
                    stream.units = None;
                }
                let lost = is_too_long.then(|| {
                    let most = most >> 20;
                    let lost =
                        format!("a message of more than {most} MiB: from here on the {from} is not shown");
                    row(Kind::Bytes).text(&lost).whole()
                });
                pieces.iter().flat_map(|piece| conn.piece(line, *from, piece)).chain(lost).collect()
            }
        }
    }
}

impl Conn {
    fn new() -> Self {
        Self([Side::Agent, Side::Editor].map(|side| Stream {
            units: Some(Units::new(side == Side::Agent)),
            open: BTreeMap::new(),
            is_ended: false,
        }))
    }

    /// Returns the stream of this side, and that of the other.
    fn sides(&mut self, side: Side) -> [&mut Stream; 2] {
        let [agent, editor] = &mut self.0;
        if side == Side::Agent { [agent, editor] } else { [editor, agent] }
    }

    fn piece(&mut self, line: &Line, from: Side, piece: &Piece) -> Vec<Row> {
        let row = |kind| Row::new(line, kind);
        if let Some(message) = &piece.message {
            return self.messages(line, from, message);
        }
        match &piece.unit {
            Some(Unit::Head(head)) => {
                let head = String::from_utf8_lossy(head.trim_ascii_end()).replace("\r\n", " | ");
                vec![row(Kind::Handshake).text(&head)]
            }
            Some(Unit::Junk(bytes)) => vec![row(Kind::Bytes).text(&String::from_utf8_lossy(bytes))],
            Some(Unit::Frame { opcode: Opcode::Close, payload, .. }) => {
                vec![row(Kind::Close).text(&closing(payload, line.by_tap, from))]
            }
            Some(Unit::Frame { opcode: Opcode::Ping, payload, .. }) => {
                vec![row(Kind::Ping).text(&String::from_utf8_lossy(payload))]
            }
            Some(Unit::Frame { opcode: Opcode::Pong, payload, .. }) => {
                vec![row(Kind::Pong).text(&String::from_utf8_lossy(payload))]
            }
            Some(Unit::Frame { .. }) | None => Vec::new(),
        }
    }

    /// Returns a row for each message in a string.
    fn messages(&mut self, line: &Line, from: Side, text: &str) -> Vec<Row> {
        let messages = Message::read(text);
        if messages.is_empty() {
            return vec![Row::new(line, Kind::Bytes).text(text)];
        }
        messages.iter().map(|message| self.message(line, from, message, text)).collect()
    }

    fn message(&mut self, line: &Line, from: Side, message: &Message, text: &str) -> Row {
        let [stream, other] = self.sides(from);
        match message.kind() {
            Some(MessageKind::Request { id, method }) => {
                let row = Row::new(line, Kind::Request).of(method, message.tool()).id(id);
                let tool = row.tool.as_ref().map_or(0, String::len);
                let named = id.len().saturating_add(method.len()).saturating_add(tool);
                if stream.open.len() < MAX_OPEN && named <= MAX_NAMED {
                    let open = OpenRequest { at: line.at, method: method.to_owned(), tool: row.tool.clone() };
                    stream.open.insert(id.to_owned(), open);
                }
                row.text(&message.arguments())
            }
            Some(MessageKind::Notification { method }) => {
                Row::new(line, Kind::Notification).of(method, None).text(&message.arguments())
            }
            Some(MessageKind::Answer { id }) => {
                let kind = if message.is_error() { Kind::Error } else { Kind::Answer };
                let row = Row::new(line, kind).id(id).text(&message.outcome());
                match other.open.remove(id) {
                    Some(open) => row.of(&open.method, open.tool).since(open.at),
                    None => row,
                }
            }
            None => Row::new(line, Kind::Bytes).text(text),
        }
    }
}

/// Returns the text of a close frame: the code, what it means, and the reason.
fn closing(payload: &[u8], by_tap: bool, from: Side) -> String {
    let Some((code, reason)) = payload.split_first_chunk::<2>() else { return "no code".into() };
    let code = u16::from_be_bytes(*code);
    let sender = if by_tap { "tap".into() } else { from.to_string() };
    let meaning = meaning(code).map(|meaning| format!("the {sender} {meaning}"));
    let reason = Some(String::from_utf8_lossy(reason).into_owned()).filter(|reason| !reason.is_empty());
    let parts = [Some(code.to_string()), meaning, reason];
    parts.into_iter().flatten().collect::<Vec<_>>().join(": ")
}

#[cfg(test)]
mod tests;
