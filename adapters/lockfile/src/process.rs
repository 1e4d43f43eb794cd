//! The check for the process of a lock file.

use crate::sys;

/// Returns true if a process with this id lives; `None` if the system does not report it.
///
/// A process that we have no permission to signal, or on Windows to look at, counts as alive. One that has ended does not
/// on Linux and Windows, even if its parent has not noticed yet. This process sees only the process ids of its own system
/// and container: under WSL it does not see the processes of Windows. On systems other than Unix and Windows the result is
/// always `None`.
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
        assert_eq!(pid_alive(std::process::id()), Some(true), "we");
        if cfg!(unix) {
            // Process 1 belongs to root. Any other user has no permission to signal it, and the result
            // is the same.
            assert_eq!(pid_alive(1), Some(true), "the first process");
        }
        assert_eq!(pid_alive(0), Some(false), "a group, or no process");
        assert_eq!(pid_alive(u32::MAX), Some(false), "-1 means all processes");
        assert_eq!(pid_alive(ended_process()), Some(false), "one that ended");
    }

    /// On Unix the process stays until its parent asks for its status, and on Windows until its handles are closed.
    #[test]
    fn ended_process_is_dead_before_its_parent_notices() {
        if cfg!(not(any(target_os = "linux", windows))) {
            return;
        }
        let mut child = nothing().stdout(Stdio::piped()).spawn().unwrap();
        // The end of its output comes when it ends, or a moment before.
        io::copy(&mut child.stdout.take().unwrap(), &mut io::sink()).unwrap();
        let has_ended = || pid_alive(child.id()) == Some(false);
        let waits = (0..10_000).take_while(|_| !has_ended()).inspect(|_| sleep(Duration::from_millis(1)));
        assert!(waits.count() < 10_000, "its parent has not noticed");
        child.wait().unwrap();
    }
}
