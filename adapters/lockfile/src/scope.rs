//! The scope in which a process id is unique: one boot of one kernel, and one pid namespace within it. On
//! Windows, where no safe interface names the boot, it is one machine; after a reboot the earlier processes
//! are dead anyway.
//!
//! Machines (NFS) and containers may share a home. The process that another machine's lock file names looks
//! dead from here, even if it is alive. So an editor marks its lock file with its scope, and removes by
//! itself only what editors of its own scope left behind.

/// Returns the scope of this process. On Linux, that is the id of the kernel's boot and the number of the pid
/// namespace; on Windows, the name of the machine or container. `None` if the system does not tell, as on
/// other systems.
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
    // The link looks like this: pid:[4026531836].
    let link = std::fs::read_link("/proc/self/ns/pid").ok()?;
    let namespace = link.to_str()?.strip_prefix("pid:[")?.strip_suffix(']')?;
    Some(format!("{}/{namespace}", boot.trim_end()))
}
