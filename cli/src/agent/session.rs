//! The session with an editor, for a user at a terminal: with progress, forms, and errors that name the options of
//! the program.

use crate::agent::forms::Forms;
use crate::support::ended::ended;
use crate::support::find::OWN_EDITOR;
use crate::support::{Progress, complain, find, not_connected, report_unknown};
use ide_mcp::ide::discovery::client_env::authority;
use ide_mcp::ide::kit::display_safe;
use ide_mcp::ide::tool::ToolArguments;
use ide_mcp::ide::{Client, ClientConfig, ClientEvent};
use ide_mcp::mcp::{self, Implementation, Outcome, PeerFault, Root};
use ide_mcp::rpc::{Json, NotSent, RequestId};
use ide_mcp::ws::{Closed, NotAccepted};
use ide_mcp::{Clock, Time};
use ide_mcp_blocking::{Agent, AgentError, AgentOptions, ConnectError, NotAdmitted, Trust};
use ide_mcp_lockfile::{EditorSearch, FoundEditor};
use std::time::Duration;

/// The interval of the progress messages for a user who waits.
const SECOND: Duration = Duration::from_secs(1);

/// How often the session looks for a line of the user while a form is open.
const SLICE: Duration = Duration::from_millis(20);

/// The error of a session, for a user. Text from the peer in it is safe to display.
pub(crate) type Failure = String;

/// What the agent tells the editor about itself, besides its name.
#[derive(Debug)]
pub(crate) struct Identity {
    /// The working directory; `None` if its path is not known.
    pub(crate) root: Option<Root>,
    pub(crate) forms: Forms,
}

/// Why there is no session.
#[derive(Debug)]
pub(crate) enum NotAttached {
    /// There is no editor.
    Nobody(Failure),
    /// There is an editor, but it does not admit the agent.
    Failed(Failure),
}

impl From<AgentError> for NotAttached {
    fn from(error: AgentError) -> Self {
        let is_silent = matches!(&error, AgentError::NotConnected { error: ConnectError::Io(_), .. });
        match error {
            AgentError::NoEditor(none) => Self::Nobody(find::with_options(none)),
            AgentError::Invalid(_) => Self::Nobody(failure(&error)),
            _ if is_silent => Self::Nobody(format!("{error}, {OWN_EDITOR}; `ide-mcp doctor` finds out why")),
            _ => Self::Failed(failure(&error)),
        }
    }
}

/// Returns the text of the error, with the options that help.
fn failure(error: &AgentError) -> Failure {
    if let AgentError::NotConnected { error: error @ ConnectError::NotTrusted(_), .. } = error {
        let reason = not_connected(error);
        return format!("the agent does not attach: {reason}; `ide-mcp doctor` finds out why");
    }
    match error {
        AgentError::Ended { closed, gave_up } => {
            let gave_up = gave_up.map(|gave_up| format!("; {gave_up}")).unwrap_or_default();
            ended(EDITOR, closed) + &gave_up
        }
        AgentError::NotAdmitted { editor, reason } => too_late(editor.port, reason)
            .or_else(|| turned_away(editor.port, reason))
            .unwrap_or_else(|| error.to_string()),
        _ => error.to_string(),
    }
}

/// Names the time limit that ended an attempt. An editor that answers one byte at a time does answer, so the message
/// must not say that it is silent.
fn too_late(port: u16, reason: &NotAdmitted) -> Option<Failure> {
    let limits = limits();
    let (what, within) = match reason {
        NotAdmitted::Closed(Closed::NotAccepted(NotAccepted::TimedOut)) => {
            ("its answer to the opening handshake", limits.ws.handshake)
        }
        NotAdmitted::Failed(mcp::Failure::TimedOut) => {
            ("its answer to `initialize`", limits.mcp.initialize_timeout)
        }
        _ => return None,
    };
    let seconds = within.as_secs();
    Some(format!(
        "the editor on port {port} takes too long: {what} was not complete within {seconds} s; `ide-mcp doctor` finds out why"
    ))
}

