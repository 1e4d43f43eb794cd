//! A program together with everything that it starts: a group of processes on Unix, a job on Windows.

use std::io;
use std::process::{ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
#[cfg(windows)]
use windows as system;

#[cfg(unix)]
use unix as system;

/// The group of a program that runs. It has to be waited for or ended.
#[derive(Debug)]
pub(super) struct Group(system::Group);

/// The ends of the pipes of a program.
#[derive(Debug)]
pub(super) struct Pipes {
    pub(super) input: Option<ChildStdin>,
    pub(super) output: Option<ChildStdout>,
    pub(super) errors: Option<ChildStderr>,
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

    /// Ends everything in the group, also if its program has ended and is not waited for.
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
    use std::process::{Child, Command};

    pub(super) type Group = Child;

    pub(super) fn start(mut command: Command) -> io::Result<(Group, Pipes)> {
        let mut child = command.process_group(0).spawn()?;
        let (input, output, errors) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        Ok((child, Pipes { input, output, errors }))
    }

    /// While the program is not waited for, no other group has its number.
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
    use std::io;
    use std::process::Command;

    pub(super) type Group = Box<dyn ChildWrapper>;

    pub(super) fn start(command: Command) -> io::Result<(Group, Pipes)> {
        let mut child = CommandWrap::from(command).wrap(JobObject).spawn()?;
        let (input, output, errors) = (child.stdin().take(), child.stdout().take(), child.stderr().take());
        Ok((child, Pipes { input, output, errors }))
    }

    pub(super) fn end(group: &mut Group) {
        let _ = group.start_kill();
    }
}
