//! The engine that plays a script to a core, and compares the output of the core.
//!
//! The machine has to repeat everything that it does by itself. It cannot repeat the actions of its
//! application: for those the engine lets the [`Core`] act as the application did, and the output
//! has to be the same.
//!
//! A transcript shows when bytes passed the tap. It does not show whether a side had read one
//! message before it sent another, because bytes take time between the tap and the side. If both
//! orders are possible, the engine makes a choice: at first the order of the transcript. After a
//! difference it reverses the choices just before the difference, one at a time, and keeps a
//! reversal that leads further.

use crate::replay::compare::{Place, compare, show};
use crate::replay::script::{Doing, Expected, Script, Step};
use crate::support::transcript::Side;
use crate::support::units::{Piece, Unit, Units};
use ide_mcp::Time;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// One side of all connections: a machine, and the actions of an application on it.
pub(crate) trait Core {
    /// Opens a connection: the side accepts or makes it.
    fn open(&mut self, now: Time, conn: u32);
    /// Feeds bytes of the peer.
    fn feed(&mut self, now: Time, conn: u32, piece: &Piece);
    /// Ends the input from the peer.
    fn end(&mut self, now: Time, conn: u32);
    fn tick(&mut self, now: Time);
    fn deadline(&self) -> Option<Time>;
    /// Handles one event; false if there is none.
    fn poll(&mut self) -> bool;
    /// Takes the output of this connection.
    fn take_output(&mut self, now: Time, conn: u32) -> Vec<u8>;
    /// Returns the reason for which an application could cause this output now, if it could.
    fn cause_of(&self, conn: u32, said: &Expected) -> Option<Cause>;
    /// Acts as the application did to cause this output.
    fn cause(&mut self, now: Time, conn: u32, said: &Expected);
}

/// The reason of an output of an application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// A request: most often the application answers it at once, before the machine handles the
    /// next message.
    Question,
    /// An event elsewhere.
    Itself,
}

/// A difference between the transcript and the replay.
#[derive(Clone, Debug)]
pub(crate) struct Difference {
    /// The line of the transcript; `None` if the transcript has nothing at this place.
    pub(crate) line: Option<usize>,
    pub(crate) at: Time,
    pub(crate) conn: u32,
    pub(crate) place: Place,
}

/// The result of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outcome {
    pub(crate) difference: Option<Difference>,
    /// The number of equal heads and frames.
    pub(crate) same: usize,
    /// The time and the connection of each choice.
    choices: Vec<(Time, u32)>,
}

/// The maximum number of choices before a difference that the engine reverses, on the connection of
/// the difference and on the others: enough for some messages that crossed.
const TRIES: usize = 16;

/// Plays the script to a new core each time, until there is no difference, or no reversal leads
/// further.
pub(crate) fn play<C: Core>(script: &Script, tolerance: Duration, new: impl Fn() -> C) -> Outcome {
    let mut reversed = BTreeSet::new();
    let mut best = Run::new(script, tolerance, &reversed, new()).play();
    'better: while let Some(difference) = &best.difference {
        let near = |(_, (at, _)): &(usize, &(Time, u32))| at.saturating_add(tolerance) >= difference.at;
        let choices = best.choices.iter().enumerate().rev().take_while(near);
        let choices = choices.filter(|(choice, _)| !reversed.contains(choice));
        // A choice on the same connection is the most likely cause.
        let (same, other): (Vec<_>, Vec<_>) = choices.partition(|(_, (_, conn))| *conn == difference.conn);
        let untried = same.into_iter().take(TRIES).chain(other.into_iter().take(TRIES));
        for choice in untried.map(|(choice, _)| choice) {
            // After a reversal the later choices can differ, so none of them stays reversed.
            let mut tried: BTreeSet<usize> = reversed.range(..choice).copied().collect();
            tried.insert(choice);
            let run = Run::new(script, tolerance, &tried, new()).play();
            let is_later = |found: &Difference| (found.at, found.line) > (difference.at, difference.line);
            if run.difference.as_ref().is_none_or(is_later) {
                (best, reversed) = (run, tried);
                continue 'better;
            }
        }
        break;
    }
    best
}

struct Run<'a, C> {
    script: &'a Script,
    tolerance: Duration,
    reversed: &'a BTreeSet<usize>,
    core: C,
    conns: BTreeMap<u32, Said>,
    now: Time,
    outcome: Outcome,
}

/// The output of a connection in the replay.
struct Said {
    units: Units,
    /// The index of the next expected unit.
    next: usize,
    /// True if nobody receives the output any more.
    is_mute: bool,
}

/// The result of a step: the first difference ends a run.
type Same = Result<(), Difference>;

impl<'a, C: Core> Run<'a, C> {
    fn new(script: &'a Script, tolerance: Duration, reversed: &'a BTreeSet<usize>, core: C) -> Self {
        let (conns, outcome) = (BTreeMap::new(), Outcome::default());
        Self { script, tolerance, reversed, core, conns, now: Time::ZERO, outcome }
    }

    fn play(mut self) -> Outcome {
        let mut steps = self.script.steps.iter();
        let played = steps.try_for_each(|step| self.step(step));
        self.outcome.difference = played.err();
        self.outcome
    }

