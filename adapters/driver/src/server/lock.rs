//! The lock file of a server, and the place where its guard runs.
//!
//! ```text
//!  Unpublished ──publish──▶ New ──turn: the transport waits for the guard──▶ Guarded
//!       ▲                    ▲                                                 │
//!       │                    └────────────────────publish──────────────────────┤
//!       └──────────────────────────────────shutdown────────────────────────────┘
//! ```

use super::guarding::{Guarding, Wake};
use super::transport::Transport;
use ide_mcp::Time;
use ide_mcp::ide::discovery::{AuthToken, LockFile};
use ide_mcp::ide::{self, LockFileEvent};
use ide_mcp_lockfile::{Error, Guard, GuardThread, LockDir, workspace_folders};
use std::mem;
use std::path::Path;
use std::sync::mpsc::{self, Receiver};

/// The lock file of a server: its path, its token, and the folders in it. Agents find the server by it.
///
/// A server that was started has published one. A server that was only bound publishes by
/// [`publish`](Self::publish). The guard of the file restores it if it vanishes, and the server removes the file
/// before its listener closes. [`ServerEvent::LockFile`](ide_mcp::ide::ServerEvent::LockFile) reports what happens
/// to it.
#[derive(Debug)]
pub struct EditorLock {
    published: Option<Guarded>,
    /// The port of the listener; 0 once nothing listens any more.
    port: u16,
    token: Option<AuthToken>,
    /// The place of the guard unless the application chooses another.
    guarding: Guarding,
    /// True until the transport waits for the guard, or no longer waits for the one before.
    is_new: bool,
}

/// A published file under its guard.
#[derive(Debug)]
struct Guarded {
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

impl EditorLock {
    pub(super) const fn new(port: u16, token: Option<AuthToken>, guarding: Guarding) -> Self {
        Self { published: None, port, token, guarding, is_new: false }
    }

    /// Publishes a lock file for the port of the server, with its [token](Self::token), and waits for the disk. A
    /// file that was published before is removed.
    ///
    /// # Errors
    /// The errors of [`LockDir::publish`], and [`Error::PortZero`] after the shutdown of the server, when nothing
    /// listens any more. Nothing is published then.
    pub fn publish(&mut self, dir: &LockDir, file: &LockFile) -> Result<(), Error> {
        self.publish_guarded(dir, file, self.guarding.clone())
    }

    /// Publishes a lock file as [`publish`](Self::publish) does, with a guard that runs where `guarding` says.
    ///
    /// # Errors
    /// The errors of [`publish`](Self::publish), and [`Error::Io`] if the guard gets no thread.
    pub fn publish_guarded(
        &mut self,
        dir: &LockDir,
        file: &LockFile,
        guarding: Guarding,
    ) -> Result<(), Error> {
        // The old guard ends first. It would remove a new file with the same name and token as its own.
        self.published = None;
        self.is_new = true;
        let mut file = file.clone();
        if self.token.is_some() {
            file.auth_token.clone_from(&self.token);
        }
        let published = dir.publish(self.port, &file)?;
        let guard = match guarding {
            Guarding::InLoop(mode) => Place::InLoop(Guard::new(published, mode)),
            Guarding::OnThread(mode, Wake(wake)) => {
                let (sender, events) = mpsc::channel();
                let on_event = move |event| {
                    if sender.send(event).is_ok() {
                        wake();
                    }
                };
                Place::OnThread(GuardThread::spawn(published, mode, on_event)?, events)
            }
        };
        self.published = Some(Guarded { file, guard });
        Ok(())
    }

    /// Returns the token that clients must present, for an editor that keeps the token for its next run. The
    /// token is a fresh one if the token of the configuration is from an earlier process and the system does not
    /// report the owners of sockets ([`Bind::Resume`](crate::Bind::Resume)).
    #[must_use]
    pub const fn token(&self) -> Option<&AuthToken> {
        self.token.as_ref()
    }

    /// Returns the path of the published file.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        self.published.as_ref().map(|Guarded { guard, .. }| match guard {
            Place::InLoop(guard) => guard.keep().path(),
            Place::OnThread(thread, _) => thread.path(),
        })
    }

    /// Replaces the contents of the file but its token and its scope, for example its name of the editor. A guard
    /// on a thread writes them soon, and reports a failure as an event. Without such a thread, this method writes
    /// them and waits for the disk. Nothing happens if no file is published.
    ///
    /// # Errors
    /// The errors of [`Published::update`](ide_mcp_lockfile::Published::update).
    pub fn update(&mut self, file: &LockFile) -> Result<(), Error> {
        let Some(published) = &mut self.published else { return Ok(()) };
        match &mut published.guard {
            Place::InLoop(guard) => guard.update(file)?,
            Place::OnThread(thread, _) => thread.update(file),
        }
        published.file = file.clone();
        Ok(())
    }

    /// Replaces the folders in the file, after the application opened or closed folders. Agents that attach later
    /// find the editor by the new folders; attached agents stay. Waits for the disk as [`update`](Self::update)
    /// does. Nothing happens if no file is published.
    ///
    /// # Errors
    /// The errors of [`workspace_folders`] and [`update`](Self::update).
    pub fn set_folders<P: AsRef<Path>>(&mut self, folders: impl IntoIterator<Item = P>) -> Result<(), Error> {
        let Some(Guarded { file, .. }) = &self.published else { return Ok(()) };
        let mut file = file.clone();
        file.workspace_folders = workspace_folders(folders)?;
        self.update(&file)
    }

    /// Removes the file, for a server that no longer listens.
    pub(super) fn close(&mut self, transport: &mut impl Transport) -> Result<(), Error> {
        (self.port, self.is_new) = (0, false);
        transport.unwatch();
        match self.published.take().map(|published| published.guard) {
            Some(Place::InLoop(guard)) => guard.remove().map(drop),
            Some(Place::OnThread(thread, _)) => thread.remove().map(drop),
            None => Ok(()),
        }
    }

    /// Reads the notifications of the guard, whose descriptor can be readable.
    pub(super) fn notified(&mut self, transport: &mut impl Transport) {
        if let Some(Guarded { guard: Place::InLoop(guard), .. }) = &mut self.published {
            guard.notified();
            // Notifications can have arrived before the transport waited again.
            while transport.watch_again() {
                guard.notified();
            }
        }
    }

    pub(super) fn deadline(&self, now: Time) -> Option<Time> {
        match &self.published {
            _ if self.is_new => Some(now),
            Some(Guarded { guard: Place::InLoop(guard), .. }) => guard.deadline(now),
            Some(Guarded { guard: Place::OnThread(..), .. }) | None => None,
        }
    }

    /// Waits for the guard of a new file. Looks for the file if that is due, and passes the events to the server.
    pub(super) fn tick(&mut self, now: Time, server: &mut ide::Server, transport: &mut impl Transport) {
        let is_new = mem::take(&mut self.is_new);
        if is_new {
            transport.unwatch();
        }
        match self.published.as_mut().map(|published| &mut published.guard) {
            Some(Place::InLoop(guard)) => {
                if is_new && !transport.watch(guard) {
                    guard.give_up_notifications();
                }
                while let Some(event) = guard.tick(now) {
                    server.on_lock_file(event);
                }
            }
            Some(Place::OnThread(_, events)) => {
                events.try_iter().for_each(|event| server.on_lock_file(event));
            }
            None => {}
        }
    }
}
