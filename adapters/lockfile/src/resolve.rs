//! The position of a peer's path relative to the open folders, with symbolic links resolved on both
//! sides.

use std::ffi::OsString;
use std::fs;
use std::io::ErrorKind;

use ide_mcp::ide::paths::{LocalPath, PathClass};

use crate::links::canonical;
use crate::{Error, sys, system};

/// Classifies `given`, a path or a `file:` URI of a peer, for an editor with these folders, by the
/// present state of the disk. The path in the result has no symbolic links. Open this path and not
/// `given`, and open it at once, before someone can make a link there. In WSL `given` can be a path of Windows
/// ([`System::Wsl`](ide_mcp::ide::paths::System::Wsl)).
///
/// # Errors
/// The errors of [`resolve`], for the path. A folder that cannot be resolved is no error: no path
/// lies in it.
pub fn classify(given: &str, folders: &[LocalPath]) -> Result<PathClass, Error> {
    let path = match LocalPath::parse(given, system()) {
        Ok(path) => resolve(&path)?,
        Err(why) => return Ok(PathClass::Suspicious(why)),
    };
    let mut folders = folders.iter().filter_map(|folder| resolve(folder).ok());
    let is_inside = folders.any(|folder| path.is_within(&folder));
    Ok(if is_inside { PathClass::Inside(path) } else { PathClass::Outside(path) })
}

/// Returns the path without symbolic links. If a part of the path does not exist yet, it is
/// appended unchanged to the resolved part.
///
/// # Errors
/// - [`Error::Dangling`] if the path leads to a dangling link.
/// - [`Error::Io`] if a directory above it cannot be inspected.
/// - [`Error::NotUnicode`] for a path that is not Unicode, on systems other than Unix.
/// - [`Error::Suspicious`] if the resolved path may not be opened.
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
