//! Reads a file that another program may have put there: only if it is regular, ours, and not too long.

use std::ffi::OsStr;
use std::fs::Metadata;
use std::io::Read;
use std::path::Path;

use ide_mcp::ide::discovery::{LockFile, LockFileError, LockForm};

use crate::{Error, sys};

/// The metadata of a file, and its contents or why it was not read.
pub(crate) struct Contents {
    /// The metadata; `None` if the file could not be opened.
    pub(crate) metadata: Option<Metadata>,
    pub(crate) file: Result<LockFile, Error>,
}

/// Reads `name` in `dir` as a file in this form; `path` is for messages.
pub(crate) fn read(dir: &sys::Dir, name: &OsStr, form: LockForm, path: &Path) -> Contents {
    let opened = dir
        .open_file(name, path)
        .and_then(|file| Ok((file.metadata().map_err(Error::io("look at", path))?, file)));
    match opened {
        Ok((metadata, file)) => {
            let file = text(&metadata, file, path).and_then(|text| {
                form.parse(&name.to_string_lossy(), &text)
                    .map_err(|source| Error::Malformed { path: path.to_path_buf(), source })
            });
            Contents { metadata: Some(metadata), file }
        }
        Err(error) => Contents { metadata: None, file: Err(error) },
    }
}

/// Reads the text of a file that was opened.
pub(crate) fn text(metadata: &Metadata, file: impl Read, path: &Path) -> Result<String, Error> {
    if !metadata.is_file() {
        return Err(Error::NotRegular { path: path.to_path_buf() });
    }
    sys::is_ours(metadata, path)?;
    // One byte more than allowed, so that the length check also catches a file that has grown in the
    // meantime.
    let limit = u64::try_from(LockFile::MAX_LEN).unwrap_or(u64::MAX).saturating_add(1);
    let mut bytes = Vec::new();
    file.take(limit).read_to_end(&mut bytes).map_err(Error::io("read", path))?;
    let malformed = |source| Error::Malformed { path: path.to_path_buf(), source };
    if bytes.len() > LockFile::MAX_LEN {
        let len = usize::try_from(metadata.len()).unwrap_or(usize::MAX).max(bytes.len());
        return Err(malformed(LockFileError::TooLong { len }));
    }
    String::from_utf8(bytes).map_err(|_| malformed(LockFileError::NotALockFile))
}
