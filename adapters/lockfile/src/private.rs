//! A file that only its user can read and replace, such as the configuration of a client with the token
//! of an editor.

use std::io;
use std::path::{Path, absolute};

use crate::dir::write_whole;
use crate::{Error, parents, sys};

/// Writes a text to this file, whose directory exists: the text of
/// [`McpConfig::to_json`](ide_mcp::ide::McpConfig::to_json), which contains the token. The file appears
/// whole, by renaming, with mode 0600. An existing file with this name is replaced, and a link with this
/// name is not followed. The directory keeps its mode.
///
/// The caller removes the file. A good place is the directory of a [`LockDir`](crate::LockDir), in which
/// clients look for `*.lock` only.
///
/// # Errors
/// [`Error::ParentNotOurs`] and [`Error::ParentTooOpen`] if another user can replace the file: they could
/// give tools of their own to a model. [`Error::NotUnicode`] if the name of the file is not Unicode, and
/// [`Error::Entropy`] and [`Error::Io`]. No file is left behind then.
pub fn write_private(path: impl AsRef<Path>, text: &str) -> Result<(), Error> {
    let path = path.as_ref();
    let path = absolute(path).map_err(Error::io("resolve", path))?;
    let (Some(dir), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(Error::io("write", &path)(io::Error::from(io::ErrorKind::IsADirectory)));
    };
    let name = name.to_str().ok_or_else(|| Error::NotUnicode { path: path.clone() })?;
    let handle = sys::Dir::open(dir).map_err(Error::io("open", dir))?;
    // The directory of the file is one above it.
    parents::check(&path)?;
    write_whole(&handle, name, &path, text)
}
