//! The editor as a process, and its home.

use crate::support::Place;
use ide_mcp::ide::discovery::{AuthToken, LockFile};
use rustix::process::{Pid, Signal, kill_process};
use serde::Deserialize;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError, mpsc};
use std::time::Duration;
use std::{fs, io, thread};

/// The timeout for the editor to listen, which takes milliseconds.
const START: Duration = Duration::from_secs(10);

/// The file of all selections and mentions, and its number of lines.
pub(super) const LINES: &str = "lines.txt";
pub(super) const MANY_LINES: u32 = 1000;

/// Creates a home with a project.
pub(super) fn home() -> Place {
    let place = Place::new("soak");
    fs::create_dir(config_dir(&place)).unwrap();
    let lines: String = (0..MANY_LINES).map(|line| format!("line {line} of many\n")).collect();
    place.write(LINES, &lines);
    place.write("good.json", "{\"a\": [1, 2]}\n");
    place.write("bad.json", "{\"a\": x}\n");
    place.write("bad.toml", "a = \n");
    place.write("wide.txt", "\u{1f980} ünï ✻\r\nsecond\n");
    place
}

fn config_dir(home: &Place) -> PathBuf {
    home.home().join(".claude")
}

/// A process that is killed on drop.
#[derive(Debug)]
struct Process(Mutex<Child>);

impl Process {
    fn kill(&self) {
        // An error means that the process has ended by itself.
        let mut child = lock(&self.0);
        let _ = child.kill();
        let _ = child.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The editor, which is killed on drop.
#[derive(Debug)]
pub(super) struct Editor {
    pid: u32,
    process: Process,
    stdin: Mutex<ChildStdin>,
    pub(super) port: u16,
    pub(super) token: AuthToken,
    /// The path of its lock file.
    lock: PathBuf,
}

impl Editor {
    /// Starts the editor and waits until it listens. The caller must read the returned output.
    pub(super) fn start(program: &Path, home: &Place) -> Result<(Self, BufReader<ChildStdout>), String> {
        let mut child = Command::new(program)
            .arg("editor")
            .arg("--headless")
            .arg(home.project())
            .env("CLAUDE_CONFIG_DIR", config_dir(home))
            .env_remove("CLAUDE_CODE_SSE_PORT")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("{}: {error}", program.display()))?;
        let (pid, pipes) = (child.id(), child.stdin.take().zip(child.stdout.take()));
        let process = Process(Mutex::new(child));
        let (stdin, stdout) = pipes.ok_or("the editor has no pipes")?;
        let (line, stdout) = first_line(BufReader::new(stdout))?;
        let Listening { port, lock } =
            serde_json::from_str(&line).map_err(|_| format!("the editor does not listen: {line:?}"))?;
        is_in(&lock, &home.lock_dir())?;
        let text = fs::read_to_string(&lock).map_err(|error| format!("{}: {error}", lock.display()))?;
        let file = LockFile::parse(&text).map_err(|error| format!("{}: {error}", lock.display()))?;
        let token = file.auth_token.ok_or("the lock file has no token")?;
        Ok((Self { pid, process, stdin: Mutex::new(stdin), port, token, lock }, stdout))
    }

    /// Writes lines to its standard input.
    pub(super) fn send_lines(&self, lines: &str) -> Result<(), String> {
        let mut stdin = lock(&self.stdin);
        let written = stdin.write_all(lines.as_bytes()).and_then(|()| stdin.flush());
        written.map_err(|error| format!("the editor takes no commands: {error}"))
    }

    /// Returns its resident memory (RSS) in KiB, or `None` on a system without procfs.
    pub(super) fn rss(&self) -> Option<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.pid)).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
        line.trim().strip_suffix("kB")?.trim().parse().ok()
    }

    /// Returns how many files and sockets the editor has open, or `None` on a system without procfs. The descriptor
    /// of the lock file's guard does not count: a thread opens it, perhaps after the event `listening`.
    pub(super) fn descriptors(&self) -> Option<usize> {
        let is_guard = |path: PathBuf| fs::read_link(path).is_ok_and(|to| to.ends_with("anon_inode:inotify"));
        let open = fs::read_dir(format!("/proc/{}/fd", self.pid)).ok()?;
        Some(open.flatten().filter(|descriptor| !is_guard(descriptor.path())).count())
    }

    pub(super) fn terminate(&self) -> Result<(), String> {
        let pid =
            i32::try_from(self.pid).ok().and_then(Pid::from_raw).ok_or("the process id is out of range")?;
        kill_process(pid, Signal::TERM).map_err(|error| format!("the editor cannot be ended: {error}"))
    }

    /// Returns the exit status if the process has ended.
    pub(super) fn ended(&self) -> Option<ExitStatus> {
        lock(&self.process.0).try_wait().ok().flatten()
    }

    /// Returns the exit status if the process ends in time.
    pub(super) fn ends_within(&self, at_most: Duration) -> Option<ExitStatus> {
        let step = Duration::from_millis(10);
        for _ in 0..at_most.as_millis() / step.as_millis() {
            if let Some(status) = self.ended() {
                return Some(status);
            }
            thread::sleep(step);
        }
        self.ended()
    }

    pub(super) fn kill(&self) {
        self.process.kill();
    }

    /// Checks that the ended editor has left no lock file, neither its own nor another.
    pub(super) fn is_tidy(&self, home: &Place) -> Result<(), String> {
        let unknown = |path: &Path, error: io::Error| format!("{}: {error}", path.display());
        let dir = home.lock_dir();
        let files = fs::read_dir(&dir).map_err(|error| unknown(&dir, error))?;
        let files: io::Result<Vec<PathBuf>> = files.map(|file| Ok(file?.path())).collect();
        match files.map_err(|error| unknown(&dir, error))?.as_slice() {
            [] => {}
            left => return Err(format!("these lock files were left: {left:?}")),
        }
        // The list alone does not show a lock file that has been moved with its directory.
        match self.lock.try_exists().map_err(|error| unknown(&self.lock, error))? {
            false => Ok(()),
            true => Err(format!("the lock file was left: {}", self.lock.display())),
        }
    }
}

/// Returns the first line of the output, if it arrives in time, and the rest of the output.
fn first_line(mut stdout: BufReader<ChildStdout>) -> Result<(String, BufReader<ChildStdout>), String> {
    let (sender, receiver) = mpsc::channel();
    // After the timeout this thread is left behind, and ends with the process of the editor.
    thread::spawn(move || {
        let mut line = String::new();
        let read = stdout.read_line(&mut line).map(|_| (line, stdout));
        // An error means that the timeout has passed.
        let _ = sender.send(read);
    });
    let late = || format!("the editor does not listen: it prints nothing within {} s", START.as_secs());
    receiver.recv_timeout(START).map_err(|_| late())?.map_err(|error| error.to_string())
}

/// Checks that the lock file is in the directory: a leftover file elsewhere would not be found.
fn is_in(lock: &Path, dir: &Path) -> Result<(), String> {
    let real = |path: &Path| path.canonicalize().map_err(|error| format!("{}: {error}", path.display()));
    let parent = lock.parent().ok_or("the lock file lies nowhere")?;
    if real(parent)? == real(dir)? {
        return Ok(());
    }
    Err(format!("the lock file {} does not lie in {}", lock.display(), dir.display()))
}

#[derive(Deserialize)]
struct Listening {
    port: u16,
    lock: PathBuf,
}

/// Locks a mutex. Ignores poison, since no change under these locks can panic halfway.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
