//! Pushes to a slow client. A client accepts pushes only some time after the answer to its list of
//! tools, and no message marks that moment. Every selection and mention still has to reach the
//! client.

use std::collections::VecDeque;
use std::time::Duration;

use crate::support::ide::{
    CONNECTED, HEAD, INITIALIZE, INITIALIZED, at, drain, request, selection, settling, text, texts, written,
};
use ide_mcp::testing::Random;
use ide_mcp::{
    Machine, Time, Wire,
    ide::{ConnId, Host, HostConfig, Mention, ToolSet},
};

const SEEDS: u64 = 300;

#[test]
fn selections_and_mentions_reach_a_slow_client() {
    for seed in 0..SEEDS {
        assert_eq!(run(seed, None), Ok(()), "seed {seed}");
    }
}

#[test]
fn each_old_behavior_loses_pushes() {
    let old = [Planted::OpensAtIdeConnected, Planted::OpensAtTheList, Planted::SendsNothingTwice];
    for planted in old {
        let lost = (0..SEEDS).filter(|seed| run(*seed, Some(planted)).is_err()).count();
        assert!(lost > 20, "{planted:?} is found by {lost} of {SEEDS} seeds");
    }
}

/// Checks a client that ignores pushes for longer than the last repeat. No measured client is that
/// slow.
#[test]
fn repeated_selection_reaches_a_slow_client() {
    for (planted, shown) in [(None, Some("x".to_owned())), (Some(Planted::SendsNothingTwice), None)] {
        let mut client = Client::new(&mut |_| 1);
        client.ignores_for = Duration::from_secs(9);
        let select = |seconds: u64| (at(seconds * 1_000), Act::Select("x".into()));
        let (client, editor) = live(client, Editor::new(planted), vec![select(0), select(12)]);
        assert_eq!((client.shows, editor.selected), (shown, Some("x".into())), "{planted:?}");
    }
}

/// A fault that version 0.1 had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Planted {
    /// Pushes go out once the session is initialized, and a selection goes out again only after a
    /// change of the tools.
    OpensAtIdeConnected,
    /// Pushes go out as soon as the client lists its tools, to a client that is slow only after a
    /// change of the tools.
    OpensAtTheList,
    /// A selection that equals the previous selection is not sent.
    SendsNothingTwice,
}

/// An act of the person or of the editor.
#[derive(Clone, Debug)]
enum Act {
    Select(String),
    Mention(String),
    ChangeTools,
}

/// Runs one life of a client and its editor.
fn run(seed: u64, planted: Option<Planted>) -> Result<(), String> {
    let mut random = Random::new(seed);
    let mut below = |most: usize| u64::try_from(random.below(most)).unwrap();
    let mut acts: Vec<(Time, Act)> = Vec::new();
    for _ in 0..=below(3) {
        acts.push((at(below(6_000)), Act::Select(format!("selection {}", below(2)))));
    }
    let mentioned_at = at(below(6_000));
    for number in 0..=below(3) {
        acts.push((mentioned_at, Act::Mention(format!("/w/mention {number}"))));
    }
    for _ in 0..below(3) {
        acts.push((at(1_000 + below(6_000)), Act::ChangeTools));
    }
    acts.sort_by_key(|(time, _)| *time);
    let mut client = Client::new(&mut below);
    client.is_slow_at_first = planted != Some(Planted::OpensAtTheList);
    let (client, editor) = live(client, Editor::new(planted), acts);
    if client.mentions != editor.mentioned {
        return Err(format!("mentioned {:?}, arrived {:?}", editor.mentioned, client.mentions));
    }
    if client.shows != editor.selected {
        return Err(format!("selected {:?}, shown {:?}", editor.selected, client.shows));
    }
    Ok(())
}

/// Runs both sides for 27 s, while the person acts.
fn live(mut client: Client, mut editor: Editor, acts: Vec<(Time, Act)>) -> (Client, Editor) {
    let mut acts = VecDeque::from(acts);
    let end = at(27_000);
    let mut now = Time::ZERO;
    while now < end {
        while acts.front().is_some_and(|(time, _)| *time <= now) {
            editor.act(now, acts.pop_front().unwrap().1);
        }
        // Exchange messages until both sides are idle.
        loop {
            let sent = client.due_messages(now);
            let received = editor.turn(now, &sent);
            received.iter().for_each(|message| client.receive(now, message));
            if sent.is_empty() && received.is_empty() {
                break;
            }
        }
        let due = [acts.front().map(|(time, _)| *time), client.due(), editor.host.deadline(), Some(end)];
        let next = due.into_iter().flatten().min().unwrap();
        assert!(next > now, "time stands still at {now:?}");
        now = next;
    }
    (client, editor)
}

