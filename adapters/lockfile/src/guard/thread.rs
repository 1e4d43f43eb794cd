//! A guard on a thread of its own, so that no other thread waits for the disk.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use ide_mcp::ide::LockFileEvent;
use ide_mcp::ide::discovery::LockFile;
use ide_mcp::{Clock, Time};

use super::{Guard, GuardMode, Keep};
use crate::Error;

/// How long `remove` and `drop` wait for the thread to remove the file. If it takes longer, the disk hangs.
const REMOVAL: Duration = Duration::from_secs(2);

/// A [`Guard`] on a thread of its own.
///
/// Dropping it removes the file and ends the thread. If the disk hangs, the drop returns after 2 s, and the
/// thread stays in its system call.
#[derive(Debug)]
#[must_use = "the lock file is removed when this is dropped"]
pub struct GuardThread {
    path: PathBuf,
    requests: Arc<Mutex<Requests>>,
    wake: Wake,
    ended: Receiver<Result<bool, Error>>,
    thread: Option<JoinHandle<()>>,
}

/// The requests that the thread has not taken yet. A later update replaces an earlier one, so that no queue
/// grows while a disk hangs.
#[derive(Debug, Default)]
struct Requests {
    update: Option<Box<LockFile>>,
    is_end: bool,
}

impl GuardThread {
    /// Starts the thread, which calls `on_event` for each event. Let `on_event` pass the event to your loop
    /// and wake it.
    ///
    /// # Errors
    /// [`Error::Io`] if the thread cannot be started. The lock file has then been removed.
    pub fn spawn<K: Keep>(
        keep: K,
        mode: GuardMode,
        on_event: impl FnMut(LockFileEvent) + Send + 'static,
    ) -> Result<Self, Error> {
        let path = keep.path().to_owned();
        let requests = Arc::new(Mutex::new(Requests::default()));
        let (sender, ended) = mpsc::channel();
        let (wake, woken) = pair().map_err(Error::io("guard", &path))?;
        let waiting = Waiting { requests: Arc::clone(&requests), woken, clock: Clock::new() };
        let run = move || {
            // The send fails if the owner no longer waits.
            let _ = sender.send(waiting.run(Guard::new(keep, mode), on_event));
        };
        let thread = thread::Builder::new().name("ide-mcp guard".into()).spawn(run);
        let thread = thread.map_err(Error::io("guard", &path))?;
        Ok(Self { path, requests, wake, ended, thread: Some(thread) })
    }

    /// Returns the path of the file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Asks the thread to publish new contents, and returns at once. If the thread is busy, a later update
    /// replaces this one.
    ///
    /// When publishing fails, the old contents stay, and the thread reports [`Failed`](LockFileEvent::Failed)
    /// once. It tries again every [`INTERVAL`](Guard::INTERVAL) until this update or a later one is
    /// published, which it reports as [`Restored`](LockFileEvent::Restored). Contents that do not fit in a
    /// lock file are reported, and not tried again.
    pub fn update(&self, file: &LockFile) {
        let update = Some(Box::new(file.clone()));
        self.request(|requests| requests.update = update);
    }

    /// Removes the file and ends the thread. Waits at most 2 s for both.
    ///
    /// # Errors
    /// The errors of [`Published::remove`](crate::Published::remove), and [`Error::Io`] if the removal takes
    /// too long, or if `on_event` has panicked, which also removed the file.
    pub fn remove(mut self) -> Result<bool, Error> {
        self.end()
    }

    fn end(&mut self) -> Result<bool, Error> {
        let Some(thread) = self.thread.take() else { return Ok(false) };
        self.request(|requests| requests.is_end = true);
        match self.ended.recv_timeout(REMOVAL) {
            Ok(removed) => {
                let _ = thread.join();
                removed
            }
            Err(RecvTimeoutError::Timeout) => Err(Error::io("remove", &self.path)(ErrorKind::TimedOut)),
            // `on_event` has panicked, and the unwinding dropped the guard, which removed the file.
            Err(RecvTimeoutError::Disconnected) => {
                let _ = thread.join();
                Err(Error::io("guard", &self.path)(io::Error::other("the event callback panicked")))
            }
        }
    }

    fn request(&self, change: impl FnOnce(&mut Requests)) {
        change(&mut self.requests.lock().unwrap_or_else(PoisonError::into_inner));
        // This fails only if the thread has ended, or if earlier wake-ups are unread, which wake it for this
        // request too.
        #[cfg(unix)]
        let _ = io::Write::write(&mut &self.wake, &[0]);
        #[cfg(not(unix))]
        let _ = self.wake.try_send(());
    }
}

