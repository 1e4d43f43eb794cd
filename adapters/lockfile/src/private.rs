//! A file that only its user can read and replace, for example a client's configuration with an editor's
//! token.

use std::io;
use std::path::{Path, PathBuf, absolute};

use crate::dir::write_whole;
use crate::read::text;
use crate::{Error, parents, sys};

/// Writes a text that contains a token, such as
/// [`McpConfig::to_json`](ide_mcp::ide::discovery::McpConfig::to_json), so that only our user can read it.
/// The file appears whole, by renaming, with mode 0600, and replaces a file or symbolic link with its name.
/// Its directory must exist, and keeps its mode.
///
/// Remove the file when you no longer need it. A good place is the directory of a
/// [`LockDir`](crate::LockDir), where clients look for `*.lock` only.
///
/// # Errors
/// [`Error::ParentNotOurs`] and [`Error::ParentTooOpen`] if another user can replace the file, and so give
/// other tools to a model. [`Error::TooOpen`] on Windows, where a file inherits its access rights, if all
/// users can read the files of the directory. [`Error::NotUnicode`] if the name of the file is not Unicode,
/// [`Error::Entropy`], and [`Error::Io`]. After an error no new file is left behind.
pub fn write_private(path: impl AsRef<Path>, text: &str) -> Result<(), Error> {
    let (path, handle) = open("write", path.as_ref())?;
    let name = path.file_name().unwrap_or_default().to_str();
    let name = name.ok_or_else(|| Error::NotUnicode { path: path.clone() })?;
    handle.keep_private(path.parent().unwrap_or(&path))?;
    write_whole(&handle, name, &path, text)
}

/// Reads a file that [`write_private`] has written, as carefully as a [`scan`](crate::scan), and only if no
/// other user can have read it or put it there. So you never use contents that somebody else wrote.
///
/// # Errors
/// [`Error::NotOurs`], [`Error::TooOpen`] if other users have any permission, [`Error::Symlink`],
/// [`Error::NotRegular`], [`Error::ParentNotOurs`] and [`Error::ParentTooOpen`]; [`Error::Malformed`] for a
/// file that is not Unicode or longer than [`LockFile::MAX_LEN`](ide_mcp::ide::discovery::LockFile::MAX_LEN);
/// [`Error::Io`], also if there is no file.
pub fn read_private(path: impl AsRef<Path>) -> Result<String, Error> {
    let (path, handle) = open("read", path.as_ref())?;
    let file = handle.open_file(path.file_name().unwrap_or_default(), &path)?;
    let metadata = file.metadata().map_err(Error::io("look at", &path))?;
    let text = text(&metadata, file, &path)?;
    match sys::open_to_others(&path, &metadata) {
        Some(mode) => Err(Error::TooOpen { path, mode }),
        None => Ok(text),
    }
}

/// Opens the directory of a file that only our user may read and replace. Also returns the absolute path of
/// the file, which has a file name.
fn open(operation: &'static str, path: &Path) -> Result<(PathBuf, sys::Dir), Error> {
    let path = absolute(path).map_err(Error::io("resolve", path))?;
    let (Some(dir), Some(_)) = (path.parent(), path.file_name()) else {
        return Err(Error::io(operation, &path)(io::Error::from(io::ErrorKind::IsADirectory)));
    };
    let handle = sys::Dir::open(dir).map_err(Error::io("open", dir))?;
    // This includes the directory of the file.
    parents::check(&path)?;
    Ok((path, handle))
}
