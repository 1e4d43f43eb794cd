//! The writer of the transcript. It writes complete lines at once, so that a tap that is killed
//! leaves everything that it has forwarded. If nobody reads the transcript, the lines wait in a
//! bounded queue, and the messages do not wait for them.

use crate::support::transcript::{Header, Line, What, write, write_header};
use crate::support::{MOST_WAITING, Writer, complain};
use ide_mcp::Clock;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The time that a message waits until it is recorded: long for a disk or a program that reads, and
/// short for a person. If nobody reads the transcript, only the first waiting line causes this
/// pause.
const AT_ONCE: Duration = Duration::from_millis(100);

/// The time that a message waits for room while [`MOST_WAITING`] bytes of the transcript are in the
/// queue. A slow disk makes room for a line much sooner, and a writer without room after this time
/// will not have it soon.
const FOR_ROOM: Duration = Duration::from_secs(2);

/// The maximum number of bytes that the recorder holds of a connection before its acceptance: more
/// than the head of any request. Further bytes are missing in the transcript.
const MOST_HELD: usize = 64 * 1024;

/// The transcript of all connections. Its lines are in the order in which they were forwarded.
#[derive(Debug)]
pub(crate) struct Recorder {
    clock: Clock,
    writer: Writer,
    inner: Mutex<Inner>,
}

#[derive(Debug)]
struct Inner {
    /// The bytes of connections that the editor has not accepted: recorded after the acceptance, or
    /// never.
    held: BTreeMap<u32, Held>,
    /// The connections that the editor has accepted.
    attached: BTreeSet<u32>,
    /// The maximum size of the transcript in bytes. `left` is the number of bytes that can still be
    /// written.
    most: u64,
    left: u64,
    failed: bool,
}

/// The lines of a connection that the editor has not accepted so far.
#[derive(Debug, Default)]
struct Held {
    lines: Vec<(What, bool)>,
    bytes: usize,
}

impl Recorder {
    /// Writes the first line, to standard output if there is no `out`. The transcript will have at
    /// most `most` bytes.
    pub(crate) fn begin(out: Option<&Path>, force: bool, most: u64, header: &Header) -> Result<Self, String> {
        let writer = match out {
            Some(path) => Writer::new(create(path, force)?, MOST_WAITING, || {}),
            None => Writer::new(io::stdout(), MOST_WAITING, || {}),
        };
        let mut inner =
            Inner { held: BTreeMap::new(), attached: BTreeSet::new(), most, left: most, failed: false };
        inner
            .put(&writer, write_header(header))
            .map_err(|error| format!("the transcript cannot be written: {error}"))?;
        Ok(Self { clock: Clock::new(), writer, inner: Mutex::new(inner) })
    }

    /// Records an event. A failure is reported once, and the session goes on: a full disk, a
    /// missing reader or the maximum size of the transcript does not interrupt anybody's work.
    pub(crate) fn record(&self, conn: u32, what: What, by_tap: bool) {
        let mut inner = self.lock();
        // A connection in neither list has been ended in favor of a newer one.
        if inner.attached.contains(&conn) {
            self.write(&mut inner, conn, what, by_tap);
        } else if let Some(held) = inner.held.get_mut(&conn) {
            held.push(what, by_tap);
        }
    }

    /// Holds the events of this connection from now on.
    pub(crate) fn hold(&self, conn: u32) {
        self.lock().held.insert(conn, Held::default());
    }

    /// Records the held events of a connection that the editor has accepted, with the current time.
    pub(crate) fn let_in(&self, conn: u32) {
        let mut inner = self.lock();
        let Some(held) = inner.held.remove(&conn) else { return };
        inner.attached.insert(conn);
        for (what, by_tap) in held.lines {
            self.write(&mut inner, conn, what, by_tap);
        }
    }

    /// Drops the held events of a connection that is over, and records nothing more of it. Returns
    /// true if the editor had accepted it.
    pub(crate) fn forget(&self, conn: u32) -> bool {
        let mut inner = self.lock();
        inner.held.remove(&conn);
        inner.attached.remove(&conn)
    }

    /// Returns the connections that the editor has not accepted, oldest first.
    pub(crate) fn strangers(&self) -> Vec<u32> {
        self.lock().held.keys().copied().collect()
    }

