//! Processes of the programs, with a home directory of the test, and with a timeout for each line
//! that the test reads.

#[path = "skip.rs"]
pub mod skip;

use serde_json::{Value, json};
use skip::FOREIGN;
pub use skip::skip;
use std::cell::RefCell;
use std::fs;
use std::io::{BufRead as _, BufReader, ErrorKind, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::{Builder, TempDir};

/// The timeout of each wait: long enough for a busy machine. On an idle machine a wait takes
/// milliseconds.
const PATIENCE: Duration = Duration::from_secs(30);

/// The variables that lead to the files of a user.
const HOME: &[&str] = if cfg!(windows) { &["USERPROFILE", "APPDATA", "LOCALAPPDATA"] } else { &["HOME"] };

/// A directory of the test with a home and a project in it, removed on drop.
pub struct Place {
    root: TempDir,
    /// Open connections with their listeners. The ports that `closed_port` has returned are the local
    /// ports of these connections, so that no process can listen on them.
    closed: RefCell<Vec<(TcpListener, TcpStream)>>,
}

/// Accepts a connection; fails if none comes.
pub fn accept(listener: &TcpListener) -> TcpStream {
    let begin = Instant::now();
    listener.set_nonblocking(true).unwrap();
    loop {
        match listener.accept() {
            Ok((stream, _)) => {
                listener.set_nonblocking(false).unwrap();
                stream.set_nonblocking(false).unwrap();
                return stream;
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                assert!(begin.elapsed() < PATIENCE, "nobody connects");
                thread::sleep(Duration::from_millis(2));
            }
            Err(error) => panic!("{error}"),
        }
    }
}

/// Quotes a word for a shell, as the programs do.
pub fn quoted(word: &str) -> String {
    if word.contains(' ') { format!("'{word}'") } else { word.into() }
}

/// Returns a free port for an editor that will come back on it. The kernel might give an ephemeral port to another
/// program as soon as the editor has ended; this port is not ephemeral.
pub fn lasting_port() -> u16 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    // Another run of the tests begins elsewhere.
    let begin = std::process::id().wrapping_mul(64);
    loop {
        let next = begin.wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed));
        let port = u16::try_from(10_000 + next % 22_000).unwrap();
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}

/// Waits until an editor that has ended has freed its port: a process that another test starts may inherit the
/// listener for a moment.
pub fn await_port(port: &str) {
    let begin = Instant::now();
    while let Err(error) = TcpListener::bind(format!("127.0.0.1:{port}")) {
        assert!(begin.elapsed() < PATIENCE, "port {port}: {error}");
        thread::sleep(Duration::from_millis(5));
    }
}

impl Place {
    pub fn new(name: &str) -> Self {
        // A user may have a umask that lets others write to these folders, and then no program would trust them.
        #[cfg(unix)]
        rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o022));
        let prefix = format!("ide-mcp-{name}-");
        let mut root = Builder::new();
        root.prefix(&prefix);
        // Programs of other users must be able to look into it.
        #[cfg(unix)]
        root.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o755));
        let root = root.tempdir().unwrap();
        fs::create_dir(root.path().join("home")).unwrap();
        fs::create_dir(root.path().join("project")).unwrap();
        Self { root, closed: RefCell::default() }
    }

    pub fn home(&self) -> PathBuf {
        self.root.path().join("home")
    }

    pub fn project(&self) -> PathBuf {
        self.root.path().join("project")
    }

    pub fn lock_dir(&self) -> PathBuf {
        self.home().join(".claude").join("ide")
    }

    /// Waits for the lock file that this program publishes, and returns its path. Ignores the lock
    /// file of the port `other`. The lock file is complete, since a file that is still being
    /// written has another name.
    pub fn published(&self, by: &str, other: Option<&str>) -> PathBuf {
        let is_it = |path: &PathBuf| {
            path.extension().is_some_and(|kind| kind == "lock")
                && path.file_stem().and_then(|port| port.to_str()) != other
        };
        let begin = Instant::now();
        loop {
            if let Some(lock) = self.in_lock_dir().into_iter().find(is_it) {
                return lock;
            }
            assert!(begin.elapsed() < PATIENCE, "{by} publishes no lock file");
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Returns everything in the directory of lock files.
    pub fn in_lock_dir(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.lock_dir());
        entries.map_or_else(|_| Vec::new(), |entries| entries.map(|entry| entry.unwrap().path()).collect())
    }

    pub fn write(&self, name: &str, text: &str) -> String {
        let path = self.project().join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().into()
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.project().join(name)).unwrap()
    }

    /// Returns a port that no process can listen on while this `Place` exists: the local port of an open connection.
    /// The port of a closed listener would not do: a process that another test starts may inherit the listener for a
    /// moment, and after that any program can bind the port.
    pub fn closed_port(&self) -> u16 {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let held = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let port = held.local_addr().unwrap().port();
        self.closed.borrow_mut().push((listener, held));
        port
    }

    /// Starts an editor without a screen, and waits until it listens.
    pub fn editor(&self, arguments: &[&str]) -> Editor {
        let project = self.project();
        let arguments: Vec<&str> =
            ["--headless"].into_iter().chain(arguments.iter().copied()).chain(project.to_str()).collect();
        Editor::at(self.start("editor", &arguments))
    }

    /// Binds a listener and writes its lock file. The listener answers nothing by itself.
    pub fn listener(&self) -> (TcpListener, String) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        self.publish(port, &json!({}));
        (listener, port.to_string())
    }

    /// Writes a lock file for this port, whether a listener exists or not. The file names this process
    /// as an editor that has the project open, with these members changed.
    pub fn publish(&self, port: u16, changes: &Value) -> PathBuf {
        fs::create_dir_all(self.lock_dir()).unwrap();
        let mut file = json!({
            "pid": std::process::id(), "workspaceFolders": [self.project()], "ideName": "scripted",
            "transport": "ws", "authToken": "t",
        });
        if cfg!(windows) {
            // Without this member, agents would look for its process in WSL.
            set(&mut file, &json!({"runningInWindows": true}));
        }
        set(&mut file, changes);
        let lock = self.lock_dir().join(format!("{port}.lock"));
        fs::write(&lock, file.to_string()).unwrap();
        lock
    }

    pub fn agent(&self, arguments: &[&str]) -> Process {
        self.start("agent", arguments)
    }

    pub fn start(&self, program: &str, arguments: &[&str]) -> Process {
        Process::spawn(program, &mut self.command(program, arguments))
    }

    /// Returns a command that runs in the project, with the home of this place.
    pub fn command(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = crate::program(program);
        command.args(arguments);
        self.prepare(&mut command);
        command
    }

    /// Makes a command run in the project, with the home of this place.
    pub fn prepare(&self, command: &mut Command) {
        for name in FOREIGN {
            command.env_remove(name);
        }
        command.current_dir(self.project());
        for name in HOME {
            command.env(name, self.root.path().join("home"));
        }
    }
}

