//! What a run needs from the replayed side, and what it reports.
//!
//! A machine must repeat everything that it does by itself. It cannot repeat what its application did: there, the
//! engine lets the [`Core`] act as the application did, and the output must be the same.

use crate::replay::script::Expected;
use crate::support::difference::Place;
use crate::support::units::Piece;
use ide_mcp::Time;

/// One side of all connections: a machine, and what an application does with it.
pub(crate) trait Core {
    /// Opens a connection: the side accepts or makes it.
    fn open(&mut self, now: Time, conn: u32);
    /// Feeds bytes of the peer.
    fn feed(&mut self, now: Time, conn: u32, piece: &Piece);
    /// Ends the input from the peer.
    fn end(&mut self, now: Time, conn: u32);
    fn tick(&mut self, now: Time);
    fn deadline(&self) -> Option<Time>;
    /// Handles one event; false when there is none.
    fn poll(&mut self) -> bool;
    /// Takes the output of this connection.
    fn take_output(&mut self, conn: u32) -> Vec<u8>;
    /// Returns why an application could cause this output now, if it could.
    fn cause_of(&self, conn: u32, output: &Expected) -> Option<Cause>;
    /// Acts as the application did to cause this output.
    fn cause(&mut self, now: Time, conn: u32, output: &Expected);
}

/// Why an application sent something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// A request, which the application most often answers at once, before the machine handles the next message.
    Request,
    /// Something else, which the transcript does not show.
    Unprompted,
}

/// A difference between the transcript and the replay.
#[derive(Clone, Debug)]
pub(crate) struct Difference {
    /// The line of the transcript; `None` if it has nothing here.
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
    /// The time and the connection of each choice between two possible orders of messages (see
    /// [`search`](super::search)).
    pub(crate) choices: Vec<(Time, u32)>,
}

/// Returns a time in seconds for a user.
pub(crate) fn seconds(at: Time) -> String {
    format!("{:.6}", at.since_start().as_secs_f64())
}
