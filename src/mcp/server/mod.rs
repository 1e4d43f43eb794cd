//! The server's side of a session: the editor. The module `role` shows which messages are permitted in each state.

use alloc::{boxed::Box, sync::Arc};

use serde::Serialize;
use serde_json::value::RawValue;

use super::{
    Context, Form, Implementation, LogLevel, ServerEvent, Timeout, ToolResult, Tools,
    endpoint::Endpoint,
    form::FormOut,
    incoming::Incoming,
    outgoing::{Outgoing, Purpose},
    params::{ClientCapabilities, LogOut},
    session::{Session, State},
    timeout::Waits,
};
use crate::{
    Outbox,
    rpc::{CallId, NotAnswered, NotSent, RequestId, SessionId},
};

mod announced;
mod call;
mod config;
mod role;

use announced::Announced;
pub use config::ServerConfig;

/// One session of MCP as a server: the editor's side.
///
/// The session itself answers the handshake, `ping`, the lists, and what it does not support. Tool calls come to you as
/// events; answer them at once or later. A call that you forget is answered at its deadline.
///
/// ```
/// use ide_mcp::mcp::{
///     Implementation, Lines, RawTools, Server, ServerConfig, ServerEvent, ToolResult, ToolSpec,
/// };
/// use ide_mcp::{Time, rpc::SessionId};
///
/// let tools = RawTools(vec![ToolSpec::new("greet", "says hello", r#"{"type":"object"}"#)]);
/// let config = ServerConfig::new(Implementation::new("demo", "1.0"));
/// let mut server = Server::new(config, tools, SessionId::new(1));
/// let mut out = Lines::new();
/// for text in [
///     r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}"#,
///     r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
///     r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"greet"}}"#,
/// ] {
///     server.receive(Time::ZERO, text, &mut out);
///     while let Some(event) = server.poll(Time::ZERO, &mut out) {
///         if let ServerEvent::Call { call, .. } = event {
///             server.respond(call, &ToolResult::text("hello"), &mut out).unwrap();
///         }
///     }
/// }
/// assert!(std::str::from_utf8(out.outgoing()).unwrap().contains("hello"));
/// ```
pub type Server<T> = Endpoint<ServerRole<T>, ServerEvent<<T as Tools>::Call>>;

/// The role of a server.
#[derive(Debug)]
#[allow(unnameable_types, reason = "its name is `Server`")]
pub struct ServerRole<T> {
    config: Arc<ServerConfig>,
    tools: T,
    client: Option<Implementation>,
    capabilities: Option<Box<RawValue>>,
    declared: ClientCapabilities,
    log_level: Option<LogLevel>,
    context: Arc<Context>,
    announced: AnnouncedLists,
    /// True if tool calls are decoded, not forwarded.
    decodes_calls: bool,
}

/// The lists as the client has them.
#[derive(Clone, Debug)]
struct AnnouncedLists {
    /// The digest of the tools, since [`Tools`] only lends their list.
    tools: Announced<u64>,
    /// The context with the prompts.
    prompts: Announced<Arc<Context>>,
    /// The context with the resources and their templates, whose changes have one notification.
    resources: Announced<Arc<Context>>,
}

impl AnnouncedLists {
    fn new(config: &ServerConfig, tools: &impl Tools) -> Self {
        Self {
            tools: Announced::new(super::tools::digest(tools.specs())),
            prompts: Announced::new(config.context.clone()),
            resources: Announced::new(config.context.clone()),
        }
    }
}

impl<T: Tools> Server<T> {
    /// Creates a session that waits for `initialize`. `session` becomes part of all its handles: give each session of
    /// your program a different one, so that you cannot mix up their handles. Sessions can share their settings.
    pub fn new(config: impl Into<Arc<ServerConfig>>, tools: T, session: SessionId) -> Self {
        let config = config.into();
        let waits = Waits { default: config.call_deadline, longest: config.longest_call };
        Self {
            session: Session::new(
                State::Awaiting,
                config.limits.clone(),
                Incoming::new(session, &config.limits, waits),
                Outgoing::new(session, &config.limits, config.request_timeout),
                config.keepalive,
            ),
            role: ServerRole {
                log_level: config.logging,
                announced: AnnouncedLists::new(&config, &tools),
                decodes_calls: !config.forward.takes("tools/call", true),
                context: config.context.clone(),
                config,
                tools,
                client: None,
                capabilities: None,
                declared: ClientCapabilities::default(),
            },
        }
    }

    /// Replaces the tools and the rest of the offer: the context, the capabilities and the forwarded methods. Call it
    /// only before the first message of the client, because the client has no lists until then.
    #[cfg(feature = "ide")]
    pub(crate) fn replace_offer(&mut self, tools: T, change: impl FnOnce(&mut ServerConfig)) {
        change(Arc::make_mut(&mut self.role.config));
        self.role.decodes_calls = !self.role.config.forward.takes("tools/call", true);
        self.role.context = self.role.config.context.clone();
        self.role.announced = AnnouncedLists::new(&self.role.config, &tools);
        self.role.tools = tools;
    }

