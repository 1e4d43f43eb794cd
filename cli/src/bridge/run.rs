//! The loop: the pipes of the client, the socket of the editor, and both sessions.
//!
//! ```text
//!  Greeting ──initialize──▶ Attaching ──editor ready──▶ Open ──end, signal──▶ Ending ──1 s──▶ Leaving
//!                               │                   (the editor may go and come)                 ▲
//!                               └─ editor gone or refuses, or 1 s after the end: errors ─────────┘
//! ```
//!
//! The answer to `initialize` waits for the editor, since it has the editor's name and
//! capabilities. In any state but the last two, the end of the input or a signal leads to `Ending`.
//! In `Attaching` it does so when the editor is ready.

use crate::bridge::attachment::{Attachment, Change, Identity};
use crate::bridge::greeting::{Waiting, introduction, itself};
use crate::bridge::pipes::Pipes;
use crate::bridge::routes::{Below, OfEditor, Routes};
use crate::support::ended::ended;
use crate::support::{BadLine, Input, Line, complain};
use ide_mcp::mcp::{Forward, Lines, Server, ServerConfig, ServerEvent, ServerInfo};
use ide_mcp::rpc::{Json, NotSent, SessionId};
use ide_mcp::{Clock, Outbox, Time, To};
use ide_mcp_driver::Trust;
use ide_mcp_lockfile::{EditorSearch, FoundEditor};
use ide_mcp_mio::Waker;
use mio::{Events, Poll, Token};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::mem;
use std::time::Duration;

const PIPES: Token = Token(0);
const EDITOR: Token = Token(1);

/// If either send buffer is longer than this, the bridge reads nothing more from the client, which can wait.
pub(super) const MARK: usize = 1 << 20;

/// If the send buffer to the client is longer than this, the bridge reads nothing more from the editor. That would
/// leave the editor's pings unanswered, since they come after its messages, and the editor would close the
/// connection. So there is room for everything that an editor sends in hours, or for its largest answer.
const ROOM: usize = 64 << 20;

/// How long open requests may take after the client's input has ended.
const GRACE: Duration = Duration::from_secs(1);

/// How long the last answers and the close handshake may take. A connection allows 2 seconds for the latter.
const DRAIN: Duration = Duration::from_secs(3);

/// Why the bridge cannot continue.
pub(crate) type Failure = String;

pub(crate) struct Bridge {
    poll: Poll,
    pipes: Pipes,
    out: Lines,
    below: Below,
    attachment: Attachment,
    routes: Routes,
    /// The names of the lists that can change, as declared to the client.
    lists: Vec<&'static str>,
    stage: Stage,
    failure: Option<String>,
}

#[derive(Debug, PartialEq)]
enum Stage {
    Greeting,
    Attaching(Waiting),
    Open,
    Ending { until: Time },
    Leaving { until: Time },
}

impl Bridge {
    pub(crate) fn new(search: EditorSearch, trust: Trust, editor: FoundEditor) -> io::Result<Self> {
        let poll = Poll::new()?;
        let waker = Waker::new(poll.registry(), PIPES)?;
        let registry = poll.registry().try_clone()?;
        let nobody = Identity { info: itself(), capabilities: None };
        let config = ServerConfig::new(nobody.info.clone());
        Ok(Self {
            pipes: Pipes::new(&waker)?,
            poll,
            out: Lines::default(),
            lists: changing(&config),
            // Answers requests before `initialize`.
            below: server(config),
            attachment: Attachment::new(search, trust, editor, nobody, (registry, EDITOR)),
            routes: Routes::default(),
            stage: Stage::Greeting,
            failure: None,
        })
    }