/// Describes how the connection ended during an attempt, unless the opening handshake was refused.
fn turned_away(port: u16, reason: &NotAdmitted) -> Option<Failure> {
    match reason {
        NotAdmitted::Closed(Closed::NotAccepted(_)) => None,
        NotAdmitted::Closed(closed) => {
            Some(format!("the editor on port {port} does not admit the agent: {}", ended(EDITOR, closed)))
        }
        _ => None,
    }
}

/// The limits of an agent. This program keeps the defaults.
fn limits() -> ClientConfig {
    ClientConfig::new(Implementation::new("", ""), 0, None)
}

/// A change of the connection, or an event of the session.
#[derive(Debug)]
pub(crate) enum SessionEvent {
    Client(ClientEvent),
    /// The connection has ended for this reason, and the session reconnects.
    Lost(Failure),
    /// The session has reconnected.
    Back,
}

/// A session that can outlive its connection: it reconnects if that is requested.
#[derive(Debug)]
pub(crate) struct Session {
    agent: Agent,
    reconnects: bool,
    forms: Forms,
    clock: Clock,
    /// The latest fault of the editor, which explains why its answer cannot be read.
    fault: Option<PeerFault>,
}

impl Session {
    /// Finds the editor and attaches: returns when the session is open. With `reconnects` the session
    /// attaches again after a lost connection, as the real client does.
    pub(crate) fn attach(
        (search, target): (EditorSearch, Option<String>),
        trust: Trust,
        identity: Identity,
        reconnects: bool,
    ) -> Result<Self, NotAttached> {
        let mut options = AgentOptions::new("ide-mcp-agent", env!("CARGO_PKG_VERSION"));
        (options.search, options.target) = (search, target);
        (options.trust, options.reconnects) = (trust, reconnects);
        options.elicitation = !matches!(identity.forms, Forms::Refused);
        options.roots = identity.root.map(|root| vec![root]);
        let agent = Agent::start(options)?;
        let mut session = Self { agent, reconnects, forms: identity.forms, clock: Clock::new(), fault: None };
        let mut waiting = Waiting::new(format!("attaching to {}", session.name()));
        loop {
            match session.poll(SECOND)? {
                Some(ClientEvent::Ready(_)) => return Ok(session),
                Some(_) => {}
                None => waiting.show(),
            }
        }
    }

    /// Waits for the next event. The end of the connection is an error, unless the session
    /// reconnects. Asks `goes_on` every second, and returns `None` once it says no.
    pub(crate) fn next_while(&mut self, goes_on: impl Fn() -> bool) -> Result<Option<SessionEvent>, Failure> {
        let mut waiting = None;
        loop {
            let event = self.next_within(SECOND)?;
            if event.is_some() || !goes_on() {
                return Ok(event);
            }
            if !self.is_ready() {
                let name = self.name();
                waiting.get_or_insert_with(|| Waiting::new(format!("waiting until {name} is back"))).show();
            }
        }
    }

    /// Waits for the next event like [`next_while`](Self::next_while), but no longer than `at_most`.
    pub(crate) fn next_within(&mut self, at_most: Duration) -> Result<Option<SessionEvent>, Failure> {
        let event = self.poll(at_most).map_err(|error| failure(&error))?;
        match &event {
            Some(ClientEvent::PeerFault(fault)) => {
                self.fault = Some(*fault);
                // The list has arrived, but maybe not all of it.
                if *fault == PeerFault::BrokenCursor {
                    complain("agent", &safe(fault));
                }
            }
            // An error without the id of a request may be the answer to the request that waits.
            Some(ClientEvent::PeerError(error)) => {
                complain("agent", &format!("the editor reports {}", safe(error)));
            }
            _ => {}
        }
        Ok(event.and_then(|event| match event {
            ClientEvent::Ready(_) => Some(SessionEvent::Back),
            // If the session does not reconnect, the next error of the agent has the reason.
            ClientEvent::Closed(closed) => {
                self.reconnects.then(|| SessionEvent::Lost(ended(EDITOR, &closed)))
            }
            event => Some(SessionEvent::Client(event)),
        }))
    }

