//! The lock file of a server, and the place where its guard runs.

use super::Server;
use super::guarding::{Guarding, Wake};
use super::transport::Transport;
use ide_mcp::Time;
use ide_mcp::ide::discovery::{AuthToken, LockFile};
use ide_mcp::ide::{self, LockFileEvent};
use ide_mcp_lockfile::{Error, Guard, GuardThread, LockDir, Published, workspace_folders};
use std::path::Path;
use std::sync::mpsc::{self, Receiver};

impl<T: Transport> Server<T> {
    /// Publishes a lock file for the port, with the server's [token](Server::token). The guard restores the
    /// file, and the server removes it before the listener closes. A previously published file is removed.
    ///
    /// # Errors
    /// The errors of [`LockDir::publish`]; [`Error::PortZero`] after [`shutdown`](Server::shutdown).
    pub fn publish(&mut self, dir: &LockDir, file: &LockFile) -> Result<(), Error> {
        let guarding = self.listener.transport.guarding();
        self.publish_guarded(dir, file, guarding)
    }

    /// Publishes a lock file as [`publish`](Self::publish) does, and guards it as `guarding` requires.
    ///
    /// # Errors
    /// The errors of [`publish`](Self::publish), and [`Error::Io`] if the guard gets no thread; nothing is
    /// published then.
    pub fn publish_guarded(
        &mut self,
        dir: &LockDir,
        file: &LockFile,
        guarding: Guarding,
    ) -> Result<(), Error> {
        // The old guard ends first. It would remove a new file with the same name and token as its own.
        self.lock = None;
        self.listener.transport.unwatch();
        let port = if self.listener.is_open() { self.addr.port() } else { 0 };
        let mut file = file.clone();
        if self.token.is_some() {
            file.auth_token.clone_from(&self.token);
        }
        let published = dir.publish(port, &file)?;
        self.lock = Some(Lock::new(published, file, guarding, &mut self.listener.transport)?);
        Ok(())
    }

    /// Returns the token that clients have to present, for an editor that keeps the token for its next run.
    /// [`bind`](Server::bind) can have replaced the token of an earlier process by a fresh one.
    #[must_use]
    pub const fn token(&self) -> Option<&AuthToken> {
        self.token.as_ref()
    }

    /// Returns the path of the lock file.
    #[must_use]
    pub fn lock_path(&self) -> Option<&Path> {
        self.lock.as_ref().map(Lock::path)
    }

    /// Replaces the contents of the lock file but its token and its scope, after folders changed. A guard on a
    /// thread writes them soon, and reports a failure as an event; otherwise this waits for the disk. Without a
    /// file nothing happens.
    ///
    /// # Errors
    /// The errors of [`Published::update`].
    pub fn update_lock_file(&mut self, file: &LockFile) -> Result<(), Error> {
        self.lock.as_mut().map_or(Ok(()), |lock| lock.update(file.clone()))
    }

    /// Replaces the folders in the lock file, after the application opened or closed folders. Waits for the
    /// disk as [`update_lock_file`](Self::update_lock_file) does. Without a file nothing happens.
    ///
    /// # Errors
    /// The errors of [`workspace_folders`] and [`Published::update`].
    pub fn set_folders<P: AsRef<Path>>(&mut self, folders: impl IntoIterator<Item = P>) -> Result<(), Error> {
        let Some(lock) = &mut self.lock else { return Ok(()) };
        let mut file = lock.file.clone();
        file.workspace_folders = workspace_folders(folders)?;
        lock.update(file)
    }

    /// Notes that the descriptor of the guard can be readable.
    pub fn lock_ready(&mut self) {
        if let Some(lock) = &mut self.lock {
            lock.notified(&mut self.listener.transport);
        }
    }
}

/// A published lock file under its guard.
#[derive(Debug)]
pub(crate) struct Lock {
    /// The contents that were published last.
    file: LockFile,
    guard: Place,
}

#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "a server has one lock file")]
enum Place {
    InLoop(Guard),
    OnThread(GuardThread, Receiver<LockFileEvent>),
}

impl Lock {
    /// Guards a published file.
    pub(crate) fn new(
        published: Published,
        file: LockFile,
        guarding: Guarding,
        transport: &mut impl Transport,
    ) -> Result<Self, Error> {
        let guard = match guarding {
            Guarding::InLoop(mode) => {
                let mut guard = Guard::new(published, mode);
                if !transport.watch(&guard) {
                    guard.give_up_notifications();
                }
                Place::InLoop(guard)
            }
            Guarding::OnThread(mode, Wake(wake)) => {
                let (sender, events) = mpsc::channel();
                let on_event = move |event| {
                    if sender.send(event).is_ok() {
                        wake();
                    }
                };
                let thread = GuardThread::spawn(published, mode, on_event)?;
                Place::OnThread(thread, events)
            }
        };
        Ok(Self { file, guard })
    }

    pub(crate) fn path(&self) -> &Path {
        match &self.guard {
            Place::InLoop(guard) => guard.keep().path(),
            Place::OnThread(thread, _) => thread.path(),
        }
    }

    pub(crate) fn update(&mut self, file: LockFile) -> Result<(), Error> {
        match &mut self.guard {
            Place::InLoop(guard) => guard.update(&file)?,
            Place::OnThread(thread, _) => thread.update(&file),
        }
        self.file = file;
        Ok(())
    }

    /// Reads the notifications of the guard, whose descriptor can be readable.
    pub(crate) fn notified(&mut self, transport: &mut impl Transport) {
        if let Place::InLoop(guard) = &mut self.guard {
            guard.notified();
            // Notifications can have arrived before the transport waited again.
            while transport.watch_again() {
                guard.notified();
            }
        }
    }

    pub(crate) fn deadline(&self, now: Time) -> Option<Time> {
        match &self.guard {
            Place::InLoop(guard) => guard.deadline(now),
            Place::OnThread(..) => None,
        }
    }

    /// Looks for the file if that is due, and passes the events to the server.
    pub(crate) fn tick(&mut self, now: Time, server: &mut ide::Server) {
        match &mut self.guard {
            Place::InLoop(guard) => {
                while let Some(event) = guard.tick(now) {
                    server.on_lock_file(event);
                }
            }
            Place::OnThread(_, events) => events.try_iter().for_each(|event| server.on_lock_file(event)),
        }
    }

    pub(crate) fn remove(self) -> Result<bool, Error> {
        match self.guard {
            Place::InLoop(guard) => guard.remove(),
            Place::OnThread(thread, _) => thread.remove(),
        }
    }
}
