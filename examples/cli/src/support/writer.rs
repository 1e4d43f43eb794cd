//! Writing from a thread of its own, so that nobody waits for ever for a reader that does not read.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// How many bytes may wait and something be taken in all the same: thousands of events, some hundred of the largest diffs
/// that a person would look at, hours of most sessions. A reader that is so far behind is none, a disk is broken, and more
/// would only be memory that is missing elsewhere. One thing more is taken whatever its size, so the largest has room.
pub(crate) const MOST_WAITING: usize = 16 << 20;

/// How much is written at once: any line of a transcript as a whole, and of the largest event a part, so that it counts as
/// written bit by bit.
const PIECE: usize = 1 << 20;

/// Hands on what it is given, in order, at the pace of whoever reads it.
///
/// ```text
///  taking ──write failed──▶ failed: nothing is taken, and nothing more is written
///     ├────no room in time──▶ failed: nothing is taken, but what waits is written if it can be
///     └────abandon──────────▶ failed: nothing is taken, and nobody waits any more
/// ```
/// It never comes back from a failure: behind a gap nothing would be what it seems. At its drop what waits is left to its
/// thread, and lost where the program ends.
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
    /// How many bytes were taken and are not written, those that are being written among them.
    waiting: usize,
    /// Why nothing more is taken, if so.
    failure: Option<(ErrorKind, String)>,
    /// The thread has ended, or nobody cares any more: what waits will not be written.
    is_over: bool,
    is_dropped: bool,
}

impl Writer {
    /// Writes to `out`. `most` bytes may wait and something be taken in all the same, most often [`MOST_WAITING`]. Where
    /// writing fails `on_failure` is called once, on the thread that writes.
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

    /// Takes this to be written, which is nothing to wait for, unless too much waits already: then for room, but no longer
    /// than this.
    ///
    /// # Errors
    /// What failed, now or before; [`ErrorKind::TimedOut`] where there was no room in time, which is a failure too.
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

    /// Waits until all that was taken is written, but no longer than this.
    ///
    /// # Errors
    /// What failed; [`ErrorKind::TimedOut`] if it is not written in time, which is no failure: it goes on being tried.
    pub(crate) fn flush(&self, at_most: Duration) -> io::Result<()> {
        // What was taken before there was no room is written all the same.
        let state = self.shared.wait(at_most, |state| state.waiting > 0 && !state.is_over);
        state.check()?;
        if state.waiting > 0 { Err(state.unread()) } else { Ok(()) }
    }

    /// Nobody waits any more, now or later, and nothing more is taken.
    pub(crate) fn abandon(&self) {
        let mut state = self.shared.lock();
        state.is_over = true;
        state.fail(&io::Error::new(ErrorKind::Interrupted, "it was given up"));
        drop(state);
        self.shared.changed.notify_all();
    }

    /// Whether nothing waits.
    pub(crate) fn is_idle(&self) -> bool {
        self.shared.lock().waiting == 0
    }

    /// Why nothing more is taken; `None` as long as it is.
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
    /// The thread that writes: to the end of all that is taken.
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

    /// Waits for something to write; `None` if there will be nothing.
    fn next(&self) -> Option<Vec<u8>> {
        let nothing = |state: &mut State| state.queue.is_empty() && !state.is_dropped && !state.is_over;
        let mut state = self.changed.wait_while(self.lock(), nothing).unwrap_or_else(PoisonError::into_inner);
        if state.is_over { None } else { state.queue.pop_front() }
    }

