//! A transcript as one side saw it: its input with times, and the output that we expect.

use crate::support::counted;
use crate::support::message::Message;
use crate::support::transcript::{Side, Transcript, What};
use crate::support::units::{Piece, Unit, Units, frame};
use ide_mcp::ws::frame::Opcode;
use ide_mcp::{Output, Time, ws};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// An event, in the order of the transcript.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) at: Time,
    pub(crate) conn: u32,
    pub(crate) what: Action,
}

#[derive(Clone, Debug)]
pub(crate) enum Action {
    Open,
    /// The peer sent this.
    Feed(Piece),
    /// The peer ended.
    End,
    /// From here on nobody receives the output: the tap has sent a close frame in its place.
    Mute,
    /// The side sent the unit with this index among those expected on its connection.
    Expect(usize),
}

/// What must be equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    Meaning,
    Bytes,
}

/// A unit that the side sent.
#[derive(Clone, Debug)]
pub(crate) struct Expected {
    /// The line of the transcript in which the unit ends.
    pub(crate) line: usize,
    pub(crate) at: Time,
    pub(crate) unit: Unit,
    /// The message that ends with this unit.
    pub(crate) message: Option<String>,
}

impl Expected {
    /// Parses the message that ends with the unit, if it is a single one.
    pub(crate) fn parsed(&self) -> Option<Message> {
        serde_json::from_str(self.message.as_deref()?).ok()
    }
}

/// All events of one side.
#[derive(Clone, Debug)]
pub(crate) struct Script {
    /// The side that is replayed.
    pub(crate) side: Side,
    pub(crate) comparison: Comparison,
    pub(crate) steps: Vec<Step>,
    /// The expected units by connection.
    pub(crate) expected: BTreeMap<u32, Vec<Expected>>,
    /// The heads and messages of the peer by connection.
    pub(crate) received: BTreeMap<u32, Vec<Received>>,
    /// The time at which the transcript ends.
    pub(crate) end: Time,
    /// True if there are only messages, without other units: a hand-written recording.
    pub(crate) messages_only: bool,
    /// What cannot be compared, for the reader of the outcome.
    pub(crate) uncompared: Vec<String>,
}

#[derive(Clone, Debug)]
pub(crate) enum Received {
    Head(Vec<u8>),
    Message(String),
}

impl Script {
    /// Creates the script of this side.
    pub(crate) fn new(transcript: &Transcript, side: Side, comparison: Comparison) -> Self {
        let mut script = Self {
            side,
            comparison,
            steps: Vec::new(),
            expected: BTreeMap::new(),
            received: BTreeMap::new(),
            end: Time::ZERO,
            messages_only: transcript.header.is_none(),
            uncompared: Vec::new(),
        };
        let mut streams: BTreeMap<(u32, Side), Units> = BTreeMap::new();
        let mut latest = BTreeMap::new();
        // The sides that ended, and those that ended by themselves.
        let (mut ended, mut own) = (BTreeSet::new(), BTreeSet::new());
        let mut opened = BTreeMap::new();
        for (number, line) in &transcript.lines {
            let (at, conn) = (line.at, line.conn);
            script.end = at;
            if let What::End(from, _) = &line.what {
                ended.insert((conn, *from));
                if !line.by_tap {
                    own.insert((conn, *from));
                }
            }
            // A hand-written recording has no lines for the opening of connections.
            if *opened.entry(conn).or_insert(true) {
                opened.insert(conn, false);
                script.expected.entry(conn).or_default();
                script.steps.push(Step { at, conn, what: Action::Open });
            }
            if line.by_tap && matches!(&line.what, What::Bytes(from, _) | What::End(from, _) if *from == side)
            {
                script.steps.push(Step { at, conn, what: Action::Mute });
                continue;
            }
            let framed;
            let (from, bytes) = match &line.what {
                What::Open => continue,
                What::Bytes(from, bytes) => (*from, bytes),
                What::Text(from, text) => {
                    framed = frame(text, *from == Side::Agent);
                    (*from, &framed)
                }
                What::End(from, _) => {
                    let rest = streams.get_mut(&(conn, *from)).and_then(Units::finish);
                    if *from != side {
                        script.steps.push(Step { at, conn, what: Action::End });
                    } else if let Some(unit) = rest {
                        script.expect(*number, at, conn, unit, None);
                    }
                    continue;
                }
            };
            let units = streams.entry((conn, from)).or_insert_with(|| {
                let mut units = Units::new(from == Side::Agent);
                if script.messages_only && from == Side::Editor {
                    units.skip_head();
                }
                units
            });
            for piece in units.push(bytes) {
                if from != side {
                    script.receive(at, conn, piece);
                } else if let Some(unit) = piece.unit {
                    let acceptance = script.acceptance(&unit);
                    script.expect(*number, at, conn, unit, piece.message);
                    acceptance.into_iter().for_each(|piece| script.receive(at, conn, piece));
                }
            }
            latest.insert((conn, from), (script.steps.len(), *number, at));
        }
        let mut rests = Vec::new();
        for conn in opened.into_keys() {
            let is_ended = ended.contains(&(conn, side));
            // If the peer ended by itself, the output is complete, and the bytes left are not the start of a longer
            // unit.
            let is_all = !is_ended && own.contains(&(conn, side.other()));
            let left = streams.get_mut(&(conn, side)).filter(|units| units.left() > 0);
            match (left, latest.get(&(conn, side))) {
                (Some(units), Some(place)) if is_all => {
                    rests.extend(units.finish().map(|unit| (*place, conn, unit)));
                }
                (Some(units), _) => {
                    let left = counted(units.left(), "byte");
                    script.uncompared.push(format!("{left} of connection {conn}: the {side} is cut off"));
                }
                (None, _) => {}
            }
            script.note_missing(conn, is_ended);
        }
        // Insert the last one first, so that the indices of the others stay valid.
        rests.sort_by_key(|((step, ..), ..)| Reverse(*step));
        for ((step, line, at), conn, unit) in rests {
            script.expect(line, at, conn, unit, None);
            let expect = script.steps.split_off(script.steps.len().saturating_sub(1));
            script.steps.splice(step..step, expect);
        }
        script
    }

