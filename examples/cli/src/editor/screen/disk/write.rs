//! The writing of files.

use super::stamp;
use crate::editor::screen::model::document::Stamp;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::path::Path;

/// Writes a file so that a complete one exists at all times, the old or the new. If that is not
/// possible, it overwrites the file in place.
pub(super) fn write(real: &Path, text: &str) -> Result<Stamp, String> {
    let says = |error: io::Error| format!("{} was not saved: {error}", real.display());
    match replace(real, text) {
        Ok(()) => {}
        // The folder accepts no new file, or the file has other names that would keep the old text.
        Err(None) => fs::write(real, text).map_err(says)?,
        Err(Some(error)) => return Err(says(error)),
    }
    Ok(stamp(real))
}

/// Replaces a file by a new one. Returns `Err(None)` if the file has to be overwritten in place.
fn replace(real: &Path, text: &str) -> Result<(), Option<io::Error>> {
    let (Some(folder), Some(name)) = (real.parent(), real.file_name()) else { return Err(None) };
    let old = fs::metadata(real).map_err(|error| (error.kind() != ErrorKind::NotFound).then_some(error))?;
    if has_other_names(&old) || old.permissions().readonly() {
        return Err(None);
    }
    let other = folder.join(format!(".{}.{}~", name.to_string_lossy(), std::process::id()));
    let mut file = OpenOptions::new().write(true).create_new(true).open(&other).map_err(|_| None)?;
    let written = fill(&mut file, text, &old).and_then(|()| fs::rename(&other, real));
    written.map_err(|error| {
        let _ = fs::remove_file(&other);
        Some(error)
    })
}

fn fill(file: &mut File, text: &str, old: &fs::Metadata) -> io::Result<()> {
    file.write_all(text.as_bytes())?;
    file.set_permissions(old.permissions())?;
    file.sync_all()
}

/// Returns true if the file has several names or another owner. A new file in its place would belong
/// to this user, and the other names would keep the old file.
fn has_other_names(old: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    old.nlink() > 1 || old.uid() != rustix::process::geteuid().as_raw()
}
