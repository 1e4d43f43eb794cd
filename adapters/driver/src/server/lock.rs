//! The lock file of a server, and the place where its guard runs.

use super::guarding::{Guarding, Wake};
use super::transport::Transport;
use ide_mcp::Time;
use ide_mcp::ide::{Host, LockFile, LockFileEvent};
use ide_mcp_lockfile::{Error, Guard, GuardThread, Published};
use std::path::Path;
use std::sync::mpsc::{self, Receiver};

#[derive(Debug)]
pub(crate) enum Lock {
    InLoop(Guard),
    OnThread(GuardThread, Receiver<LockFileEvent>),
}

impl Lock {
    /// Guards a published file.
    pub(crate) fn new(
        published: Published,
        guarding: Guarding,
        transport: &mut impl Transport,
    ) -> Result<Self, Error> {
        match guarding {
            Guarding::InLoop(mode) => {
                let mut guard = Guard::new(published, mode);
                if !transport.watch(&guard) {
                    guard.give_up_notifications();
                }
                Ok(Self::InLoop(guard))
            }
            Guarding::OnThread(mode, Wake(wake)) => {
                let (sender, events) = mpsc::channel();
                let on_event = move |event| {
                    if sender.send(event).is_ok() {
                        wake();
                    }
                };
                let thread = GuardThread::spawn(published, mode, on_event)?;
                Ok(Self::OnThread(thread, events))
            }
        }
    }

    pub(crate) fn path(&self) -> &Path {
        match self {
            Self::InLoop(guard) => guard.keep().path(),
            Self::OnThread(thread, _) => thread.path(),
        }
    }

    pub(crate) fn update(&mut self, file: &LockFile) -> Result<(), Error> {
        match self {
            Self::InLoop(guard) => guard.update(file),
            Self::OnThread(thread, _) => {
                thread.update(file);
                Ok(())
            }
        }
    }

    /// Reads the notifications of the guard, whose descriptor can be readable.
    pub(crate) fn notified(&mut self, transport: &mut impl Transport) {
        if let Self::InLoop(guard) = self {
            guard.notified();
            // Notifications can have arrived before the transport waited again.
            while transport.watch_again() {
                guard.notified();
            }
        }
    }

    pub(crate) fn deadline(&self, now: Time) -> Option<Time> {
        match self {
            Self::InLoop(guard) => guard.deadline(now),
            Self::OnThread(..) => None,
        }
    }

    /// Looks for the file if that is due, and passes the events to the host.
    pub(crate) fn tick(&mut self, now: Time, host: &mut Host) {
        match self {
            Self::InLoop(guard) => {
                while let Some(event) = guard.tick(now) {
                    host.on_lock_file(event);
                }
            }
            Self::OnThread(_, events) => events.try_iter().for_each(|event| host.on_lock_file(event)),
        }
    }

    pub(crate) fn remove(self) -> Result<bool, Error> {
        match self {
            Self::InLoop(guard) => guard.remove(),
            Self::OnThread(thread, _) => thread.remove(),
        }
    }
}
