//! Plays a script to a core, and looks at what it says.
//!
//! What the machine says by itself it has to say now as well. What its application said cannot come from the machine:
//! there the [`Core`] is told to do what the application did, and has to say the same.
//!
//! A transcript knows when something passed the tap, and not whether the side had read one thing before it said another:
//! between the two lies the way. Where both are possible that is a choice: first the order of the transcript is tried, and
//! if there is a difference, the choices just before it are made the other way, one at a time. What then goes further
//! stands.

use crate::replay::compare::{Place, compare, show};
use crate::replay::script::{Doing, Expected, Script, Step};
use crate::replay::units::{Piece, Unit, Units};
use crate::support::transcript::Side;
use ide_mcp::Time;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// One side of all connections: a machine, and what an application did with it.
pub(crate) trait Core {
    /// A connection is accepted, or made.
    fn open(&mut self, now: Time, conn: u32);
    /// The peer said this.
    fn feed(&mut self, now: Time, conn: u32, piece: &Piece);
    /// The peer says nothing more.
    fn end(&mut self, now: Time, conn: u32);
    fn tick(&mut self, now: Time);
    fn deadline(&self) -> Option<Time>;
    /// Works on one event; false if there is none.
    fn poll(&mut self) -> bool;
    /// What it has to say on this connection.
    fn take_output(&mut self, now: Time, conn: u32) -> Vec<u8>;
    /// Whether an application could make it say this now, and how.
    fn cause_of(&self, conn: u32, said: &Expected) -> Option<Cause>;
    /// Does what an application did for this to be said.
    fn cause(&mut self, now: Time, conn: u32, said: &Expected);
}

/// Why an application says something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// It was asked: most often it answers at once, before the machine looks at what comes next.
    Question,
    /// Something happened elsewhere.
    Itself,
}

/// What is different.
#[derive(Clone, Debug)]
pub(crate) struct Difference {
    /// The line of the transcript; `None` if nothing was recorded.
    pub(crate) line: Option<usize>,
    pub(crate) at: Time,
    pub(crate) conn: u32,
    pub(crate) place: Place,
}

/// How much was the same.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outcome {
    pub(crate) difference: Option<Difference>,
    /// How many heads and frames.
    pub(crate) same: usize,
    /// When each was made, and on which connection.
    choices: Vec<(Time, u32)>,
}

/// How many choices before a difference are tried the other way, on its connection and on others: those of some messages
/// that crossed.
const TRIES: usize = 16;

/// Plays the script to a new core each time, until there is no difference or none that another order would explain.
pub(crate) fn play<C: Core>(script: &Script, tolerance: Duration, new: impl Fn() -> C) -> Outcome {
    let mut reversed = BTreeSet::new();
    let mut best = Run::new(script, tolerance, &reversed, new()).play();
    'better: while let Some(difference) = &best.difference {
        let near = |(_, (at, _)): &(usize, &(Time, u32))| at.saturating_add(tolerance) >= difference.at;
        let choices = best.choices.iter().enumerate().rev().take_while(near);
        let choices = choices.filter(|(choice, _)| !reversed.contains(choice));
        // What happened on the same connection explains it best.
        let (same, other): (Vec<_>, Vec<_>) = choices.partition(|(_, (_, conn))| *conn == difference.conn);
        let untried = same.into_iter().take(TRIES).chain(other.into_iter().take(TRIES));
        for choice in untried.map(|(choice, _)| choice) {
            // Behind it all may be another.
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

/// What a connection has said now.
struct Said {
    units: Units,
    /// The place of the next thing that is expected.
    next: usize,
    /// Nobody hears it any more.
    is_mute: bool,
}

/// The first difference ends a run.
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

    /// Lets the time pass, and calls back whenever the core asked for it. A loop may be late, and a `heard` step that
    /// comes soon after may be looked at first: then this time has come and nothing was done.
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

    /// Whether the choice that is to be made now was reversed.
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

    /// What an application does in the next moment it may do now. It does not, unless it was just `asked`; and the other
    /// way round where that choice was reversed.
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

    /// By now this has been said, or is said because the application or a timer does something.
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

    /// Compares what the core has to say with what was said.
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
                // Of what carries messages a recording by hand has nothing.
                let is_message = matches!(&unit, Unit::Frame { opcode, .. } if !opcode.is_control());
                if self.script.messages_only && !is_message {
                    continue;
                }
                let at = self.now;
                let Some(expected) = self.next(conn) else {
                    // What was said at the very end need not have been read any more.
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

/// A time for a person.
pub(crate) fn seconds(at: Time) -> String {
    format!("{:.6}", at.since_start().as_secs_f64())
}
