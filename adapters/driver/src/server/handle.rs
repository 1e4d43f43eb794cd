//! Lets other threads use a server, for loops that cannot wait for sockets.
//!
//! ```text
//!  any thread ─ Handle::with(work) ─▶ ┌───────┐
//!                                     │ queue │ ─ the next turn runs all work in order ─▶ Server
//!  any thread ◀─ Err(Full, Ended) ─── └───────┘
//!                                         │ the server is over, or was dropped
//!                                         ▼
//!                                       Ended: the queue accepts nothing, and every wait ends
//! ```
//!
//! A handle queues the work first, and wakes the loop second. A turn takes the whole queue before it runs
//! anything, so work that queues more work cannot hold up a turn.

use crate::sync::{Condvar, Mutex, MutexGuard};
use ide_mcp::Time;
use ide_mcp::ide::tool::{Call, ToolArguments};
use ide_mcp::ide::{AgentId, Mention, Selection, Server};
use ide_mcp::rpc::{CallId, ErrorObject};
use std::collections::VecDeque;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

/// Lets any thread use a server: it passes work to the server's loop and returns at once.
///
/// All clones share one queue. The server runs the work in order, at the beginning of its next turn.
///
/// ```
/// use ide_mcp::ide::Selection;
/// use ide_mcp::ide::kit::{Position, Range};
/// use ide_mcp_driver::{Handle, HandleError};
///
/// // On the thread of your interface, whenever the person selects something:
/// fn on_select(editor: &Handle, text: &str) -> Result<(), HandleError> {
///     let range = Range::new(Position::new(4, 0), Position::new(6, 0));
///     editor.select(Selection::new("/home/me/project/main.rs", range, text))
/// }
/// ```
#[derive(Clone)]
pub struct Handle(pub(super) Arc<Shared>);

pub(super) struct Shared {
    queue: Mutex<Queue>,
    /// Signals the end of the server, for [`Handle::end`].
    pub(super) over: Condvar,
    wake: Box<dyn Fn() + Send + Sync>,
    port: u16,
}

#[derive(Default)]
pub(super) struct Queue {
    pub(super) work: VecDeque<Work>,
    /// True once a handle has asked the server to end.
    pub(super) is_ending: bool,
    pub(super) is_over: bool,
}

pub(super) enum Work {
    Machine(Box<dyn FnOnce(&mut Server, Time) + Send>),
    Mention(Mention, Option<AgentId>),
    Folders(Vec<PathBuf>),
}

impl Handle {
    /// Creates the first handle of a server, with an empty queue. `wake` ends the wait of the loop.
    pub(super) fn new(port: u16, wake: impl Fn() + Send + Sync + 'static) -> Self {
        let (queue, over) = (Mutex::default(), Condvar::new());
        Self(Arc::new(Shared { queue, over, wake: Box::new(wake), port }))
    }

    /// How many entries the queue can hold. A person causes a few per second, so a full queue means that the
    /// loop of the server does not run.
    pub const MAX_QUEUED: usize = 4096;

    /// Runs `work` with the machine and the current time, on the thread of the server, in its next turn.
    ///
    /// To get a result back, let `work` send it through a channel. Do not wait for it on the thread of the
    /// server.
    ///
    /// # Errors
    /// [`HandleError::Ended`] if the server has ended, and [`HandleError::Full`] if
    /// [`MAX_QUEUED`](Self::MAX_QUEUED) entries wait. The work is then dropped, as it is if the server ends
    /// before its next turn.
    pub fn with<R>(
        &self,
        work: impl FnOnce(&mut Server, Time) -> R + Send + 'static,
    ) -> Result<(), HandleError> {
        self.push(Work::Machine(Box::new(move |server, now| {
            let _ = work(server, now);
        })))
    }

    /// Reports what the person has selected, as [`Server::select`] does.
    ///
    /// # Errors
    /// The errors of [`with`](Self::with).
    pub fn select(&self, selected: Selection) -> Result<(), HandleError> {
        self.with(move |server, now| server.select(now, selected))
    }

