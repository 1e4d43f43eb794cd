//! The state that all threads share: the phase of the run, the first fault, and the pushes that
//! each client has received.

use super::arrivals::{Arrivals, Before};
use super::editor::{Editor, lock};
use super::totals::Totals;
use ide_mcp::testing::Random;
use ide_mcp::{Clock, Time};
use std::net::{Ipv4Addr, TcpStream};
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// The timeout of an attempt to connect, and of the end of a connection.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);

/// The phase of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Phase {
    /// Clients and the user act.
    Busy,
    /// Clients attach if they are not attached, and wait for all answers except verdicts.
    Settling,
    /// The editor has got SIGTERM.
    Ending,
    /// A rule did not hold.
    Failed,
}

/// The pushes that one client has received on its connection.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Seen {
    /// The number of the connection, counted from 1.
    pub(super) life: u64,
    /// True if the client receives pushes and is not about to end the connection.
    pub(super) is_attached: bool,
    /// The line of the last selection that arrived.
    pub(super) line: Option<u32>,
    /// The number of the last mention that arrived, counted from 1.
    pub(super) mention: u32,
    /// True if only verdicts are open.
    pub(super) is_settled: bool,
}

#[derive(Debug)]
pub(super) struct Soak<'a> {
    pub(super) editor: &'a Editor,
    pub(super) project: PathBuf,
    pub(super) totals: Totals,
    pub(super) clock: Clock,
    pub(super) arrivals: Arrivals,
    /// True while only the user selects.
    is_calm: AtomicBool,
    phase: Mutex<Phase>,
    found: Mutex<Option<String>>,
    seen: Vec<Mutex<Seen>>,
}

impl<'a> Soak<'a> {
    pub(super) fn new(editor: &'a Editor, project: PathBuf, clients: usize) -> Self {
        Self {
            editor,
            project,
            totals: Totals::default(),
            clock: Clock::new(),
            arrivals: Arrivals::default(),
            is_calm: AtomicBool::new(false),
            phase: Mutex::new(Phase::Busy),
            found: Mutex::new(None),
            seen: (0..clients).map(|_| Mutex::default()).collect(),
        }
    }

    pub(super) fn now(&self) -> Time {
        self.clock.now()
    }

    /// Connects to the editor.
    pub(super) fn connect(&self) -> Result<(TcpStream, Before), String> {
        let editor = (Ipv4Addr::LOCALHOST, self.editor.port).into();
        let connect = || TcpStream::connect_timeout(&editor, PATIENCE);
        self.arrivals.connect(connect).map_err(|error| error.to_string())
    }

    pub(super) fn phase(&self) -> Phase {
        *lock(&self.phase)
    }

    /// Enters this phase, unless a later one has been entered.
    pub(super) fn enter(&self, phase: Phase) {
        let mut now = lock(&self.phase);
        *now = phase.max(*now);
    }

    /// Ends the run with a fault. Keeps only the first, since others follow from it.
    pub(super) fn fail(&self, what: String) {
        lock(&self.found).get_or_insert(what);
        self.enter(Phase::Failed);
    }

    /// Returns the first fault.
    pub(super) fn found(&self) -> Option<String> {
        lock(&self.found).clone()
    }

    /// Waits until the condition is true, or until a rule did not hold.
    pub(super) fn wait(&self, at_most: Duration, what: &str, is_so: impl Fn() -> bool) -> Result<(), String> {
        let begin = self.now();
        while !is_so() && self.phase() < Phase::Failed {
            if self.now().saturating_since(begin) > at_most {
                return Err(format!("waited {} s in vain until {what}", at_most.as_secs()));
            }
            thread::sleep(Duration::from_millis(2));
        }
        Ok(())
    }

    pub(super) fn is_calm(&self) -> bool {
        self.is_calm.load(Ordering::SeqCst)
    }

    pub(super) fn calm(&self, is_calm: bool) {
        self.is_calm.store(is_calm, Ordering::SeqCst);
    }

    /// Changes the entry of a client.
    pub(super) fn note<T>(&self, client: usize, change: impl FnOnce(&mut Seen) -> T) -> Option<T> {
        Some(change(&mut lock(self.seen.get(client)?)))
    }

    /// Returns the pushes that each client has received.
    pub(super) fn seen(&self) -> Vec<Seen> {
        self.seen.iter().map(|seen| *lock(seen)).collect()
    }
}

/// A client with its number.
pub(super) struct Client<'a> {
    pub(super) soak: &'a Soak<'a>,
    pub(super) number: usize,
    pub(super) random: Random,
}
