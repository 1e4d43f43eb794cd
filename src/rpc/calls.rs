//! The requests of the peer that wait for our answer.
//!
//! ```text
//! open ──▶ waiting ──finish───▶ answered
//!                  ──cancel───▶ cancelled      the peer expects no answer any more
//!                  ──expire───▶ expired        answered for the application
//!                  ──close────▶ closed
//! ```
//!
//! A call ends exactly once. How the last ones ended is remembered, so that an answer that comes too late is refused
//! with the reason.

use alloc::{collections::VecDeque, vec::Vec};

use super::{CallId, Id, NotOpen, SessionId, sorted, table::Table};
use crate::Time;

/// How many ended calls are remembered at least. As many as may be open are, so that closing a session forgets none of
/// them.
const REMEMBERED: usize = 256;

/// How many calls that are answered at once may be open beside those that wait: a batch of them, since a text is dealt
/// with before the next is read.
const AT_ONCE: usize = 64;

/// The table of open calls; `T` is what its owner wants to know of one of them.
#[derive(Debug)]
pub(crate) struct Calls<T> {
    session: SessionId,
    limit: usize,
    open: Table<Open<T>>,
    /// How many of them are answered at once, and do not count.
    at_once: usize,
    /// The digest of its id and the number of every open call, sorted. Only ever searched.
    by_id: Vec<(u64, u64)>,
    ended: VecDeque<(u64, NotOpen)>,
}

#[derive(Debug)]
struct Open<T> {
    id: Id,
    at_once: bool,
    data: T,
}

/// Why a request of the peer is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub(crate) enum Refused {
    /// A call with the same id is open. The newcomer is refused and the first one left alone: whatever answer came
    /// for this id would be ambiguous.
    Duplicate,
    /// As many calls as the limit allows are open.
    Busy,
}

impl<T> Calls<T> {
    /// An empty table that takes up to `limit` calls at a time.
    #[must_use]
    pub(crate) const fn new(session: SessionId, limit: usize) -> Self {
        Self { session, limit, open: Table::new(), at_once: 0, by_id: Vec::new(), ended: VecDeque::new() }
    }

    /// Takes a call.
    ///
    /// # Errors
    ///
    /// If one with this id is open, or too many are.
    pub(crate) fn open(&mut self, id: Id, deadline: Option<Time>, data: T) -> Result<CallId, Refused> {
        if self.is_in_flight(&id) {
            return Err(Refused::Duplicate);
        }
        if self.is_full() {
            return Err(Refused::Busy);
        }
        Ok(self.add(deadline, Open { id, at_once: false, data }))
    }

    /// Takes a call that is answered at once, however many wait: it may be the one that ends them.
    ///
    /// # Errors
    ///
    /// If one with this id is open, or 64 such calls are, which is a batch of them.
    pub(crate) fn open_at_once(
        &mut self,
        id: Id,
        deadline: Option<Time>,
        data: T,
    ) -> Result<CallId, Refused> {
        if self.is_in_flight(&id) {
            return Err(Refused::Duplicate);
        }
        if self.is_full_at_once() {
            return Err(Refused::Busy);
        }
        self.at_once = self.at_once.saturating_add(1);
        Ok(self.add(deadline, Open { id, at_once: true, data }))
    }

