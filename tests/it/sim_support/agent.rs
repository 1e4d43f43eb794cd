//! An agent that keeps all rules: it attaches, sends requests, cancels, answers, leaves, and comes
//! back as [`Reconnect`] decides.

use std::{collections::BTreeMap, time::Duration};

use ide_mcp::ide::discovery::{Backoff, GaveUp, Reconnect};
use ide_mcp::ide::tool::{
    CloseAllDiffTabs, CloseTab, DirectRequest, GetDiagnostics, OpenDiff, OpenFile, OtherTool, ReadFile,
};
use ide_mcp::{
    Output, Time,
    ide::{Client, ClientEvent, Push},
    mcp::{FieldValue, FormAnswer, GetPrompt, Outcome, ProtocolVersion, ReadResource, Root, Timeout},
    rpc::{CallId, ErrorObject, NotAnswered, NotSent, RequestId, SessionId},
    testing::Random,
    ws::{Closed, NotAccepted},
};
use serde_json::value::RawValue;

use super::{
    network::{Cable, Clock},
    oracle::{Invariant as I, Oracle},
    plan::{Folders, Plan},
    plant::Bug,
    tap::{edition_in, is_odd, nonce, nonce_in, selection_in},
};

/// The names of tabs. All agents use these names, so that an answer to the wrong agent is noticed.
const TABS: [&str; 3] = ["a", "b", "✻ [Claude Code] a (c5bbaf) ⧉"];

/// A request that has not ended.
#[derive(Debug)]
struct Wanted {
    nonce: Option<String>,
    deadline: Option<Time>,
    idle: Duration,
    latest: Time,
    reached: f64,
}

/// A request of the editor.
#[derive(Clone, Debug)]
enum EditorRequest {
    Folders,
    /// A form with this mark.
    Form(String),
    Other,
}

/// An agent: a process, and the processes that replace it.
pub struct Agent {
    pub index: usize,
    pub client: Option<Client>,
    pub clock: Clock,
    pub reconnect: Reconnect,
    /// The end of its suspension, in the time of the world.
    pub asleep_until: Option<Time>,
    random: Random,
    version: ProtocolVersion,
    sessions: u64,
    requests: BTreeMap<RequestId, Wanted>,
    folders: Folders,
    shows_forms: bool,
    calls: Vec<(CallId, EditorRequest)>,
    ended_calls: Vec<(CallId, NotAnswered)>,
    /// The selection that the agent shows; `None` until a selection arrives.
    pub shows: Option<u64>,
    pub is_ready: bool,
    /// True if the connection of the client is over.
    pub is_over: bool,
    pub gave_up: Option<GaveUp>,
    /// True if the tools have changed and the agent has not listed them again.
    relists: bool,
    /// True if the tools have ever changed. From then on, each list makes the agent forget the
    /// selection; an editor cannot determine which list does so in the real client.
    forgets: bool,
    /// The time for which the agent ignores pushes after the answer to `tools/list`.
    ignores_for: Option<Duration>,
    /// When the agent stops ignoring pushes.
    ignores_until: Time,
    listed_at: Time,
    mentioned_at: Option<Time>,
    bug: Option<Bug>,
}

impl Agent {
    pub fn new(index: usize, seed: u64, plan: &Plan, bug: Option<Bug>) -> Self {
        let mut random = Random::new(seed);
        let versions = [
            ProtocolVersion::V2024_11_05,
            ProtocolVersion::V2025_03_26,
            ProtocolVersion::V2025_06_18,
            ProtocolVersion::V2025_11_25,
        ];
        Self {
            index,
            client: None,
            clock: Clock::new(plan.shaky, random.number()),
            reconnect: Reconnect::new(Backoff::default(), Time::ZERO),
            asleep_until: None,
            version: versions[random.below(4)],
            random,
            sessions: 0,
            requests: BTreeMap::new(),
            folders: [Folders::Undeclared, Folders::Session, Folders::Application][index % 3],
            shows_forms: index % 4 != 1,
            calls: Vec::new(),
            ended_calls: Vec::new(),
            shows: None,
            is_ready: false,
            is_over: false,
            gave_up: None,
            relists: false,
            forgets: false,
            ignores_for: plan.ignores_for,
            ignores_until: Time::ZERO,
            listed_at: Time::ZERO,
            mentioned_at: None,
            bug,
        }
    }

