//! The reader of the standard output of the editor. The simulated person (`person`) asks the reader for
//! the connections and the open proposals.

use super::editor::lock;
use super::shared::{Phase, Soak};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::io::BufRead;
use std::sync::Mutex;

/// The state of the connections, from the events of the editor.
#[derive(Debug, Default)]
pub(super) struct Desk(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    /// The connections by their numbers.
    conns: BTreeMap<u32, Conn>,
    /// The number of selections by agents.
    selected: u64,
    /// The last line of standard input for which the editor reported an error.
    complained: u64,
}

#[derive(Debug, Default)]
struct Conn {
    /// The number of the client, and the number of the connection among those of the client.
    client: Option<(usize, u64)>,
    accepts_pushes: bool,
    /// The number of open proposals by tab name.
    tabs: BTreeMap<String, usize>,
}

/// The events of the editor, with the members that are used here.
#[derive(Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
enum Event {
    Connected { conn: u32, client: Option<String>, version: Option<String> },
    IdeConnected { conn: u32 },
    Call { tool: String, arguments: Arguments },
    Diff { conn: u32, tab: String },
    DiffClosed { conn: u32, tab: String },
    Closed { conn: u32 },
    Error { line: Option<u64> },
    Stopping {},
    Unauthenticated {},
    LockFile {},
    Roots {},
    EditExpected {},
    EditEnded {},
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Arguments {
    make_frontmost: Option<bool>,
}

impl Desk {
    /// Reads until the editor ends, even after a fault: an unread output would end the editor.
    pub(super) fn read(&self, soak: &Soak<'_>, output: impl BufRead) {
        for line in output.lines() {
            if soak.phase() == Phase::Failed {
                continue;
            }
            let line = line.unwrap_or_default();
            let known = serde_json::from_str(&line).map_err(|error| error.to_string());
            if let Err(problem) = known.and_then(|event| lock(&self.0).update(event)) {
                soak.fail(format!("the editor printed {line:?}: {problem}"));
            }
        }
        if soak.phase() < Phase::Ending {
            soak.fail("the editor ended".into());
        }
        let left = lock(&self.0).conns.len();
        if left > 0 {
            soak.fail(format!("the editor ended without an event for the end of {left} connections"));
        }
    }

    /// Returns a connection that accepts pushes: its number, the client, and the number of the
    /// connection among those of the client. `choose` receives the number of such connections and
    /// returns the index of one.
    pub(super) fn accepting_pushes(&self, choose: impl FnOnce(usize) -> usize) -> Option<(u32, usize, u64)> {
        let known = lock(&self.0);
        let accepting = || known.conns.iter().filter(|(_, conn)| conn.accepts_pushes);
        let (number, conn) = accepting().nth(choose(accepting().count()))?;
        let (client, life) = conn.client?;
        Some((*number, client, life))
    }

    /// Returns an open proposal: the connection and the tab. `choose` receives the number of open
    /// proposals and returns the index of one.
    pub(super) fn proposal(&self, choose: impl FnOnce(usize) -> usize) -> Option<(u32, String)> {
        let known = lock(&self.0);
        let open = || {
            let of = |(number, conn): (&'_ u32, &'_ Conn)| {
                conn.tabs.keys().map(|tab| (*number, tab.clone())).collect::<Vec<_>>()
            };
            known.conns.iter().flat_map(of)
        };
        open().nth(choose(open().count()))
    }

    /// Returns the number of selections by agents.
    pub(super) fn selected(&self) -> u64 {
        lock(&self.0).selected
    }

    /// Returns true if the editor has reported an error for this line of its standard input or a
    /// later one.
    pub(super) fn has_reached(&self, line: u64) -> bool {
        lock(&self.0).complained >= line
    }
}

impl Known {
    fn update(&mut self, event: Event) -> Result<(), String> {
        match event {
            Event::Connected { conn, client, version } => {
                let number = client.and_then(|name| name.strip_prefix("soak-")?.parse().ok());
                let life = version.and_then(|version| version.parse().ok());
                self.conns.entry(conn).or_default().client = number.zip(life);
            }
            Event::IdeConnected { conn } => self.conns.entry(conn).or_default().accepts_pushes = true,
            Event::Call { tool, arguments } => {
                let selects = tool == "openFile" && arguments.make_frontmost != Some(false);
                self.selected = self.selected.saturating_add(selects.into());
            }
            Event::Diff { conn, tab } => {
                let open = self.conns.entry(conn).or_default().tabs.entry(tab).or_default();
                *open = open.saturating_add(1);
            }
            Event::DiffClosed { conn, tab } => {
                let tabs = &mut self.conns.entry(conn).or_default().tabs;
                let open = tabs.get_mut(&tab).ok_or("no such diff is open")?;
                *open = open.saturating_sub(1);
                if *open == 0 {
                    tabs.remove(&tab);
                }
            }
            Event::Closed { conn } => {
                let left = self.conns.remove(&conn).unwrap_or_default().tabs;
                if !left.is_empty() {
                    return Err(format!("these diffs are open: {left:?}"));
                }
            }
            Event::Error { line } => self.complained = self.complained.max(line.unwrap_or(0)),
            Event::Stopping {} | Event::Unauthenticated {} | Event::LockFile {} => {}
            Event::Roots {} | Event::EditExpected {} | Event::EditEnded {} => {}
        }
        Ok(())
    }
}
