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

use std::path::Path;

use ide_mcp::ide::paths::{LocalPath, Platform};

use crate::Error;

/// Returns the path in our form, if it is one that may be opened.
fn own_form(path: &Path, bytes: &[u8]) -> Result<LocalPath, Error> {
    LocalPath::from_bytes(bytes, Platform::native())
        .map_err(|why| Error::Suspicious { path: path.to_path_buf(), why })
}
