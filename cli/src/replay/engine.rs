//! What plays a script: a core, whose output is compared, and the outcome of a run.
//!
//! The machine has to repeat everything that it does by itself. It cannot repeat the actions of its
//! application: for those the engine lets the [`Core`] act as the application did, and the output
//! has to be the same.

use crate::replay::script::Expected;
use crate::support::difference::Place;
use crate::support::units::Piece;
use ide_mcp::Time;

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
    fn take_output(&mut self, conn: u32) -> Vec<u8>;
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

/// Returns a time in seconds for a person.
pub(crate) fn seconds(at: Time) -> String {
    format!("{:.6}", at.since_start().as_secs_f64())
}
