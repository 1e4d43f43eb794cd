//! A thread for jobs that can block on a disk, so that the loop never blocks.
//!
//! ```text
//!   loop ── run ──▶ queue ── one at a time ──▶ thread: job(state)
//!    ▲                │ cancel                     │
//!    └── next ◀───────┴────────── follow-up ◀──────┘ wake
//! ```
//! Jobs run in the order of [`run`](Worker::run), so each job finds what the job before it has
//! written. The queue belongs to the loop: when a call ends, its waiting job is dropped, with
//! everything that the job holds.

use ide_mcp::Time;
use ide_mcp::ide::Server;
use ide_mcp::ide::tool::{Call, ToolArguments, ToolCall};
use ide_mcp::mcp::ToolResult;
use ide_mcp::rpc::CallId;
use std::collections::VecDeque;
use std::panic::resume_unwind;
use std::sync::mpsc::{self, Receiver, Sender, TryRecvError};
use std::thread::{self, JoinHandle};
use std::{fmt, io};

/// The continuation of a job in the loop, in an editor `E`.
pub(crate) type FollowUp<E> = Box<dyn FnOnce(&mut E, &mut Server, Time) + Send>;

type Job<S, E> = Box<dyn FnOnce(&mut S) -> FollowUp<E> + Send>;

/// A thread that runs jobs with a state `S`, for an editor `E`.
pub(crate) struct Worker<S, E> {
    jobs: Sender<Job<S, E>>,
    done: Receiver<FollowUp<E>>,
    /// `None` once [`next`](Self::next) has resumed the panic of the thread.
    thread: Option<JoinHandle<()>>,
    /// The jobs that the thread has not received yet, each with its call, if any.
    queue: VecDeque<(Option<CallId>, Job<S, E>)>,
    running: Running,
}

/// The job that the thread runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Running {
    Nothing,
    /// A job of the user, or of the editor itself.
    Own,
    Call(CallId),
    /// A job whose call has ended: its follow-up is dropped.
    Cancelled,
}

impl<S: Send + 'static, E: 'static> Worker<S, E> {
    /// Starts the thread, which calls `wake` after each job.
    ///
    /// # Errors
    /// Returns the error of the system if it cannot create a thread.
    pub(crate) fn new(mut state: S, wake: impl Fn() + Send + 'static) -> io::Result<Self> {
        let (jobs, received) = mpsc::channel::<Job<S, E>>();
        let (sender, done) = mpsc::channel();
        let thread = thread::Builder::new().name("editor disk".into()).spawn(move || {
            let wake = WakeAtEnd(wake);
            // Dropped before the last wake, so that the loop finds the channel disconnected.
            let sender = sender;
            for job in received {
                if sender.send(job(&mut state)).is_err() {
                    return;
                }
                (wake.0)();
            }
        })?;
        Ok(Self { jobs, done, thread: Some(thread), queue: VecDeque::new(), running: Running::Nothing })
    }

    /// Queues a job. Its follow-up `then` runs in the loop, unless `call` has ended before.
    pub(crate) fn run<R>(
        &mut self,
        call: Option<CallId>,
        job: impl FnOnce(&mut S) -> R + Send + 'static,
        then: impl FnOnce(&mut E, &mut Server, Time, R) + Send + 'static,
    ) where
        R: Send + 'static,
    {
        let job: Job<S, E> = Box::new(move |state| {
            let outcome = job(state);
            Box::new(move |editor, server, now| then(editor, server, now, outcome))
        });
        self.queue.push_back((call, job));
        self.start();
    }

    /// Drops the job of a call that has ended, or its follow-up.
    pub(crate) fn cancel(&mut self, call: CallId) {
        self.queue.retain(|(of, _)| *of != Some(call));
        if self.running == Running::Call(call) {
            self.running = Running::Cancelled;
        }
    }

    /// Returns the follow-up of the next finished job. If a job has panicked, resumes its panic.
    pub(crate) fn next(&mut self) -> Option<FollowUp<E>> {
        loop {
            let follow_up = match self.done.try_recv() {
                Ok(follow_up) => follow_up,
                Err(TryRecvError::Empty) => return None,
                Err(TryRecvError::Disconnected) => {
                    let ended = self.thread.take().map(JoinHandle::join);
                    if let Some(Err(panic)) = ended {
                        resume_unwind(panic);
                    }
                    return None;
                }
            };
            if let Some(follow_up) = self.finished(follow_up) {
                return Some(follow_up);
            }
        }
    }

