//! What this side asks, of whichever role: each request ends with one outcome, and the peer is told when nobody waits
//! for its answer any more.
//!
//! ```text
//! request ──▶ waiting ──resolve───▶ the peer answered
//!                     ──cancel────▶ this side gave it up
//!                     ──expire────▶ no answer in time
//!                     ──close_one─▶ the session ended
//! ```
//!
//! Ids are the integers from 1 on, each used once. So whether an id was ever one of this side needs no memory: a response to one
//! that has been issued and does not wait is late, to any other it is unknown. At a million requests a second, the ids stay
//! below 2^53, beyond which some peers lose them, for 285 years.

use alloc::boxed::Box;
use core::time::Duration;

use serde::Serialize;
use serde_json::value::RawValue;

use super::{
    PeerFault, Progress, Timeout,
    listing::Listing,
    params::CancelledOut,
    progress::{ProgressIn, with_token},
    table::Table,
    timeout::Wait,
};
use crate::{
    Outbox, OutboxClosed, Time, To,
    rpc::{ErrorObject, Id, NotSent, RequestId, SessionId, SessionLimits, write},
    text::truncate,
};

/// How a request of ours ended. There is exactly one for each.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Outcome {
    /// The peer served it.
    Result(Box<RawValue>),
    /// The peer refused it, or failed.
    Error(ErrorObject),
    /// No answer came in time. The peer was told that none is expected any more.
    TimedOut,
    /// We cancelled it.
    Cancelled,
    /// The peer answered something that is neither a result nor an error, or a list that cannot be read or has no end.
    Malformed,
    /// The session was closed first, and the peer was not told. Of a list in pages also: the session was drained before
    /// the last page was asked for.
    Closed,
}

/// Whose request it is.
#[derive(Debug)]
pub(super) enum Purpose {
    /// The application's: its end is reported as an outcome.
    Application,
    /// The handshake of a client. It is never cancelled.
    Initialize,
    /// A sign of life.
    Ping,
    /// A page of a list that the application asked for.
    Page(Box<Listing>),
}

/// The requests of this side.
#[derive(Debug)]
pub(super) struct Outgoing {
    session: SessionId,
    requests: Table<Asked>,
    /// How many may wait, beside the ping.
    limit: usize,
    /// The latest ping of the session's own. There is never a second one in flight.
    ping: Option<u64>,
    timeout: Duration,
    reason: usize,
}

#[derive(Debug)]
struct Asked {
    purpose: Purpose,
    pace: Option<Pace>,
}

/// How a request whose progress is reported goes on.
#[derive(Debug)]
struct Pace {
    wait: Wait,
    reached: f64,
}

impl Outgoing {
    pub(super) const fn new(session: SessionId, limits: &SessionLimits, timeout: Duration) -> Self {
        Self {
            session,
            requests: Table::new(),
            limit: limits.requests,
            ping: None,
            timeout,
            reason: limits.reason,
        }
    }

    pub(super) fn deadline(&self) -> Option<Time> {
        self.requests.deadline()
    }

    pub(super) fn len(&self) -> usize {
        self.requests.len()
    }

    /// Sends a request. Whether there is room for it in the outbox is for the caller to know.
    pub(super) fn request<P: Serialize + ?Sized>(
        &mut self,
        now: Time,
        (method, params): (&str, Option<&P>),
        timeout: Timeout,
        purpose: Purpose,
        out: &mut impl Outbox,
    ) -> Result<RequestId, NotSent> {
        // The handshake needs its one place under any limit.
        if self.is_full() && !matches!(purpose, Purpose::Initialize) {
            return Err(NotSent::TooManyInFlight);
        }
        let id = self.requests.next();
        let wait = timeout.begin(now, Wait::new(now, self.timeout, self.timeout));
        let pace = match (timeout, wait) {
            (Timeout::Progress { .. }, Some(wait)) => {
                let params = with_token(params, id).ok_or(NotSent::Unserializable)?;
                send(out, To::Unasked, |buf| write::request(buf, id, method, Some(&params)))?;
                Some(Pace { wait, reached: f64::NEG_INFINITY })
            }
            _ => {
                send(out, To::Unasked, |buf| write::request(buf, id, method, params))?;
                None
            }
        };
        let deadline = wait.and_then(|wait| wait.deadline(now));
        self.requests.open(deadline, Asked { purpose, pace });
        Ok(RequestId::new(self.session, id))
    }

