//! The check for the process of a lock file.

use crate::sys;

/// Returns true if a process with this id lives; `None` if the system does not report it.
///
/// A process that we have no permission to signal counts as alive, and on Linux one that has ended does not, even if its
/// parent has not noticed yet. This process sees only the
/// process ids of its own system and container: under WSL it does not see the processes of Windows.
/// On systems other than Unix the result is always `None`.
#[must_use]
pub fn pid_alive(pid: u32) -> Option<bool> {
    sys::pid_alive(pid)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::io;
    use std::process::Stdio;
    use std::thread::sleep;
    use std::time::Duration;

    #[test]
    fn living_and_ended_processes_are_distinguished() {
        assert_eq!(pid_alive(std::process::id()), Some(true), "we");
        // Process 1 belongs to root. Any other user has no permission to signal it, and the result
        // is the same.
        assert_eq!(pid_alive(1), Some(true), "the first process");
        assert_eq!(pid_alive(0), Some(false), "a group");
        assert_eq!(pid_alive(u32::MAX), Some(false), "-1 means all processes");
        let mut child = std::process::Command::new("true").stdout(Stdio::piped()).spawn().unwrap();
        // The end of its output comes when it ends, or a moment before.
        io::copy(&mut child.stdout.take().unwrap(), &mut io::sink()).unwrap();
        if cfg!(target_os = "linux") {
            let has_ended = || pid_alive(child.id()) == Some(false);
            let waits = (0..10_000).take_while(|_| !has_ended()).inspect(|_| sleep(Duration::from_millis(1)));
            assert!(waits.count() < 10_000, "one that has ended, as its parent has not noticed");
        }
        child.wait().unwrap();
        assert_eq!(pid_alive(child.id()), Some(false), "one that ended");
    }
}
