//! Counts of connections that were never accepted.

use crate::ide::connection::Admission;

/// How many connections of a [`Server`](super::Server) ended without being accepted.
///
/// You get no events for these, because every program that reaches the port can cause thousands of them a second. The
/// counts only grow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unauthenticated {
    /// Opening handshakes that were refused, including those with a wrong token or none.
    pub refused: u64,
    /// Opening handshakes whose token was wrong, or whose client you did not admit: an agent with the token of another
    /// editor, or an attacker who guesses tokens. A client without any token counts only as refused; `ide-mcp doctor`
    /// tries that once in each run.
    pub wrong_tokens: u64,
    /// Connections that ended before their opening handshake was answered: the peer left, or the server needed the
    /// place for a later one.
    pub ended: u64,
}

impl Unauthenticated {
    /// Returns how many connections ended without being accepted.
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
