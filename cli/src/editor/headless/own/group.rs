//! Runs a program together with everything that it starts: in a process group on Unix, in a job on Windows.

use std::io;
use std::path::{Path, PathBuf, is_separator};
use std::process::{ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
#[cfg(windows)]
use windows as system;

#[cfg(unix)]
use unix as system;

/// The process group of a running program. You must wait for it or end it.
#[derive(Debug)]
pub(super) struct Group(system::Group);

/// The ends of the pipes of a program.
#[derive(Debug)]
pub(super) struct Pipes {
    pub(super) input: Option<ChildStdin>,
    pub(super) output: Option<ChildStdout>,
    pub(super) errors: Option<ChildStderr>,
}

/// Returns the program with this name. A path such as `./check` begins at the folder, and a name without a separator is
/// looked up in PATH.
pub(super) fn located(program: &str, dir: &Path) -> PathBuf {
    let path = Path::new(program);
    let path = if program.contains(is_separator) { dir.join(path) } else { path.to_owned() };
    system::located(path)
}

impl Group {
    /// Starts a program.
    ///
    /// # Errors
    /// Every error of the system.
    pub(super) fn start(mut command: Command) -> io::Result<(Self, Pipes)> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let (group, pipes) = system::start(command)?;
        Ok((Self(group), pipes))
    }

    /// Returns the status of the program; `None` while it runs.
    ///
    /// # Errors
    /// Every error of the system.
    pub(super) fn try_wait(&mut self) -> io::Result<Option<ExitStatus>> {
        self.0.try_wait()
    }

    /// Ends everything in the group, even if its program has ended and nobody has waited for it.
    pub(super) fn end(&mut self) {
        system::end(&mut self.0);
    }
}

#[cfg(unix)]
mod unix {
    use super::Pipes;
    use rustix::process::{Pid, Signal, kill_process_group};
    use std::io;
    use std::os::unix::process::CommandExt as _;
    use std::path::PathBuf;
    use std::process::{Child, Command};

    pub(super) type Group = Child;

    /// `Command` looks in PATH by itself.
    pub(super) const fn located(path: PathBuf) -> PathBuf {
        path
    }

    pub(super) fn start(mut command: Command) -> io::Result<(Group, Pipes)> {
        let mut child = command.process_group(0).spawn()?;
        let (input, output, errors) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        Ok((child, Pipes { input, output, errors }))
    }

    /// The program has not been waited for yet, so no other group can have its number.
    pub(super) fn end(group: &mut Group) {
        if let Some(number) = i32::try_from(group.id()).ok().and_then(Pid::from_raw) {
            let _ = kill_process_group(number, Signal::KILL);
        }
    }
}

#[cfg(windows)]
mod windows {
    use super::Pipes;
    use process_wrap::std::{ChildWrapper, CommandWrap, JobObject};
    use std::path::PathBuf;
    use std::process::Command;
    use std::{env, io};

    pub(super) type Group = Box<dyn ChildWrapper>;

    /// Looks for the extensions of PATHEXT too: npm, for example, installs its programs as `NAME.cmd`.
    pub(super) fn located(path: PathBuf) -> PathBuf {
        which::which_in(&path, env::var_os("PATH"), ".").unwrap_or(path)
    }

    pub(super) fn start(command: Command) -> io::Result<(Group, Pipes)> {
        let mut child = CommandWrap::from(command).wrap(JobObject).spawn()?;
        let (input, output, errors) = (child.stdin().take(), child.stdout().take(), child.stderr().take());
        Ok((child, Pipes { input, output, errors }))
    }

    pub(super) fn end(group: &mut Group) {
        let _ = group.start_kill();
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use ide_mcp::{Clock, Time};
    use std::io::Read as _;

    /// A script for the shell of this system. It starts a program that waits, and waits itself.
    pub(in super::super) const TWO_THAT_WAIT: &str = if cfg!(windows) {
        "start /b cmd /d /c for /l %i in (0,0,1) do @rem& for /l %i in (0,0,1) do @rem"
    } else {
        "sleep 60 & sleep 60"
    };

    #[test]
    fn group_ends_with_all_that_it_has_started() {
        let mut command = if cfg!(windows) { Command::new("cmd") } else { Command::new("sh") };
        command.args(if cfg!(windows) { &["/d", "/c"][..] } else { &["-c"] }).arg(TWO_THAT_WAIT);
        let clock = Clock::new();
        let (mut group, pipes) = Group::start(command).unwrap();
        std::thread::sleep(std::time::Duration::from_secs(1));
        assert!(group.try_wait().unwrap().is_none());
        group.end();
        // Both programs hold the other end of the pipe, so this returns only when both have ended.
        pipes.output.unwrap().read_to_end(&mut Vec::new()).unwrap();
        assert!(clock.now() < Time::from_millis(30_000));
    }
}