    /// Returns true if the session accepts requests now.
    pub(crate) fn is_ready(&self) -> bool {
        self.agent.session().is_attached()
    }

    /// Calls a tool without waiting for its outcome.
    pub(crate) fn call(&mut self, arguments: &impl ToolArguments) -> Result<RequestId, NotSent> {
        self.client()?.call_tool(arguments).map(|pending| pending.id())
    }

    /// Waits for the outcome of a request, and shows the user that it waits for `what`.
    pub(crate) fn outcome_of(&mut self, id: RequestId, what: &str) -> Result<Outcome, Failure> {
        let mut waiting = Waiting::new(format!("waiting for {what} of {}", self.name()));
        loop {
            match self.next_within(SECOND)? {
                Some(SessionEvent::Client(ClientEvent::Outcome { request, outcome })) if request == id => {
                    return Ok(outcome);
                }
                Some(_) => {}
                // The user reads a form now, and not the progress.
                None if self.is_asking() => {}
                None => waiting.show(),
            }
        }
    }

    /// Waits for the result of a request.
    pub(crate) fn result_of(&mut self, id: RequestId, what: &str) -> Result<Json, Failure> {
        let outcome = self.outcome_of(id, what)?;
        self.result(outcome)
    }

    /// Returns the result, or the reason why there is none. If the connection is closed, waits for the event that says
    /// why.
    pub(crate) fn result(&mut self, outcome: Outcome) -> Result<Json, Failure> {
        match outcome {
            Outcome::Closed => Err(format!("there is no answer: {}", self.end())),
            outcome => self.answer(outcome),
        }
    }

    /// Returns the result, or the reason why there is none.
    pub(crate) fn answer(&self, outcome: Outcome) -> Result<Json, Failure> {
        let mcp = limits().mcp;
        match (outcome, &self.fault) {
            (Outcome::Result(result), _) => Ok(result),
            (Outcome::Error(error), _) => Err(safe(&error)),
            (Outcome::TimedOut, _) => {
                let seconds = mcp.request_timeout.as_secs();
                Err(format!("the editor did not answer within {seconds} s; `ide-mcp doctor` finds out why"))
            }
            (Outcome::Closed, _) => Err(OVER.into()),
            (_, Some(PeerFault::EndlessList)) => Err(format!(
                "the editor's list does not end: it has more than {} pages or {} MiB",
                mcp.list_pages,
                mcp.list_bytes / 1024 / 1024
            )),
            (_, Some(fault)) => Err(format!("the editor's answer cannot be read: {}", safe(fault))),
            (_, None) => Err("the editor's answer cannot be read".into()),
        }
    }

    /// Waits for the end of the connection, and returns the reason.
    pub(crate) fn end(&mut self) -> Failure {
        loop {
            match self.next_within(SECOND) {
                Err(end) | Ok(Some(SessionEvent::Lost(end))) => return end,
                Ok(_) => {}
            }
        }
    }

    /// Returns the client of the connection.
    ///
    /// # Errors
    /// [`NotSent::NotReady`] while there is no connection.
    pub(crate) fn client(&mut self) -> Result<&mut Client, NotSent> {
        self.agent.client_mut()
    }

    pub(crate) const fn editor(&self) -> &FoundEditor {
        self.agent.session().editor()
    }

    /// Returns the name of the editor for messages.
    pub(crate) fn name(&self) -> String {
        let FoundEditor { name, port, .. } = self.editor();
        if name.is_empty() { format!("the editor on port {port}") } else { format!("{name:?}") }
    }

