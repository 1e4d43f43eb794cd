//! What this side asks, of whichever role: each request ends with one outcome, and the peer is told when nobody waits
//! for its answer any more.

use alloc::boxed::Box;
use core::time::Duration;

use serde::Serialize;
use serde_json::value::RawValue;

use super::{
    PeerFault, Progress, Timeout,
    listing::Listing,
    params::CancelledOut,
    progress::{ProgressIn, with_token},
    timeout::Wait,
};
use crate::{
    Outbox, OutboxClosed, Time, To,
    rpc::{ErrorObject, Id, Match, NotSent, RequestId, Requests, SessionId, SessionLimits, write},
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
    requests: Requests<Asked>,
    /// How many may wait, beside the ping.
    limit: usize,
    /// The latest ping of the session's own. There is never a second one in flight.
    ping: Option<RequestId>,
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
            requests: Requests::new(session),
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
        let id = self.requests.next_id();
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
        Ok(self.requests.open(deadline, Asked { purpose, pace }))
    }

    /// Sends a ping of the session's own, in place of one that was not answered. However many requests of the
    /// application wait, there is room for this one. Returns false if the outbox is closed.
    pub(super) fn ping(&mut self, out: &mut impl Outbox) -> bool {
        self.forget_ping();
        let id = self.requests.next_id();
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
            self.requests.cancel(ping);
        }
    }

    /// Whether as many requests wait as may; the ping does not count.
    fn is_full(&self) -> bool {
        let pings = usize::from(self.ping.is_some_and(|ping| self.requests.is_waiting(ping)));
        self.len().saturating_sub(pings) >= self.limit
    }

    /// Ends the request that a response answers. It is named as the application knows it, here and below.
    pub(super) fn resolve(&mut self, id: &Id) -> Result<(RequestId, Purpose), PeerFault> {
        match self.requests.resolve(id) {
            Match::Waiting(request, asked) => Ok((name(request, &asked.purpose), asked.purpose)),
            Match::Late => Err(PeerFault::LateResponse),
            Match::Unknown => Err(PeerFault::UnknownResponse),
        }
    }

    /// Whose progress this is, by the name that the application knows. It starts the clock of that request again.
    pub(super) fn progressed(
        &mut self,
        now: Time,
        said: &ProgressIn<'_>,
        limits: &SessionLimits,
    ) -> Result<Option<(RequestId, Progress<'static>)>, PeerFault> {
        let token = said.token(limits);
        let found = token.as_ref().and_then(|token| self.requests.find_mut(token));
        let Some((request, Asked { purpose, pace: Some(pace) })) = found else {
            return Err(PeerFault::UnknownProgress);
        };
        let progress = said.progress(limits.reason);
        // A number that JSON has is never NaN.
        if progress.progress <= pace.reached {
            return Err(PeerFault::StaleProgress);
        }
        pace.reached = progress.progress;
        let (deadline, name) = (pace.wait.deadline(now), name(request, purpose));
        let is_news = match purpose {
            Purpose::Page(listing) if progress.progress <= listing.reached => false,
            Purpose::Page(listing) => {
                listing.reached = progress.progress;
                true
            }
            Purpose::Application | Purpose::Initialize | Purpose::Ping => true,
        };
        self.requests.set_deadline(request, deadline);
        Ok(is_news.then_some((name, progress)))
    }

    /// Gives up what the application asked for by this name, and tells the peer. False if it does not wait.
    pub(super) fn cancel(&mut self, named: RequestId, reason: Option<&str>, out: &mut impl Outbox) -> bool {
        let later_page = |(request, asked): (RequestId, &Asked)| match &asked.purpose {
            Purpose::Page(listing) => (listing.handle == Some(named)).then_some(request),
            Purpose::Application | Purpose::Initialize | Purpose::Ping => None,
        };
        // The handles of handshakes and pings are never handed out, so what is cancelled here may be.
        let waits = self.requests.cancel(named).map(|_| named).or_else(|| {
            let page = self.requests.iter().find_map(later_page)?;
            self.requests.cancel(page).map(|_| page)
        });
        if let Some(request) = waits {
            self.send_cancelled(request, reason, out);
        }
        waits.is_some()
    }

    /// Ends one request that is due, and tells the peer.
    pub(super) fn expire(&mut self, now: Time, out: &mut impl Outbox) -> Option<(RequestId, Purpose)> {
        let (request, asked) = self.requests.expire(now)?;
        match asked.purpose {
            Purpose::Application | Purpose::Page(_) => self.send_cancelled(request, Some("timed out"), out),
            Purpose::Initialize | Purpose::Ping => {}
        }
        Some((name(request, &asked.purpose), asked.purpose))
    }

    /// Ends one request because the session ends. To be repeated until `None`.
    pub(super) fn close_one(&mut self) -> Option<(RequestId, Purpose)> {
        let (request, asked) = self.requests.close_one()?;
        Some((name(request, &asked.purpose), asked.purpose))
    }

    fn send_cancelled(&self, request: RequestId, reason: Option<&str>, out: &mut impl Outbox) {
        let reason = reason.map(|reason| truncate(reason, self.reason));
        let params = CancelledOut { request_id: request.serial(), reason };
        let sent =
            send(out, To::Unasked, |buf| write::notification(buf, "notifications/cancelled", Some(&params)));
        debug_assert_ne!(sent, Err(NotSent::Unserializable), "a number and a string are always JSON");
    }
}

/// The name by which the application knows a request.
fn name(request: RequestId, purpose: &Purpose) -> RequestId {
    match purpose {
        Purpose::Page(listing) => listing.handle.unwrap_or(request),
        Purpose::Application | Purpose::Initialize | Purpose::Ping => request,
    }
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
