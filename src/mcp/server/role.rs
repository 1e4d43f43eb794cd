//! What a server does with the client's messages, in each state:
//!
//! | | awaiting initialize | initializing | ready | draining |
//! | --- | --- | --- | --- | --- |
//! | `ping` | `{}` | `{}` | `{}` | `{}` |
//! | `server/discover` | -32601 | -32601 | -32601 | -32601 |
//! | `initialize` | answered | -32600 | -32600 | -32600 |
//! | requests of `without_session` | forwarded | forwarded | forwarded | -32600 |
//! | other requests | -32600 | served or forwarded | served or forwarded | -32600 |
//! | `notifications/initialized`, `initialized` | dropped, reported | makes ready | ignored | ignored |
//! | `notifications/cancelled` | ignored | ends the call | ends the call | ends the call |
//! | `notifications/progress` | ignored | updates our request | updates our request | updates our request |
//! | other notifications | dropped, reported | passed to the application | passed to the application | dropped |
//!
//! "Reported" means that the application gets a [`ServerEvent::PeerFault`]. A request with the id of an open call is
//! refused, whatever its method. Between the answer to `initialize` and `notifications/initialized` all requests are
//! served, because clients do not wait.

use alloc::borrow::ToOwned;

use serde_json::value::{RawValue, to_raw_value};

use super::Server;
use crate::{
    Outbox,
    mcp::{
        Outcome, PeerFault, ServerEvent, Tools,
        inbound::{self, Request, Role},
        incoming::{AnswerKind, answer, not_found, refuse},
        outgoing::Purpose,
        params::{self, ClientCapabilities, Empty, Initialize, ListOut, SetLevel},
        session::{Session, State},
        tools::digest,
    },
    rpc::{Id, RequestId, code, read_object},
};

const INITIALIZED: &str = "notifications/initialized";

/// The method that some agents send instead of `notifications/initialized`, as in LSP.
const BARE_INITIALIZED: &str = "initialized";

impl<T: Tools> Server<T> {
    fn initialize(&mut self, id: &Id, params: Option<&RawValue>, out: &mut impl Outbox) {
        let params = params.and_then(read_object::<Initialize<'_>>).unwrap_or_default();
        let version = params.version();
        self.role.client = params.client();
        self.role.capabilities = params.capabilities.map(ToOwned::to_owned);
        self.role.declared = ClientCapabilities::read(params.capabilities);
        self.session.version = Some(version);
        self.session.state = State::Opening;
        let result = params::InitializeResultOut {
            protocol_version: version.as_str(),
            capabilities: params::Capabilities { config: &self.role.config },
            server_info: &self.role.config.info,
            instructions: self.role.config.instructions.as_deref(),
        };
        answer(id, &result, out);
    }

    fn serve(&mut self, request: Request<'_>, out: &mut impl Outbox) {
        let Request { ref id, method, params } = request;
        match method {
            "tools/list" | "resources/list" | "resources/templates/list" | "prompts/list"
                if params::has_cursor(params) =>
            {
                refuse(id, code::INVALID_PARAMS, "unknown cursor", out);
            }
            "tools/list" => {
                answer(id, &ListOut("tools", self.role.tools.specs()), out);
                self.role.announced.tools.on_listed(digest(self.role.tools.specs()));
                self.session.events.push_back(ServerEvent::ToolsListed);
            }
            "tools/call" => self.call(request.id, params, out),
            "resources/list" => {
                answer(
                    id,
                    &ListOut("resources", self.role.context.listed_resources().unwrap_or_default()),
                    out,
                );
                self.role.announced.resources.on_listed(self.role.context.clone());
            }
            "resources/templates/list" => {
                answer(id, &ListOut("resourceTemplates", self.role.context.listed_templates()), out);
            }
            "resources/read" if self.role.config.context.declares_resources() => {
                self.read_resource(request.id, params, out)
            }
            "prompts/list" => {
                answer(id, &ListOut("prompts", self.role.context.listed_prompts().unwrap_or_default()), out);
                self.role.announced.prompts.on_listed(self.role.context.clone());
            }
            "prompts/get" if self.role.config.context.declares_prompts() => {
                self.get_prompt(request.id, params, out)
            }
            "logging/setLevel" if self.role.log_level.is_some() => match SetLevel::read(params) {
                Some(level) => {
                    self.role.log_level = Some(level);
                    answer(id, &Empty {}, out);
                }
                None => refuse(id, code::INVALID_PARAMS, "unknown level", out),
            },
            _ => not_found(id, method, out),
        }
    }

    /// Returns true if a client may request this method before `initialize`.
    fn needs_no_session(&self, method: &str) -> bool {
        self.role.config.without_session.iter().any(|name| name == method)
            && self.role.config.forward.takes(method, self.models(method))
    }

    /// Returns true if the server implements this method. `Forward::Unmodelled` forwards only the others.
    fn models(&self, method: &str) -> bool {
        match method {
            "tools/list" | "tools/call" => true,
            "prompts/list" | "prompts/get" => self.role.config.context.declares_prompts(),
            "resources/list" | "resources/templates/list" | "resources/read" => {
                self.role.config.context.declares_resources()
            }
            "logging/setLevel" => self.role.log_level.is_some(),
            _ => false,
        }
    }
}

impl<T: Tools> Role for Server<T> {
    type Event = ServerEvent<T::Call>;