    /// Stops the [pings](ServerConfig::keepalive) of this session, for a client that never answers
    /// requests.
    #[cfg(feature = "ide")]
    pub(crate) const fn stop_keepalive(&mut self) {
        self.session.stop_keepalive();
    }

    /// Answers a tool call with its result.
    ///
    /// # Errors
    ///
    /// If the call is not open, [`NotAnswered`] says how it ended. If the outbox is closed, the error is
    /// [`NotAnswered::Closed`], and the call stays open until the session is closed. [`NotAnswered::NotAnAnswer`] for a
    /// [prompt](ServerEvent::GetPrompt) or a [resource](ServerEvent::ReadResource): use
    /// [`respond_with`](Server::respond_with) for these; they are still open. After any error, nothing was sent.
    pub fn respond(
        &mut self,
        call: CallId,
        result: &ToolResult<'_>,
        out: &mut impl Outbox,
    ) -> Result<(), NotAnswered> {
        self.session.incoming.respond(call, result, out)
    }

    /// Answers a forwarded request outside MCP, whose result may be any JSON value.
    ///
    /// # Errors
    ///
    /// [`NotAnswered::NotAnAnswer`] for a call of a tool, a prompt or a resource, whose results are objects of MCP; the
    /// call is still open then. Otherwise as for [`respond`](Server::respond). Nothing is sent.
    #[cfg(feature = "ide")]
    pub(crate) fn respond_with_any(
        &mut self,
        call: CallId,
        result: &RawValue,
        out: &mut impl Outbox,
    ) -> Result<(), NotAnswered> {
        self.session.incoming.respond_with_any(call, result, out)
    }

    /// Makes a call wait that was [accepted to be answered at once](super::Served::AtOnce), because the application
    /// cannot answer it yet. If too many calls wait, answers it with an error instead, and returns false. Does nothing
    /// and returns true if the call waits already, or is not open.
    #[cfg(feature = "ide")]
    pub(crate) fn defer(&mut self, call: CallId, out: &mut impl Outbox) -> bool {
        self.session.incoming.defer(call, out)
    }

    /// Answers a request whose content cannot be read with this error. Its message is truncated to
    /// [`SessionLimits::reason`](crate::rpc::SessionLimits::reason), because it may repeat the request at any length;
    /// its data is sent unchanged.
    ///
    /// # Errors
    ///
    /// If the call is not open, the error says how it ended. If the outbox is closed, the error is
    /// [`NotAnswered::Closed`], and the call stays open until the session is closed. In both cases nothing is sent.
    #[cfg(feature = "ide")]
    pub(crate) fn fail_invalid(
        &mut self,
        call: CallId,
        error: &crate::rpc::ErrorObject,
        out: &mut impl Outbox,
    ) -> Result<(), NotAnswered> {
        self.session.incoming.fail_invalid(call, error, &self.session.limits, out)
    }

    /// Notifies the client that the list of tools has changed, if it has. Returns true if it sent the notification, and
    /// false if the client has the current list, or has not requested it since the last notification. After an error,
    /// just call this again: a change counts as announced only once the notification is sent.
    ///
    /// Do not use this as a keepalive: whenever the real client gets this notification, it lists the tools again and
    /// forgets the selection of the editor (measured, see docs/protocol.md).
    ///
    /// # Errors
    ///
    /// [`Undeclared`](NotSent::Undeclared) if [`ServerConfig::tools_list_changed`] is off. Otherwise as for
    /// [`notify`](Server::notify), even if there is no change to announce. The exception is [`Full`](NotSent::Full),
    /// which is returned only if there is a change.
    pub fn tools_list_changed(&mut self, out: &mut impl Outbox) -> Result<bool, NotSent> {
        if !self.role.config.tools_list_changed {
            return Err(NotSent::Undeclared);
        }
        self.session.may_send(false)?;
        let digest = super::tools::digest(self.role.tools.specs());
        if !self.role.announced.tools.is_change(|known| *known != digest) {
            return Ok(false);
        }
        self.notify("notifications/tools/list_changed", None::<&()>, out)?;
        self.role.announced.tools.on_announced(digest);
        Ok(true)
    }

