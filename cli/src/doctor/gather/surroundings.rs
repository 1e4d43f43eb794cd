//! The versions of the client and of the system, for a report.

use crate::support::{Progress, on_path};
use ide_mcp::ide::discovery::locate::HOME_VARIABLE;
use ide_mcp::ide::kit::display_safe;
use std::env;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// The timeout of the client: it starts a JavaScript runtime, which takes long on a busy machine.
const PATIENCE: Duration = Duration::from_secs(5);
/// The maximum length of a version in bytes.
const MAX_VERSION: u64 = 64;

#[derive(Debug)]
pub(crate) struct Surroundings {
    /// The version of `claude`, or the reason why it is unknown.
    pub(crate) client: String,
    pub(crate) system: String,
    /// The spellings of the home directory, which the report shortens to `~`.
    pub(crate) homes: Vec<String>,
}

/// Collects the surroundings. This runs `claude --version`, which only prints a line, but can take long to start.
pub(crate) fn surroundings(progress: &mut Progress) -> Surroundings {
    let path = env::var_os("PATH").unwrap_or_default();
    let client = on_path(&path, CLAUDE).map_or_else(
        || "not found on PATH".into(),
        |program| {
            progress.show(&format!("asking claude for its version, for at most {} s …", PATIENCE.as_secs()));
            version(&program, PATIENCE)
        },
    );
    progress.clear();
    let system = format!("{}, {}", kernel(), env::consts::ARCH);
    Surroundings { client, system, homes: homes() }
}

#[cfg(unix)]
fn kernel() -> String {
    let kernel = rustix::system::uname();
    format!("{} {}", kernel.sysname().to_string_lossy(), kernel.release().to_string_lossy())
}

/// Without `unsafe` there is no way to read the release of Windows.
#[cfg(not(unix))]
fn kernel() -> String {
    env::consts::OS.into()
}

/// The file names of the client: the native program, and the one that npm installs for the command prompt.
const CLAUDE: &[&str] = if cfg!(windows) { &["claude.exe", "claude.cmd"] } else { &["claude"] };

/// The file names of all agents that are known to attach to editors.
const AGENTS: &[&str] = if cfg!(windows) {
    &["claude.exe", "claude.cmd", "opencode.exe", "opencode.cmd", "kilo.exe", "kilo.cmd"]
} else {
    &["claude", "opencode", "kilo"]
};

/// Returns true if a known agent is in PATH.
pub(super) fn has_agent() -> bool {
    env::var_os("PATH").is_some_and(|path| on_path(&path, AGENTS).is_some())
}

/// Returns the first line that a program prints for `--version`. The program is killed if it has not
/// ended in time.
fn version(program: &Path, patience: Duration) -> String {
    let child = Command::new(program)
        .arg("--version")
        .current_dir("/")
        .env("DISABLE_AUTOUPDATER", "1")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let mut child = match child {
        Ok(child) => child,
        Err(error) => return format!("cannot be started: {error}"),
    };
    let (sender, printed) = mpsc::channel();
    if let Some(out) = child.stdout.take() {
        // The thread can outlive the program if a child of the program keeps the pipe open.
        thread::spawn(move || {
            let mut text = Vec::new();
            let _ = out.take(MAX_VERSION).read_to_end(&mut text);
            sender.send(text)
        });
    }
    let text = printed.recv_timeout(patience);
    // A program that is too late is killed. If it has ended by itself, an error here does no harm.
    let _ = child.kill();
    let _ = child.wait();
    let text = text.map(|text| String::from_utf8_lossy(&text).into_owned()).unwrap_or_default();
    match text.lines().next().map(str::trim) {
        Some(line) if !line.is_empty() => display_safe(line).into_owned(),
        _ => "prints no version".into(),
    }
}

/// Returns the home directory with its symbolic links and without them.
fn homes() -> Vec<String> {
    let Some(home) = env::var_os(HOME_VARIABLE).map(PathBuf::from) else { return Vec::new() };
    let forms = [home.canonicalize().unwrap_or_default(), home];
    // The root or an empty path would be found in every path.
    forms.iter().filter(|home| home.parent().is_some()).map(|home| home.display().to_string()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn version_is_short_and_in_time() {
        use std::os::unix::fs::PermissionsExt as _;
        let temp = crate::support::temp::private_temp_dir();
        let program = temp.path().join("version");
        let cases = [
            ("a version", "echo '2.1.330 (Claude Code)'; echo more", "2.1.330 (Claude Code)"),
            ("nothing", "exit 1", "prints no version"),
            ("the arguments", "echo $*", "--version"),
            ("control characters", r"printf '1\033[2J'", "1\u{fffd}[2J"),
            ("a program that does not end", "echo 1; exec sleep 60", "prints no version"),
            (
                "too much",
                "yes 1234567 | tr -d '\\n'",
                "1234567123456712345671234567123456712345671234567123456712345671",
            ),
        ];
        for (name, script, expected) in cases {
            std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
            std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
            let clock = ide_mcp::Clock::new();
            assert_eq!(version(&program, Duration::from_secs(1)), expected, "{name}");
            assert!(clock.now().since_start() < Duration::from_secs(20), "{name}");
        }
    }
}