    /// Waits until this is no longer so, at most that long.
    fn wait(&self, at_most: Duration, is_so: impl Fn(&State) -> bool) -> MutexGuard<'_, State> {
        let waited = self.changed.wait_timeout_while(self.lock(), at_most, |state| is_so(state));
        waited.unwrap_or_else(PoisonError::into_inner).0
    }

    /// A thread that panicked leaves nothing half done.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// The first failure stands: the others come of it.
    fn fail(&mut self, why: &io::Error) {
        self.failure.get_or_insert_with(|| (why.kind(), why.to_string()));
    }

    fn check(&self) -> io::Result<()> {
        self.failure.as_ref().map_or(Ok(()), |(kind, why)| Err(io::Error::new(*kind, why.clone())))
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

    /// Takes a piece whenever it is told to, as long as anybody may tell it.
    struct Slow {
        steps: Receiver<io::Result<()>>,
        taken: Sender<Vec<u8>>,
    }

    impl Write for Slow {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.steps.recv().unwrap_or_else(|_| Err(ErrorKind::BrokenPipe.into()))?;
            self.taken.send(bytes.to_vec()).unwrap();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    struct Ends {
        step: Sender<io::Result<()>>,
        taken: Receiver<Vec<u8>>,
        failed: Receiver<()>,
    }

    fn writer(most: usize) -> (Writer, Ends) {
        let ((step, steps), (sender, taken), (fail, failed)) =
            (mpsc::channel(), mpsc::channel(), mpsc::channel());
        let out = Slow { steps, taken: sender };
        (Writer::new(out, most, move || fail.send(()).unwrap()), Ends { step, taken, failed })
    }

    fn kind(result: io::Result<()>) -> Option<ErrorKind> {
        result.err().map(|error| error.kind())
    }

    #[test]
    fn as_much_waits_as_may_and_what_was_taken_is_written() {
        let (writer, ends) = writer(4);
        // Taken while no more than 4 bytes wait, be it ever so long: then 5 wait, which is one too many.
        for bytes in [&b"abc"[..], b"d", b"e"] {
            writer.put(bytes.to_vec(), Duration::ZERO).unwrap();
        }
        assert!(!writer.is_idle());
        assert_eq!(kind(writer.flush(SHORT)), Some(ErrorKind::TimedOut));
        assert!(writer.failure().is_none(), "a reader may be slow");
        assert_eq!(kind(writer.put(b"f".to_vec(), SHORT)), Some(ErrorKind::TimedOut));
        assert_eq!(writer.failure().unwrap().to_string(), "nobody reads it, and 5 bytes wait");
        // Behind the gap comes nothing, but what lies before it does.
        (0..3).for_each(|_| ends.step.send(Ok(())).unwrap());
        assert_eq!(kind(writer.flush(LONG)), Some(ErrorKind::TimedOut));
        assert!(writer.is_idle());
        assert_eq!(kind(writer.put(b"g".to_vec(), LONG)), Some(ErrorKind::TimedOut));
        assert_eq!(ends.taken.try_iter().collect::<Vec<_>>().concat(), b"abcde");
        assert!(ends.failed.try_recv().is_err());
    }

    #[test]
    fn who_waits_for_room_goes_on_when_there_is_some() {
        let (writer, ends) = writer(0);
        writer.put(vec![b'x'; 2 * PIECE + 1], LONG).unwrap();
        thread::scope(|scope| {
            let second = scope.spawn(|| writer.put(b"y".to_vec(), LONG));
            (0..4).for_each(|_| ends.step.send(Ok(())).unwrap());
            second.join().unwrap().unwrap();
        });
        writer.flush(LONG).unwrap();
        let sizes: Vec<usize> = ends.taken.try_iter().map(|piece| piece.len()).collect();
        assert_eq!(sizes, [PIECE, PIECE, 1, 1]);
    }

    #[test]
    fn a_failure_is_told_and_stays() {
        let (writer, ends) = writer(4);
        writer.put(b"abc".to_vec(), LONG).unwrap();
        ends.step.send(Err(io::Error::new(ErrorKind::StorageFull, "full"))).unwrap();
        ends.failed.recv_timeout(LONG).unwrap();
        for tried in [writer.flush(LONG), writer.put(b"d".to_vec(), LONG)] {
            assert_eq!(tried.unwrap_err().to_string(), "full");
        }
    }

    #[test]
    fn nobody_waits_for_what_was_given_up() {
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
    fn what_waits_at_its_drop_is_written() {
        let (writer, ends) = writer(4);
        writer.put(b"abc".to_vec(), LONG).unwrap();
        drop(writer);
        ends.step.send(Ok(())).unwrap();
        assert_eq!(ends.taken.recv_timeout(LONG).unwrap(), b"abc");
        assert!(ends.taken.recv_timeout(LONG).is_err(), "its thread ends");
    }
}
