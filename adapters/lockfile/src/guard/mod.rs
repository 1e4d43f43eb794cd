//! Guards a published lock file: notices when the file is gone, and restores it.
//!
//! ```text
//!  Resting ──notification, or the interval has passed──▶ Due
//!  Due ──look──▶ Resting      the file is in place, restored, or taken by another program
//!  Due ──look──▶ Failing      the file cannot be restored
//!  Failing ──5 s, the interval, or a notification──▶ Due
//! ```
//!
//! A look checks whether the file is in place, and restores it if it is gone. When another lock file is
//! written, the guard also [keeps the file first](Keep::keep_first). Call [`Guard::tick`] from your loop; it
//! uses the disk only when a look is due. If the system sends notifications, a look is due once at the start,
//! and after each change of the file or its directory. If your loop must never wait for a disk, use a
//! [`GuardThread`].

#[cfg(any(target_os = "linux", target_os = "android"))]
#[path = "inotify.rs"]
mod notify;
#[cfg(not(any(target_os = "linux", target_os = "android")))]
#[path = "no_notify.rs"]
mod notify;
mod thread;

use std::path::Path;
use std::time::Duration;

use ide_mcp::Time;
use ide_mcp::ide::LockFileEvent;
use ide_mcp::ide::discovery::LockFile;
use notify::Notify;
pub use thread::GuardThread;

use crate::{Error, Published, Watch};

/// The minimum interval. With a shorter one the guard would do nothing but look at the file.
const SHORTEST: Duration = Duration::from_millis(1);

/// When a guard looks at its file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum GuardMode {
    /// After each change that the system reports, by inotify on Linux and Android. On other systems, and if
    /// the system refuses, every [`INTERVAL`](Guard::INTERVAL).
    #[default]
    Notified,
    /// At this interval, of at least 1 ms. A look costs some system calls on the file system of the home
    /// directory.
    Every(Duration),
    /// Never. If a client deletes the file because it cannot see the editor's process, it stays deleted.
    Off,
}

/// What a guard keeps in place: a [`Published`] lock file, or a test double.
pub trait Keep: Send + 'static {
    /// Returns the path at which clients look.
    fn path(&self) -> &Path;

    /// Restores the file if it is gone.
    ///
    /// # Errors
    /// The errors of [`Published::republish_if_missing`].
    fn look(&mut self) -> Result<Watch, Error>;

    /// Keeps the file ahead of those that killed editors left behind, for clients that compare the folders
    /// and age of the files and never look at the process. Returns true if it should be called again soon,
    /// because the file of a living process would hide this one once that process ends.
    ///
    /// [`Published`] removes what is surely left over, as [`LockDir::publish`](crate::LockDir::publish) does,
    /// and gives its file a newer time. The default does nothing, which is right for a test double.
    fn keep_first(&mut self) -> bool {
        false
    }

    /// Publishes new contents.
    ///
    /// # Errors
    /// The errors of [`Published::update`].
    fn update(&mut self, file: &LockFile) -> Result<(), Error>;

    /// Removes the file.
    ///
    /// # Errors
    /// The errors of [`Published::remove`].
    fn remove(self) -> Result<bool, Error>;
}

impl Keep for Published {
    fn path(&self) -> &Path {
        self.path()
    }

    fn look(&mut self) -> Result<Watch, Error> {
        self.republish_if_missing()
    }

    fn keep_first(&mut self) -> bool {
        self.outrank_leftovers()
    }

    fn update(&mut self, file: &LockFile) -> Result<(), Error> {
        self.update(file)
    }

    fn remove(self) -> Result<bool, Error> {
        self.remove()
    }
}

/// A published lock file with its guard, which restores the file when it vanishes.
///
/// Dropping it removes the file, as dropping the [`Published`] does.
#[derive(Debug)]
#[must_use = "the lock file is removed when this is dropped"]
pub struct Guard<K = Published> {
    keep: K,
    mode: GuardMode,
    notify: Option<Notify>,
    /// When to look next. With an interval, the first look follows one interval after the first tick.
    look_at: LookAt,
    /// When to look at the files of other editors next.
    rivals_at: LookAt,
    /// The problem that was reported last; `None` once a look has found the file in place or restored it.
    trouble: Option<LockFileEvent>,
    /// True if the system has reported that the file is gone.
    is_lost: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LookAt {
    Never,
    Now,
    /// This long after the next tick.
    In(Duration),
    At(Time),
}

impl<K: Keep> Guard<K> {
    /// How long the guard waits between two looks without notifications, between two attempts to restore the
    /// file, and between two looks at a living editor whose file would hide this one if it were killed.
    pub const INTERVAL: Duration = Duration::from_secs(5);

    /// Guards this file from the first [`tick`](Self::tick) on.
    pub fn new(keep: K, mode: GuardMode) -> Self {
        let mode = match mode {
            GuardMode::Every(interval) => GuardMode::Every(interval.max(SHORTEST)),
            GuardMode::Notified | GuardMode::Off => mode,
        };
        let notify = if mode == GuardMode::Notified { Notify::new(keep.path()) } else { None };
        let look_at = match mode {
            // The file may have changed after it was published and before it was watched.
            GuardMode::Notified if notify.is_some() => LookAt::Now,
            GuardMode::Notified => LookAt::In(Self::INTERVAL),
            GuardMode::Every(interval) => LookAt::In(interval),
            GuardMode::Off => LookAt::Never,
        };
        let rivals_at = match look_at {
            LookAt::In(interval) => LookAt::In(interval.max(Self::INTERVAL)),
            LookAt::Never | LookAt::Now | LookAt::At(_) => look_at,
        };
        Self { keep, mode, notify, look_at, rivals_at, trouble: None, is_lost: false }
    }

