//! Programs as processes: their lines, awaited, in a home of their own.

use serde_json::Value;
use std::cell::RefCell;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

/// Long enough for a busy machine; what is awaited comes within milliseconds on an idle one.
const PATIENCE: Duration = Duration::from_secs(30);

/// A directory of its own with a home and a project in it, removed at the end.
pub struct Place {
    root: PathBuf,
    /// What keeps the closed ports closed.
    closed: RefCell<Vec<(TcpListener, TcpStream)>>,
}

impl Place {
    pub fn new(name: &str) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let unique = COUNT.fetch_add(1, Ordering::Relaxed);
        let root = std::env::temp_dir().join(format!("ide-mcp-{name}-{}-{unique}", std::process::id()));
        fs::create_dir_all(root.join("home")).unwrap();
        fs::create_dir_all(root.join("project")).unwrap();
        Self { root, closed: RefCell::default() }
    }

    pub fn home(&self) -> PathBuf {
        self.root.join("home")
    }

    pub fn project(&self) -> PathBuf {
        self.root.join("project")
    }

    pub fn lock_dir(&self) -> PathBuf {
        self.root.join("home/.claude/ide")
    }

    /// Waits for the lock file that this program publishes, beside one for another port. From then on it is to be found:
    /// what is still being written has no such name.
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

    /// Everything that lies where lock files do.
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

    /// A port where nobody listens, nor can before the end: a connection begins there. One that was listened on would do
    /// so a little longer in a process that is being started, and then be anybody's.
    pub fn closed_port(&self) -> u16 {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let held = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let port = held.local_addr().unwrap().port();
        self.closed.borrow_mut().push((listener, held));
        port
    }

    pub fn editor(&self, arguments: &[&str]) -> Process {
        let project = self.project();
        let arguments: Vec<&str> =
            ["--headless"].into_iter().chain(arguments.iter().copied()).chain(project.to_str()).collect();
        self.start("editor", &arguments)
    }

    pub fn agent(&self, arguments: &[&str]) -> Process {
        self.start("agent", arguments)
    }

    pub fn start(&self, program: &str, arguments: &[&str]) -> Process {
        Process::spawn(program, &mut self.command(program, arguments))
    }

    /// A program in the project, with a home of its own.
    pub fn command(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = crate::program(program);
        command
            .args(arguments)
            .current_dir(self.project())
            .env("HOME", self.root.join("home"))
            .env_remove("CLAUDE_CONFIG_DIR")
            .env_remove("CLAUDE_CODE_SSE_PORT")
            .env_remove("CLAUDE_CODE_AUTO_CONNECT_IDE")
            .env_remove("CLAUDE_CODE_IDE_HOST_OVERRIDE")
            .env_remove("CLAUDE_CODE_IDE_SKIP_VALID_CHECK")
            .env_remove("OPENCODE_EDITOR_SSE_PORT")
            .env_remove("WSL_DISTRO_NAME");
        command
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.root);
    }
}

/// The id of a process that has ended.
pub fn dead() -> u32 {
    let mut child = Command::new("true").spawn().unwrap();
    child.wait().unwrap();
    child.id()
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
        let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = pipes.spawn().unwrap_or_else(|error| panic!("{name}: {error}"));
        let (sender, lines) = mpsc::channel();
        let out = BufReader::new(child.stdout.take().unwrap());
        thread::spawn(move || out.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        Self { name: name.into(), stdin: child.stdin.take(), child, lines, seen: Vec::new() }
    }

    /// Nobody reads its standard output, unless whoever has it then does.
    pub fn spawn_unread(name: &str, command: &mut Command) -> (Self, ChildStdout) {
        let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = pipes.spawn().unwrap_or_else(|error| panic!("{name}: {error}"));
        let (out, (_, lines)) = (child.stdout.take().unwrap(), mpsc::channel());
        (Self { name: name.into(), stdin: child.stdin.take(), child, lines, seen: Vec::new() }, out)
    }

    /// The next line of standard output.
    pub fn line(&mut self) -> String {
        match self.lines.recv_timeout(PATIENCE) {
            Ok(line) => {
                self.seen.push(line.clone());
                line
            }
            Err(_) => panic!("{} said nothing more; so far:\n{}", self.name, self.seen.join("\n")),
        }
    }

    /// The next event, which must be this one.
    pub fn event(&mut self, expected: &str) -> Value {
        let line = self.line();
        let event: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
        assert_eq!(event["event"], expected, "{line}");
        event
    }

    /// The next selection with this text. A selection is sent more than once, so others are passed over.
    pub fn until_selected(&mut self, text: &str) -> Value {
        loop {
            let event = self.until("selection_changed");
            if event["params"]["text"] == text {
                return event;
            }
        }
    }

    /// The next event of this kind; others are passed over.
    pub fn until(&mut self, expected: &str) -> Value {
        loop {
            let line = self.line();
            let event: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
            if event["event"] == expected {
                return event;
            }
        }
    }

    /// All lines that are left, to the end.
    pub fn rest(&mut self) -> Vec<String> {
        self.lines.iter().collect()
    }

    /// A line for standard input.
    pub fn tell(&mut self, line: &str) {
        self.put(&format!("{line}\n"));
    }

    /// A text for standard input.
    pub fn put(&mut self, text: &str) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(text.as_bytes()).and_then(|()| stdin.flush()).unwrap();
    }

    /// The end of standard input.
    pub fn hang_up(&mut self) {
        self.stdin = None;
    }

    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    #[cfg(unix)]
    pub fn terminate(&self) {
        let pid = i32::try_from(self.child.id()).ok().and_then(rustix::process::Pid::from_raw).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    }

    /// A line for standard input, if the process still reads it.
    pub fn try_tell(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().unwrap();
        let _ = writeln!(stdin, "{line}").and_then(|()| stdin.flush());
    }

    /// Waits for the end, and kills a process that has not ended after this time: then there is no status.
    pub fn end_within(&mut self, at_most: Duration) -> (Option<i32>, String) {
        let begin = Instant::now();
        while self.child.try_wait().unwrap().is_none() {
            if begin.elapsed() > at_most {
                self.child.kill().unwrap();
            }
            // The pause between two looks: std has no wait with a timeout.
            thread::sleep(Duration::from_millis(2));
        }
        self.end()
    }

    /// Waits for the end: its exit status and what it said on standard error.
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
        let mut said = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        (status.code(), said)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
