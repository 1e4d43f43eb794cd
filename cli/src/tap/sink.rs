//! A destination for the lines of the record: the transcript, or the live view. It takes complete lines at once, so
//! that a tap that is killed leaves everything that it has forwarded. If nobody reads the output, the lines wait in a
//! bounded queue, and the messages do not wait for them.

use crate::support::transcript::{Header, write_header};
use crate::support::{MAX_WAITING, Writer, complain};
use crate::tap::live::Live;
use crate::view::{Filter, Screen};
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long a message waits until it is recorded: long for a disk or a program that reads, and short for a user. If
/// nobody reads the transcript, only the first waiting line causes this pause.
const AT_ONCE: Duration = Duration::from_millis(100);

/// How long a message waits for room while [`MAX_WAITING`] bytes of the transcript are queued. A slow disk makes room
/// for a line much sooner, and a writer that still has no room will not have any soon.
const FOR_ROOM: Duration = Duration::from_secs(2);

#[derive(Debug)]
pub(crate) struct Sink {
    writer: Writer,
    kind: Kind,
    state: Mutex<State>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A transcript of at most `most` bytes.
    Transcript { most: u64 },
    /// A view. No message ever waits for it.
    View,
}

#[derive(Debug)]
struct State {
    /// How many more bytes may be written.
    left: u64,
    failed: bool,
}

impl Sink {
    /// Creates a transcript and writes its first line, to standard output if there is no `out`. The
    /// transcript will have at most `most` bytes.
    pub(crate) fn transcript(
        out: Option<&Path>,
        force: bool,
        most: u64,
        header: &Header,
    ) -> Result<Self, String> {
        let writer = match out {
            Some(path) => Writer::new(create(path, force)?, MAX_WAITING, || {}),
            None => Writer::new(io::stdout(), MAX_WAITING, || {}),
        };
        let sink = Self::new(writer, Kind::Transcript { most }, most);
        sink.try_put(&mut sink.lock(), &write_header(header))
            .map_err(|error| format!("the record cannot be written: {error}"))?;
        Ok(sink)
    }

    /// Creates the live view, on standard output.
    pub(crate) fn view(filter: Filter) -> Self {
        let live = Live::new(filter, Screen::of_stdout, io::stdout());
        Self::new(Writer::new(live, MAX_WAITING, || {}), Kind::View, u64::MAX)
    }

    fn new(writer: Writer, kind: Kind, left: u64) -> Self {
        Self { writer, kind, state: Mutex::new(State { left, failed: false }) }
    }

    /// Adds a line. A failure is reported once, and the session goes on: a full disk, a missing
    /// reader or the maximum size of the transcript does not interrupt anybody's work.
    pub(crate) fn put(&self, line: &str) {
        let mut state = self.lock();
        if state.failed {
            return;
        }
        if let Err(error) = self.try_put(&mut state, line) {
            self.fail(&mut state, &error);
        }
    }

    /// Waits until the lines are written, but for no longer than `at_most`. Returns false for an
    /// incomplete transcript.
    pub(crate) fn end(&self, at_most: Duration) -> bool {
        let written = self.writer.flush(at_most);
        let mut state = self.lock();
        if let (Err(error), false) = (written, state.failed) {
            self.fail(&mut state, &error);
        }
        !state.failed || self.kind == Kind::View
    }

    /// Ends all waits for the output, written or not.
    pub(crate) fn abandon(&self) {
        self.writer.abandon();
    }

    fn try_put(&self, state: &mut State, line: &str) -> io::Result<()> {
        let len = u64::try_from(line.len()).unwrap_or(u64::MAX);
        let (at_once, for_room) = match self.kind {
            Kind::View => (Duration::ZERO, Duration::ZERO),
            Kind::Transcript { most } => {
                state.left = state.left.checked_sub(len).ok_or_else(|| {
                    io::Error::new(ErrorKind::FileTooLarge, format!("it has reached --max-bytes {most}"))
                })?;
                // If the queue is not empty, an earlier line has already waited without success.
                (if self.writer.is_idle() { AT_ONCE } else { Duration::ZERO }, FOR_ROOM)
            }
        };
        self.writer.put(line.as_bytes().to_vec(), for_room)?;
        let written = self.writer.flush(at_once);
        // A late line can still be written, so being late is not an error by itself.
        written.or_else(|late| self.writer.failure().map_or(Ok(()), |_| Err(late)))
    }

    fn fail(&self, state: &mut State, error: &io::Error) {
        state.failed = true;
        let text = match self.kind {
            Kind::Transcript { .. } => {
                format!("the record ends here: {error}; the messages still pass, unrecorded")
            }
            Kind::View => format!("the live view ends here: {error}; the messages still pass"),
        };
        complain("tap", &text);
    }

    /// Locks the state, which is valid even after a panic: a sink has only complete lines.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Creates a file that only our user can read, since it has all messages and the files in them.
fn create(path: &Path, force: bool) -> Result<File, String> {
    let shown = path.display();
    if force {
        match fs::symlink_metadata(path) {
            Ok(found) if !found.is_file() => {
                return Err(format!("--out {shown} is not a file that can be overwritten"));
            }
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
            format!("--out {shown} exists already: name another file, or overwrite it with --force")
        } else {
            format!("--out {shown}: {error}")
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::support::transcript::{Side, VERSION, What};
    use crate::tap::record::Recorder;

    #[test]
    fn transcript_keeps_its_maximum_size() {
        let header = Header {
            transcript: VERSION,
            started_ms: 0,
            editor: "E".into(),
            port: 1,
            token: None,
            folders: vec![],
        };
        let first = write_header(&header).len();
        let temp = crate::support::temp::private_temp_dir();
        let path = temp.path().join("most.jsonl");
        // The times in the lines differ in their number of digits.
        for (name, room, lines) in
            [("no room for a line", 0, 0), ("too little room", 20, 0), ("room for one line", 120, 1)]
        {
            let most = u64::try_from(first + room).unwrap();
            let recorder = Recorder::new(vec![Sink::transcript(Some(&path), true, most, &header).unwrap()]);
            recorder.hold(1);
            recorder.accept(1);
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
        let error = Sink::transcript(Some(&path), true, most, &header).unwrap_err();
        assert!(error.contains(&format!("--max-bytes {most}")), "{error}");
    }
}