    pub(crate) fn run(mut self) -> Result<(), Failure> {
        let (clock, mut events) = (Clock::new(), Events::with_capacity(16));
        let broken = |error: io::Error| error.to_string();
        loop {
            let now = clock.now();
            self.pipes.write(&mut self.out);
            self.see_to_editor(now);
            let all_handled = self.read_lines(now);
            if all_handled {
                self.work(now);
            }
            let has_ended = self.has_ended(now);
            self.pipes.write(&mut self.out);
            if has_ended {
                return self.failure.map_or(Ok(()), Err);
            }
            let wait = clock.until(self.deadline(clock.now(), all_handled));
            match self.poll.poll(&mut events, wait) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                polled => polled.map_err(broken)?,
            }
            for event in &events {
                self.attachment.handle(event);
            }
        }
    }

    /// Returns true if the client reads too slowly for the bridge to take more from it.
    fn is_congested(&self) -> bool {
        self.out.outgoing().len() >= MARK
    }

    /// Returns true if the bridge reads from the editor now.
    fn sees_editor(&self) -> bool {
        match self.stage {
            // A session is ready in this stage only if the bridge did not recognize its `initialize`.
            Stage::Greeting if !self.below.is_ready() => false,
            // The bridge does not forward messages of the editor in this stage, so they need no room.
            Stage::Leaving { .. } => true,
            _ => self.out.outgoing().len() < ROOM,
        }
    }

    fn see_to_editor(&mut self, now: Time) {
        if !self.sees_editor() {
            return;
        }
        let Self { attachment, routes, below, out, stage, .. } = self;
        let change = attachment.turn(now, |above, event| {
            let below = (!matches!(stage, Stage::Attaching(_))).then_some(&mut *below);
            routes.on_editor_event(event, below, above, &mut Roomy(out));
        });
        match change {
            Some(Change::Attached(info)) => self.attached(now, &info),
            Some(Change::NotConnected(reason)) => self.lost(now, reason),
            Some(Change::Lost(closed)) => {
                let reason = self.attachment.explain(&ended("the editor", &closed));
                self.lost(now, reason);
            }
            None => {}
        }
    }

    fn attached(&mut self, now: Time, info: &ServerInfo) {
        if let Stage::Attaching(waiting) = &mut self.stage {
            let Waiting { initialize, held, end } = mem::take(waiting);
            self.stage = Stage::Open;
            let config = as_editor(info);
            self.lists = changing(&config);
            self.below = server(config);
            self.below.receive(now, &initialize, &mut Roomy(&mut self.out));
            for line in held {
                self.line(now, line);
            }
            if let Some(end) = end {
                self.end(now, end.failure);
            }
        } else if self.below.is_ready() {
            complain("bridge", "the editor is back");
            self.routes.end_absence();
            // It may be another editor, or have other tools. A client that is not ready gets no notification, because
            // it has not requested the lists yet.
            for list in &self.lists {
                let method = format!("notifications/{list}/list_changed");
                let _ = self.below.notify(&method, None::<&()>, &mut Roomy(&mut self.out));
            }
        }
        self.work(now);
    }

    fn lost(&mut self, now: Time, reason: String) {
        let gave_up = self.attachment.take_reason();
        if matches!(self.stage, Stage::Attaching(_)) {
            return self.give_up(now, reason);
        }
        complain("bridge", &reason);
        if let Some(why) = gave_up {
            complain("bridge", &why);
        }
    }

    /// Ends without a session, and answers the waiting requests with the reason.
    fn give_up(&mut self, now: Time, reason: String) {
        if let Stage::Attaching(waiting) = &mut self.stage {
            mem::take(waiting).refuse(&reason, &mut Roomy(&mut self.out));
        }
        self.attachment.leave();
        self.stage = Stage::Leaving { until: now.saturating_add(DRAIN) };
        self.failure = Some(reason);
    }

    /// Handles the lines that have arrived. Returns false if some are left because there is no room for the answers.
    fn read_lines(&mut self, now: Time) -> bool {
        if self.pipes.is_signalled() || self.pipes.is_broken() {
            self.end(now, None);
        }
        loop {
            let is_held_up = match &self.stage {
                Stage::Greeting | Stage::Open => false,
                Stage::Attaching(waiting) if waiting.end.is_none() => waiting.is_full(),
                _ => return true,
            };
            if is_held_up || self.is_congested() || self.attachment.is_full() {
                return false;
            }
            match self.pipes.next() {
                None => return true,
                Some(Input::Line(Line { text: Ok(line), .. })) => self.line(now, line),
                Some(Input::Line(Line { number, text: Err(bad) })) => {
                    let problem = format!("line {number} of the input {bad}");
                    match bad {
                        // Node, which most clients run on, reads such a line in the same way.
                        BadLine::NotUtf8(text) => {
                            complain("bridge", &format!("{problem}: other bytes are read as U+FFFD"));
                            self.line(now, text);
                        }
                        BadLine::TooLong(_) => self.end(now, Some(problem)),
                    }
                }
                Some(Input::End) => self.end(now, None),
                Some(Input::Fault(reason)) => self.end(now, Some(reason)),
            }
        }
    }

    fn line(&mut self, now: Time, line: String) {
        if let Stage::Attaching(waiting) = &mut self.stage {
            return waiting.held.push_back(line);
        }
        if self.stage == Stage::Greeting
            && let Some(identity) = introduction(&line)
        {
            self.attachment.set_identity(identity, now);
            self.stage = Stage::Attaching(Waiting::new(line));
            return;
        }
        self.attachment.try_again(now);
        self.below.receive(now, &line, &mut Roomy(&mut self.out));
        self.work(now);
    }

    /// Handles the events of the client's side.
    fn work(&mut self, now: Time) {
        while let Some(event) = self.below.poll(now, &mut Roomy(&mut self.out)) {
            if matches!(event, ServerEvent::TooManyFaults) {
                self.end(now, Some("too many lines were not messages".into()));
                continue;
            }
            let above = self.attachment.client();
            self.routes.on_client_event(event, &mut self.below, above, &mut Roomy(&mut self.out));
        }
    }

    /// Ends the input: the bridge takes nothing more from the client.
    fn end(&mut self, now: Time, failure: Option<String>) {
        // Open requests get some time for their answers, if the client still reads.
        let until = if self.pipes.is_broken() { now } else { now.saturating_add(GRACE) };
        match &mut self.stage {
            Stage::Ending { .. } | Stage::Leaving { .. } => {}
            Stage::Attaching(waiting) => waiting.end_at(until, failure),
            Stage::Greeting | Stage::Open => {
                self.stage = Stage::Ending { until };
                self.failure = failure;
            }
        }
    }

    fn has_ended(&mut self, now: Time) -> bool {
        if let Stage::Attaching(waiting) = &self.stage
            && let Some(reason) = waiting.over(now)
        {
            self.give_up(now, reason);
        }
        if let Stage::Ending { until } = self.stage {
            if self.routes.open() > 0 && now < until {
                return false;
            }
            self.below.shutdown("the bridge ends", &mut Roomy(&mut self.out));
            self.work(now);
            self.routes.end_absence();
            self.routes.fail_held(self.attachment.client());
            self.attachment.leave();
            self.stage = Stage::Leaving { until: now.saturating_add(DRAIN) };
        }
        let Stage::Leaving { until } = self.stage else { return false };
        let written = self.out.outgoing().is_empty() || self.pipes.is_broken();
        written && self.attachment.is_over() || until <= now
    }

    fn deadline(&self, now: Time, all_handled: bool) -> Option<Time> {
        let editor = if self.sees_editor() { self.attachment.deadline(now) } else { None };
        let end = match &self.stage {
            Stage::Ending { until } | Stage::Leaving { until } => Some(*until),
            Stage::Attaching(waiting) => waiting.end.as_ref().map(|end| end.until),
            Stage::Greeting | Stage::Open => None,
        };
        // A line that the bridge has not handled yet may be the answer that prevents the timeout.
        let client = self.below.deadline().filter(|_| all_handled);
        editor.into_iter().chain(end).chain(client).min()
    }
}

