//! The lock file of a server, and where its guard runs.
//!
//! ```text
//!  Unpublished ──publish──▶ New ──turn: the transport watches the guard──▶ Guarded
//!       ▲                    ▲                                                │
//!       │                    └────────────────────publish─────────────────────┤
//!       └──────────────────────────────────shutdown───────────────────────────┘
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

/// The lock file by which agents find the server: its path, its token, and its folders.
///
/// A server that was started has already published it. After [`bind`](crate::Server::bind) alone, call
/// [`publish`](Self::publish). The guard restores the file if it vanishes, and the server removes it before
/// its listener closes. [`ServerEvent::LockFile`](ide_mcp::ide::ServerEvent::LockFile) reports what happens
/// to it.
#[derive(Debug)]
pub struct EditorLock {
    published: Option<Guarded>,
    /// The port of the listener; 0 after it has closed.
    port: u16,
    token: Option<AuthToken>,
    /// Where the guard runs unless the application chooses.
    guarding: Guarding,
    /// True after publishing, until a turn makes the transport watch the new guard instead of the old one.
    is_new: bool,
}

/// A published file under its guard.
#[derive(Debug)]
struct Guarded {
    /// What was published last.
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

    /// Publishes a lock file for the port of the server, with its [token](Self::token), and waits for the
    /// disk. An earlier file is removed.
    ///
    /// # Errors
    /// The errors of [`LockDir::publish`], and [`Error::PortZero`] after the shutdown, when nothing listens
    /// any more. Nothing is published then.
    pub fn publish(&mut self, dir: &LockDir, file: &LockFile) -> Result<(), Error> {
        self.publish_guarded(dir, file, self.guarding.clone())
    }

    /// Publishes a lock file as [`publish`](Self::publish) does, with a guard that runs where you say.
    ///
    /// # Errors
    /// The errors of [`publish`](Self::publish), and [`Error::Io`] if the guard's thread cannot be started.
    pub fn publish_guarded(
        &mut self,
        dir: &LockDir,
        file: &LockFile,
        guarding: Guarding,
    ) -> Result<(), Error> {
        // End the old guard first: it would take a new file with the same name and token for its own, and
        // remove it.
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

    /// Returns the token that clients must present. Keep it if you want the next run to
    /// [resume](crate::Bind::Resume). The server replaces a token from an earlier process by a fresh one
    /// where the system does not report who owns a socket.
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

    /// Replaces the contents of the file (for example the name of the editor), but not its token or scope. A
    /// guard on a thread writes them soon and reports a failure as an event; without a thread, this waits for
    /// the disk. Does nothing if no file is published.
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

    /// Replaces the folders in the file. Call it when the person opens or closes a folder: agents that attach
    /// later find the editor by the new ones, and attached agents stay. Waits for the disk as
    /// [`update`](Self::update) does. Does nothing if no file is published.
    ///
    /// # Errors
    /// The errors of [`workspace_folders`] and [`update`](Self::update).
    pub fn set_folders<P: AsRef<Path>>(&mut self, folders: impl IntoIterator<Item = P>) -> Result<(), Error> {
        let Some(Guarded { file, .. }) = &self.published else { return Ok(()) };
        let mut file = file.clone();
        file.workspace_folders = workspace_folders(folders)?;
        self.update(&file)
    }

    /// Removes the file, because the server is about to stop listening.
    pub(super) fn close(&mut self, transport: &mut impl Transport) -> Result<(), Error> {
        (self.port, self.is_new) = (0, false);
        transport.unwatch();
        match self.published.take().map(|published| published.guard) {
            Some(Place::InLoop(guard)) => guard.remove().map(drop),
            Some(Place::OnThread(thread, _)) => thread.remove().map(drop),
            None => Ok(()),
        }
    }

    /// Reads the notifications of the guard, whose descriptor may be readable.
    pub(super) fn notified(&mut self, transport: &mut impl Transport) {
        if let Some(Guarded { guard: Place::InLoop(guard), .. }) = &mut self.published {
            guard.notified();
            // More notifications may have arrived before the transport waited again.
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

    /// Makes the transport watch the guard of a new file, looks at the file if that is due, and passes the
    /// events to the server.
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