    /// Starts a process that replaces one that is gone.
    pub fn start(&mut self, now: Time) {
        self.reconnect = Reconnect::new(Backoff::default(), self.clock.time_at(now));
        self.gave_up = None;
    }

    /// Returns the time of the next connection, in the time of the world.
    pub fn connects_at(&self) -> Option<Time> {
        let due =
            self.reconnect.next_attempt().filter(|_| self.client.is_none() && self.gave_up.is_none())?;
        Some(self.clock.shows(due))
    }

    /// Connects to the editor.
    pub fn connect(&mut self, now: Time, plan: &Plan) {
        self.sessions += 1;
        self.reconnect.on_attempt();
        let session = SessionId::new(self.sessions);
        let time = self.clock.time_at(now);
        let config = plan.client(self.version, self.folders, self.shows_forms);
        let client = Client::new(config, Random::new(self.random.number()).source(), session, time);
        self.client = Some(client.unwrap());
        self.forget();
    }

    /// Records that no editor listens.
    pub fn found_nobody(&mut self, now: Time) {
        let time = self.clock.time_at(now);
        self.reconnect.on_attempt();
        self.gave_up = self.reconnect.on_disconnected(time, &Closed::Abnormal).err();
    }

    /// Ends the process.
    pub fn die(&mut self) {
        self.client = None;
        self.forget();
        self.gave_up = Some(GaveUp::Closed);
    }

    fn forget(&mut self) {
        self.requests.clear();
        self.calls.clear();
        self.ended_calls.clear();
        (self.shows, self.is_ready, self.relists, self.forgets) = (None, false, false, false);
        self.mentioned_at = None;
        self.is_over = false;
    }

    pub const fn is_awake(&self) -> bool {
        self.asleep_until.is_none()
    }

    /// Returns the deadline of the next turn of the loop of the agent, in the time of the world.
    pub fn due(&self) -> Option<Time> {
        Some(self.clock.shows(self.client.as_ref()?.deadline()?))
    }

    /// Runs one turn of the loop of the agent, whose socket is one end of `cable` and takes bytes if `writes` is true.
    /// Returns true if anything happened.
    pub fn turn(&mut self, now: Time, cable: &mut Cable, writes: bool, oracle: &mut Oracle) -> bool {
        let latest = self.clock.time_at(now);
        let (mut time, mut any) = (latest, false);
        while let Some(client) = &mut self.client {
            let announced = client.deadline().is_some_and(|due| due <= latest);
            match client.poll(time) {
                Output::Event(event) => {
                    oracle.claim(announced, I::NothingUnseen, || {
                        format!("agent {}: {event:?} was not announced", self.index)
                    });
                    oracle.note(|| {
                        format!("agent {}: {}", self.index, super::ledger::short(&format!("{event:?}")))
                    });
                    any = true;
                    self.on_event(latest, event, oracle);
                }
                Output::Write { bytes, .. } => {
                    let mut n = 0;
                    if writes {
                        n = cable.up.write(now, bytes);
                        cable.up_is_full = n < bytes.len();
                    }
                    client.written(n);
                    any |= n > 0;
                }
                Output::Close(()) => {
                    oracle.claim(announced && !self.is_over, I::OneEnding, || {
                        format!("agent {}: closed again, or not announced", self.index)
                    });
                    self.is_over = true;
                    any = true;
                    cable.up.finish();
                    cable.down.abandon();
                }
                Output::Wait(due) => {
                    oracle.claim(due.is_none_or(|due| due > latest), I::ClockMovesOn, || {
                        format!("agent {}: due at {due:?} after a turn at {latest:?}", self.index)
                    });
                    break;
                }
            }
            // A pass has the time of its first poll, even if the clock shows an earlier one later.
            time = self.clock.read(now);
        }
        self.check(latest, oracle);
        any
    }