    fn step(&mut self, step: &Step) -> Same {
        let conn = step.conn;
        self.wait(step.at, conn, matches!(step.what, Doing::Feed(_)))?;
        match &step.what {
            Doing::Open => {
                self.core.open(self.now, conn);
                let masked = self.script.side == Side::Agent;
                self.conns.insert(conn, Said { units: Units::new(masked), next: 0, is_mute: false });
            }
            Doing::Feed(piece) => {
                self.let_application_act(false)?;
                self.core.feed(self.now, conn, piece);
            }
            Doing::End => self.core.end(self.now, conn),
            Doing::Mute => {
                if let Some(said) = self.conns.get_mut(&conn) {
                    said.is_mute = true;
                }
            }
            Doing::Expect(place) => return self.expect(conn, *place),
        }
        self.work()
    }

    /// Advances the time, with a tick at each deadline of the core. The recorded loop can have been
    /// late, so input of the peer (`heard`) soon after a deadline can come before the tick. In that
    /// case the time advances without the tick.
    fn wait(&mut self, until: Time, conn: u32, heard: bool) -> Same {
        while let Some(due) = self.core.deadline().filter(|due| *due < until) {
            self.let_application_act(false)?;
            if heard && due.saturating_add(self.tolerance) >= until && self.is_reversed(due, conn) {
                self.now = self.now.max(until);
                return Ok(());
            }
            self.pass(due)?;
        }
        self.pass(until)
    }

    /// Makes the next choice, and returns true if it is reversed.
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
            self.listen()?;
            self.let_application_act(true)?;
        }
        self.listen()
    }

    /// Lets the application cause the output that the transcript has within the tolerance. By
    /// default the application acts only right after a request (`asked`), and only to answer that
    /// request. A reversed choice is the opposite.
    fn let_application_act(&mut self, asked: bool) -> Same {
        let conns: Vec<u32> = self.conns.keys().copied().collect();
        for conn in conns {
            while let Some(expected) = self.next(conn) {
                if expected.at > self.now.saturating_add(self.tolerance) {
                    break;
                }
                let Some(cause) = self.core.cause_of(conn, expected) else { break };
                let acts = asked && cause == Cause::Question;
                if acts == self.is_reversed(self.now, conn) {
                    break;
                }
                let before = self.outcome.same;
                self.core.cause(self.now, conn, expected);
                self.listen()?;
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

    /// Checks that the unit at `place` has come by now, or lets the application or a timer cause
    /// it.
    fn expect(&mut self, conn: u32, place: usize) -> Same {
        let is_said = |run: &Self| run.conns.get(&conn).is_none_or(|said| said.next > place);
        let Some(expected) = self.next(conn).filter(|_| !is_said(self)) else { return Ok(()) };
        if self.core.cause_of(conn, expected).is_some() {
            self.core.cause(self.now, conn, expected);
            self.work()?;
        }
        let late = self.now.saturating_add(self.tolerance);
        while !is_said(self) {
            match self.core.deadline().filter(|due| *due <= late) {
                Some(due) => self.pass(due)?,
                None => {
                    let place = Place {
                        path: "what is said".into(),
                        recorded: show(&expected.unit),
                        now: "nothing".into(),
                    };
                    let line = Some(expected.line);
                    return Err(Difference { line, at: expected.at, conn, place });
                }
            }
        }
        Ok(())
    }

    /// Compares the output of the core with the transcript.
    fn listen(&mut self) -> Same {
        let conns: Vec<u32> = self.conns.keys().copied().collect();
        for conn in conns {
            let output = self.core.take_output(self.now, conn);
            if output.is_empty() {
                continue;
            }
            let heard = self.conns.get_mut(&conn).filter(|said| !said.is_mute);
            let pieces = heard.map(|said| said.units.push(&output)).unwrap_or_default();
            for unit in pieces.into_iter().filter_map(|piece| piece.unit) {
                // A hand-written recording has only messages, without the other units.
                let is_message = matches!(&unit, Unit::Frame { opcode, .. } if !opcode.is_control());
                if self.script.messages_only && !is_message {
                    continue;
                }
                let at = self.now;
                let Some(expected) = self.next(conn) else {
                    // The tap possibly did not read the last output before its end.
                    if at.saturating_add(self.tolerance) >= self.script.end {
                        continue;
                    }
                    let place =
                        Place { path: "what is said".into(), recorded: "nothing".into(), now: show(&unit) };
                    return Err(Difference { line: None, at, conn, place });
                };
                let place = compare(&expected.unit, &unit).or_else(|| {
                    let early = expected.at > at.saturating_add(self.tolerance);
                    early.then(|| Place {
                        path: "when it is said".into(),
                        recorded: format!("{} s: {}", seconds(expected.at), show(&unit)),
                        now: format!("{} s", seconds(at)),
                    })
                });
                if let Some(place) = place {
                    return Err(Difference { line: Some(expected.line), at: expected.at, conn, place });
                }
                self.outcome.same = self.outcome.same.saturating_add(1);
                if let Some(said) = self.conns.get_mut(&conn) {
                    said.next = said.next.saturating_add(1);
                }
            }
        }
        Ok(())
    }
}

/// Returns a time in seconds for a person.
pub(crate) fn seconds(at: Time) -> String {
    format!("{:.6}", at.since_start().as_secs_f64())
}