    /// Sends a close frame and waits for the close handshake; returns at once if the connection has
    /// ended already.
    pub(crate) fn detach(mut self) {
        if let Forms::Shown(desk) = &mut self.forms {
            desk.leave();
        }
        self.agent.detach();
    }

    /// Waits for the next event. Shows forms, and takes the lines of the user.
    fn poll(&mut self, at_most: Duration) -> Result<Option<ClientEvent>, AgentError> {
        let polled = self.wait(at_most);
        // The caller writes about the event or the error, which must not mix with the line of the form.
        if !matches!(polled, Ok(None)) {
            self.pause_form();
        }
        polled
    }

    fn wait(&mut self, at_most: Duration) -> Result<Option<ClientEvent>, AgentError> {
        let until = self.clock.now().saturating_add(at_most);
        loop {
            let left = until.saturating_since(self.clock.now());
            let event = self.agent.poll(if self.is_asking() { left.min(SLICE) } else { left });
            if let Some(unknown) = self.agent.session().unknown_owner() {
                let FoundEditor { host, port, .. } = self.editor();
                report_unknown("agent", safe(&authority(host, *port)), unknown);
            }
            match self.take_form(event?) {
                None if left.is_zero() => return Ok(None),
                None => {}
                event => return Ok(event),
            }
        }
    }

    /// Handles the events of forms, and the lines that the user types.
    fn take_form(&mut self, event: Option<ClientEvent>) -> Option<ClientEvent> {
        let name = self.name();
        let Forms::Shown(desk) = &mut self.forms else { return event };
        let client = self.agent.client_mut().ok();
        match event {
            Some(ClientEvent::Form { call, form }) => desk.add(client?, &name, call, form),
            Some(ClientEvent::CallEnded { call, reason }) => {
                desk.end(client, &name, call, &reason);
            }
            Some(event) => return Some(event),
            None => desk.take_line(client?, &name),
        }
        None
    }

    fn pause_form(&mut self) {
        if let Forms::Shown(desk) = &mut self.forms {
            desk.pause();
        }
    }

    const fn is_asking(&self) -> bool {
        matches!(&self.forms, Forms::Shown(desk) if desk.is_asking())
    }
}

/// Shows a user at a terminal the reason and the duration of a wait.
#[derive(Debug)]
pub(crate) struct Waiting {
    progress: Progress,
    what: String,
    since: Clock,
    /// The seconds of the last message.
    shown: u64,
}

impl Waiting {
    pub(crate) fn new(what: String) -> Self {
        Self { progress: Progress::new("agent"), what, since: Clock::new(), shown: 0 }
    }

    /// Shows the duration at most once in each second, and nothing in the first one.
    pub(crate) fn show(&mut self) {
        let seconds = self.since.now().saturating_since(Time::ZERO).as_secs();
        if seconds > self.shown {
            self.shown = seconds;
            self.progress.show(&format!("{} … {seconds} s", self.what));
        }
    }
}

/// The other side in messages.
const EDITOR: &str = "the editor";
const OVER: &str = "the connection is over";

fn safe(text: &impl ToString) -> Failure {
    display_safe(&text.to_string()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempt_names_the_limit_that_ended_it() {
        let dripping = NotAdmitted::Closed(Closed::NotAccepted(NotAccepted::TimedOut));
        let text = too_late(7, &dripping).unwrap();
        assert!(text.contains("port 7 takes too long: its answer to the opening handshake"), "{text}");
        assert!(text.contains("within 30 s"), "{text}");
        let text = too_late(7, &NotAdmitted::Failed(mcp::Failure::TimedOut)).unwrap();
        assert!(text.contains("its answer to `initialize` was not complete within 30 s"), "{text}");
        for other in [NotAdmitted::SubprotocolMissing, NotAdmitted::Closed(Closed::Abnormal)] {
            assert_eq!(too_late(7, &other), None);
        }
    }
}
