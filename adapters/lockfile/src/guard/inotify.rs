//! inotify for the directory of the lock file and for the one above it: if the one above is renamed, the
//! directory itself gets no notification.

use std::ffi::OsStr;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::io::Errno;

/// Room for some events with their names. The next read gets the rest.
const ROOM: usize = 4096;

#[derive(Debug)]
pub(super) struct Notify {
    inotify: OwnedFd,
    /// The name of the lock file.
    name: Vec<u8>,
    /// The watches of the directory and of the directory above it.
    watches: Option<[i32; 2]>,
}

/// What the notifications of one [`take`](Notify::take) mean together.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// True if something happened that may concern the file.
    pub(super) is_change: bool,
    /// True if the file, or its directory, no longer has its name.
    pub(super) is_gone: bool,
    /// True if another lock file was written.
    pub(super) is_rival: bool,
}

impl Notify {
    /// Watches the directories. Returns `None` if the system refuses, for example because the user has too
    /// many watches.
    pub(super) fn new(path: &Path) -> Option<Self> {
        let inotify = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).ok()?;
        let name = path.file_name()?.as_bytes().to_vec();
        let mut notify = Self { inotify, name, watches: None };
        notify.follow(path).ok().map(|_| notify)
    }

    pub(super) fn as_fd(&self) -> BorrowedFd<'_> {
        self.inotify.as_fd()
    }

    /// Watches the directories that exist now. Returns true if they are not the ones that were watched
    /// before.
    pub(super) fn follow(&mut self, path: &Path) -> Result<bool, ()> {
        let dir = path.parent().ok_or(())?;
        let own = WatchFlags::DELETE_SELF | WatchFlags::MOVE_SELF | WatchFlags::ONLYDIR;
        // Some editors write their file in place, so that its name appears before its contents.
        let entries = WatchFlags::DELETE
            | WatchFlags::MOVED_FROM
            | WatchFlags::MOVED_TO
            | WatchFlags::CREATE
            | WatchFlags::CLOSE_WRITE;
        let watch = |path: &Path, flags| inotify::add_watch(&self.inotify, path, flags).map_err(drop);
        let watches = [watch(dir, own | entries)?, watch(dir.parent().ok_or(())?, own)?];
        let before = self.watches.replace(watches);
        for gone in before.iter().flatten().filter(|watch| !watches.contains(watch)) {
            // This fails if the watch has ended by itself.
            let _ = inotify::remove_watch(&self.inotify, *gone);
        }
        Ok(before.is_some_and(|before| before != watches))
    }

    /// Takes all notifications.
    pub(super) fn take(&mut self) -> Seen {
        let (mut seen, mut room) = (Seen::default(), [MaybeUninit::uninit(); ROOM]);
        let mut events = Reader::new(&self.inotify, &mut room);
        loop {
            let event = match events.next() {
                Ok(event) => event,
                Err(Errno::INTR) => continue,
                Err(_) => return seen,
            };
            let is_ours =
                |name: &std::ffi::CStr| OsStr::from_bytes(name.to_bytes()) == OsStr::from_bytes(&self.name);
            let flags = event.events();
            // Our own handle keeps a replaced directory alive. When it is closed, the kernel sends one last
            // notification about the old directory; ignore it.
            let is_current = self.watches.is_some_and(|watches| watches.contains(&event.wd()));
            if !is_current && !flags.contains(ReadFlags::QUEUE_OVERFLOW) {
                continue;
            }
            let is_dir = flags.intersects(ReadFlags::DELETE_SELF | ReadFlags::MOVE_SELF);
            let is_file = event.file_name().is_some_and(is_ours);
            let is_lock = event.file_name().is_some_and(|name| name.to_bytes().ends_with(b".lock"));
            seen.is_rival |= flags.contains(ReadFlags::QUEUE_OVERFLOW)
                || !is_file && is_lock && flags.intersects(ReadFlags::MOVED_TO | ReadFlags::CLOSE_WRITE);
            seen.is_change |= is_dir || is_file || flags.contains(ReadFlags::QUEUE_OVERFLOW);
            seen.is_gone |= is_dir || is_file && flags.intersects(ReadFlags::DELETE | ReadFlags::MOVED_FROM);
        }
    }
}