    fn on_event(&mut self, time: Time, event: ClientEvent, oracle: &mut Oracle) {
        match event {
            ClientEvent::Ready(server) => {
                let chosen = server.protocol_version;
                oracle.claim(chosen == self.version, I::Negotiation, || {
                    format!("{chosen} for {}", self.version)
                });
                self.reconnect.on_connected();
                self.is_ready = true;
                self.ignore_pushes(time);
                oracle.hit("agent attached");
                if self.sessions > 1 {
                    oracle.hit("agent attached again");
                }
            }
            ClientEvent::Failed(_) => oracle.hit("agent: the session could not be opened"),
            ClientEvent::Outcome { request, outcome } => self.outcome(time, request, &outcome, oracle),
            ClientEvent::Progress { request, progress } => {
                let reached = progress.progress;
                let Some(wanted) = self.requests.get_mut(&request) else {
                    return oracle
                        .claim(false, I::Progress, || format!("{request:?} goes on, and has ended"));
                };
                oracle.claim(reached > wanted.reached, I::Progress, || {
                    format!("{reached} after {}", wanted.reached)
                });
                wanted.reached = reached;
                wanted.deadline = Some(time.saturating_add(wanted.idle).min(wanted.latest));
                oracle.hit("progress received");
            }
            ClientEvent::Request { call, method, .. } => {
                let is_for_folders = &*method == "roots/list";
                self.pending(
                    call,
                    if is_for_folders { EditorRequest::Folders } else { EditorRequest::Other },
                    oracle,
                );
            }
            ClientEvent::Form { call, form } => self.pending(call, EditorRequest::Form(form.message), oracle),
            ClientEvent::CallEnded { call, .. } => {
                let known = self.position(call).map(|at| self.calls.remove(at));
                oracle.claim(known.is_some(), I::AnsweredOnce, || format!("{call:?} ends twice"));
                oracle.hit("agent's call ended");
            }
            ClientEvent::Pushed(Push::SelectionChanged(selection)) => {
                if time >= self.ignores_until {
                    self.shows = Some(selection_in(&selection.text).unwrap_or(0));
                } else {
                    oracle.hit("agent ignores a selection");
                }
            }
            ClientEvent::Pushed(Push::AtMentioned(_)) => {
                let gap = self.mentioned_at.replace(time).map(|last| time.saturating_since(last));
                let is_close = gap.is_some_and(|gap| gap < Duration::from_millis(100));
                let is_lost = self.ignores_for.is_some() && (is_close || time < self.ignores_until);
                oracle.claim(!is_lost, I::Mentions, || {
                    format!("a mention {gap:?} after the last one, ignored until {:?}", self.ignores_until)
                });
                oracle.hit("agent receives a mention");
            }
            ClientEvent::ToolsChanged => {
                // The real client forgets the selection too.
                (self.shows, self.relists, self.forgets) = (None, true, true);
            }
            ClientEvent::Closed(closed) => self.closed(time, &closed, oracle),
            ClientEvent::PeerFault(violation) => {
                oracle.hit("agent sees a violation");
                oracle.note(|| format!("agent {}: {violation}", self.index));
            }
            _ => {}
        }
    }