    fn write(&self, inner: &mut Inner, conn: u32, what: What, by_tap: bool) {
        // The time is read under the lock, so it never decreases.
        let line = write(&Line { at: self.clock.now(), conn, what, by_tap });
        if inner.failed {
            return;
        }
        if let Err(error) = inner.put(&self.writer, line) {
            inner.fail(&error);
        }
    }

    /// Waits until the transcript is written, but for no longer than `at_most`. Returns true if it
    /// is complete.
    pub(crate) fn end(&self, at_most: Duration) -> bool {
        let written = self.writer.flush(at_most);
        let mut inner = self.lock();
        if let (Err(error), false) = (written, inner.failed) {
            inner.fail(&error);
        }
        !inner.failed
    }

    /// Ends all waits for the transcript, written or not.
    pub(crate) fn abandon(&self) {
        self.writer.abandon();
    }

    /// Locks the state, which is valid even after a panic: the transcript has only complete lines.
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Held {
    fn push(&mut self, what: What, by_tap: bool) {
        if let What::Bytes(_, bytes) = &what {
            self.bytes = self.bytes.saturating_add(bytes.len());
        }
        if self.bytes <= MOST_HELD {
            self.lines.push((what, by_tap));
        }
    }
}

impl Inner {
    fn put(&mut self, writer: &Writer, line: String) -> io::Result<()> {
        let len = u64::try_from(line.len()).unwrap_or(u64::MAX);
        self.left = self.left.checked_sub(len).ok_or_else(|| {
            let most = self.most;
            io::Error::new(ErrorKind::FileTooLarge, format!("it may have no more than --max-bytes {most}"))
        })?;
        // If the queue is not empty, an earlier line has already waited without success.
        let at_once = if writer.is_idle() { AT_ONCE } else { Duration::ZERO };
        writer.put(line.into_bytes(), FOR_ROOM)?;
        let written = writer.flush(at_once);
        // A line that is late can still be written, so lateness alone is no error.
        written.or_else(|late| writer.failure().map_or(Ok(()), |_| Err(late)))
    }

    fn fail(&mut self, error: &io::Error) {
        self.failed = true;
        complain("tap", &format!("the transcript ends here: {error}; what is said goes on, unwritten"));
    }
}

/// Creates a file that only our user can read, since it has all messages and the files in them.
fn create(path: &Path, force: bool) -> Result<File, String> {
    let shown = path.display();
    if force {
        match fs::symlink_metadata(path) {
            Ok(found) if !found.is_file() => return Err(format!("--out {shown} is no file to write over")),
            Ok(_) => fs::remove_file(path).map_err(|error| format!("--out {shown}: {error}"))?,
            Err(_) => {}
        }
    }
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map_err(|error| {
        if error.kind() == ErrorKind::AlreadyExists {
            format!("--out {shown} is there already: name another file, or say --force to write over it")
        } else {
            format!("--out {shown}: {error}")
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::support::transcript::{Side, VERSION};
    use std::env::temp_dir;
    use std::process;

    #[test]
    fn transcript_keeps_its_maximum_size() {
        let header = Header { transcript: VERSION, started_ms: 0, editor: "E".into(), port: 1, token: None };
        let first = write_header(&header).len();
        let path = temp_dir().join(format!("ide-mcp-most-{}.jsonl", process::id()));
        // The times in the lines differ in their number of digits.
        for (name, room, lines) in [("none", 0, 0), ("too little", 20, 0), ("enough for one", 120, 1)] {
            let most = u64::try_from(first + room).unwrap();
            let recorder = Recorder::begin(Some(&path), true, most, &header).unwrap();
            recorder.hold(1);
            recorder.let_in(1);
            for _ in 0..3 {
                recorder.record(
                    1,
                    What::Bytes(Side::Agent, b"forty bytes, and some more of the same....".to_vec()),
                    false,
                );
            }
            assert!(!recorder.end(Duration::ZERO), "{name}");
            let text = fs::read_to_string(&path).unwrap();
            assert!(text.len() <= first + room && text.ends_with('\n'), "{name}: {text}");
            assert_eq!(text.lines().count(), 1 + lines, "{name}: {text}");
        }
        fs::remove_file(&path).unwrap();
        let most = u64::try_from(first - 1).unwrap();
        let error = Recorder::begin(Some(&path), true, most, &header).unwrap_err();
        assert!(error.contains(&format!("--max-bytes {most}")), "{error}");
        fs::remove_file(&path).unwrap();
    }
}