    /// Returns the descriptor to poll, or `None` without notifications. When it becomes readable, the file or
    /// its directory has changed: call [`notified`](Self::notified).
    #[cfg(unix)]
    #[must_use]
    pub fn as_fd(&self) -> Option<std::os::fd::BorrowedFd<'_>> {
        self.notify.as_ref().map(Notify::as_fd)
    }

    /// Stops using notifications and looks every [`INTERVAL`](Self::INTERVAL) instead. Call this if your loop
    /// cannot poll the descriptor.
    pub fn give_up_notifications(&mut self) {
        if self.notify.take().is_some() {
            self.look_at = LookAt::In(Self::INTERVAL);
            self.rivals_at = LookAt::In(Self::INTERVAL);
        }
    }

    /// Returns the guarded file.
    pub const fn keep(&self) -> &K {
        &self.keep
    }

    /// Publishes new contents.
    ///
    /// # Errors
    /// The errors of [`Published::update`]; the old contents then stay published.
    pub fn update(&mut self, file: &LockFile) -> Result<(), Error> {
        self.keep.update(file)
    }

    /// Reads the notifications, without using the disk. If they report a change, a look is due at once.
    pub fn notified(&mut self) {
        let Some(notify) = &mut self.notify else { return };
        let seen = notify.take();
        self.is_lost |= seen.is_gone && self.trouble.is_none();
        if seen.is_change {
            self.look_at = LookAt::Now;
        }
        if seen.is_rival {
            self.rivals_at = LookAt::Now;
        }
    }

    /// Returns when to call [`tick`](Self::tick) at the latest; `None` if there is nothing to do before a
    /// notification.
    #[must_use]
    pub fn deadline(&self, now: Time) -> Option<Time> {
        let due = |look_at| match look_at {
            LookAt::Never => None,
            LookAt::Now | LookAt::In(_) => Some(now),
            LookAt::At(at) => Some(at),
        };
        if self.is_lost {
            return Some(now);
        }
        [due(self.look_at), due(self.rivals_at)].into_iter().flatten().min()
    }

    /// Looks at the file if that is due, and restores it if it is gone. Returns an event if there is
    /// something to report.
    pub fn tick(&mut self, now: Time) -> Option<LockFileEvent> {
        let event = self.tick_look(now);
        self.tick_rivals(now);
        event
    }

    fn tick_rivals(&mut self, now: Time) {
        self.rivals_at = match self.rivals_at {
            LookAt::In(wait) => LookAt::At(now.saturating_add(wait)),
            LookAt::At(at) if now < at => return,
            LookAt::Never => return,
            LookAt::Now | LookAt::At(_) => {
                let again = self.keep.keep_first();
                match self.mode {
                    GuardMode::Every(interval) => {
                        LookAt::At(now.saturating_add(interval.max(Self::INTERVAL)))
                    }
                    GuardMode::Notified if again || self.notify.is_none() => {
                        LookAt::At(now.saturating_add(Self::INTERVAL))
                    }
                    GuardMode::Notified | GuardMode::Off => LookAt::Never,
                }
            }
        };
    }

    fn tick_look(&mut self, now: Time) -> Option<LockFileEvent> {
        if std::mem::take(&mut self.is_lost) {
            // Report `Lost` now. The next look that finds the file in place or restores it reports
            // `Restored`, even if an earlier look restored it before this notification was read: each `Lost`
            // gets its `Restored`.
            self.trouble = Some(LockFileEvent::Lost);
            return self.trouble.clone();
        }
        match self.look_at {
            LookAt::In(wait) => {
                self.look_at = LookAt::At(now.saturating_add(wait));
                None
            }
            LookAt::At(at) if now < at => None,
            LookAt::Never => None,
            LookAt::Now | LookAt::At(_) => self.look(now),
        }
    }

    fn look(&mut self, now: Time) -> Option<LockFileEvent> {
        let found = self.keep.look();
        let is_watched = self.notify.as_mut().map(|notify| notify.follow(self.keep.path()));
        let again = || LookAt::At(now.saturating_add(Self::INTERVAL));
        self.look_at = match (&found, self.mode, is_watched) {
            (_, GuardMode::Every(interval), _) => LookAt::At(now.saturating_add(interval)),
            (Err(_), ..) | (_, GuardMode::Notified, None | Some(Err(()))) => again(),
            // The directory was replaced. Look again: the new one may have changed before it was watched.
            (_, GuardMode::Notified, Some(Ok(true))) => again(),
            (_, GuardMode::Notified | GuardMode::Off, _) => LookAt::Never,
        };
        let trouble = match found {
            Ok(Watch::InPlace) if self.trouble.is_none() => return None,
            Ok(Watch::InPlace | Watch::Republished) => None,
            Ok(Watch::Taken) => Some(LockFileEvent::Taken),
            Err(error) => Some(LockFileEvent::Failed { error: error.to_string() }),
        };
        // Report a lasting problem only once.
        let is_known = trouble.is_some() && trouble == self.trouble;
        self.trouble.clone_from(&trouble);
        (!is_known).then(|| trouble.unwrap_or(LockFileEvent::Restored))
    }

    /// Removes the file, as [`Published::remove`] does.
    ///
    /// # Errors
    /// The errors of [`Published::remove`].
    pub fn remove(self) -> Result<bool, Error> {
        self.keep.remove()
    }
}
