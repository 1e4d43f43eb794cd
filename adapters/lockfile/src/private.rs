//! A file that only its user can read and replace, such as the configuration of a client with the token
//! of an editor.

use std::io;
use std::path::{Path, absolute};

use crate::dir::write_whole;
use crate::{Error, parents, sys};

/// Writes a text that contains a token, such as
/// [`McpConfig::to_json`](ide_mcp::ide::McpConfig::to_json), to this file. The directory of the file has to
/// exist, and keeps its mode. The file appears whole, by renaming, with mode 0600. It replaces an existing
/// file or symbolic link with its name.
///
/// The caller has to remove the file. A good place is the directory of a [`LockDir`](crate::LockDir), in
/// which clients look for `*.lock` only.
///
/// # Errors
/// [`Error::ParentNotOurs`] and [`Error::ParentTooOpen`] if another user can replace the file, and so give
/// other tools to a model. [`Error::NotUnicode`] if the name of the file is not Unicode, [`Error::Entropy`],
/// and [`Error::Io`]. After an error no new file is left behind.
pub fn write_private(path: impl AsRef<Path>, text: &str) -> Result<(), Error> {
    let path = path.as_ref();
    let path = absolute(path).map_err(Error::io("resolve", path))?;
    let (Some(dir), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(Error::io("write", &path)(io::Error::from(io::ErrorKind::IsADirectory)));
    };
    let name = name.to_str().ok_or_else(|| Error::NotUnicode { path: path.clone() })?;
    let handle = sys::Dir::open(dir).map_err(Error::io("open", dir))?;
    // This check includes the directory of the file.
    parents::check(&path)?;
    write_whole(&handle, name, &path, text)
}
