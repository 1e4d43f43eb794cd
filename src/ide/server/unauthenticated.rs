//! Counts of the connections that were never let in.

use crate::ide::connection::Admission;

/// Counts of the connections of a [`Server`](super::Server) that ended without having been let in.
///
/// The end of such a connection is no event: every program that reaches the port can cause thousands of
/// them a second. The counts only grow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unauthenticated {
    /// Opening handshakes that were answered with a refusal, those with a wrong token or without one
    /// included.
    pub refused: u64,
    /// Opening handshakes whose token was wrong, or whose client the application did not admit: sent by
    /// an agent of another editor, or by an attacker who guesses tokens. A client that sends no token, as
    /// `ide-mcp doctor` once in each run, guesses none and counts as refused only.
    pub wrong_tokens: u64,
    /// Connections that ended before their opening handshake was answered: the peer left, or the server
    /// closed the connection for a later one.
    pub ended: u64,
}

impl Unauthenticated {
    /// Returns the number of connections that ended without having been let in.
    #[must_use]
    pub const fn total(self) -> u64 {
        self.refused.saturating_add(self.ended)
    }

    /// Counts a connection that has ended.
    pub(super) const fn count(&mut self, admission: Admission) {
        match admission {
            Admission::Pending => self.ended = self.ended.saturating_add(1),
            Admission::Refused => self.refused = self.refused.saturating_add(1),
            Admission::WrongToken => {
                self.refused = self.refused.saturating_add(1);
                self.wrong_tokens = self.wrong_tokens.saturating_add(1);
            }
            Admission::LetIn => {}
        }
    }
}
