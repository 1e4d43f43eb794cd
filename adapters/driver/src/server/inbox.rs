//! The server's end of the queue of [`Handle`]: each turn runs what was queued before it.

use super::Server;
use super::handle::{Handle, Queue, Work};
use super::transport::Transport;
use crate::sync::MutexGuard;
use ide_mcp::Time;
use ide_mcp::ide::{LockFileEvent, ServerEvent};
use std::collections::VecDeque;
use std::mem;

/// Takes the work of the handles. Dropping it ends all of them.
#[derive(Debug, Default)]
pub(super) struct Inbox {
    /// The handle that all others are clones of; `None` until the application asks for one.
    handle: Option<Handle>,
    /// The events about work that the server has refused.
    events: VecDeque<ServerEvent>,
}

impl Inbox {
    /// Returns true if work or an event waits for a turn.
    pub(super) fn is_due(&self) -> bool {
        let waits = |queue: MutexGuard<'_, Queue>| queue.is_ending || !queue.work.is_empty();
        self.has_events() || self.handle.as_ref().is_some_and(|handle| waits(handle.0.queue()))
    }

    /// Returns true if an event about refused work waits.
    pub(super) fn has_events(&self) -> bool {
        !self.events.is_empty()
    }

    /// Returns the next event about refused work.
    pub(super) fn poll_event(&mut self) -> Option<ServerEvent> {
        self.events.pop_front()
    }

    /// Ends all handles: from now on they accept no work.
    pub(super) fn end(&self) {
        let Some(Handle(shared)) = &self.handle else { return };
        let unrun = {
            let mut queue = shared.queue();
            (queue.is_over, queue.is_ending) = (true, false);
            mem::take(&mut queue.work)
        };
        shared.over.notify_all();
        // Dropping work runs code of the application, which may use a handle.
        drop(unrun);
    }

    /// Takes the whole queue, and the request to end.
    fn take(&self) -> (VecDeque<Work>, bool) {
        let Some(Handle(shared)) = &self.handle else { return Default::default() };
        let mut queue = shared.queue();
        (mem::take(&mut queue.work), mem::take(&mut queue.is_ending))
    }
}

impl Drop for Inbox {
    fn drop(&mut self) {
        self.end();
    }
}

impl<T: Transport> Server<T> {
    /// Returns a handle for other threads. `wake` ends the wait of your loop, which must then take a turn;
    /// only the `wake` of the first call is used.
    pub fn handle(&mut self, wake: impl Fn() + Send + Sync + 'static) -> Handle {
        let port = self.local_addr().port();
        let handle = self.inbox.handle.get_or_insert_with(|| Handle::new(port, wake)).clone();
        self.end_if_over();
        handle
    }

    /// Runs the work of the handles.
    pub(super) fn run_inbox(&mut self, now: Time) {
        let (queue, is_ending) = self.inbox.take();
        for work in queue {
            match work {
                Work::Machine(work) => work(&mut self.machine, now),
                Work::Mention(mention, to) => {
                    if self.machine.mention(now, mention.clone(), to).is_err() {
                        self.inbox.events.push_back(ServerEvent::MentionExpired { mention });
                    }
                }
                Work::Folders(folders) => {
                    if let Err(error) = self.lock_file_mut().set_folders(folders) {
                        self.machine.on_lock_file(LockFileEvent::Failed { error: error.to_string() });
                    }
                }
            }
        }
        if is_ending {
            self.shutdown(now);
        }
    }
}

#[cfg(all(test, not(shuttle)))]
mod tests {
    use super::*;
    use crate::HandleError;
    use ide_mcp::ide::{Mention, Selection};
    use std::time::Duration;

    #[test]
    fn work_and_events_are_due() {
        let handle = Handle::new(1, || {});
        let mut inbox = Inbox { handle: Some(handle.clone()), events: VecDeque::new() };
        assert!(!inbox.is_due() && !inbox.has_events());
        // The second time is like the first.
        for _ in 0..2 {
            handle.select(Selection::cleared()).unwrap();
            handle.mention(Mention::new("/w/a", None), None).unwrap();
            assert!(inbox.is_due());
            assert_eq!(inbox.take().0.len(), 2);
            assert!(!inbox.is_due());
        }
        inbox.events.push_back(ServerEvent::LockFile(LockFileEvent::Lost));
        assert!(inbox.is_due() && inbox.has_events(), "no work waits beside the event");
        assert!(inbox.poll_event().is_some() && !inbox.is_due());
        assert!(!handle.end(Duration::ZERO), "no turn has run");
        assert!(inbox.is_due(), "the end waits for a turn");
        inbox.end();
        assert!(!inbox.is_due());
        let error = handle.select(Selection::cleared()).unwrap_err();
        assert_eq!(
            (error, &*error.to_string()),
            (HandleError::Ended, "the server of the editor has ended: start another one")
        );
    }
}

#[cfg(all(test, shuttle))]
mod orders {
    use super::super::handle::HandleError;
    use super::*;
    use crate::WakeSet;
    use crate::sync::this_thread;
    use shuttle::thread;
    use std::path::PathBuf;
    use std::time::Duration;

    /// Two threads queue work while a third queues its own, ends the server and waits for the end. If a
    /// wake-up is missing, for a turn or for the end, a thread waits forever, which shuttle reports as a
    /// deadlock.
    #[test]
    fn no_order_loses_work_or_the_end() {
        let test = || {
            let wakes = WakeSet::new();
            let wake = wakes.handle_waker();
            let handle = Handle::new(1, move || wake.wake_by_ref());
            let inbox = Inbox { handle: Some(handle.clone()), events: VecDeque::new() };
            let writers = ["/a", "/b"].map(|writer| {
                let handle = handle.clone();
                thread::spawn(move || {
                    let names = [1, 2].map(|n| PathBuf::from(format!("{writer}{n}")));
                    let accepted = names.iter().take_while(|name| match handle.set_folders([name]) {
                        Ok(()) => true,
                        Err(error) => error != HandleError::Ended,
                    });
                    accepted.cloned().collect::<Vec<_>>()
                })
            });
            let ender = thread::spawn(move || {
                handle.set_folders(["/c"]).unwrap();
                assert!(handle.end(Duration::from_secs(1)));
                assert_eq!(handle.set_folders(["/d"]), Err(HandleError::Ended));
            });
            let task = this_thread();
            let mut taken = Vec::new();
            loop {
                let _ = wakes.register(&task);
                let (work, is_ending) = inbox.take();
                taken.extend(work.into_iter().map(|work| match work {
                    Work::Folders(folders) => folders,
                    Work::Machine(_) | Work::Mention(..) => panic!("this was never queued"),
                }));
                if is_ending {
                    break;
                }
                thread::park();
            }
            inbox.end();
            ender.join().unwrap();
            let taken = taken.concat();
            assert!(taken.contains(&PathBuf::from("/c")), "work before the end is lost: {taken:?}");
            for (writer, name) in writers.into_iter().zip(["a", "b"]) {
                let accepted = writer.join().unwrap();
                let of_writer = |path: &&PathBuf| path.to_string_lossy().contains(name);
                let taken: Vec<_> = taken.iter().filter(of_writer).cloned().collect();
                assert!(accepted.starts_with(&taken), "{taken:?} of {accepted:?}");
            }
            assert!(!inbox.is_due(), "work was accepted after the end");
        };
        shuttle::check_random(test, 10_000);
        shuttle::check_pct(test, 10_000, 3);
    }
}
