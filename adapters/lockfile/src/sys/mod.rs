//! What differs between Unix, Windows and other systems. A test build on Unix also compiles and tests the
//! Windows code that makes no Windows calls, so that it cannot break unnoticed.

#[cfg(any(not(unix), test))]
#[cfg_attr(all(not(windows), not(test)), allow(dead_code, reason = "this system tells no access rights"))]
mod acl;
#[cfg(any(not(unix), test))]
mod other;
pub(crate) mod sockets;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(not(unix))]
pub(crate) use other::{
    Dir, from_path, is_ours, keeps_modes, mode, open_to_others, pid_alive, to_path, weak_parents,
};
#[cfg(target_os = "linux")]
pub(crate) use unix::stands_for_others;
#[cfg(unix)]
pub(crate) use unix::{
    Dir, from_path, is_ours, keeps_modes, mode, open_to_others, pid_alive, to_path, weak_parents,
};
#[cfg(windows)]
pub(crate) use windows::machine;

use std::path::Path;

use ide_mcp::ide::paths::{LocalPath, Platform};

use crate::Error;

/// Converts the path to a [`LocalPath`], or says why it must not be opened.
fn own_form(path: &Path, bytes: &[u8]) -> Result<LocalPath, Error> {
    LocalPath::from_bytes(bytes, Platform::native())
        .map_err(|reason| Error::Suspicious { path: path.to_path_buf(), reason })
}
