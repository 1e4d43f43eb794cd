//! Two machines joined in memory, with virtual time.

use ide_mcp::{Machine, Time, Wire};
use std::time::Duration;

/// Two machines have nothing left to say to each other long before this many rounds.
const NEVER_IDLE: usize = 10_000;

/// A server and a client; whatever one writes the other reads.
#[derive(Debug)]
pub struct Pair<S: Machine, C: Machine> {
    pub server: S,
    pub client: C,
    pub now: Time,
    pub server_events: Vec<S::Event>,
    pub client_events: Vec<C::Event>,
    /// At most so many bytes go each way at a time.
    pub pace: usize,
    /// Everything that went each way.
    pub to_server: Vec<u8>,
    pub to_client: Vec<u8>,
}

impl<S: Wire + Machine, C: Wire + Machine> Pair<S, C> {
    pub const fn new(server: S, client: C, now: Time) -> Self {
        Self {
            server,
            client,
            now,
            server_events: Vec::new(),
            client_events: Vec::new(),
            pace: usize::MAX,
            to_server: Vec::new(),
            to_client: Vec::new(),
        }
    }

    /// Moves bytes and polls until both are idle; the applications answer through `on_server` and `on_client`.
    /// Returns how many times bytes went to and fro.
    pub fn settle_with(
        &mut self,
        mut on_server: impl FnMut(&mut S, &S::Event),
        mut on_client: impl FnMut(&mut C, &C::Event),
    ) -> usize {
        for round in 0..NEVER_IDLE {
            let mut idle = true;
            while let Some(event) = self.server.poll_event() {
                on_server(&mut self.server, &event);
                self.server_events.push(event);
                idle = false;
            }
            while let Some(event) = self.client.poll_event() {
                on_client(&mut self.client, &event);
                self.client_events.push(event);
                idle = false;
            }
            let there = carry(&mut self.client, &mut self.server, self.now, self.pace);
            let back = carry(&mut self.server, &mut self.client, self.now, self.pace);
            idle &= there.is_empty() && back.is_empty();
            self.to_server.extend(there);
            self.to_client.extend(back);
            if idle {
                return round;
            }
        }
        panic!("the two are never idle");
    }

    /// The same with applications that do nothing.
    pub fn settle(&mut self) -> usize {
        self.settle_with(|_, _| {}, |_, _| {})
    }

    /// Lets time pass, deadline by deadline.
    pub fn advance(&mut self, span: Duration) {
        let end = self.now.after(span);
        loop {
            let due = [self.server.deadline(), self.client.deadline()].into_iter().flatten().min();
            self.now = due.filter(|due| *due < end).unwrap_or(end).max(self.now);
            self.server.tick(self.now);
            self.client.tick(self.now);
            self.settle();
            if self.now >= end {
                return;
            }
        }
    }
}

/// Carries what one writes to the other, as far as that wants it.
fn carry(from: &mut impl Wire, to: &mut impl Wire, now: Time, pace: usize) -> Vec<u8> {
    let mut carried = Vec::new();
    while to.wants_input() && !from.outgoing().is_empty() && carried.len() < pace {
        let space = to.space();
        let n = space.len().min(from.outgoing().len()).min(pace - carried.len());
        space[..n].copy_from_slice(&from.outgoing()[..n]);
        carried.extend_from_slice(&from.outgoing()[..n]);
        to.filled(now, n);
        from.sent(n);
    }
    if from.is_done() && carried.is_empty() && !to.is_done() {
        to.feed_eof(now);
    } else if !to.wants_input() && to.is_done() {
        // Nobody reads any more: what is still written goes nowhere.
        from.sent(usize::MAX);
    }
    carried
}
