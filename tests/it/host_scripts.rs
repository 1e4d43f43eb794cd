//! Random scripts of three clients of one host. The acts of one client never touch the diffs of
//! another (I35), every decided diff is answered (I37), and each client gets the selection, but not
//! before it is initialized (I38).

use std::collections::BTreeMap;
use std::time::Duration;

use crate::support::ide::{
    CONNECTED, HEAD, INITIALIZE, INITIALIZED, call, close_tab, config, drain, open_diff, request, selection,
    text, texts, tools, written,
};
use ide_mcp::ide::{
    AgentId, ConnId, DiffEnd, DiffOutcome, Host, HostConfig, HostEvent, ServerEvent, ToolCall,
};
use ide_mcp::mcp::ToolResult;
use ide_mcp::rpc::{CallId, NotOpen};
use ide_mcp::testing::Random;
use ide_mcp::{Machine, Time, Wire};

const TABS: [&str; 3] = ["a", "b", "✻ [Claude Code] a (c5bbaf) ⧉"];

/// A client and its own view of the connection.
#[derive(Default)]
struct Client {
    conn: Option<ConnId>,
    /// The number of steps that it has sent of: head, `initialize`, `initialized`, `ide_connected`.
    said: usize,
    /// The open diffs: request id to tab.
    diffs: BTreeMap<u32, &'static str>,
    /// The requests without an answer so far.
    asked: BTreeMap<u32, Asked>,
    /// The selection that it shows.
    shows: Option<String>,
    /// True if it received `tools/list_changed` and has not listed the tools since.
    relists: bool,
}

#[derive(Debug, PartialEq)]
enum Asked {
    Diff,
    CloseTab,
    CloseAll(usize),
    /// True if a change of the tools caused the list: then the client forgets the selection by the
    /// time it has the list.
    Tools(bool),
}

struct World {
    host: Host,
    now: Time,
    clients: [Client; 3],
    /// The diffs that the editor shows, each with its client and request id.
    shown: BTreeMap<CallId, (usize, u32)>,
    next_id: u32,
    selected: Option<String>,
    seed: u64,
}

#[test]
fn i35_i37_i38_hold_in_random_scripts() {
    let mut ends = BTreeMap::new();
    for seed in 0..10_000 {
        let mut world = World::new(seed);
        let mut random = Random::new(seed);
        for _ in 0..60 {
            for end in world.step(&mut random) {
                *ends.entry(end).or_insert(0_u32) += 1;
            }
        }
        world.finish();
    }
    // The scripts have reached each of these ends of a diff.
    for how in ["TabClosed", "AllClosed", "Cancelled", "Disconnected", "decided"] {
        assert!(ends.get(how).is_some_and(|count| *count > 1000), "{how}: {ends:?}");
    }
}

impl World {
    fn new(seed: u64) -> Self {
        let mut config = HostConfig::new(config());
        config.server.ws.keepalive = None;
        Self {
            host: Host::new(config),
            now: Time::ZERO,
            clients: <[Client; 3]>::default(),
            shown: BTreeMap::new(),
            next_id: 0,
            selected: None,
            seed,
        }
    }

