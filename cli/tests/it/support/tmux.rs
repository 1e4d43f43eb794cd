//! A terminal for a program, in tmux: the test presses keys and reads the screen.

use super::FOREIGN;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(30);
/// The maximum length of a socket's path: macOS has 104 bytes for it and its final NUL, Linux 108.
const MAX_SOCKET: usize = 103;
/// The time between two reads of the screen.
const BLINK: Duration = Duration::from_millis(20);

/// Returns whether this machine has no tmux. The test is [skipped](super::skip) then.
pub fn is_missing() -> bool {
    let is_missing = Command::new("tmux").arg("-V").output().is_err();
    if is_missing {
        super::skip("tmux is not installed");
    }
    is_missing
}

pub struct Tmux {
    socket: String,
}

impl Tmux {
    /// Starts a shell in a directory, with these variables, 80 columns and 24 rows.
    pub fn new(root: &Path, cwd: &Path, variables: &[(&str, &str)]) -> Self {
        let tmux = Self { socket: socket(root) };
        let mut command = tmux.command();
        command.args(["new-session", "-d", "-s", "t", "-x", "80", "-y", "24", "-c"]).arg(cwd);
        for (name, value) in variables {
            command.args(["-e", &format!("{name}={value}")]);
        }
        // `/bin/sh` with an empty `ENV` does not change the settings of the terminal, as the shell of
        // a user can.
        command.args(["-e", "ENV=", "/bin/sh"]);
        let began = command.output().unwrap();
        assert!(began.status.success(), "{began:?}");
        tmux.run(&["set-option", "-g", "escape-time", "0"]);
        tmux.line("echo read''y");
        tmux.wait("ready");
        tmux
    }

    fn command(&self) -> Command {
        let mut command = Command::new("tmux");
        command.args(["-S", &self.socket, "-f", "/dev/null"]);
        for name in FOREIGN {
            command.env_remove(name);
        }
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let output = self.command().args(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        output
    }

    /// Presses keys, named as in tmux.
    pub fn keys(&self, keys: &[&str]) {
        self.run(&[&["send-keys", "-t", "t"], keys].concat());
    }

    pub fn type_text(&self, text: &str) {
        self.run(&["send-keys", "-t", "t", "-l", text]);
    }

    /// Types a line and presses Enter.
    pub fn line(&self, line: &str) {
        self.type_text(line);
        self.keys(&["Enter"]);
    }

    pub fn resize(&self, width: u16, height: u16) {
        self.run(&["resize-window", "-t", "t", "-x", &width.to_string(), "-y", &height.to_string()]);
    }

    pub fn screen(&self) -> String {
        String::from_utf8(self.run(&["capture-pane", "-p", "-t", "t"]).stdout).unwrap()
    }

    /// Returns the screen with its escape sequences for colors.
    pub fn colored(&self) -> String {
        String::from_utf8(self.run(&["capture-pane", "-e", "-p", "-t", "t"]).stdout).unwrap()
    }

    /// Returns the value of a tmux format for the pane.
    pub fn format(&self, format: &str) -> String {
        let text = String::from_utf8(self.run(&["display-message", "-p", "-t", "t", format]).stdout).unwrap();
        text.trim_end().to_owned()
    }

    /// Waits until the screen shows this text, and returns the screen.
    pub fn wait(&self, text: &str) -> String {
        self.until(text, |screen| screen.contains(text))
    }

    pub fn until(&self, what: &str, is_it: impl Fn(&str) -> bool) -> String {
        let begin = Instant::now();
        loop {
            let screen = self.screen();
            if is_it(&screen) {
                return screen;
            }
            assert!(begin.elapsed() < PATIENCE, "{what:?} does not come; there is:\n{screen}");
            thread::sleep(BLINK);
        }
    }
}

/// Returns a path for the socket of tmux, in this folder if the system accepts such a long path.
fn socket(root: &Path) -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let own = root.join("tmux");
    if own.as_os_str().len() <= MAX_SOCKET {
        return own.to_str().unwrap().into();
    }
    format!("/tmp/ide-mcp-tmux-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}

impl Drop for Tmux {
    fn drop(&mut self) {
        let _ = self.command().arg("kill-server").output();
    }
}
