//! Our requests, in either role. Each ends with exactly one outcome. If the application cancels one, or it expires, the
//! peer is notified.
//!
//! ```text
//! request ──▶ waiting ──resolve───▶ the peer answered
//!                     ──cancel────▶ this side gave it up
//!                     ──expire────▶ no answer in time
//!                     ──close_one─▶ the session ended
//! ```
//!
//! Ids count up from 1 and are never reused, so we can recognize our own without remembering them. A response is late
//! if its id was issued but no request with this id is waiting, and unknown if the id was never issued. Some peers
//! cannot represent integers beyond 2^53; at a million requests a second, that takes 285 years.

use alloc::boxed::Box;
use core::time::Duration;

use serde::Serialize;

use super::{
    Form, PeerFault, Progress, Timeout,
    listing::Listing,
    params::CancelledOut,
    progress::{ProgressIn, with_token},
    table::Table,
    timeout::{Wait, Waits},
};
use crate::{
    Outbox, Time, To,
    rpc::{ErrorObject, Id, Json, NotSent, RequestId, SessionId, SessionLimits, write},
    text::truncate,
};

/// How one of your requests ended. Each has exactly one outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// The peer served the request; this is the result.
    Result(Json),
    /// The peer refused the request, or failed.
    Error(ErrorObject),
    /// No answer came in time. The peer was notified that we no longer expect one.
    TimedOut,
    /// You cancelled the request.
    Cancelled,
    /// The answer is neither a result nor an error, the list cannot be read or exceeds its limits, or the answer to a
    /// form does not fit the form.
    Malformed,
    /// The session ended before the answer came. The peer is not notified. A list in pages also ends this way if the
    /// session was drained before the last page was requested.
    Closed,
}

/// Where a request comes from.
#[derive(Debug)]
pub(super) enum Purpose {
    /// The application. It gets an outcome.
    Application,
    /// The handshake of a client. Never cancelled.
    Initialize,
    /// The keepalive, which sends a ping.
    Ping,
    /// A page of a list that the application wants.
    Page(Box<Listing>),
    /// A form for the person at the client. The answer must fit it.
    Form(Box<Form>),
}

/// Our requests.
#[derive(Debug)]
pub(super) struct Outgoing {
    session: SessionId,
    pub(super) requests: Table<PendingRequest>,
    /// How many requests may wait, not counting the ping.
    limit: usize,
    /// The latest ping of the keepalive. There is never a second one in flight.
    ping: Option<u64>,
    timeout: Duration,
    reason: usize,
}

#[derive(Debug)]
pub(super) struct PendingRequest {
    purpose: Purpose,
    pace: Option<Pace>,
}

