//! Does the process of a lock file run?

use crate::sys;

/// Returns whether a process with this id is alive; `None` if the system does not tell.
///
/// A process that we may not signal (on Windows: not open) counts as alive. On Linux and Windows, a process
/// that has ended counts as dead even if its parent has not noticed yet. We see only the processes of our own
/// system and container: under WSL, those of Windows are invisible. On systems other than Unix and Windows
/// the result is always `None`.
#[must_use]
pub fn pid_alive(pid: u32) -> Option<bool> {
    sys::pid_alive(pid)
}

#[cfg(all(test, any(unix, windows)))]
mod tests {
    use super::*;
    use crate::temp_dir::{ended_process, nothing};
    use std::io;
    use std::process::Stdio;
    use std::thread::sleep;
    use std::time::Duration;

    #[test]
    fn living_and_ended_processes_are_distinguished() {
        assert_eq!(pid_alive(std::process::id()), Some(true), "this process");
        if cfg!(unix) {
            // Process 1 belongs to root. A user who may not signal it gets the same result.
            assert_eq!(pid_alive(1), Some(true), "the first process");
        }
        assert_eq!(pid_alive(0), Some(false), "0, which means a group or no process");
        assert_eq!(pid_alive(u32::MAX), Some(false), "-1, which means all processes");
        assert_eq!(pid_alive(ended_process()), Some(false), "a process that has ended");
    }

    /// On Unix an ended process stays until its parent asks for its status, on Windows until its handles are
    /// closed.
    #[test]
    fn ended_process_is_dead_before_its_parent_notices() {
        if cfg!(not(any(target_os = "linux", windows))) {
            return;
        }
        let mut child = nothing().stdout(Stdio::piped()).spawn().unwrap();
        // Its output ends when it does, or a moment before.
        io::copy(&mut child.stdout.take().unwrap(), &mut io::sink()).unwrap();
        let has_ended = || pid_alive(child.id()) == Some(false);
        let waits = (0..10_000).take_while(|_| !has_ended()).inspect(|_| sleep(Duration::from_millis(1)));
        assert!(waits.count() < 10_000, "its parent has not noticed");
        child.wait().unwrap();
    }
}