    fn outcome(&mut self, time: Time, request: RequestId, outcome: &Outcome, oracle: &mut Oracle) {
        if self.bug == Some(Bug::AgentForgetsAnOutcome) && matches!(outcome, Outcome::Closed) {
            return;
        }
        let Some(wanted) = self.requests.remove(&request) else {
            return oracle.claim(false, I::OneOutcome, || format!("{request:?} ends twice: {outcome:?}"));
        };
        oracle.hit(match outcome {
            Outcome::Result(_) => "outcome: result",
            Outcome::Error(_) => "outcome: error",
            Outcome::TimedOut => "outcome: timed out",
            Outcome::Cancelled => "outcome: cancelled",
            Outcome::Closed => "outcome: closed",
            _ => "outcome: malformed",
        });
        let early = matches!(outcome, Outcome::TimedOut) && wanted.deadline.is_none_or(|due| due > time);
        oracle.claim(!early, I::RequestDeadline, || {
            format!("{request:?} times out before {:?}", wanted.deadline)
        });
        if let Outcome::Result(result) = outcome {
            if edition_in(result.get()).is_some() {
                self.shows.take_if(|_| self.forgets);
                self.ignore_pushes(time);
            }
            let mark = nonce_in(result.get());
            oracle.claim(mark.is_none() || mark == wanted.nonce.as_deref(), I::CrossTalk, || {
                format!("{:?} is answered {}", wanted.nonce, result.get())
            });
        }
    }

    /// Ignores pushes for a while, as the real client does.
    fn ignore_pushes(&mut self, time: Time) {
        self.ignores_until =
            self.ignores_for.map_or(Time::ZERO, |ignores_for| time.saturating_add(ignores_for));
    }

    fn closed(&mut self, time: Time, closed: &Closed, oracle: &mut Oracle) {
        oracle.claim(self.requests.is_empty(), I::OneOutcome, || {
            format!("{} requests of agent {} outlive their connection", self.requests.len(), self.index)
        });
        oracle.claim(self.calls.is_empty(), I::AnsweredOnce, || {
            format!("{} calls of agent {} outlive their connection", self.calls.len(), self.index)
        });
        let ours = match closed {
            Closed::NotAccepted(why) => {
                !matches!(why, NotAccepted::Status(503 | 408, _) | NotAccepted::TimedOut)
            }
            _ => matches!(closed, Closed::ProtocolError(_) | Closed::InputOverflow | Closed::Entropy),
        };
        oracle.claim(!ours, I::Reconnect, || format!("agent {} is honest, and gets {closed:?}", self.index));
        self.is_ready = false;
        match self.reconnect.on_disconnected(time, closed) {
            Ok(_) => oracle.hit("agent tries again"),
            Err(why) => {
                self.gave_up = Some(why);
                oracle.hit("agent gives up");
            }
        }
        oracle.hit(match closed {
            Closed::Remote { .. } => "agent: closed by the editor",
            Closed::Local { .. } => "agent: closed by itself",
            Closed::Abnormal => "agent: vanished",
            Closed::TimedOut => "agent: timed out",
            Closed::Stalled => "agent: stalled",
            Closed::NotAccepted(_) => "agent: not accepted",
            _ => "agent: closed otherwise",
        });
    }

    /// Checks that no request is overdue after a turn, unless unwritten output stops the timers.
    fn check(&self, time: Time, oracle: &mut Oracle) {
        let blocked = self.is_over || self.client.as_ref().is_none_or(Client::wants_output);
        let overdue = self
            .requests
            .iter()
            .find(|(_, wanted)| !blocked && wanted.deadline.is_some_and(|due| due <= time));
        oracle.claim(overdue.is_none(), I::RequestDeadline, || {
            format!("agent {}: overdue {overdue:?}", self.index)
        });
    }

    fn pending(&mut self, call: CallId, pending: EditorRequest, oracle: &mut Oracle) {
        self.calls.push((call, pending));
        if self.random.one_in(2) {
            self.respond(call, oracle);
        }
    }

    fn position(&self, call: CallId) -> Option<usize> {
        self.calls.iter().position(|(open, _)| *open == call)
    }