/// Changes these members of an object; null removes a member.
fn set(object: &mut Value, changes: &Value) {
    let object = object.as_object_mut().unwrap();
    object.extend(changes.as_object().unwrap().clone());
    object.retain(|_, value| !value.is_null());
}

/// Changes these members of a lock file; null removes a member.
pub fn rewrite(lock: impl AsRef<Path>, changes: &Value) {
    let mut file: Value = serde_json::from_str(&fs::read_to_string(&lock).unwrap()).unwrap();
    set(&mut file, changes);
    fs::write(lock, file.to_string()).unwrap();
}

/// Waits for the end, and returns the exit status and the standard error.
pub fn ended(mut child: Child) -> (Option<i32>, String) {
    let mut complaints = String::new();
    child.stderr.take().unwrap().read_to_string(&mut complaints).unwrap();
    (child.wait().unwrap().code(), complaints)
}

/// A running editor, and the announcement of its lock file.
pub struct Editor {
    process: Process,
    pub port: String,
    pub lock: PathBuf,
}

impl Editor {
    /// Waits until the editor listens.
    pub fn at(mut process: Process) -> Self {
        let event = process.event("listening");
        let (port, lock) = (event["port"].to_string(), event["lock"].as_str().unwrap().into());
        Self { process, port, lock }
    }
}

impl Deref for Editor {
    type Target = Process;

    fn deref(&self) -> &Process {
        &self.process
    }
}

impl DerefMut for Editor {
    fn deref_mut(&mut self) -> &mut Process {
        &mut self.process
    }
}

/// Returns the id of a process that has ended.
pub fn dead() -> u32 {
    let mut child = Command::new(if cfg!(windows) { "whoami" } else { "true" }).spawn().unwrap();
    child.wait().unwrap();
    let id = child.id();
    // While a handle is open, Windows gives the id to no other process.
    std::mem::forget(child);
    id
}

pub struct Process {
    name: String,
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    seen: Vec<String>,
}

impl Process {
    pub fn spawn(name: &str, command: &mut Command) -> Self {
        let (mut process, out) = Self::spawn_unread(name, command);
        process.read(out);
        process
    }

    /// Starts a process, and returns its standard output, which the caller can read or leave unread.
    pub fn spawn_unread(name: &str, command: &mut Command) -> (Self, ChildStdout) {
        let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = pipes.spawn().unwrap_or_else(|error| panic!("{name}: {error}"));
        let (out, (_, lines)) = (child.stdout.take().unwrap(), mpsc::channel());
        (Self { name: name.into(), stdin: child.stdin.take(), child, lines, seen: Vec::new() }, out)
    }