    /// Sends a ping of the session's own, in place of one that was not answered. However many requests of the
    /// application wait, there is room for this one. Returns false if the outbox is closed.
    pub(super) fn ping(&mut self, out: &mut impl Outbox) -> bool {
        self.forget_ping();
        let id = self.requests.next();
        let sent = send(out, To::Unasked, |buf| write::request(buf, id, "ping", None::<&()>));
        debug_assert_ne!(sent, Err(NotSent::Unserializable), "nothing but a name and a number is written");
        if sent.is_ok() {
            self.ping = Some(self.requests.open(None, Asked { purpose: Purpose::Ping, pace: None }));
        }
        sent.is_ok()
    }

    /// Ends the ping that waits, if one does, without a word: its answer does not matter any more.
    pub(super) fn forget_ping(&mut self) {
        if let Some(ping) = self.ping.take() {
            self.requests.end(ping);
        }
    }

    /// Whether as many requests wait as may; the ping does not count.
    fn is_full(&self) -> bool {
        let pings = usize::from(self.ping.is_some_and(|ping| self.requests.get(ping).is_some()));
        self.len().saturating_sub(pings) >= self.limit
    }

    /// Ends the request that a response answers. It is named as the application knows it, here and below.
    pub(super) fn resolve(&mut self, id: &Id) -> Result<(RequestId, Purpose), PeerFault> {
        let issued = 1..self.requests.next();
        let number =
            id.own_serial().filter(|number| issued.contains(number)).ok_or(PeerFault::UnknownResponse)?;
        let asked = self.requests.end(number).ok_or(PeerFault::LateResponse)?;
        Ok((handle(self.session, number, &asked.purpose), asked.purpose))
    }

    /// Whose progress this is, by the name that the application knows. It starts the clock of that request again.
    pub(super) fn progressed(
        &mut self,
        now: Time,
        said: &ProgressIn<'_>,
        limits: &SessionLimits,
    ) -> Result<Option<(RequestId, Progress<'static>)>, PeerFault> {
        let token = said.token(limits);
        let number = token.and_then(|token| token.own_serial()).ok_or(PeerFault::UnknownProgress)?;
        let Some(Asked { purpose, pace: Some(pace) }) = self.requests.get_mut(number) else {
            return Err(PeerFault::UnknownProgress);
        };
        let progress = said.progress(limits.reason);
        // A number that JSON has is never NaN.
        if progress.progress <= pace.reached {
            return Err(PeerFault::StaleProgress);
        }
        pace.reached = progress.progress;
        let (deadline, request) = (pace.wait.deadline(now), handle(self.session, number, purpose));
        let is_news = match purpose {
            Purpose::Page(listing) if progress.progress <= listing.reached => false,
            Purpose::Page(listing) => {
                listing.reached = progress.progress;
                true
            }
            Purpose::Application | Purpose::Initialize | Purpose::Ping => true,
        };
        self.requests.set_deadline(number, deadline);
        Ok(is_news.then_some((request, progress)))
    }

    /// Gives up what the application asked for by this name, and tells the peer. False if it does not wait.
    pub(super) fn cancel(&mut self, named: RequestId, reason: Option<&str>, out: &mut impl Outbox) -> bool {
        let later_page = |(number, asked): (u64, &Asked)| match &asked.purpose {
            Purpose::Page(listing) => (listing.handle == Some(named)).then_some(number),
            Purpose::Application | Purpose::Initialize | Purpose::Ping => None,
        };
        if named.session() != self.session {
            return false;
        }
        // The handles of handshakes and pings are never handed out, so what is cancelled here may be.
        let number = match self.requests.get(named.serial()) {
            Some(_) => Some(named.serial()),
            None => self.requests.iter().find_map(later_page),
        };
        let Some(number) = number else { return false };
        self.requests.end(number);
        self.send_cancelled(number, reason, out);
        true
    }

    /// Ends one request that is due, and tells the peer.
    pub(super) fn expire(&mut self, now: Time, out: &mut impl Outbox) -> Option<(RequestId, Purpose)> {
        let (number, Asked { purpose, .. }) = self.requests.expire(now)?;
        match purpose {
            Purpose::Application | Purpose::Page(_) => self.send_cancelled(number, Some("timed out"), out),
            Purpose::Initialize | Purpose::Ping => {}
        }
        Some((handle(self.session, number, &purpose), purpose))
    }

