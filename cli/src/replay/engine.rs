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

use crate::replay::run::Run;
use crate::replay::script::{Expected, Script};
use crate::support::difference::Place;
use crate::support::units::Piece;
use ide_mcp::Time;
use std::collections::BTreeSet;
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
    pub(crate) choices: Vec<(Time, u32)>,
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

/// Returns a time in seconds for a person.
pub(crate) fn seconds(at: Time) -> String {
    format!("{:.6}", at.since_start().as_secs_f64())
}
