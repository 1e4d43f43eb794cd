//! The rules, and the oracle that checks them.
//!
//! Every other part of the simulation reports its observations to the [`Oracle`], with claims that must hold. The first
//! failed claim is the fault of the run; later ones do not count.

use std::collections::BTreeMap;

use ide_mcp::Time;

/// The count of each event that a run of many seeds must reach.
pub type Hits = BTreeMap<&'static str, u64>;

/// Adds the hits of one run to those of others.
pub fn add(all: &mut Hits, more: Hits) {
    for (what, count) in more {
        *all.entry(what).or_default() += count;
    }
}

macro_rules! invariants {
    ($($(#[doc = $rule:literal])+ $name:ident,)+) => {
        /// A rule that is checked: the laws of `src/machine.rs`, as far as they show from outside,
        /// and I1–I38 of the sessions, joined where one observation decides several.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Invariant {
            $($(#[doc = $rule])+ $name,)+
        }

        impl Invariant {
            /// Returns the text of the rule.
            pub fn rule(self) -> &'static str {
                match self {
                    $(Self::$name => concat!($($rule),+),)+
                }
            }
        }
    };
}

invariants! {
    /// law 1: nothing panics
    Total,
    /// law 2, I26: the cuts of the bytes cannot be observed
    Cuts,
    /// law 3, I32, I33: `Closed` comes exactly once and last, and every connection comes to it
    OneEnding,
    /// law 4, I36: after a turn `deadline()` is later than the time, or absent
    ClockMovesOn,
    /// law 5: `deadline()` announces every event and every output
    NothingUnseen,
    /// law 6, I27, I29: memory is bounded by the limits, and given back at the end
    Bounded,
    /// law 7, I1, I3, I28: every request is answered once, or its end was reported, or it is open
    AnsweredOnce,
    /// law 8: a refused operation leaves no trace
    RefusalsFree,
    /// law 10: a server whose client does not read goes on reading
    Rest,
    /// I2, I6, I9, I15: no answer comes without a request, and an id is echoed byte for byte
    NothingUnasked,
    /// I4: a call that has ended cannot be answered again, and the error names its ending
    StaleHandles,
    /// I5: after a cancellation no message names the call
    SilenceAfterCancel,
    /// I10, I24: no `null` where a member is absent, no id `null`, and no member that JSON-RPC does not define
    Envelope,
    /// I12, I19: a call ends by its deadline, and not before
    CallDeadline,
    /// I13: every request of ours has exactly one outcome
    OneOutcome,
    /// I14, I19: a request of ours ends by its deadline, and not before
    RequestDeadline,
    /// I16: ids are integers from 1, each used once, that only grow. Forms, which wait until the client shows them, can
    /// come after later requests, but not after later forms
    OwnIds,
    /// I17: a request is cancelled once on the wire, and only one that was sent
    OneCancel,
    /// I18: progress names a call that is open, and grows
    Progress,
    /// I20–I25: a session opens in the version that was offered, and the standard requests are
    /// always answered
    Negotiation,
    /// I30: only the latest selection is sent, never an older one after it, and not more often than
    /// the debounce
    Coalescing,
    /// I31: a change of the tools is announced at most once until the tools are listed
    ListChanged,
    /// I34: a connection whose peer is silent ends in time, and one whose machine only slept stays
    Liveness,
    /// I35: nothing of one connection shows at another
    CrossTalk,
    /// I36: timers do not wake the loop for nothing
    TimerStorm,
    /// I37: a diff ends when its tab is closed, with its connection, and in no other way
    Diffs,
    /// I38: no push comes before the client accepts it, and the last selection arrives
    Selection,
    /// `roots/list` goes to the clients that declare roots and to no other, once, again after each change,
    /// and one at a time; the application receives the folders and no outcome
    Roots,
    /// A form goes only to a client that shows forms, once it has settled, and an answer that does not fit is
    /// malformed
    Forms,
    /// Before the consent of the person a client gets no push, and the application none of its calls; then each
    /// call that waited comes, or is answered before the connection ends with 1008. The person is asked about
    /// each client, one at a time, and not in the quiet time after a refusal
    Consent,
    /// Every mention arrives at one client, in order, or is reported as expired
    Mentions,
    /// N1–N3, H1–H11: a peer without the token gets no answer but the due refusal
    NoToken,
    /// F1–F29, J1–J12: a violation is answered with the code of its rule
    Refusal,
    /// After `shutdown` everything ends within its limits
    Shutdown,
    /// An agent that has lost a running editor attaches again in time
    Reconnect,
}

/// A rule that was broken.
#[derive(Clone, Debug)]
pub struct Fault {
    pub invariant: Invariant,
    pub why: String,
}

/// The oracle.
#[derive(Debug, Default)]
pub struct Oracle {
    fault: Option<Fault>,
    pub hits: Hits,
    /// A digest of everything that was observed on any wire.
    digest: u64,
    /// The events, if the run is traced.
    trace: Option<Vec<String>>,
    pub now: Time,
    pub step: usize,
}

impl Oracle {
    pub fn new(traced: bool) -> Self {
        Self { trace: traced.then(Vec::new), ..Self::default() }
    }

    /// Records a fault if the claim does not hold. Only the first fault counts.
    pub fn claim(&mut self, holds: bool, invariant: Invariant, why: impl FnOnce() -> String) {
        if !holds && self.fault.is_none() {
            self.fault = Some(Fault { invariant, why: why() });
        }
    }

    pub const fn is_content(&self) -> bool {
        self.fault.is_none()
    }

    pub fn fault(&mut self) -> Option<Fault> {
        self.fault.take()
    }

    pub fn hit(&mut self, what: &'static str) {
        *self.hits.entry(what).or_default() += 1;
    }

    /// Records an event, if the run is traced.
    pub fn note(&mut self, what: impl FnOnce() -> String) {
        let Some(trace) = &mut self.trace else { return };
        trace.push(format!("{:>14.6} s  {}", self.now.since_start().as_secs_f64(), what()));
    }

    /// Returns the recorded events.
    pub fn trace(&self) -> &[String] {
        self.trace.as_deref().unwrap_or_default()
    }

    /// Adds the digest of one connection. The order in which connections end does not matter.
    pub const fn saw(&mut self, digest: u64) {
        self.digest = self.digest.wrapping_add(digest);
    }

    pub const fn digest(&self) -> u64 {
        self.digest
    }
}

/// FNV-1a (Fowler, Noll and Vo), over words of eight bytes for speed.
pub fn digest(mut state: u64, bytes: &[u8]) -> u64 {
    for chunk in bytes.chunks(8) {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        state = (state ^ u64::from_le_bytes(word)).wrapping_mul(0x0000_0100_0000_01b3);
        state ^= state >> 29;
    }
    state
}