    /// Reads the lines of the standard output from now on.
    pub fn read(&mut self, out: ChildStdout) {
        let (sender, lines) = mpsc::channel();
        let out = BufReader::new(out);
        thread::spawn(move || out.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        self.lines = lines;
    }

    /// Returns the next line of standard output.
    pub fn line(&mut self) -> String {
        match self.lines.recv_timeout(PATIENCE) {
            Ok(line) => {
                self.seen.push(line.clone());
                line
            }
            Err(_) => panic!("{} printed no more lines; so far:\n{}", self.name, self.seen.join("\n")),
        }
    }

    /// Returns the next line, which is JSON.
    pub fn json(&mut self) -> Value {
        let line = self.line();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    /// Returns the next event, and checks its name.
    pub fn event(&mut self, expected: &str) -> Value {
        let event = self.json();
        assert_eq!(event["event"], expected, "{event}");
        event
    }

    /// Returns the next selection with this text. Skips others, since the editor repeats a selection.
    pub fn until_selected(&mut self, text: &str) -> Value {
        loop {
            let event = self.until("selection_changed");
            if event["params"]["text"] == text {
                return event;
            }
        }
    }

    /// Returns the next event of this name, and skips others.
    pub fn until(&mut self, expected: &str) -> Value {
        loop {
            let event = self.json();
            if event["event"] == expected {
                return event;
            }
        }
    }

    /// Returns the lines up to one for which `is_last` is true.
    pub fn until_line(&mut self, is_last: impl Fn(&str) -> bool) -> Vec<String> {
        let mut lines = Vec::new();
        loop {
            lines.push(self.line());
            if lines.last().is_some_and(|line| is_last(line)) {
                return lines;
            }
        }
    }

    /// Returns all remaining lines, to the end of standard output.
    pub fn rest(&mut self) -> Vec<String> {
        self.lines.iter().collect()
    }

    /// Returns all remaining lines, each of which is JSON.
    pub fn rest_of_json(&mut self) -> Vec<Value> {
        self.rest().iter().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Makes `ide-mcp agent calls` propose a change of a file.
    pub fn propose(&mut self, tab: &str, contents: &str) {
        let diff = json!({"old_file_path": "/x", "new_file_contents": contents, "tab_name": tab});
        self.send_line(&format!("openDiff {diff}"));
    }

    /// Writes a line to standard input.
    pub fn send_line(&mut self, line: &str) {
        self.put(&format!("{line}\n"));
    }

    /// Writes a text to standard input.
    pub fn put(&mut self, text: &str) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(text.as_bytes()).and_then(|()| stdin.flush()).unwrap();
    }

    /// Closes standard input.
    pub fn hang_up(&mut self) {
        self.stdin = None;
    }

    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Asks the process to end: Windows has no signal for another process, and so closes its input.
    #[cfg(windows)]
    pub fn terminate(&mut self) {
        self.hang_up();
    }

    #[cfg(unix)]
    pub fn terminate(&self) {
        self.signal(rustix::process::Signal::TERM);
    }

    /// Does what Ctrl+C does at a terminal.
    #[cfg(unix)]
    pub fn interrupt(&self) {
        self.signal(rustix::process::Signal::INT);
    }

    #[cfg(unix)]
    pub fn signal(&self, signal: rustix::process::Signal) {
        let pid = i32::try_from(self.child.id()).ok().and_then(rustix::process::Pid::from_raw).unwrap();
        rustix::process::kill_process(pid, signal).unwrap();
    }

    /// Writes a line to standard input, and ignores the error if the process no longer reads.
    pub fn try_send_line(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().unwrap();
        let _ = writeln!(stdin, "{line}").and_then(|()| stdin.flush());
    }

    /// Waits for the end of the process, and kills the process after `at_most`; the exit status is
    /// then `None`. Returns the exit status and the standard error.
    #[cfg(target_os = "linux")]
    pub fn end_within(&mut self, at_most: Duration) -> (Option<i32>, String) {
        let begin = Instant::now();
        while self.child.try_wait().unwrap().is_none() {
            if begin.elapsed() > at_most {
                self.child.kill().unwrap();
            }
            // Polls, since std has no wait with a timeout.
            thread::sleep(Duration::from_millis(2));
        }
        self.end()
    }

    /// Waits for the end of the process, and checks the exit status and the parts of the standard
    /// error, which it returns.
    #[track_caller]
    pub fn fails(&mut self, expected: i32, parts: &[&str]) -> String {
        let (status, complaints) = self.end();
        assert!(
            status == Some(expected) && parts.iter().all(|part| complaints.contains(part)),
            "{status:?} {complaints}"
        );
        complaints
    }

    /// Waits for the end of the process, and returns the exit status and the standard error.
    pub fn end(&mut self) -> (Option<i32>, String) {
        let begin = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(
                begin.elapsed() < PATIENCE,
                "{} does not end; so far:\n{}",
                self.name,
                self.seen.join("\n")
            );
            thread::yield_now();
        };
        let mut complaints = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut complaints).unwrap();
        if cfg!(windows) {
            // Windows does not report who owns a port, and each command says so.
            complaints = complaints
                .split_inclusive('\n')
                .filter(|line| !line.contains(": the user who owns "))
                .collect();
        }
        (status.code(), complaints)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
