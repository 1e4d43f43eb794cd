//! What a server does with the requests and notifications of the client, and what it permits when:
//!
//! | | awaiting initialize | initializing | ready | draining |
//! | --- | --- | --- | --- | --- |
//! | `ping` | `{}` | `{}` | `{}` | `{}` |
//! | `server/discover` | -32601 | -32601 | -32601 | -32601 |
//! | `initialize` | answered | -32600 | -32600 | -32600 |
//! | other requests | -32600 | served | served | -32600 |
//! | `notifications/initialized` | dropped, reported | makes ready | ignored | ignored |
//! | `notifications/cancelled` | ignored | ends the call | ends the call | ends the call |
//! | `notifications/progress` | ignored | handed on | handed on | handed on |
//! | other notifications | dropped, reported | handed on | handed on | dropped |
//!
//! A request with the id of an open call is refused whatever it asks. Between the answer to `initialize` and
//! `notifications/initialized` everything is served, since clients do not wait.

use alloc::{borrow::ToOwned, format};
use core::time::Duration;

use serde_json::value::RawValue;

use super::{Expiry, Server, ServerEvent, State, answer};
use crate::{
    Outbox,
    mcp::{
        Patience, Tools,
        params::{self, Cancelled, Empty, Initialize, NoPrompts, NoResourceTemplates, NoResources, ToolList},
        server::CallEnd,
    },
    rpc::{ErrorObject, Id, Violation, calls::Refused, code, write},
    text::truncate,
};

impl<T: Tools> Server<T> {
    pub(super) fn on_request(
        &mut self,
        id: Id,
        method: &str,
        params: Option<&RawValue>,
        out: &mut impl Outbox,
    ) {
        if self.calls.is_in_flight(&id) {
            return refuse(&id, code::INVALID_REQUEST, "a request with this id is open", out);
        }
        match (self.state, method) {
            (_, "ping") => answer(&id, &Empty {}, out),
            // At once and in every state: a client that probes for a newer protocol hangs on silence, and falls back
            // to `initialize` on this error.
            (_, "server/discover") => not_found(&id, method, out),
            (State::AwaitingInitialize, "initialize") => self.initialize(&id, params, out),
            (State::AwaitingInitialize, _) => refuse(&id, code::INVALID_REQUEST, "not initialized", out),
            (State::Draining | State::Closed, _) => refuse(&id, code::INVALID_REQUEST, "shutting down", out),
            (State::Initializing | State::Ready, "initialize") => {
                refuse(&id, code::INVALID_REQUEST, "already initialized", out);
            }
            (State::Initializing | State::Ready, "tools/list") => {
                answer(&id, &ToolList { tools: self.tools.specs() }, out);
                self.session.push(ServerEvent::ToolsListed);
            }
            (State::Initializing | State::Ready, "tools/call") => self.call(id, params, out),
            (State::Initializing | State::Ready, "resources/list") => {
                answer(&id, &NoResources { resources: [] }, out);
            }
            (State::Initializing | State::Ready, "resources/templates/list") => {
                answer(&id, &NoResourceTemplates { resource_templates: [] }, out);
            }
            (State::Initializing | State::Ready, "prompts/list") => {
                answer(&id, &NoPrompts { prompts: [] }, out)
            }
            (State::Initializing | State::Ready, _) => not_found(&id, method, out),
        }
    }

    fn initialize(&mut self, id: &Id, params: Option<&RawValue>, out: &mut impl Outbox) {
        let asked = Initialize::read(params);
        let version = asked.version();
        self.client = asked.client();
        self.version = Some(version);
        self.state = State::Initializing;
        let tools = params::ToolsCapability { list_changed: self.config.tools_list_changed };
        let result = params::InitializeResultOut {
            protocol_version: version.as_str(),
            capabilities: params::Capabilities { tools },
            server_info: &self.config.info,
            instructions: self.config.instructions.as_deref(),
        };
        answer(id, &result, out);
    }

