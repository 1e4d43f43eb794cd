//! A client accepts pushes only some time after the answer to its list of tools, and no message marks that moment.
//! Every selection and mention must still reach the client.
#![cfg(feature = "ide")]
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::wildcard_enum_match_arm,
    reason = "a test states what it expects"
)]

#[path = "support/ide.rs"]
mod support;

use std::collections::VecDeque;
use std::time::Duration;

use ide_mcp::testing::Random;
use ide_mcp::{
    Machine, Time, Wire,
    ide::{ConnId, Host, HostConfig, HostEvent, Mention, ServerEvent, Tool, ToolSet},
};
use support::{
    CONNECTED, HEAD, INITIALIZE, INITIALIZED, at, drain, request, selection, settling, text, texts, written,
};

const SEEDS: u64 = 300;

#[test]
fn selections_and_mentions_reach_a_slow_client() {
    for seed in 0..SEEDS {
        assert_eq!(run(seed, None), Ok(()), "seed {seed}");
    }
}

#[test]
fn each_old_behaviour_loses_pushes() {
    let old = [Planted::OpensAtIdeConnected, Planted::OpensAtTheList, Planted::SendsNothingTwice];
    for planted in old {
        let lost = (0..SEEDS).filter(|seed| run(*seed, Some(planted)).is_err()).count();
        assert!(lost > 20, "{planted:?} is found by {lost} of {SEEDS} seeds");
    }
}

/// A fault of 0.1, reproduced by the layer between host and client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Planted {
    /// Pushes are sent from `ide_connected` on.
    OpensAtIdeConnected,
    /// After a change of the tools, pushes are sent as soon as the client lists them.
    OpensAtTheList,
    /// A selection equal to the previous one is not sent.
    SendsNothingTwice,
}

/// What the person and the editor do, and when.
#[derive(Clone, Debug)]
enum Act {
    Select(String),
    Mention(String),
    ChangeTools,
}

/// One life of a client and its editor, until 20 s after the last thing that the person does.
fn run(seed: u64, planted: Option<Planted>) -> Result<(), String> {
    let mut random = Random::new(seed);
    let mut below = |most: usize| u64::try_from(random.below(most)).unwrap();
    let mut acts: Vec<(Time, Act)> = Vec::new();
    for number in 0..=below(3) {
        acts.push((at(below(6_000)), Act::Select(format!("selection {number}"))));
    }
    let mentioned_at = at(below(6_000));
    for number in 0..=below(3) {
        acts.push((mentioned_at, Act::Mention(format!("/w/mention {number}"))));
    }
    for _ in 0..below(3) {
        acts.push((at(1_000 + below(6_000)), Act::ChangeTools));
    }
    acts.sort_by_key(|(time, _)| *time);
    let mut acts = VecDeque::from(acts);
    let mut client = Client::new(&mut below);
    let mut editor = Editor::new(planted);

    let end = at(27_000);
    let mut now = Time::ZERO;
    while now < end {
        while acts.front().is_some_and(|(time, _)| *time <= now) {
            editor.act(now, acts.pop_front().unwrap().1);
        }
        // Exchange messages until both sides are idle.
        loop {
            let said = client.due_messages(now);
            let received = editor.turn(now, &said);
            received.iter().for_each(|message| client.receive(now, message));
            if said.is_empty() && received.is_empty() {
                break;
            }
        }
        let due = [acts.front().map(|(time, _)| *time), client.due(), editor.due(), Some(end)];
        let next = due.into_iter().flatten().min().unwrap();
        assert!(next > now, "time stands still at {now:?}");
        now = next;
    }
    if client.mentions != editor.mentioned {
        return Err(format!("mentioned {:?}, arrived {:?}", editor.mentioned, client.mentions));
    }
    if client.shows != editor.selected {
        return Err(format!("selected {:?}, shown {:?}", editor.selected, client.shows));
    }
    Ok(())
}

/// The client as it was measured.
struct Client {
    /// True if the client lists its tools and sends `ide_connected`, as the real client does and opencode does not.
    lists: bool,
    /// Time for which the client ignores pushes after the answer to `tools/list`, or else after `initialized`.
    ignores_for: Duration,
    /// Time until the client asks for the list.
    slow: Duration,
    /// What it sends, and when.
    agenda: VecDeque<(Time, String)>,
    accepts_from: Option<Time>,
    last_mention: Option<Time>,
    shows: Option<String>,
    mentions: Vec<String>,
}

impl Client {
    fn new(below: &mut impl FnMut(usize) -> u64) -> Self {
        Self {
            lists: below(4) > 0,
            ignores_for: Duration::from_millis(40 + below(1_461)),
            slow: Duration::from_millis(1 + below(27)),
            agenda: VecDeque::from([(at(below(3_000)), INITIALIZE.to_owned())]),
            accepts_from: None,
            last_mention: None,
            shows: None,
            mentions: Vec::new(),
        }
    }

    fn due(&self) -> Option<Time> {
        self.agenda.front().map(|(time, _)| *time)
    }

    fn due_messages(&mut self, now: Time) -> Vec<String> {
        let mut due = Vec::new();
        while self.due().is_some_and(|time| time <= now) {
            due.extend(self.agenda.pop_front().map(|(_, message)| message));
        }
        due
    }

