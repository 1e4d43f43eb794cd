//! A client: one connection after another, each with everything that agents do. Most connections
//! are killed.

use super::asks::{Ask, ask};
use super::endings::{Ending, unauthenticated};
use super::life::Life;
use super::model::Expected;
use super::shared::{Client, Phase};
use super::totals::Counter;
use ide_mcp::ws;
use serde_json::json;
use std::thread;
use std::time::Duration;

/// The maximum number of open proposals of a connection.
const MOST_PROPOSALS: usize = 12;

/// The maximum number of invalid messages that a connection sends. The editor tolerates 8.
const MOST_VIOLATIONS: usize = 6;

impl Client<'_> {
    /// Connects again and again until the editor ends.
    pub(super) fn work(mut self) {
        let mut life = 0;
        while self.soak.phase() < Phase::Ending {
            life += 1;
            let done = if self.soak.phase() == Phase::Busy && self.random.one_in(12) {
                unauthenticated(&mut self)
            } else {
                self.live(life)
            };
            if let Err(problem) = done {
                return self.soak.fail(format!("client {}, connection {life}: {problem}", self.number));
            }
        }
    }

    /// Runs one connection from its beginning to its end.
    fn live(&mut self, number: u64) -> Result<(), String> {
        let mut life = Life::begin(self, number)?;
        let lived = life.live();
        life.client.soak.note(life.client.number, |seen| seen.is_attached = false);
        lived
    }
}

impl Life<'_, '_> {
    fn live(&mut self) -> Result<(), String> {
        if !self.attach()? {
            // The editor is full, since it has not yet detected the end of some connections.
            thread::sleep(Duration::from_millis(20));
            return Ok(());
        }
        while self.phase() == Phase::Busy {
            if self.client.random.one_in(200) {
                return self.end();
            }
            self.act()?;
            let pause = self.up_to(50);
            self.receive(pause)?;
            if let Some(closed) = &self.ended {
                return Err(format!("the editor ended the connection: {closed}"));
            }
        }
        self.settle()
    }

    /// Does one random thing.
    fn act(&mut self) -> Result<(), String> {
        match self.client.random.below(100) {
            0..=9 => {}
            10..=14 => self.cancel(),
            15 => {
                let _ = self.conn.machine_mut().sender().ping(b"soak");
            }
            16 if self.violations < MOST_VIOLATIONS => {
                const WRONG: [&str; 3] = [
                    "this is not a message",
                    r#"{"jsonrpc":"2.0","id":999999999,"result":{}}"#,
                    r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
                ];
                self.violations += 1;
                let wrong = WRONG[self.client.random.below(WRONG.len())];
                self.send(wrong);
            }
            17 => self.notify("notifications/unknown", &json!({"a": [1]})),
            18 => self.twice(),
            19 if self.has_batches() => self.batch(),
            // Neither reads nor sends for a while.
            20 if self.client.random.one_in(8) => thread::sleep(self.up_to(1500)),
            _ => {
                let many = self.ledger.proposals().count();
                let what =
                    Ask::any(&mut self.client.random, many < MOST_PROPOSALS, self.client.soak.is_calm());
                ask(self, &what);
            }
        }
        match self.ledger.overdue(self.client.soak.now()) {
            Some(late) => Err(late),
            None => Ok(()),
        }
    }

    /// Cancels a proposal, or a request that can be answered already.
    fn cancel(&mut self) {
        let many = self.ledger.proposals().count();
        let which = self.client.random.below(many + 1);
        let id = self.ledger.proposals().nth(which).map_or_else(|| self.requests.to_string(), Into::into);
        self.ledger.cancelled(&id);
        self.send(&format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id},"reason":"soak"}}}}"#
        ));
    }

    /// Sends a ping with the id of an open proposal.
    fn twice(&mut self) {
        let id = self.ledger.proposals().next().map(str::to_owned);
        if let Some(id) = id {
            self.ask_as(id, "ping", None, Expected::Refused);
        }
    }

    /// Sends several requests in one message.
    fn batch(&mut self) {
        let mut batch = Vec::new();
        for _ in 0..=self.client.random.below(4) {
            let id = self.next_id();
            batch.push(format!(r#"{{"jsonrpc":"2.0","method":"ping","id":{id}}}"#));
            self.owe(id, Expected::of_editor("ping", None));
        }
        self.send(&format!("[{}]", batch.join(",")));
    }

    /// Ends this connection in a random way.
    fn end(&mut self) -> Result<(), String> {
        let ending = Ending::any(&mut self.client.random);
        if ending == Ending::Quiet {
            // The client reads until every request is answered.
            ask(self, &Ask::CloseAll);
            self.until("all is answered", |life| life.ledger.open().0 == 0)?;
        }
        self.client.soak.note(self.client.number, |seen| seen.is_attached = false);
        self.client.soak.totals.add(Counter::Kills, usize::from(ending.is_kill()));
        let ended = ending.perform(self);
        self.add_to_totals();
        ended
    }

    /// Leaves a proposal open and waits for all other answers. Then waits for the end of the
    /// editor, which answers the proposal.
    fn settle(&mut self) -> Result<(), String> {
        ask(self, &Ask::Proposal("left open".into()));
        // The answer to the ping shows that the editor has read the proposal. At its end the editor
        // cannot answer requests that it has not read.
        ask(self, &Ask::Standard("ping"));
        self.until("all but verdicts is answered", |life| life.ledger.is_settled())?;
        self.client.soak.note(self.client.number, |seen| seen.is_settled = true);
        while self.ended.is_none() && self.phase() < Phase::Failed {
            self.receive(Duration::from_millis(100))?;
        }
        self.add_to_totals();
        match (&self.ended, self.phase()) {
            (_, Phase::Failed) => Ok(()),
            (_, Phase::Ending) if self.ledger.open().0 > 0 => {
                Err(format!("the editor ended and left this unanswered: {:?}", self.ledger))
            }
            (Some(ws::Closed::Remote { .. }), Phase::Ending) => Ok(()),
            (closed, phase) => Err(format!("while {phase:?} the connection ended: {closed:?}")),
        }
    }

    /// Adds the unanswered requests to the totals.
    fn add_to_totals(&self) {
        let (abandoned, cancelled) = self.ledger.open();
        self.client.soak.totals.add(Counter::Abandoned, abandoned);
        self.client.soak.totals.add(Counter::Cancelled, cancelled);
    }

    fn up_to(&mut self, millis: usize) -> Duration {
        Duration::from_millis(u64::try_from(self.client.random.below(millis)).unwrap_or(0))
    }
}