fn server(mut config: ServerConfig) -> Below {
    config.forward = Forward::All;
    Server::new(config, OfEditor, SessionId::new(1))
}

/// Copies the name, instructions and capabilities of the editor, for the client.
fn as_editor(info: &ServerInfo) -> ServerConfig {
    let mut config = ServerConfig::new(info.info.clone().unwrap_or_else(itself));
    config.instructions.clone_from(&info.instructions);
    let declared: Option<BTreeMap<String, Json>> =
        info.capabilities.as_deref().and_then(|all| serde_json::from_str(all.get()).ok());
    for (name, value) in declared.unwrap_or_default() {
        config.capabilities.insert(name.into(), value.get().to_owned().into());
    }
    config
}

/// Returns the names of the lists that can change, as a server with this configuration declares them.
fn changing(config: &ServerConfig) -> Vec<&'static str> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct List {
        list_changed: bool,
    }
    let can_change = |name: &&str| {
        let list = config.capabilities.get(*name).and_then(|text| serde_json::from_str(text).ok());
        list.is_some_and(|list: List| list.list_changed)
    };
    let tools = config.tools_list_changed.then_some("tools");
    tools.into_iter().chain(["prompts", "resources"].into_iter().filter(can_change)).collect()
}

/// An outbox that is never full: instead, the bridge stops reading when a send buffer is too long.
struct Roomy<'a>(&'a mut Lines);

impl Outbox for Roomy<'_> {
    fn message(&mut self, to: To<'_>, write: impl FnOnce(&mut Vec<u8>)) -> Result<(), NotSent> {
        self.0.message(to, write)
    }

    fn is_full(&self) -> bool {
        false
    }
}