    fn receive(&mut self, now: Time, message: &str) {
        let accepts = self.accepts_from.is_some_and(|from| from <= now);
        if message.contains("protocolVersion") {
            self.agenda.push_back((now, INITIALIZED.to_owned()));
            if self.lists {
                self.agenda.push_back((now, CONNECTED.to_owned()));
                self.agenda.push_back((now.after(self.slow), request(1, "tools/list")));
            } else {
                self.accepts_from = Some(now.after(self.ignores_for));
            }
        } else if message.contains("list_changed") && self.lists {
            (self.shows, self.accepts_from) = (None, None);
            self.agenda.push_back((now.after(self.slow), request(1, "tools/list")));
        } else if message.contains(r#""tools":["#) {
            self.accepts_from = Some(now.after(self.ignores_for));
        } else if message.contains("selection_changed") && accepts {
            self.shows = member(message, "text");
        } else if message.contains("at_mentioned") {
            let is_close = self.last_mention.is_some_and(|last| now.since(last) < Duration::from_millis(100));
            self.last_mention = Some(now);
            if accepts && !is_close {
                self.mentions.extend(member(message, "filePath"));
            }
        }
    }
}

/// The host, and the layer with the planted fault.
struct Editor {
    host: Host,
    conn: Option<ConnId>,
    mentioned: Vec<String>,
    selected: Option<String>,
    planted: Option<Planted>,
    /// The time from which the layer sends pushes in place of the host, with a fault that sends them too early.
    opens_at: Option<Time>,
    has_changed: bool,
    waiting: Vec<String>,
    last_sent: Option<String>,
}

impl Editor {
    fn new(planted: Option<Planted>) -> Self {
        Self {
            host: Host::new(HostConfig::new(settling())),
            conn: None,
            mentioned: Vec::new(),
            selected: None,
            planted,
            opens_at: None,
            has_changed: false,
            waiting: Vec::new(),
            last_sent: None,
        }
    }

    /// Returns true if the layer sends the pushes in place of the host.
    fn is_replaced(&self) -> bool {
        matches!(self.planted, Some(Planted::OpensAtIdeConnected | Planted::OpensAtTheList))
    }

    fn act(&mut self, now: Time, act: Act) {
        match act {
            Act::Select(text) => {
                if self.is_replaced() {
                    self.waiting.retain(|push| !push.contains("selection_changed"));
                    self.waiting.push(format!(r#""selection_changed","text":"{text}""#));
                } else {
                    self.host.select(now, selection(&text));
                }
                self.selected = Some(text);
            }
            Act::Mention(path) => {
                if self.is_replaced() {
                    self.waiting.push(format!(r#""at_mentioned","filePath":"{path}""#));
                } else {
                    self.host.mention(now, Mention::new(&path, None), None).unwrap();
                }
                self.mentioned.push(path);
            }
            Act::ChangeTools => {
                let name = format!("tool at {now:?}");
                self.host.set_tools(ToolSet::new().handle(Tool::GetDiagnostics).own(name, "", "{}"));
            }
        }
    }

    fn due(&self) -> Option<Time> {
        let opens_at = self.opens_at.filter(|_| !self.waiting.is_empty());
        [self.host.deadline(), opens_at].into_iter().flatten().min()
    }

    /// One turn: what the client sent goes in, what the client receives comes out.
    fn turn(&mut self, now: Time, said: &[String]) -> Vec<String> {
        if !said.is_empty() && self.conn.is_none() {
            let conn = self.host.connect(now);
            self.host.wire(conn).unwrap().feed(now, HEAD.as_bytes());
            drain(&mut self.host);
            written(&mut self.host.wire(conn).unwrap());
            self.conn = Some(conn);
        }
        for message in said {
            self.host.wire(self.conn.unwrap()).unwrap().feed(now, &text(message));
        }
        self.host.tick(now);
        for event in drain(&mut self.host) {
            match event {
                HostEvent::Connection { event: ServerEvent::IdeConnected { .. }, .. }
                    if self.planted == Some(Planted::OpensAtIdeConnected) =>
                {
                    self.opens_at = Some(now);
                }
                _ => {}
            }
        }
        while self.host.poll_transmit().is_some() {}
        let Some(conn) = self.conn else { return Vec::new() };
        let mut sent = texts(&written(&mut self.host.wire(conn).unwrap()));
        while self.host.poll_transmit().is_some() {}
        self.mangle(now, &mut sent);
        sent
    }

    /// Applies the planted fault to the messages.
    fn mangle(&mut self, now: Time, sent: &mut Vec<String>) {
        for message in sent.iter() {
            let is_list = message.contains(r#""tools":["#);
            if message.contains("list_changed") {
                (self.opens_at, self.has_changed) = (None, true);
            } else if is_list && self.opens_at.is_none() {
                let at_once = self.has_changed == (self.planted == Some(Planted::OpensAtTheList));
                self.opens_at = Some(if at_once { now } else { now.after(Duration::from_millis(1_600)) });
            }
        }
        if self.is_replaced() && self.opens_at.is_some_and(|at| at <= now) {
            sent.append(&mut self.waiting);
        }
        if self.planted == Some(Planted::SendsNothingTwice) {
            let is_repeated = |message: &String| {
                let is_selection = message.contains("selection_changed");
                is_selection && self.last_sent.replace(message.clone()).as_ref() == Some(message)
            };
            let mut is_repeated = is_repeated;
            sent.retain(|message| !is_repeated(message));
        }
    }
}

/// The value of this member, a string.
fn member(message: &str, name: &str) -> Option<String> {
    let (_, value) = message.split_once(&format!(r#""{name}":""#))?;
    Some(value.split('"').next()?.to_owned())
}
