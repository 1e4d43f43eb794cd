//! A transcript as what is done with one side: what it is fed, when, and what it has to say.

use crate::replay::units::{Piece, Unit, Units, frame};
use crate::support::transcript::{Side, Transcript, What};
use ide_mcp::Time;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// What happens, in the order of the transcript.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) at: Time,
    pub(crate) conn: u32,
    pub(crate) what: Doing,
}

#[derive(Clone, Debug)]
pub(crate) enum Doing {
    Open,
    /// The peer says this.
    Feed(Piece),
    /// The peer says nothing more.
    End,
    /// From here on nobody hears the side: the tap has said farewell in its place.
    Mute,
    /// By now the side has said what stands at this place among the things expected on its connection.
    Expect(usize),
}

/// What the side said.
#[derive(Clone, Debug)]
pub(crate) struct Expected {
    /// The line of the transcript in which it ends.
    pub(crate) line: usize,
    pub(crate) at: Time,
    pub(crate) unit: Unit,
    /// The message that ends here.
    pub(crate) message: Option<String>,
}

/// All of it, for one side.
#[derive(Clone, Debug)]
pub(crate) struct Script {
    /// Whose it is.
    pub(crate) side: Side,
    pub(crate) steps: Vec<Step>,
    /// By connection.
    pub(crate) expected: BTreeMap<u32, Vec<Expected>>,
    /// What the peer says, as it is: the heads and messages by connection.
    pub(crate) heard: BTreeMap<u32, Vec<Heard>>,
    /// When the transcript ends.
    pub(crate) end: Time,
    /// There are only messages, and none of what carries them: a recording by hand.
    pub(crate) messages_only: bool,
    /// What nothing can be compared with, for a person.
    pub(crate) uncompared: Vec<String>,
}

#[derive(Clone, Debug)]
pub(crate) enum Heard {
    Head(Vec<u8>),
    Message(String),
}

impl Script {
    /// What this transcript asks of that side.
    pub(crate) fn new(transcript: &Transcript, side: Side) -> Self {
        let mut script = Self {
            side,
            steps: Vec::new(),
            expected: BTreeMap::new(),
            heard: BTreeMap::new(),
            end: Time::ZERO,
            messages_only: transcript.header.is_none(),
            uncompared: Vec::new(),
        };
        let mut streams: BTreeMap<(u32, Side), Units> = BTreeMap::new();
        let mut latest = BTreeMap::new();
        // Every end, and those that the tap did not make.
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
            // In a recording by hand nobody says when a connection opens.
            if *opened.entry(conn).or_insert(true) {
                opened.insert(conn, false);
                script.expected.entry(conn).or_default();
                script.steps.push(Step { at, conn, what: Doing::Open });
            }
            if line.by_tap && matches!(&line.what, What::Bytes(from, _) | What::End(from, _) if *from == side)
            {
                script.steps.push(Step { at, conn, what: Doing::Mute });
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
                        script.steps.push(Step { at, conn, what: Doing::End });
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
                    script.hear(at, conn, piece);
                } else if let Some(unit) = piece.unit {
                    script.expect(*number, at, conn, unit, piece.message);
                }
            }
            latest.insert((conn, from), (script.steps.len(), *number, at));
        }
        let mut rests = Vec::new();
        for conn in opened.into_keys() {
            let is_ended = ended.contains(&(conn, side));
            // The peer has ended, so what the side had to say is here, and this is no part of something longer.
            let is_all = !is_ended && own.contains(&(conn, side.other()));
            let left = streams.get_mut(&(conn, side)).filter(|units| units.left() > 0);
            match (left, latest.get(&(conn, side))) {
                (Some(units), Some(place)) if is_all => {
                    rests.extend(units.finish().map(|unit| (*place, conn, unit)));
                }
                (Some(units), _) => {
                    let left = units.left();
                    script
                        .uncompared
                        .push(format!("{left} bytes of connection {conn}: the {side} is cut off"));
                }
                (None, _) => {}
            }
            script.miss(conn, is_ended);
        }
        // The last first: the places of the others stay.
        rests.sort_by_key(|((step, ..), ..)| Reverse(*step));
        for ((step, line, at), conn, unit) in rests {
            script.expect(line, at, conn, unit, None);
            let expect = script.steps.split_off(script.steps.len().saturating_sub(1));
            script.steps.splice(step..step, expect);
        }
        script
    }

    /// Takes down what there is not on a connection.
    fn miss(&mut self, conn: u32, is_ended: bool) {
        let side = self.side;
        if self.expected.get(&conn).is_none_or(Vec::is_empty) {
            self.uncompared.push(format!("connection {conn}: the {side} says nothing on it that could be"));
        }
        if self.heard.get(&conn).is_none_or(Vec::is_empty) {
            let peer = side.other();
            self.uncompared
                .push(format!("connection {conn}: the {peer} says nothing on it that can be read"));
        }
        // Whoever records messages by hand records no ends.
        if !is_ended && !self.messages_only {
            self.uncompared
                .push(format!("the end of the {side} on connection {conn}: the transcript has none"));
        }
    }

    fn hear(&mut self, at: Time, conn: u32, piece: Piece) {
        let heard = self.heard.entry(conn).or_default();
        if let Some(Unit::Head(head)) = &piece.unit {
            heard.push(Heard::Head(head.clone()));
        }
        heard.extend(piece.message.clone().map(Heard::Message));
        self.steps.push(Step { at, conn, what: Doing::Feed(piece) });
    }

    fn expect(&mut self, line: usize, at: Time, conn: u32, unit: Unit, message: Option<String>) {
        let expected = self.expected.entry(conn).or_default();
        self.steps.push(Step { at, conn, what: Doing::Expect(expected.len()) });
        expected.push(Expected { line, at, unit, message });
    }

    /// The messages that the side says, on all connections.
    pub(crate) fn said(&self) -> impl Iterator<Item = (u32, &str)> {
        let all = self.expected.iter().flat_map(|(conn, expected)| expected.iter().map(|one| (*conn, one)));
        all.filter_map(|(conn, expected)| Some((conn, expected.message.as_deref()?)))
    }

    /// The messages that it hears.
    pub(crate) fn heard(&self) -> impl Iterator<Item = (u32, &str)> {
        let all = self.heard.iter().flat_map(|(conn, heard)| heard.iter().map(|one| (*conn, one)));
        all.filter_map(|(conn, heard)| match heard {
            Heard::Message(text) => Some((conn, text.as_str())),
            Heard::Head(_) => None,
        })
    }
}
