//! The user at the editor, who decides on changes, mentions files, and selects text, sometimes in
//! storms.

use super::desk::Desk;
use super::editor::{LINES, MANY_LINES};
use super::model::EDITED;
use super::shared::{Phase, Seen, Soak};
use super::totals::Counter;
use ide_mcp::Time;
use ide_mcp::testing::Random;
use serde_json::json;
use std::thread;
use std::time::Duration;

/// The timeout for actions of the user to arrive. Clients stall for up to a second and a half.
const PATIENCE: Duration = Duration::from_secs(30);

/// The time for earlier requests of agents to reach the editor before a storm.
const CALM: Duration = Duration::from_millis(300);

pub(super) struct Person<'a> {
    soak: &'a Soak<'a>,
    desk: &'a Desk,
    random: Random,
    /// The number of lines written to the editor.
    lines: u64,
    /// The number of the last mention, which is also the mentioned line.
    mention: u32,
    mentioned: Vec<Mentioned>,
    /// The line of the last selection.
    last: u32,
}

/// A mention that a client must get.
struct Mentioned {
    client: usize,
    life: u64,
    number: u32,
    at: Time,
}

impl<'a> Person<'a> {
    pub(super) fn new(soak: &'a Soak<'a>, desk: &'a Desk, random: Random) -> Self {
        Self { soak, desk, random, lines: 0, mention: 0, mentioned: Vec::new(), last: 0 }
    }

    /// Acts until the run settles.
    pub(super) fn work(mut self) {
        while self.soak.phase() == Phase::Busy {
            let done = match self.random.below(40) {
                0 => self.storm(),
                1..=3 => self.mention(),
                4..=23 => self.decide(),
                24 => self.select().and_then(|line| self.send(&line)),
                _ => {
                    thread::sleep(Duration::from_millis(u64::try_from(self.random.below(60)).unwrap_or(0)));
                    Ok(())
                }
            };
            if let Err(problem) = done.and_then(|()| self.mentions_arrive()) {
                return self.soak.fail(problem);
            }
        }
    }

    /// Selects some hundred lines in a moment. The last selection must reach all clients.
    fn storm(&mut self) -> Result<(), String> {
        self.soak.calm(true);
        thread::sleep(CALM);
        let done = self.storm_while_calm();
        self.soak.calm(false);
        done
    }

    fn storm_while_calm(&mut self) -> Result<(), String> {
        let selected = self.desk.selected();
        for _ in 0..=self.random.below(8) {
            let mut gust = String::new();
            for _ in 0..=self.random.below(50) {
                gust.push_str(&self.select()?);
            }
            self.send(&gust)?;
            thread::sleep(Duration::from_millis(u64::try_from(self.random.below(40)).unwrap_or(0)));
        }
        // The editor reports an error for this line, so by then it has carried out all lines before.
        self.send("{\"cmd\":\"answer\",\"tab\":\"of nobody\",\"verdict\":\"reject\"}\n")?;
        let fence = self.lines;
        self.soak.wait(PATIENCE, "the editor obeys", || self.desk.has_reached(fence))?;
        let last = self.last;
        let received = |seen: &Seen| !seen.is_attached || seen.line == Some(last);
        let arrives = || self.soak.seen().iter().all(received);
        let arrived = self.soak.wait(PATIENCE, "the last selection arrives", arrives);
        let after = self.soak.seen();
        if self.soak.phase() == Phase::Failed {
            return Ok(());
        }
        self.soak.totals.add(Counter::Storms, 1);
        if self.desk.selected() != selected {
            self.soak.totals.add(Counter::Disturbed, 1);
            return Ok(());
        }
        arrived.map_err(|late| format!("{late}: line {last}, {after:?}"))
    }

    /// Returns the command that selects another line than the last.
    fn select(&mut self) -> Result<String, String> {
        let other = u32::try_from(self.random.below(usize::try_from(MANY_LINES - 1).unwrap_or(1)));
        self.last = (self.last + 1 + other.unwrap_or(0)) % MANY_LINES;
        self.soak.totals.add(Counter::Selects, 1);
        let (start, end) = ([self.last, 0], [self.last, 4]);
        Ok(format!("{}\n", json!({"cmd": "select", "path": LINES, "start": start, "end": end})))
    }

    fn mention(&mut self) -> Result<(), String> {
        let Some((conn, client, life)) = self.desk.accepting_pushes(|many| self.random.below(many)) else {
            return Ok(());
        };
        self.mention += 1;
        let (number, at) = (self.mention, self.soak.now());
        self.mentioned.push(Mentioned { client, life, number, at });
        self.send(&format!(
            "{}\n",
            json!({"cmd": "mention", "path": LINES, "lines": [number, number], "conn": conn})
        ))
    }

    /// Checks that mentions arrive in time on connections that are still open.
    fn mentions_arrive(&mut self) -> Result<(), String> {
        let (seen, now) = (self.soak.seen(), self.soak.now());
        let awaited = |mention: &Mentioned| {
            let lives = |seen: &&Seen| seen.is_attached && seen.life == mention.life;
            seen.get(mention.client).filter(lives).is_some_and(|seen| seen.mention < mention.number)
        };
        self.mentioned.retain(awaited);
        match self.mentioned.first() {
            Some(first) if now.saturating_since(first.at) > PATIENCE => {
                Err(format!("mention {} does not arrive at client {}", first.number, first.client))
            }
            _ => Ok(()),
        }
    }

    /// Decides on a random proposal; one time in three it does nothing.
    fn decide(&mut self) -> Result<(), String> {
        if self.random.one_in(3) {
            return Ok(());
        }
        let Some((conn, tab)) = self.desk.proposal(|many| self.random.below(many)) else { return Ok(()) };
        let mut command = json!({"cmd": "answer", "conn": conn, "tab": tab, "verdict": "accept"});
        match self.random.below(3) {
            0 => command["verdict"] = "reject".into(),
            1 => command["contents"] = EDITED.into(),
            _ => {}
        }
        self.soak.totals.add(Counter::Verdicts, 1);
        self.send(&format!("{command}\n"))
    }

    fn send(&mut self, lines: &str) -> Result<(), String> {
        self.lines += u64::try_from(lines.lines().count()).unwrap_or(0);
        self.soak.editor.send_lines(lines)
    }
}
