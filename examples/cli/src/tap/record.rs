//! The transcript while it is written: whole lines, each at once, so that whoever is killed leaves all he has seen. Where
//! nobody takes them they wait, within bounds, and what is said does not wait for them.

use crate::support::transcript::{Header, Line, What, write, write_header};
use crate::support::{MOST_WAITING, Writer, complain};
use ide_mcp::Clock;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long what is said waits until it is written down. Long for a disk or a program that reads, and short for a person:
/// the first line that nobody takes makes this pause, and those behind it none.
const AT_ONCE: Duration = Duration::from_millis(100);

/// How long what is said waits where [`MOST_WAITING`] bytes of the transcript wait already. A disk that is slow makes room
/// for a line in far less; what makes none in this time will not soon.
const FOR_ROOM: Duration = Duration::from_secs(2);

/// How much is held of a connection that was not let in: more than the head of any request. What is beyond it is missing.
const MOST_HELD: usize = 64 * 1024;

/// Written to by all connections. The order of its lines is that in which they were handed on.
#[derive(Debug)]
pub(crate) struct Recorder {
    clock: Clock,
    writer: Writer,
    inner: Mutex<Inner>,
}

#[derive(Debug)]
struct Inner {
    /// What was said on connections that the editor has not let in: it is written once it lets them in, and else never.
    held: BTreeMap<u32, Held>,
    /// Those that were let in.
    attached: BTreeSet<u32>,
    /// How many bytes it may have in all, and how many it may have besides.
    most: u64,
    left: u64,
    failed: bool,
}

/// The lines of a connection that was not let in so far.
#[derive(Debug, Default)]
struct Held {
    lines: Vec<(What, bool)>,
    bytes: usize,
}

impl Recorder {
    /// Writes the first line, to standard output if there is no `out`. There will not be more than `most` bytes.
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

    /// Writes down what has just happened. Where that fails it is said once, and the session goes on: nobody's work is
    /// cut off because a disk is full, nobody reads it, or the transcript is as long as it may be.
    pub(crate) fn tell(&self, conn: u32, what: What, by_tap: bool) {
        let mut inner = self.lock();
        // One that is in neither has given way to another stranger.
        if inner.attached.contains(&conn) {
            self.write(&mut inner, conn, what, by_tap);
        } else if let Some(held) = inner.held.get_mut(&conn) {
            held.push(what, by_tap);
        }
    }

    /// Holds what is told of this connection from now on.
    pub(crate) fn hold(&self, conn: u32) {
        self.lock().held.insert(conn, Held::default());
    }

    /// The editor has let this connection in: writes what was held, at this time.
    pub(crate) fn let_in(&self, conn: u32) {
        let mut inner = self.lock();
        let Some(held) = inner.held.remove(&conn) else { return };
        inner.attached.insert(conn);
        for (what, by_tap) in held.lines {
            self.write(&mut inner, conn, what, by_tap);
        }
    }

    /// The connection is over: drops what was held, and writes nothing more of it. Returns true if it was let in.
    pub(crate) fn forget(&self, conn: u32) -> bool {
        let mut inner = self.lock();
        inner.held.remove(&conn);
        inner.attached.remove(&conn)
    }

    /// Returns the connections that were not let in, oldest first.
    pub(crate) fn strangers(&self) -> Vec<u32> {
        self.lock().held.keys().copied().collect()
    }

    fn write(&self, inner: &mut Inner, conn: u32, what: What, by_tap: bool) {
        // The time is taken under the lock, so it never goes back.
        let line = write(&Line { at: self.clock.now(), conn, what, by_tap });
        if inner.failed {
            return;
        }
        if let Err(error) = inner.put(&self.writer, line) {
            inner.fail(&error);
        }
    }

    /// Waits until all of it is written, but no longer than this. Whether it is.
    pub(crate) fn end(&self, at_most: Duration) -> bool {
        let written = self.writer.flush(at_most);
        let mut inner = self.lock();
        if let (Err(error), false) = (written, inner.failed) {
            inner.fail(&error);
        }
        !inner.failed
    }

    /// Nothing waits for the transcript any more, whatever becomes of it.
    pub(crate) fn abandon(&self) {
        self.writer.abandon();
    }

    /// A thread that panicked holds nothing up: what it wrote are whole lines.
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
        // Where something waits already somebody has waited for it in vain.
        let at_once = if writer.is_idle() { AT_ONCE } else { Duration::ZERO };
        writer.put(line.into_bytes(), FOR_ROOM)?;
        let written = writer.flush(at_once);
        // What is not written in time may be later.
        written.or_else(|late| writer.failure().map_or(Ok(()), |_| Err(late)))
    }

    fn fail(&mut self, error: &io::Error) {
        self.failed = true;
        complain("tap", &format!("the transcript ends here: {error}; what is said goes on, unwritten"));
    }
}

/// A new file that nobody else may read: it holds what was said, files and all.
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
    fn a_transcript_has_no_more_bytes_than_it_may() {
        let header = Header { transcript: VERSION, started_ms: 0, editor: "E".into(), port: 1, token: None };
        let first = write_header(&header).len();
        let path = temp_dir().join(format!("ide-mcp-most-{}.jsonl", process::id()));
        // The time in a line has a few digits, or a few more.
        for (name, room, lines) in [("none", 0, 0), ("too little", 20, 0), ("enough for one", 120, 1)] {
            let most = u64::try_from(first + room).unwrap();
            let recorder = Recorder::begin(Some(&path), true, most, &header).unwrap();
            recorder.hold(1);
            recorder.let_in(1);
            for _ in 0..3 {
                recorder.tell(
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