    /// Notifies the client that the lists of prompts or of resources have changed, if one of them has.
    /// Returns true if a notification is sent. The rules are those of
    /// [`tools_list_changed`](Server::tools_list_changed), for each of the two lists.
    ///
    /// # Errors
    ///
    /// [`Undeclared`](NotSent::Undeclared) if [`ServerConfig::context`] declares neither prompts nor
    /// resources. Otherwise as for [`tools_list_changed`](Server::tools_list_changed).
    pub fn context_changed(&mut self, out: &mut impl Outbox) -> Result<bool, NotSent> {
        let declared = &self.role.config.context;
        let (prompts, resources) = (declared.declares_prompts(), declared.declares_resources());
        if !prompts && !resources {
            return Err(NotSent::Undeclared);
        }
        self.session.may_send(false)?;
        let (session, context, lists) = (&self.session, &self.role.context, &mut self.role.announced);
        let notifications = [
            (
                "notifications/prompts/list_changed",
                prompts && lists.prompts.is_change(|known| !known.has_prompts_of(context)),
                &mut lists.prompts,
            ),
            (
                "notifications/resources/list_changed",
                resources && lists.resources.is_change(|known| !known.has_resources_of(context)),
                &mut lists.resources,
            ),
        ];
        let mut is_sent = false;
        for (method, is_change, list) in notifications {
            if is_change {
                session.notify(method, None::<&()>, out)?;
                list.on_announced(context.clone());
                is_sent = true;
            }
        }
        Ok(is_sent)
    }

    /// Sends a log message; `logger` names its source, and `data` is any value. Returns true if the message is sent,
    /// and false if it is less severe than [`log_level`](Server::log_level).
    ///
    /// # Errors
    ///
    /// [`Undeclared`](NotSent::Undeclared) if [`ServerConfig::logging`] is off. Otherwise as for
    /// [`notify`](Server::notify), at any level, with two exceptions. You may log as soon as `initialize` was answered.
    /// And [`Full`](NotSent::Full) and [`Unserializable`](NotSent::Unserializable) are returned only for a message that
    /// is severe enough to be sent.
    pub fn log<D: Serialize + ?Sized>(
        &mut self,
        level: LogLevel,
        logger: Option<&str>,
        data: &D,
        out: &mut impl Outbox,
    ) -> Result<bool, NotSent> {
        let lowest = self.role.log_level.ok_or(NotSent::Undeclared)?;
        // MCP permits the log as soon as `initialize` was answered.
        self.session.may_send(self.session.state == State::Opening)?;
        if level < lowest {
            return Ok(false);
        }
        let params = LogOut { level: level.as_str(), logger, data };
        self.session.notify("notifications/message", Some(&params), out)?;
        Ok(true)
    }

    /// Returns the least severe level that is sent; `None` if logging is off.
    #[must_use]
    pub const fn log_level(&self) -> Option<LogLevel> {
        self.role.log_level
    }

    /// Shows a form to the person at the client, with `elicitation/create` (MCP 2025-06-18). One
    /// [`Outcome`](ServerEvent::Outcome) follows. Read its result with [`FormAnswer::read`](super::FormAnswer::read):
    /// it fits the form, and has no values of other names. An answer that does not fit becomes
    /// [`Outcome::Malformed`](super::Outcome::Malformed).
    ///
    /// People take minutes, so the [default](Timeout::Default) of 60 s is too short for most forms.
    ///
    /// # Errors
    ///
    /// [`Undeclared`](NotSent::Undeclared) if the client did not declare forms. Otherwise as for
    /// [`request`](Server::request).
    pub fn elicit(
        &mut self,
        form: Form,
        timeout: Timeout,
        out: &mut impl Outbox,
    ) -> Result<RequestId, NotSent> {
        self.session.may_send(false)?;
        if !self.role.declared.forms {
            return Err(NotSent::Undeclared);
        }
        let purpose = Purpose::Form(Box::new(form.clone()));
        let params = FormOut { form: &form, version: self.session.version };
        self.session.request(("elicitation/create", Some(&params)), timeout, purpose, out)
    }

    /// Returns true if the client has declared that it answers `roots/list`, so you can ask for the folders that it
    /// works in.
    #[must_use]
    pub const fn client_has_roots(&self) -> bool {
        self.role.declared.roots
    }

    /// Returns the name and version of the client, once it has sent them.
    #[must_use]
    pub const fn client(&self) -> Option<&Implementation> {
        self.role.client.as_ref()
    }

    /// Returns the capabilities of the client as it wrote them, once it has declared them.
    #[must_use]
    pub fn client_capabilities(&self) -> Option<&RawValue> {
        self.role.capabilities.as_deref()
    }

    /// Returns your prompts and resources.
    #[must_use]
    pub fn context(&self) -> &Context {
        &self.role.context
    }

    /// Offers other prompts and resources from now on; call [`context_changed`](Server::context_changed) to notify the
    /// client. Prompts and resources are left out unless [`ServerConfig::context`] declares them. Open requests stay
    /// open.
    pub fn set_context(&mut self, context: impl Into<Arc<Context>>) {
        let context = context.into();
        let declared = &self.role.config.context;
        let is_more = context.declares_prompts() && !declared.declares_prompts()
            || context.declares_resources() && !declared.declares_resources();
        self.role.context =
            if is_more { Arc::new(Context::clone(&context).declared_by(declared)) } else { context };
    }

    /// Returns your tools.
    #[must_use]
    pub const fn tools(&self) -> &T {
        &self.role.tools
    }

    /// Returns your tools, to change them.
    pub const fn tools_mut(&mut self) -> &mut T {
        &mut self.role.tools
    }
}