    /// Ends one request because the session ends. To be repeated until `None`.
    pub(super) fn close_one(&mut self) -> Option<(RequestId, Purpose)> {
        let number = self.requests.first()?;
        let Asked { purpose, .. } = self.requests.end(number)?;
        Some((handle(self.session, number, &purpose), purpose))
    }

    fn send_cancelled(&self, number: u64, reason: Option<&str>, out: &mut impl Outbox) {
        let reason = reason.map(|reason| truncate(reason, self.reason));
        let params = CancelledOut { request_id: number, reason };
        let sent =
            send(out, To::Unasked, |buf| write::notification(buf, "notifications/cancelled", Some(&params)));
        debug_assert_ne!(sent, Err(NotSent::Unserializable), "a number and a string are always JSON");
    }
}

/// Returns the handle by which the application knows a request: for a later page of a list, that of the first.
fn handle(session: SessionId, number: u64, purpose: &Purpose) -> RequestId {
    let first = match purpose {
        Purpose::Page(listing) => listing.handle,
        Purpose::Application | Purpose::Initialize | Purpose::Ping => None,
    };
    first.unwrap_or_else(|| RequestId::new(session, number))
}

/// Sends one message. Nothing is sent if it cannot be written, or the outbox is closed.
pub(super) fn send(
    out: &mut impl Outbox,
    to: To<'_>,
    write: impl FnOnce(&mut alloc::vec::Vec<u8>) -> Result<(), write::Unserializable>,
) -> Result<(), NotSent> {
    let mut written = Ok(());
    out.message(to, |buf| written = write(buf)).map_err(|OutboxClosed { .. }| NotSent::Closed)?;
    written.map_err(|write::Unserializable| NotSent::Unserializable)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    struct Sent;

    impl Outbox for Sent {
        fn message(&mut self, _: To<'_>, write: impl FnOnce(&mut Vec<u8>)) -> Result<(), OutboxClosed> {
            write(&mut Vec::new());
            Ok(())
        }

        fn is_full(&self) -> bool {
            false
        }
    }

    fn outgoing(session: u64) -> Outgoing {
        Outgoing::new(SessionId::new(session), &SessionLimits::default(), Duration::from_millis(10))
    }

    fn ask(outgoing: &mut Outgoing, timeout: Timeout) -> RequestId {
        let what = ("a", None::<&()>);
        outgoing.request(Time::ZERO, what, timeout, Purpose::Application, &mut Sent).unwrap()
    }

    #[test]
    fn a_request_ends_once_and_later_answers_are_late() {
        let mut outgoing = outgoing(1);
        let answered = ask(&mut outgoing, Timeout::Default);
        let cancelled = ask(&mut outgoing, Timeout::Default);
        let expired = ask(&mut outgoing, Timeout::Default);
        let closed = ask(&mut outgoing, Timeout::Never);
        let request = |ended: Option<(RequestId, Purpose)>| ended.map(|(request, _)| request);

        assert_eq!(request(outgoing.resolve(&Id::from(1)).ok()), Some(answered));
        assert!(outgoing.cancel(cancelled, None, &mut Sent));
        assert!(!outgoing.cancel(cancelled, None, &mut Sent));
        assert_eq!(request(outgoing.expire(Time::from_millis(9), &mut Sent)), None);
        assert_eq!(request(outgoing.expire(Time::from_millis(10), &mut Sent)), Some(expired));
        assert_eq!(request(outgoing.close_one()), Some(closed));
        assert_eq!(request(outgoing.close_one()), None);

        for (id, fault) in [(0, PeerFault::UnknownResponse), (5, PeerFault::UnknownResponse)]
            .into_iter()
            .chain((1..=4).map(|id| (id, PeerFault::LateResponse)))
        {
            assert_eq!(outgoing.resolve(&Id::from(id)).err(), Some(fault), "{id}");
        }
        assert_eq!((outgoing.deadline(), outgoing.len()), (None, 0));
        assert_eq!(ask(&mut outgoing, Timeout::Default).serial(), 5, "an id is used once");
    }

    #[test]
    fn a_request_of_another_session_is_not_cancelled() {
        let mut here = outgoing(1);
        let kept = ask(&mut here, Timeout::Default);
        let other = ask(&mut outgoing(2), Timeout::Default);
        assert!(!here.cancel(other, None, &mut Sent));
        assert_eq!(here.len(), 1);
        assert!(here.cancel(kept, None, &mut Sent));
    }
}