    /// Returns the number of jobs that wait or run.
    pub(crate) fn jobs(&self) -> usize {
        self.queue.len().saturating_add(usize::from(self.running != Running::Nothing))
    }

    /// Returns true if a job without a call waits or runs.
    pub(crate) fn has_own_jobs(&self) -> bool {
        self.running == Running::Own || self.queue.iter().any(|(call, _)| call.is_none())
    }

    fn finished(&mut self, follow_up: FollowUp<E>) -> Option<FollowUp<E>> {
        let was_cancelled = self.running == Running::Cancelled;
        self.running = Running::Nothing;
        self.start();
        (!was_cancelled).then_some(follow_up)
    }

    fn start(&mut self) {
        if self.running != Running::Nothing {
            return;
        }
        if let Some((call, job)) = self.queue.pop_front() {
            // The send fails only after a panic, which `next` passes on.
            let _ = self.jobs.send(job);
            self.running = call.map_or(Running::Own, Running::Call);
        }
    }

    /// Waits for the next follow-up. Returns `None` if no job is left.
    #[cfg(test)]
    pub(crate) fn wait(&mut self) -> Option<FollowUp<E>> {
        while self.running != Running::Nothing {
            let follow_up = self.done.recv().unwrap();
            if let Some(follow_up) = self.finished(follow_up) {
                return Some(follow_up);
            }
        }
        None
    }
}

/// A guard that wakes the loop when it is dropped, even by a panic.
struct WakeAtEnd<W: Fn()>(W);

impl<W: Fn()> Drop for WakeAtEnd<W> {
    fn drop(&mut self) {
        (self.0)();
    }
}

impl<S, E> fmt::Debug for Worker<S, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worker")
            .field("waiting", &self.queue.len())
            .field("running", &self.running)
            .finish_non_exhaustive()
    }
}

/// Answers a call. With a problem, the tool has failed. If the connection has ended, this does
/// nothing.
pub(crate) fn answer<T: ToolArguments>(
    server: &mut Server,
    call: Call<T>,
    answer: Result<T::Answer, String>,
) {
    match answer {
        Ok(answer) => drop(server.answer(call, &answer)),
        Err(problem) => fail(server, call, problem),
    }
}

/// Answers a call of a tool that this editor does not serve.
pub(crate) fn not_served(server: &mut Server, call: ToolCall) {
    let problem = format!("{} is not served by this editor", call.name());
    fail(server, call, problem);
}

fn fail(server: &mut Server, call: impl Into<CallId>, problem: String) {
    let _ = server.call(call).respond(&ToolResult::error(problem));
}

#[cfg(test)]
mod tests {
    use super::*;
    use ide_mcp::ide::{Auth, Policy, ServerConfig};

    use std::panic::{AssertUnwindSafe, catch_unwind};

    #[test]
    fn jobs_run_in_order_and_wake_loop() {
        let config = ServerConfig::new("editor", "1").policy(Policy::new(1, Auth::Disabled));
        let mut server = Server::new(config);
        let (wake, woken) = mpsc::channel();
        let mut worker = Worker::new(0, move || wake.send(()).unwrap()).unwrap();
        let (release, held) = mpsc::channel::<()>();
        worker.run(
            None,
            move |count: &mut u32| {
                held.recv().unwrap();
                *count += 1;
            },
            |seen: &mut Vec<u32>, _, _, ()| {
                seen.push(0);
            },
        );
        for _ in 0..3 {
            let job = |count: &mut u32| {
                *count += 1;
                *count
            };
            worker.run(None, job, |seen, _, _, count| seen.push(count));
        }
        let mut seen = Vec::new();
        assert!(worker.next().is_none() && worker.has_own_jobs(), "the first one hangs");
        release.send(()).unwrap();
        while let Some(follow_up) = worker.wait() {
            follow_up(&mut seen, &mut server, Time::ZERO);
        }
        assert_eq!(seen, [0, 2, 3, 4]);
        assert!(worker.next().is_none() && !worker.has_own_jobs());
        drop(worker);
        assert_eq!(woken.iter().count(), 5, "once for each job, and when the thread ends");
    }

    #[test]
    fn panic_of_a_job_reaches_the_loop() {
        let (wake, woken) = mpsc::channel();
        let mut worker: Worker<(), ()> = Worker::new((), move || wake.send(()).unwrap()).unwrap();
        worker.run(None, |()| panic!("of a job"), |(), _, _, ()| {});
        woken.recv().unwrap();
        let panic = catch_unwind(AssertUnwindSafe(|| worker.next().is_some())).unwrap_err();
        assert_eq!(panic.downcast_ref(), Some(&"of a job"));
    }
}