    /// Answers a request of the editor, open or not. The accepted answer to a form with an odd mark deliberately does
    /// not fit the form.
    fn respond(&mut self, call: CallId, oracle: &mut Oracle) {
        let (open, dice) = (self.position(call), self.random.below(6));
        let Some(client) = &mut self.client else { return };
        let pending = open.map_or(EditorRequest::Other, |at| self.calls[at].1.clone());
        let raw = |text: &str| RawValue::from_string(text.into()).unwrap();
        let done = match (&pending, dice) {
            (EditorRequest::Other, _) => client.respond_raw(call, &raw("{}")),
            (_, 0) => client.fail(call, ErrorObject::new(-7, "no")),
            (EditorRequest::Folders, 1) => client.respond_raw(call, &raw(r#"{"roots":7}"#)),
            (EditorRequest::Folders, folder) => {
                let folder = format!(r#"{{"roots":[{{"uri":"file:///w/{}-{folder}"}}]}}"#, self.index);
                client.respond_raw(call, &raw(&folder))
            }
            (EditorRequest::Form(mark), 1) if is_odd(mark) => {
                client.respond_raw(call, &raw(r#"{"action":"later"}"#))
            }
            (EditorRequest::Form(_), 4) => client.answer_form(call, &FormAnswer::Declined),
            (EditorRequest::Form(_), 5) => client.answer_form(call, &FormAnswer::Cancelled),
            (EditorRequest::Form(mark), _) => {
                let number = if is_odd(mark) { 10 } else { 9 };
                let values = [("mark", FieldValue::from(mark.as_str())), ("n", number.into())];
                let values = values.map(|(name, value)| (name.to_owned(), value));
                client.answer_form(call, &FormAnswer::Accepted(values.into()))
            }
        };
        match (done, open) {
            (Ok(()), Some(at)) => {
                self.calls.remove(at);
                self.ended_calls.push((call, NotAnswered::Answered));
                oracle.hit("agent answers");
            }
            (Err(NotAnswered::Closed), _) | (Err(_), None) => oracle.hit("agent's answer refused"),
            (done, open) => {
                oracle.claim(false, I::StaleHandles, || format!("{call:?}: {done:?}, open {open:?}"))
            }
        }
    }

    /// Performs one random action of an agent, after a turn of its loop.
    pub fn act(&mut self, now: Time, serial: u64, plan: &Plan, oracle: &mut Oracle) {
        let time = self.clock.time_at(now);
        let Some(client) = &mut self.client else { return };
        let mark = nonce(serial);
        let tab = TABS[self.random.below(3)];
        let default = Some(plan.request_timeout);
        let mut progress = None;
        let (pending, span) = match self.random.below(22) {
            0..=4 => {
                let text = format!("{mark}{}", "x".repeat(plan.text_len(&mut self.random)));
                (client.call_tool(&OpenDiff::new("/w/a", text, tab)).map(|pending| pending.id()), None)
            }
            5 => (client.call_tool(&CloseTab::new(tab)).map(|pending| pending.id()), default),
            6 => (client.call_tool(&CloseAllDiffTabs).map(|pending| pending.id()), default),
            7 | 8 => {
                let query = GetDiagnostics::new(Some(format!("file:///w/{mark}")));
                (client.call_tool(&query).map(|pending| pending.id()), default)
            }
            9 | 10 => {
                (client.call_tool(&OpenFile::new(format!("/w/{mark}"))).map(|pending| pending.id()), default)
            }
            11 | 12 => {
                let arguments = RawValue::from_string(format!(r#"{{"n":"{mark}"}}"#)).unwrap();
                let name = if self.random.one_in(4) { "nobody" } else { "countLines" };
                (client.call_tool(&OtherTool::new(name, arguments)).map(|pending| pending.id()), default)
            }
            13 => {
                let (idle, total) = (Duration::from_millis(1_500), Duration::from_secs(4));
                progress = Some((idle, total));
                let params = serde_json::json!({ "name": "countLines", "arguments": { "n": &mark } });
                (client.request("tools/call", Some(&params), Timeout::Progress { idle, total }), Some(idle))
            }
            // After each list, the editor waits for the agent to accept pushes. So the agent lists the
            // tools at most every 2 s.
            14 if self.ignores_for.is_some()
                && time.saturating_since(self.listed_at) < Duration::from_secs(2) =>
            {
                return;
            }
            14 => {
                self.listed_at = time;
                (client.list_tools().map(|pending| pending.id()), default)
            }
            15 => {
                let method = ["ping", "resources/list", "prompts/list", "server/discover", "x/unknown"];
                (client.request(method[self.random.below(5)], None::<&()>, Timeout::Default), default)
            }
            16 if self.random.one_in(3) => {
                oracle.hit("agent gets prompt");
                let prompt = GetPrompt::new("prompt").argument("mark", &*mark);
                (client.get_prompt(&prompt).map(|pending| pending.id()), default)
            }
            16 if self.random.one_in(2) => {
                oracle.hit("agent reads resource");
                let resource = ReadResource::new(format!("mark:{mark}"));
                (client.read_resource(&resource).map(|pending| pending.id()), default)
            }
            16 => (
                client.request_direct(&DirectRequest::ReadFile(ReadFile::new(format!("/w/{mark}")))),
                default,
            ),
            17 if self.folders != Folders::Undeclared && self.random.one_in(2) => {
                let folder = Root::new(format!("file:///w/{}-{serial}", self.index));
                let changed = match self.folders {
                    Folders::Session => client.set_roots(vec![folder]),
                    _ => client.notify("notifications/roots/list_changed", None::<&()>),
                };
                return oracle.note(|| format!("agent {} changes its folders: {changed:?}", self.index));
            }
            17 => {
                let sent = client.notify("notifications/unknown", None::<&()>);
                return oracle.note(|| format!("agent {} sends a notification: {sent:?}", self.index));
            }
            18 | 19 => return self.cancel(oracle),
            20 => {
                let call = self.calls.get(self.random.below(self.calls.len())).map(|(call, _)| *call);
                let ended =
                    self.ended_calls.get(self.random.below(self.ended_calls.len())).map(|(call, _)| *call);
                return call.or(ended).into_iter().for_each(|call| self.respond(call, oracle));
            }
            _ => {
                client.close();
                return oracle.hit("agent closes");
            }
        };
        match pending {
            Ok(request) => {
                oracle.note(|| format!("agent {} asks {mark} as {request:?}", self.index));
                let (idle, total) = progress.unwrap_or((Duration::MAX, Duration::MAX));
                let span =
                    if self.bug == Some(Bug::AgentGivesUpEarly) { span.map(|span| span * 2) } else { span };
                self.requests.insert(
                    request,
                    Wanted {
                        nonce: Some(mark),
                        deadline: span.map(|span| time.saturating_add(span)),
                        idle,
                        latest: time.saturating_add(total),
                        reached: f64::NEG_INFINITY,
                    },
                );
                oracle.hit("agent asks");
            }
            Err(error) => oracle.hit(match error {
                NotSent::NotReady => "agent refused: not ready",
                NotSent::Full => "agent refused: full",
                NotSent::TooManyInFlight => "agent refused: too many in flight",
                _ => "agent refused: closed",
            }),
        }
    }

    fn cancel(&mut self, oracle: &mut Oracle) {
        let request = self.requests.keys().nth(self.random.below(self.requests.len())).copied();
        let (Some(request), Some(client)) = (request, &mut self.client) else { return };
        let waited = client.cancel(request, Some("never mind"));
        if self.bug == Some(Bug::AgentCancelsTwice) && waited {
            let params = serde_json::json!({ "requestId": 1 });
            let _ = client.notify("notifications/cancelled", Some(&params));
        }
        // Possibly the event of the end has not been polled yet.
        oracle.note(|| format!("agent {} gives up {request:?}: {waited}", self.index));
        oracle.hit("agent cancels");
    }

    /// Lists the tools again after a change, as the real client does.
    pub fn relist(&mut self, plan: &Plan) {
        let time = self.clock.latest();
        let Some(client) = self.client.as_mut().filter(|_| self.relists) else { return };
        if let Ok(request) = client.list_tools().map(|pending| pending.id()) {
            let deadline = Some(time.saturating_add(plan.request_timeout));
            let (idle, latest) = (Duration::MAX, time.saturating_add(Duration::MAX));
            self.requests.insert(request, Wanted { nonce: None, deadline, idle, latest, reached: 0.0 });
            self.relists = false;
        }
    }
}