/// A model of the measured clients.
struct Client {
    /// True if it lists tools and sends `ide_connected`. One measured client does, another does not.
    lists: bool,
    /// The time for which it ignores pushes after the answer to its list, or else after `initialized`.
    ignores_for: Duration,
    /// True if it ignores pushes before the first change of the tools too.
    is_slow_at_first: bool,
    has_changed: bool,
    /// The delay before it requests the list.
    slow: Duration,
    /// The messages that it sends, each with its time.
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
            is_slow_at_first: true,
            has_changed: false,
            slow: Duration::from_millis(1 + below(27)),
            agenda: VecDeque::from([(at(below(3_000)), INITIALIZE.to_owned())]),
            accepts_from: None,
            last_mention: None,
            shows: None,
            mentions: Vec::new(),
        }
    }

    fn ignores_for(&self) -> Duration {
        if self.is_slow_at_first || self.has_changed { self.ignores_for } else { Duration::ZERO }
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
                self.agenda.push_back((now.saturating_add(self.slow), request(1, "tools/list")));
            } else {
                self.accepts_from = Some(now.saturating_add(self.ignores_for()));
            }
        } else if message.contains("list_changed") && self.lists {
            (self.shows, self.accepts_from, self.has_changed) = (None, None, true);
            self.agenda.push_back((now.saturating_add(self.slow), request(1, "tools/list")));
        } else if message.contains(r#""tools":["#) {
            self.accepts_from = Some(now.saturating_add(self.ignores_for()));
        } else if message.contains("selection_changed") && accepts {
            self.shows = member(message, "text");
        } else if message.contains("at_mentioned") {
            let is_close =
                self.last_mention.is_some_and(|last| now.saturating_since(last) < Duration::from_millis(100));
            self.last_mention = Some(now);
            if accepts && !is_close {
                self.mentions.extend(member(message, "filePath"));
            }
        }
    }
}

/// The host, and a layer that removes the messages that version 0.1 did not send.
struct Editor {
    host: Host,
    conn: Option<ConnId>,
    mentioned: Vec<String>,
    selected: Option<String>,
    planted: Option<Planted>,
    last_sent: Option<String>,
    changes: u32,
}

impl Editor {
    fn new(planted: Option<Planted>) -> Self {
        let mut config = settling();
        if matches!(planted, Some(Planted::OpensAtIdeConnected | Planted::OpensAtTheList)) {
            config.settle = Some(Duration::ZERO);
        }
        Self {
            host: Host::new(HostConfig::new(config)),
            conn: None,
            mentioned: Vec::new(),
            selected: None,
            planted,
            last_sent: None,
            changes: 0,
        }
    }

    fn act(&mut self, now: Time, act: Act) {
        match act {
            Act::Select(text) => {
                self.host.select(now, selection(&text));
                self.selected = Some(text);
            }
            Act::Mention(path) => {
                self.host.mention(now, Mention::new(&path, None), None).unwrap();
                self.mentioned.push(path);
            }
            Act::ChangeTools => {
                self.changes += 1;
                let name = format!("tool {}", self.changes);
                self.host.set_tools(ToolSet::new().custom(name, "A tool", "{}"));
            }
        }
    }

    /// Runs one turn: takes the messages of the client, and returns the messages for the client.
    fn turn(&mut self, now: Time, sent: &[String]) -> Vec<String> {
        if !sent.is_empty() && self.conn.is_none() {
            let conn = self.host.connect(now);
            self.host.wire(conn).unwrap().feed(now, HEAD.as_bytes());
            drain(&mut self.host);
            written(&mut self.host.wire(conn).unwrap());
            self.conn = Some(conn);
        }
        for message in sent {
            self.host.wire(self.conn.unwrap()).unwrap().feed(now, &text(message));
        }
        self.host.tick(now);
        drain(&mut self.host);
        let received = self.conn.map(|conn| texts(&written(&mut self.host.wire(conn).unwrap())));
        while self.host.poll_transmit().is_some() {}
        let mut received = received.unwrap_or_default();
        received.retain(|message| self.was_sent(message));
        received
    }

    /// Returns true if the planted fault does not remove this message.
    fn was_sent(&mut self, message: &str) -> bool {
        let changes_repeat = self.planted != Some(Planted::SendsNothingTwice);
        if message.contains("list_changed") && changes_repeat {
            self.last_sent = None;
        }
        let is_selection = message.contains("selection_changed") && self.planted.is_some();
        !is_selection || self.last_sent.replace(message.to_owned()).as_deref() != Some(message)
    }
}

/// Returns the value of this member, a string.
fn member(message: &str, name: &str) -> Option<String> {
    let (_, value) = message.split_once(&format!(r#""{name}":""#))?;
    Some(value.split('"').next()?.to_owned())
}