    /// Returns the answer to an agent's handshake. A recording of messages has none.
    fn acceptance(&self, unit: &Unit) -> Option<Piece> {
        let Unit::Head(request) = unit else { return None };
        if !self.messages_only || self.side != Side::Agent {
            return None;
        }
        let mut server = ws::Server::new(ws::Limits::default(), Time::ZERO);
        server.feed(Time::ZERO, request);
        while let Output::Event(_) = server.poll(Time::ZERO) {}
        // A client that offers the sub-protocol expects it in the answer.
        server.accept(Some("mcp")).or_else(|_| server.accept(None)).ok()?;
        let Output::Write { bytes, .. } = server.poll(Time::ZERO) else { return None };
        let bytes = bytes.to_vec();
        Some(Piece { unit: Some(Unit::Head(bytes.clone())), bytes, message: None })
    }

    /// Adds to `uncompared` what is missing on a connection.
    fn note_missing(&mut self, conn: u32, is_ended: bool) {
        let side = self.side;
        if self.expected.get(&conn).is_none_or(Vec::is_empty) {
            self.uncompared.push(format!("connection {conn}: the {side} sent nothing on it to compare"));
        }
        if self.received.get(&conn).is_none_or(Vec::is_empty) {
            let peer = side.other();
            self.uncompared.push(format!("connection {conn}: the {peer} sent nothing readable on it"));
        }
        // A hand-written recording does not record ends.
        if !is_ended && !self.messages_only {
            self.uncompared
                .push(format!("how the {side} ended connection {conn}: the record does not show it"));
        }
    }

    fn receive(&mut self, at: Time, conn: u32, piece: Piece) {
        let received = self.received.entry(conn).or_default();
        if let Some(Unit::Head(head)) = &piece.unit {
            received.push(Received::Head(head.clone()));
        }
        received.extend(piece.message.clone().map(Received::Message));
        self.steps.push(Step { at, conn, what: Action::Feed(piece) });
    }

    fn expect(&mut self, line: usize, at: Time, conn: u32, unit: Unit, message: Option<String>) {
        let Some(unit) = self.comparable(unit, message.as_deref()) else { return };
        let expected = self.expected.entry(conn).or_default();
        self.steps.push(Step { at, conn, what: Action::Expect(expected.len()) });
        expected.push(Expected { line, at, unit, message });
    }

    /// Returns a unit in the form that is compared. By meaning, a message is one frame, however it was fragmented.
    fn comparable(&self, unit: Unit, message: Option<&str>) -> Option<Unit> {
        match (&unit, message) {
            (Unit::Frame { opcode, .. }, Some(message))
                if self.comparison == Comparison::Meaning && !opcode.is_control() =>
            {
                Some(Unit::Frame { fin: true, opcode: Opcode::Text, payload: message.into() })
            }
            (Unit::Frame { opcode, fin: false, .. }, None)
                if self.comparison == Comparison::Meaning && !opcode.is_control() =>
            {
                None
            }
            _ => Some(unit),
        }
    }

    /// Returns the messages of the side, on all connections.
    pub(crate) fn sent_messages(&self) -> impl Iterator<Item = (u32, &str)> {
        let all = self.expected.iter().flat_map(|(conn, expected)| expected.iter().map(|one| (*conn, one)));
        all.filter_map(|(conn, expected)| Some((conn, expected.message.as_deref()?)))
    }

    /// Returns the messages of the peer, on all connections.
    pub(crate) fn received_messages(&self) -> impl Iterator<Item = (u32, &str)> {
        let all = self.received.iter().flat_map(|(conn, received)| received.iter().map(|one| (*conn, one)));
        all.filter_map(|(conn, received)| match received {
            Received::Message(text) => Some((conn, text.as_str())),
            Received::Head(_) => None,
        })
    }
}

/// Returns the value of a field of a head.
pub(crate) fn field(head: &[u8], name: &str) -> Option<String> {
    let head = std::str::from_utf8(head).ok()?;
    let mut fields = head.lines().filter_map(|line| line.split_once(':'));
    fields.find(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim().to_owned())
}