    fn session(&mut self) -> &mut Session<ServerEvent<T::Call>> {
        &mut self.session
    }

    /// Reads a tool call and its arguments in one pass, and leaves every other message to the slow path.
    fn take_text(&mut self, text: &str, out: &mut impl Outbox) {
        if self.role.decodes_calls && matches!(self.session.state, State::Opening | State::Ready) {
            self.session.incoming.message = text.len();
            if let Some((id, call)) = self.read_call(text) {
                return self.called(id, call, AnswerKind::Tool, out);
            }
        }
        inbound::receive(self, text, out);
    }

    fn on_request(&mut self, request: Request<'_>, out: &mut impl Outbox) {
        match (self.session.state, request.method) {
            (State::Awaiting, "initialize") => self.initialize(&request.id, request.params, out),
            (State::Awaiting, method) if !self.needs_no_session(method) => {
                refuse(&request.id, code::INVALID_REQUEST, "not initialized", out);
            }
            (_, "initialize") => refuse(&request.id, code::INVALID_REQUEST, "already initialized", out),
            (_, method) if self.role.config.forward.takes(method, self.models(method)) => {
                // The application answers with its own list, so no announced change is pending any more.
                match method {
                    "tools/list" => self.role.announced.tools.on_forwarded(),
                    "prompts/list" => self.role.announced.prompts.on_forwarded(),
                    "resources/list" => self.role.announced.resources.on_forwarded(),
                    _ => {}
                }
                let at_once = self.role.config.at_once.iter().any(|name| name == method)
                    || method == "tools/call" && self.is_answered_at_once(request.params);
                self.session.forward(request.id, (method, request.params), at_once, out);
            }
            _ => self.serve(request, out),
        }
    }

    fn on_notification(&mut self, method: &str, params: Option<&RawValue>) {
        match (self.session.state, method) {
            (State::Opening, INITIALIZED | BARE_INITIALIZED) => {
                self.session.open();
                self.session.events.push_back(ServerEvent::Ready);
            }
            (State::Ready | State::Draining, INITIALIZED | BARE_INITIALIZED) => {}
            (State::Awaiting, _) => self.session.report(PeerFault::Premature),
            (State::Opening | State::Ready, _) => self.session.hand_on(method, params),
            (State::Idle | State::Draining | State::Failed | State::Closed, _) => {}
        }
    }

    fn on_own_outcome(
        &mut self,
        request: RequestId,
        purpose: Purpose,
        mut outcome: Outcome,
        _: &mut impl Outbox,
    ) {
        let Purpose::Form(form) = purpose else { return };
        if let Outcome::Result(result) = outcome {
            // The application gets only the values of fields that the form has.
            let fits = form.read_answer(&result).and_then(|answer| to_raw_value(&answer).ok());
            outcome = fits.map_or(Outcome::Malformed, |answer| Outcome::Result(answer.into()));
        }
        self.session.events.push_back(ServerEvent::Outcome { request, outcome });
    }
}