    /// Mentions a file to this agent, or to the one that became ready last, as [`Server::mention`] does. If
    /// the server refuses, you get a [`MentionExpired`](ide_mcp::ide::ServerEvent::MentionExpired) event.
    ///
    /// # Errors
    /// The errors of [`with`](Self::with).
    pub fn mention(&self, mention: Mention, to: Option<AgentId>) -> Result<(), HandleError> {
        self.push(Work::Mention(mention, to))
    }

    /// Answers a call as [`Server::answer`] does, for example with the outcome of a diff. If the call has
    /// ended in the meantime, an event has told you so, and the answer is dropped.
    ///
    /// # Errors
    /// The errors of [`with`](Self::with).
    pub fn answer<T>(&self, call: Call<T>, answer: T::Answer) -> Result<(), HandleError>
    where
        T: ToolArguments + 'static,
        T::Answer: Send + 'static,
    {
        self.with(move |server, _| server.answer(call, &answer))
    }

    /// Answers a call with an error, as [`OpenCall::fail`](ide_mcp::ide::OpenCall::fail) does. If the call
    /// has ended in the meantime, an event has told you so.
    ///
    /// # Errors
    /// The errors of [`with`](Self::with).
    pub fn fail(&self, call: impl Into<CallId>, error: impl Into<ErrorObject>) -> Result<(), HandleError> {
        let (call, error) = (call.into(), error.into());
        self.with(move |server, _| server.call(call).fail(error))
    }

    /// Replaces the folders in the lock file, as the server's `set_folders` does. If that fails, you get a
    /// [`LockFileEvent::Failed`](ide_mcp::ide::LockFileEvent::Failed).
    ///
    /// # Errors
    /// The errors of [`with`](Self::with).
    pub fn set_folders<P: Into<PathBuf>>(
        &self,
        folders: impl IntoIterator<Item = P>,
    ) -> Result<(), HandleError> {
        self.push(Work::Folders(folders.into_iter().map(Into::into).collect()))
    }

    /// Asks the server to end, as its `shutdown` does, and returns at once. Calling it again does nothing.
    pub fn shutdown(&self) {
        self.0.queue().is_ending = true;
        (self.0.wake)();
    }

    /// Ends the server and waits until every connection is closed and the lock file is removed (or the event
    /// [`Failed`](ide_mcp::ide::LockFileEvent::Failed) reports that the disk refused). A server needs a few
    /// seconds at most; after `at_most` this returns false. Do not call it on the thread of the server: while
    /// that thread waits here, the server cannot end.
    pub fn end(&self, at_most: Duration) -> bool {
        self.shutdown();
        let waited = self.0.over.wait_timeout_while(self.0.queue(), at_most, |queue| !queue.is_over);
        waited.unwrap_or_else(PoisonError::into_inner).0.is_over
    }

    /// Returns the port on which the server listens.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.0.port
    }

    fn push(&self, work: Work) -> Result<(), HandleError> {
        {
            let mut queue = self.0.queue();
            if queue.is_over {
                return Err(HandleError::Ended);
            }
            if queue.work.len() >= Self::MAX_QUEUED {
                return Err(HandleError::Full);
            }
            queue.work.push_back(work);
        }
        (self.0.wake)();
        Ok(())
    }
}

impl Shared {
    pub(super) fn queue(&self) -> MutexGuard<'_, Queue> {
        // No panic leaves the queue half changed.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle").field("port", &self.0.port).finish_non_exhaustive()
    }
}

/// Why a [`Handle`] takes no work.
///
/// [Causes and reactions](ide_mcp::guide::errors#an-adapter-does-not-listen-or-connect).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HandleError {
    /// The server has ended, or was dropped.
    #[error("the server of the editor has ended: start another one")]
    Ended,
    /// The queue is full: the loop of the server does not run.
    #[error("{} entries wait for the server of the editor: its loop does not run", Handle::MAX_QUEUED)]
    Full,
}
