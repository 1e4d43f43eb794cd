//! The scope in which a process id is unique: one run of one kernel, and one pid namespace within it. On Windows, where
//! no safe interface names the run, one machine: a process of an earlier run is dead there all the same.
//!
//! Machines (NFS) and containers can share a home. From here, the process of a lock file of another
//! machine or container looks dead, even if it is alive. So an editor marks its lock file with its
//! scope, and removes by itself only leftovers of its own scope.

/// Returns the scope of this process. On Linux: the id of the run of the kernel, and the number of the pid namespace.
/// On Windows: the name of the machine, or of the container. `None` if the system does not report it, as on other
/// systems.
#[must_use]
pub fn process_scope() -> Option<String> {
    #[cfg(windows)]
    return crate::sys::machine().map(|machine| format!("windows/{machine}"));
    #[cfg(target_os = "linux")]
    return of_linux();
    #[cfg(not(any(windows, target_os = "linux")))]
    None
}

#[cfg(target_os = "linux")]
fn of_linux() -> Option<String> {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    // The link is named for the namespace: pid:[4026531836].
    let link = std::fs::read_link("/proc/self/ns/pid").ok()?;
    let namespace = link.to_str()?.strip_prefix("pid:[")?.strip_suffix(']')?;
    Some(format!("{}/{namespace}", boot.trim_end()))
}
