//! Tool calls: decoded while the message is read if possible, else from the raw parameters.
//!
//! Both ways return the same values. The first one accepts only the form that known senders use; the second one reads
//! everything else, and reports what is wrong.

use alloc::{boxed::Box, format, string::String};
use core::fmt;

use serde::{
    Deserializer,
    de::{DeserializeSeed, IgnoredAny, MapAccess, Visitor},
};
use serde_json::value::RawValue;

use super::Server;
use crate::{
    Outbox,
    mcp::{
        GetPrompt, ProtocolVersion, ReadResource, Served, ServerEvent, Timeout, ToolResult, Tools,
        context::resource_not_found,
        incoming::{AnswerKind, Terms, answer, refuse_busy, refuse_duplicate, refuse_invalid},
        params, progress,
    },
    rpc::{
        ErrorObject, Id, SessionLimits, code, leniently, read_object,
        single_pass::{self, precedes_object, use_slow_path},
    },
    text::truncate,
};

/// A decoded call, and the token for the reports of its progress.
pub(super) struct Decoded<C> {
    tool: C,
    token: Option<Id>,
    at_once: bool,
}

/// A decoder for the parameters of a call that lie in `text`.
struct CallParams<'s, 't, T> {
    tools: &'s T,
    limits: &'s SessionLimits,
    text: &'t str,
}

impl<T: Tools> Server<T> {
    /// Reads a call and its arguments in one go; `None` leaves the text to [`call`](Self::call).
    pub(super) fn read_call(&self, text: &str) -> Option<(Id, Decoded<T::Call>)> {
        let limits = &self.session.limits;
        single_pass::request(text, limits, "tools/call", CallParams { tools: &self.role.tools, limits, text })
    }

    /// Opens a call. If that is not possible, answers it with an error under its id.
    pub(super) fn call(&mut self, id: Id, params: Option<&RawValue>, out: &mut impl Outbox) {
        if self.session.incoming.is_full(self.is_answered_at_once(params)) {
            return refuse_busy(&id, out);
        }
        match self.decode(params) {
            Ok(call) => self.called(id, call, AnswerKind::Tool, out),
            Err(InvalidCall::Arguments(reason)) if self.models_read_results() => {
                let text = truncate(&reason, self.session.limits.reason);
                answer(&id, &ToolResult::error(format!("Invalid arguments: {text}")), out);
            }
            Err(invalid) => refuse_invalid(&id, &invalid.into(), &self.session.limits, out),
        }
    }

    /// Returns true if wrong arguments are answered with an `isError` result instead of an error. A model reads the
    /// result and can correct the call, but may never see an error (MCP 2025-11-25, tools, error handling).
    fn models_read_results(&self) -> bool {
        self.session.version >= Some(ProtocolVersion::V2025_11_25)
    }

    /// Opens a decoded call.
    pub(super) fn called(&mut self, id: Id, call: Decoded<T::Call>, kind: AnswerKind, out: &mut impl Outbox) {
        if self.session.incoming.find(&id).is_some() {
            return refuse_duplicate(&id, out);
        }
        let Decoded { tool, token, at_once } = call;
        let now = self.session.now;
        // The tool itself says how long its calls may wait, and what answers them after that.
        let (timeout, when_late) = match kind {
            AnswerKind::Resource(_) => (Timeout::Default, None),
            AnswerKind::Tool | AnswerKind::Request | AnswerKind::Forwarded => {
                (self.role.tools.timeout(&tool), self.role.tools.result_when_late(&tool))
            }
        };
        let terms = Terms { timeout, when_late, at_once, kind };
        if let Some(call) = self.session.incoming.open(now, id, terms, token, out) {
            self.session.events.push_back(ServerEvent::Call { call, tool });
        }
    }

    /// Opens a request for a prompt, or answers it with an error.
    pub(super) fn get_prompt(&mut self, id: Id, params: Option<&RawValue>, out: &mut impl Outbox) {
        let prompt = GetPrompt::read(params)
            .and_then(|prompt| self.role.context.check_prompt(&prompt).map(|()| prompt));
        match prompt {
            Ok(prompt) => {
                if let Some(call) = self.session.open_request(id, params, Terms::request(), out) {
                    self.session.events.push_back(ServerEvent::GetPrompt { call, prompt });
                }
            }
            Err(error) => refuse_invalid(&id, &error, &self.session.limits, out),
        }
    }

    /// Opens a request for a resource: a call of the tool that reads it, if it has one. If that is not possible,
    /// answers with an error.
    pub(super) fn read_resource(&mut self, id: Id, params: Option<&RawValue>, out: &mut impl Outbox) {
        let resource = ReadResource::read(params).and_then(|resource| {
            let spec = self.role.context.find_resource(&resource.uri)?;
            let Some((tool, spec)) = spec.and_then(|spec| Some((spec.tool.as_deref()?, spec))) else {
                return Ok((resource, None));
            };
            let kind = AnswerKind::Resource(Box::new((spec.uri.clone(), spec.mime_type.clone())));
            let token = progress::token_of(params, &self.session.limits);
            // The client asked for a resource, so do not answer with the code for an unknown tool.
            self.role.tools.check(tool).map_err(|_| resource_not_found(&spec.uri))?;
            let (tool, _) = self.decode_arguments(tool, params::NO_ARGUMENTS)?;
            let tool = self.role.tools.as_resource(tool);
            Ok((resource, Some((Decoded { tool, token, at_once: false }, kind))))
        });
        match resource {
            Ok((_, Some((call, kind)))) => self.called(id, call, kind, out),
            Ok((resource, None)) => {
                if let Some(call) = self.session.open_request(id, params, Terms::request(), out) {
                    self.session.events.push_back(ServerEvent::ReadResource { call, resource });
                }
            }
            Err(error) => refuse_invalid(&id, &error, &self.session.limits, out),
        }
    }

