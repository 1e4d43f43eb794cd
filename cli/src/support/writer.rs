//! A writer with its own thread, so that a program never waits forever for a reader.

use super::output::kind_of_write;
use std::collections::VecDeque;
use std::io::{self, ErrorKind, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// The queue takes another item while it has at most this many bytes: thousands of events, some hundred of the largest
/// diffs that anybody would look at, or hours of most sessions. If a reader is that far behind, it has stopped reading,
/// or a disk is broken; a larger queue would only use memory. The last item may be of any size, so there is room for
/// the largest one.
pub(crate) const MAX_WAITING: usize = 16 << 20;

/// The size of a write: any complete line of a transcript, but only a part of the largest event, so
/// that the writer counts its progress.
const PIECE: usize = 1 << 20;

/// Writes its input in order, at the speed of the reader.
///
/// ```text
///  taking ──write failed──▶ failed: takes nothing, and writes nothing more
///     ├────no room in time──▶ failed: takes nothing, but goes on to write the queue
///     └────abandon──────────▶ failed: takes nothing, and no caller waits any more
/// ```
/// A failure is final: the output after a gap would be misleading. After a drop the thread goes on
/// to write the queue; the end of the program ends it.
#[derive(Debug)]
pub(crate) struct Writer {
    shared: Arc<Shared>,
    most: usize,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    queue: VecDeque<Vec<u8>>,
    /// The number of bytes that were taken and are not written yet, including the current write.
    waiting: usize,
    /// Why the writer takes nothing more, or `None` while it does.
    failure: Option<(ErrorKind, String)>,
    /// True if the thread has ended or the queue is abandoned: the rest of it will not be written.
    is_over: bool,
    is_dropped: bool,
}

impl Writer {
    /// Creates a writer to `out`. It takes more while no more than `most` bytes are in the queue,
    /// most often [`MAX_WAITING`]. After a failed write the thread calls `on_failure` once.
    pub(crate) fn new(
        out: impl Write + Send + 'static,
        most: usize,
        on_failure: impl FnOnce() + Send + 'static,
    ) -> Self {
        let shared = Arc::new(Shared { state: Mutex::default(), changed: Condvar::new() });
        let writing = Arc::clone(&shared);
        thread::spawn(move || {
            if writing.write_all(out).is_err() {
                on_failure();
            }
        });
        Self { shared, most }
    }

    /// Adds `bytes` to the queue at once. If the queue is too long, it waits for room, but for no
    /// longer than `at_most`.
    ///
    /// # Errors
    /// The first failure, now or before; [`ErrorKind::TimedOut`] if there was no room in time,
    /// which is a failure too.
    pub(crate) fn put(&self, bytes: Vec<u8>, at_most: Duration) -> io::Result<()> {
        let is_full = |state: &State| state.waiting > self.most && state.failure.is_none();
        let mut state = self.shared.wait(at_most, is_full);
        if is_full(&state) {
            let unread = state.unread();
            state.fail(&unread);
        }
        state.check()?;
        state.waiting = state.waiting.saturating_add(bytes.len());
        state.queue.push_back(bytes);
        drop(state);
        self.shared.changed.notify_all();
        Ok(())
    }

    /// Waits until the queue is written, but for no longer than `at_most`.
    ///
    /// # Errors
    /// The first failure; [`ErrorKind::TimedOut`] if the time is up, which is not a failure: the
    /// thread goes on to write.
    pub(crate) fn flush(&self, at_most: Duration) -> io::Result<()> {
        // After a failure for lack of room the thread still writes the queue.
        let state = self.shared.wait(at_most, |state| state.waiting > 0 && !state.is_over);
        state.check()?;
        if state.waiting > 0 { Err(state.unread()) } else { Ok(()) }
    }

    /// Ends all waits, now and later, and takes nothing more.
    pub(crate) fn abandon(&self) {
        let mut state = self.shared.lock();
        state.is_over = true;
        state.fail(&io::Error::new(ErrorKind::Interrupted, "it was given up"));
        drop(state);
        self.shared.changed.notify_all();
    }

    /// Returns true if [`put`](Self::put) does not wait.
    pub(crate) fn has_room(&self) -> bool {
        let state = self.shared.lock();
        state.waiting <= self.most || state.failure.is_some()
    }

    /// Returns true if the queue is empty and written.
    pub(crate) fn is_idle(&self) -> bool {
        self.shared.lock().waiting == 0
    }

    /// Returns the reason why the writer takes nothing more; `None` while it does.
    pub(crate) fn failure(&self) -> Option<io::Error> {
        self.shared.lock().check().err()
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.shared.lock().is_dropped = true;
        self.shared.changed.notify_all();
    }
}

impl Shared {
    /// Runs the thread: writes the queue up to its end.
    fn write_all(&self, mut out: impl Write) -> io::Result<()> {
        while let Some(bytes) = self.next() {
            for piece in bytes.chunks(PIECE) {
                let written = out.write_all(piece).and_then(|()| out.flush());
                let mut state = self.lock();
                if let Err(error) = &written {
                    state.is_over = true;
                    state.fail(error);
                }
                state.waiting = state.waiting.saturating_sub(piece.len());
                drop(state);
                self.changed.notify_all();
                written?;
            }
        }
        Ok(())
    }

    /// Waits for the next item; `None` if there will be none.
    fn next(&self) -> Option<Vec<u8>> {
        let nothing = |state: &mut State| state.queue.is_empty() && !state.is_dropped && !state.is_over;
        let mut state = self.changed.wait_while(self.lock(), nothing).unwrap_or_else(PoisonError::into_inner);
        if state.is_over { None } else { state.queue.pop_front() }
    }

    /// Waits while `is_so` returns true, but for no longer than `at_most`.
    fn wait(&self, at_most: Duration, is_so: impl Fn(&State) -> bool) -> MutexGuard<'_, State> {
        let waited = self.changed.wait_timeout_while(self.lock(), at_most, |state| is_so(state));
        waited.unwrap_or_else(PoisonError::into_inner).0
    }

    /// Locks the state, which is valid even after a panic of another thread.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Sets the failure. The first one stays, since it causes the others.
    fn fail(&mut self, reason: &io::Error) {
        self.failure.get_or_insert_with(|| (kind_of_write(reason), reason.to_string()));
    }

    fn check(&self) -> io::Result<()> {
        self.failure.as_ref().map_or(Ok(()), |(kind, reason)| Err(io::Error::new(*kind, reason.clone())))
    }

    fn unread(&self) -> io::Error {
        io::Error::new(ErrorKind::TimedOut, format!("nobody reads it, and {} bytes wait", self.waiting))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::{self, Receiver, Sender};

    const LONG: Duration = Duration::from_secs(30);
    const SHORT: Duration = Duration::from_millis(20);

    /// A writer that takes a piece per step, until the sender of the steps is dropped.
    struct Slow {
        steps: Receiver<io::Result<()>>,
        written: Sender<Vec<u8>>,
    }

    impl Write for Slow {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.steps.recv().unwrap_or_else(|_| Err(ErrorKind::BrokenPipe.into()))?;
            self.written.send(bytes.to_vec()).unwrap();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    struct Ends {
        step: Sender<io::Result<()>>,
        written: Receiver<Vec<u8>>,
        failed: Receiver<()>,
    }

    fn writer(most: usize) -> (Writer, Ends) {
        let ((step, steps), (sender, written), (fail, failed)) =
            (mpsc::channel(), mpsc::channel(), mpsc::channel());
        let out = Slow { steps, written: sender };
        (Writer::new(out, most, move || fail.send(()).unwrap()), Ends { step, written, failed })
    }

    fn kind(result: io::Result<()>) -> Option<ErrorKind> {
        result.err().map(|error| error.kind())
    }

    #[test]
    fn full_writer_fails_but_writes_its_queue() {
        let (writer, ends) = writer(4);
        // The writer takes more while at most 4 bytes wait; then 5 wait, which is too many.
        for bytes in [&b"abc"[..], b"d", b"e"] {
            writer.put(bytes.to_vec(), Duration::ZERO).unwrap();
        }
        assert!(!writer.is_idle());
        assert_eq!(kind(writer.flush(SHORT)), Some(ErrorKind::TimedOut));
        assert!(writer.failure().is_none(), "a reader may be slow");
        assert_eq!(kind(writer.put(b"f".to_vec(), SHORT)), Some(ErrorKind::TimedOut));
        assert_eq!(writer.failure().unwrap().to_string(), "nobody reads it, and 5 bytes wait");
        // The writer writes the items before the gap, and nothing after it.
        (0..3).for_each(|_| ends.step.send(Ok(())).unwrap());
        assert_eq!(kind(writer.flush(LONG)), Some(ErrorKind::TimedOut));
        assert!(writer.is_idle());
        assert_eq!(kind(writer.put(b"g".to_vec(), LONG)), Some(ErrorKind::TimedOut));
        assert_eq!(ends.written.try_iter().collect::<Vec<_>>().concat(), b"abcde");
        assert!(ends.failed.try_recv().is_err());
    }

    #[test]
    fn put_continues_when_there_is_room() {
        let (writer, ends) = writer(0);
        writer.put(vec![b'x'; 2 * PIECE + 1], LONG).unwrap();
        thread::scope(|scope| {
            let second = scope.spawn(|| writer.put(b"y".to_vec(), LONG));
            (0..4).for_each(|_| ends.step.send(Ok(())).unwrap());
            second.join().unwrap().unwrap();
        });
        writer.flush(LONG).unwrap();
        let sizes: Vec<usize> = ends.written.try_iter().map(|piece| piece.len()).collect();
        assert_eq!(sizes, [PIECE, PIECE, 1, 1]);
    }

    #[test]
    fn failed_write_is_reported_and_final() {
        let (writer, ends) = writer(4);
        writer.put(b"abc".to_vec(), LONG).unwrap();
        ends.step.send(Err(io::Error::new(ErrorKind::StorageFull, "full"))).unwrap();
        ends.failed.recv_timeout(LONG).unwrap();
        for tried in [writer.flush(LONG), writer.put(b"d".to_vec(), LONG)] {
            assert_eq!(tried.unwrap_err().to_string(), "full");
        }
    }

    #[test]
    fn abandon_ends_all_waits() {
        let (writer, _ends) = writer(0);
        writer.put(b"abc".to_vec(), LONG).unwrap();
        thread::scope(|scope| {
            let waiting =
                [scope.spawn(|| writer.put(b"d".to_vec(), LONG)), scope.spawn(|| writer.flush(LONG))];
            writer.abandon();
            for waits in waiting {
                assert_eq!(kind(waits.join().unwrap()), Some(ErrorKind::Interrupted));
            }
        });
    }

    #[test]
    fn dropped_writer_writes_its_queue() {
        let (writer, ends) = writer(4);
        writer.put(b"abc".to_vec(), LONG).unwrap();
        drop(writer);
        ends.step.send(Ok(())).unwrap();
        assert_eq!(ends.written.recv_timeout(LONG).unwrap(), b"abc");
        assert!(ends.written.recv_timeout(LONG).is_err(), "its thread ends");
    }
}