    /// Opens a call, or answers why not: whatever is wrong with it, the peer hears it under the id of the call.
    fn call(&mut self, id: Id, params: Option<&RawValue>, out: &mut impl Outbox) {
        if self.calls.is_full() {
            return refuse(&id, code::INTERNAL_ERROR, "busy: too many calls are open", out);
        }
        let tool = match self.decode(params) {
            Ok(tool) => tool,
            Err(error) => {
                // It may repeat what the peer sent, at any length.
                let message = truncate(&error.message, self.session.limits.reason);
                return out.message(|buf| write::error(buf, &id, error.code, message, error.data.as_deref()));
            }
        };
        let expiry = match self.tools.patience(&tool) {
            Patience::Default => Some(Expiry { span: self.config.call_deadline, result: None }),
            Patience::Unlimited => None,
            Patience::After { span, result } => Some(Expiry { span, result }),
        };
        let deadline = expiry.map(|expiry| self.session.now().after(expiry.span));
        let expiry = expiry.unwrap_or(Expiry { span: Duration::MAX, result: None });
        match self.calls.open(id.clone(), deadline, expiry) {
            Ok(call) => self.session.push(ServerEvent::Call { call, tool }),
            Err(Refused::Duplicate | Refused::Busy) => {
                refuse(&id, code::INTERNAL_ERROR, "busy: too many calls are open", out);
            }
        }
    }

    fn decode(&self, params: Option<&RawValue>) -> Result<T::Call, ErrorObject> {
        let invalid = |error: serde_json::Error| ErrorObject::new(code::INVALID_PARAMS, format!("{error}"));
        let params = params.map_or(params::NO_ARGUMENTS, RawValue::get);
        let call: params::Call<'_> = serde_json::from_str(params).map_err(invalid)?;
        self.tools.check(&call.name)?;
        let arguments = call.arguments.map_or(params::NO_ARGUMENTS, RawValue::get);
        if !arguments.starts_with('{') {
            return Err(ErrorObject::new(code::INVALID_PARAMS, "arguments is not an object"));
        }
        let mut deserializer = serde_json::Deserializer::from_str(arguments);
        let tool = self.tools.decode(&call.name, &mut deserializer).map_err(invalid)?;
        deserializer.end().map_err(invalid)?;
        Ok(tool)
    }

    pub(super) fn on_notification(&mut self, method: &str, params: Option<&RawValue>) {
        match (self.state, method) {
            (State::Initializing, "notifications/initialized") => {
                self.state = State::Ready;
                self.session.push(ServerEvent::Ready);
            }
            (State::Ready | State::Draining, "notifications/initialized") => {}
            (State::Initializing | State::Ready | State::Draining, "notifications/cancelled") => {
                self.on_cancelled(params);
            }
            // No call can be open before `initialize`.
            (State::AwaitingInitialize, "notifications/cancelled" | "notifications/progress") => {}
            (State::AwaitingInitialize, _) => self.session.report(Violation::Premature),
            (State::Initializing | State::Ready, _) => self.session.push(ServerEvent::Notification {
                method: method.into(),
                params: params.map(ToOwned::to_owned),
            }),
            (State::Draining, "notifications/progress") => self.session.push(ServerEvent::Notification {
                method: method.into(),
                params: params.map(ToOwned::to_owned),
            }),
            (State::Draining | State::Closed, _) => {}
        }
    }

    /// Ends the call that is named exactly; anything else changes nothing and is not answered.
    fn on_cancelled(&mut self, params: Option<&RawValue>) {
        let Some(cancelled) = params.and_then(|p| serde_json::from_str::<Cancelled<'_>>(p.get()).ok()) else {
            return;
        };
        let id = cancelled.request_id.and_then(|token| Id::read(token, &self.session.limits));
        if let Some((call, _)) = id.and_then(|id| self.calls.cancel(&id)) {
            let reason = cancelled.reason(self.session.limits.reason);
            self.session.push(ServerEvent::CallEnded { call, how: CallEnd::Cancelled { reason } });
        }
    }
}

fn refuse(id: &Id, code: i64, message: &str, out: &mut impl Outbox) {
    out.message(|buf| write::error(buf, id, code, message, None));
}

fn not_found(id: &Id, method: &str, out: &mut impl Outbox) {
    refuse(id, code::METHOD_NOT_FOUND, &format!("method not found: {method}"), out);
}