    /// Lets a call that was to be answered at once wait after all: from now on it counts like others. Where there is no
    /// room for it, it is still open, and to be answered.
    ///
    /// # Errors
    ///
    /// [`Refused::Busy`] if too many wait.
    pub(crate) fn defer(&mut self, call: CallId) -> Result<(), Refused> {
        let full = self.is_full();
        if call.session() != self.session {
            return Ok(());
        }
        match self.open.get_mut(call.number()) {
            Some(open) if open.at_once && full => Err(Refused::Busy),
            Some(open) if open.at_once => {
                open.at_once = false;
                self.at_once = self.at_once.saturating_sub(1);
                Ok(())
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Ends a call because it is being answered, and gives the id that the answer must carry.
    ///
    /// # Errors
    ///
    /// If it is not open: how it ended.
    pub(crate) fn finish(&mut self, call: CallId) -> Result<(Id, T), NotOpen> {
        if call.session() != self.session {
            return Err(NotOpen::Unknown);
        }
        match self.end(call.number(), NotOpen::Answered) {
            Some(open) => Ok((open.id, open.data)),
            None => Err(self.how_ended(call.number())),
        }
    }

    /// What the owner knows of a call.
    ///
    /// # Errors
    ///
    /// If it is not open: how it ended.
    pub(crate) fn get(&self, call: CallId) -> Result<&T, NotOpen> {
        self.entry(call).map(|open| &open.data)
    }

    /// The id that the answer to a call must carry, without ending it.
    ///
    /// # Errors
    ///
    /// If it is not open: how it ended.
    pub(crate) fn id(&self, call: CallId) -> Result<&Id, NotOpen> {
        self.entry(call).map(|open| &open.id)
    }

    /// What the owner knows of a call, to change it.
    ///
    /// # Errors
    ///
    /// If it is not open: how it ended.
    pub(crate) fn get_mut(&mut self, call: CallId) -> Result<&mut T, NotOpen> {
        self.get(call)?;
        self.open.get_mut(call.number()).map(|open| &mut open.data).ok_or(NotOpen::Unknown)
    }

    /// Gives an open call another deadline. Nothing happens if it is not open.
    pub(crate) fn set_deadline(&mut self, call: CallId, deadline: Option<Time>) {
        if call.session() == self.session {
            self.open.set_deadline(call.number(), deadline);
        }
    }

    /// Ends the call with this id because the peer cancelled it. `None` if there is none.
    pub(crate) fn cancel(&mut self, id: &Id) -> Option<(CallId, T)> {
        let serial = self.find(id)?;
        let open = self.end(serial, NotOpen::Cancelled)?;
        Some((CallId::new(self.session, serial), open.data))
    }

    /// Ends the call that has been due longest at `now`. `None` if none is due.
    pub(crate) fn expire(&mut self, now: Time) -> Option<(CallId, Id, T)> {
        let (serial, open) = self.open.expire(now)?;
        self.note(serial, &open, NotOpen::Expired);
        Some((CallId::new(self.session, serial), open.id, open.data))
    }

    /// Ends the oldest open call because the session ends. To be repeated until `None`.
    pub(crate) fn close_one(&mut self) -> Option<(CallId, T)> {
        let serial = self.open.first()?;
        let open = self.end(serial, NotOpen::Closed)?;
        Some((CallId::new(self.session, serial), open.data))
    }

    /// The oldest open call.
    #[must_use]
    pub(crate) fn first(&self) -> Option<CallId> {
        self.open.first().map(|serial| CallId::new(self.session, serial))
    }

    /// Whether this call waits for its answer.
    #[must_use]
    pub(crate) fn is_open(&self, call: CallId) -> bool {
        self.get(call).is_ok()
    }

    /// Whether a call with this id waits for its answer.
    #[must_use]
    pub(crate) fn is_in_flight(&self, id: &Id) -> bool {
        self.find(id).is_some()
    }

    /// Whether as many calls wait as may.
    #[must_use]
    pub(crate) fn is_full(&self) -> bool {
        self.len().saturating_sub(self.at_once) >= self.limit
    }

    /// Whether as many calls are open as may be that are answered at once.
    #[must_use]
    pub(crate) const fn is_full_at_once(&self) -> bool {
        self.at_once >= AT_ONCE
    }

    /// How many calls are open.
    #[must_use]
    pub(crate) fn len(&self) -> usize {
        self.open.len()
    }

    /// When the next call is due.
    #[must_use]
    pub(crate) fn deadline(&self) -> Option<Time> {
        self.open.deadline()
    }

    fn add(&mut self, deadline: Option<Time>, open: Open<T>) -> CallId {
        let digest = open.id.digest();
        let serial = self.open.open(deadline, open);
        sorted::insert(&mut self.by_id, (digest, serial));
        CallId::new(self.session, serial)
    }

    fn entry(&self, call: CallId) -> Result<&Open<T>, NotOpen> {
        if call.session() != self.session {
            return Err(NotOpen::Unknown);
        }
        self.open.get(call.number()).ok_or_else(|| self.how_ended(call.number()))
    }

    /// The number of the open call with this id.
    fn find(&self, id: &Id) -> Option<u64> {
        let digest = id.digest();
        let from = sorted::place(&self.by_id, &(digest, 0));
        let alike = self.by_id.get(from..)?.iter().take_while(|(known, _)| *known == digest);
        alike
            .map(|(_, serial)| *serial)
            .find(|serial| self.open.get(*serial).is_some_and(|open| open.id == *id))
    }

    fn end(&mut self, serial: u64, how: NotOpen) -> Option<Open<T>> {
        let open = self.open.end(serial)?;
        self.note(serial, &open, how);
        Some(open)
    }

    /// Notes how a call ended that is no longer in the table.
    fn note(&mut self, serial: u64, open: &Open<T>, how: NotOpen) {
        self.at_once = self.at_once.saturating_sub(usize::from(open.at_once));
        sorted::remove(&mut self.by_id, &(open.id.digest(), serial));
        if self.ended.len() >= self.limit.max(REMEMBERED) {
            self.ended.pop_front();
        }
        self.ended.push_back((serial, how));
    }

    fn how_ended(&self, serial: u64) -> NotOpen {
        self.ended.iter().rev().find(|(ended, _)| *ended == serial).map_or(NotOpen::Unknown, |(_, how)| *how)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(limit: usize) -> Calls<&'static str> {
        Calls::new(SessionId::new(1), limit)
    }

    #[test]
    fn a_call_ends_once_and_says_how() {
        let mut calls = table(8);
        let later = Some(Time::from_millis(10));
        let answered = calls.open(Id::from(1), later, "answered").unwrap();
        let cancelled = calls.open(Id::from(2), later, "cancelled").unwrap();
        let expired = calls.open(Id::from(3), later, "expired").unwrap();
        let closed = calls.open(Id::from(4), None, "closed").unwrap();

        assert_eq!((calls.id(answered), calls.get(answered)), (Ok(&Id::from(1)), Ok(&"answered")));
        assert_eq!(calls.finish(answered), Ok((Id::from(1), "answered")));
        assert_eq!(calls.cancel(&Id::from(2)), Some((cancelled, "cancelled")));
        assert_eq!(calls.cancel(&Id::from(2)), None);
        assert_eq!(calls.expire(Time::from_millis(9)), None);
        assert_eq!(calls.expire(Time::from_millis(10)), Some((expired, Id::from(3), "expired")));
        assert_eq!(calls.expire(Time::from_millis(10)), None);
        assert_eq!(calls.close_one(), Some((closed, "closed")));
        assert_eq!(calls.close_one(), None);

        let rows = [
            ("answered", answered, NotOpen::Answered),
            ("cancelled", cancelled, NotOpen::Cancelled),
            ("expired", expired, NotOpen::Expired),
            ("closed", closed, NotOpen::Closed),
            ("of another session", CallId::new(SessionId::new(2), 1), NotOpen::Unknown),
            ("never opened", CallId::new(SessionId::new(1), 99), NotOpen::Unknown),
        ];
        for (name, call, how) in rows {
            assert_eq!(calls.id(call), Err(how), "{name}");
            assert_eq!(calls.finish(call), Err(how), "{name}");
        }
        assert_eq!(calls.deadline(), None, "nothing waits for a call that has ended");
    }

    #[test]
    fn an_id_may_come_again_once_its_call_has_ended() {
        let mut calls = table(8);
        let first = calls.open(Id::from(7), None, "first").unwrap();
        assert_eq!(calls.open(Id::from(7), None, "too early"), Err(Refused::Duplicate));
        calls.cancel(&Id::from(7)).unwrap();
        let second = calls.open(Id::from(7), None, "second").unwrap();
        assert_eq!(calls.finish(first), Err(NotOpen::Cancelled));
        assert_eq!(calls.finish(second), Ok((Id::from(7), "second")));
    }

    #[test]
    fn the_limit_is_the_number_of_open_calls() {
        let mut calls = table(2);
        let first = calls.open(Id::from(1), None, "").unwrap();
        calls.open(Id::from(2), None, "").unwrap();
        assert_eq!(calls.open(Id::from(3), None, ""), Err(Refused::Busy));
        calls.finish(first).unwrap();
        assert!(calls.open(Id::from(3), None, "").is_ok());
    }

    #[test]
    fn the_last_ones_that_ended_are_remembered() {
        let mut calls = table(1);
        let mut ended = Vec::new();
        for _ in 0..=REMEMBERED {
            let call = calls.open(Id::from(1), None, "").unwrap();
            calls.finish(call).unwrap();
            ended.push(call);
        }
        assert_eq!(calls.finish(ended[0]), Err(NotOpen::Unknown), "one more than is remembered");
        assert_eq!(calls.finish(ended[1]), Err(NotOpen::Answered));
    }

    #[test]
    fn the_one_that_is_due_first_expires_first() {
        let mut calls = table(8);
        let late = calls.open(Id::from(1), Some(Time::from_millis(20)), "").unwrap();
        let early = calls.open(Id::from(2), Some(Time::from_millis(10)), "").unwrap();
        assert_eq!(calls.deadline(), Some(Time::from_millis(10)));
        let now = Time::from_millis(30);
        assert_eq!(calls.expire(now).map(|(call, ..)| call), Some(early));
        assert_eq!(calls.expire(now).map(|(call, ..)| call), Some(late));
    }

    #[test]
    fn a_call_can_be_looked_at_and_changed_while_it_is_open() {
        let mut calls = table(2);
        assert_eq!((calls.len(), calls.is_full(), calls.first()), (0, false, None));
        let first = calls.open(Id::from(1), None, "first").unwrap();
        let second = calls.open(Id::from(2), Some(Time::from_millis(20)), "second").unwrap();
        assert_eq!((calls.len(), calls.is_full()), (2, true));
        assert_eq!(calls.first(), Some(first));
        *calls.get_mut(first).unwrap() = "changed";
        assert_eq!((calls.get(first), calls.get(second)), (Ok(&"changed"), Ok(&"second")));
        calls.set_deadline(first, Some(Time::from_millis(10)));
        assert_eq!(calls.deadline(), Some(Time::from_millis(10)));

        let other = CallId::new(SessionId::new(2), first.number());
        calls.set_deadline(other, None);
        assert_eq!(
            (calls.deadline(), calls.get_mut(other)),
            (Some(Time::from_millis(10)), Err(NotOpen::Unknown))
        );
        assert_eq!((calls.is_open(first), calls.is_open(other)), (true, false));

        calls.finish(first).unwrap();
        assert_eq!(calls.get_mut(first), Err(NotOpen::Answered));
        assert!(!calls.is_open(first));
        assert_eq!((calls.first(), calls.deadline()), (Some(second), Some(Time::from_millis(20))));
    }

    /// However the digests of ids fall together, only the id itself counts.
    #[test]
    fn calls_are_found_by_their_id_alone() {
        const TOKENS: &[&str] =
            &["0", "1", "-1", "\"\"", "\"0\"", "\"a\"", "1e30", "-1e30", "14695981039346656037"];
        let read = |token: &str| {
            Id::read(serde_json::from_str(token).unwrap(), &crate::rpc::SessionLimits::default()).unwrap()
        };
        let mut calls = table(16);
        let open: Vec<_> = TOKENS.iter().map(|token| calls.open(read(token), None, "").unwrap()).collect();
        for (token, call) in TOKENS.iter().zip(open) {
            assert_eq!(calls.cancel(&read(token)).map(|(call, _)| call), Some(call), "{token}");
            assert!(!calls.is_in_flight(&read(token)), "{token}");
        }
        assert_eq!(calls.by_id, []);
    }

    #[test]
    fn what_is_answered_at_once_is_let_in_beside_what_waits() {
        let mut calls = table(1);
        let waiting = calls.open(Id::from(1), None, "waits").unwrap();
        assert_eq!(calls.open(Id::from(2), None, ""), Err(Refused::Busy));
        assert_eq!(calls.open_at_once(Id::from(1), None, ""), Err(Refused::Duplicate));
        let due = Some(Time::from_millis(1));
        let at_once: Vec<_> = (2..66).map(|id| calls.open_at_once(Id::from(id), due, "").unwrap()).collect();
        assert_eq!(calls.open_at_once(Id::from(66), None, ""), Err(Refused::Busy));
        assert_eq!(calls.defer(at_once[0]), Err(Refused::Busy));
        calls.finish(waiting).unwrap();
        assert_eq!(calls.defer(at_once[0]), Ok(()));
        assert_eq!(calls.defer(at_once[0]), Ok(()), "it waits already");
        assert_eq!(calls.at_once, 63, "and is counted once");
        assert_eq!(calls.defer(at_once[1]), Err(Refused::Busy));
        // However they end, they do not count any more, and the one that waits does.
        calls.finish(at_once[1]).unwrap();
        calls.cancel(&Id::from(4)).unwrap();
        calls.set_deadline(at_once[0], None);
        while calls.expire(Time::from_millis(1)).is_some() {}
        assert_eq!((calls.len(), calls.at_once, calls.is_full()), (1, 0, true));
        calls.open_at_once(Id::from(99), None, "").unwrap();
        while calls.close_one().is_some() {}
        assert_eq!((calls.at_once, calls.is_full()), (0, false));
    }

    #[test]
    fn closing_forgets_no_call_however_many_are_open() {
        let mut calls = table(300);
        let open: Vec<CallId> = (0..300).map(|id| calls.open(Id::from(id), None, "").unwrap()).collect();
        while calls.close_one().is_some() {}
        assert!(open.iter().all(|call| calls.finish(*call) == Err(NotOpen::Closed)));
    }
}
