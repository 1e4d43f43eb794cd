//! What a client does with the server's messages, in each state:
//!
//! | | negotiating | ready | draining, failed |
//! | --- | --- | --- | --- |
//! | `ping` | `{}` | `{}` | `{}` |
//! | `server/discover` | -32601 | -32601 | -32601 |
//! | `roots/list`, `elicitation/create` if configured | -32600 | answered, or for the application | -32600 |
//! | other requests | -32600 | forwarded, or -32601 | -32600 |
//! | `notifications/cancelled` | ignored | ends the call | ends the call |
//! | `notifications/progress` | dropped, reported | updates our request | updates our request |
//! | other notifications | passed to the application | passed to the application | dropped |
//!
//! "Reported" means that the application gets a [`ClientEvent::PeerFault`].

use alloc::{borrow::ToOwned, boxed::Box};

use serde_json::value::RawValue;

use super::Client;
use crate::{
    Outbox,
    mcp::{
        ClientEvent, Form, Outcome, Timeout,
        inbound::{Request, Role},
        incoming::{Terms, answer, not_found, refuse, refuse_invalid},
        listing::{Cursor, Listing, PageLimits, Turn},
        outgoing::Purpose,
        params::ListOut,
        session::{Session, State},
    },
    rpc::{NotSent, RequestId, code},
};

impl Client {
    /// Returns true if the client implements this method. `Forward::Unmodelled` forwards only the others.
    fn models(&self, method: &str) -> bool {
        match method {
            "roots/list" => self.role.config.roots.is_some(),
            "elicitation/create" => self.role.config.elicitation,
            _ => false,
        }
    }

    fn serve(&mut self, request: Request<'_>, out: &mut impl Outbox) {
        match (request.method, &self.role.config.roots) {
            ("roots/list", Some(roots)) => answer(&request.id, &ListOut("roots", roots), out),
            ("elicitation/create", _) if self.role.config.elicitation => self.open_form(request, out),
            _ => not_found(&request.id, request.method, out),
        }
    }

    /// Opens a form for the person, who gets more time than the application has for other requests.
    fn open_form(&mut self, request: Request<'_>, out: &mut impl Outbox) {
        match Form::read(request.params.unwrap_or(RawValue::NULL)) {
            Ok(form) => {
                let terms =
                    Terms { timeout: Timeout::After(self.role.config.longest_call), ..Terms::request() };
                if let Some(call) = self.session.open_request(request.id, request.params, terms, out) {
                    self.session.events.push_back(ClientEvent::Form { call, form });
                }
            }
            Err(error) => refuse_invalid(&request.id, &error, &self.session.limits, out),
        }
    }

    /// Handles the outcome of the request for a page. Requests the next page, or returns the outcome of the list.
    fn on_page(
        &mut self,
        request: RequestId,
        listing: Listing,
        outcome: Outcome,
        out: &mut impl Outbox,
    ) -> Option<Outcome> {
        let Outcome::Result(page) = outcome else { return Some(outcome) };
        let limits = PageLimits { pages: self.role.config.list_pages, bytes: self.role.config.list_bytes };
        match listing.add(page, limits) {
            Turn::Whole(whole) => return Some(Outcome::Result(whole)),
            Turn::Cut(list, fault) => {
                self.session.report(fault);
                return Some(Outcome::Result(list));
            }
            Turn::Fault(fault) => self.session.report(fault),
            Turn::Next(mut listing) => {
                listing.handle = Some(request);
                return self.request_page(listing, out);
            }
        }
        Some(Outcome::Malformed)
    }

    /// Requests the next page of a list. The limit on requests has room for it, because the request for the previous
    /// page has ended. It is sent even if the outbox is full, because it is one small message.
    fn request_page(&mut self, listing: Listing, out: &mut impl Outbox) -> Option<Outcome> {
        // A drained session sends no more requests.
        if self.session.state != State::Ready {
            return Some(Outcome::Closed);
        }
        let (method, timeout) = (listing.list.method(), listing.timeout);
        let cursor = listing.cursor().map(ToOwned::to_owned);
        let params = cursor.as_deref().map(|cursor| Cursor { cursor });
        let purpose = Purpose::Page(Box::new(listing));
        let sent = self.session.send_request((method, params.as_ref()), timeout, purpose, out);
        let failed = |error| if error == NotSent::Closed { Outcome::Closed } else { Outcome::Malformed };
        sent.err().map(failed)
    }
}

impl Role for Client {
    type Event = ClientEvent;

    fn session(&mut self) -> &mut Session<ClientEvent> {
        &mut self.session
    }

    fn on_request(&mut self, request: Request<'_>, out: &mut impl Outbox) {
        if self.session.state != State::Ready {
            refuse(&request.id, code::INVALID_REQUEST, "not initialized", out);
        } else if request.method != "initialize"
            && self.role.config.forward.takes(request.method, self.models(request.method))
        {
            self.session.forward(request.id, (request.method, request.params), false, out);
        } else {
            self.serve(request, out);
        }
    }

    fn on_notification(&mut self, method: &str, params: Option<&RawValue>) {
        if matches!(self.session.state, State::Opening | State::Ready) {
            self.session.hand_on(method, params);
        }
    }

    fn on_own_outcome(
        &mut self,
        request: RequestId,
        purpose: Purpose,
        outcome: Outcome,
        out: &mut impl Outbox,
    ) {
        match purpose {
            Purpose::Initialize => {
                let event = self.negotiated(outcome, out);
                self.session.events.push_back(event);
            }
            Purpose::Page(listing) => {
                if let Some(outcome) = self.on_page(request, *listing, outcome, out) {
                    self.session.events.push_back(ClientEvent::Outcome { request, outcome });
                }
            }
            Purpose::Application | Purpose::Form(_) | Purpose::Ping => {}
        }
    }
}