impl Drop for GuardThread {
    fn drop(&mut self) {
        let _ = self.end();
    }
}

/// Our end, which wakes the thread without blocking, and the end on which the thread waits.
#[cfg(unix)]
type Wake = std::os::unix::net::UnixStream;
#[cfg(unix)]
type Woken = std::os::unix::net::UnixStream;
#[cfg(not(unix))]
type Wake = mpsc::SyncSender<()>;
#[cfg(not(unix))]
type Woken = Receiver<()>;

#[cfg(unix)]
fn pair() -> io::Result<(Wake, Woken)> {
    let (wake, woken) = Wake::pair()?;
    wake.set_nonblocking(true)?;
    woken.set_nonblocking(true)?;
    Ok((wake, woken))
}

#[cfg(not(unix))]
#[allow(clippy::unnecessary_wraps, reason = "it fails on Unix")]
fn pair() -> io::Result<(Wake, Woken)> {
    Ok(mpsc::sync_channel(1))
}

/// What the thread waits with: the requests, their wake-ups and the clock.
struct Waiting {
    requests: Arc<Mutex<Requests>>,
    woken: Woken,
    clock: Clock,
}

/// Contents that are not published yet.
struct Pending {
    file: Box<LockFile>,
    again_at: Time,
    /// The failure that was reported last, since a lasting one is reported only once.
    error: Option<String>,
}

impl Pending {
    /// Publishes the contents if that is due. Returns them if they must be tried again.
    fn publish<K: Keep>(
        self,
        guard: &mut Guard<K>,
        now: Time,
        on_event: &mut impl FnMut(LockFileEvent),
    ) -> Option<Self> {
        if now < self.again_at {
            return Some(self);
        }
        let Err(error) = guard.update(&self.file) else {
            if self.error.is_some() {
                on_event(LockFileEvent::Restored);
            }
            return None;
        };
        // Contents that do not fit in a lock file never will.
        let may_pass = matches!(error, Error::Io { .. } | Error::Entropy(_));
        let error = error.to_string();
        if self.error.as_ref() != Some(&error) {
            on_event(LockFileEvent::Failed { error: error.clone() });
        }
        let again_at = now.saturating_add(Guard::<K>::INTERVAL);
        may_pass.then_some(Self { again_at, error: Some(error), ..self })
    }
}

fn earlier(one: Option<Time>, other: Option<Time>) -> Option<Time> {
    one.into_iter().chain(other).min()
}

impl Waiting {
    fn run<K: Keep>(
        self,
        mut guard: Guard<K>,
        mut on_event: impl FnMut(LockFileEvent),
    ) -> Result<bool, Error> {
        let mut pending: Option<Pending> = None;
        loop {
            guard.notified();
            while let Some(event) = guard.tick(self.clock.now()) {
                on_event(event);
            }
            self.wait(&guard, pending.as_ref().map(|pending| pending.again_at));
            let Requests { update, is_end } = self.take();
            if is_end {
                return guard.remove();
            }
            let now = self.clock.now();
            if let Some(file) = update {
                let error = pending.and_then(|pending| pending.error);
                pending = Some(Pending { file, again_at: now, error });
            }
            pending = pending.and_then(|pending| pending.publish(&mut guard, now, &mut on_event));
        }
    }

    fn take(&self) -> Requests {
        std::mem::take(&mut *self.requests.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Waits for a request, for a notification, or until the guard is due. A request that comes later has a
    /// wake-up of its own.
    #[cfg(unix)]
    fn wait<K: Keep>(&self, guard: &Guard<K>, again_at: Option<Time>) {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        let wait = self.clock.until(earlier(guard.deadline(self.clock.now()), again_at));
        // If the time does not fit into a `Timespec`, `poll` waits without a timeout.
        let wait = wait.and_then(|wait| Timespec::try_from(wait).ok());
        let notified = guard.as_fd();
        let mut fds = vec![PollFd::new(&self.woken, PollFlags::IN)];
        fds.extend(notified.as_ref().map(|fd| PollFd::new(fd, PollFlags::IN)));
        let _ = poll(&mut fds, wait.as_ref());
        while io::Read::read(&mut &self.woken, &mut [0; 16]).is_ok_and(|n| n > 0) {}
    }

    #[cfg(not(unix))]
    fn wait<K: Keep>(&self, guard: &Guard<K>, again_at: Option<Time>) {
        let _ = match self.clock.until(earlier(guard.deadline(self.clock.now()), again_at)) {
            Some(wait) => self.woken.recv_timeout(wait).ok(),
            None => self.woken.recv().ok(),
        };
    }
}