    /// Returns true if too many calls wait, but the application answers this one at once. While there is room for more
    /// calls that wait, it returns false without checking that.
    pub(super) fn is_answered_at_once(&self, params: Option<&RawValue>) -> bool {
        self.session.incoming.is_full(false)
            && params
                .and_then(read_object::<params::Call<'_>>)
                .is_some_and(|call| self.role.tools.check(&call.name) == Ok(Served::AtOnce))
    }

    fn decode(&self, params: Option<&RawValue>) -> Result<Decoded<T::Call>, InvalidCall> {
        let params = params.map_or(params::NO_ARGUMENTS, RawValue::get);
        let call: params::Call<'_> =
            serde_json::from_str(params).map_err(|error| ErrorObject::invalid_params(reason(&error)))?;
        let arguments = call.arguments.map_or(params::NO_ARGUMENTS, RawValue::get);
        if !arguments.starts_with('{') {
            self.role.tools.check(&call.name)?;
            return Err(InvalidCall::Arguments("arguments is not an object".into()));
        }
        let (tool, served) = self.decode_arguments(&call.name, arguments)?;
        let (tool, token) = with_meta(&self.role.tools, &self.session.limits, tool, call.meta);
        Ok(Decoded { tool, token, at_once: matches!(served, Served::AtOnce) })
    }

    /// Decodes a call of the tool with this name, if it is served. Arguments that do not fit as written are read in
    /// their normal form.
    fn decode_arguments(&self, name: &str, arguments: &str) -> Result<(T::Call, Served), InvalidCall> {
        let served = self.role.tools.check(name)?;
        let tool = leniently(arguments, |arguments| {
            let mut deserializer = serde_json::Deserializer::from_str(arguments);
            let tool = self.role.tools.decode(name, &mut deserializer)?;
            deserializer.end().map(|()| tool)
        });
        tool.map(|tool| (tool, served)).map_err(|error| InvalidCall::Arguments(reason(&error)))
    }
}

/// Why a call is not opened.
enum InvalidCall {
    /// There is no such tool, or these are not the parameters of a call.
    Call(ErrorObject),
    /// The arguments do not fit the tool, for this reason.
    Arguments(String),
}

impl From<ErrorObject> for InvalidCall {
    fn from(error: ErrorObject) -> Self {
        Self::Call(error)
    }
}

impl From<InvalidCall> for ErrorObject {
    fn from(invalid: InvalidCall) -> Self {
        match invalid {
            InvalidCall::Call(error) => error,
            InvalidCall::Arguments(reason) => Self::new(code::INVALID_PARAMS, reason),
        }
    }
}

/// Returns the call with its `_meta`, if any, and the token for progress in it.
fn with_meta<T: Tools>(
    tools: &T,
    limits: &SessionLimits,
    call: T::Call,
    meta: Option<&RawValue>,
) -> (T::Call, Option<Id>) {
    match meta {
        Some(meta) => (tools.with_meta(call, meta), progress::token(meta, limits)),
        None => (call, None),
    }
}

/// Returns why the arguments do not fit, without the position in the message of serde_json: it counts from the
/// beginning of the arguments, which the peer sent only as a part of a larger message.
fn reason(error: &serde_json::Error) -> String {
    let text = format!("{error}");
    match text.rsplit_once(" at line ") {
        Some((reason, _)) => reason.into(),
        None => text,
    }
}

impl<'t, T: Tools> Visitor<'t> for CallParams<'_, 't, T> {
    type Value = Decoded<T::Call>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the parameters of a call")
    }

    fn visit_map<A: MapAccess<'t>>(self, mut members: A) -> Result<Self::Value, A::Error> {
        let (mut name, mut tool, mut meta) = (None, None, None);
        // A name with escapes is left to the slow path.
        while let Some(member) = members.next_key::<&'t str>()? {
            match (member, name) {
                ("name", None) => {
                    let called = members.next_value()?;
                    name = Some((called, self.tools.check(called).map_err(|_| use_slow_path())?));
                }
                ("arguments", Some((name, _))) if tool.is_none() && precedes_object(member, self.text) => {
                    tool = Some(members.next_value_seed(Arguments { tools: self.tools, name })?);
                }
                ("_meta", _) if meta.is_none() => meta = Some(members.next_value::<&RawValue>()?),
                ("name" | "arguments" | "_meta", _) => return Err(use_slow_path()),
                _ => {
                    members.next_value::<IgnoredAny>()?;
                }
            }
        }
        let (name, served) = name.ok_or_else(use_slow_path)?;
        let tool = match tool {
            Some(tool) => tool,
            None => {
                let mut none = serde_json::Deserializer::from_str(params::NO_ARGUMENTS);
                let tool = self.tools.decode(name, &mut none).map_err(|_| use_slow_path())?;
                none.end().map_err(|_| use_slow_path())?;
                tool
            }
        };
        let (tool, token) = with_meta(self.tools, self.limits, tool, meta);
        Ok(Decoded { tool, token, at_once: matches!(served, Served::AtOnce) })
    }
}

struct Arguments<'s, 't, T> {
    tools: &'s T,
    name: &'t str,
}

impl<'t, T: Tools> DeserializeSeed<'t> for Arguments<'_, 't, T> {
    type Value = T::Call;

    fn deserialize<D: Deserializer<'t>>(self, arguments: D) -> Result<T::Call, D::Error> {
        self.tools.decode(self.name, arguments)
    }
}
