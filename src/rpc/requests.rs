//! Our own requests that wait for the peer's answer.
//!
//! ```text
//! open ──▶ waiting ──resolve──▶ the peer answered
//!                  ──cancel───▶ we gave it up
//!                  ──expire───▶ no answer in time
//!                  ──close────▶ the session ended
//! ```
//!
//! Ids are the integers from 1 on, each used once. So whether an id was ever ours needs no memory: a response to one
//! that has been issued and does not wait is late, to any other it is unknown.

use super::{Id, RequestId, SessionId, table::Table};
use crate::Time;

/// The table of own requests; `T` is what its owner wants to know of one of them.
#[derive(Debug)]
pub(crate) struct Requests<T> {
    session: SessionId,
    waiting: Table<T>,
}

/// What a response belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub(crate) enum Match<T> {
    /// The request that it answers, which has ended with it.
    Waiting(RequestId, T),
    /// A request of ours that had ended before.
    Late,
    /// Nothing that was ever sent.
    Unknown,
}

impl<T> Requests<T> {
    /// An empty table. How many requests may wait in it at a time is for its owner to say.
    #[must_use]
    pub(crate) const fn new(session: SessionId) -> Self {
        Self { session, waiting: Table::new() }
    }

    /// The id that the next [`open`](Requests::open) will use.
    ///
    /// At a million requests a second, the ids stay below 2^53, beyond which some peers lose them, for 285 years.
    #[must_use]
    pub(crate) const fn next_id(&self) -> u64 {
        self.waiting.next()
    }

    /// Notes a request that has been sent with [`next_id`](Requests::next_id).
    pub(crate) fn open(&mut self, deadline: Option<Time>, data: T) -> RequestId {
        let serial = self.waiting.open(deadline, data);
        RequestId::new(self.session, serial)
    }

    /// Ends the request that a response with this id answers.
    pub(crate) fn resolve(&mut self, id: &Id) -> Match<T> {
        let Some(serial) = id.own_serial().filter(|serial| (1..self.waiting.next()).contains(serial)) else {
            return Match::Unknown;
        };
        match self.waiting.end(serial) {
            Some(data) => Match::Waiting(RequestId::new(self.session, serial), data),
            None => Match::Late,
        }
    }

    /// The waiting request with this id, and what the owner knows of it, without ending it.
    pub(crate) fn find_mut(&mut self, id: &Id) -> Option<(RequestId, &mut T)> {
        let serial = id.own_serial()?;
        Some((RequestId::new(self.session, serial), self.waiting.get_mut(serial)?))
    }

    /// Gives a waiting request another deadline. Nothing happens if it does not wait.
    pub(crate) fn set_deadline(&mut self, request: RequestId, deadline: Option<Time>) {
        if request.session() == self.session {
            self.waiting.set_deadline(request.serial(), deadline);
        }
    }

    /// Ends a request because nobody wants the answer any more. `None` if it does not wait.
    pub(crate) fn cancel(&mut self, request: RequestId) -> Option<T> {
        if request.session() != self.session {
            return None;
        }
        self.waiting.end(request.serial())
    }

    /// Ends the request that has been due longest at `now`. `None` if none is due.
    pub(crate) fn expire(&mut self, now: Time) -> Option<(RequestId, T)> {
        let (serial, data) = self.waiting.expire(now)?;
        Some((RequestId::new(self.session, serial), data))
    }

    /// Ends the oldest waiting request because the session ends. To be repeated until `None`.
    pub(crate) fn close_one(&mut self) -> Option<(RequestId, T)> {
        let serial = self.waiting.first()?;
        Some((RequestId::new(self.session, serial), self.waiting.end(serial)?))
    }

    /// The waiting requests, the oldest first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (RequestId, &T)> {
        self.waiting.iter().map(|(serial, data)| (RequestId::new(self.session, serial), data))
    }

    /// Whether this request waits.
    #[must_use]
    pub(crate) fn is_waiting(&self, request: RequestId) -> bool {
        request.session() == self.session && self.waiting.get(request.serial()).is_some()
    }

    /// When the next request is due.
    #[must_use]
    pub(crate) fn deadline(&self) -> Option<Time> {
        self.waiting.deadline()
    }

    /// How many requests wait.
    #[must_use]
    pub(crate) fn len(&self) -> usize {
        self.waiting.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Requests<&'static str> {
        Requests::new(SessionId::new(1))
    }

    #[test]
    fn a_request_ends_once_and_later_answers_are_late() {
        let mut requests = table();
        let due = Some(Time::from_millis(10));
        let answered = requests.open(due, "answered");
        let cancelled = requests.open(due, "cancelled");
        let expired = requests.open(due, "expired");
        let closed = requests.open(None, "closed");

        assert_eq!(requests.resolve(&Id::from(1)), Match::Waiting(answered, "answered"));
        assert_eq!(requests.cancel(cancelled), Some("cancelled"));
        assert_eq!(requests.cancel(cancelled), None);
        assert_eq!(requests.expire(Time::from_millis(9)), None);
        assert_eq!(requests.expire(Time::from_millis(10)), Some((expired, "expired")));
        assert_eq!(requests.close_one(), Some((closed, "closed")));
        assert_eq!(requests.close_one(), None);

        for id in 1..=4 {
            assert_eq!(requests.resolve(&Id::from(id)), Match::Late, "{id}");
        }
        assert_eq!(requests.resolve(&Id::from(0)), Match::Unknown);
        assert_eq!(requests.resolve(&Id::from(5)), Match::Unknown);
        assert_eq!(requests.deadline(), None, "nothing waits for a request that has ended");
    }

    #[test]
    fn a_request_of_another_session_is_not_cancelled() {
        let mut requests = table();
        let other = Requests::new(SessionId::new(2)).open(None, "");
        let kept = requests.open(None, "kept");
        assert_eq!(requests.cancel(other), None);
        assert_eq!((requests.is_waiting(other), requests.is_waiting(kept)), (false, true));
        assert_eq!(requests.len(), 1);
    }

    #[test]
    fn a_request_can_be_looked_at_and_changed_while_it_waits() {
        let mut requests = table();
        assert_eq!(requests.len(), 0);
        let first = requests.open(None, "first");
        let second = requests.open(Some(Time::from_millis(20)), "second");
        assert_eq!(requests.len(), 2);
        let (found, data) = requests.find_mut(&Id::from(1)).unwrap();
        assert_eq!((found, *data), (first, "first"));
        *data = "changed";
        assert!(requests.iter().eq([(first, &"changed"), (second, &"second")]));
        assert!(requests.find_mut(&Id::from(3)).is_none());

        requests.set_deadline(first, Some(Time::from_millis(10)));
        assert_eq!(requests.deadline(), Some(Time::from_millis(10)));
        requests.set_deadline(RequestId::new(SessionId::new(2), first.serial()), None);
        assert_eq!(requests.deadline(), Some(Time::from_millis(10)), "of another session");
        assert_eq!(requests.resolve(&Id::from(1)), Match::Waiting(first, "changed"));
        assert!(requests.find_mut(&Id::from(1)).is_none());
    }

    #[test]
    fn an_id_is_used_once() {
        let mut requests = table();
        requests.open(None, "");
        assert_eq!(requests.next_id(), 2);
        requests.resolve(&Id::from(1));
        assert_eq!(requests.next_id(), 2, "not even once its request has ended");
    }
}
