//! Where a peer's path lies relative to the open folders, with symbolic links resolved on both sides.

use std::ffi::OsString;
use std::fs;
use std::io::ErrorKind;

use ide_mcp::ide::paths::{LocalPath, PathClass};

use crate::links::canonical;
use crate::{Error, sys, system};

/// Tells whether `given`, a path or `file:` URI from a peer, lies in these folders, by what is on the disk
/// now. The path in the result has no symbolic links. Open that one and not `given`, and open it at once,
/// before somebody can put a link there. In WSL, `given` may be a Windows path
/// ([`System::Wsl`](ide_mcp::ide::paths::System::Wsl)).
///
/// # Errors
/// The errors of [`resolve`], for the path. A folder that cannot be resolved is not an error; it counts as
/// containing nothing.
pub fn classify(given: &str, folders: &[LocalPath]) -> Result<PathClass, Error> {
    let path = match LocalPath::parse(given, system()) {
        Ok(path) => resolve(&path)?,
        Err(why) => return Ok(PathClass::Suspicious(why)),
    };
    let mut folders = folders.iter().filter_map(|folder| resolve(folder).ok());
    let is_inside = folders.any(|folder| path.is_within(&folder));
    Ok(if is_inside { PathClass::Inside(path) } else { PathClass::Outside(path) })
}

/// Returns the path without symbolic links. A part that does not exist yet is appended as it is.
///
/// # Errors
/// - [`Error::Dangling`] if the path leads to a dangling link.
/// - [`Error::Io`] if a directory above it cannot be inspected.
/// - [`Error::NotUnicode`] for a path that is not Unicode, on systems other than Unix.
/// - [`Error::Suspicious`] if the resolved path must not be opened.
pub fn resolve(path: &LocalPath) -> Result<LocalPath, Error> {
    let full = sys::to_path(path)?;
    let mut missing: Vec<OsString> = Vec::new();
    for existing in full.ancestors() {
        match canonical(existing) {
            Ok(mut resolved) => {
                resolved.extend(missing.iter().rev());
                return sys::from_path(&resolved);
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {
                if fs::symlink_metadata(existing).is_ok() {
                    return Err(Error::Dangling { path: existing.to_path_buf() });
                }
                missing.extend(existing.file_name().map(OsString::from));
            }
            Err(error) => return Err(Error::io("resolve", existing)(error)),
        }
    }
    Err(Error::io("resolve", &full)(ErrorKind::NotFound))
}
