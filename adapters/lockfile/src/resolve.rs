//! Whether a path of a peer lies in the open folders, with symbolic links resolved on both sides.

use std::ffi::OsString;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use ide_mcp::ide::paths::{LocalPath, PathClass, Platform};

use crate::{Error, sys};

/// What `given`, a path or a `file:` URI of a peer, is to an editor with these folders, as the disk has it now. The path
/// in the answer has no symbolic links; open that one, and at once: a link may be made meanwhile.
///
/// # Errors
/// As [`resolve`], for the path; a folder that cannot be resolved contains nothing.
pub fn classify(given: &str, folders: &[LocalPath]) -> Result<PathClass, Error> {
    let path = match LocalPath::parse(given, Platform::native()) {
        Ok(path) => resolve(&path)?,
        Err(why) => return Ok(PathClass::Suspicious(why)),
    };
    let mut folders = folders.iter().filter_map(|folder| resolve(folder).ok());
    let is_inside = folders.any(|folder| path.is_within(&folder));
    Ok(if is_inside { PathClass::Inside(path) } else { PathClass::Outside(path) })
}

/// The path without symbolic links. What does not exist yet is put behind the deepest directory above it that does.
///
/// # Errors
/// [`Error::Dangling`] if it leads to a link that leads nowhere, [`Error::Io`] if something above it cannot be looked
/// at, [`Error::NotUnicode`] where the system has paths that the form of ours cannot say.
pub fn resolve(path: &LocalPath) -> Result<LocalPath, Error> {
    let full = sys::to_path(path)?;
    let mut missing: Vec<OsString> = Vec::new();
    for existing in full.ancestors() {
        match fs::canonicalize(existing) {
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

/// The path as ours, if it is one that may be opened.
pub(crate) fn own_form(path: &Path, bytes: &[u8]) -> Result<LocalPath, Error> {
    LocalPath::from_bytes(bytes, Platform::native())
        .map_err(|why| Error::Suspicious { path: path.to_path_buf(), why })
}
