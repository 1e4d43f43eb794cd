//! One run of a replay: plays a script to a new core, and compares the output.
//!
//! By meaning, a message may come before or after independent ones, within the tolerance.

use crate::replay::compare::{are_independent, compare, corresponds, show};
use crate::replay::conn_output::ConnOutput;
use crate::replay::engine::{Cause, Core, Difference, Outcome, seconds};
use crate::replay::script::{Action, Comparison, Expected, Script, Step};
use crate::support::difference::Place;
use crate::support::transcript::Side;
use crate::support::units::{Piece, Unit};
use ide_mcp::Time;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

pub(crate) struct Run<'a, C> {
    script: &'a Script,
    tolerance: Duration,
    reversed: &'a BTreeSet<usize>,
    core: C,
    conns: BTreeMap<u32, ConnOutput>,
    now: Time,
    outcome: Outcome,
}

/// The result of a step. The first difference ends the run.
type Same = Result<(), Difference>;

impl<'a, C: Core> Run<'a, C> {
    pub(crate) fn new(
        script: &'a Script,
        tolerance: Duration,
        reversed: &'a BTreeSet<usize>,
        core: C,
    ) -> Self {
        let (conns, outcome) = (BTreeMap::new(), Outcome::default());
        Self { script, tolerance, reversed, core, conns, now: Time::ZERO, outcome }
    }

    /// Plays all steps, up to the first difference.
    pub(crate) fn play(mut self) -> Outcome {
        let mut steps = self.script.steps.iter();
        let played = steps
            .try_for_each(|step| self.step(step))
            .and_then(|()| self.check_late(Time::new(Duration::MAX)));
        self.outcome.difference = played.err().map(|found| self.earliest(found));
        self.outcome
    }

    fn step(&mut self, step: &Step) -> Same {
        let conn = step.conn;
        self.wait(step.at, conn, matches!(step.what, Action::Feed(_)))?;
        self.check_late(self.now)?;
        match &step.what {
            Action::Open => {
                self.core.open(self.now, conn);
                let masked = self.script.side == Side::Agent;
                self.conns.insert(conn, ConnOutput::new(masked));
            }
            Action::Feed(piece) => {
                self.let_application_act(false)?;
                let masked = self.script.side == Side::Editor;
                let piece = self.conns.get_mut(&conn).and_then(|output| output.translate(piece, masked));
                if let Some(piece) = piece {
                    self.core.feed(self.now, conn, &piece);
                }
            }
            Action::End => {
                let held = self.conns.get_mut(&conn).map(|output| std::mem::take(&mut output.held));
                if let Some(bytes) = held.filter(|held| !held.is_empty()) {
                    self.core.feed(self.now, conn, &Piece { bytes, unit: None, message: None });
                }
                self.core.end(self.now, conn);
            }
            Action::Mute => {
                if let Some(output) = self.conns.get_mut(&conn) {
                    output.is_mute = true;
                }
            }
            Action::Expect(place) => return self.expect(conn, *place),
        }
        self.work()
    }

    /// Advances the time, with a tick at each deadline of the core. The recorded loop may have been late, so input of
    /// the peer (`is_input`) soon after a deadline can precede the tick; then the time advances without it.
    fn wait(&mut self, until: Time, conn: u32, is_input: bool) -> Same {
        while let Some(due) = self.core.deadline().filter(|due| *due < until) {
            self.let_application_act(false)?;
            if is_input && due.saturating_add(self.tolerance) >= until && self.is_reversed(due, conn) {
                self.now = self.now.max(until);
                return Ok(());
            }
            self.pass(due)?;
        }
        self.pass(until)
    }

    /// Makes the next choice; returns whether it is reversed.
    fn is_reversed(&mut self, at: Time, conn: u32) -> bool {
        let choice = self.outcome.choices.len();
        self.outcome.choices.push((at, conn));
        self.reversed.contains(&choice)
    }

    fn pass(&mut self, now: Time) -> Same {
        self.now = self.now.max(now);
        self.core.tick(self.now);
        self.work()
    }

    fn work(&mut self) -> Same {
        while self.core.poll() {
            self.compare_output()?;
            self.let_application_act(true)?;
        }
        self.compare_output()
    }

    /// Lets the application cause the output that the transcript has within the tolerance. By default it acts only
    /// right after a request (`after_request`), and only to answer that request. A reversed choice is the opposite.
    fn let_application_act(&mut self, after_request: bool) -> Same {
        let conns: Vec<u32> = self.conns.keys().copied().collect();
        for conn in conns {
            while let Some(expected) = self.next(conn) {
                if expected.at > self.now.saturating_add(self.tolerance) {
                    break;
                }
                let Some(cause) = self.core.cause_of(conn, expected) else { break };
                let acts = after_request && cause == Cause::Request;
                if acts == self.is_reversed(self.now, conn) {
                    break;
                }
                let before = self.outcome.same;
                self.core.cause(self.now, conn, expected);
                self.compare_output()?;
                if self.outcome.same == before {
                    break;
                }
            }
        }
        Ok(())
    }

