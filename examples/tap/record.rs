//! The transcript while it is written: whole lines, each at once, so that whoever is killed leaves all he has seen.

use ide_mcp::Clock;
use ide_mcp_examples::complain;
use ide_mcp_examples::transcript::{Header, Line, What, write, write_header};
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Written to by all connections. The order of its lines is that in which they were handed on.
#[derive(Debug)]
pub(crate) struct Recorder {
    clock: Clock,
    inner: Mutex<Inner>,
}

#[derive(Debug)]
struct Inner {
    /// `None` for standard output.
    file: Option<File>,
    /// How many bytes it may have in all, and how many it may have besides.
    most: u64,
    left: u64,
    failed: bool,
}

impl Recorder {
    /// Writes the first line. There will not be more than `most` bytes.
    pub(crate) fn begin(out: Option<&Path>, force: bool, most: u64, header: &Header) -> Result<Self, String> {
        let file = out.map(|path| create(path, force)).transpose()?;
        let mut inner = Inner { file, most, left: most, failed: false };
        inner
            .put(&write_header(header))
            .map_err(|error| format!("the transcript cannot be written: {error}"))?;
        Ok(Self { clock: Clock::new(), inner: Mutex::new(inner) })
    }

    /// Writes down what has just happened. Where that fails it is said once, and the session goes on: nobody's work is
    /// cut off because a disk is full, or the transcript as long as it may be.
    pub(crate) fn tell(&self, conn: u32, what: What, by_tap: bool) {
        let mut inner = self.lock();
        // The time is taken under the lock, so it never goes back.
        let line = write(&Line { at: self.clock.now(), conn, what, by_tap });
        if inner.failed {
            return;
        }
        if let Err(error) = inner.put(&line) {
            inner.failed = true;
            complain("tap", &format!("the transcript ends here: {error}; what is said goes on, unwritten"));
        }
    }

    /// Whether all of it was written.
    pub(crate) fn is_whole(&self) -> bool {
        !self.lock().failed
    }

    /// A thread that panicked holds nothing up: what it wrote are whole lines.
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn put(&mut self, line: &str) -> io::Result<()> {
        let len = u64::try_from(line.len()).unwrap_or(u64::MAX);
        self.left = self.left.checked_sub(len).ok_or_else(|| {
            let most = self.most;
            io::Error::new(ErrorKind::FileTooLarge, format!("it may have no more than --max-bytes {most}"))
        })?;
        match &mut self.file {
            Some(file) => file.write_all(line.as_bytes()),
            None => {
                let mut out = io::stdout().lock();
                out.write_all(line.as_bytes()).and_then(|()| out.flush())
            }
        }
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
    use ide_mcp_examples::transcript::{Side, VERSION};
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
            for _ in 0..3 {
                recorder.tell(
                    1,
                    What::Bytes(Side::Agent, b"forty bytes, and some more of the same....".to_vec()),
                    false,
                );
            }
            assert!(!recorder.is_whole(), "{name}");
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
