//! The scope in which a process id is unique: one run of one kernel, and one pid namespace within
//! it.
//!
//! Machines (NFS) and containers can share a home. From here, the process of a lock file of another
//! machine or container looks dead, even if it is alive. So an editor marks its lock file with its
//! scope, and removes by itself only leftovers of its own scope.

use std::fs;

/// Returns the scope of this process: the id of the run of the kernel, and the number of the pid
/// namespace. `None` if the system does not report it, as on systems other than Linux.
#[must_use]
pub fn process_scope() -> Option<String> {
    if !cfg!(target_os = "linux") {
        return None;
    }
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    // The link is named for the namespace: pid:[4026531836].
    let link = fs::read_link("/proc/self/ns/pid").ok()?;
    let namespace = link.to_str()?.strip_prefix("pid:[")?.strip_suffix(']')?;
    Some(format!("{}/{namespace}", boot.trim_end()))
}