    fn next(&self, conn: u32) -> Option<&'a Expected> {
        self.script.expected.get(&conn)?.get(self.conns.get(&conn)?.next)
    }

    /// Checks that the unit at `place` was sent by now, or lets the application or a timer cause it. By meaning, it
    /// may still come later.
    fn expect(&mut self, conn: u32, place: usize) -> Same {
        let is_sent = |run: &Self| run.conns.get(&conn).is_none_or(|output| output.has(place));
        let all = self.script.expected.get(&conn);
        let Some(expected) = all.and_then(|all| all.get(place)).filter(|_| !is_sent(self)) else {
            return Ok(());
        };
        if self.core.cause_of(conn, expected).is_some() {
            self.core.cause(self.now, conn, expected);
            self.work()?;
        }
        let late = self.now.saturating_add(self.tolerance);
        while !is_sent(self) {
            match self.core.deadline().filter(|due| *due <= late) {
                Some(due) => self.pass(due)?,
                None if self.script.comparison == Comparison::Meaning => {
                    if let Some(output) = self.conns.get_mut(&conn) {
                        output.late.insert(place);
                    }
                    break;
                }
                None => return Err(missing(conn, expected)),
            }
        }
        Ok(())
    }

    /// Checks that no unit is later than the tolerance at this time.
    fn check_late(&mut self, now: Time) -> Same {
        let too_late = |late: &(u32, &Expected)| late.1.at.saturating_add(self.tolerance) < now;
        match self.late().find(too_late) {
            Some((conn, expected)) => Err(missing(conn, expected)),
            None => Ok(()),
        }
    }

    /// Returns the difference, or a late unit that belongs before it, which is then the likelier cause.
    fn earliest(&self, found: Difference) -> Difference {
        let before = |late: &(u32, &Expected)| late.1.at < found.at;
        match self.late().filter(before).min_by_key(|(_, late)| late.at) {
            Some((conn, expected)) => missing(conn, expected),
            None => found,
        }
    }

    /// Returns the units that are late, with their connections.
    fn late(&self) -> impl Iterator<Item = (u32, &'a Expected)> {
        let script = self.script;
        self.conns.iter().flat_map(move |(conn, output)| {
            let all = script.expected.get(conn).map(Vec::as_slice).unwrap_or_default();
            let late = output.late.iter().filter(|place| !output.has(**place));
            late.filter_map(|place| Some((*conn, all.get(*place)?)))
        })
    }

    /// Returns the expected unit to compare with one of the core. By meaning that is the first one that corresponds
    /// to it and may change places with the units before it; otherwise the next one.
    fn counterpart(&self, conn: u32, actual: &Expected) -> Option<(usize, &'a Expected)> {
        let output = self.conns.get(&conn)?;
        let all = self.script.expected.get(&conn)?.iter().enumerate().skip(output.next);
        let mut open = all.filter(|(place, _)| !output.early.contains(place));
        let first = open.clone().next()?;
        if self.script.comparison == Comparison::Bytes {
            return Some(first);
        }
        let until = self.now.saturating_add(self.tolerance);
        let found = open.find(|(_, expected)| {
            corresponds(expected, actual) || !are_independent(expected, actual) || expected.at > until
        });
        found.filter(|(_, expected)| corresponds(expected, actual)).or(Some(first))
    }

    /// Compares the output of the core with the transcript.
    fn compare_output(&mut self) -> Same {
        let conns: Vec<u32> = self.conns.keys().copied().collect();
        for conn in conns {
            let bytes = self.core.take_output(conn);
            if bytes.is_empty() {
                continue;
            }
            let received = self.conns.get_mut(&conn).filter(|output| !output.is_mute);
            let pieces = received.map(|output| output.units.push(&bytes)).unwrap_or_default();
            for Piece { unit, message, .. } in pieces {
                let Some(unit) = unit else { continue };
                let at = self.now;
                let actual = Expected { line: 0, at, unit, message };
                // A hand-written recording has only messages. The head of an agent's connection is not compared.
                let is_message = matches!(&actual.unit, Unit::Frame { opcode, .. } if !opcode.is_control());
                let is_head_alone = self.script.messages_only
                    && matches!(actual.unit, Unit::Head(_))
                    && self.script.side == Side::Agent;
                if self.script.messages_only && !is_message && !is_head_alone {
                    continue;
                }
                let Some((place, expected)) = self.counterpart(conn, &actual) else {
                    // The tap may not have read the last output before it ended.
                    if at.saturating_add(self.tolerance) >= self.script.end {
                        continue;
                    }
                    let place = Place {
                        path: "the message".into(),
                        recorded: "nothing".into(),
                        now: show(&actual.unit),
                    };
                    return Err(Difference { line: None, at, conn, place });
                };
                let Some(output) = self.conns.get_mut(&conn) else { continue };
                if is_head_alone {
                    output.mark(place);
                    continue;
                }
                let found = compare(expected, &actual, self.script.comparison, &output.ids).or_else(|| {
                    let early = expected.at > at.saturating_add(self.tolerance);
                    early.then(|| Place {
                        path: "the time of the message".into(),
                        recorded: format!("{} s: {}", seconds(expected.at), show(&actual.unit)),
                        now: format!("{} s", seconds(at)),
                    })
                });
                if let Some(place) = found {
                    return Err(Difference { line: Some(expected.line), at: expected.at, conn, place });
                }
                if let (Some(recorded), Some(now)) = (&expected.message, &actual.message) {
                    output.ids.learn(recorded, now);
                }
                output.mark(place);
                self.outcome.same = self.outcome.same.saturating_add(1);
            }
        }
        Ok(())
    }
}

fn missing(conn: u32, expected: &Expected) -> Difference {
    let place = Place { path: "the message".into(), recorded: show(&expected.unit), now: "nothing".into() };
    Difference { line: Some(expected.line), at: expected.at, conn, place }
}
