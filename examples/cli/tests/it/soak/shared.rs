//! What all threads share: how far the run is, what was found, and what each client has heard.

use super::arrivals::{Arrivals, Before};
use super::editor::Editor;
use super::life::PATIENCE;
use super::totals::Totals;
use ide_mcp::{Clock, Time};
use std::net::{Ipv4Addr, TcpStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How far the run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Phase {
    /// Everything happens.
    Busy,
    /// Clients attach if they are not, and wait for all answers but verdicts.
    Settling,
    /// The editor was told to end.
    Ending,
    /// Something did not hold.
    Failed,
}

/// What one client has heard on its connection.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Seen {
    /// Which connection, counted from 1.
    pub(super) life: u64,
    /// It hears, and means to go on with that.
    pub(super) is_attached: bool,
    /// The line of the last selection.
    pub(super) line: Option<u32>,
    /// The number of the last mention, counted from 1.
    pub(super) mention: u32,
    /// Nothing is open any more but verdicts.
    pub(super) is_settled: bool,
}

#[derive(Debug)]
pub(super) struct Soak<'a> {
    pub(super) editor: &'a Editor,
    pub(super) project: PathBuf,
    pub(super) totals: Totals,
    pub(super) clock: Clock,
    pub(super) arrivals: Arrivals,
    /// Nobody but the person is to select anything.
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

    /// Goes on to this phase; there is no way back.
    pub(super) fn enter(&self, phase: Phase) {
        let mut now = lock(&self.phase);
        *now = phase.max(*now);
    }

    /// Something did not hold. What follows from it is not told.
    pub(super) fn fail(&self, what: String) {
        lock(&self.found).get_or_insert(what);
        self.enter(Phase::Failed);
    }

    /// What did not hold.
    pub(super) fn found(&self) -> Option<String> {
        lock(&self.found).clone()
    }

    pub(super) fn is_calm(&self) -> bool {
        self.is_calm.load(Ordering::SeqCst)
    }

    pub(super) fn calm(&self, is_calm: bool) {
        self.is_calm.store(is_calm, Ordering::SeqCst);
    }

    /// Changes what is known of a client.
    pub(super) fn note<T>(&self, client: usize, change: impl FnOnce(&mut Seen) -> T) -> Option<T> {
        Some(change(&mut lock(self.seen.get(client)?)))
    }

    /// What each client has heard.
    pub(super) fn seen(&self) -> Vec<Seen> {
        self.seen.iter().map(|seen| *lock(seen)).collect()
    }
}

/// A thread that panics has left nothing half done here.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
