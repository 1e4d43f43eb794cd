//! The checks at every rest, and the memory that is left at the end.

use allocation_counter::measure;
use ide_mcp::{Time, ide::ConnId, ws};

use super::World;
use crate::sim_support::{
    ledger::{Ledger, Standing},
    oracle::Invariant as I,
    plant::Subject,
};

impl World {
    /// Checks the rules that hold whenever no byte can move.
    pub(super) fn check(&mut self) {
        if !self.oracle.is_content() {
            return;
        }
        let idle = self.idle;
        // Some timers find nothing to do, such as the timer for a selection that does not exist.
        let seconds = self.now.since_start().as_secs();
        self.oracle.claim(idle < 20 + seconds / 2, I::TimerStorm, || {
            format!("the loop was woken {idle} times for nothing in {seconds} s")
        });
        if self.server_asleep_until.is_some() {
            return;
        }
        let time = self.server_clock.latest();
        let mut blocked = Vec::new();
        let Self { subject, editor, oracle, ledgers, plan, cables, .. } = self;
        let attached = ledgers.values().filter(|ledger| ledger.is_attached()).count();
        let strange = ledgers.values().filter(|ledger| !ledger.has_ended && ledger.status.is_none()).count();
        oracle.claim(attached <= plan.connections && strange <= plan.outsiders, I::Bounded, || {
            format!("{attached} are attached, {strange} are outsiders")
        });
        for (conn, ledger) in ledgers.iter_mut() {
            let open = editor.open_of(*conn).count();
            oracle
                .claim(open <= plan.open_calls, I::Bounded, || format!("{open} calls are open at {conn:?}"));
            let cable = cables.iter().find(|cable| cable.conn == Some(*conn));
            let waiting = cable.map_or(0, |cable| cable.unwritten);
            let reads = cable.is_none() || subject.wants_input(*conn);
            let agent = subject.server.agent((*conn).into());
            // Honest agents never send as much as one message and the mark; some hostile peers do. After the end of
            // the stream there is nothing to read.
            let is_open = agent.is_none_or(|agent| agent.is_open());
            let is_agent = ledger.standing == Standing::Honest && ledger.is_attached() && is_open;
            oracle.claim(reads || !is_agent, I::Rest, || {
                format!("{conn:?} is not read while {waiting} bytes wait")
            });
            let bytes = agent.map_or(0, |agent| agent.open_bytes());
            oracle.claim(open < 2 || bytes <= plan.open_bytes, I::Bounded, || {
                format!("{bytes} bytes in {open} calls are open at {conn:?}")
            });
            oracle.claim(waiting <= plan.mark + 2_000_000, I::Bounded, || {
                format!("{waiting} bytes wait at {conn:?}")
            });
            if subject.wants_output(*conn) || ledger.has_ended {
                blocked.push(*conn);
                continue;
            }
            ledger.check_settled(time, editor.edition, |call| editor.is_open(call), oracle);
            for call in editor.open_of(*conn) {
                let rule = if editor.shows(call) { I::Diffs } else { I::AnsweredOnce };
                oracle.claim(ledger.awaits(call), rule, || format!("{call:?} is open, and was answered"));
            }
        }
        // A client that accepts pushes and has room has the selection, once the debounce is over.
        let selected_at = editor.past.selected_at(editor.selected);
        let rested = selected_at.is_some_and(|at| time >= at.saturating_add(plan.debounce * 4));
        for agent in subject.server.agents().filter(|agent| rested && agent.accepts_pushes()) {
            let conn = agent.id().conn().unwrap();
            let Some(ledger) = ledgers.get(&conn).filter(|_| !blocked.contains(&conn)) else { continue };
            let record = ledger.is_selection_known && ledger.last_selection == editor.selected;
            oracle.claim(record || ledger.close_code.is_some(), I::Selection, || {
                format!("{conn:?} got selection {} last, and not {}", ledger.last_selection, editor.selected)
            });
        }
        let waits =
            |(conn, ledger): (&ConnId, &Ledger)| !blocked.contains(conn) && ledger.waits_for_a_question();
        editor.check_question(time, ledgers.iter().any(waits), oracle);
        editor.check(time, |conn| blocked.contains(&conn), blocked.is_empty(), oracle);
        self.check_shutdown(time);
        let there = |conn: &ConnId| self.cables.iter().any(|cable| cable.conn == Some(*conn));
        let gone: Vec<ConnId> = self.ledgers.keys().filter(|conn| !there(conn)).copied().collect();
        gone.into_iter().for_each(|conn| self.outsider_ended(conn));
        // The ledger of a connection that is over is dropped with the connection.
        let Self { ledgers, cables, oracle, .. } = self;
        ledgers.retain(|conn, ledger| {
            let there = cables.iter().any(|cable| cable.conn == Some(*conn));
            oracle.claim(there || ledger.has_ended, I::OneEnding, || {
                format!("the end of {conn:?} is not reported")
            });
            let kept = there || !ledger.has_ended;
            oracle.saw(if kept { 0 } else { ledger.digest });
            kept
        });
    }

    /// Checks the limits of [`Server::shutdown`](ide::Server::shutdown). A connection ends within 2 s of the shutdown
    /// or of the latest write up to its close frame, and then has 2 s for its last bytes, however many writes they
    /// take. No event reports the end of a connection that was not accepted, so it has both limits at once.
    fn check_shutdown(&mut self, time: Time) {
        let Some((since, slept)) = self.shut_down else { return };
        let ws::Limits { close, drain, .. } = ws::Limits::default();
        for conn in self.subject.server.connections().filter(|_| !slept) {
            let Some(ledger) = self.ledgers.get(&conn) else { continue };
            let was_let_in = ledger.standing != Standing::Outsider && ledger.status == Some(101);
            let limit = match ledger.has_ended {
                true => ledger.moved_at.saturating_add(drain),
                false if was_let_in => since.max(ledger.moved_at).saturating_add(close),
                false => since.max(ledger.moved_at).saturating_add(close + drain),
            };
            self.oracle.claim(time <= limit, I::Shutdown, || {
                format!(
                    "{conn:?} is there {:?} after the shutdown, not ended by {limit:?}",
                    time.saturating_since(since)
                )
            });
        }
    }

    /// Replaces the server. Returns the number of bytes that the old server held.
    pub fn drop_server(&mut self) -> u64 {
        let fresh = Subject::new(self.plan.server(), self.bug);
        self.outsiders = 0;
        let old = std::mem::replace(&mut self.subject, fresh).into_held_memory();
        let freed = measure(|| drop(old));
        u64::try_from(freed.bytes_current.saturating_neg()).unwrap_or(0)
    }

    /// Returns the number of bytes that a server without clients can hold: the settings with the tools at the
    /// beginning, the tools now and the joined context, the selection, and the places of the largest number of
    /// connections at once, in a table that doubles as it grows.
    pub const fn held_at_rest(&self) -> u64 {
        // A connection is about 1.5 KiB.
        let place = 2 * 1024;
        (20 * 1024 + 2 * self.places * place + 3 * self.editor.selected_len) as u64
    }
}
