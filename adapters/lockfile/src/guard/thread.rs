//! A guard on a thread of its own, so that no other thread waits for the disk.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use ide_mcp::Clock;
use ide_mcp::ide::{LockFile, LockFileEvent};

use super::{Guard, GuardMode, Keep};
use crate::Error;

/// The longest time that `remove` and `drop` wait until the thread has removed the file. A disk that
/// takes longer counts as hanging.
const REMOVAL: Duration = Duration::from_secs(2);

/// A [`Guard`] on a thread that belongs to this value.
///
/// Dropping this value removes the file and ends the thread. If the disk hangs, the drop returns after
/// 2 s, and the thread stays in its system call.
#[derive(Debug)]
#[must_use = "the lock file is removed when this is dropped"]
pub struct GuardThread {
    path: PathBuf,
    commands: Sender<Command>,
    #[cfg(unix)]
    wake: std::os::unix::net::UnixStream,
    ended: Receiver<Result<bool, Error>>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
enum Command {
    Update(Box<LockFile>),
    Remove,
}

impl GuardThread {
    /// Starts the thread. The thread calls `on_event` for each event. Let `on_event` pass the event to
    /// your loop and wake the loop.
    ///
    /// # Errors
    /// [`Error::Io`] if the thread cannot be started. The lock file has then been removed.
    pub fn spawn<K: Keep>(
        keep: K,
        mode: GuardMode,
        on_event: impl FnMut(LockFileEvent) + Send + 'static,
    ) -> Result<Self, Error> {
        let path = keep.path().to_owned();
        let (commands, received) = mpsc::channel();
        let (sender, ended) = mpsc::channel();
        #[cfg(unix)]
        let (wake, woken) = pair().map_err(Error::io("guard", &path))?;
        let waiting = Waiting {
            commands: received,
            #[cfg(unix)]
            woken,
            clock: Clock::new(),
        };
        let run = move || {
            // The send fails if the owner no longer waits.
            let _ = sender.send(waiting.run(Guard::new(keep, mode), on_event));
        };
        let thread = thread::Builder::new().name("ide-mcp guard".into()).spawn(run);
        let thread = thread.map_err(Error::io("guard", &path))?;
        Ok(Self {
            path,
            commands,
            #[cfg(unix)]
            wake,
            ended,
            thread: Some(thread),
        })
    }

    /// Returns the path of the file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Requests that the thread publishes other contents, and does not wait. The thread reports a
    /// failure by the event [`Failed`](LockFileEvent::Failed).
    pub fn update(&self, file: &LockFile) {
        self.send(Command::Update(Box::new(file.clone())));
    }

    /// Removes the file and ends the thread. Waits at most 2 s for both.
    ///
    /// # Errors
    /// The errors of [`Published::remove`](crate::Published::remove), and [`Error::Io`] if the
    /// removal takes too long.
    pub fn remove(mut self) -> Result<bool, Error> {
        self.end()
    }

    fn end(&mut self) -> Result<bool, Error> {
        let Some(thread) = self.thread.take() else { return Ok(false) };
        self.send(Command::Remove);
        match self.ended.recv_timeout(REMOVAL) {
            Ok(removed) => {
                let _ = thread.join();
                removed
            }
            Err(_) => Err(Error::io("remove", &self.path)(std::io::ErrorKind::TimedOut)),
        }
    }

    fn send(&self, command: Command) {
        // The send and the write fail only if the thread has ended.
        let _ = self.commands.send(command);
        #[cfg(unix)]
        let _ = std::io::Write::write(&mut &self.wake, &[0]);
    }
}

impl Drop for GuardThread {
    fn drop(&mut self) {
        let _ = self.end();
    }
}

/// Returns a socket that wakes the thread, and the socket for which the thread waits.
#[cfg(unix)]
fn pair() -> std::io::Result<(std::os::unix::net::UnixStream, std::os::unix::net::UnixStream)> {
    let (wake, woken) = std::os::unix::net::UnixStream::pair()?;
    woken.set_nonblocking(true)?;
    Ok((wake, woken))
}

/// The channels and the clock of the thread.
struct Waiting {
    commands: Receiver<Command>,
    #[cfg(unix)]
    woken: std::os::unix::net::UnixStream,
    clock: Clock,
}

impl Waiting {
    fn run<K: Keep>(
        self,
        mut guard: Guard<K>,
        mut on_event: impl FnMut(LockFileEvent),
    ) -> Result<bool, Error> {
        loop {
            guard.notified();
            while let Some(event) = guard.tick(self.clock.now()) {
                on_event(event);
            }
            match self.next(&guard) {
                Ok(Command::Update(file)) => {
                    if let Err(error) = guard.update(&file) {
                        on_event(LockFileEvent::Failed { error: error.to_string() });
                    }
                }
                Ok(Command::Remove) | Err(RecvTimeoutError::Disconnected) => return guard.remove(),
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// Waits for a command, for a notification, or until the guard is due.
    #[cfg(unix)]
    fn next<K: Keep>(&self, guard: &Guard<K>) -> Result<Command, RecvTimeoutError> {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        let wait = self.clock.until(guard.deadline(self.clock.now()));
        // If the wait does not fit into a `Timespec`, `poll` waits without a timeout.
        let wait = wait.and_then(|wait| Timespec::try_from(wait).ok());
        let notified = guard.as_fd();
        let mut fds = vec![PollFd::new(&self.woken, PollFlags::IN)];
        fds.extend(notified.as_ref().map(|fd| PollFd::new(fd, PollFlags::IN)));
        let _ = poll(&mut fds, wait.as_ref());
        while std::io::Read::read(&mut &self.woken, &mut [0; 16]).is_ok_and(|n| n > 0) {}
        self.commands.recv_timeout(Duration::ZERO)
    }

    #[cfg(not(unix))]
    fn next<K: Keep>(&self, guard: &Guard<K>) -> Result<Command, RecvTimeoutError> {
        match self.clock.until(guard.deadline(self.clock.now())) {
            Some(wait) => self.commands.recv_timeout(wait),
            None => self.commands.recv().map_err(|_| RecvTimeoutError::Disconnected),
        }
    }
}