    /// Performs one random act and everything that follows from it. Returns how diffs ended.
    fn step(&mut self, random: &mut Random) -> Vec<&'static str> {
        let who = random.below(3);
        let ready = self.clients[who].said >= 3;
        let diffs: Vec<u32> = self.clients[who].diffs.keys().copied().collect();
        let tab = TABS[random.below(3)];
        match random.below(16) {
            0..=3 if !ready => self.go_on(who),
            0..=3 => self.say(who, |id| (open_diff(id, tab), Some(Asked::Diff)), Some(tab)),
            4 | 5 if ready => {
                let ended = self.ids(who, |of| of == tab);
                self.say(who, |id| (close_tab(id, tab), Some(Asked::CloseTab)), None);
                return self.settle(who, &ended, DiffEnd::TabClosed);
            }
            6 if ready => {
                let ended = self.ids(who, |_| true);
                let count = ended.len();
                self.say(who, |id| (call(id, "closeAllDiffTabs", "{}"), Some(Asked::CloseAll(count))), None);
                return self.settle(who, &ended, DiffEnd::AllClosed);
            }
            7 if !diffs.is_empty() => {
                let id = diffs[random.below(diffs.len())];
                self.clients[who].asked.remove(&id);
                let cancel = format!(
                    r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
                );
                self.feed(who, &text(&cancel));
                return self.settle(who, &[id], DiffEnd::Cancelled);
            }
            8 if self.clients[who].conn.is_some() => return self.kill(who),
            9 | 10 if !self.shown.is_empty() => {
                let at = random.below(self.shown.len());
                let (call, (of, id)) = self.shown.iter().nth(at).map(|(call, of)| (*call, *of)).unwrap();
                let tab_name = self.clients[of].diffs[&id].to_owned();
                let outcome = match random.one_in(2) {
                    true => DiffOutcome::Accepted { contents: "x".into() },
                    false => DiffOutcome::Rejected { tab_name },
                };
                assert_eq!(
                    self.host.call(call).respond(&ToolResult::diff(&outcome)),
                    Ok(()),
                    "seed {}",
                    self.seed
                );
                assert_eq!(
                    self.host.call(call).respond(&ToolResult::diff(&outcome)),
                    Err(NotOpen::Answered.into()),
                    "seed {}",
                    self.seed
                );
                self.shown.remove(&call);
                self.clients[of].diffs.remove(&id);
                self.settle(of, &[], DiffEnd::ShutDown);
                return vec!["decided"];
            }
            11 | 12 => {
                let said = format!("{}", random.below(1000));
                self.host.select(self.now, selection(&said));
                self.selected = Some(said);
            }
            13 => self.host.set_tools(tools()),
            14 if ready => {
                let relists = std::mem::take(&mut self.clients[who].relists);
                self.say(who, |id| (request(id, "tools/list"), Some(Asked::Tools(relists))), None);
            }
            _ => {
                self.now = self.now.saturating_add(Duration::from_millis(random.number() % 400));
                self.host.tick(self.now);
            }
        }
        self.settle(who, &[], DiffEnd::ShutDown)
    }

    fn ids(&self, who: usize, which: impl Fn(&str) -> bool) -> Vec<u32> {
        self.clients[who].diffs.iter().filter(|diff| which(diff.1)).map(|diff| *diff.0).collect()
    }

    /// Takes the next step of the handshakes of a client, on a new connection if it has none.
    fn go_on(&mut self, who: usize) {
        if self.clients[who].conn.is_none() {
            self.clients[who] = Client { conn: Some(self.host.connect(self.now)), ..Client::default() };
        }
        let said = self.clients[who].said;
        let bytes = match said {
            0 => HEAD.as_bytes().to_vec(),
            1 => text(INITIALIZE),
            2 => text(INITIALIZED),
            _ => text(CONNECTED),
        };
        self.clients[who].said = said + 1;
        self.feed(who, &bytes);
    }

    fn say(
        &mut self,
        who: usize,
        what: impl FnOnce(u32) -> (String, Option<Asked>),
        tab: Option<&'static str>,
    ) {
        // In half of the cases `ide_connected` comes late.
        if self.clients[who].said == 3 && self.next_id % 2 == 0 {
            self.go_on(who);
        }
        self.next_id += 1;
        let id = self.next_id;
        let (said, asked) = what(id);
        let client = &mut self.clients[who];
        client.asked.extend(asked.map(|asked| (id, asked)));
        client.diffs.extend(tab.map(|tab| (id, tab)));
        self.feed(who, &text(&said));
    }

    fn feed(&mut self, who: usize, bytes: &[u8]) {
        let conn = self.clients[who].conn.unwrap();
        self.host.wire(conn).unwrap().feed(self.now, bytes);
    }

    fn kill(&mut self, who: usize) -> Vec<&'static str> {
        let ended = self.ids(who, |_| true);
        let conn = self.clients[who].conn.take().unwrap();
        self.host.remove(self.now, conn);
        let ends = self.settle(who, &ended, DiffEnd::Disconnected);
        self.clients[who] = Client::default();
        ends
    }

    /// Polls all events and lets every client read. Checks that exactly these diffs of this client
    /// end, in this way.
    fn settle(&mut self, who: usize, ended: &[u32], how: DiffEnd) -> Vec<&'static str> {
        let (seed, mut left, mut ends) = (self.seed, ended.to_vec(), Vec::new());
        for event in drain(&mut self.host) {
            let HostEvent::Agent { agent, event } = event else { panic!("seed {seed}: {event:?}") };
            let of = self.clients.iter().position(|client| client.conn == agent.conn());
            match event {
                ServerEvent::Call(ToolCall::OpenDiff(call, diff)) => {
                    let of = of.unwrap();
                    let known = |id: &&u32| !self.shown.values().any(|shown| *shown == (of, **id));
                    let id = *self.clients[of].diffs.keys().find(known).unwrap();
                    assert_eq!(self.clients[of].diffs[&id], diff.tab_name, "seed {seed}");
                    assert_eq!(AgentId::of_call(call.id()), agent, "seed {seed}");
                    self.shown.insert(call.id(), (of, id));
                }
                ServerEvent::DiffClosed { call, tab_name, reason: why } => {
                    let (of, id) =
                        self.shown.remove(&call).unwrap_or_else(|| panic!("seed {seed}: ended twice"));
                    assert_eq!((of, why), (who, how), "I35, seed {seed}: {tab_name}");
                    assert_eq!(self.clients[of].diffs.remove(&id), Some(&*tab_name), "seed {seed}");
                    let at = left.iter().position(|left| *left == id);
                    left.swap_remove(at.unwrap_or_else(|| panic!("I35, seed {seed}: {id} ended as well")));
                    assert!(self.host.call(call).fail(-1, "late").is_err(), "seed {seed}");
                    ends.push(name_of(why));
                }
                ServerEvent::Closed(_) => assert_eq!((of, how), (None, DiffEnd::Disconnected), "seed {seed}"),
                ServerEvent::Ready { .. } | ServerEvent::IdeConnected { .. } => {}
                other => panic!("seed {seed}: {other:?}"),
            }
        }
        assert!(left.is_empty(), "I37, seed {seed}: {left:?} did not end by {how:?}");
        for who in 0..3 {
            self.read(who);
        }
        ends
    }

    /// Lets a client read its whole send buffer.
    fn read(&mut self, who: usize) {
        let seed = self.seed;
        let client = &mut self.clients[who];
        let Some(mut wire) = client.conn.and_then(|conn| self.host.wire(conn)) else { return };
        let bytes = written(&mut wire);
        if client.said < 2 {
            return assert!(bytes.is_empty() || bytes.starts_with(b"HTTP/1.1 101 "), "seed {seed}");
        }
        for said in texts(&bytes) {
            if said.contains(r#""method":"selection_changed""#) {
                assert!(client.said >= 3, "I38, seed {seed}: a selection before `initialized`");
                client.shows =
                    Some(said.split_once(r#""text":""#).unwrap().1.split('"').next().unwrap().to_owned());
            } else if said.contains("tools/list_changed") {
                assert!(client.said >= 3, "seed {seed}");
                (client.shows, client.relists) = (None, true);
            } else if let Some(id) = said.strip_prefix(r#"{"jsonrpc":"2.0","id":"#) {
                let (id, result) = id.split_once(',').unwrap();
                let Ok(id) = id.parse::<u32>() else { panic!("seed {seed}: {said}") };
                match client.asked.remove(&id) {
                    Some(Asked::Diff) => {
                        assert!(result.contains("FILE_SAVED") || result.contains("DIFF_REJECTED"), "{said}");
                        assert!(!client.diffs.contains_key(&id), "seed {seed}: answered before it ended");
                    }
                    Some(Asked::CloseTab) => assert!(result.contains("TAB_CLOSED"), "seed {seed}: {said}"),
                    Some(Asked::CloseAll(count)) => {
                        assert!(result.contains(&format!("CLOSED_{count}_DIFF_TABS")), "seed {seed}: {said}");
                    }
                    Some(Asked::Tools(relists)) => {
                        assert!(result.contains("openDiff"), "seed {seed}: {said}");
                        client.shows = client.shows.take().filter(|_| !relists);
                    }
                    // The answer to `initialize`, whose id is 0.
                    None => assert_eq!(id, 0, "I37, seed {seed}: answered twice, or never asked: {said}"),
                }
            }
        }
    }

    /// Lets 10 s pass, and checks that nothing is missing then.
    fn finish(&mut self) {
        let seed = self.seed;
        self.now = self.now.saturating_add(Duration::from_secs(10));
        self.host.tick(self.now);
        // A connection without a head ends after 5 s. A client that is further in its handshakes
        // stays as it is.
        for who in 0..3 {
            if self.clients[who].conn.is_some() && self.clients[who].said == 0 {
                self.clients[who].conn = None;
            }
        }
        self.settle(0, &[], DiffEnd::Disconnected);
        for client in self.clients.iter().filter(|client| client.said >= 3) {
            assert_eq!(client.shows, self.selected, "I38, seed {seed}");
            let open: Vec<&u32> = client.asked.keys().collect();
            assert_eq!(open, client.diffs.keys().collect::<Vec<_>>(), "I37, seed {seed}: {:?}", client.asked);
        }
        for who in 0..3 {
            if self.clients[who].conn.is_some() {
                self.kill(who);
            }
        }
        assert!(self.shown.is_empty(), "I37, seed {seed}");
        assert_eq!(self.host.connections().count(), 0, "seed {seed}");
    }
}

fn name_of(how: DiffEnd) -> &'static str {
    match how {
        DiffEnd::TabClosed => "TabClosed",
        DiffEnd::AllClosed => "AllClosed",
        DiffEnd::Cancelled => "Cancelled",
        DiffEnd::Disconnected => "Disconnected",
        _ => "ShutDown",
    }
}
