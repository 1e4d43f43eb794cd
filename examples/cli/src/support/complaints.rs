//! Complaints to standard error, which need not be read by anybody.
//!
//! A thread writes them, from a queue with a bound: whoever complains never waits. What finds no room is counted, and the
//! count is said where it would have stood.

use ide_mcp::ide::display_safe_lines;
use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

/// How many bytes may wait to be written: as much again as the pipe holds.
const ROOM: usize = 64 * 1024;

/// How long the end of a program waits for what it has said. A terminal takes it at once; who reads nothing gets no more.
const SETTLING: Duration = Duration::from_secs(1);

static COMPLAINTS: OnceLock<Complaints> = OnceLock::new();

/// Says something to standard error, under the name of the program; what the peer contributes to it should have no line
/// breaks. It never waits: from 64 KiB on that nobody takes, it is counted in place of being said.
pub(crate) fn complain(program: &str, text: &str) {
    COMPLAINTS.get_or_init(|| Complaints::to(io::stderr())).say(program, text);
}

/// Waits until what was complained of is written, but for no longer than a second.
pub(crate) fn settle() {
    if let Some(complaints) = COMPLAINTS.get() {
        complaints.settle(SETTLING);
    }
}

/// What waits, and the thread that writes it.
#[derive(Debug)]
struct Complaints(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    waiting: Mutex<Waiting>,
    /// There is something to write, or nothing any more.
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Waiting {
    lines: VecDeque<String>,
    /// The length of all lines.
    bytes: usize,
    /// How many found no room behind the last line, and who wanted to say them.
    unsaid: usize,
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
                // Where even that fails there is nobody to tell.
                let _ = out.write_all(line.as_bytes()).and_then(|()| out.flush());
            }
        });
        Self(shared)
    }

    fn say(&self, program: &str, text: &str) {
        let line = format!("{program}: {}\n", display_safe_lines(text));
        let mut waiting = self.0.lock();
        if !waiting.put(line) {
            waiting.unsaid = waiting.unsaid.saturating_add(1);
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
    /// The next line, as soon as there is one; the one before has been written.
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
        // Nobody panics who holds it.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Waiting {
    /// Whether there is room for this line. A long one has it where nothing else waits.
    fn put(&mut self, line: String) -> bool {
        let bytes = self.bytes.saturating_add(line.len());
        // Behind what was not said nothing is, until that has been: so the count stands where it belongs.
        let has_room = self.unsaid == 0 && (bytes <= ROOM || self.lines.is_empty());
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
        let unsaid = std::mem::take(&mut self.unsaid);
        (unsaid > 0).then(|| format!("{}: … and {unsaid} more things were not said\n", self.program))
    }

    fn is_empty(&self) -> bool {
        self.lines.is_empty() && self.unsaid == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::{self, Receiver, Sender};

    /// Takes a line whenever it is told to, and hands it over.
    struct Slow {
        permits: Receiver<()>,
        taken: Sender<String>,
    }

    impl Write for Slow {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.permits.recv().map_err(|_| io::ErrorKind::BrokenPipe)?;
            let text = String::from_utf8(bytes.to_vec()).unwrap();
            self.taken.send(text).map_err(|_| io::ErrorKind::BrokenPipe)?;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn who_complains_never_waits_and_what_is_not_said_is_counted() {
        let (permit, permits) = mpsc::channel();
        let (taken, lines) = mpsc::channel();
        let complaints = Complaints::to(Slow { permits, taken });
        let long = "x".repeat(ROOM);
        complaints.say("p", &long);
        // Until the thread has taken it, it would stand in the way of the next ones.
        permit.send(()).unwrap();
        assert_eq!(
            lines.recv().unwrap(),
            format!("p: {long}\n"),
            "a long one has room where nothing else waits"
        );
        complaints.settle(Duration::from_secs(60));

        // Nothing is written: the first may or may not be in the hands of the thread.
        let line = "y".repeat(1020);
        for _ in 0..100 {
            complaints.say("p", &line);
        }
        complaints.settle(Duration::ZERO);
        assert!(!complaints.0.lock().is_empty(), "and it waits no longer than it is told to");
        let mut said = 0;
        let unsaid = loop {
            permit.send(()).unwrap();
            let next = lines.recv().unwrap();
            if next != format!("p: {line}\n") {
                break next;
            }
            said += 1;
        };
        // 64 lines of 1 KiB have room, and one more is being written.
        assert!(said == 64 || said == 65, "{said}");
        assert_eq!(unsaid, format!("p: … and {} more things were not said\n", 100 - said));
        complaints.say("p", "again");
        permit.send(()).unwrap();
        assert_eq!(lines.recv().unwrap(), "p: again\n");
        complaints.settle(Duration::from_secs(60));
        assert!(complaints.0.lock().is_empty());
    }

    #[test]
    fn where_it_cannot_be_written_nobody_waits() {
        let (taken, lines) = mpsc::channel();
        drop(lines);
        let (permit, permits) = mpsc::channel();
        drop(permit);
        let complaints = Complaints::to(Slow { permits, taken });
        complaints.say("p", "to nobody");
        complaints.settle(Duration::from_secs(60));
        assert!(complaints.0.lock().is_empty());
    }
}
