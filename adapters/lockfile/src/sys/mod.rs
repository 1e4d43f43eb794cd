//! The differences between Unix and other systems. The module that is not compiled for a system is
//! compiled with its tests nevertheless, so that it cannot break unnoticed.

#[cfg(any(not(unix), test))]
mod other;
pub(crate) mod sockets;
#[cfg(unix)]
mod unix;

#[cfg(not(unix))]
pub(crate) use other::{Dir, from_path, is_ours, mode, pid_alive, to_path, weak_parents};
#[cfg(target_os = "linux")]
pub(crate) use unix::stands_for_others;
#[cfg(unix)]
pub(crate) use unix::{Dir, from_path, is_ours, mode, pid_alive, to_path, weak_parents};
