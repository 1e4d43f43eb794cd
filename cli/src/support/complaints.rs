//! Writes messages to standard error without ever blocking the program, even if nobody reads them.
//!
//! A thread writes them from a bounded queue. Messages that find no room in the queue are counted,
//! and the count is printed in their place.

use ide_mcp::ide::kit::display_safe_lines;
use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

/// The maximum number of bytes in the queue: as much as the pipe itself holds.
const ROOM: usize = 64 * 1024;

/// How long a program waits at its end until its complaints are written. A terminal takes them at
/// once; a reader that does not read loses them.
const SETTLING: Duration = Duration::from_secs(1);

static COMPLAINTS: OnceLock<Complaints> = OnceLock::new();

/// Writes a complaint to standard error, under the name of the program. Text from the peer in it
/// should have no line breaks. The function never waits: while the queue of 64 KiB is full, it only
/// counts complaints.
pub(crate) fn complain(program: &str, text: &str) {
    COMPLAINTS.get_or_init(|| Complaints::to(io::stderr())).queue(program, text);
}

/// Waits until all complaints are written, but for no longer than a second.
pub(crate) fn settle() {
    if let Some(complaints) = COMPLAINTS.get() {
        complaints.settle(SETTLING);
    }
}

/// The queue, and the thread that writes it.
#[derive(Debug)]
struct Complaints(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    waiting: Mutex<Waiting>,
    /// Signals that a line was queued, or that all lines are written.
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Waiting {
    lines: VecDeque<String>,
    /// The length of all lines.
    bytes: usize,
    /// The number of complaints that found no room after the last line. `program` is the program of
    /// the last one of these.
    dropped: usize,
    program: String,
    is_writing: bool,
}

impl Complaints {
    fn to(mut out: impl Write + Send + 'static) -> Self {
        let shared = Arc::new(Shared::default());
        let writes = Arc::clone(&shared);
        thread::spawn(move || {
            loop {
                let line = writes.next();
                // If standard error fails, there is no other place for a complaint about that.
                let _ = out.write_all(line.as_bytes()).and_then(|()| out.flush());
            }
        });
        Self(shared)
    }

    fn queue(&self, program: &str, text: &str) {
        let line = format!("{program}: {}\n", display_safe_lines(text));
        let mut waiting = self.0.lock();
        if !waiting.put(line) {
            waiting.dropped = waiting.dropped.saturating_add(1);
            program.clone_into(&mut waiting.program);
        }
        self.0.changed.notify_all();
    }

    fn settle(&self, patience: Duration) {
        let unsettled = |waiting: &mut Waiting| waiting.is_writing || !waiting.is_empty();
        let settled = self.0.changed.wait_timeout_while(self.0.lock(), patience, unsettled);
        drop(settled.unwrap_or_else(PoisonError::into_inner));
    }
}

impl Shared {
    /// Marks the previous line as written, and waits for the next one.
    fn next(&self) -> String {
        let mut waiting = self.lock();
        waiting.is_writing = false;
        loop {
            if let Some(line) = waiting.take() {
                waiting.is_writing = true;
                return line;
            }
            self.changed.notify_all();
            waiting = self.changed.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        // No code panics while it holds the lock.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Waiting {
    /// Returns true if there is room for this line. An empty queue has room for a line of any
    /// length.
    fn put(&mut self, line: String) -> bool {
        let bytes = self.bytes.saturating_add(line.len());
        // After lost complaints the queue accepts nothing until their count is written, so the
        // count stands in their place.
        let has_room = self.dropped == 0 && (bytes <= ROOM || self.lines.is_empty());
        if has_room {
            self.bytes = bytes;
            self.lines.push_back(line);
        }
        has_room
    }

    fn take(&mut self) -> Option<String> {
        if let Some(line) = self.lines.pop_front() {
            self.bytes = self.bytes.saturating_sub(line.len());
            return Some(line);
        }
        let dropped = std::mem::take(&mut self.dropped);
        (dropped > 0).then(|| format!("{}: … and {dropped} more messages were left out\n", self.program))
    }

    fn is_empty(&self) -> bool {
        self.lines.is_empty() && self.dropped == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::{self, Receiver, Sender};

    /// A writer that takes one line per permit, and hands it over.
    struct Slow {
        permits: Receiver<()>,
        printed_line: Sender<String>,
    }

    impl Write for Slow {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.permits.recv().map_err(|_| io::ErrorKind::BrokenPipe)?;
            let text = String::from_utf8(bytes.to_vec()).unwrap();
            self.printed_line.send(text).map_err(|_| io::ErrorKind::BrokenPipe)?;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn full_queue_counts_complaints_without_waiting() {
        let (permit, permits) = mpsc::channel();
        let (printed_line, lines) = mpsc::channel();
        let complaints = Complaints::to(Slow { permits, printed_line });
        let long = "x".repeat(ROOM);
        complaints.queue("p", &long);
        // Until the thread has taken this line, it would block the next ones.
        permit.send(()).unwrap();
        assert_eq!(lines.recv().unwrap(), format!("p: {long}\n"), "a long line has room in an empty queue");
        complaints.settle(Duration::from_secs(60));

        // Nothing is written. The thread may have taken the first line from the queue.
        let line = "y".repeat(1020);
        for _ in 0..100 {
            complaints.queue("p", &line);
        }
        complaints.settle(Duration::ZERO);
        assert!(!complaints.0.lock().is_empty(), "settle returns after its time");
        let mut printed = 0;
        let dropped = loop {
            permit.send(()).unwrap();
            let next = lines.recv().unwrap();
            if next != format!("p: {line}\n") {
                break next;
            }
            printed += 1;
        };
        // 64 lines of 1 KiB have room, and the thread may hold one more.
        assert!(printed == 64 || printed == 65, "{printed}");
        assert_eq!(dropped, format!("p: … and {} more messages were left out\n", 100 - printed));
        complaints.queue("p", "again");
        permit.send(()).unwrap();
        assert_eq!(lines.recv().unwrap(), "p: again\n");
        complaints.settle(Duration::from_secs(60));
        assert!(complaints.0.lock().is_empty());
    }

    #[test]
    fn failed_writes_do_not_block_settle() {
        let (printed_line, lines) = mpsc::channel();
        drop(lines);
        let (permit, permits) = mpsc::channel();
        drop(permit);
        let complaints = Complaints::to(Slow { permits, printed_line });
        complaints.queue("p", "to nobody");
        complaints.settle(Duration::from_secs(60));
        assert!(complaints.0.lock().is_empty());
    }
}