/// The timeout and the latest progress of a request whose progress is reported.
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

    pub(super) fn len(&self) -> usize {
        self.requests.len()
    }

    /// Releases memory that is not in use.
    pub(super) fn trim(&mut self) {
        self.requests.trim();
    }

    /// Sends a request. The caller checks that the outbox has room.
    pub(super) fn request<P: Serialize + ?Sized>(
        &mut self,
        now: Time,
        (method, params): (&str, Option<&P>),
        timeout: Timeout,
        purpose: Purpose,
        out: &mut impl Outbox,
    ) -> Result<RequestId, NotSent> {
        // The request of the handshake is sent even if the limit is 0.
        if self.is_full() && !matches!(purpose, Purpose::Initialize) {
            return Err(NotSent::TooManyInFlight);
        }
        let id = self.requests.next();
        let wait = timeout.begin(now, Waits { default: self.timeout, longest: self.timeout });
        let pace = match (timeout, wait) {
            (Timeout::Progress { .. }, Some(wait)) => {
                let params = with_token(params, id).ok_or(NotSent::Unserializable)?;
                send(out, To::Unsolicited, |buf| write::request(buf, id, method, Some(&params)))?;
                Some(Pace { wait, reached: f64::NEG_INFINITY })
            }
            _ => {
                send(out, To::Unsolicited, |buf| write::request(buf, id, method, params))?;
                None
            }
        };
        let deadline = wait.map_or(Time::NEVER, |wait| wait.deadline(now));
        self.requests.open(deadline, PendingRequest { purpose, pace });
        Ok(RequestId::new(self.session, id))
    }

    /// Sends a ping of the keepalive, replacing one that was not answered. The limit on requests does not apply.
    /// Returns false if the outbox is closed.
    pub(super) fn ping(&mut self, out: &mut impl Outbox) -> bool {
        self.forget_ping();
        let id = self.requests.next();
        let sent = send(out, To::Unsolicited, |buf| write::request(buf, id, "ping", None::<&()>));
        debug_assert_ne!(sent, Err(NotSent::Unserializable), "nothing but a name and a number is written");
        if sent.is_ok() {
            self.ping =
                Some(self.requests.open(Time::NEVER, PendingRequest { purpose: Purpose::Ping, pace: None }));
        }
        sent.is_ok()
    }

    /// Ends the ping that waits, if any, without telling the peer. Its answer no longer matters.
    pub(super) fn forget_ping(&mut self) {
        if let Some(ping) = self.ping.take() {
            self.requests.end(ping);
        }
    }

    /// Returns true if as many requests are waiting as the limit allows. The ping does not count.
    fn is_full(&self) -> bool {
        let pings = usize::from(self.ping.is_some_and(|ping| self.requests.get(ping).is_some()));
        self.len().saturating_sub(pings) >= self.limit
    }

    /// Ends the request that a response answers. Returns the application's handle for it, and its purpose.
    pub(super) fn resolve(&mut self, id: &Id) -> Result<(RequestId, Purpose), PeerFault> {
        let issued = 1..self.requests.next();
        let number =
            id.own_serial().filter(|number| issued.contains(number)).ok_or(PeerFault::UnknownResponse)?;
        let request = self.requests.end(number).ok_or(PeerFault::LateResponse)?;
        Ok((handle(self.session, number, &request.purpose), request.purpose))
    }

    /// Takes a report of progress, and restarts the timeout of its request. Returns the request and
    /// its progress, or `None` if the progress of a list has not grown.
    pub(super) fn progressed(
        &mut self,
        now: Time,
        report: &ProgressIn<'_>,
        limits: &SessionLimits,
    ) -> Result<Option<(RequestId, Progress<'static>)>, PeerFault> {
        let token = report.token(limits);
        let number = token.and_then(|token| token.own_serial()).ok_or(PeerFault::UnknownProgress)?;
        let Some(PendingRequest { purpose, pace: Some(pace) }) = self.requests.get_mut(number) else {
            return Err(PeerFault::UnknownProgress);
        };
        let progress = report.progress(limits.reason);
        // A JSON number is never NaN.
        if progress.progress <= pace.reached {
            return Err(PeerFault::StaleProgress);
        }
        pace.reached = progress.progress;
        let (deadline, request) = (pace.wait.deadline(now), handle(self.session, number, purpose));
        let has_grown = match purpose {
            Purpose::Page(listing) if progress.progress <= listing.reached => false,
            Purpose::Page(listing) => {
                listing.reached = progress.progress;
                true
            }
            Purpose::Application | Purpose::Form(_) | Purpose::Initialize | Purpose::Ping => true,
        };
        self.requests.set_deadline(number, deadline);
        Ok(has_grown.then_some((request, progress)))
    }

    /// Cancels a request by the handle that the application has, and notifies the peer. Returns false if the request is
    /// not waiting.
    pub(super) fn cancel(&mut self, named: RequestId, reason: Option<&str>, out: &mut impl Outbox) -> bool {
        let later_page = |(number, request): (u64, &PendingRequest)| match &request.purpose {
            Purpose::Page(listing) => (listing.handle == Some(named)).then_some(number),
            Purpose::Application | Purpose::Form(_) | Purpose::Initialize | Purpose::Ping => None,
        };
        if named.session() != self.session {
            return false;
        }
        // The application never has the handle of a handshake or a ping, so any request that is found here may be
        // cancelled.
        let number = match self.requests.get(named.serial()) {
            Some(_) => Some(named.serial()),
            None => self.requests.iter().find_map(later_page),
        };
        let Some(number) = number else { return false };
        self.requests.end(number);
        self.send_cancelled(number, reason, out);
        true
    }

    /// Ends one request that is due, and notifies the peer unless it is a handshake or a ping.
    pub(super) fn expire(&mut self, now: Time, out: &mut impl Outbox) -> Option<(RequestId, Purpose)> {
        let (number, PendingRequest { purpose, .. }) = self.requests.expire(now)?;
        match purpose {
            Purpose::Application | Purpose::Form(_) | Purpose::Page(_) => {
                self.send_cancelled(number, Some("timed out"), out);
            }
            Purpose::Initialize | Purpose::Ping => {}
        }
        Some((handle(self.session, number, &purpose), purpose))
    }

    /// Ends one request because the session ends. The caller repeats this until the result is
    /// `None`.
    pub(super) fn close_one(&mut self) -> Option<(RequestId, Purpose)> {
        let number = self.requests.first()?;
        let PendingRequest { purpose, .. } = self.requests.end(number)?;
        Some((handle(self.session, number, &purpose), purpose))
    }

    fn send_cancelled(&self, number: u64, reason: Option<&str>, out: &mut impl Outbox) {
        let reason = reason.map(|reason| truncate(reason, self.reason));
        let params = CancelledOut { request_id: number, reason };
        let sent = send(out, To::Unsolicited, |buf| {
            write::notification(buf, "notifications/cancelled", Some(&params))
        });
        debug_assert_ne!(sent, Err(NotSent::Unserializable), "a number and a string are always JSON");
    }
}

/// Returns the application's handle for a request. For a later page of a list, it is that of the first page.
fn handle(session: SessionId, number: u64, purpose: &Purpose) -> RequestId {
    let first = match purpose {
        Purpose::Page(listing) => listing.handle,
        Purpose::Application | Purpose::Form(_) | Purpose::Initialize | Purpose::Ping => None,
    };
    first.unwrap_or_else(|| RequestId::new(session, number))
}

/// Sends one message. Sends nothing if the message cannot be written, or the outbox is closed.
pub(super) fn send(
    out: &mut impl Outbox,
    to: To<'_>,
    write: impl FnOnce(&mut alloc::vec::Vec<u8>) -> Result<(), write::Unserializable>,
) -> Result<(), NotSent> {
    let mut written = Ok(());
    // If the outbox reports an error, whichever it is, the message was not sent.
    out.message(to, |buf| written = write(buf)).map_err(|_| NotSent::Closed)?;
    written.map_err(|write::Unserializable| NotSent::Unserializable)
}
